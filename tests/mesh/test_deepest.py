"""The deepest contact of two triangles of two meshes: against all contacts, against brute force, in scenes."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.mesh import (
    Contact,
    MeshScene,
    Separation,
    TriangleMesh,
    TriTriContact,
    mesh_mesh_contact,
    mesh_mesh_deepest_contact,
    mesh_mesh_separation,
    triangle_triangle_intersection,
)

from .mesh_tools import mesh, poses, rotations, shape, shift


def brute_depths(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Depths (n, m) of all pairs of triangles (n, 3, 3), (m, 3, 3): least overlap over the eleven axes, 0 when apart.

    Plain numpy, pair by pair and axis by axis; of the eleven axes those without a direction are left out.
    """
    edges_a, edges_b = np.roll(A, -1, axis=1) - A, np.roll(B, -1, axis=1) - B
    shape_ab = (len(A), len(B), 3)
    axes = [
        np.broadcast_to(np.cross(edges_a[:, 0], edges_a[:, 1])[:, None], shape_ab),
        np.broadcast_to(np.cross(edges_b[:, 0], edges_b[:, 1])[None], shape_ab),
    ]
    axes += [np.cross(edges_a[:, None, i], edges_b[None, :, j]) for i in range(3) for j in range(3)]
    best = np.full(shape_ab[:2], np.inf)
    for axis in axes:
        length = np.linalg.norm(axis, axis=-1)
        usable = length > 1e-9
        n = axis / np.where(usable, length, 1.0)[..., None]
        a, b = np.einsum("nmk,nck->nmc", n, A), np.einsum("nmk,mck->nmc", n, B)
        overlap = np.minimum(a.max(-1) - b.min(-1), b.max(-1) - a.min(-1))
        best = np.where(usable, np.minimum(best, overlap), best)
    return np.maximum(best, 0.0)


def posed(m: TriangleMesh, T: np.ndarray) -> np.ndarray:
    return m.vertices[m.faces] @ T[:3, :3].T + T[:3, 3]


def random_meshes(rng: np.random.Generator) -> list[TriangleMesh]:
    """Cubes, a torus, soups of triangles: closed and open, convex and not."""
    soups = [TriangleMesh(rng.normal(size=(36, 3)) * 0.4, np.arange(36).reshape(-1, 3)) for _ in range(6)]
    return [mesh("cube0"), mesh("cube1"), *soups]


@pytest.mark.parametrize("seed", range(4))
def test_2000_random_cases_equal_brute_force(seed):
    rng = np.random.default_rng(seed)
    meshes, hits = random_meshes(rng), 0
    for _ in range(500):
        a, b = (meshes[k] for k in rng.integers(len(meshes), size=2))
        T_a, T_b = np.tile(np.eye(4), (2, 1, 1))
        T_a[:3, :3], T_b[:3, :3] = rotations(rng, 2)
        T_b[:3, 3] = rng.normal(size=3) * 0.5
        depths = brute_depths(posed(a, T_a), posed(b, T_b))
        found = mesh_mesh_deepest_contact(a, T_a, b, T_b)
        if found is None:
            assert depths.max() < 1e-12
            continue
        hits += 1
        assert found.depth == pytest.approx(depths.max(), abs=1e-9)
        assert depths[found.tri_a, found.tri_b] == pytest.approx(found.depth, abs=1e-9)
    assert hits > 250


