"""Targets in the core against residuals written down again and finite differences; searches against Pinocchio and scipy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import elbowroom as er
from elbowroom._frozen import frozen
from elbowroom.errors import InputError, UnknownJointError, UnknownLinkError
from elbowroom.ik import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget, Target
from elbowroom.ik._problem import IkProblem, groups, moved_by, shape_of

from ..oracles import PinocchioModel
from .models import rotation

Load = Callable[[str], er.Robot]

# Links behind coupled sliding joints, coupled turning ones (polynomials), a lift and endless joints, a forked tree.
LINKS = {
    "panda": ("panda_leftfinger",),
    "rh56": ("thumb_distal", "index_intermediate"),
    "pr2": ("r_gripper_r_finger_tip_link", "l_gripper_tool_frame"),
    "teaarm": ("frame_left_arm_ee", "frame_right_arm_ee"),
}


def random_pose(rng: np.random.Generator) -> np.ndarray:
    return np.concatenate([rng.normal(size=4), 0.5 * rng.normal(size=3)])


def random_targets(robot: er.Robot, links: tuple[str, ...], rng: np.random.Generator) -> tuple[Target, ...]:
    """One of each kind on each link, weights included."""
    found: list[Target] = []
    for link in links:
        a, b, c, d, e, f = rng.normal(size=(6, 3))
        found += [
            PoseTarget(link, random_pose(rng), 1.3, 0.4),
            PositionTarget(link, a, b, 0.7),
            AxisTarget(link, c, d, 0.5),
            LookAt(link, e, f, 0.6),
        ]
    return (*found, JointTarget(robot.joint_names[0], float(rng.normal()), 0.2))


def written_down(robot: er.Robot, target: Target, cfg: np.ndarray) -> np.ndarray:
    """The residual of a target as the docstring of the module states it."""
    if isinstance(target, JointTarget):
        return np.array([target.weight * (target.value - cfg[robot.joint_names.index(target.joint)])])
    pose = robot.link_poses(cfg)[robot.link_index(target.link)].copy()
    R, p = rotation(pose[:4]), pose[4:]
    if isinstance(target, PoseTarget):
        turn = rotation(target.pose[:4].copy()) * R.inv()
        shift = target.position_weight * (target.pose[4:] - p)
        return np.concatenate([shift, target.orientation_weight * turn.as_rotvec()])
    if isinstance(target, PositionTarget):
        return target.position_weight * (target.position - (R.apply(target.point.copy()) + p))
    axis = R.apply(target.axis.copy())
    direction = target.point - p if isinstance(target, LookAt) else target.direction
    direction = direction / np.linalg.norm(direction)
    normal = np.cross(axis, direction)
    angle = np.arctan2(np.linalg.norm(normal), axis @ direction)
    return target.orientation_weight * angle * normal / np.linalg.norm(normal)


@pytest.mark.parametrize("name", LINKS)
def test_residuals_and_jacobians(load: Load, name: str) -> None:
    robot, rng = load(name), np.random.default_rng(1)
    cfgs = robot.random_cfgs(11, seed=3)  # more than a block of lanes, and not a whole number of them
    for _ in range(3):
        targets = random_targets(robot, LINKS[name], rng)
        problem = IkProblem.of(robot, shape_of(targets), robot.joint_names)
        values = problem.targets_row(targets)
        found = problem.residuals(values, cfgs)
        expected = [np.concatenate([written_down(robot, t, cfg) for t in targets]) for cfg in cfgs]
        np.testing.assert_allclose(found, expected, atol=1e-12)
        slopes, h = problem.jacobians(values, cfgs), 1e-6
        for k in range(robot.dof):
            step = h * np.eye(robot.dof)[k]
            rate = (problem.residuals(values, cfgs + step) - problem.residuals(values, cfgs - step)) / (2 * h)
            np.testing.assert_allclose(slopes[:, :, k], rate, atol=1e-6, rtol=1e-6)


def test_errors_have_no_weights(load: Load) -> None:
    robot, rng = load("teaarm"), np.random.default_rng(2)
    targets = random_targets(robot, LINKS["teaarm"], rng)
    problem = IkProblem.of(robot, shape_of(targets), robot.joint_names)
    cfgs = robot.random_cfgs(3, seed=0)
    off, turn = problem.errors(problem.targets_row(targets), cfgs)
    for row, cfg in enumerate(cfgs):
        for k, target in enumerate(targets):
            parts = written_down(robot, target, cfg)
            along, around = 0.0, 0.0
            if isinstance(target, PoseTarget):
                along = np.linalg.norm(parts[:3]) / target.position_weight
                around = np.linalg.norm(parts[3:]) / target.orientation_weight
            elif isinstance(target, PositionTarget):
                along = np.linalg.norm(parts) / target.position_weight
            elif isinstance(target, JointTarget):
                around = np.linalg.norm(parts) / target.weight
            else:
                around = np.linalg.norm(parts) / target.orientation_weight
            assert (off[row, k], turn[row, k]) == pytest.approx((along, around), abs=1e-12)


def test_jacobian_is_the_geometric_one_where_a_pose_is_met(load: Load) -> None:
    robot, link = load("pr2"), "r_gripper_r_finger_tip_link"
    cfgs = robot.random_cfgs(5, seed=8)
    expected = robot.jacobian(cfgs, link)
    for cfg, jacobian in zip(cfgs, expected, strict=True):
        target = PoseTarget(link, robot.link_poses(cfg)[robot.link_index(link)], 2.0, 0.5)
        problem = IkProblem.of(robot, shape_of([target]), robot.joint_names)
        found = problem.jacobians(problem.targets_row([target]), cfg[None])[0]
        np.testing.assert_allclose(found[:3], -2.0 * jacobian[:3], atol=1e-12)
        np.testing.assert_allclose(found[3:], -0.5 * jacobian[3:], atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 9.999e-3, 1.0001e-2, 3.0, np.pi - 1e-6, np.pi])
def test_orientation_at_every_angle(load: Load, angle: float) -> None:
    """Series near zero, half turns, and axes straight against their direction."""
    robot, link = load("panda"), "panda_hand"
    cfg = robot.random_cfgs(1, seed=4)
    pose = robot.link_poses(cfg)[0, robot.link_index(link)]
    R = rotation(pose[:4])
    turn = Rotation.from_rotvec(angle * np.array([0.6, 0.0, -0.8]))
    wanted = np.concatenate([np.roll((turn * R).as_quat(), 1), pose[4:]])
    axis = np.array([0.0, 1.0, 0.0])  # normal to the axis of the turn: it turns by the whole angle
    targets = (
        PoseTarget(link, wanted, 1.0, 1.0),
        AxisTarget(link, turn.apply(axis), R.inv().apply(axis), 1.0),
    )
    problem = IkProblem.of(robot, shape_of(targets), robot.joint_names)
    values = problem.targets_row(targets)
    residual = problem.residuals(values, cfg)[0]
    _, errors = problem.errors(values, cfg)
    np.testing.assert_allclose(errors[0], angle, atol=2e-9)
    for part in (residual[3:6], residual[6:9]):
        assert np.linalg.norm(part) == pytest.approx(angle, abs=2e-9)
        if angle < 3.1:
            np.testing.assert_allclose(part, turn.as_rotvec(), atol=1e-9)
        assert abs(part @ axis) < 1e-8
    assert np.isfinite(problem.jacobians(values, cfg)).all()
    if 0.0 < angle < 3.1:
        slopes, h = problem.jacobians(values, cfg)[0], 1e-7
        steps = np.eye(robot.dof) * h
        rates = (problem.residuals(values, cfg + steps) - problem.residuals(values, cfg - steps)) / (2 * h)
        np.testing.assert_allclose(slopes, rates.T, atol=2e-6)


def test_a_root_that_is_not_the_origin(load: Load) -> None:
    robot = load("panda")
    tree = robot.tree
    quat, shift = tree.quat_cos.copy(), tree.shift.copy()
    quat[0], shift[0] = [0.5, 0.5, -0.5, 0.5], [0.3, -2.0, 1.0]
    moved = replace(robot, tree=replace(tree, quat_cos=frozen(quat), shift=frozen(shift)))
    cfg = moved.random_cfgs(1, seed=1)
    target = PositionTarget("panda_hand", moved.link_poses(cfg)[0, moved.link_index("panda_hand"), 4:])
    problem = IkProblem.of(moved, shape_of([target]), moved.joint_names)
    assert problem.errors(problem.targets_row([target]), cfg)[0] == pytest.approx(0.0, abs=1e-12)


# Searches ---------------------------------------------------------------------------------------


def poses_at(robot: er.Robot, links: tuple[str, ...], cfg: np.ndarray) -> tuple[Target, ...]:
    poses = robot.link_poses(cfg)
    return tuple(PoseTarget(link, poses[robot.link_index(link)]) for link in links)


@pytest.mark.parametrize(
    ("name", "links"),
    [
        ("panda", ("panda_hand",)),
        ("teaarm", ("frame_left_arm_ee", "frame_right_arm_ee")),
        ("g1", ("left_rubber_hand", "right_rubber_hand")),
        ("kinova", ("j2s6s200_link_6",)),
    ],
)
def test_searches_reach(load: Load, name: str, links: tuple[str, ...]) -> None:
    """What is said to be reached is so by Pinocchio, within limits, other joints untouched."""
    robot = load(name)
    assert robot.path is not None
    judge = PinocchioModel(robot.path)
    assert judge.joint_names == robot.joint_names
    solver = er.IkSolver(robot, links)
    seeds = robot.random_cfgs(40, seed=12)
    for goal, seed in zip(robot.random_cfgs(40, seed=11), seeds, strict=True):
        targets = poses_at(robot, links, goal)
        solved = IkProblem.of(robot, shape_of(targets), robot.joint_names).joints
        still = ~np.isin(robot.joint_names, solved)
        found = solver.solve(targets, seed)
        assert found.success
        assert (found.cfg >= robot.lower).all()
        assert (found.cfg <= robot.upper).all()
        np.testing.assert_array_equal(found.cfg[still], seed[still])
        ends = judge.link_poses(found.cfg, links)[0]
        for end, T in zip(ends, judge.link_poses(goal, links)[0], strict=True):
            assert np.linalg.norm(end[:3, 3] - T[:3, 3]) <= 1e-4 + 1e-9
            assert Rotation.from_matrix(end[:3, :3] @ T[:3, :3].T).magnitude() <= 1e-3 + 1e-9


def alone(options: er.IkOptions | None = None, **how: int) -> er.IkOptions:
    """Options of a search from the seed and a few starts near it."""
    return replace(options or er.IkOptions(), **{"seeds": 16, **how})


def test_joints_solved_for_and_held(load: Load) -> None:
    robot = load("teaarm")
    arm = tuple(name for name in robot.joint_names if name.startswith("left"))
    goal = robot.random_cfgs(1, seed=6)[0]
    targets = poses_at(robot, ("frame_left_arm_ee",), goal)
    problem = IkProblem.of(robot, shape_of(targets), arm)
    assert set(problem.joints) == set(arm)
    still = [k for k, name in enumerate(robot.joint_names) if name not in arm]
    starts = robot.random_cfgs(4, seed=7)
    assert not problem.jacobians(problem.targets_row(targets), starts)[:, :, still].any()
    assert problem.jacobians(problem.targets_row(targets), starts).any()


def test_an_endless_joint_goes_the_short_way(load: Load) -> None:
    """From 3 to -3 rad across the seam where limits would be."""
    robot = load("double_pendulum_continuous")
    goal = np.array([-3.0, 0.4])
    targets = poses_at(robot, ("link2",), goal)
    ik = er.IkSolver(robot, options=alone(table=1)).solve(targets, [3.0, 0.3])
    assert ik.success
    np.testing.assert_allclose(ik.cfg, goal, atol=1e-2)


def test_answers_on_a_limit(load: Load) -> None:
    """Targets whose only answers have joints on their limits."""
    robot = load("panda")
    rng = np.random.default_rng(0)
    reached = 0
    for k in range(20):
        goal = robot.random_cfgs(1, seed=k)[0]
        at = rng.choice(7, 3, replace=False)
        goal[at] = np.where(rng.random(3) < 0.5, robot.lower[at], robot.upper[at])
        targets = poses_at(robot, ("panda_hand",), goal)
        start = np.clip(goal + 0.4 * rng.normal(size=robot.dof), robot.lower, robot.upper)
        reached += er.IkSolver(robot).solve(targets, start).success
    assert reached >= 19


@pytest.mark.parametrize("distance", [0.9, 1.5, 10.0])
def test_the_nearest_to_what_is_out_of_reach(load: Load, distance: float) -> None:
    """As near as scipy's bounded least squares from many starts."""
    robot, rng = load("panda"), np.random.default_rng(3)
    joints = robot.joint_names[:7]
    for k in range(2):
        aim = rng.normal(size=3)
        pose = np.concatenate([rng.normal(size=4), distance * aim / np.linalg.norm(aim) + [0, 0, 0.3]])
        target = PoseTarget("panda_hand", pose)
        problem = IkProblem.of(robot, shape_of([target]), joints)
        values, starts = problem.targets_row([target]), robot.random_cfgs(8, seed=k)
        found = er.IkSolver(robot, joints=joints).solve(target)
        assert not found.success
        nearest = np.linalg.norm(problem.residuals(values, found.cfg[None]))
        last = found.cfg[7:]

        def full(x: np.ndarray, rest: np.ndarray = last) -> np.ndarray:
            return np.concatenate([x, rest])[None]

        judged = [
            least_squares(
                lambda x, p=problem, v=values: p.residuals(v, full(x))[0],
                start[:7],
                jac=lambda x, p=problem, v=values: p.jacobians(v, full(x))[0, :, :7],
                bounds=(robot.lower[:7], robot.upper[:7]),
            )
            for start in starts
        ]
        assert nearest <= 1.01 * min(np.sqrt(2.0 * answer.cost) for answer in judged)


