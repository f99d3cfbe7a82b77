"""Why there is no motion: who touches, how deep, what would be free, and who stops the search."""

from __future__ import annotations

import re

import numpy as np
import pytest

import elbowroom as er
from elbowroom.plan import PlanOptions, Stomp, plan_motion, prove_path
from elbowroom.world import HalfSpace, World
from tests.plan.cart import HALF, LEFT, PLANE, RIGHT, block, cart, clear, rooted, wall

DEEP = np.array([-0.08, 0.0, 0.0])
"""The cart 2 cm inside the wall, whose face is at x = -0.05."""


@pytest.mark.parametrize(("what", "ends"), [("start", (DEEP, RIGHT)), ("goal", (LEFT, DEEP))])
def test_a_blocked_end_names_who_and_how_deep(what, ends):
    model = wall()
    result = plan_motion(model, *ends, PLANE)
    assert not result.success
    assert result.path is None
    assert result.proof is None
    assert result.reason == what
    assert result.clashes[0].pair == ("cart", "below")
    assert abs(result.clashes[0].depth - 0.02) < 1e-6
    assert f"the {what} is not free: cart and below overlap by 20.0 mm" in result.why
    assert "allow=[('cart', 'below')]" in result.why


def test_the_nearest_free_configuration_is_near():
    model = wall()
    found = plan_motion(model, DEEP, RIGHT, PLANE).nearest_free
    assert clear(model.world, found[None])[0] > 0.0
    assert 0.02 <= np.abs(found - DEEP).max() < 0.03  # two centimetres would do
    assert found[2] == DEEP[2]
    assert plan_motion(model, found, LEFT, PLANE).success


def test_where_no_joint_helps_it_says_what_was_looked_at():
    """The joint that moves lifts the cart along the wall: it changes the place, and no sample of it is free."""
    model = cart().with_world(wall().world)
    stuck = plan_motion(model, np.array([0.0, -0.9, 0.0]), np.array([0.0, -0.9, 0.02]), ("z",))
    assert stuck.reason == "start"
    assert stuck.nearest_free is None
    assert "no free configuration was found in 1280 samples with joints up to 1 rad (m) away" in stuck.why
    assert "whatever" not in stuck.why


def test_that_no_joint_changes_a_pair_is_said_only_where_none_is_between():
    """A post that no joint moves is in the wall: here, and nowhere else, it is a fact about all configurations."""
    model = rooted(World([block("wall", (-1.0, 1.0), (-1.0, 1.0))]))
    held = plan_motion(model, np.array([0.0]), np.array([0.2]))
    assert held.reason == "start"
    assert "no joint that moves changes the distance of post and wall" in held.why
    rows = model.robot.random_cfgs(200, seed=0)
    assert not model.free(rows).any()
    assert all(("post", "wall") in {clash.pair for clash in model.clashes(row)} for row in rows[:20])


def test_a_goal_deep_in_the_floor_is_not_said_to_touch_whatever_the_joints_do(load):
    """The start is free of that floor, so the joints that move do free the arm: and the answer leads to where."""
    robot = load("ur10")
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    model = er.CollisionModel(robot, spheres).with_world(World([HalfSpace((0, 0, 1), -0.15, name="floor")]))
    start, goal = np.array([0.0, -1.2, 1.0, 0.0, 0.0, 0.0]), np.array([0.0, 1.5, 0.0, 0.0, 0.0, 0.0])
    assert model.free(start)
    result = plan_motion(model, start, goal)
    assert result.reason == "goal"
    assert "whatever" not in result.why
    assert "no joint that moves" not in result.why
    assert "floor overlap by" in result.why
    # Brute force: of many configurations some are free, so that a claim about all of them would be false.
    assert model.free(robot.random_cfgs(300, seed=1)).any()
    assert result.nearest_free is not None
    assert model.free(result.nearest_free)
    assert "the nearest free configuration found" in result.why


def test_what_is_offered_keeps_what_was_allowed():
    """Following the advice must not forbid again what was allowed before."""
    model = wall().with_world(wall().world, allow=[("cart", "above")])
    result = plan_motion(model, DEEP, RIGHT, PLANE)
    assert "allow=[('cart', 'above'), ('cart', 'below')]" in result.why


