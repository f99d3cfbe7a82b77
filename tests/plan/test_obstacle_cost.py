"""ObstacleCost: equal to a plain reference, what is skipped and spared, what is held and coupled, bad input."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import trimesh

import elbowroom as er
from elbowroom import mesh
from elbowroom.collision import CollisionModel
from elbowroom.collision.internal import one_ball_a_link
from elbowroom.errors import ApproximationWarning, InputError, UnknownLinkError
from elbowroom.pairs import pairs_from_ignored
from elbowroom.plan import ObstacleCost, link_boxes
from elbowroom.world import Box, HalfSpace, MeshObstacle, PointCloud, SdfGrid, Sphere, World

from ..world.coal_world import obstacle, pose
from .reference_cost import obstacle_cost

TOLERANCE = 1e-9
CASES = 200
KINDS = ("box", "box", "box", "sphere", "cylinder", "capsule", "half_space", "point_cloud", "mesh")
WEDGE = trimesh.convex.convex_hull(
    np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.25], [0.2, 0.2, 0.1]])
)

LIFT = """<robot name="lift">
  <link name="base"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="arm"><collision><origin xyz="0.2 0 0"/><geometry><cylinder radius="0.03" length="0.4"/></geometry></collision>
    <collision><origin xyz="0.4 0 0"/><geometry><sphere radius="0.05"/></geometry></collision></link>
  <link name="cart"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.2"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="cart"/><origin xyz="-0.5 0 0.5"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/>
    <mimic joint="turn" multiplier="0.3" offset="0.1"/></joint>
