"""Tables of free configurations: what is in them, and which entries are nearest."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import elbowroom as er
from elbowroom.ik import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget, Target
from elbowroom.ik._problem import Problem, shape_of
from elbowroom.ik._seeds import NEAR, SeedTable, free_configurations
from elbowroom.robot.doors import build_tree

from .models import rotation

Load = Callable[[str], er.Robot]
TOLERANCES = {"position_tolerance": 1e-4, "orientation_tolerance": 1e-3}
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
def test_nearest_is_what_brute_force_finds(load: Load, case: int) -> None:
    robot = load("teaarm")
    targets = several(robot)[case]
    problem = Problem.of(robot, shape_of(targets), robot.joint_names)
    cfgs = robot.random_cfgs(700, seed=1)
    table = SeedTable(problem, cfgs)
    values = problem.targets_row(targets)
    columns = [robot.joint_names.index(name) for name in problem.joints]
    expected = scores(robot, targets, cfgs)
    best = np.sort(expected)
    for skip in (0, 16):
        found = table.nearest(values, 16, skip=skip)
        np.testing.assert_allclose(scores(robot, targets, found), best[skip : skip + 16], atol=1e-5)
        for row in found:  # each is an entry, none twice
            assert (np.abs(cfgs[:, columns] - row[columns]).max(axis=1) < 1e-5).sum() == 1
        assert len(np.unique(found[:, columns], axis=0)) == 16


def test_nearest_to_a_seed(load: Load) -> None:
    robot = load("teaarm")
    targets = several(robot)[0]
    joints = [name for name in robot.joint_names if "right" not in name]
    problem = Problem.of(robot, shape_of(targets), joints)
    cfgs = robot.random_cfgs(500, seed=1)
    table = SeedTable(problem, cfgs)
    values = problem.targets_row(targets)
    seed = robot.random_cfgs(1, seed=9)[0]
    found = table.nearest(values, 16, seed)
    np.testing.assert_array_equal(found[0], seed)
    columns = [robot.joint_names.index(name) for name in joints]
    others = np.setdiff1d(np.arange(robot.dof), columns)
    np.testing.assert_array_equal(found[:, others], np.tile(seed[others], (16, 1)))
    expected = scores(robot, targets, cfgs) + NEAR * ((cfgs - seed)[:, columns] ** 2).sum(axis=1)
    order = np.argsort(expected)
    np.testing.assert_allclose(found[1:, columns], cfgs[order[:15]][:, columns], atol=1e-5)
    later = table.nearest(values, 16, seed, skip=15)  # the next round: the seed was tried
    np.testing.assert_allclose(later[:, columns], cfgs[order[15:31]][:, columns], atol=1e-5)
    without = table.nearest(values, 16)
    np.testing.assert_array_equal(without[:, others], np.tile(table.held[others], (16, 1)))


def test_an_endless_joint_is_near_across_its_seam(load: Load) -> None:
    robot = load("double_pendulum_continuous")
    cfgs = np.array([[-3.1, 0.0], [2.0, 0.0], [0.0, 0.0]])
    target = LookAt("link2", [0.0, 0.0, 1000.0])
    problem = Problem.of(robot, shape_of([target]), robot.joint_names)
    found = SeedTable(problem, cfgs).nearest(
        problem.targets_row([LookAt("link2", [0.0, 0.0, 1000.0], orientation_weight=1e-9)]),
        4,
        np.array([3.1, 0.0]),
    )
    np.testing.assert_allclose(found, [[3.1, 0.0], [-3.1, 0.0], [2.0, 0.0], [0.0, 0.0]], atol=1e-6)


def test_tables_smaller_than_asked(load: Load) -> None:
    robot = load("panda")
    targets = (PoseTarget("panda_hand", robot.link_poses(robot.default_cfg)[robot.link_index("panda_hand")]),)
    problem = Problem.of(robot, shape_of(targets), robot.joint_names)
    table = SeedTable(problem, robot.random_cfgs(5))
    values = problem.targets_row(targets)
    assert len(table.nearest(values, 16)) == 5
    assert len(table.nearest(values, 16, skip=3)) == 2
    assert len(table.nearest(values, 16, skip=9)) == 0
    assert len(table.search(values, 16, iterations=5, **TOLERANCES)) == 5
    assert len(table.search(values, 16, iterations=5, skip=9, **TOLERANCES)) == 0
    assert len(table.search(values, 16, robot.default_cfg, iterations=5, **TOLERANCES)) == 6


def test_search_is_solve_from_the_nearest(load: Load) -> None:
    """Also from a copy that was pickled, and in rounds."""
    robot = load("teaarm")
    targets = several(robot)[1]
    problem = Problem.of(robot, shape_of(targets), robot.joint_names)
    table = SeedTable(problem, robot.random_cfgs(500, seed=1))
    values = problem.targets_row(targets)
    seed = robot.random_cfgs(1, seed=5)[0]
    for own in (table, pickle.loads(pickle.dumps(table))):
        for seed_cfg, skip in ((None, 0), (seed, 0), (seed, 15), (None, 32)):
            one = own.search(values, 16, seed_cfg, iterations=30, skip=skip, **TOLERANCES)
            starts = table.nearest(values, 16, seed_cfg, skip=skip)
            two = problem.solve(values, starts, iterations=30, **TOLERANCES)
            np.testing.assert_array_equal(one.cfgs, two.cfgs)
            np.testing.assert_array_equal(one.reached, two.reached)


def test_the_nearest_starts_reach_more(load: Load) -> None:
    """What the table is for: against starts anywhere."""
    robot = load("teaarm")
    shape = tuple((PoseTarget, link) for link in HANDS)
    problem = Problem.of(robot, shape, robot.joint_names)
    table = SeedTable(problem, robot.random_cfgs(2000, seed=1))
    near, anywhere = 0, 0
    for k, goal in enumerate(robot.random_cfgs(40, seed=2)):
        poses = robot.link_poses(goal)
        values = problem.targets_row([PoseTarget(link, poses[robot.link_index(link)]) for link in HANDS])
        found = table.search(values, 16, iterations=30, **TOLERANCES)
        near += found.reached.sum()
        anywhere += problem.solve(
            values, robot.random_cfgs(16, seed=50 + k), iterations=30, **TOLERANCES
        ).reached.sum()
    assert near > 1.5 * anywhere
