"""Contact manifolds: spread, normals, whole-mesh depth, patches."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom.errors import InputError
from elbowroom.mesh import TriangleMesh, collide, collide_batch, contact_manifold

from .mesh_tools import mesh, poses, shape, shift

TABLE = TriangleMesh.box((2.0, 2.0, 0.2))


def legs() -> TriangleMesh:
    corners = [(x, y, 0.0) for x in (-0.8, 0.8) for y in (-0.8, 0.8)]
    boxes = [trimesh.creation.box((0.1, 0.1, 1.0)).apply_translation(c) for c in corners]
    return TriangleMesh.from_trimesh(trimesh.util.concatenate(boxes))


def test_apart_gives_none():
    assert contact_manifold(mesh("cube1"), None, mesh("cube1"), shift(2.0)) is None


def test_a_box_on_a_table_is_one_patch_around_its_foot():
    m = contact_manifold(TABLE, None, mesh("cube3"), shift(0.1, 0.05, 0.1 + 0.5 - 0.01))
    assert m.n_patches == 1
    assert len(m) == 8
    np.testing.assert_allclose(m.normals, np.tile([0, 0, 1.0], (8, 1)), atol=1e-9)
    np.testing.assert_allclose(m.depths, 0.01, atol=1e-9)
    spread = np.linalg.norm(m.points[:, None] - m.points[None], axis=2)
    assert spread.max() > 1.3  # the diagonal of the foot is 1.41
    assert spread[spread > 0].min() > 0.2
    np.testing.assert_allclose(m.points[:, 2], 0.1, atol=1e-9)


def test_four_legs_are_four_patches_with_the_same_normal():
    m = contact_manifold(TABLE, None, legs(), shift(0, 0, 0.1 + 0.5 - 0.02), max_points=4)
    assert m.n_patches == 4
    assert len(m) == 16
    np.testing.assert_allclose(m.normals, np.tile([0, 0, 1.0], (16, 1)), atol=1e-6)
    np.testing.assert_allclose(m.depths, 0.02, atol=1e-6)
    assert m.depth == pytest.approx(0.02, abs=1e-9)


@pytest.mark.parametrize(
    ("a", "b"), [("torus", "torus"), ("talos_arm4", "talos_torso"), ("bracket", "sphere")]
)
def test_points_are_few_normals_unit_and_depths_separate(a, b):
    Ts = poses(shape(a), shape(b), 40, 0.2, 0.7, seed=1)
    Ts = Ts[collide_batch(mesh(a), None, mesh(b), Ts)][:12]
    for T in Ts:
        m = contact_manifold(mesh(a), None, mesh(b), T, max_points=5)
        assert np.bincount(m.patch).max() <= 5
        assert np.abs(np.linalg.norm(m.normals, axis=1) - 1).max() < 1e-9
        assert m.depth <= m.depths.min() + 1e-9
        for k in range(m.n_patches):
            rows = m.patch == k
            assert np.ptp(m.normals[rows], axis=0).max() == 0
            out = T.copy()
            out[:3, 3] += (m.depths[rows][0] + 1e-6) * m.normals[rows][0]
            assert not collide(mesh(a), None, mesh(b), out)


def test_containment_is_the_deepest_contact_alone():
    m = contact_manifold(mesh("cube1"), None, TriangleMesh.box((0.2, 0.2, 0.2)), shift(0.1, 0.03))
    assert len(m) == 1
    assert m.depths[0] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("bad", [0, -1, 2.5, True])
def test_max_points_must_be_a_positive_whole_number(bad):
    with pytest.raises(InputError, match="max_points"):
        contact_manifold(mesh("cube0"), None, mesh("cube0"), None, max_points=bad)
