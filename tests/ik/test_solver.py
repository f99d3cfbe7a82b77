"""Answers of IkSolver, judged by Pinocchio and Coal; which of several is given; joints that stay."""

from __future__ import annotations

import pickle
from dataclasses import replace

import joblib
import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import InputError, UnknownJointError, UnknownLinkError
from elbowroom.ik import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget
from elbowroom.ik._targets import as_targets
from tests.ik.models import HAND, LEFT, LINKS, RIGHT, block_at, model_of, rest_pose, solver_of
from tests.ik_oracles import IkJudge, draw_targets, obstacles_around


@pytest.mark.parametrize("name", ["panda", "teaarm", "baxter"])
def test_every_answer_is_one_by_pinocchio_and_coal(name):
    model = model_of(name)
    judge = IkJudge(model.robot, model.pairs.checked)
    drawn = draw_targets(judge, LINKS[name], 30, seed=7)
    results = [solver_of(name).solve(targets) for targets in drawn]
    assert sum(result.success for result in results) >= 29
    for targets, result in zip(drawn, results, strict=True):
        assert not result.success or judge.faults(result.cfg, targets) == []
        assert not result.success or result.free is True


def test_answers_keep_clear_of_obstacles():
    alone = IkJudge(model_of("panda").robot, model_of("panda").pairs.checked)
    world = obstacles_around(alone, (HAND,), 10, seed=1)
    model, judge = model_of("panda").with_world(world), alone.among(world)
    drawn = draw_targets(judge, (HAND,), 25, seed=3)
    solver = er.IkSolver(model, HAND)
    results = [solver.solve(targets) for targets in drawn]
    assert sum(result.success for result in results) >= 24
    for targets, result in zip(drawn, results, strict=True):
        assert not result.success or judge.faults(result.cfg, targets) == []
    touching = [solver_of("panda").solve(targets).cfg for targets in drawn]
    assert not model.free(np.array(touching)).all()  # it was in the way


def test_errors_are_those_of_the_answer():
    robot = model_of("teaarm").robot
    targets = {link: robot.link_poses(0.3 * robot.upper)[robot.link_index(link)] for link in (LEFT, RIGHT)}
    result = solver_of("teaarm").solve(targets)
    judge = IkJudge(robot, ())
    found = judge.errors(result.cfg, targets)
    np.testing.assert_allclose(result.position_error, [entry[1] for entry in found], atol=1e-9)
    np.testing.assert_allclose(result.orientation_error, [entry[2] for entry in found], atol=1e-7)


@pytest.mark.parametrize(
    "targets",
    [
        [PositionTarget(HAND, [0.4, 0.2, 0.5], point=[0.0, 0.05, 0.0])],
        [PositionTarget(HAND, [0.45, 0.1, 0.4]), AxisTarget(HAND, [0, 0, -2.0])],
        [PositionTarget(HAND, [0.45, -0.1, 0.4]), LookAt(HAND, [0.6, 0.0, 0.0])],
        [PoseTarget(HAND, [0, 1, 0, 0, 0.4, 0.1, 0.4]), JointTarget("panda_joint1", 0.2)],
        [PoseTarget("panda_link7", [0, 1, 0, 0, 0.4, 0.1, 0.5]), JointTarget("panda_finger_joint1", 0.01)],
        {"panda_link4": [0.0, 0.0825, 0.333 + 0.316]},
    ],
    ids=["point", "axis", "look at", "pose and joint", "joint apart", "position of a mapping"],
)
def test_every_kind_of_target(targets):
    result = solver_of("panda").solve(targets)
    assert result.success, result.why
    assert (
        IkJudge(model_of("panda").robot, model_of("panda").pairs.checked).faults(result.cfg, result.targets)
        == []
    )


# Which answer ---------------------------------------------------------------------------------


def test_the_answer_is_near_the_seed():
    model, rng = model_of("panda"), np.random.default_rng(1)
    robot = model.robot
    cfgs = robot.random_cfgs(60, seed=2)
    cfgs = cfgs[model.free(cfgs)][:30]
    seeds = np.clip(cfgs + rng.normal(scale=0.05, size=cfgs.shape), robot.lower, robot.upper)
    span = robot.upper - robot.lower
    poses = robot.link_poses(cfgs)[:, robot.link_index(HAND)]
    near, far = [], []
    for pose, seed in zip(poses, seeds, strict=True):
        with_seed, without = (
            solver_of("panda").solve({HAND: pose}, seed),
            solver_of("panda").solve({HAND: pose}),
        )
        assert with_seed.success
        near.append(np.linalg.norm((with_seed.cfg - seed) / span))
        far.append(np.linalg.norm((without.cfg - seed) / span))
    assert np.median(near) < 0.05
    assert np.median(far) > 5 * np.median(near)


