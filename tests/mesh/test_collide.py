"""Booleans, candidate pairs and contacts of meshes against brute force, Coal and FCL.

Looks inside: `collide_states` tells touching from containing, which no public answer does.
"""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom.errors import InputError
from elbowroom.mesh import (
    MeshScene,
    TriangleMesh,
    collide,
    collide_batch,
    distance_batch,
    mesh_mesh_contact,
    mesh_mesh_contact_batch,
    query_bvh_pair,
    triangle_triangle_intersection,
)
from elbowroom.mesh.internal import collide_states

from .mesh_tools import (
    brute_distance,
    coal_booleans,
    cross_exactly,
    fcl_booleans,
    fcl_mesh,
    mesh,
    poses,
    rotations,
    shape,
    shift,
)

PAIRS = [
    ("cube0", "cube0"),
    ("cube1", "sphere"),
    ("cube3", "cube2"),
    ("sphere", "sphere"),
    ("torus", "torus"),
    ("torus", "cylinder"),
    ("bracket", "bracket"),
    ("bracket", "cube1"),
    ("panda5", "panda_hand"),
    ("panda0", "panda_finger"),
    ("talos_arm4", "talos_torso"),
    ("ur5_forearm", "ur5_upperarm"),
    ("talos_hip", "talos_arm4"),
]
POSES_PER_PAIR = 10_000
"""Random poses of every pair; 130,000 in all."""


@pytest.mark.long
@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_booleans_equal_coal_and_fcl(a, b):
    Ts = poses(shape(a), shape(b), POSES_PER_PAIR, 0.0, 1.0, seed=len(a) + 7 * len(b))
    surfaces = collide_batch(mesh(a), None, mesh(b), Ts, contain=False)
    theirs, others = coal_booleans(a, b, Ts), fcl_booleans(a, b, Ts)
    assert 0.05 < surfaces.mean() < 0.99
    np.testing.assert_array_equal(surfaces, theirs)
    np.testing.assert_array_equal(surfaces, others)
    # The only difference that solids make is containment, and there the surfaces are apart.
    states = collide_states(mesh(a), None, mesh(b), Ts)
    np.testing.assert_array_equal(states == 1, surfaces)
    inside = np.flatnonzero(states > 1)
    clear = distance_batch(mesh(a), None, mesh(b), Ts[inside], contain=False).distances
    assert np.all(clear > 0)


def brute_force(a: TriangleMesh, b: TriangleMesh, T: np.ndarray) -> set[tuple[int, int]]:
    moved = b.vertices @ T[:3, :3].T + T[:3, 3]
    return {
        (i, j)
        for i, f in enumerate(a.faces)
        for j, g in enumerate(b.faces)
        if triangle_triangle_intersection(a.vertices[f], moved[g]) is not None
    }


@pytest.mark.long
def test_triangle_pairs_equal_brute_force_on_200_small_meshes():
    rng = np.random.default_rng(0)
    met = 0
    for k in range(200):
        a = TriangleMesh(rng.normal(size=(8, 3)), rng.integers(0, 8, size=(10, 3)))
        b = TriangleMesh(rng.normal(size=(8, 3)), rng.integers(0, 8, size=(10, 3)))
        T = poses(shape("cube0"), shape("cube0"), 1, 0.0, 1.0, seed=k)[0]
        c = mesh_mesh_contact(a, None, b, T)
        found = set(zip(c.tri_a.tolist(), c.tri_b.tolist(), strict=True))
        assert len(found) == len(c)
        expected = {p for p in brute_force(a, b, T) if not a.degenerate[p[0]] and not b.degenerate[p[1]]}
        assert found == expected
        candidates = set(map(tuple, query_bvh_pair(a, b, None, T).tolist()))
        assert found <= candidates
        met += len(found)
    assert met > 1000