def test_a_buffer_is_said_of_each_pair_that_it_refuses():
    """Two boxes: one is overlapped, the other only closer than the buffer."""
    world = World([block("in", (0.0, 0.2), (-0.2, 0.2)), block("near", (-0.3, -0.1), (-0.2, 0.2))])
    model = er.CollisionModel(cart().robot, cart().spheres, world=world, buffer=0.06)
    why = plan_motion(model, np.array([-0.02, 0.0, 0.0]), RIGHT, PLANE).why
    assert "cart and in overlap by 30.0 mm;" in why
    assert "cart and near are apart by 30.0 mm, closer than the buffer of 60 mm" in why


def test_limits_name_joint_value_and_range():
    result = plan_motion(wall(), LEFT, [0.6, -1.25, 0.0], PLANE)
    assert result.reason == "limits"
    assert "the goal is beyond limits: y is at -1.25, outside its limits [-1, 1]" in result.why
    assert plan_motion(wall(), [1.1, 0.0, 0.0], LEFT, PLANE).reason == "limits"
    assert plan_motion(wall(), [-1.0 - 1e-8, 0.0, 0.0], LEFT, PLANE).success  # the rounding of a file


def test_a_value_just_beyond_a_limit_is_printed_with_digits_enough():
    result = plan_motion(wall(), LEFT, [1.00002, 0.0, 0.0], PLANE)
    assert "x is at 1.00002, outside its limits [-1, 1]" in result.why
    assert "leave the joint out" not in result.why  # a goal of a joint that is held is no goal
    assert "leave the joint out" in plan_motion(wall(), [1.1, 0.0, 0.0], LEFT, PLANE).why


def test_who_stops_the_search_is_named():
    result = plan_motion(wall(0.0), LEFT, RIGHT, PLANE, PlanOptions(timeout=600.0, max_nodes=400))
    assert result.reason == "blocked"
    assert result.nodes >= 400
    assert result.clashes == (("cart", "wall"),)
    assert f"{result.nodes} configurations in the trees (max_nodes)" in result.why
    assert "refused by cart against wall (100 %)" in result.why


def test_trees_that_stayed_small_are_not_said_to_be_full():
    """In a box hardly larger than the cart almost all extensions are refused: iterations end it, not nodes."""
    room = 0.0501
    sides = [
        block("w", (-0.2, -room), (-0.2, 0.2)), block("e", (room, 0.2), (-0.2, 0.2)),
        block("s", (-0.2, 0.2), (-0.2, -room)), block("n", (-0.2, 0.2), (room, 0.2)),
    ]  # fmt: skip
    model = cart().with_world(World(sides))
    result = plan_motion(model, np.zeros(3), RIGHT, PLANE, PlanOptions(timeout=600.0, max_nodes=300))
    assert result.reason == "blocked"
    stated = int(re.search(r"(\d+) configurations in the trees", result.why)[1])
    assert stated == result.nodes
    assert int(re.search(r"after (\d+) iterations", result.why)[1]) >= 1


def test_goals_are_counted_among_those_that_were_given():
    """One of three is blocked and left out; the last is reached: it is goal 2 of 3, not of the two that are left."""
    result = plan_motion(wall(), LEFT, [DEEP, DEEP, [-0.5, 0.0, 0.0]], PLANE)
    assert result.goal_idx == 2
    assert "reached goal 2 (from 0) of 3" in result.why
    assert "of" not in plan_motion(wall(), LEFT, [-0.5, 0.0, 0.0], PLANE).why.split(",")[0]


def test_a_seed_that_was_not_proved_is_said_to_be_used_where_it_is():
    through = np.stack([LEFT, RIGHT])
    sampled = plan_motion(wall(), LEFT, RIGHT, PLANE, PlanOptions(timeout=60.0), seed_path=through)
    assert "the seed path was not proved free all the way: it was not used" in sampled.notes
    model = cart().with_world(World([block("post", (-0.1, 0.1), (-0.3, 0.15))]))
    by_stomp = PlanOptions(timeout=60.0, method="stomp")
    told = plan_motion(model, LEFT, RIGHT, PLANE, by_stomp, seed_path=through)
    assert told.success
    assert "the seed path was not proved free all the way: STOMP began with it" in told.notes