def test_the_answer_is_the_nearest_of_what_a_round_reaches():
    """Of everything that a round reaches, no free configuration is nearer to the seed than the answer."""
    model = model_of("panda")
    robot = model.robot
    solver = er.IkSolver(model, options=er.IkOptions(seeds=16))
    pose = rest_pose("panda", HAND)
    seed = robot.random_cfgs(1, seed=11)[0]
    result = solver.solve({HAND: pose}, seed)
    others = solver.solutions({HAND: pose}, seed, count=16)
    assert len(others) > 2
    assert model.free(others).all()
    far = np.linalg.norm(((others - seed) / (robot.upper - robot.lower))[:, :7], axis=1)
    assert (np.diff(far) >= 0.0).all()
    np.testing.assert_array_equal(result.cfg, others[0])
    assert "nearest to the seed" in result.chosen
    assert str(result.candidates) in result.chosen


def test_solutions_differ_and_are_what_solve_would_accept():
    model = model_of("panda")
    judge = IkJudge(model.robot, model.pairs.checked)
    for targets in draw_targets(judge, (HAND,), 5, seed=21):
        found = solver_of("panda").solutions(targets, count=6)
        assert len(found) == 6
        for k, cfg in enumerate(found):
            assert judge.faults(cfg, targets) == []
            assert all(np.abs(cfg - other).max() >= 0.2 for other in found[:k])
    assert len(solver_of("panda").solutions({HAND: [1, 0, 0, 0, 3.0, 0, 0]})) == 0


def test_a_seed_that_meets_the_targets_is_the_answer():
    cfg = model_of("teaarm").default_cfg
    targets = {link: rest_pose("teaarm", link) for link in LINKS["teaarm"]}
    np.testing.assert_array_equal(solver_of("teaarm").solve(targets, cfg).cfg, cfg)


def test_another_judge_of_the_same_robot_shares_tables_and_judges_for_itself():
    pose = rest_pose("panda", HAND)
    blocked = solver_of("panda").with_model(model_of("panda").with_world(block_at(pose[4:])))
    assert solver_of("panda").solve({HAND: pose}).success
    assert blocked.solve({HAND: pose}).free is False
    targets = as_targets({HAND: pose})
    assert blocked.setup_for(targets, ()) is solver_of("panda").setup_for(targets, ())
    with pytest.raises(InputError, match="teaarm"):
        blocked.with_model(model_of("teaarm"))


def test_a_candidate_that_collides_is_passed_over_for_a_farther_one():
    """The nearest answer to the seed touches the block, another posture of the elbow does not."""
    model = model_of("panda")
    pose = rest_pose("panda", HAND)
    alone = solver_of("panda").solve({HAND: pose}, model.default_cfg)
    elbow = model.robot.link_poses(alone.cfg)[model.robot.link_index("panda_link4"), 4:]
    blocked = model.with_world(block_at(elbow, 0.05))
    assert not blocked.free(alone.cfg)
    result = er.IkSolver(blocked).solve({HAND: pose}, model.default_cfg)
    assert result.success, result.why
    assert blocked.free(result.cfg)
    assert "not free" in result.chosen


def test_arms_that_share_no_joint_are_solved_apart_and_combined():
    solver = solver_of("baxter")
    targets = {link: rest_pose("baxter", link) for link in LINKS["baxter"]}
    setup = solver.setup_for(as_targets(targets), ())
    assert [len(part.positions) for part in setup.parts] == [1, 1]
    assert not set(setup.parts[0].joint_idx) & set(setup.parts[1].joint_idx)
    assert solver.solve(targets).success


# Joints that stay -----------------------------------------------------------------------------


def test_joints_that_are_not_solved_for_stay_where_they_are_said_to():
    model = model_of("teaarm")
    robot = model.robot
    seed = np.clip(model.default_cfg + 0.05, robot.lower, robot.upper)
    waist = [name for name in robot.joint_names if "waist" in name]
    assert waist
    pose = robot.link_poses(seed)[robot.link_index(LEFT)]
    moving = {
        robot.joint_names[k] for k in solver_of("teaarm").setup_for(as_targets({LEFT: pose}), ()).joint_idx
    }

    locked = solver_of("teaarm").solve({LEFT: pose}, seed, locked=waist)
    assert locked.success
    held_at = {
        name: seed[k] for k, name in enumerate(robot.joint_names) if name in waist or name not in moving
    }
    assert IkJudge(robot, ()).faults(locked.cfg, {LEFT: pose}, held_at) == []

    default = solver_of("teaarm").solve({LEFT: pose}, locked=waist)
    k = robot.joint_names.index(waist[0])
    assert default.cfg[k] == model.default_cfg[k]

    given = er.IkSolver(model, held={waist[0]: 0.1}).solve({LEFT: pose}, seed)
    assert given.cfg[k] == 0.1

    few = [name for name in robot.joint_names if "left" in name]
    subset = er.IkSolver(model, joints=few).solve({LEFT: pose}, seed)
    assert subset.success
    others = [k for k, name in enumerate(robot.joint_names) if name not in few]
    np.testing.assert_array_equal(subset.cfg[others], seed[others])