def test_contradictory_targets_end(load: Load) -> None:
    """More rows than joints, and no answer: finite numbers, no success."""
    robot = load("panda")
    cfgs = robot.random_cfgs(3, seed=2)
    targets = tuple(target for cfg in cfgs for target in poses_at(robot, ("panda_hand",), cfg))
    found = er.IkSolver(robot).solve(targets)
    assert np.isfinite(found.cfg).all()
    assert np.isfinite(found.position_error).all()
    assert not found.success


def test_all_kinds_together_are_solved(load: Load) -> None:
    robot = load("teaarm")
    solver, reached = er.IkSolver(robot), 0
    for goal in robot.random_cfgs(10, seed=21):
        poses = robot.link_poses(goal)
        left, right, torso = (poses[robot.link_index(link)] for link in (*LINKS["teaarm"], "left_arm_l3"))
        R = rotation(right[:4])
        ahead = rotation(torso[:4]).apply([0.0, 0.0, 0.7])
        targets = (
            PositionTarget("frame_right_arm_ee", R.apply([0.1, 0, 0]) + right[4:], [0.1, 0, 0]),
            AxisTarget("frame_right_arm_ee", R.apply([0, 0, 1])),
            LookAt("left_arm_l3", torso[4:] + ahead),
            JointTarget("waist_yaw", float(goal[0])),
            PoseTarget("frame_left_arm_ee", left),
        )
        found = solver.solve(targets)
        reached += found.success
        if found.success:
            off = [np.linalg.norm(written_down(robot, target, found.cfg)) for target in targets]
            assert max(off) <= 1e-4 + 0.3 * 1e-3
    assert reached >= 9


