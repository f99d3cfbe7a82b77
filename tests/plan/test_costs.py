"""Costs besides obstacles: the robot itself, limits, path constraints, functions of the user, and how they add up."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import KDTree

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.collision import CollisionModel
from elbowroom.errors import InputError, UnknownJointError, UnknownLinkError
from elbowroom.plan import (
    AccelerationCost,
    Cost,
    FunctionCost,
    ObstacleCost,
    PlaneCost,
    SelfCollisionCost,
    Stomp,
    TubeCost,
    UprightCost,
    VelocityCost,
    default_costs,
)
from elbowroom.plan.stomp._default_costs import total_cost
from elbowroom.world import Sphere, World

DT = 0.1


@pytest.fixture(scope="module")
def teaarm(model) -> CollisionModel:
    robot, spheres = model("teaarm")
    return CollisionModel(robot, spheres, er.compute_pairs(robot, spheres, er.PairOptions(samples=500)))


@pytest.fixture(scope="module")
def paths(teaarm) -> np.ndarray:
    rng = np.random.default_rng(0)
    robot = teaarm.robot
    a, b = rng.uniform(robot.lower, robot.upper, (2, 12, 1, robot.dof))
    return a + (b - a) * np.linspace(0.0, 1.0, 9)[:, None] + rng.normal(scale=0.02, size=(12, 9, robot.dof))


def link_matrices(robot: er.Robot, paths: np.ndarray, link: str) -> np.ndarray:
    poses = robot.link_poses(paths.reshape(-1, robot.dof))[:, robot.link_index(link)]
    return matrix_from_wxyz_xyz(poses).reshape(*paths.shape[:2], 4, 4)


def plain_self_cost(model: CollisionModel, path: np.ndarray, clearance: float) -> np.ndarray:
    """As the module says, one step and one pair of spheres after the other."""
    robot, spheres = model.robot, model.spheres
    T = matrix_from_wxyz_xyz(robot.link_poses(path))[:, spheres.link_idx]
    places = np.einsum("tsij,sj->tsi", T[..., :3, :3], spheres.centers) + T[..., :3, 3]
    radii, cost = spheres.padded_radii("self"), np.zeros(len(path))
    for a, b in model.pairs.by_spheres:
        mine, theirs = (np.flatnonzero(spheres.link_idx == spheres.index(name)) for name in (a, b))
        for t in range(len(path)):
            apart = np.linalg.norm(places[t][mine][:, None] - places[t][theirs], axis=2)
            gaps = apart - radii[mine, None] - radii[None, theirs]
            i, j = np.unravel_index(gaps.argmin(), gaps.shape)
            between = np.gradient(places[:, theirs[j]] - places[:, mine[i]], DT, axis=0)
            cost[t] += max(0.0, clearance - gaps[i, j]) * np.linalg.norm(between[t])
    return cost


def test_self_collision_equals_a_plain_reference_and_the_verdict(teaarm, paths):
    for clearance in (0.01, 0.05):
        cost = SelfCollisionCost(teaarm, clearance=clearance, collision_penalty=30.0, weight=0.5)
        near, touches = cost.parts(paths, DT)
        expected = np.array([plain_self_cost(teaarm, path, clearance) for path in paths])
        assert near == pytest.approx(expected, abs=1e-9)
        assert 0.1 < (near > 0.0).mean() < 0.95
        free = teaarm.free(paths.reshape(-1, teaarm.robot.dof)).reshape(touches.shape)
        assert np.array_equal(touches, ~free)
        assert 0.05 < touches.mean() < 0.95
        assert cost.cost(paths, DT) == pytest.approx(0.5 * (near + 30.0 * touches), abs=1e-9)


def test_obstacles_do_not_count_in_self_collision(teaarm, paths):
    among = teaarm.with_world(World([Sphere(0.5, pose=[1, 0, 0, 0, 0.6, 0, 0.8], name="ball")]))
    assert np.array_equal(SelfCollisionCost(among).cost(paths, DT), SelfCollisionCost(teaarm).cost(paths, DT))
    there = pickle.loads(pickle.dumps(SelfCollisionCost(among)))
    assert np.array_equal(there.cost(paths, DT), SelfCollisionCost(teaarm).cost(paths, DT))


def test_velocity_and_acceleration_cost_what_is_beyond_the_limits(teaarm):
    robot = teaarm.robot
    rows = np.zeros((1, 5, robot.dof))
    rows[0, :, 1] = [0.0, 0.1, 0.4, 0.4, 0.4]  # 1, 3, 0, 0 rad/s
    rows[0, :, 2] = [0.0, -0.1, -0.1, 0.0, 0.0]  # 1, 0, 1, 0
    velocity = VelocityCost(robot, 2.0, weight=3.0)
    assert velocity.cost(rows, DT)[0] == pytest.approx(3.0 * np.array([0.0, 0.5, 0.5, 0.0, 0.0]))
    limits = np.full(robot.dof, np.inf)
    limits[2] = 0.5
    assert VelocityCost(robot, limits).cost(rows, DT)[0] == pytest.approx([1.0, 1.0, 1.0, 1.0, 0.0])
    # Second differences from rest to rest: 10, 20, -30, 0, 0 and -10, 10, 10, -10, 0 rad/s^2.
    acceleration = AccelerationCost(robot, 8.0)
    assert acceleration.cost(rows, DT)[0] == pytest.approx([0.5, 1.75, 3.0, 0.25, 0.0])
    slow = np.linspace(0.0, 1e-3, 6)[None, :, None] * np.ones(robot.dof)
    assert (VelocityCost(robot).cost(slow, DT) == 0.0).all()
    assert (AccelerationCost(robot).cost(slow, DT) == 0.0).all()
    for bad in (0.0, -1.0, np.ones(3), "fast", np.nan):
        with pytest.raises(InputError, match="limits"):
            VelocityCost(robot, bad)
        with pytest.raises(InputError, match="limits"):
            AccelerationCost(robot, bad)


def test_upright_plane_and_tube_cost_what_is_beyond_their_tolerance(teaarm, paths):
    robot = teaarm.robot
    link = robot.link_names[-1]
    T = link_matrices(robot, paths, link)
    tilt = np.arccos(
        np.clip(T[..., :3, :3] @ np.array([0.6, 0.0, 0.8]) @ np.array([0.0, 0.0, 1.0]), -1.0, 1.0)
    )
    upright = UprightCost(robot, link, axis=(3.0, 0.0, 4.0), direction=(0, 0, 2), tolerance=1.0, weight=2.0)
    assert upright.cost(paths, DT) == pytest.approx(2.0 * np.maximum(0.0, tilt - 1.0), abs=1e-7)
    point = np.array([0.1, -0.2, 0.3])
    places = T[..., :3, :3] @ point + T[..., :3, 3]
    plane = PlaneCost(robot, link, normal=(0, 3, 4), offset=0.5, tolerance=0.1, point=point)
    height = places @ np.array([0.0, 0.6, 0.8]) - 0.5
    assert plane.cost(paths, DT) == pytest.approx(np.maximum(0.0, np.abs(height) - 0.1), abs=1e-12)
    line = np.array([[0.0, 0.0, 0.5], [0.5, 0.0, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 1.0]])
    s = np.linspace(0.0, 1.0, 20001)[:, None]
    dense = np.concatenate([a + s * (b - a) for a, b in pairwise(line)])
    nearest = KDTree(dense).query(places)[0]
    tube = TubeCost(robot, link, line, 0.2, point=point)
    assert tube.cost(paths, DT) == pytest.approx(np.maximum(0.0, nearest - 0.2), abs=1e-8)
    assert (tube.cost(paths, DT) > 0.0).any()
    ball = TubeCost(robot, link, line[:1], 0.2)
    assert ball.cost(paths, DT) == pytest.approx(
        np.maximum(0.0, np.linalg.norm(T[..., :3, 3] - line[0], axis=-1) - 0.2), abs=1e-12
    )


def test_constraints_that_make_no_sense_are_refused(teaarm):
    robot = teaarm.robot
    link = robot.link_names[-1]
    with pytest.raises(UnknownLinkError, match="no link 'nobody'"):
        UprightCost(robot, "nobody")
    for wrong in (
        lambda: UprightCost(robot, link, axis=(0, 0, 0)),
        lambda: UprightCost(robot, link, direction=(0, 1)),
        lambda: UprightCost(robot, link, tolerance=-1.0),
        lambda: PlaneCost(robot, link, (0, 0, np.nan), 0.0),
        lambda: PlaneCost(robot, link, (0, 0, 1), np.inf),
        lambda: PlaneCost(robot, link, (0, 0, 1), 0.0, point="here"),
        lambda: TubeCost(robot, link, np.zeros((0, 3)), 0.1),
        lambda: TubeCost(robot, link, [[0, 0]], 0.1),
        lambda: TubeCost(robot, link, [[0, 0, 0]], -0.1),
        lambda: TubeCost(robot, link, [[0, 0, 0]], 0.1, weight=-1.0),
    ):
        with pytest.raises(InputError, match="Cost"):
            wrong()


def test_functions_are_costs_and_their_mistakes_are_named(teaarm, paths):
    def height(trajectories, dt):
        return trajectories[..., 0] ** 2 + dt

    cost = FunctionCost(height, weight=2.0)
    assert isinstance(cost, Cost)
    assert cost.name == "height"
    assert cost.cost(paths, DT) == pytest.approx(2.0 * (paths[..., 0] ** 2 + DT))
    with pytest.raises(InputError, match=r"'odd' must give .* shape \(12, 9\), found shape \(12,\)"):
        FunctionCost(lambda x, dt: x[:, 0, 0], name="odd").cost(paths, DT)

    def nan_at(x, dt):
        out = np.zeros(x.shape[:2])
        out[3, 4] = np.nan
        return out

    with pytest.raises(InputError, match="'nan_at' gave nan for step 4 of trajectory 3"):
        FunctionCost(nan_at).cost(paths, DT)
    with pytest.raises(InputError, match="'text' failed"):
        FunctionCost(lambda x, dt: "dear", name="text").cost(paths, DT)

    def changes(x, dt):
        x[:] = 0.0
        return x[..., 0]

    with pytest.raises(InputError, match="'changes' failed.*read-only"):
        FunctionCost(changes).cost(paths, DT)
    assert paths.any()
    with pytest.raises(InputError, match="expected a function"):
        FunctionCost(3)
    with pytest.raises(InputError, match="weight"):
        FunctionCost(height, weight=np.nan)


def test_costs_add_up(teaarm, paths):
    robot = teaarm.robot
    costs = [
        VelocityCost(robot, 1.0),
        VelocityCost(robot, 2.0, weight=3.0),
        FunctionCost(lambda x, dt: x[..., 0]),
    ]
    assert total_cost(costs, paths, DT) == pytest.approx(sum(cost.cost(paths, DT) for cost in costs))
    assert (total_cost([], paths, DT) == 0.0).all()


def test_default_costs_leave_held_joints_alone(teaarm, paths):
    robot = teaarm.robot
    start = robot.default_cfg
    costs = default_costs(teaarm, start, robot.joint_names[:3])
    assert [type(cost) for cost in costs] == [ObstacleCost, SelfCollisionCost, VelocityCost, AccelerationCost]
    assert all(isinstance(cost, Cost) for cost in costs)
    rows = np.tile(start, (1, 4, 1))
    rows[0, 2, 3:] += 50.0
    assert (costs[2].cost(rows, DT) == 0.0).all()
    assert (costs[3].cost(rows, DT) == 0.0).all()
    rows[0, 2, 0] += 50.0
    assert (costs[2].cost(rows, DT) > 0.0).any()
    assert (costs[3].cost(rows, DT) > 0.0).any()


def test_default_costs_are_those_of_stomp(teaarm):
    robot = teaarm.robot
    arm, ends = robot.joint_names[2:9], np.stack([robot.default_cfg, robot.default_cfg])
    theirs, ours = Stomp(teaarm, *ends, arm).costs, default_costs(teaarm, ends, arm, boxes_decide=False)
    rows = np.tile(robot.default_cfg, (2, 5, 1)) + np.random.default_rng(0).normal(size=(2, 5, robot.dof))
    assert [cost.name for cost in ours] == [cost.name for cost in theirs]
    for mine, his in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine.cost(rows, DT), his.cost(rows, DT))
    assert len(default_costs(teaarm, robot.default_cfg)) == 4  # all joints


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda m: default_costs(5, m.robot.default_cfg), InputError, "cannot load a robot"),
        (lambda m: default_costs(m, np.zeros(3)), InputError, "configurations"),
        (lambda m: default_costs(m, np.zeros((0, m.robot.dof))), InputError, "at least one"),
        (lambda m: default_costs(m, m.robot.default_cfg, "left_j1"), InputError, "names of joints"),
        (lambda m: default_costs(m, m.robot.default_cfg, 5), InputError, "names of joints, found 5"),
        (lambda m: default_costs(m, m.robot.default_cfg, [5]), UnknownJointError, "'5'"),
        (lambda m: default_costs(m, m.robot.default_cfg, ["left_j99"]), UnknownJointError, "left_j99"),
    ],
)
def test_default_costs_refuse_what_makes_no_sense(teaarm, ask, error, words):
    with pytest.raises(error, match=words):
        ask(teaarm)
