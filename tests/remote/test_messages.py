"""Messages of a served robot: what each may say, and what is said of those that make no sense."""

from __future__ import annotations

import json

import numpy as np
import pytest

from elbowroom import load_robot
from elbowroom.errors import InputError, UnknownLinkError, UnknownNameError
from elbowroom.ik import AxisTarget, LookAt, PoseTarget, PositionTarget
from elbowroom.remote._messages import (
    MOST_BYTES,
    Clutch,
    End,
    Follow,
    Reset,
    Stop,
    encode,
    read_message,
    target_from_json,
)

LEFT, RIGHT = "frame_left_arm_ee", "frame_right_arm_ee"
POSE = [1.0, 0.0, 0.0, 0.0, 0.3, 0.2, 1.0]


@pytest.fixture(scope="module")
def robot():
    return load_robot("teaarm")


def line(**message):
    return json.dumps(message)


def test_targets_of_every_kind(robot):
    message = read_message(line(type="target", targets={LEFT: POSE}, stamp=3, clutch=True), robot, (LEFT,))
    assert isinstance(message, Follow)
    assert (message.stamp, message.clutch) == (3.0, True)
    for value, kind, field, expected in [
        (POSE, PoseTarget, "pose", POSE),
        (np.eye(4).tolist(), PoseTarget, "pose", [1, 0, 0, 0, 0, 0, 0]),
        ([1, 2, 3], PositionTarget, "position", [1, 2, 3]),
        ({"position": [1, 2, 3], "wxyz": [2, 0, 0, 0]}, PoseTarget, "pose", [1, 0, 0, 0, 1, 2, 3]),
        ({"position": [1, 2, 3], "point": [0, 0, 1]}, PositionTarget, "point", [0, 0, 1]),
        ({"direction": [0, 0, 2], "axis": [1, 0, 0]}, AxisTarget, "axis", [1, 0, 0]),
        ({"look_at": [1, 2, 3], "orientation_weight": 2.0}, LookAt, "point", [1, 2, 3]),
    ]:
        target = target_from_json(LEFT, value)
        assert type(target) is kind
        np.testing.assert_allclose(getattr(target, field), expected)


def test_other_messages(robot):
    assert read_message(line(type="clutch", engaged=False), robot, ()) == Clutch(False)
    assert read_message('{"type": "stop"}', robot, ()) == Stop()
    assert read_message(b'{"type": "end"}', robot, ()) == End()
    named = read_message(line(type="reset", cfg={"waist_yaw": 0.1}), robot, ())
    assert named == Reset({"waist_yaw": 0.1})
    whole = read_message(line(type="reset", cfg=robot.default_cfg.tolist()), robot, ())
    assert isinstance(whole, Reset)
    assert list(whole.values) == list(robot.joint_names)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"type": "target", "targets": {"a": [NaN, 0, 0]}}', "NaN is not a number of JSON"),
        ('{"type": "target", "targets": {"a": [1e999, 0, 0]}}', "finite number"),
        (" " * (MOST_BYTES + 1), "at most"),
        ("[1, 2]", "expected an object"),
        ('{"type": "eval", "code": "1"}', "type: expected one of"),
        ('{"type": ["target"]}', "type: expected one of"),
        ('{"type": "target"}', "targets: expected an object"),
        ('{"type": "target", "targets": {}}', "targets is empty"),
        ('{"type": "target", "targets": {"a": [1, 2]}}', "found shape"),
        ('{"type": "target", "targets": {"a": ["1", 2, 3]}}', "finite number"),
        ('{"type": "target", "targets": {"a": [true, 2, 3]}}', "finite number"),
        ('{"type": "target", "targets": {"a": [[1, 2], [3]]}}', "same length"),
        ('{"type": "target", "targets": {"a": {"place": [1, 2, 3]}}}', "expected position and wxyz"),
        ('{"type": "target", "targets": {"a": {"position": [1, 2], "wxyz": [1, 0, 0, 0]}}}', "3 numbers"),
        ('{"type": "target", "targets": {"a": [0, 0, 0, 0, 1, 2, 3]}}', "length zero"),
        ('{"type": "target", "targets": {"a": [1, 2, 3]}, "speed": 1}', "unknown keys 'speed'"),
        ('{"type": "target", "targets": {"a": [1, 2, 3]}, "clutch": 1}', "true or false"),
        ('{"type": "clutch"}', "true or false"),
        ('{"type": "reset", "cfg": [1, 2]}', r"shape \(16,\)"),
        ('{"type": "reset"}', "expected an object"),
    ],
)
def test_what_makes_no_sense_is_said(robot, text, says):
    with pytest.raises(InputError, match=says):
        read_message(text, robot, ("a",))


def test_unknown_names_are_said(robot):
    with pytest.raises(UnknownLinkError, match="no followed link 'frame_left_arm'; did you mean"):
        read_message(line(type="target", targets={"frame_left_arm": POSE}), robot, (LEFT, RIGHT))
    with pytest.raises(UnknownNameError, match="no actuated joint 'waist'"):
        read_message(line(type="reset", cfg={"waist": 1}), robot, ())


def test_what_goes_out_is_one_line_of_json():
    text = encode(
        {"type": "x", "a": np.arange(2.0), "b": float("inf"), "c": "two\nlines", "d": np.float64(1)}
    )
    assert "\n" not in text
    assert json.loads(text) == {"type": "x", "a": [0, 1], "b": None, "c": "two\nlines", "d": 1.0}
