"""Goals: configurations, several of them, and poses of links; what will not do is left out and said."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.ik import PositionTarget
from elbowroom.plan import PlanOptions, plan_motion
from elbowroom.world import Box, World
from tests.ik.models import HAND, model_of
from tests.plan.cart import LEFT, PLANE, RIGHT, wall

QUICK = PlanOptions(timeout=60.0)
INSIDE = np.array([0.0, 0.0, 0.0])
"""In the wall."""


def test_goals_that_will_not_do_are_left_out():
    beyond = np.array([1.5, 0.0, 0.0])
    result = plan_motion(wall(), LEFT, [INSIDE, beyond, RIGHT], PLANE, QUICK)
    assert result.success
    assert result.goal_idx == 2
    assert (result.path[-1] == RIGHT).all()
    said = " ".join(result.notes)
    assert "goal 0 is not free: below and cart" in said.replace("cart and below", "below and cart")
    assert "goal 1 is beyond limits: x is at 1.5" in said


def test_the_goal_that_is_reached_first_wins():
    near = np.array([-0.5, 0.3, 0.0])
    result = plan_motion(wall(), LEFT, np.stack([RIGHT, near]), PLANE, QUICK)
    assert result.success
    assert result.goal_idx == 1
    assert result.method == "straight line"


def test_no_goal_will_do():
    result = plan_motion(wall(), LEFT, [INSIDE, INSIDE + np.array([0, 0.1, 0])], PLANE)
    assert result.reason == "goal"
    assert result.why.startswith("none of 2 goals will do; the first: goal 0 is not free")
    assert result.clashes[0].pair == ("cart", "below")
    assert wall().free(result.nearest_free)


@pytest.mark.parametrize("goal", [RIGHT[:2], np.zeros((0, 3)), [np.inf, 0, 0], "there", None, 3])
def test_what_is_no_goal_is_refused(goal):
    with pytest.raises(InputError, match="goal: "):
        plan_motion(wall(), LEFT, goal, PLANE)


def test_held_joints_of_a_goal_must_be_those_of_the_start():
    with pytest.raises(InputError, match="joint 'z' is held at 0 but the goal has 0.02.*`joints`"):
        plan_motion(wall(), LEFT, RIGHT + np.array([0, 0, 0.02]), PLANE)
    near = plan_motion(wall(), LEFT, RIGHT + np.array([0, 0, 1e-08]), PLANE, QUICK)  # the rounding of a file
    assert near.success
    assert (near.path[:, 2] == 0.0).all()
    assert plan_motion(
        wall(), LEFT, RIGHT + np.array([0, 0, 0.02]), options=QUICK
    ).success  # all joints may move


# Poses ------------------------------------------------------------------------------------------


def shelf(model: er.CollisionModel) -> er.CollisionModel:
    """The panda beside a wall with the hand's way around it."""
    board = Box((0.5, 0.02, 0.6), pose=[1, 0, 0, 0, 0.5, 0.0, 0.4], name="board")
    return model.with_world(World([board]))


@pytest.fixture(scope="module")
def hand():
    """The panda beside a board, a start on its left, and a pose of the hand on its right."""
    model = shelf(model_of("panda"))
    start = np.array([0.7, 0.3, 0.0, -1.9, 0.0, 2.2, 0.785, 0.02])
    end = start * [-1, 1, 1, 1, 1, 1, 1, 1]
    assert model.free(np.stack([start, end])).all()
    return model, start, np.array(model.robot.link_poses(end)[model.robot.link_index(HAND)])


ARM = tuple(f"panda_joint{k}" for k in range(1, 8))


def test_a_pose_is_reached_by_one_of_several_configurations(hand):
    model, start, pose = hand
    result = plan_motion(model, start, {HAND: pose}, ARM, PlanOptions(timeout=120.0))
    assert result.success
    assert result.proof.free
    assert result.goal_idx is not None
    end = model.robot.link_poses(result.path[-1])[model.robot.link_index(HAND)]
    assert np.abs(end[4:] - pose[4:]).max() < 1e-4
    assert abs(abs(end[:4] @ pose[:4]) - 1.0) < 1e-6
    assert (result.path[:, 7] == 0.02).all()
    place = plan_motion(
        model, start, PositionTarget(HAND, pose[4:]), ARM, PlanOptions(timeout=120.0, goals=1)
    )
    assert place.success
    assert place.goal_idx == 0


def test_solutions_are_answers_and_differ(hand):
    model, start, pose = hand
    solver = er.IkSolver(model, HAND, joints=ARM)
    found = solver.solutions({HAND: pose}, seed_cfg=start, count=6)
    assert len(found) == 6
    assert model.free(found).all()
    assert (found[:, 7] == 0.02).all()
    ends = model.robot.link_poses(found)[:, model.robot.link_index(HAND)]
    assert np.abs(ends[:, 4:] - pose[4:]).max() < 1e-4
    assert np.abs(np.abs(ends[:, :4] @ pose[:4]) - 1.0).max() < 1e-6
    assert ((found >= model.robot.lower) & (found <= model.robot.upper)).all()
    apart = np.abs(found[:, None] - found[None]).max(axis=2) + np.eye(len(found))
    assert apart.min() >= 0.2
    far = pose + np.array([0, 0, 0, 0, 5, 0, 0])
    assert solver.solutions({HAND: far}).shape == (0, 8)


def test_a_pose_out_of_reach_says_so(hand):
    model, start, pose = hand
    result = plan_motion(model, start, {HAND: pose + np.array([0, 0, 0, 0, 3, 0, 0])}, ARM)
    assert result.reason == "unreachable"
    assert "out of reach" in result.why
    assert result.path is None


def test_a_pose_inside_an_obstacle_is_a_blocked_goal(hand):
    model, start, pose = hand
    inside = np.array(pose)
    inside[4:] = [0.45, 0.0, 0.4]
    result = plan_motion(model, start, {HAND: inside}, ARM)
    assert result.reason == "goal"
    assert "board" in result.why


def test_an_unknown_link_is_refused(hand):
    with pytest.raises(UnknownLinkError, match="panda_hand"):
        plan_motion(hand[0], hand[1], {"panda_handd": hand[2]}, ARM)