@pytest.mark.parametrize(("a", "b"), [("cube2", "cube2"), ("torus", "torus"), ("panda5", "panda_hand")])
def test_contact_pairs_equal_fcl(a, b):
    fcl = pytest.importorskip("fcl")
    Ts = poses(shape(a), shape(b), 20, 0.3, 0.6, seed=3)
    batch = mesh_mesh_contact_batch(mesh(a), None, mesh(b), Ts)
    left = fcl.CollisionObject(fcl_mesh(a))
    for i, T in enumerate(Ts):
        request = fcl.CollisionRequest(num_max_contacts=100_000, enable_contact=True)
        result = fcl.CollisionResult()
        fcl.collide(
            left, fcl.CollisionObject(fcl_mesh(b), fcl.Transform(T[:3, :3], T[:3, 3])), request, result
        )
        theirs = {(c.b1, c.b2) for c in result.contacts}
        c = batch[i]
        assert set(zip(c.tri_a.tolist(), c.tri_b.tolist(), strict=True)) == theirs
        single = mesh_mesh_contact(mesh(a), None, mesh(b), T)
        np.testing.assert_array_equal(single.points, c.points)


def test_contact_normals_are_unit_and_point_from_a_to_b():
    for a, b in (("cube2", "sphere"), ("talos_arm4", "talos_torso")):
        Ts = poses(shape(a), shape(b), 50, 0.3, 0.7, seed=4)
        batch = mesh_mesh_contact_batch(mesh(a), None, mesh(b), Ts)
        c = batch.contacts
        assert len(c) > 100
        assert np.abs(np.linalg.norm(c.normals, axis=1) - 1).max() < 1e-9
        assert np.all(c.depths >= 0)
        for i in range(len(Ts)):
            part = batch[i]
            ma, mb = mesh(a), mesh(b)
            for k in range(0, len(part), 7):
                ta = ma.vertices[ma.faces[part.tri_a[k]]]
                tb = mb.vertices[mb.faces[part.tri_b[k]]] @ Ts[i, :3, :3].T + Ts[i, :3, 3]
                away = (part.depths[k] + 1e-9) * part.normals[k]
                assert triangle_triangle_intersection(ta, tb + away) is None


def test_a_common_rigid_motion_changes_nothing():
    a, b = mesh("panda5"), mesh("panda_hand")
    Ts = poses(shape("panda5"), shape("panda_hand"), 200, 0.2, 1.0, seed=5)
    G = poses(shape("cube0"), shape("cube0"), 1, 2.0, 2.0, seed=6)[0]
    here, there = collide_batch(a, None, b, Ts), collide_batch(a, G, b, G @ Ts)
    np.testing.assert_array_equal(here, there)
    i = int(np.flatnonzero(here)[0])
    c, d = mesh_mesh_contact(a, None, b, Ts[i]), mesh_mesh_contact(a, G, b, G @ Ts[i])
    assert len(c) == len(d)
    order_c, order_d = np.lexsort((c.tri_a, c.tri_b)), np.lexsort((d.tri_a, d.tri_b))
    np.testing.assert_allclose(c.points[order_c] @ G[:3, :3].T + G[:3, 3], d.points[order_d], atol=1e-9)
    np.testing.assert_allclose(c.depths[order_c], d.depths[order_d], atol=1e-12)


def test_swapping_the_meshes_swaps_the_contacts():
    a, b = mesh("torus"), mesh("bracket")
    Ts = poses(shape("torus"), shape("bracket"), 200, 0.2, 1.0, seed=7)
    np.testing.assert_array_equal(collide_batch(a, None, b, Ts), collide_batch(b, Ts, a, None))
    i = int(np.flatnonzero(collide_batch(a, None, b, Ts))[0])
    c, d = mesh_mesh_contact(a, None, b, Ts[i]), mesh_mesh_contact(b, Ts[i], a, None)
    order_c, order_d = np.lexsort((c.tri_a, c.tri_b)), np.lexsort((d.tri_b, d.tri_a))
    np.testing.assert_array_equal(c.tri_a[order_c], d.tri_b[order_d])
    np.testing.assert_allclose(c.normals[order_c], -d.normals[order_d], atol=1e-8)


def test_both_kinds_of_pose_are_accepted():
    T = shift(0.9)
    v = np.array([1.0, 0, 0, 0, 0.9, 0, 0])
    cube = mesh("cube0")
    assert collide(cube, None, cube, T) == collide(cube, np.eye(4), cube, v) is True
    assert collide_batch(cube, None, cube, np.stack([v, v])).tolist() == [True, True]


@pytest.mark.parametrize(
    "pose",
    [
        np.full(7, np.nan),
        np.zeros(7),
        np.diag([2.0, 1, 1, 1]),
        np.diag([-1.0, 1, 1, 1]),
        np.eye(3),
        "T",
        [1e30] * 7,
    ],
)
def test_bad_poses_are_refused(pose):
    with pytest.raises(InputError):
        collide(mesh("cube0"), None, mesh("cube0"), pose)


