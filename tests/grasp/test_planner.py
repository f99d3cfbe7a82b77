"""The planner's surface: errors that name the range, world poses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from elbowroom.errors import ElbowroomError, InputError, UnknownNameError
from elbowroom.grasp import GraspPlanner, GraspRangeError, Hand, Opposition, UnknownFingerError

Planners = Callable[..., GraspPlanner]


def test_smooth_is_the_default(hand: Hand) -> None:
    assert GraspPlanner(hand).method == "smooth"


@pytest.mark.parametrize("method", ["smooth", "proportional"])
@pytest.mark.parametrize("width", [-1.0, 0.0, 0.004, 0.2, np.inf, np.nan, None, "wide"])
def test_widths_out_of_range_name_the_range(planners: Planners, method: str, width: object) -> None:
    planner = planners(method)
    for plan, mode in ((planner.line, "line"), (planner.plane, "plane"), (planner.cylinder, "cylinder")):
        low, high = planner.range(mode)
        with pytest.raises(GraspRangeError) as caught:
            plan(width)  # type: ignore[arg-type]
        assert f"{1e3 * low:.2f} to {1e3 * high:.2f} mm" in str(caught.value)
        assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("method", ["smooth", "proportional"])
def test_the_ends_of_the_range_can_be_planned(planners: Planners, method: str) -> None:
    planner = planners(method)
    for mode in ("line", "plane", "cylinder"):
        for width in planner.range(mode):
            assert planner.grasp(mode, width).width == pytest.approx(width)


def test_unknown_names_are_refused(smooth: GraspPlanner, hand: Hand) -> None:
    with pytest.raises(UnknownFingerError, match="index"):
        smooth.line(0.03, finger="indx")
    with pytest.raises(UnknownFingerError, match="does not oppose"):
        smooth.line(0.03, finger="thumb")
    for fingers in (2, 6, "four", True):
        with pytest.raises(UnknownFingerError, match="3, 4, 5"):
            smooth.plane(0.03, fingers=fingers)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="smooth, proportional"):
        GraspPlanner(hand, "quick")
    with pytest.raises(UnknownNameError, match="line"):
        smooth.range("sphere")


def test_wrong_hands_are_refused(allegro: Hand) -> None:
    with pytest.raises(InputError, match="load_hand"):
        GraspPlanner("rh56")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="smooth"):
        GraspPlanner(allegro, "proportional")
    with pytest.raises(ElbowroomError, match="cylinder"):
        GraspPlanner(replace(allegro, oppositions={"two": Opposition(("index",))})).cylinder(0.05)


def test_world_pose_follows_the_frame_rule(planners: Planners) -> None:
    for method in ("smooth", "proportional"):
        grasp = planners(method).plane(0.06)
        T, tips = grasp.to_world(height=0.25)
        s, c = np.sin(grasp.tilt_y), np.cos(grasp.tilt_y)
        Ry = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        Rx = np.diag([1.0, -1.0, -1.0])
        np.testing.assert_allclose(T[:3, :3], Ry @ Rx, atol=1e-15)
        middle = T[:3, :3] @ grasp.midpoint
        np.testing.assert_allclose(T[:3, 3], [-middle[0], -middle[1], 0.25 - middle[2]], atol=1e-15)
        for name, tip in grasp.tips.items():
            np.testing.assert_allclose(tips[name], T[:3, :3] @ tip + T[:3, 3], atol=1e-15)
        assert list(tips) == ["thumb", *grasp.fingers]


def test_smooth_tips_meet_the_sides_of_the_object(smooth: GraspPlanner) -> None:
    for width in (0.006, 0.03, 0.1):
        tips = smooth.line(width).to_world(0.1).tips_world
        np.testing.assert_allclose(tips["thumb"], [width / 2, 0.0, 0.1], atol=1e-9)
        np.testing.assert_allclose(tips["index"], [-width / 2, 0.0, 0.1], atol=1e-9)


def test_results_are_read_only(smooth: GraspPlanner) -> None:
    grasp = smooth.line(0.03)
    for array in (grasp.ctrl, grasp.midpoint, grasp.tips["thumb"], grasp.to_world().T_world_base):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(InputError, match="height"):
        grasp.to_world(np.nan)


def test_unused_fingers_can_be_curled(hand: Hand) -> None:
    grasp = GraspPlanner(hand, unused=1.2).line(0.01)
    assert grasp.actuators["middle"] == grasp.actuators["pinky"] == 1.2
    np.testing.assert_array_equal(grasp.ctrl[3:], GraspPlanner(hand).line(0.01).ctrl[3:])


@pytest.mark.parametrize(
    ("method", "mode", "width", "answer"),
    [
        ("smooth", "line", 0.118, "method='proportional' (--method proportional) can: 8.67 to 122.08 mm"),
        ("smooth", "plane", 0.125, "method='proportional' (--method proportional) can: 15.65 to 130.09 mm"),
        ("proportional", "line", 0.006, "method='smooth' (--method smooth) can: 5.00 to 110.61 mm"),
        ("proportional", "plane", 0.010, "method='smooth' (--method smooth) can: 5.00 to 113.49 mm"),
        ("proportional", "cylinder", 0.104, "method='smooth' (--method smooth) can: 15.00 to 105.00 mm"),
    ],
)
def test_a_width_that_only_the_other_method_can_do_is_answered_with_that(
    planners: Callable[..., GraspPlanner], method: str, mode: str, width: float, answer: str
) -> None:
    planner = planners(method)
    with pytest.raises(GraspRangeError, match="is out of range; it can do ") as caught:
        planner.grasp(mode, width)
    assert str(caught.value).endswith(answer)
    other = planners("smooth" if method == "proportional" else "proportional")
    assert other.grasp(mode, width).width == pytest.approx(width)


def test_a_width_that_neither_method_can_do_names_one_range(
    planners: Callable[..., GraspPlanner], allegro: Hand
) -> None:
    for planner in (planners("smooth"), planners("proportional"), GraspPlanner(allegro)):
        with pytest.raises(GraspRangeError, match=r"it can do [\d.]+ to [\d.]+ mm$"):
            planner.line(0.3)
