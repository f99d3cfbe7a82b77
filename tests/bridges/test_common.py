"""Joints and units by name: what every bridge refuses, and how."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.bridges._common import CommandGuard, JointMap, checked_dt, needs
from elbowroom.errors import InputError, MissingExtraError


@pytest.fixture(scope="module")
def robot(load):
    return load("teaarm")


def test_values_go_there_and_back_in_any_order_and_unit(robot):
    names = [None, *reversed(robot.joint_names)]
    found = JointMap.of(robot, names, "motors", units="deg")
    values = np.linspace(-50.0, 50.0, robot.dof + 1)
    cfg = found.ours(found.values(values))
    np.testing.assert_allclose(cfg, np.radians(values[1:][::-1]))
    np.testing.assert_allclose(found.theirs(cfg, values), values)
    moved = found.theirs(cfg + 0.1, values)
    assert moved[0] == values[0]
    np.testing.assert_allclose(moved[1:], values[1:] + np.degrees(0.1))


def test_sliding_joints_stay_in_metres_when_angles_are_in_degrees(load):
    panda = load("panda")
    found = JointMap.of(panda, panda.joint_names, "motors", units="deg")
    assert found.scale[-1] == 1.0
    assert found.scale[0] == pytest.approx(np.pi / 180.0)


def test_a_span_becomes_the_joint_limits(robot):
    one = np.ones(robot.dof)
    found = JointMap.of(robot, robot.joint_names, "actions").normalized(-one, one)
    np.testing.assert_allclose(found.ours(-one), robot.lower)
    np.testing.assert_allclose(found.ours(one), robot.upper)
    with pytest.raises(InputError, match="needs finite bounds of actions"):
        JointMap.of(robot, robot.joint_names, "actions").normalized(-one, np.inf * one)


def test_names_that_cannot_be_mapped_are_told_from_both_sides(robot):
    names = ["shoulder", *robot.joint_names[1:]]
    with pytest.raises(InputError) as error:
        JointMap.of(robot, names, "motors")
    text = str(error.value)
    assert "not a joint of teaarm: shoulder" in text
    assert "that motors lack: waist_yaw" in text
    assert "motors: shoulder, waist_pitch" in text
    assert "teaarm: waist_yaw, waist_pitch" in text
    assert "hold=" in text
    assert JointMap.of(robot, names, "motors", names={"shoulder": "waist_yaw"}).at[0] == 0
    with pytest.raises(InputError, match="names of nothing in motors: elbow"):
        JointMap.of(robot, robot.joint_names, "motors", names={"elbow": "waist_yaw"})
    with pytest.raises(InputError, match="mapped more than once: waist_yaw"):
        JointMap.of(robot, ["waist_yaw", *robot.joint_names], "motors")


@pytest.mark.parametrize("units", [None, "degrees", True, 0.0, np.nan, [1.0, 2.0]])
def test_units_that_say_nothing_are_refused(robot, units):
    with pytest.raises(InputError, match="units: say what one unit is: 'rad'"):
        JointMap.of(robot, robot.joint_names, "actions", units=units)


def test_values_are_refused_with_what_to_change(robot):
    found = JointMap.of(robot, robot.joint_names, "actions")
    with pytest.raises(InputError, match=r"actions: expected 16 numbers, one for each of waist_yaw.*\(3,\)"):
        found.values([1, 2, 3])
    with pytest.raises(InputError, match="entry 4 of .* is nan; send finite numbers"):
        found.values([0.0] * 4 + [np.nan] + [0.0] * 11)
    with pytest.raises(InputError, match="expected 16 numbers, found 'left'"):
        found.values("left")


def test_commands_follow_commands_until_the_robot_is_far_from_them(robot):
    guard, cfg = CommandGuard(er.CollisionModel(robot), 0.05), robot.named_cfgs["arms_forward"]
    first = guard.step(cfg, cfg + 0.004, 0.02)
    assert not first.altered
    np.testing.assert_array_equal(guard.base(cfg), first.cfg)  # the robot has not moved yet
    np.testing.assert_array_equal(guard.base(cfg - 0.06), cfg - 0.06)
    with pytest.raises(InputError, match="resync must be rad or m from 0 up"):
        CommandGuard(er.CollisionModel(robot), -1.0)


def test_what_is_missing_and_times_are_said():
    error = needs("thing", "pip install thing", ImportError("no thing"))
    assert isinstance(error, MissingExtraError)
    assert "needs thing: pip install thing" in str(error)
    for bad in (0.0, None, np.nan, "x", True):
        with pytest.raises(InputError, match="dt must be seconds above zero.*: the rate"):
            checked_dt(bad, "the rate")
