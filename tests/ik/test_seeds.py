"""Tables of free configurations: what is in them, and which entries are nearest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import elbowroom as er
from elbowroom import _core
from elbowroom.ik import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget, Target
from elbowroom.ik._problem import IkProblem, shape_of
from elbowroom.ik.solve._setup import free_configurations
from elbowroom.robot.internal import build_tree

from .models import rotation

Load = Callable[[str], er.Robot]
NEAR = 0.01
"""Weight of a squared joint angle beside squared metres, where a seed is given."""
HANDS = ("frame_left_arm_ee", "frame_right_arm_ee")


@pytest.fixture(scope="module")
def teaarm(model: Callable[[str], tuple[er.Robot, er.SphereModel]]) -> er.CollisionModel:
    return er.CollisionModel(*model("teaarm"))  # quickly fitted spheres: meshes decide all the same


def test_free_configurations(teaarm: er.CollisionModel) -> None:
    robot = teaarm.robot
    joints = [name for name in robot.joint_names if name.startswith("left")]
    columns = [robot.joint_names.index(name) for name in joints]
    held = teaarm.default_cfg + 0.01
    found = free_configurations(teaarm, joints, held, 500, seed=3)
    assert found.shape == (500, robot.dof)
    assert teaarm.free(found).all()
    others = np.setdiff1d(np.arange(robot.dof), columns)
    np.testing.assert_array_equal(found[:, others], np.tile(held[others], (500, 1)))
    assert (found >= robot.lower).all()
    assert (found <= robot.upper).all()
    spread = np.ptp(found[:, columns], axis=0) / (robot.upper - robot.lower)[columns]
    assert (spread > 0.9).all()
    np.testing.assert_array_equal(found, free_configurations(teaarm, joints, held, 500, seed=3))
    assert (found != free_configurations(teaarm, joints, held, 500, seed=4)).any()


def test_a_table_where_nothing_is_free(teaarm: er.CollisionModel) -> None:
    """Held where it collides, whatever the joint drawn does: the table is filled all the same."""
    robot = teaarm.robot
    draws = robot.random_cfgs(400, seed=0)
    held = draws[~teaarm.free(draws)][0]
    found = free_configurations(teaarm, ["waist_yaw"], held, 50)
    assert found.shape == (50, robot.dof)
    assert not teaarm.free(found).any()
    none_drawn = free_configurations(teaarm, [], held, 50)
    np.testing.assert_array_equal(none_drawn, np.tile(held, (50, 1)))


def test_joints_without_limits(load: Load) -> None:
    robot = load("panda")
    joints = [replace(joint, lower=-np.inf, upper=np.inf) for joint in robot.tree.joints]
    endless = replace(robot, tree=build_tree("panda", robot.link_names, joints, np.eye(4)))
    found = free_configurations(endless, endless.joint_names, endless.default_cfg, 100)
    assert np.isfinite(found).all()
    assert (np.abs(found - endless.default_cfg) <= np.pi).all()
    assert (np.ptp(found, axis=0) > 3.0).all()


def scores(robot: er.Robot, targets: tuple[Target, ...], cfgs: np.ndarray) -> np.ndarray:
    """What `nearest` sorts by: squared weighted errors, angles by chords."""
    found = np.zeros(len(cfgs))
    poses = robot.link_poses(cfgs)
    for target in targets:
        if isinstance(target, JointTarget):
            found += (target.weight * (cfgs[:, robot.joint_names.index(target.joint)] - target.value)) ** 2
            continue
        at = poses[:, robot.link_index(target.link)]
        R, p = rotation(at[:, :4]), at[:, 4:]
        if isinstance(target, PoseTarget):
            found += target.position_weight**2 * ((p - target.pose[4:]) ** 2).sum(axis=1)
            found += 8.0 * target.orientation_weight**2 * (1.0 - np.abs(at[:, :4] @ target.pose[:4]))
        elif isinstance(target, PositionTarget):
            there = R.apply(target.point.copy()) + p
            found += target.position_weight**2 * ((there - target.position) ** 2).sum(axis=1)
        else:
            axis, to = R.apply(target.axis.copy()), np.zeros_like(p)
            to += target.point - p if isinstance(target, LookAt) else target.direction
            cosine = (axis * to).sum(axis=1) / np.linalg.norm(to, axis=1)
            found += 2.0 * target.orientation_weight**2 * (1.0 - cosine)
    return found


def several(robot: er.Robot) -> list[tuple[Target, ...]]:
    rng = np.random.default_rng(5)
    poses = robot.link_poses(robot.random_cfgs(1, seed=77)[0])
    left, right = (poses[robot.link_index(link)] for link in HANDS)
    a, b, c = rng.normal(size=(3, 3))
    return [
        (PoseTarget(HANDS[0], left),),
        (PoseTarget(HANDS[0], left), PoseTarget(HANDS[1], right, 2.0, 0.1)),
        (PositionTarget(HANDS[0], left[4:], 0.1 * a), AxisTarget(HANDS[1], b, c)),
        (LookAt(HANDS[0], a, b), JointTarget("right_j4", 0.7)),
    ]


@pytest.mark.parametrize("case", range(4))
@pytest.mark.parametrize("seeded", [False, True])
def test_nearest_is_what_brute_force_finds(load: Load, case: int, seeded: bool) -> None:
    robot = load("teaarm")
    targets = several(robot)[case]
    problem = IkProblem.of(robot, shape_of(targets), robot.joint_names)
    cfgs, seed = robot.random_cfgs(700, seed=1), robot.random_cfgs(1, seed=9)[0]
    table = _core.StartTable(problem.core, cfgs)
    assert len(table) == 700
    columns = [robot.joint_names.index(name) for name in problem.joints]
    expected = scores(robot, targets, cfgs)
    if seeded:
        expected += NEAR * ((cfgs - seed)[:, columns] ** 2).sum(axis=1)
    found = table.nearest(problem.targets_row(targets), seed, seeded, 40)
    assert len(set(found.tolist())) == 40
    np.testing.assert_allclose(expected[found], np.sort(expected)[:40], atol=1e-5)


def test_tables_smaller_than_asked(load: Load) -> None:
    robot = load("panda")
    targets = (PoseTarget("panda_hand", robot.link_poses(robot.default_cfg)[robot.link_index("panda_hand")]),)
    problem = IkProblem.of(robot, shape_of(targets), robot.joint_names)
    table = _core.StartTable(problem.core, robot.random_cfgs(5))
    found = table.nearest(problem.targets_row(targets), robot.default_cfg, False, 16)
    assert sorted(found.tolist()) == list(range(5))
    few = er.IkSolver(robot, options=er.IkOptions(table=5)).solve({"panda_hand": [1, 0, 0, 0, 3.0, 0, 0]})
    assert few.seeds_tried == 5


def test_the_nearest_starts_reach_more(load: Load) -> None:
    """What the table is for: one round from the nearest of many, against one from any sixteen."""
    robot = load("teaarm")
    goals = robot.random_cfgs(60, seed=31)
    poses = robot.link_poses(goals)
    questions = [{link: row[robot.link_index(link)] for link in HANDS} for row in poses]
    reached = [
        sum(
            er.IkSolver(robot, HANDS, er.IkOptions(seeds=16, table=size)).solve(q).candidates
            for q in questions
        )
        for size in (16, 2000)
    ]
    assert reached[1] > reached[0]