@pytest.mark.parametrize("angle", [0.0, 1e-7, 1e-5, 1e-4, 1e-3])
def test_nearly_parallel_cubes_equal_all_contacts(angle):
    cube, rng = mesh("cube1"), np.random.default_rng(5)
    for _ in range(60):
        T = shift(*rng.uniform(-0.6, 0.6, 3))
        T[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        every, found = mesh_mesh_contact(cube, None, cube, T), mesh_mesh_deepest_contact(cube, None, cube, T)
        assert found.depth == pytest.approx(every.depths.max(), abs=1e-11)  # edges nearly parallel: 5e-13


def test_poses_of_every_kind_are_the_same_pose():
    cube, T = mesh("cube1"), shift(0.6, 0.13, 0.07)
    expected = mesh_mesh_deepest_contact(cube, np.eye(4), cube, T)
    vector, frozen = np.array([1, 0, 0, 0, 0.6, 0.13, 0.07]), T.copy()
    frozen.flags.writeable = False
    for pose in (vector, vector.tolist(), T.tolist(), np.asfortranarray(T), frozen, T.astype(np.float32)):
        found = mesh_mesh_deepest_contact(cube, None, cube, pose)
        assert found.depth == pytest.approx(expected.depth, abs=1e-7)
        np.testing.assert_allclose(found.normal, expected.normal, atol=1e-6)


def test_both_kinds_of_depth_are_contacts_and_differ():
    cube, T = mesh("cube2"), shift(0.9, 0.013, 0.007)
    triangles, bodies = (
        mesh_mesh_deepest_contact(cube, None, cube, T),
        mesh_mesh_separation(cube, None, cube, T),
    )
    assert isinstance(triangles, TriTriContact)
    assert isinstance(bodies, Separation)
    assert isinstance(triangles, Contact)
    assert isinstance(bodies, Contact)
    assert bodies.depth == pytest.approx(0.1, abs=1e-9)
    assert bodies.triangle_depth == triangles.depth != bodies.depth
    assert not triangles.point.flags.writeable
    assert not triangles.normal.flags.writeable


def test_a_scene_equals_its_pairs():
    names = ["cube1", "torus", "bracket", "panda5"]
    meshes = [mesh(n) for n in names]
    Ts = np.stack([poses(shape("cube0"), shape("cube0"), 40, 0.0, 0.8, seed=s) for s in range(4)], axis=1)
    scene = MeshScene(meshes, [(0, 1), (2, 1), (3, 0), (1, 3)])
    found = scene.deepest_contacts(Ts)
    assert found.depths.shape == (40, 4)
    assert found.points.shape == (40, 4, 3)
    np.testing.assert_array_equal(found.touching, scene.states(Ts) == 1)
    for n in range(40):
        for k, (i, j) in enumerate(scene.pairs):
            one = mesh_mesh_deepest_contact(meshes[i], Ts[n, i], meshes[j], Ts[n, j])
            if one is None:
                assert not found.touching[n, k]
                assert np.isnan(found.depths[n, k])
                continue
            assert (found.tri_a[n, k], found.tri_b[n, k]) == (one.tri_a, one.tri_b)
            assert found.depths[n, k] == one.depth
            np.testing.assert_array_equal(found.points[n, k], one.point)
            np.testing.assert_array_equal(found.normals[n, k], one.normal)
    assert found.touching.any(axis=0).all()
    assert not found.touching.all()
    assert scene.deepest_contacts(Ts[:0]).depths.shape == (0, 4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mesh_mesh_deepest_contact("cube", None, mesh("cube0"), None), "TriangleMesh"),
        (lambda: mesh_mesh_deepest_contact(mesh("cube0"), np.eye(3), mesh("cube0"), None), "T_a"),
        (lambda: mesh_mesh_deepest_contact(mesh("cube0"), None, mesh("cube0"), np.eye(4)[None]), "one pose"),
        (lambda: mesh_mesh_deepest_contact(mesh("cube0"), 2 * np.eye(4), mesh("cube0"), np.eye(4)), "T_a"),
        (
            lambda: mesh_mesh_deepest_contact(mesh("cube0"), np.eye(4), mesh("cube0"), np.full((4, 4), "x")),
            "T_b",
        ),
        (lambda: mesh_mesh_separation(mesh("cube0"), None, None, None), "TriangleMesh"),
        (lambda: mesh_mesh_separation(mesh("cube0"), np.full((4, 4), np.nan), mesh("cube0"), None), "T_a"),
        (lambda: MeshScene([mesh("cube0")] * 2, [(0, 1, 1)]), "pairs"),
        (lambda: MeshScene([mesh("cube0")] * 2).deepest_contacts(np.zeros((3, 1, 7))), "poses"),
        (lambda: MeshScene([mesh("cube0")] * 2).deepest_contacts(np.full((1, 2, 7), np.nan)), "poses"),
        (lambda: MeshScene([mesh("cube0")] * 2).deepest_contacts("x"), "poses"),
        (lambda: MeshScene([mesh("cube0")] * 2).deepest_contacts([[[1.0]], [[1.0, 2.0]]]), "poses"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


@pytest.mark.parametrize(
    ("a", "b"), [("cube2", "cube2"), ("torus", "bracket"), ("talos_arm4", "talos_torso")]
)
def test_deepest_triangle_contact_is_the_deepest_of_all_contacts(a, b):
    tried = 0
    for T in [*poses(shape(a), shape(b), 60, 0.1, 0.9, seed=23), shift(0.5), shift(0.37, 0.41, 0.23)]:
        every, one = (
            mesh_mesh_contact(mesh(a), None, mesh(b), T),
            mesh_mesh_deepest_contact(mesh(a), None, mesh(b), T),
        )
        assert (len(every) == 0) == (one is None)
        if one is None:
            continue
        tried += 1
        assert one.depth == pytest.approx(every.depths.max(), abs=1e-12)
        corners_b = mesh(b).vertices[mesh(b).faces[one.tri_b]] @ T[:3, :3].T + T[:3, 3]
        again = triangle_triangle_intersection(mesh(a).vertices[mesh(a).faces[one.tri_a]], corners_b)
        assert again.depth == pytest.approx(one.depth, abs=1e-12)
        assert again.kind == one.kind
        np.testing.assert_allclose(again.point, one.point, atol=1e-9)
        np.testing.assert_allclose(again.normal, one.normal, atol=1e-9)
        assert mesh_mesh_separation(mesh(a), None, mesh(b), T).triangle_depth == pytest.approx(
            one.depth, abs=1e-12
        )
    assert tried >= 20


def test_deepest_triangle_contact_looks_at_surfaces_only():
    big, small = mesh("cube2"), TriangleMesh.box((0.2, 0.2, 0.2))
    assert mesh_mesh_deepest_contact(big, None, small, shift(0.1, 0.02)) is None
    assert mesh_mesh_deepest_contact(big, None, small, shift(5.0)) is None
    touching = mesh_mesh_deepest_contact(big, None, big, shift(1.0))
    assert touching.depth == pytest.approx(0.0, abs=1e-12)
