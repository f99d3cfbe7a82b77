"""The clearance grid never promises more than the obstacles leave, whatever became of the world since it was made."""

from __future__ import annotations

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
from elbowroom.world.kernels import scene_bound

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


def holds(low: np.ndarray, true: np.ndarray) -> bool:
    """Whether bounds hold; inside an obstacle, where nothing is to be cleared, they need only not be positive."""
    return bool((low <= np.maximum(true, 0.0) + 1e-9).all())


def bounds(world: World, points: np.ndarray, region: np.ndarray = REGION) -> np.ndarray:
    grid = world.grid(region)
    return np.array([scene_bound(world.packed, grid, *point) for point in points])


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


def test_a_changed_world_keeps_the_grid_and_its_bounds_hold(scene):
    before = scene.grid(REGION)
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (5_000, 3))
    moved = scene.move("box", [1, 0, 0, 0, 0.5, 0.0, 0.5]).remove("sphere").add(Sphere(0.2, name="new"))
    after = moved.grid(REGION)
    assert after.bounds is before.bounds
    assert sorted(moved.names[k] for k in after.loose) == ["box", "new"]
    assert holds(bounds(moved, points), moved.distance(points))


def test_many_changes_make_a_new_grid(scene):
    before = scene.grid(REGION)
    other = scene.add(*(Sphere(0.05) for _ in range(9)))
    after = other.grid(REGION)
    assert after.bounds is not before.bounds
    assert len(after.loose) == 0


def test_a_world_without_obstacles_that_end_has_no_cells():
    floor = World([HalfSpace()])
    grid = floor.grid(REGION)
    assert len(grid.bounds) == 0
    assert scene_bound(floor.packed, grid, 0.0, 0.0, 0.25) == pytest.approx(0.25)
    empty = World()
    assert scene_bound(empty.packed, empty.grid(REGION), 0.0, 0.0, 0.25) > 1e3


def test_a_wide_scene_gets_larger_cells_not_more_memory():
    wide = World([Box((100.0, 100.0, 0.1)), Box((0.1, 0.1, 0.1), pose=[1, 0, 0, 0, 40, 40, 20])])
    grid = wide.grid(np.array([[-200.0] * 3, [200.0] * 3]))
    assert grid.bounds.size <= 2_000_000
    points = np.random.default_rng(0).uniform(-60, 60, (2000, 3))
    assert holds(bounds(wide, points, np.array([[-200.0] * 3, [200.0] * 3])), wide.distance(points))