</robot>"""
"""An arm of two pieces, and a cart that follows it up and down."""


def only_obstacles(
    robot: er.Robot, world: World | None, *, spheres=None, buffer=0.0, allow=()
) -> CollisionModel:
    """A model in which links may touch each other: pairs are nothing that this cost looks at."""
    every = dict.fromkeys(pairs_from_ignored(robot, {}, "empty").checked, "user")
    pairs = pairs_from_ignored(robot, every, "nothing but obstacles")
    return CollisionModel(robot, spheres or one_ball_a_link(robot), pairs, world, buffer, allow=allow)


@pytest.fixture(scope="module")
def panda(model) -> CollisionModel:
    robot, spheres = model("panda")
    return only_obstacles(robot, None, spheres=spheres)


@pytest.fixture(scope="module")
def lift(tmp_path_factory) -> er.Robot:
    path = tmp_path_factory.mktemp("lift") / "lift.urdf"
    path.write_text(LIFT)
    return er.load_robot(path)


def judge_of(model: CollisionModel) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """Link poses by Pinocchio, attached objects on their links."""
    pytest.importorskip("pinocchio")
    from ..oracles import PinocchioModel

    own = [name for name in model.robot.link_names if name not in model.attachments]
    pinocchio = PinocchioModel(model.robot.path)

    def poses(cfgs: np.ndarray) -> dict[str, np.ndarray]:
        T = dict(zip(own, np.moveaxis(pinocchio.link_poses(cfgs, own), 1, 0), strict=True))
        for item in model.attachments.values():
            T[item.name] = T[item.link] @ item.pose
        return T

    return poses


def random_world(rng: np.random.Generator, count: int) -> World:
    found = []
    for kind in rng.choice(KINDS, count):
        item = (
            MeshObstacle(mesh.TriangleMesh.from_trimesh(WEDGE), pose=pose(rng))
            if kind == "mesh"
            else obstacle(kind, rng)
        )
        if isinstance(item, HalfSpace):
            item = HalfSpace((0.0, 0.0, 1.0), -0.4 * rng.uniform(), pose=pose(rng, 0.1))
        elif isinstance(item, PointCloud):
            item = PointCloud(item.points[:20], 0.15, pose=item.pose)
        found.append(replace(item, name=f"{kind} {len(found)}"))
    return World(found)


def random_paths(rng: np.random.Generator, robot: er.Robot, k: int, steps: int) -> np.ndarray:
    """Between random configurations, with noise on every step."""
    a, b = rng.uniform(robot.lower, robot.upper, (2, k, 1, robot.dof))
    line = a + (b - a) * np.linspace(0.0, 1.0, steps)[:, None]
    return line + rng.normal(scale=0.05, size=line.shape)


def assert_equal_to_reference(cost: ObstacleCost, paths: np.ndarray, dt: float) -> np.ndarray:
    model = cost.model
    expected, hits = obstacle_cost(
        paths, dt, judge_of(model), model.spheres, link_boxes(model.robot), model.world, cost.clearance,
        cost.collision_penalty, cost.skip_links, frozenset(model.allow), model.buffer,
    )  # fmt: skip
    found = cost.cost(paths, dt)
    assert np.abs(found - cost.weight * expected).max() <= TOLERANCE * (1.0 + np.abs(expected).max())
    assert np.array_equal(cost.collides(paths.reshape(-1, paths.shape[2])), hits.ravel())
    return np.array([hits.mean(), (expected - cost.collision_penalty * hits > 0.0).mean()])


BASE_TOUCHES = pytest.mark.filterwarnings("ignore:.*no configuration is free")
"""Random obstacles may stand in the base, which the cost does not mind."""


@pytest.mark.long
@BASE_TOUCHES
def test_two_hundred_random_cases_equal_the_reference(panda):
    rng = np.random.default_rng(14)
    seen = []
    for case in range(CASES):
        world = random_world(rng, 1 + case % 10)
        clearance, penalty = rng.choice([0.0, 0.01, 0.1]), rng.choice([1.0, 100.0])
        cost = ObstacleCost(
            panda.with_world(world),
            clearance=clearance,
            collision_penalty=penalty,
            weight=rng.choice([1.0, 0.3]),
        )
        seen.append(assert_equal_to_reference(cost, random_paths(rng, panda.robot, 2, 3 + case % 5), 0.05))
    hit, near = np.mean(seen, axis=0)
    assert 0.1 < hit < 0.9
    assert 0.1 < near < 0.9


@BASE_TOUCHES
def test_the_verdict_decides_where_boxes_meet_if_asked(panda):
    rng = np.random.default_rng(3)
    refused = spared = 0
    for _ in range(6):
        model, paths = panda.with_world(random_world(rng, 6)), random_paths(rng, panda.robot, 4, 24)
        paths = np.clip(paths, panda.robot.lower, panda.robot.upper)
        boxes, verdict = ObstacleCost(model), ObstacleCost(model, boxes_decide=False)
        near, meets = boxes.parts(paths, 0.05)
        same, decided = verdict.parts(paths, 0.05)
        np.testing.assert_array_equal(near, same)
        free = np.asarray(model.free(paths.reshape(-1, panda.robot.dof))).reshape(meets.shape)
        np.testing.assert_array_equal(decided, meets & ~free)
        np.testing.assert_array_equal(verdict.collides(paths[0]), decided[0])
        refused, spared = refused + int(decided.sum()), spared + int((meets & free).sum())
    assert refused > 0
    assert spared > 0


@BASE_TOUCHES
def test_held_objects_count_with_spheres_and_boxes(panda):
    rng = np.random.default_rng(2)
    held = panda.attach(
        "stick", "panda_hand", mesh.Box((0.04, 0.03, 0.3)), np.array([1, 0, 0, 0, 0, 0, 0.25])
    )
    more = 0
    for _ in range(5):
        model, paths = held.with_world(random_world(rng, 6)), random_paths(rng, panda.robot, 2, 6)
        cost = ObstacleCost(model)
        assert_equal_to_reference(cost, paths, 0.05)
        bare = ObstacleCost(panda.with_world(model.world)).cost(paths, 0.05)
        assert (cost.cost(paths, 0.05) >= bare - TOLERANCE).all()
        more += int((cost.cost(paths, 0.05) > bare + TOLERANCE).sum())
    assert more > 0


@BASE_TOUCHES
@pytest.mark.parametrize(
    ("buffer", "allow", "skip_links"),
    [
        (0.0, (), None),
        (0.02, (), ()),
        (0.0, (("arm", "wall"), ("cart", "ball")), ()),
        (0.0, (("arm", "floor"), ("base", "floor")), ("base", "arm")),
    ],
)
def test_coupled_joints_pieces_buffer_and_allowed_pairs_equal_the_reference(lift, buffer, allow, skip_links):
    rng = np.random.default_rng(3)
    for _ in range(5):
        world = World(
            [
                Box((0.3, 0.2, 0.4), pose=pose(rng, 0.5), name="wall"),
                Sphere(0.15, pose=pose(rng, 0.5), name="ball"),
                HalfSpace((0.0, 0.0, 1.0), -0.1, name="floor"),
            ]
        )
        model = only_obstacles(lift, world, buffer=buffer, allow=allow)
        cost = ObstacleCost(model, clearance=0.05, skip_links=skip_links)
        assert_equal_to_reference(cost, random_paths(rng, lift, 3, 7), 0.1)


def test_a_known_cost_of_a_ball_before_a_wall(tmp_path):
    path = tmp_path / "ball.urdf"
    path.write_text("""<robot name="ball"><link name="base"/><link name="ball"><collision><geometry><sphere radius="0.1"/>
      </geometry></collision></link><joint name="x" type="prismatic"><parent link="base"/><child link="ball"/>
      <axis xyz="1 0 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/></joint></robot>""")
    robot = er.load_robot(path)
    spheres = er.SphereModel.from_links(
        robot.link_names, {"ball": (np.zeros((1, 3)), np.array([0.1 * 1.02]))}
    )
    model = only_obstacles(robot, World([HalfSpace((-1.0, 0.0, 0.0), -1.0, name="wall")]), spheres=spheres)
    assert model.uncovered == ()
    x = np.array([0.0, 0.5, 0.895, 0.95, 1.0])  # the wall is at 1, its clearance at 0.9
    cost = ObstacleCost(model, clearance=0.1, collision_penalty=7.0).cost(x[None, :, None], 0.5)[0]
    missing = np.maximum(0.0, 0.1 + 0.102 + x - 1.0)
    speed = np.array([0.5 / 0.5, 0.895 / 1.0, 0.45 / 1.0, 0.105 / 1.0, 0.05 / 0.5])
    assert cost == pytest.approx(missing * speed + np.array([0.0, 0.0, 0.0, 7.0, 7.0]), abs=1e-12)