# The rest -----------------------------------------------------------------------------------------


def test_groups(load: Load) -> None:
    robot = load("teaarm")
    shape = ((PoseTarget, "frame_left_arm_ee"), (PoseTarget, "frame_right_arm_ee"))
    assert moved_by(robot, shape)[0] >= {"waist_yaw", "left_j7"}
    assert [members for members, _ in groups(robot, shape, robot.joint_names)] == [(0, 1)]
    arms = [name for name in robot.joint_names if "waist" not in name]
    apart = groups(robot, shape, arms)
    assert [members for members, _ in apart] == [(0,), (1,)]
    assert [len(names) for _, names in apart] == [7, 7]
    tied = groups(robot, (*shape, (JointTarget, "left_j2"), (AxisTarget, "right_arm_l3")), arms)
    assert [members for members, _ in tied] == [(0, 2), (1, 3)]
    assert [names for _, names in groups(robot, shape, ("left_j2",))] == [("left_j2",), ()]


def test_unknown_names_are_told(load: Load) -> None:
    robot = load("panda")
    with pytest.raises(UnknownLinkError, match="panda_hand"):
        IkProblem.of(robot, ((PoseTarget, "panda_hnad"),), robot.joint_names)
    with pytest.raises(UnknownJointError, match="panda_joint3"):
        IkProblem.of(robot, ((PoseTarget, "panda_hand"),), ("panda_jiont3",))
    with pytest.raises(UnknownJointError, match="actuated"):
        IkProblem.of(robot, ((JointTarget, "panda_finger_joint2"),), robot.joint_names)  # it follows another
    with pytest.raises(InputError, match="none given"):
        IkProblem.of(robot, (), robot.joint_names)


def test_travels_by_pickle(load: Load) -> None:
    robot = load("panda")
    targets = poses_at(robot, ("panda_hand",), robot.random_cfgs(1)[0])
    problem = IkProblem.of(robot, shape_of(targets), robot.joint_names)
    values, cfgs = problem.targets_row(targets), robot.random_cfgs(16, seed=1)
    there = pickle.loads(pickle.dumps(problem))
    np.testing.assert_array_equal(problem.residuals(values, cfgs), there.residuals(values, cfgs))