def test_float32_poses_change_an_answer_only_within_their_rounding_of_contact():
    rng = np.random.default_rng(8)
    cube = mesh("cube1")
    Ts = poses(shape("cube1"), shape("cube1"), 500, 0.2, 1.0, seed=8)
    apart = distance_batch(cube, None, cube, Ts, signed=False)
    far = np.flatnonzero(apart.tri_a >= 0)[:100]
    gaps = rng.choice([-1.0, 1.0], 100) * 10.0 ** rng.uniform(
        -8, -5, 100
    )  # around contact, from 10 nm to 10 um
    close = Ts[far].copy()
    close[:, :3, 3] -= (apart.distances[far] - gaps)[:, None] * apart.normals[far]
    Ts = np.concatenate([Ts, close])
    signed = distance_batch(cube, None, cube, Ts).distances
    exact, rough = collide_batch(cube, None, cube, Ts), collide_batch(cube, None, cube, Ts.astype(np.float32))
    clear = np.abs(signed) > 5e-7  # float32 rounds a corner's place by some 1e-7 m
    np.testing.assert_array_equal(exact[clear], rough[clear])
    assert clear[:500].all()
    assert (exact != rough).any()  # and the others are where rounding decides


def test_touching_counts_and_a_hair_apart_does_not():
    for name in ("cube0", "cube1", "cube2", "cube3"):
        cube = mesh(name)
        assert collide(cube, None, cube, shift(1.0))
        assert collide(cube, None, cube, shift(1.0, 1.0))
        assert collide(cube, None, cube, shift(1.0, 1.0, 1.0))
        assert not collide(cube, None, cube, shift(1.0 + 1e-9))
        assert not collide(cube, None, cube, shift(1.0, 1.0, 1.0 + 1e-9))


def ordinary(rng: np.random.Generator) -> np.ndarray:
    """A random triangle whose angles are all above 20 degrees."""
    while True:
        t = rng.normal(size=(3, 3))
        u = t[[1, 2, 0]] - t
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        if np.max(-np.einsum("ij,ij->i", u, u[[1, 2, 0]])) < np.cos(np.radians(20)):
            return t


def test_ordinary_triangles_touch_at_contact_and_not_at_the_stated_tolerance():
    rng = np.random.default_rng(11)
    for _ in range(500):
        a = ordinary(rng)
        b = ordinary(rng) @ rotations(rng, 1)[0].T + 3.0 * rng.normal(size=3)
        meshes = [TriangleMesh(t, [[0, 1, 2]]) for t in (a, b)]
        near = distance_batch(meshes[0], None, meshes[1], None, signed=False)
        if near.tri_a[0] < 0:
            continue
        to_contact = near.distances[0] * near.normals[0]
        size = max(np.abs(a).max(), np.abs(b - to_contact).max())
        assert triangle_triangle_intersection(a, b - to_contact) is not None
        assert triangle_triangle_intersection(a, b - to_contact + 1e-10 * size * near.normals[0]) is None


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6, 1e-8])
def test_needles_are_told_apart_beyond_the_stated_tolerance(width):
    rng = np.random.default_rng(12)
    told_apart = 0
    for _ in range(600):
        a, b = (np.array([[0, 0, 0], [1, 0, 0], [rng.uniform(), width, 0]]) for _ in range(2))
        angle = rng.choice([rng.uniform(0, np.pi), 10.0 ** rng.uniform(-7, 0)])
        c, s = np.cos(angle), np.sin(angle)
        tilt = rng.integers(0, 2) * 10.0 ** rng.uniform(-12, 0) * rng.normal(size=3)
        turn = trimesh.transformations.euler_matrix(*tilt)[:3, :3] @ np.array(
            [[1, 0, 0], [0, c, -s], [0, s, c]]
        )
        b = b @ turn.T + [rng.uniform(-0.9, 0.9), *(10.0 ** rng.uniform(-9, -3) * rng.normal(size=2))]
        G = rotations(rng, 1)[0]
        a, b = a @ G.T, b @ G.T
        gap = brute_distance(a[None], b[None])
        if gap > 2.0 * max(np.abs(a).max(), np.abs(b).max()) * max(1e-6, 1e-12 / width):
            met = triangle_triangle_intersection(a, b) is not None
            assert met == (met and cross_exactly(a, b))
            told_apart += not met
    assert told_apart > 60


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_containment_is_a_collision_of_solids(scale):
    big = TriangleMesh(scale * shape("cube2").vertices, shape("cube2").faces)
    small = TriangleMesh(0.2 * scale * shape("sphere").vertices, shape("sphere").faces)
    T = shift(0.1 * scale)
    assert collide_states(big, None, small, T)[0] == 3
    assert collide_states(small, T, big, None)[0] == 2
    assert not collide(big, None, small, T, contain=False)
    opened = TriangleMesh(big.vertices, big.faces[1:])
    assert not collide(opened, None, small, T)