@BASE_TOUCHES
def test_links_that_cannot_move_are_skipped_unless_a_list_says_otherwise(lift):
    table = Box((9.0, 9.0, 0.02), pose=[1, 0, 0, 0, 0, 0, -0.05], name="table")
    model = only_obstacles(lift, World([table]))
    cfg = np.zeros((1, 1))
    assert ObstacleCost(model).skip_links == ("base",)
    assert not ObstacleCost(model).collides(cfg).any()
    assert ObstacleCost(model, skip_links=()).collides(cfg).all()
    assert not ObstacleCost(model, skip_links=["base", "arm"]).collides(cfg).any()


def test_what_meets_at_the_start_is_spared_with_a_warning_and_nothing_else(lift):
    near = Box(
        (0.02, 0.02, 0.02), pose=[1, 0, 0, 0, 0.4, 0.04, 0.24], name="crumb"
    )  # in the box of the ball, not in it
    far = Box((0.2, 0.2, 0.2), pose=[1, 0, 0, 0, -0.5, 0.0, 0.8], name="lid")
    model = only_obstacles(lift, World([near, far]))
    start, later = np.zeros(1), np.array([[0.0], [0.5]])
    assert ObstacleCost(model).collides(later).tolist() == [True, True]
    with pytest.warns(ApproximationWarning, match="arm and crumb"):
        cost = ObstacleCost(model, start=start)
    assert cost.spared == (("arm", "crumb"),)
    assert cost.collides(later).tolist() == [False, True]  # the cart under the lid still counts
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ObstacleCost(model, start=start, skip_links=["base"]).collides(start[None]).all()
        assert ObstacleCost(model, start=np.array([-1.5])).spared == ()


def test_no_world_costs_nothing(panda):
    cost = ObstacleCost(panda)
    paths = random_paths(np.random.default_rng(0), panda.robot, 2, 5)
    assert (cost.cost(paths, 0.1) == 0.0).all()
    assert cost.cost(paths, 0.1).shape == (2, 5)
    assert not cost.collides(paths[0]).any()
    assert (ObstacleCost(panda.with_world(World())).cost(paths, 0.1) == 0.0).all()


def test_fields_cost_what_their_distance_says(lift):
    axis = np.linspace(-0.6, 0.6, 25)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    values = np.sqrt(x**2 + y**2 + z**2) - 0.2
    world = World(
        [
            SdfGrid(
                values,
                origin=(-0.6,) * 3,
                spacing=(0.05,) * 3,
                pose=[1, 0, 0, 0, 0.3, 0.0, 0.5],
                name="field",
            )
        ]
    )
    model = only_obstacles(lift, world)
    paths = random_paths(np.random.default_rng(1), lift, 4, 9)
    near, meets = ObstacleCost(model, clearance=0.05).parts(paths, 0.1)
    T = np.moveaxis(er_poses(lift, paths.reshape(-1, 1)), 1, 0)
    expected = np.zeros(paths.shape[:2])
    for center, radius, link in zip(
        model.spheres.centers, model.spheres.radii, model.spheres.link_idx, strict=True
    ):
        places = (T[link][:, :3, :3] @ center + T[link][:, :3, 3]).reshape(4, 9, 3)
        speed = np.linalg.norm(np.gradient(places, 0.1, axis=1), axis=2)
        expected += np.maximum(0.0, 0.05 - (world.distance(places) - radius)) * speed
    assert near == pytest.approx(expected, abs=TOLERANCE)
    assert (near > 0.0).any()
    boxes = link_boxes(lift)
    moving = [k for k, link in enumerate(boxes.links) if link != "base"]
    seen = [part[:, moving] for part in boxes.in_world(lift, paths.reshape(-1, 1))]
    assert meets.ravel().tolist() == world.box_intersects(*seen).any(axis=1).tolist()


