"""Why there is no motion: who touches, how deep, what would be free, and who stops the search."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.plan import PlanOptions, plan_motion
from tests.plan.cart import HALF, LEFT, PLANE, RIGHT, cart, clear, wall

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


def test_where_no_joint_helps_nothing_is_suggested():
    model = cart().with_world(wall().world)
    stuck = plan_motion(model, np.array([0.0, -0.9, 0.0]), np.array([0.0, -0.9, 0.02]), ("z",))
    assert stuck.reason == "start"
    assert stuck.nearest_free is None
    assert "whatever the joints that move do" in stuck.why


def test_limits_name_joint_value_and_range():
    result = plan_motion(wall(), LEFT, [0.6, -1.25, 0.0], PLANE)
    assert result.reason == "limits"
    assert "the goal is beyond limits: y is at -1.25, outside [-1, 1]" in result.why
    assert plan_motion(wall(), [1.1, 0.0, 0.0], LEFT, PLANE).reason == "limits"
    assert plan_motion(wall(), [-1.0 - 1e-8, 0.0, 0.0], LEFT, PLANE).success  # the rounding of a file


def test_who_stops_the_search_is_named():
    result = plan_motion(wall(0.0), LEFT, RIGHT, PLANE, PlanOptions(timeout=600.0, max_nodes=400))
    assert result.reason == "blocked"
    assert result.nodes >= 400
    assert result.clashes == (("cart", "wall"),)
    assert "no path with 400 configurations (max_nodes)" in result.why
    assert "cart against wall (100 %)" in result.why


def test_a_gap_too_narrow_by_a_hair_is_closed():
    narrow = wall(2 * HALF - 2e-4)
    result = plan_motion(narrow, LEFT, RIGHT, PLANE, PlanOptions(timeout=600.0, max_nodes=1000))
    assert result.reason == "blocked"
    assert {pair[0] for pair in result.clashes} == {"cart"}