def test_a_component_inside_counts_and_a_cavity_does_not():
    cube = shape("cube1")
    shell = trimesh.util.concatenate([cube, cube.copy().apply_scale(0.8)])
    faces = shell.faces.copy()
    faces[len(cube.faces) :] = faces[len(cube.faces) :, ::-1]
    hollow = TriangleMesh(shell.vertices, faces)
    ball = TriangleMesh.box((0.1, 0.1, 0.1))
    assert hollow.closed
    assert not collide(hollow, None, ball, None)
    assert collide(hollow, None, ball, shift(0.45))
    two = TriangleMesh.from_trimesh(
        trimesh.util.concatenate(
            [
                trimesh.creation.box((0.1, 0.1, 0.1)),
                trimesh.creation.box((0.1, 0.1, 0.1)).apply_translation([5, 0, 0]),
            ]
        )
    )
    assert collide(mesh("cube1"), None, two, shift(0.0))
    assert collide(mesh("cube1"), None, two, shift(-5.0))
    assert not collide(mesh("cube1"), None, two, shift(-2.5))


def test_mixed_scales():
    tiny = TriangleMesh(1e-3 * shape("cube1").vertices, shape("cube1").faces)
    huge = TriangleMesh(1e3 * shape("cube1").vertices, shape("cube1").faces)
    assert collide_states(huge, None, tiny, shift(500.0))[0] == 1
    assert collide_states(huge, None, tiny, shift(499.0))[0] == 3
    assert not collide(huge, None, tiny, shift(500.0006))


def test_interlinked_tori_do_not_collide():
    T = np.array([[1.0, 0, 0, 1], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    assert not collide(mesh("torus"), None, mesh("torus"), T)


def test_a_scene_equals_its_pairs():
    names = ["cube1", "torus", "bracket", "panda5"]
    meshes = [mesh(n) for n in names]
    rng = np.random.default_rng(9)
    Ts = np.stack(
        [poses(shape("cube0"), shape("cube0"), 60, 0.0, 0.8, seed=int(s)) for s in rng.integers(1e6, size=4)]
    )
    Ts = np.swapaxes(Ts, 0, 1)
    scene = MeshScene(meshes)
    states = scene.states(Ts)
    assert states.shape == (60, 6)
    for k, (i, j) in enumerate(scene.pairs):
        np.testing.assert_array_equal(states[:, k], collide_states(meshes[i], Ts[:, i], meshes[j], Ts[:, j]))
    first = scene.states(Ts, first_only=True)
    np.testing.assert_array_equal((first > 0).any(axis=1), (states > 0).any(axis=1))
    np.testing.assert_array_equal(MeshScene(meshes, [(0, 3)]).colliding(Ts)[:, 0], states[:, 2] > 0)


def test_scene_errors():
    with pytest.raises(InputError, match="0 to 0"):
        MeshScene([mesh("cube0")], [(0, 1)])
    with pytest.raises(InputError, match="poses"):
        MeshScene([mesh("cube0"), mesh("cube0")]).states(np.zeros((3, 1, 7)))
    for poses_given in ("x", [[[1.0]], [[1.0, 2.0]]], None, [[["x"] * 7] * 2]):
        with pytest.raises(InputError, match=r"poses: expected shape \(n, 2, 7\)"):
            MeshScene([mesh("cube0"), mesh("cube0")]).states(poses_given)
    for meshes in (5, None, mesh("cube0")):
        with pytest.raises(InputError, match="meshes: expected a list"):
            MeshScene(meshes)
    with pytest.raises(InputError, match="at least one"):
        MeshScene([])
    with pytest.raises(InputError, match="TriangleMesh"):
        collide("cube", None, mesh("cube0"), None)
