"""The compiled world: what scenes ask of it, against its own float64 answers, brute force and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom import _core
from elbowroom.mesh import TriangleMesh
from elbowroom.world import Box, HalfSpace, PointCloud, SdfGrid, Sphere, World

from .coal_world import boxes
from .world_tools import KINDS, draw, pose

ROUNDING = 64.0 * 2.0**-24
"""Of lower bounds in float32 lanes, as a share of the coordinates that they come from."""


def mixed(seed: int, n: int = 12, shift: float = 0.0) -> World:
    rng = np.random.default_rng(seed)
    drawn = [draw(KINDS[i % len(KINDS)], rng) for i in range(n)]
    step = np.eye(4)
    step[:3, 3] = shift
    return World([o.at(step @ o.pose) for o in drawn])


@pytest.mark.parametrize("shift", [0.0, 30.0, 1000.0])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_in_lanes_hold_for_the_points_as_given(seed, shift):
    world, rng = mixed(seed, shift=shift), np.random.default_rng(seed)
    points = (shift + rng.uniform(-1.5, 1.5, (2000, 3))).astype(np.float32)
    exact = world.core.lower_bounds(points.astype(np.float64), np.inf)
    found = world.core.lane_bounds(points, np.inf).astype(np.float64)
    assert (found <= exact).all()
    assert (exact - found).max() < ROUNDING * (6.0 * shift + 20.0)
    limit = 0.25
    near = world.core.lane_bounds(points, limit).astype(np.float64)
    assert (near <= np.maximum(exact, limit)).all()
    assert (near >= np.minimum(found, limit) - 1e-6).all()


def test_lanes_tell_depths_of_primitives():
    rng = np.random.default_rng(3)
    for kind in ("box", "sphere", "cylinder", "capsule", "half_space"):
        world = World([draw(kind, rng)])
        points = (world.obstacles[0].pose[:3, 3] + rng.uniform(-1.0, 1.0, (2000, 3))).astype(np.float32)
        exact = world.core.lower_bounds(points.astype(np.float64), np.inf)
        assert (exact < 0.0).any()
        found = world.core.lane_bounds(points, np.inf)
        assert (found <= exact).all()
        assert (exact - found).max() < 20.0 * ROUNDING


def test_ignored_obstacles_are_passed_over():
    world, rng = mixed(5), np.random.default_rng(5)
    points = rng.uniform(-1.0, 1.0, (1000, 3))
    ignored = rng.random(len(world)) < 0.5
    rest = World([o for o, gone in zip(world, ignored, strict=True) if not gone])
    np.testing.assert_array_equal(
        world.core.lower_bounds(points, np.inf, ignored), rest.core.lower_bounds(points, np.inf)
    )
    single = points.astype(np.float32)
    np.testing.assert_array_equal(
        world.core.lane_bounds(single, np.inf, ignored), rest.core.lane_bounds(single, np.inf)
    )
    assert not np.array_equal(world.core.lower_bounds(points, np.inf), rest.core.lower_bounds(points, np.inf))
    center, half, axes = boxes(1000, rng, 1.0)
    rows = np.concatenate([axes.reshape(-1, 9), center, half], axis=1)
    found = np.empty(len(rows), np.bool_)
    world.core.boxes_meet(rows, ignored, found)
    np.testing.assert_array_equal(found, rest.box_intersects(center, half, axes))
    everything = np.ones(len(world), np.bool_)
    assert np.isinf(world.core.lower_bounds(points, np.inf, everything)).all()


def test_near_names_all_that_a_ball_reaches():
    rng = np.random.default_rng(6)
    world = World([
        *(Sphere(rng.uniform(0.01, 0.1), pose=pose(rng)) for _ in range(300)),
        HalfSpace(offset=-0.2),
        HalfSpace((1.0, 0.0, 0.0), -2.0),
    ])  # fmt: skip
    for center in rng.uniform(-1.0, 1.0, (200, 3)):
        radius = rng.uniform(0.0, 0.3)
        found = world.core.near(center, radius).tolist()
        assert len(set(found)) == len(found)
        distances = np.array([world.core.distances(k, center[None], np.inf)[0] for k in range(len(world))])
        assert set(np.flatnonzero(distances <= radius)) <= set(found)
        for k in found:  # the boxes of balls reach no farther than their corners
            assert distances[k] <= radius + 0.1


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 65, 513, 5000])
def test_the_nearest_point_of_a_cloud_is_that_of_brute_force(n):
    rng = np.random.default_rng(n)
    points = rng.normal(size=(n, 3)) * [1.0, 0.3, 0.01]
    if n > 10:
        points[n // 2 :] = points[: n - n // 2]  # some twice
    cloud = PointCloud(points, 10.0)
    np.testing.assert_array_equal(np.unique(cloud.points, axis=0), np.unique(points, axis=0))
    queries = rng.normal(size=(400, 3))
    true = np.linalg.norm(queries[:, None] - points[None], axis=2).min(axis=1) - 10.0
    np.testing.assert_allclose(World([cloud]).distance(queries), true, atol=1e-12)
    if n > 4:
        apart = np.sort(np.linalg.norm(cloud.points[:, None] - cloud.points[None], axis=2), axis=1)
        found = cloud.core_cloud.neighbour_distances(np.arange(n), 4)
        np.testing.assert_allclose(found, apart[:, 4], atol=1e-12)


def test_far_from_the_origin_nothing_is_passed_over():
    """A million metres away float32 tells places apart to 6 cm: walks must allow for it."""
    rng = np.random.default_rng(8)
    far = np.array([9e5, -9e5, 9e5])
    points = far + rng.uniform(-1.0, 1.0, (3000, 3))
    world = World(
        [PointCloud(points, 0.2), *(Box((0.1, 0.1, 0.1), pose=[1, 0, 0, 0, *p]) for p in points[:50])]
    )
    queries = far + rng.uniform(-1.2, 1.2, (300, 3))
    to_points = np.linalg.norm(queries[:, None] - points[None], axis=2).min(axis=1) - 0.2
    to_boxes = np.min([world.core.distances(k, queries, np.inf) for k in range(1, 51)], axis=0)
    np.testing.assert_allclose(world.distance(queries), np.minimum(to_points, to_boxes), atol=1e-9)


def test_a_mesh_at_a_pose_and_the_witness_points_are_in_the_world():
    ball = TriangleMesh.from_trimesh(trimesh.creation.icosphere(3, 0.1))
    T = trimesh.transformations.rotation_matrix(0.7, [1.0, 2.0, 3.0])
    T[:3, 3] = 1.0, 0.2, 0.3
    world = World([Box((0.2, 0.2, 0.2), pose=[1, 0, 0, 0, 0.5, 0.2, 0.3])])
    row = np.concatenate([T[:3, :3].ravel(), T[:3, 3]])[None]
    (meets,), (distance,), (points,) = world.core.mesh_gaps(0, ball.tree, row, np.inf)
    assert not meets
    assert distance == pytest.approx(0.3, abs=1e-3)
    np.testing.assert_allclose(points, [[0.9, 0.2, 0.3], [0.6, 0.2, 0.3]], atol=0.02)
    assert np.linalg.norm(points[0] - points[1]) == pytest.approx(distance, abs=1e-9)
    (meets,), (distance,), (points,) = world.core.mesh_gaps(0, ball.tree, row, 0.1)
    assert (meets, distance) == (False, 0.1)
    assert np.isnan(points).all()


def test_a_field_refers_to_its_samples_as_long_as_it_lives():
    values = np.full((40, 40, 40), 0.25)
    world = World([SdfGrid(values, 0.01)])
    core = world.core
    del values, world
    assert np.empty((40, 40, 40), np.float32).size  # what may take the place of freed memory
    np.testing.assert_allclose(core.lower_bounds(np.full((10, 3), 0.2), np.inf), 0.25)


def test_samples_of_another_kind_are_refused():
    steps, origin = np.ones(3), np.zeros(3)
    with pytest.raises(TypeError):
        _core.DistanceField(np.zeros((3, 3, 3)), steps, origin)  # float64 would be copied
    with pytest.raises(ValueError, match="samples"):
        _core.DistanceField(np.zeros((1, 3, 3), np.float32), steps, origin)
    with pytest.raises(ValueError, match="finite"):
        _core.DistanceField(np.full((3, 3, 3), np.nan, np.float32), steps, origin)
