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
from elbowroom.collision import CollisionModel, one_ball_a_link
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
