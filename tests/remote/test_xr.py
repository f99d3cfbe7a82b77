"""Targets from a headset: teleop_xr's messages, frames, clutching by button, lost tracking, pauses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom._poses import as_matrix
from elbowroom.errors import InputError
from elbowroom.remote._xr import XrFollower, XrOptions, facing, xr_state

LINKS = {
    "left_ee": np.array([1.0, 0, 0, 0, 0.3, 0.2, 1.0]),
    "right_ee": np.array([0.0, 1, 0, 0, 0.3, -0.2, 1.0]),
}
OPTIONS = XrOptions(left="left_ee", right="right_ee")


def pose(position, xyzw=(0.0, 0.0, 0.0, 1.0)):
    return {
        "position": dict(zip("xyz", position, strict=True)),
        "orientation": dict(zip("xyzw", xyzw, strict=True)),
    }


def controller(hand, position=(0.0, 1.2, -0.3), xyzw=(0.0, 0.0, 0.0, 1.0), squeeze=False, trigger=False):
    buttons = [{"pressed": on, "touched": on, "value": float(on)} for on in (trigger, squeeze)]
    return {
        "role": "controller",
        "handedness": hand,
        "gripPose": pose(position, xyzw),
        "gamepad": {"buttons": [*buttons, *buttons], "axes": [0.0, 0.0, 0.1, -0.1]},
    }


HEAD = {"role": "head", "handedness": "none", "pose": pose((0.0, 1.6, 0.0))}


def state(*devices, ms=0.0):
    """As the page of teleop_xr sends it, with what it sends beside."""
    return xr_state(
        {
            "timestamp_unix_ms": 1.7e12 + ms,
            "devices": list(devices),
            "fps": 72,
            "fetch_latency_ms": 0.1,
            "teleop_settings": {"speed": 1.0, "turnSpeed": 1.0, "precisionMode": False},
        }
    )


def test_what_the_page_sends_is_read():
    found = state(HEAD, controller("left", (0.1, 1.0, -0.5), squeeze=True), controller("right"))
    assert set(found.devices) == {"head", "left", "right"}
    assert found.stamp == pytest.approx(1.7e9)
    left = found.devices["left"]
    np.testing.assert_allclose(left.T_xr_device[:3, 3], [0.1, 1.0, -0.5])
    assert left.presses("squeeze")
    assert not left.presses("trigger")
    assert left.presses("none")


def test_grip_comes_before_ray_and_tracked_hands_have_wrists():
    both = {**controller("left", (0.0, 1.0, 0.0)), "pose": pose((9.0, 9.0, 9.0))}
    hand = {"role": "hand", "handedness": "right", "joints": {"wrist": pose((0.5, 1.0, 0.0))}}
    found = state(both, hand)
    np.testing.assert_allclose(found.devices["left"].T_xr_device[:3, 3], [0.0, 1.0, 0.0])
    np.testing.assert_allclose(found.devices["right"].T_xr_device[:3, 3], [0.5, 1.0, 0.0])
    assert not found.devices["right"].presses("squeeze")
    plain = {"role": "controller", "handedness": "left", "pose": pose((1, 2, 3)), "buttons": [{"value": 0.9}]}
    assert state(plain).devices["left"].presses("trigger")
    assert "left" not in state({**plain, "pose": None}).devices  # not tracked just now


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"devices": 3}, "devices: expected a list"),
        ({"devices": ["left"]}, "device: expected an object"),
        ({"timestamp_unix_ms": None}, "timestamp_unix_ms: expected a finite number"),
        ({"devices": [controller("left", xyzw=(0, 0, 0, 0))]}, "quaternion has length zero"),
        (
            {"devices": [controller("left", position=("a", 0, 0))]},
            "pose of left: x: expected a finite number",
        ),
        ({"devices": [{**HEAD, "pose": {"position": {}}}]}, "orientation: expected an object"),
        ({"devices": [{**controller("left"), "gamepad": {"buttons": 1}}]}, "buttons of left"),
    ],
)
def test_what_makes_no_sense_is_said(change, says):
    with pytest.raises(InputError, match=says):
        xr_state({"timestamp_unix_ms": 0.0, "devices": [], **change})


def test_motion_of_the_hand_is_motion_of_the_link_in_the_robots_frame():
    follower = XrFollower(OPTIONS)
    here = (0.1, 1.2, -0.3)
    first = follower.step(state(controller("left", here, squeeze=True)), LINKS, 0.0)
    np.testing.assert_allclose(first["left_ee"], LINKS["left_ee"])  # nothing jumps when the clutch is pressed
    for moved, expected in (
        ((0.0, 0.0, -0.1), (0.1, 0.0, 0.0)),  # forward
        ((-0.1, 0.0, 0.0), (0.0, 0.1, 0.0)),  # to the left
        ((0.0, 0.1, 0.0), (0.0, 0.0, 0.1)),  # up
    ):
        now = state(controller("left", np.add(here, moved), squeeze=True), ms=10)
        found = follower.step(now, LINKS, 0.01)
        np.testing.assert_allclose(found["left_ee"][4:] - LINKS["left_ee"][4:], expected, atol=1e-12)
        assert set(found) == {"left_ee"}  # the other is not followed


def test_turns_of_the_hand_are_turns_of_the_link_about_the_worlds_axes():
    follower = XrFollower(OPTIONS)
    tilted = (0.0, 0.0, math.sin(0.4), math.cos(0.4))  # the controller is not held straight
    follower.step(state(controller("right", xyzw=tilted, squeeze=True)), LINKS, 0.0)
    half = 0.5 * 0.3
    turned = (math.sin(half), 0.0, 0.0, math.cos(half))  # about x of the headset, which is -y of the world
    w, x, y, z = _product((turned[3], *turned[:3]), (tilted[3], *tilted[:3]))
    found = follower.step(state(controller("right", xyzw=(x, y, z, w), squeeze=True), ms=9), LINKS, 0.01)
    R = as_matrix(found["right_ee"])[:3, :3] @ as_matrix(LINKS["right_ee"])[:3, :3].T
    c, s = math.cos(-0.3), math.sin(-0.3)
    np.testing.assert_allclose(R, [[c, 0, s], [0, 1, 0], [-s, 0, c]], atol=1e-12)


def _product(a, b):
    """Hamilton's, w first."""
    (aw, *av), (bw, *bv) = a, b
    v = aw * np.array(bv) + bw * np.array(av) + np.cross(av, bv)
    return (aw * bw - np.dot(av, bv), *v)


