"""`World.box_intersects`: equal to Coal, kind by kind and among 200 obstacles; touching, containing, bad input."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom.errors import InputError
from elbowroom.mesh import TriangleMesh
from elbowroom.world import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    MeshObstacle,
    Obstacle,
    PointCloud,
    SdfGrid,
    Sphere,
    World,
)

from .coal_world import KINDS, CoalWorld, boxes, obstacle, pose, rotations, shape


def assert_equal_to_coal(world: World, center: np.ndarray, half: np.ndarray, axes: np.ndarray) -> np.ndarray:
    ours = world.box_intersects(center, half, axes)
    differ = CoalWorld(world).differs(ours, center, half, axes)
    assert not differ.size, f"boxes {differ}: {ours[differ]}, which Coal denies"
    assert 0.02 < ours.mean() < 0.98
    return ours


def test_ten_thousand_boxes_among_two_hundred_obstacles_of_all_kinds_equal_coal():
    rng = np.random.default_rng(1)
    world = World(
        obstacle(KINDS[i % len(KINDS)], rng, 3.0) for i in range(200) if KINDS[i % len(KINDS)] != "half_space"
    )
    world = world.add(
        *(HalfSpace((0.0, 0.0, 1.0), -3.0, pose=pose(rng, 0.1)) for _ in range(200 - len(world)))
    )
    assert_equal_to_coal(world, *boxes(10_000, rng, 3.0))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_alone_equals_coal(kind):
    rng = np.random.default_rng(len(kind))
    for _ in range(4):
        world = World([obstacle(kind, rng, 0.1)])
        assert_equal_to_coal(world, *boxes(500, rng, 1.5 if kind == "half_space" else 0.45))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "half_space"])
def test_boxes_along_the_axes_of_the_obstacle_equal_coal(kind):
    """Parallel edges and faces: directions that part them degenerate."""
    rng = np.random.default_rng(7)
    thing = obstacle(kind, rng, 0.1)
    center, half, _ = boxes(1500, rng, 0.4)
    quarter_turns = np.array([np.eye(3), np.eye(3)[[1, 2, 0]], np.eye(3)[[2, 0, 1]]])[
        rng.integers(0, 3, 1500)
    ]
    tilt = np.array(
        [trimesh.transformations.rotation_matrix(a, (1, 0, 0))[:3, :3] for a in (0.0, 1e-12, 1e-9, 1e-7)]
    )
    axes = thing.pose[:3, :3] @ quarter_turns @ tilt[rng.integers(0, 4, 1500)]
    assert_equal_to_coal(World([thing]), center, half, axes)


@pytest.mark.parametrize("kind", ["box", "sphere", "cylinder", "capsule", "half_space", "ball"])
def test_boxes_pushed_to_ten_micrometres_are_apart_and_ten_deeper_meet(kind):
    """Corners, edges, faces and rims against each other, as Coal's closest points pair them; convex shapes only."""
    rng = np.random.default_rng(17)
    world = World([obstacle(kind, rng, 0.1)])
    judge = CoalWorld(world)
    center, half, axes = boxes(600, rng, 1.5 if kind == "half_space" else 0.6)
    pushed = 0
    for c, h, R in zip(center, half, axes, strict=True):
        gap, direction = judge.way(c, h, R)
        if gap < 1e-3 or judge.meets(c[None], h[None], R[None])[0]:
            continue
        pushed += 1
        assert not world.box_intersects(c + (gap - 1e-5) * direction, h, R)
        assert world.box_intersects(c + (gap + 1e-5) * direction, h, R)
    assert pushed > 200