def test_a_carrier_that_is_locked_elsewhere_every_time_keeps_the_rate_of_success():
    """Tables are for one place of the waist; another place must not start from the wrong poses."""
    model = model_of("teaarm")
    robot = model.robot
    waist = [name for name in robot.joint_names if "waist" in name]
    cfgs = robot.random_cfgs(60, seed=4)
    cfgs = cfgs[model.free(cfgs)][:20]
    poses = robot.link_poses(cfgs)[:, robot.link_index(LEFT)]
    results = [
        solver_of("teaarm").solve(
            {LEFT: pose},
            seed_cfg=np.where(np.isin(robot.joint_names, waist), cfg, model.default_cfg),
            locked=waist,
        )
        for pose, cfg in zip(poses, cfgs, strict=True)
    ]
    assert sum(map(bool, results)) >= 18


def test_every_joint_locked():
    names = model_of("panda").robot.joint_names
    there = solver_of("panda").solve({HAND: rest_pose("panda", HAND)}, locked=names)
    assert there.success
    away = solver_of("panda").solve({HAND: [1, 0, 0, 0, 0.4, 0, 0.4]}, locked=names)
    assert not away.success
    np.testing.assert_array_equal(away.cfg, model_of("panda").default_cfg)


def test_held_beyond_limits_is_said():
    result = er.IkSolver(model_of("panda"), held={"panda_joint1": 4.0}).solve(
        {HAND: rest_pose("panda", HAND)}
    )
    assert result.cfg[0] == 4.0
    assert any("panda_joint1" in note and "beyond" in note for note in result.notes)


FINGER = -1


@pytest.mark.parametrize("value", [0.041, -0.01])
def test_a_gripper_measured_beyond_its_limits_is_held_and_said(value):
    """It stays where it is, as the real one does, and does not make every question unanswerable."""
    seed = np.array(model_of("panda").default_cfg)
    seed[FINGER] = value
    for solver in (solver_of("panda"), er.IkSolver(model_of("panda").robot)):
        result = solver.solve({HAND: rest_pose("panda", HAND)}, seed)
        assert result.cfg[FINGER] == value
        assert result.success
        assert any("panda_finger_joint1" in note and "beyond" in note for note in result.notes)


def test_a_limit_that_went_through_32_bits_is_within():
    model = model_of("panda")
    seed = np.array(model.default_cfg)
    upper = float(model.robot.upper[0])
    seed[0] = np.nextafter(np.float32(upper), np.float32(9.0))
    assert seed[0] > upper
    result = solver_of("panda").solve(
        {HAND: model.robot.link_poses(seed)[model.robot.link_index(HAND)]}, seed, locked="panda_joint1"
    )
    assert result.success
    assert result.cfg[0] == upper


def test_a_held_joint_far_beyond_its_limits_is_named_and_one_too_far_for_a_verdict_refused():
    seed = np.array(model_of("panda").default_cfg)
    seed[FINGER] = 5.0
    target = {HAND: rest_pose("panda", HAND)}
    held = er.IkSolver(model_of("panda"), held={"panda_finger_joint1": 5.0})
    for result in (solver_of("panda").solve(target, seed), held.solve(target)):
        assert result.success
        assert any("'panda_finger_joint1' is held at 5" in note for note in result.notes)
    seed[FINGER] = 1e6
    with pytest.raises(InputError, match="panda_finger_joint1"):
        solver_of("panda").solve(target, seed)


def test_a_seed_beyond_limits_is_moved_and_said():
    seed = np.array(model_of("panda").default_cfg)
    seed[1] = 5.0
    result = solver_of("panda").solve({HAND: rest_pose("panda", HAND)}, seed)
    assert result.success
    assert any("panda_joint2" in note for note in result.notes)


# Kinematics alone, secondary aims, batches ----------------------------------------------------


def test_a_robot_alone_gives_kinematics_alone():
    robot = model_of("panda").robot
    result = er.IkSolver(robot).solve({HAND: rest_pose("panda", HAND)})
    assert result.success
    assert result.free is None
    assert result.verdict is None
    assert result.clearance is None


