"""Distances against Coal, witnesses, tori, signs."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

from elbowroom.mesh import Cylinder, Ellipsoid, TriangleMesh, distance, distance_batch, shape_distance

from .mesh_tools import brute_distance, coal_mesh, coal_pose, mesh, moved, poses, rotations, shape, shift

PAIRS = [
    ("cube0", "cube0"),
    ("cube2", "sphere"),
    ("torus", "torus"),
    ("bracket", "cylinder"),
    ("panda5", "panda_hand"),
    ("talos_arm4", "talos_torso"),
    ("ur5_forearm", "ur5_upperarm"),
]


def on_surface(name: str, points: np.ndarray) -> float:
    return float(trimesh.proximity.closest_point(shape(name), points)[1].max())


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_distances_equal_coal_and_points_are_on_the_surfaces(a, b):
    coal = pytest.importorskip("coal")
    Ts = poses(shape(a), shape(b), 150, 0.4, 1.5, seed=1)
    ours = distance_batch(mesh(a), None, mesh(b), Ts, contain=False, signed=False)
    apart = ours.tri_a >= 0
    assert apart.sum() > 30
    size = np.linalg.norm(shape(a).extents)
    for i in np.flatnonzero(apart):
        result = coal.DistanceResult()
        coal.distance(
            coal_mesh(a), coal.Transform3s(), coal_mesh(b), coal_pose(Ts[i]), coal.DistanceRequest(), result
        )
        assert ours.distances[i] == pytest.approx(result.min_distance, abs=1e-9 * size)
    span = ours.points_b[apart] - ours.points_a[apart]
    np.testing.assert_allclose(np.linalg.norm(span, axis=1), ours.distances[apart], atol=1e-12 * size)
    np.testing.assert_allclose(span, ours.distances[apart, None] * ours.normals[apart], atol=1e-9 * size)
    back = np.einsum("nji,nj->ni", Ts[apart, :3, :3], ours.points_b[apart] - Ts[apart, :3, 3])
    assert on_surface(a, ours.points_a[apart][:20]) < 1e-8 * size
    assert on_surface(b, back[:20]) < 1e-8 * size


def test_interlinked_tori_are_apart_by_the_right_distance():
    coal = pytest.importorskip("coal")
    T = np.array([[1.0, 0, 0, 1], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    found = distance(mesh("torus"), None, mesh("torus"), T)
    result = coal.DistanceResult()
    coal.distance(
        coal_mesh("torus"),
        coal.Transform3s(),
        coal_mesh("torus"),
        coal_pose(T),
        coal.DistanceRequest(),
        result,
    )
    assert found.distance == pytest.approx(result.min_distance, abs=1e-9)
    assert 0.38 < found.distance < 0.42  # 1 - 2 * 0.3 for round tori


def test_penetration_is_negative_and_containment_too():
    cube = mesh("cube1")
    inside = distance(cube, None, TriangleMesh.box((0.2, 0.2, 0.2)), shift(0.1, 0.02))
    assert inside.distance == pytest.approx(-0.5, abs=1e-9)
    found = distance(cube, None, cube, shift(0.9))
    assert found.distance == pytest.approx(-0.1, abs=1e-12)
    np.testing.assert_allclose(found.point_b - found.point_a, found.distance * found.normal, atol=1e-12)
    touching = distance(cube, None, cube, shift(1.0))
    assert touching.distance == pytest.approx(0.0, abs=1e-12)


def test_unsigned_distance_reports_zero_for_collisions():
    cube = mesh("cube1")
    many = distance_batch(cube, None, cube, np.stack([shift(0.9), shift(1.5)]), signed=False)
    assert many.distances.tolist() == pytest.approx([0.0, 0.5])
    assert many.tri_a[0] == -1
    assert np.isnan(many.points_a[0]).all()


def test_swap_and_rigid_motion():
    a, b = mesh("bracket"), mesh("panda0")
    Ts = poses(shape("bracket"), shape("panda0"), 30, 0.8, 1.5, seed=2)
    G = poses(shape("cube0"), shape("cube0"), 1, 2.0, 2.0, seed=3)[0]
    one, two = distance_batch(a, None, b, Ts), distance_batch(b, Ts, a, None)
    np.testing.assert_allclose(one.distances, two.distances, atol=1e-9)
    moved = distance_batch(a, G, b, G @ Ts)
    apart = one.distances > 0
    np.testing.assert_allclose(moved.distances[apart], one.distances[apart], atol=1e-9)


def test_distance_of_large_and_small_scales():
    for scale in (1e-3, 1e3):
        cube = TriangleMesh(scale * shape("cube1").vertices, shape("cube1").faces)
        assert distance(cube, None, cube, shift(1.5 * scale)).distance == pytest.approx(0.5 * scale, rel=1e-9)


def rectangle(rng: np.random.Generator) -> TriangleMesh:
    x, y = rng.uniform(0.05, 1.0, 2)
    return TriangleMesh([[-x, -y, 0], [x, -y, 0], [x, y, 0], [-x, y, 0]], [[0, 1, 2], [0, 2, 3]])


def soup(rng: np.random.Generator, flat: bool) -> TriangleMesh:
    corners = rng.uniform(-1, 1, (8, 1, 3)) + rng.uniform(-0.3, 0.3, (8, 3, 3))
    if flat:
        corners[..., 2] = 0.0
    return TriangleMesh(corners.reshape(-1, 3), np.arange(24).reshape(-1, 3))


@pytest.mark.parametrize("kind", ["parallel", "turned in the plane", "coplanar", "tilted"])
def test_flat_open_meshes_are_not_farther_apart_than_they_are(kind):
    rng = np.random.default_rng(4)
    compared = 0
    for k in range(800):
        a, b = (rectangle(rng), rectangle(rng)) if k % 2 else (soup(rng, True), soup(rng, True))
        T = shift(*rng.uniform(-2, 2, 3))
        if kind == "coplanar":
            T[2, 3] = 0.0
        if kind == "tilted":
            T[:3, :3] = rotations(rng, 1)[0]
        elif kind != "parallel":
            c, s = np.cos(k), np.sin(k)
            T[:2, :2] = [[c, -s], [s, c]]
        found = distance_batch(a, None, b, T, signed=False)
        if found.tri_a[0] < 0:
            continue
        compared += 1
        assert found.distances[0] == pytest.approx(
            brute_distance(moved(a, np.eye(4)), moved(b, T)), abs=1e-12
        )
        span = found.points_b[0] - found.points_a[0]
        assert np.linalg.norm(span) == pytest.approx(found.distances[0], abs=1e-12)
    assert compared > 350


def test_distances_of_triangle_soups_equal_brute_force():
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(1000):
        a, b = soup(rng, False), soup(rng, False)
        T = shift(*rng.uniform(-2, 2, 3))
        T[:3, :3] = rotations(rng, 1)[0]
        found = distance_batch(a, None, b, T, signed=False)
        if found.tri_a[0] >= 0:
            compared += 1
            assert found.distances[0] == pytest.approx(
                brute_distance(moved(a, np.eye(4)), moved(b, T)), abs=1e-12
            )
    assert compared > 500


@pytest.mark.parametrize("seed", [0, 3, 6])
def test_solids_apart_are_never_taken_for_an_overlap(seed):
    """Found by chance, one in thousands: rounding made a flat tetrahedron of the search hold the origin."""
    rng, ground = np.random.default_rng(seed), TriangleMesh.box((2, 2, 0.1))
    for k in range(2000):
        R = Rotation.random(random_state=rng).as_matrix()
        gap, (a, b, c) = 10.0 ** rng.uniform(-7, 0), rng.uniform(0.05, 0.5, 3)
        if k % 2:
            body, low = Ellipsoid((a, b, c)), np.linalg.norm([a, b, c] * R[2])
        else:
            body, low = Cylinder(a, b), a * np.hypot(R[2, 0], R[2, 1]) + 0.5 * b * abs(R[2, 2])
        T = shift(z=0.05 + low + gap)
        T[:3, :3] = R
        assert abs(shape_distance(ground, None, body, T).distance - gap) < 1e-9