def test_scale_and_yaw():
    options = XrOptions(left="left_ee", scale=2.0, yaw=math.pi / 2)
    follower = XrFollower(options)
    follower.step(state(controller("left", (0, 1, 0), squeeze=True)), LINKS, 0.0)
    found = follower.step(state(controller("left", (0, 1, -0.1), squeeze=True), ms=5), LINKS, 0.01)
    np.testing.assert_allclose(found["left_ee"][4:] - LINKS["left_ee"][4:], [0.0, 0.2, 0.0], atol=1e-12)


def test_a_clutch_that_is_pressed_again_elsewhere_does_not_jump():
    follower = XrFollower(OPTIONS)
    follower.step(state(controller("left", (0, 1, 0), squeeze=True)), LINKS, 0.0)
    assert follower.step(state(controller("left", (0, 1, 0)), ms=10), LINKS, 0.01) == {}
    moved = {**LINKS, "left_ee": np.array([1.0, 0, 0, 0, 0.35, 0.2, 1.0])}
    far = state(controller("left", (1.0, 2.0, 3.0), squeeze=True), ms=20)
    found = follower.step(far, moved, 0.02)
    np.testing.assert_allclose(found["left_ee"], moved["left_ee"])


@pytest.mark.parametrize("gap", ["untracked", "pause"])
def test_a_hand_that_was_lost_is_taken_up_where_it_reappears(gap):
    follower = XrFollower(OPTIONS)
    follower.step(state(controller("left", (0, 1, 0), squeeze=True)), LINKS, 0.0)
    now = 0.01
    if gap == "untracked":
        assert follower.step(state(HEAD, ms=10), LINKS, now) == {}
    else:
        now = 2.0
    found = follower.step(state(controller("left", (1, 1, 1), squeeze=True), ms=20), LINKS, now + 0.01)
    np.testing.assert_allclose(found["left_ee"], LINKS["left_ee"])


def test_a_state_out_of_order_changes_nothing_and_a_new_clock_is_taken():
    follower = XrFollower(OPTIONS)
    follower.step(state(controller("left", (0, 1, 0), squeeze=True), ms=50), LINKS, 0.0)
    newest = follower.step(state(controller("left", (0, 1.1, 0), squeeze=True), ms=70), LINKS, 0.02)
    late = follower.step(state(controller("left", (0, 1, 0)), ms=60), LINKS, 0.03)
    assert late is newest
    assert newest
    other = follower.step(state(controller("left", (0, 1, 0)), ms=-1e6), LINKS, 0.04)
    assert other == {}


def test_the_head_follows_while_a_hand_does():
    options = XrOptions(left="left_ee", head="right_ee")
    follower = XrFollower(options)
    assert follower.step(state(HEAD, controller("left")), LINKS, 0.0) == {}
    follower.step(state(HEAD, controller("left", squeeze=True), ms=1), LINKS, 0.01)
    up = {**HEAD, "pose": pose((0.0, 1.7, 0.0))}
    found = follower.step(state(up, controller("left", squeeze=True), ms=2), LINKS, 0.02)
    np.testing.assert_allclose(found["right_ee"][4:] - LINKS["right_ee"][4:], [0, 0, 0.1], atol=1e-12)


def test_the_trigger_or_nothing_can_be_the_clutch():
    for clutch, pressed in (("trigger", {"trigger": True}), ("none", {})):
        follower = XrFollower(XrOptions(left="left_ee", clutch=clutch))
        assert follower.step(state(controller("left", **pressed)), LINKS, 0.0)
    follower = XrFollower(XrOptions(left="left_ee", clutch="trigger"))
    assert follower.step(state(controller("left", squeeze=True)), LINKS, 0.0) == {}


def test_options_that_make_no_sense():
    for wrong in ({"scale": 0.0}, {"yaw": math.nan}, {"left": "a", "right": "a"}):
        with pytest.raises(InputError, match="XrOptions"):
            XrOptions(**wrong)


def test_forward_is_where_the_robots_left_link_is_on_its_left(load):
    robot = load("teaarm")  # looks along y: its left hand is towards -x
    options = XrOptions(left="frame_left_arm_ee", right="frame_right_arm_ee")
    assert facing(options, robot).yaw == pytest.approx(math.pi / 2)
    forward = facing(options, robot).R_world_xr @ [0.0, 0.0, -1.0]
    np.testing.assert_allclose(forward, [0.0, 1.0, 0.0], atol=1e-12)
    swapped = XrOptions(left="frame_right_arm_ee", right="frame_left_arm_ee")
    assert facing(swapped, robot).yaw == pytest.approx(-math.pi / 2)
    assert facing(XrOptions(left="frame_left_arm_ee"), robot).yaw == 0.0
    assert facing(XrOptions(yaw=0.3), robot).yaw == 0.3