def test_boxes_meet_a_capsule_from_the_least_distance_to_its_axis_on():
    """Ternary search, which finds the least of a convex function: a radius just above it meets, one below does not."""
    rng = np.random.default_rng(23)
    center, half, axes = boxes(2000, rng, 0.5)
    length = rng.uniform(0.05, 0.5, 2000)

    def squared(s: np.ndarray) -> np.ndarray:
        local = np.einsum("nij,ni->nj", axes, np.stack([0.0 * s, 0.0 * s, s], axis=1) - center)
        return (np.maximum(np.abs(local) - half, 0.0) ** 2).sum(axis=1)

    low, high = -length, length
    for _ in range(120):
        a, b = (2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0
        left = squared(a) <= squared(b)
        low, high = np.where(left, low, a), np.where(left, b, high)
    gaps, apart = np.sqrt(squared(low)), 0
    for c, h, R, reach, gap in zip(center, half, axes, length, gaps, strict=True):
        if gap < 1e-6:
            assert World([Capsule(1e-6, 2.0 * reach)]).box_intersects(c, h, R)
            continue
        apart += 1
        assert World([Capsule(gap + 1e-9, 2.0 * reach)]).box_intersects(c, h, R)
        assert not World([Capsule(gap - 1e-9, 2.0 * reach)]).box_intersects(c, h, R)
    assert apart > 500


def face_to_face(
    thing: Obstacle, reach: float, gap: float, rng: np.random.Generator
) -> tuple[np.ndarray, ...]:
    """A box before the upper end of an obstacle that reaches `reach` along its z axis."""
    half = rng.uniform(0.01, 0.2, 3)
    T = thing.pose
    return T[:3, 3] + T[:3, 2] * (reach + gap + half[2]), half, T[:3, :3]


@pytest.mark.parametrize(
    ("thing", "reach"),
    [
        (Box((0.2, 0.3, 0.4)), 0.2),
        (Sphere(0.1), 0.1),
        (Cylinder(0.1, 0.4), 0.2),
        (Capsule(0.1, 0.4), 0.3),
        (HalfSpace(offset=0.2), 0.2),
        (MeshObstacle(TriangleMesh.box((0.2, 0.3, 0.4))), 0.2),
        (PointCloud([[0.0, 0.0, 0.1]], 0.1), 0.2),
    ],
    ids=lambda value: value.kind if isinstance(value, Obstacle) else "",
)
def test_touching_counts_and_a_nanometre_apart_is_apart(thing, reach):
    rng = np.random.default_rng(3)
    for _ in range(50):
        posed = thing.at(pose(rng))
        world = World([posed])
        assert world.box_intersects(*face_to_face(posed, reach, 0.0, rng))
        assert world.box_intersects(*face_to_face(posed, reach, -1e-9, rng))
        assert not world.box_intersects(*face_to_face(posed, reach, 1e-9, rng))


@pytest.mark.parametrize("kind", KINDS)
def test_containment_counts_both_ways(kind):
    rng = np.random.default_rng(5)
    thing = obstacle(kind, rng)
    inside = {"ring": (0.2, 0.0, 0.0), "tube": (0.15, 0.0, 0.0), "half_space": (-9.0, 0.0, 0.0)}.get(
        kind, (0.0,) * 3
    )
    if isinstance(thing, PointCloud):
        inside = tuple(thing.points[0])
    center = thing.pose[:3, :3] @ inside + thing.pose[:3, 3]
    axes = rotations(1, rng)[0]
    assert World([thing]).box_intersects(center, (1e-3, 2e-3, 1e-3), axes)
    assert World([thing]).box_intersects(center, (0.0, 0.0, 0.0), axes)
    assert World([thing]).box_intersects(thing.pose[:3, 3], (9.0, 9.0, 20.0), axes)


def test_a_box_in_the_hole_of_a_ring_or_in_an_open_shell_is_free():
    ring = World([MeshObstacle(TriangleMesh.from_trimesh(shape("ring")))])
    assert not ring.box_intersects((0.0, 0.0, 0.0), (0.05, 0.05, 0.5), np.eye(3))
    ball = shape("ball")
    with pytest.warns(match="not closed"):
        shell = World([MeshObstacle(TriangleMesh(ball.vertices, ball.faces[1:]))])
    assert not shell.box_intersects((0.0, 0.0, 0.0), (0.05, 0.05, 0.05), np.eye(3))


def grid_of(function, slope: float = 1.0) -> SdfGrid:
    at = np.stack(np.meshgrid(*[np.linspace(-0.4, 0.4, 33)] * 3, indexing="ij"), axis=-1)
    return SdfGrid(slope * function(at), 0.025, (-0.4, -0.4, -0.4))


@pytest.mark.parametrize("slope", [1.0, 1.8])
def test_distance_fields_are_conservative_and_tight(slope):
    """A plane is what trilinear interpolation holds exactly: never missed, and free beyond a fiftieth of the spacing."""
    rng = np.random.default_rng(11)
    normal = np.array([2.0, -1.0, 2.0]) / 3.0
    T = pose(rng)
    field = grid_of(lambda at: at @ normal - 0.05, slope).at(T)
    center, half, axes = boxes(2000, rng, 0.3)
    half = np.minimum(half, 0.05)
    center = center @ T[:3, :3].T * 0.6 + T[:3, 3]
    local = (center - T[:3, 3]) @ T[:3, :3]
    lowest = local @ normal - 0.05 - (half * np.abs(np.einsum("i,nij->nj", T[:3, :3] @ normal, axes))).sum(1)
    met = World([field]).box_intersects(center, half, axes)
    assert met[lowest <= 0.0].all()
    assert not met[lowest > 2 * 0.02 * 0.025].any()
    assert 0.1 < met.mean() < 0.9


def test_nothing_is_solid_beyond_a_field():
    world = World([grid_of(lambda at: np.full(at.shape[:-1], -0.1))])
    assert world.box_intersects((0.0, 0.0, 0.0), (0.01, 0.01, 0.01), np.eye(3))
    assert world.box_intersects((0.41, 0.0, 0.0), (0.02, 0.01, 0.01), np.eye(3))
    assert not world.box_intersects((0.45, 0.0, 0.0), (0.02, 0.01, 0.01), np.eye(3))
    turned = trimesh.transformations.rotation_matrix(np.pi / 4, (0, 0, 1))[:3, :3]
    assert not world.box_intersects((0.45, 0.45, 0.0), (0.02, 0.5, 0.01), turned)


def test_one_box_gives_a_bool_and_leading_axes_broadcast():
    rng = np.random.default_rng(2)
    world = World(obstacle(kind, rng) for kind in KINDS)
    center, half, axes = boxes(12, rng)
    one_by_one = [world.box_intersects(c, half[0], axes[0]) for c in center]
    assert all(isinstance(found, bool) for found in one_by_one)
    found = world.box_intersects(center.reshape(3, 4, 3), half[0], axes[0])
    assert found.shape == (3, 4)
    assert found.dtype == bool
    assert found.ravel().tolist() == one_by_one
    table = world.box_intersects(center[:, None], half[None, :5], axes[0])
    assert table.shape == (12, 5)
    assert table[3, 2] == world.box_intersects(center[3], half[2], axes[0])
    assert world.box_intersects(np.zeros((0, 3)), half[0], axes[0]).shape == (0,)


def test_an_empty_world_meets_nothing():
    assert not World().box_intersects((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), np.eye(3))


def test_threads_do_not_change_the_answer():
    rng = np.random.default_rng(4)
    world = World(obstacle(KINDS[i % len(KINDS)], rng, 2.0) for i in range(30))
    center, half, axes = boxes(5000, rng, 2.0)
    parts = [
        world.box_intersects(center[i : i + 500], half[i : i + 500], axes[i : i + 500])
        for i in range(0, 5000, 500)
    ]
    assert np.array_equal(world.box_intersects(center, half, axes), np.concatenate(parts))


@pytest.mark.parametrize(
    ("center", "half", "axes", "words"),
    [
        ((0, 0), (1, 1, 1), np.eye(3), r"center: expected shape \(\.\.\., 3\)"),
        ((0, 0, 0), 1.0, np.eye(3), "half_extents: expected shape"),
        ((0, 0, 0), (1, 1, 1), np.eye(4), r"axes: expected shape \(\.\.\., 3, 3\)"),
        ((0, np.nan, 0), (1, 1, 1), np.eye(3), "center: has NaN"),
        ((0, 0, 0), (1, -1, 1), np.eye(3), "half_extents: must not be negative"),
        ((0, 0, 0), (1, 1, 1), 2.0 * np.eye(3), "axes: expected a rotation"),
        ((0, 0, 0), (1, 1, 1), np.diag([1.0, 1.0, -1.0]), "axes: expected a rotation"),
        ((0, 0, 0), (1, 1, 1), np.stack([np.eye(3), np.zeros((3, 3))]), r"axes\[1\]: expected a rotation"),
        (np.zeros((2, 3)), (1, 1, 1), np.stack([np.eye(3)] * 3), "must agree in their leading axes"),
        ("here", (1, 1, 1), np.eye(3), "center: expected numbers"),
        ((0, 0, 1e9), (1, 1, 1), np.eye(3), "center: expected at most"),
    ],
)
def test_bad_boxes_are_refused_with_what_was_found(center, half, axes, words):
    with pytest.raises(InputError, match=words):
        World([Sphere(1.0)]).box_intersects(center, half, axes)