@pytest.mark.parametrize("aim", ["rest_weight", "manipulability_weight", "clearance_weight"])
def test_secondary_aims_are_improved_and_never_cost_the_answer(aim):
    model = model_of("panda")
    robot = model.robot
    judge = IkJudge(robot, model.pairs.checked)
    plain, aiming = er.IkSolver(model), er.IkSolver(model, options=er.IkOptions(**{aim: 1.0}))

    def worth(cfg):
        if aim == "rest_weight":
            return -np.linalg.norm((cfg - model.default_cfg)[:7] / (robot.upper - robot.lower)[:7])
        if aim == "clearance_weight":
            return min(model.clearance(cfg), 0.1)
        jacobian = robot.jacobian(cfg, HAND)[:, :7]
        return np.sqrt(np.linalg.det(jacobian @ jacobian.T))

    gains = []
    for targets in draw_targets(judge, (HAND,), 8, seed=9):
        before, after = plain.solve(targets), aiming.solve(targets)
        assert before.success == after.success
        assert judge.faults(after.cfg, targets) == []
        gains.append(worth(after.cfg) - worth(before.cfg))
    assert min(gains) > -1e-6
    assert max(gains) > 1e-3


def test_a_batch_gives_the_same_answers_for_any_number_of_workers():
    model = model_of("panda")
    robot = model.robot
    cfgs = robot.random_cfgs(100, seed=6)
    cfgs = cfgs[model.free(cfgs)][:70]
    poses = robot.link_poses(cfgs)[:, robot.link_index(HAND)]
    poses[5, 4:] += 3.0  # one that fails
    options = er.IkOptions(timeout=60.0)
    solver = er.IkSolver(model, options=options)
    one_by_one = [solver.solve({HAND: pose}) for pose in poses]
    batches = [solver.solve_batch({HAND: poses}, workers=workers) for workers in (1, 2, None)]
    with joblib.parallel_config(backend="loky", n_jobs=2):
        batches.append(solver.solve_batch([{HAND: pose} for pose in poses]))
    for batch in batches:
        np.testing.assert_array_equal([r.cfg for r in batch], [r.cfg for r in one_by_one])
        assert [r.success for r in batch] == [r.success for r in one_by_one]
        assert batch[0].model is model
        assert batch[5].reason == "out of reach"


def test_seeds_of_a_batch():
    model = model_of("panda")
    poses = np.repeat(rest_pose("panda", HAND)[None], 3, axis=0)
    seeds = model.robot.random_cfgs(3, seed=8)
    solver = solver_of("panda")
    batch = solver.solve_batch({HAND: poses}, seeds)
    for result, pose, seed in zip(batch, poses, seeds, strict=True):
        np.testing.assert_array_equal(result.cfg, solver.solve({HAND: pose}, seed).cfg)
    with pytest.raises(InputError, match="3"):
        solver.solve_batch({HAND: poses}, seeds[:2])


def test_a_solver_travels_between_processes():
    solver = er.IkSolver(model_of("panda"), HAND, held={"panda_finger_joint1": 0.02})
    pose = rest_pose("panda", HAND)
    again = pickle.loads(pickle.dumps(solver))
    np.testing.assert_array_equal(again.solve({HAND: pose}).cfg, solver.solve({HAND: pose}).cfg)


# Names ----------------------------------------------------------------------------------------


def test_names_that_do_not_exist():
    model, pose = model_of("panda"), rest_pose("panda", HAND)
    with pytest.raises(UnknownLinkError, match="panda_hand"):
        er.IkSolver(model, "panda_hnd")
    with pytest.raises(UnknownLinkError):
        solver_of("panda").solve({"nothing": pose})
    with pytest.raises(UnknownJointError, match="panda_joint"):
        solver_of("panda").solve({HAND: pose}, locked=["panda_joint9"])
    with pytest.raises(UnknownJointError):
        er.IkSolver(model, joints=["panda_joint9"])
    with pytest.raises(UnknownJointError):
        er.IkSolver(model, held={"panda_joint9": 0.0})
    with pytest.raises(InputError, match="follows"):
        solver_of("panda").solve({HAND: pose}, locked=["panda_finger_joint2"])
    with pytest.raises(InputError, match="among the joints solved for"):
        er.IkSolver(model, joints=["panda_joint1"], held={"panda_joint1": 0.0})
    with pytest.raises(InputError, match="made for"):
        er.IkSolver(model, HAND).solve({"panda_link4": pose})


def test_options_are_kept_by_the_answer():
    pose = rest_pose("panda", HAND) + np.array([0, 0, 0, 0, 0.02, 0.03, 0.01])
    fine = replace(er.IkOptions(), position_tolerance=1e-8, orientation_tolerance=1e-8)
    result = er.IkSolver(model_of("panda"), options=fine).solve({HAND: pose})
    assert result.success
    assert max(result.position_error.max(), result.orientation_error.max()) <= 1e-8
