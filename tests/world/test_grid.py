"""The clearance grid never promises more than the obstacles leave, whatever became of the world since it was made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import trimesh

from elbowroom.world import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    MeshObstacle,
    PointCloud,
    SdfGrid,
    Sphere,
    World,
)

REGION = np.array([[-1.0, -1.0, -0.2], [1.0, 1.0, 1.2]])


def pose(rng: np.random.Generator) -> np.ndarray:
    turn = rng.normal(size=4)
    return np.concatenate([turn / np.linalg.norm(turn), rng.uniform(-0.8, 0.8, 3)])


@pytest.fixture
def scene() -> World:
    rng = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(*[np.linspace(-0.3, 0.3, 13)] * 3, indexing="ij"))
    ball = np.linalg.norm(grid, axis=0) - 0.2
    kinds = [Box(rng.uniform(0.05, 0.5, 3), pose=pose(rng)) for _ in range(6)]
    kinds += [
        Sphere(0.1, pose=pose(rng)),
        Cylinder(0.08, 0.5, pose=pose(rng)),
        Capsule(0.05, 0.4, pose=pose(rng)),
        MeshObstacle(trimesh.creation.torus(0.2, 0.05), pose=pose(rng)),
        PointCloud(rng.uniform(-0.2, 0.2, (200, 3)), 0.05, pose=pose(rng)),
        SdfGrid(ball, 0.05, origin=(-0.3, -0.3, -0.3), pose=pose(rng)),
        HalfSpace(offset=-0.4),
    ]
    return World(kinds)


def _moved(way: np.ndarray) -> np.ndarray:
    T = np.zeros((4, 4))
    T[:3, 3] = way
    return T


def holds(low: np.ndarray, true: np.ndarray) -> bool:
    """Whether bounds hold; inside an obstacle, where nothing is to be cleared, they need only not be positive."""
    return bool((low <= np.maximum(true, 0.0) + 1e-9).all())


def bounds(world: World, points: np.ndarray, region: np.ndarray = REGION) -> np.ndarray:
    return world.clearance_grid(region).lower_bounds(points)


@pytest.mark.parametrize("size", [1.0, 0.3])
def test_bounds_hold_and_are_close(scene, size):
    region = REGION * size  # points beyond it, and obstacles, are allowed
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.uniform(-1.5, 1.5, (10_000, 3)), rng.uniform(*region, (10_000, 3))])
    low, true = bounds(scene, points, region), scene.distance(points)
    assert holds(low, true)
    inside = ((points > region[0]) & (points < region[1])).all(axis=1) & (true > 0.0) & (true < 0.1)
    assert inside.sum() > 20
    known = true / np.where(scene.nearest(points) == "sdf_grid", scene["sdf_grid"].slope, 1.0)
    assert (known - low)[inside].max() < 0.045  # half a diagonal of a cell, twice


@pytest.mark.parametrize("crowd", [False, True])
def test_bounds_of_a_cloud_hold_and_loosen_only_far_from_it(crowd):
    """A block of cells is parted near obstacles only; a crowd has more obstacles near a block than are asked one by one."""
    rng = np.random.default_rng(1)
    world = World([PointCloud(rng.uniform(-0.3, 0.5, (3000, 3)) * (1.0, 1.0, 0.1), 0.02)])
    if crowd:
        world = World(
            [*world, *(Sphere(0.004, pose=np.eye(4) + _moved(rng.uniform(0.2, 0.5, 3))) for _ in range(400))]
        )
    points = rng.uniform(*REGION, (20_000, 3))
    low, true = bounds(world, points), world.distance(points)
    assert holds(low, true)
    half = 0.5 * np.sqrt(3.0) * 0.025  # of the diagonal of a cell
    for near, off in (
        (4 * half, 2 * half),
        (8 * half, 4 * half),
        (0.4, 8 * half),
    ):  # a cell, a part of a block, a block
        among = (true > 0.0) & (true < near)
        assert among.sum() > 500
        assert (true - low)[among].max() < off + 1e-5


def test_threads_that_fill_the_same_cells_see_the_same_bounds(scene):
    points = np.random.default_rng(5).uniform(*REGION, (20_000, 3))
    alone = bounds(scene, points)
    shared = World(list(scene)).clearance_grid(REGION)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(shared.lower_bounds, [points] * 8))
    for found in together:
        np.testing.assert_array_equal(found, alone)


def test_a_changed_world_keeps_the_grid_and_its_bounds_hold(scene):
    before = scene.clearance_grid(REGION)
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (5_000, 3))
    moved = scene.move("box", [1, 0, 0, 0, 0.5, 0.0, 0.5]).remove("sphere").add(Sphere(0.2, name="new"))
    after = moved.clearance_grid(REGION)
    assert (before.n_loose, after.n_loose) == (0, 2)  # the box that moved and the new ball
    assert after.n_cells == before.n_cells
    assert holds(bounds(moved, points), moved.distance(points))


def test_many_changes_make_a_new_grid(scene):
    scene.clearance_grid(REGION)
    few, many = (scene.add(*(Sphere(0.05) for _ in range(n))) for n in (8, 9))
    assert few.clearance_grid(REGION).n_loose == 8
    assert many.clearance_grid(REGION).n_loose == 0
    fewer = scene.remove(*scene.names[:9])
    assert fewer.clearance_grid(REGION).n_loose == 0
    points = np.random.default_rng(4).uniform(-1.0, 1.0, (2_000, 3))
    near = fewer.distance(points) < 0.1
    assert (fewer.distance(points) - bounds(fewer, points))[
        near
    ].max() < 0.1  # of its own cells, not of those that left


def test_a_world_without_obstacles_that_end_has_no_cells():
    floor = World([HalfSpace()])
    assert floor.clearance_grid(REGION).n_cells == 0
    point = np.array([[0.0, 0.0, 0.25]])
    assert bounds(floor, point)[0] == pytest.approx(0.25)
    assert bounds(World(), point)[0] > 1e3


def test_a_wide_scene_gets_larger_cells_not_more_memory():
    wide = World([Box((100.0, 100.0, 0.1)), Box((0.1, 0.1, 0.1), pose=[1, 0, 0, 0, 40, 40, 20])])
    assert wide.clearance_grid(np.array([[-200.0] * 3, [200.0] * 3])).n_cells <= 2_000_000
    points = np.random.default_rng(0).uniform(-60, 60, (2000, 3))
    assert holds(bounds(wide, points, np.array([[-200.0] * 3, [200.0] * 3])), wide.distance(points))
