"""Contact points lie on both surfaces: where meshes only touch, in every way boxes can, and along their intersection.

The judge is a brute-force distance of a point to all triangles, in numpy.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

from elbowroom.mesh import (
    TriangleMesh,
    collide_batch,
    contact_manifold,
    mesh_mesh_contact,
    mesh_mesh_separation,
)

from .mesh_tools import mesh, poses, shape

ON = 1e-9
"""Of the size of the meshes: how far a point of a touching contact may be off either surface."""


def off(mesh: TriangleMesh, T: np.ndarray, points: np.ndarray) -> float:
    """Largest distance of points to a posed surface: inside the triangle's prism, to its plane; else to its edges."""
    tri = mesh.vertices[mesh.faces] @ T[:3, :3].T + T[:3, 3]
    a, b, c = tri[:, 0], tri[:, 1], tri[:, 2]
    p = np.atleast_2d(points)[:, None]
    best = np.full((len(p), len(a)), np.inf)
    for u, v in ((a, b), (b, c), (c, a)):
        e = v - u
        t = np.clip(((p - u) * e).sum(-1) / (e * e).sum(-1), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(p - u - t[..., None] * e, axis=-1))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    over = np.ones(best.shape, bool)
    for u, v in ((a, b), (b, c), (c, a)):
        over &= (np.cross(v - u, p - u) * normal).sum(-1) >= 0.0
    best = np.where(over, np.minimum(best, np.abs(((p - a) * normal).sum(-1))), best)
    return float(best.min(axis=1).max())


def check_touching(a, T_a, b, T_b):
    """All points that are reported for a contact of no depth are on both surfaces; False when rounding parts them."""
    size = max(a.radius, b.radius)
    found = contact_manifold(a, T_a, b, T_b)
    if found is None:
        return False
    assert found.depth <= ON * size
    for points in (found.points, mesh_mesh_contact(a, T_a, b, T_b).points, found.deepest.point_a[None]):
        assert off(a, T_a, points) <= ON * size
        assert off(b, T_b, points) <= ON * size
    assert off(b, T_b, found.deepest.point_b[None]) <= ON * size
    return True


SHIFTS = [
    (x, y, z)
    for x in (0.1, -0.1)
    for y, z in itertools.product((0.0, 0.05, 0.1, 0.03, -0.07), (0.0, 0.1, -0.02))
]


@pytest.mark.parametrize("shift", SHIFTS)
def test_boxes_face_to_face_edge_to_edge_and_corner_to_corner(shift):
    a, b, T = TriangleMesh.box((0.1,) * 3), TriangleMesh.box((0.1,) * 3), np.eye(4)
    T[:3, 3] = shift
    assert check_touching(a, np.eye(4), b, T)


def test_the_same_turned_and_moved():
    """Rounding of the pose must not matter; where it parts the boxes by 1e-17 there is no contact to report."""
    rng, touching = np.random.default_rng(0), 0
    for shift in SHIFTS * 3:
        T_a, T = np.eye(4), np.eye(4)
        T_a[:3, :3], T_a[:3, 3] = Rotation.from_quat(rng.normal(size=4)).as_matrix(), rng.uniform(-1, 1, 3)
        T[:3, 3] = shift
        a, b = TriangleMesh.box((0.1,) * 3), TriangleMesh.box((0.1,) * 3)
        touching += check_touching(a, T_a, b, T_a @ T)
    assert touching > 60


def test_a_tilted_box_on_its_edge_and_on_its_corner():
    table = TriangleMesh.box((1.0, 1.0, 0.2))
    cube = mesh("cube2")
    for turn in (Rotation.from_euler("x", 45, degrees=True), Rotation.from_rotvec([0.9, 0.2, 0.4])):
        T = np.eye(4)
        small = TriangleMesh(cube.vertices * 0.1, cube.faces)
        T[:3, :3] = turn.as_matrix()
        lowest = (small.vertices @ T[:3, :3].T)[:, 2].min()
        T[:3, 3] = 0.03, -0.02, 0.1 - lowest
        assert check_touching(table, np.eye(4), small, T)


def test_a_cylinder_that_lies_and_one_that_stands():
    table = TriangleMesh.box((1.0, 1.0, 0.2))
    rod = TriangleMesh.from_trimesh(trimesh.creation.cylinder(radius=0.05, height=0.3, sections=32))
    lying, standing = np.eye(4), np.eye(4)
    lying[:3, :3] = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    for T in (lying, standing):
        T[:3, 3] = 0.1, 0.2, 0.1 - (rod.vertices @ T[:3, :3].T)[:, 2].min()
        assert check_touching(table, np.eye(4), rod, T)


def test_a_corner_has_one_point():
    a, T = TriangleMesh.box((0.1,) * 3), np.eye(4)
    T[:3, 3] = 0.1
    found = contact_manifold(a, None, TriangleMesh.box((0.1,) * 3), T)
    np.testing.assert_allclose(found.points, [[0.05, 0.05, 0.05]], atol=1e-12)


@pytest.mark.parametrize(("a", "b"), [("torus", "torus"), ("bracket", "sphere"), ("cube2", "cube1")])
def test_points_of_meshes_that_overlap_are_on_both_surfaces(a, b):
    Ts = poses(shape(a), shape(b), 40, 0.2, 0.7, seed=3)
    Ts = Ts[collide_batch(mesh(a), None, mesh(b), Ts)][:12]
    seen = 0
    for T in Ts:
        found = contact_manifold(mesh(a), None, mesh(b), T)
        deepest = mesh_mesh_separation(mesh(a), None, mesh(b), T)
        assert off(mesh(a), np.eye(4), deepest.point_a) < 1e-6
        assert off(mesh(b), T, deepest.point_b) < 1e-6
        if len(mesh_mesh_contact(mesh(a), None, mesh(b), T)):
            seen += 1
            assert off(mesh(a), np.eye(4), found.points) < ON
            assert off(mesh(b), T, found.points) < ON
    assert seen > 5