def test_a_search_that_did_not_begin_does_not_judge_its_path():
    """The straight line is free; without time nothing is known of it, and nothing is said."""
    late = Stomp(cart(), LEFT, RIGHT, PLANE).run(timeout=0.0)
    assert late.reason == "timeout"
    assert "no path was looked at" in late.why
    assert "collides" not in late.why
    thick = cart().with_world(World([block("wall", (-0.5, 0.5), (-2.0, 2.0))]))  # no timestep jumps over it
    closed = Stomp(thick, LEFT, RIGHT, PLANE).run(timeout=0.2)
    assert "not free at its timesteps, as the costs judge it" in closed.why


# Proofs -----------------------------------------------------------------------------------------


def test_a_lower_bound_is_rounded_down():
    """0.99999 mm are not 1.00 mm."""
    world = World([block("wall", (0.05099999, 1.0), (-1.0, 1.0))])
    model = er.CollisionModel(cart().robot, cart().spheres, world=world)
    proof = prove_path(model, [[0.0, 0.0, 0.0], [0.0, 0.1, 0.0]])
    assert proof.free
    said = float(re.search(r"at least ([\d.]+) mm", proof.why)[1])
    assert said <= 1e3 * proof.margin <= 0.99999 + 1e-9
    segment = model.segment_free([0.0, 0.0, 0.0], [0.0, 0.1, 0.0])
    assert float(re.search(r"at least ([\d.]+) mm", segment.why)[1]) <= 0.99999
    row = er.audit(model, [[0.0, 0.0, 0.0], [0.0, 0.1, 0.0]])
    assert float(re.search(r"at least ([\d.]+) mm", row.segment_text(0))[1]) <= 0.99999


def test_where_nothing_is_checked_no_clearance_is_claimed():
    assert prove_path(cart(), [LEFT, RIGHT]).why == "free: nothing is checked on the whole path"
    assert "inf" not in cart().segment_free(LEFT, RIGHT).why


def test_slack_of_one_joint_is_not_claimed_of_all():
    uneven = prove_path(wall(), [LEFT, [-0.6, 0.1, 0.0]], slack=[0.01, 0.0, 0.0])
    assert uneven.why.endswith("joints up to 0.01 off it, each within its own slack")
    assert prove_path(wall(), [LEFT, [-0.6, 0.1, 0.0]], slack=0.01).why.endswith("joints up to 0.01 off it")


def test_a_path_of_one_configuration_has_no_way_between_waypoints():
    proof = prove_path(wall(), [DEEP])
    assert not proof.free
    assert proof.why == "blocked: cart and below overlap by 20.0 mm where the path stands"
    into = prove_path(wall(), [LEFT, DEEP])
    assert "(between waypoints 0 and 1)" in into.why


def test_a_path_within_the_buffer_is_not_said_to_touch():
    world = World([block("wall", (0.0, 1.0), (-1.0, 1.0))])
    model = er.CollisionModel(cart().robot, cart().spheres, world=world, buffer=0.03)
    rows = [[-0.5, 0.0, 0.0], [-0.07, 0.0, 0.0], [-0.5, 0.1, 0.0]]  # 20 mm from the wall at the nearest
    proof = prove_path(model, rows)
    assert "closer than the buffer of 30 mm" in proof.why
    assert "overlap" not in proof.why
    segment = model.segment_free(rows[0], rows[1])
    assert "touch or come closer than the buffer of 30 mm" in segment.why
    audited = er.audit(model, [*rows, [-0.5, 0.1, 0.0]])
    assert "in contact or closer than 30 mm" in str(audited)
    assert "first row that is not free: row 2: cart and wall are apart by 20.0 mm" in str(audited)
    assert clear(world, np.array(rows)).min() > 0.0  # by arithmetic nothing touches


def test_a_gap_too_narrow_by_a_hair_is_closed():
    narrow = wall(2 * HALF - 2e-4)
    result = plan_motion(narrow, LEFT, RIGHT, PLANE, PlanOptions(timeout=600.0, max_nodes=1000))
    assert result.reason == "blocked"
    assert {pair[0] for pair in result.clashes} == {"cart"}