def er_poses(robot: er.Robot, cfgs: np.ndarray) -> np.ndarray:
    from elbowroom._poses import matrix_from_wxyz_xyz

    return matrix_from_wxyz_xyz(robot.link_poses(cfgs))


def test_boxes_that_meet_nothing_leave_links_free(panda):
    """Boxes hold their links: what `collides` calls free, meshes call free."""
    rng = np.random.default_rng(5)
    world = World(replace(obstacle("box", rng, 0.7), name=f"box {k}") for k in range(7))
    model = panda.with_world(world, allow=[("panda_link0", name) for name in world.names])
    cfgs = panda.robot.random_cfgs(3000, seed=1)
    hit = ObstacleCost(model).collides(cfgs)
    assert 0.1 < hit.mean() < 0.9
    assert model.free(cfgs)[~hit].all()


def test_it_travels_and_trajectories_stay_writable(lift):
    model = only_obstacles(
        lift, World([Box((0.02, 0.02, 0.02), pose=[1, 0, 0, 0, 0.4, 0.04, 0.24], name="crumb")])
    )
    with pytest.warns(ApproximationWarning):
        cost = ObstacleCost(model, start=np.zeros(1), clearance=0.03)
    paths = random_paths(np.random.default_rng(4), lift, 3, 6)
    there = pickle.loads(pickle.dumps(cost))
    assert np.array_equal(there.cost(paths, 0.1), cost.cost(paths, 0.1))
    assert there.spared == cost.spared
    paths[0] = 0.0


@BASE_TOUCHES
def test_the_same_for_every_order_and_number_of_trajectories(panda):
    rng = np.random.default_rng(6)
    model = panda.with_world(
        World(replace(obstacle("box", rng, 0.7), name=f"box {k}") for k in range(6)), allow=[]
    )
    paths = random_paths(rng, panda.robot, 5, 20)
    cost = ObstacleCost(model)
    together = cost.cost(paths, 0.05)
    assert np.array_equal(np.concatenate([cost.cost(path[None], 0.05) for path in paths]), together)
    assert np.array_equal(cost.cost(paths[::-1], 0.05), together[::-1])


def test_bad_input_is_refused_with_a_reason(lift):
    model = only_obstacles(lift, World([Sphere(0.1, name="ball", pose=[1, 0, 0, 0, 2, 0, 0])]))
    with pytest.raises(UnknownLinkError, match="'arn'; did you mean 'arm'"):
        ObstacleCost(model, skip_links=["arn"])
    with pytest.raises(InputError, match="names of links"):
        ObstacleCost(model, skip_links="arm")
    for name, value in (
        ("clearance", -0.1),
        ("clearance", np.nan),
        ("collision_penalty", -1),
        ("weight", "much"),
    ):
        with pytest.raises(InputError, match=name):
            ObstacleCost(model, **{name: value})
    cost, good = ObstacleCost(model), np.zeros((2, 4, 1))
    for bad in (np.zeros((4, 1)), np.zeros((2, 2, 1)), np.zeros((2, 4, 2)), [["a"]], None):
        with pytest.raises(InputError, match="trajectories"):
            cost.cost(bad, 0.1)
    for value in (np.nan, np.inf, 1e6):
        bad = good.copy()
        bad[1, 2] = value
        with pytest.raises(InputError, match="trajectory 1 .* step 2"):
            cost.cost(bad, 0.1)
    for dt in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="dt"):
            cost.cost(good, dt)
    with pytest.raises(InputError, match="NaN"):
        cost.collides(np.array([[np.nan]]))
    with pytest.raises(InputError, match="shape"):
        cost.collides(np.zeros((2, 2)))
    assert cost.cost(np.zeros((0, 4, 1)), 0.1).shape == (0, 4)
