"""Worlds and obstacles as values: what they refuse, what they say, that they do not change, and what they share.

Looks inside: limits of size are made small, so that files beyond them are small too.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import trimesh

from elbowroom.errors import ApproximationWarning, InputError, UnknownNameError
from elbowroom.mesh import TriangleMesh
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
    _sampled,
)

from .world_tools import KINDS, draw, in_frame_of, pose

CUBE = TriangleMesh.box((0.1, 0.1, 0.1))
DOTS = np.random.default_rng(0).uniform(-0.1, 0.1, (50, 3))
FIELD = np.linspace(-0.1, 0.4, 27).reshape(3, 3, 3)

# What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0.0, -1.0, np.nan, np.inf, 2e6, 10**400, "1", None, [1.0]])
@pytest.mark.parametrize(
    "make",
    [
        lambda v: Box((v, 1.0, 1.0)),
        lambda v: Sphere(v),
        lambda v: Cylinder(v, 1.0),
        lambda v: Cylinder(1.0, v),
        lambda v: Capsule(v, 1.0),
        lambda v: Capsule(1.0, v),
        lambda v: PointCloud(DOTS, v),
    ],
)
def test_sizes_must_be_positive_lengths(make, length):
    with pytest.raises(InputError, match=r"must be (metres above 0|three)"):
        make(length)


@pytest.mark.parametrize(
    "size", [1.0, (1.0, 1.0), (1.0, 1.0, 1.0, 1.0), "box", None, np.zeros((3, 3)), (True,) * 3]
)
def test_a_box_has_three_edges(size):
    with pytest.raises(InputError, match="box: size must be three"):
        Box(size)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1, 0, 0, 0, np.nan, 0, 0], "NaN"),
        (np.full((4, 4), np.nan), "NaN"),
        ([0, 0, 0, 0, 1, 2, 3], "length zero"),
        ([1, 0, 0, 0, 1, 2], r"expected shape \(\.\.\., 7\)"),
        (np.tile(np.eye(4), (2, 1, 1)), "found a stack"),
        (np.diag([2.0, 2.0, 2.0, 1.0]), "not a rotation"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "not a rotation"),
        ([1, 0, 0, 0, 2e6, 0, 0], "within 1e[+]06 m"),
        ("here", "expected numbers"),
    ],
)
def test_poses_must_be_poses(given, said):
    with pytest.raises(InputError, match=said) as error:
        Box((1, 1, 1), pose=given, name="table")
    assert "pose of box 'table'" in str(error.value)
    with pytest.raises(InputError, match=said):
        World([Box((1, 1, 1), name="table")]).move("table", given)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: HalfSpace((0, 0, 0)), "normal must not be zero"),
        (lambda: HalfSpace((0, 0, np.nan)), "normal must be three finite numbers"),
        (lambda: HalfSpace((0, 1)), "normal must be three"),
        (lambda: HalfSpace(offset=np.inf), "offset must be"),
        (lambda: HalfSpace(offset=1e7), "offset must be within"),
        (lambda: MeshObstacle("mesh.stl"), "expected an object with vertices and faces"),
        (lambda: MeshObstacle(trimesh.Trimesh()), "mesh: .*faces"),
        (lambda: MeshObstacle(TriangleMesh.box((4e6, 1, 1))), "within 1e[+]06 m"),
        (lambda: PointCloud(np.zeros((0, 3)), 0.1), "at least one finite point, found 0 points"),
        (lambda: PointCloud(np.full((5, 3), np.nan), 0.1), "found 5 points, 5 of them NaN"),
        (lambda: PointCloud(np.zeros((5, 4)), 0.1), r"shape \(n, 3\), found shape \(5, 4\)"),
        (lambda: PointCloud(np.zeros(3), 0.1), r"shape \(n, 3\), found shape \(3,\)"),
        (lambda: PointCloud([["a", "b", "c"]], 0.1), "array of numbers"),
        (lambda: PointCloud(None, 0.1), "array of numbers"),
        (lambda: PointCloud(np.full((1, 3), 1e7), 0.1), "points within 1e[+]06 m, found 1e[+]07"),
        (lambda: SdfGrid(np.zeros((3, 3)), 0.1), r"shape \(nx, ny, nz\)"),
        (lambda: SdfGrid(np.zeros((3, 3, 1)), 0.1), "at least 2 samples"),
        (lambda: SdfGrid(np.full((3, 3, 3), np.nan), 0.1), "27 of 27 values are NaN"),
        (lambda: SdfGrid(np.zeros((3, 3, 3)), 0.0), "spacing must be"),
        (lambda: SdfGrid(np.zeros((3, 3, 3)), (0.1, 0.1)), "spacing must be"),
        (lambda: SdfGrid(np.zeros((3, 3, 3)), 0.1, (np.nan, 0, 0)), "origin must be"),
        (lambda: Sphere(True), "radius must be metres"),
        (lambda: Sphere(1.0, name=3), "expected a name, found 3"),
    ],
)
def test_shapes_must_make_sense(make, said):
    with pytest.raises(InputError, match=said):
        make()


def test_clouds_and_fields_too_large_are_refused_before_they_are_built(monkeypatch):
    monkeypatch.setattr(_sampled, "MAX_POINTS", 40)
    monkeypatch.setattr(_sampled, "MAX_CELLS", 26)
    with pytest.raises(InputError, match="at most 40 points, found 50; thin it out"):
        PointCloud(DOTS, 0.1)
    with pytest.raises(InputError, match="at most 26 in all"):
        SdfGrid(FIELD, 0.1)


def test_a_world_takes_obstacles_of_different_names():
    with pytest.raises(InputError, match="two obstacles have the name 'a'"):
        World([Sphere(1.0, name="a"), Box((1, 1, 1), name="a")])
    with pytest.raises(InputError, match="two obstacles have the name 'a'"):
        World([Sphere(1.0, name="a")]).add(Sphere(2.0, name="a"))
    with pytest.raises(InputError, match="expected Box, .*found a Trimesh"):
        World([trimesh.creation.box()])
    with pytest.raises(InputError, match="expected a list of obstacles, found a Box"):
        World(Box((1, 1, 1)))


def test_names_that_are_not_there_are_told_with_those_that_are():
    world = World([Sphere(1.0, name="ball"), Box((1, 1, 1), name="table")])
    for ask in (world.index, world.remove, world.__getitem__, lambda name: world.move(name, np.eye(4))):
        with pytest.raises(UnknownNameError, match="no obstacle 'tabel'; did you mean 'table'"):
            ask("tabel")
        with pytest.raises(InputError, match="expected the name of an obstacle, found 3"):
            ask(3)
    assert "tabel" not in world
    assert 3 not in world


# What is said -----------------------------------------------------------------------------------


def test_quaternions_are_normalised_and_it_is_said_where_they_were_given():
    with pytest.warns(ApproximationWarning, match="box 'b': its pose: the quaternion has length 2") as caught:
        box = Box((1, 1, 1), pose=[2, 0, 0, 0, 1, 2, 3], name="b")
    assert [warning.filename for warning in caught] == [__file__]
    assert box.notes == ("its pose: the quaternion has length 2 and was normalised",)
    np.testing.assert_array_equal(box.pose[:3, :3], np.eye(3))
    assert World([box]).notes == ("box 'b': its pose: the quaternion has length 2 and was normalised",)
    with pytest.warns(ApproximationWarning, match="length 3") as caught:
        moved = World([box]).move("b", [0, 3, 0, 0, 0, 0, 0])
    assert [warning.filename for warning in caught] == [__file__]
    assert len(moved["b"].notes) == 1  # of the new pose alone
    assert moved.move("b", np.eye(4))["b"].notes == ()


def test_matrices_that_are_nearly_rotations_become_one():
    rng = np.random.default_rng(1)
    T = Box((1, 1, 1), pose=pose(rng)).pose.copy()
    rounded = T.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        R = Box((1, 1, 1), pose=rounded).pose[:3, :3]
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(R, T[:3, :3], atol=1e-6)
    T[:3, :3] *= 1.0 + 2e-5
    with pytest.warns(ApproximationWarning, match="nearest rotation was taken"):
        R = Box((1, 1, 1), pose=T).pose[:3, :3]
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-14)


def test_normals_are_normalised_and_it_is_said():
    with pytest.warns(ApproximationWarning, match="its normal has length 2") as caught:
        floor = HalfSpace((0, 0, 2), 0.5)
    assert [warning.filename for warning in caught] == [__file__]
    assert floor.normal == (0.0, 0.0, 1.0)
    assert World([floor]).distance((0, 0, 1)) == pytest.approx(0.5)


def test_open_meshes_are_told():
    with pytest.warns(ApproximationWarning, match="it is not closed"):
        MeshObstacle(TriangleMesh(CUBE.vertices, CUBE.faces[1:]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MeshObstacle(CUBE)
        MeshObstacle(trimesh.creation.icosphere())


def test_clouds_leave_out_what_is_not_finite_and_count_it():
    points = np.concatenate([DOTS, [[np.nan, 0, 0], [0, np.inf, 0]]])
    with pytest.warns(ApproximationWarning, match="2 of 52 points are NaN or infinite and were left out"):
        cloud = PointCloud(points, 0.1)
    assert cloud.dropped == 2
    assert sorted(map(tuple, cloud.points)) == sorted(map(tuple, DOTS))


def grid_of_points(step: float, n: int = 30) -> np.ndarray:
    """A square of points as a camera sees a wall, (n, n, 3)."""
    x, y = np.meshgrid(np.arange(n) * step, np.arange(n) * step, indexing="ij")
    return np.stack([x, y, np.ones_like(x)], axis=-1)


def test_images_of_points_are_clouds_and_missing_depth_is_told():
    image = grid_of_points(0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(PointCloud(image.astype(np.float32), 0.01).points) == 900
    image[:3] = 0.0
    with pytest.warns(ApproximationWarning, match="90 of its points are at its origin exactly"):
        PointCloud(image, 0.01)


def test_clouds_with_gaps_between_their_balls_are_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PointCloud(grid_of_points(0.01), 0.0051).spacing == pytest.approx(0.01)
        seen_twice = np.concatenate([grid_of_points(0.01)] * 2)
        assert PointCloud(seen_twice, 0.0051).spacing == pytest.approx(0.01)
        assert PointCloud(np.ones((1, 3)), 0.01).spacing == 0.0
    with pytest.warns(
        ApproximationWarning, match="10 mm and more from their neighbours, and its balls 9.8 mm wide"
    ):
        PointCloud(grid_of_points(0.01), 0.0049)


def test_fields_that_are_no_distances_are_told_and_rounded_down():
    with pytest.warns(ApproximationWarning, match="change by up to 10 m per metre"):
        steep = SdfGrid(np.broadcast_to(np.arange(4.0), (4, 4, 4)), 0.1)
    assert steep.slope == pytest.approx(10.0)
    values = np.random.default_rng(2).uniform(-1e-2, 1e-2, (5, 6, 7))
    grid = SdfGrid(values, (0.1, 0.2, 0.3))
    assert (grid.values <= values).all()
    assert (grid.values > values - 1e-8).all()
    assert grid.slope == 1.0


def test_the_slope_of_a_field_bounds_its_gradients():
    values = np.random.default_rng(3).uniform(-1.0, 1.0, (5, 6, 7))
    with pytest.warns(ApproximationWarning):
        grid = SdfGrid(values, (0.1, 0.2, 0.3))
    points = np.random.default_rng(4).uniform((0, 0, 0), (0.4, 1.0, 1.8), (20_000, 3))
    _, gradient = World([grid]).distance_and_gradient(points)
    steepest = np.linalg.norm(gradient, axis=1).max()
    assert 0.5 * grid.slope < steepest <= grid.slope * (1.0 + 1e-12)


# Values -----------------------------------------------------------------------------------------


def test_obstacles_without_a_name_get_one_from_their_kind():
    world = World([Box((1, 1, 1)), Box((1, 1, 1)), Sphere(1.0), Box((1, 1, 1), name="box_2")])
    assert world.names == ("box", "box_3", "sphere", "box_2")
    assert world.remove("box").add(Box((1, 1, 1))).names == ("box_3", "sphere", "box_2", "box")
    assert [o.name for o in world] == list(world.names)
    assert world["box_2"] is world.obstacles[3]
    assert "sphere" in world
    assert len(world) == 4


def test_obstacles_and_worlds_do_not_change():
    box, cloud = Box((1, 1, 1), name="box"), PointCloud(DOTS, 0.1)
    world = World([box, cloud])
    with pytest.raises(FrozenInstanceError):
        box.size = (2, 2, 2)
    with pytest.raises(AttributeError):
        world.obstacles = ()
    for array in (box.pose, box.bounds, cloud.points, SdfGrid(FIELD, 0.5).values):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    given = DOTS.copy()
    kept = PointCloud(given, 0.1).points.copy()
    T = np.eye(4)
    placed = Box((1, 1, 1), pose=T)
    given[:], T[0, 3] = 9.0, 9.0
    assert placed.pose[0, 3] == 0.0
    assert sorted(map(tuple, kept)) == sorted(map(tuple, DOTS))
    field = FIELD.astype(np.float32)
    grid = SdfGrid(field, 0.5)
    field[:] = 7.0
    assert grid.values.max() < 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "through", [copy.deepcopy, copy.copy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_copies_answer_the_same(kind, through):
    rng = np.random.default_rng(5)
    world = World([draw(kind, rng, name="it"), Sphere(0.1)])
    world.distance((0, 0, 0))
    points = rng.uniform(-1.0, 1.0, (100, 3))
    again = through(world)
    assert again.names == world.names
    np.testing.assert_array_equal(again.distance(points), world.distance(points))
    one = through(world["it"])
    assert one.notes == world["it"].notes
    assert not one.pose.flags.writeable
    np.testing.assert_array_equal(World([one]).distance(points), World([world["it"]]).distance(points))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "half_space"])
def test_bounds_hold_the_obstacle_and_are_tight(kind):
    rng = np.random.default_rng(6)
    for _ in range(5):
        obstacle = draw(kind, rng)
        low, high = obstacle.bounds
        # A plane that comes from far along an axis meets the obstacle at its extent: that of its points' lowest.
        points = rng.uniform(low - 0.02, high + 0.02, (200_000, 3))
        inside = points[World([obstacle]).distance(points) <= 0.0]
        assert (inside >= low - 1e-12).all()
        assert (inside <= high + 1e-12).all()
        if kind in ("sphere", "cylinder", "capsule", "box"):
            reach = np.array([_reach(obstacle, axis) for axis in np.eye(3)])
            np.testing.assert_allclose(high - obstacle.pose[:3, 3], reach, atol=1e-12)
            np.testing.assert_allclose(obstacle.pose[:3, 3] - low, reach, atol=1e-12)
    assert len(inside) > 100


def _reach(obstacle, direction: np.ndarray) -> float:
    """How far a primitive reaches along a direction of the world: its support function."""
    x, y, z = np.abs(obstacle.pose[:3, :3].T @ direction)
    match obstacle:
        case Box():
            return 0.5 * float(np.dot(obstacle.size, (x, y, z)))
        case Sphere():
            return obstacle.radius
        case Capsule():
            return obstacle.radius + 0.5 * obstacle.length * z
        case _:
            return obstacle.radius * np.hypot(x, y) + 0.5 * obstacle.length * z


def test_half_spaces_have_no_end():
    assert np.isposinf(HalfSpace().bounds[1]).all()
    assert np.isneginf(HalfSpace().bounds[0]).all()


def test_obstacles_print_on_a_line():
    rng = np.random.default_rng(7)
    for kind in KINDS:
        text = repr(draw(kind, rng, name="thing"))
        assert "'thing'" in text
        assert "turned by" in text
        assert len(text) < 160
        assert "\n" not in text
    assert repr(Box((1, 2, 3), name="b")) == "Box('b': 1 x 2 x 3 m, at (0, 0, 0))"
    assert repr(World([Sphere(1.0)] * 0)) == "World(0 obstacles)"


# Changes ----------------------------------------------------------------------------------------


def scene() -> World:
    rng = np.random.default_rng(8)
    return World([draw(kind, rng, name=kind) for kind in KINDS])


def anew(world: World) -> World:
    """The same obstacles built from nothing, so that nothing is shared."""
    return pickle.loads(pickle.dumps(world))


def test_changed_worlds_answer_like_new_ones_and_share_what_did_not_change():
    world = scene()
    points = np.random.default_rng(9).uniform(-1.0, 1.0, (2000, 3))
    before = world.distance(points)
    there = [0, 1, 0, 0, 0.3, 0.2, 0.1]
    changes = [
        world.move("mesh", there),
        world.move("point_cloud", there),
        world.move("box", there),
        world.add(Sphere(0.3, name="more")),
        world.remove("box", "sphere"),
        world.remove("mesh"),
        world.remove("mesh").add(world["mesh"]).move("sdf_grid", there),
    ]
    for changed in changes:
        np.testing.assert_array_equal(changed.distance(points), anew(changed).distance(points))
        assert not np.array_equal(changed.distance(points), before)
        for name, part in (("mesh", "mesh"), ("point_cloud", "core_cloud"), ("sdf_grid", "core_field")):
            assert name not in changed or getattr(changed[name], part) is getattr(world[name], part)
        assert changed["cylinder"].core is world["cylinder"].core
    np.testing.assert_array_equal(world.distance(points), before)
    moved = changes[0]["mesh"]
    assert moved.mesh is world["mesh"].mesh
    np.testing.assert_array_equal(moved.pose[:3, 3], there[4:])


def test_a_moved_obstacle_is_where_it_was_moved():
    world = scene()
    there = pose(np.random.default_rng(10))
    points = np.random.default_rng(11).uniform(-0.5, 0.5, (500, 3))
    for name in world.names:
        moved = World([world[name]]).move(name, there)
        local = in_frame_of(moved[name], points)
        home = World([world[name].at(None)])
        np.testing.assert_allclose(moved.distance(points), home.distance(local), atol=1e-12)


def test_an_obstacle_takes_the_place_of_another():
    world = World([Sphere(0.1, name="a"), Sphere(0.2, name="b"), Sphere(0.3, name="c")], notes=["of a file"])
    changed = world.replace("b", Sphere(0.5, name="d"))
    assert changed.names == ("a", "d", "c")
    assert changed["d"].radius == 0.5
    assert changed.notes == ("of a file",)
    with pytest.raises(InputError, match="'a'"):
        world.replace("b", Sphere(0.5, name="a"))


def test_new_obstacles_are_seen():
    world = scene()
    points = np.random.default_rng(12).uniform(-1.0, 1.0, (1000, 3))
    assert world.distance(points) is not None
    more = world.add(
        MeshObstacle(trimesh.creation.icosphere(radius=0.2), name="ball"),
        PointCloud(DOTS + 0.5, 0.05, name="dots"),
        SdfGrid(FIELD, 0.5, name="field"),
    )
    np.testing.assert_array_equal(more.distance(points), anew(more).distance(points))
    assert (more.nearest(points) == "dots").any()


@pytest.mark.long
def test_a_mesh_in_many_obstacles_is_not_copied():
    """Two thousand copies of its 80,000 triangles would take 40 GB."""
    rng = np.random.default_rng(13)
    ball = TriangleMesh.from_trimesh(trimesh.creation.icosphere(6, 0.1))
    many = World([MeshObstacle(ball, pose=pose(rng)) for _ in range(2000)])
    centers = np.array([o.pose[:3, 3] for o in many])
    nearest = np.linalg.norm(centers[:, None] - centers[None], axis=2) + 10.0 * np.eye(2000)
    np.testing.assert_array_less(many.distance(centers), 0.0)
    assert nearest.min() > 0.0


def test_ten_thousand_obstacles_are_answered():
    rng = np.random.default_rng(14)
    centers, radii = rng.uniform(-5.0, 5.0, (10_000, 3)), rng.uniform(0.01, 0.1, 10_000)
    world = World([Sphere(r, pose=[1, 0, 0, 0, *c]) for c, r in zip(centers, radii, strict=True)])
    points = rng.uniform(-5.0, 5.0, (200, 3))
    each = np.linalg.norm(points[:, None] - centers, axis=2) - radii
    np.testing.assert_allclose(world.distance(points), each.min(axis=1), atol=1e-12)
    assert list(world.nearest(points)) == [world.names[k] for k in each.argmin(axis=1)]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: HalfSpace(offset=float("nan")), "offset must be within 1e.06 m, found nan"),
        (lambda: HalfSpace(offset="1"), "offset must be within 1e.06 m, found '1'"),
        (lambda: Box(np.array([1.0, np.nan, 1.0])), r"found \[1.0, nan, 1.0\]"),
        (lambda: SdfGrid(np.full((2, 2, 2), -1e300), 0.1), "values within 1e.06 m, found 1e.300"),
    ],
)
def test_messages_say_what_was_given(make, said):
    with pytest.raises(InputError, match=said):
        make()
