"""IkSolver before an independent judge: Pinocchio and Coal decide what is a success, on targets that have an answer."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.ik import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget
from tests.ik_oracles import Drawn, IkJudge, as_matrix, draw_targets, joints_of, obstacles_around

HANDS = {
    "panda": ("panda_hand",),
    "teaarm": ("frame_left_arm_ee", "frame_right_arm_ee"),
    "baxter": ("left_gripper", "right_gripper"),
    "pr2": ("l_gripper_palm_link", "r_gripper_palm_link"),  # continuous, sliding and coupled joints
    "talos_arm": ("gripper_left_motor_double_link",),
}


@pytest.fixture(scope="module")
def judged(model) -> Callable[[str], tuple[er.CollisionModel, IkJudge]]:
    @cache
    def make(name: str) -> tuple[er.CollisionModel, IkJudge]:
        robot, spheres = model(name)
        whole = er.CollisionModel(robot, spheres, threads=1)
        return whole, IkJudge(robot, whole.pairs.checked)

    return make


def misses(solver: er.IkSolver, judge: IkJudge, drawn: Drawn) -> list[tuple[list[str], str]]:
    """What the judge finds wrong, and what the solver says, where either does not call an answer a success."""
    assert len(drawn)
    found = [(solver.solve(targets), targets) for targets in drawn]
    judged = [(judge.faults(answer.cfg, targets), answer) for answer, targets in found]
    return [(faults, answer.why) for faults, answer in judged if faults or not answer.success or answer.why]


@pytest.mark.parametrize("name", HANDS)
def test_every_target_that_has_an_answer_gets_one(judged, name):
    model, judge = judged(name)
    drawn = draw_targets(judge, HANDS[name], 40)
    assert misses(er.IkSolver(model, HANDS[name]), judge, drawn) == []


@pytest.mark.parametrize("name", ["panda", "teaarm"])
def test_where_spheres_overlap_and_meshes_are_free(judged, name):
    model, judge = judged(name)
    drawn = draw_targets(judge, HANDS[name], 25, keep=lambda cfgs: ~model.free(cfgs, by="spheres"))
    assert misses(er.IkSolver(model, HANDS[name]), judge, drawn) == []


@pytest.mark.parametrize("name", ["panda", "baxter"])
def test_among_obstacles(judged, name):
    model, judge = judged(name)
    world = obstacles_around(judge, HANDS[name], seed=1)
    among = judge.among(world)
    solver = er.IkSolver(model.with_world(world), HANDS[name])
    assert misses(solver, among, draw_targets(among, HANDS[name], 25)) == []
    bare, hit = er.IkSolver(model, HANDS[name]), 0
    for targets in draw_targets(among, HANDS[name], 25):
        hit += any("thing" in fault for fault in among.faults(bare.solve(targets).cfg, targets))
    assert hit  # the obstacles are in the way of who does not know of them


def test_poses_that_only_collide_are_never_a_success(judged):
    """Poses of configurations that collide: some have a free answer elsewhere, none may be claimed without."""
    model, judge = judged("panda")
    robot = model.robot
    rng = np.random.default_rng(8)
    cfgs = rng.uniform(robot.lower, robot.upper, (1500, robot.dof))
    cfgs = cfgs[~judge.free(cfgs)][:30]
    solver, refused = er.IkSolver(model, "panda_hand"), 0
    for T in judge.link_poses(cfgs, ["panda_hand"])[:, 0]:
        found = solver.solve({"panda_hand": T})
        assert found.success == (judge.faults(found.cfg, {"panda_hand": T}) == [])
        refused += not found.success
    assert refused  # otherwise this shows nothing


@pytest.mark.parametrize("name", ["panda", "baxter"])
def test_joints_that_are_locked_or_not_solved_for_stay(judged, name):
    model, judge = judged(name)
    robot, links = model.robot, HANDS[name]
    solver, rng = er.IkSolver(model, links), np.random.default_rng(0)
    moving = joints_of(judge, links)
    for targets, cfg in zip(draw_targets(judge, links, 15), draw_targets(judge, links, 15).cfgs, strict=True):
        seed = cfg.copy()
        rest = ~np.isin(robot.joint_names, moving)
        seed[rest] = rng.uniform(robot.lower, robot.upper)[rest]
        locked = [str(joint) for joint in rng.choice(moving, 2, replace=False)]
        stay = {joint: seed[k] for k, joint in enumerate(robot.joint_names) if joint in locked or rest[k]}
        found = solver.solve(targets, seed_cfg=seed, locked=locked)
        assert not [fault for fault in judge.faults(found.cfg, targets, stay) if "moved" in fault]
        assert found.success == (judge.faults(found.cfg, targets, stay) == [])
        if judge.free(seed[None])[0]:
            np.testing.assert_array_equal(found.cfg, seed)  # the seed meets the targets: none is nearer


def test_parts_of_poses_in_one_solver(judged):
    model, judge = judged("panda")
    solver = er.IkSolver(model)
    drawn = draw_targets(judge, ["panda_hand", "panda_link5"], 12)
    for cfg, targets in zip(drawn.cfgs, drawn, strict=True):
        hand, elbow = (as_matrix(pose) for pose in targets.values())
        asked = [
            [PositionTarget("panda_hand", hand[:3, 3])],
            [PositionTarget("panda_hand", hand[:3, 3]), AxisTarget("panda_hand", hand[:3, 2])],
            [LookAt("panda_hand", hand[:3, 3] + 0.7 * hand[:3, 2])],
            [PoseTarget("panda_hand", hand), JointTarget("panda_joint1", float(cfg[0]))],
            [PositionTarget("panda_link5", elbow[:3, :3] @ [0, 0, 0.1] + elbow[:3, 3], point=(0, 0, 0.1))],
        ]
        for question in asked:
            found = solver.solve(question)
            assert judge.faults(found.cfg, question) == []
            assert found.success


def test_secondary_aims_lose_no_success(judged):
    """The pull to rest once ended 0.65 um from contact, where Coal calls it one."""
    model, judge = judged("teaarm")
    options = er.IkOptions(rest_weight=1.0)
    assert (
        misses(er.IkSolver(model, HANDS["teaarm"], options), judge, draw_targets(judge, HANDS["teaarm"], 12))
        == []
    )


@pytest.mark.parametrize("name", ["panda", "baxter"])
def test_the_same_answer_however_it_is_asked(judged, name):
    model, judge = judged(name)
    links = HANDS[name]
    drawn = draw_targets(judge, links, 70)
    solver = er.IkSolver(model, links)
    one_by_one = [solver.solve(targets).cfg for targets in drawn]
    fresh, sent = er.IkSolver(model, links), pickle.loads(pickle.dumps(solver))
    others = {
        "in another order": [fresh.solve(targets).cfg for targets in list(drawn)[::-1]][::-1],
        "pickled": [sent.solve(targets).cfg for targets in drawn],
        "in a batch": [found.cfg for found in solver.solve_batch(list(drawn), workers=2)],
        "stacked": [
            found.cfg
            for found in solver.solve_batch(dict(zip(links, np.moveaxis(drawn.poses, 1, 0), strict=True)))
        ],
    }
    for how, cfgs in others.items():
        np.testing.assert_array_equal(cfgs, one_by_one, err_msg=how)
