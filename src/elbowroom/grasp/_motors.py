"""Motors of a description: which joint's position a control is, and within which limits.

A control of a `Hand` is the position of a joint. MJCF states control ranges for every kind of actuator, in units of its
own: torque of a motor, velocity, length of a tendon. Only those of position servos on a joint are positions, so only
they are used. They are kept as described, past the joint's stops too (the bundled hand's scale of angle commands begins
up to 0.05 rad before them, and `Hand.ctrl_lower` and `ctrl_upper` stay within all joint ranges), but not by more than
`PAST_STOP`: a range that wide says nothing about the hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..robot import Robot
from ._hand import Actuator
from ._rh56 import load_mujoco

PAST_STOP = 0.1
"""rad; how far a servo's control range may go past its joint's range. Ends further out are put at the joint's."""


def make_actuator(
    robot: Robot, name: str, driven: str, control: tuple[float, float] | None = None
) -> Actuator:
    """An actuator of a joint: with its servo's control range if there is one, else as far as the joint goes.

    Raises:
        InputError: the joint follows another or does not move, or has no finite range left.
    """
    joint = robot.joint(driven)
    if not joint.actuated:
        raise InputError(
            f"{robot.name}: joint {driven!r} cannot be an actuator; it follows another or does not move"
        )
    low, high = float(joint.lower), float(joint.upper)
    if control is not None:
        if not max(low, control[0]) < min(high, control[1]):
            raise InputError(
                f"{robot.name}: joint {driven!r} goes from {joint.lower:.4g} to {joint.upper:.4g}, the control of its "
                f"servo from {control[0]:.4g} to {control[1]:.4g}; they have no range in common"
            )
        low = low if control[0] < low - PAST_STOP else control[0]
        high = high if control[1] > high + PAST_STOP else control[1]
    if not np.isfinite(high - low):
        raise InputError(f"{robot.name}: joint {driven!r} has no finite limits; a hand's actuators need them")
    return Actuator(name, driven, low, high)


def servo_ranges(spec: Any, robot: Robot) -> dict[str, tuple[float, float]]:
    """Control ranges of the position servos of a `mujoco.MjSpec`, by joint; none for other descriptions.

    A servo pulls its joint to the control: a fixed gain and an affine bias of opposite sign, without a constant, gear
    or integrator, through a joint. Several on one joint leave what they have in common.
    """
    found: dict[str, tuple[float, float]] = {}
    for motor in () if spec is None else spec.actuators:
        limits = _servo_range(motor, robot)
        if limits is not None:
            low, high = found.get(motor.target, limits)
            found[str(motor.target)] = max(low, limits[0]), min(high, limits[1])
    return found


def _servo_range(motor: Any, robot: Robot) -> tuple[float, float] | None:
    """Range of a position servo's control; None for other actuators and for servos without a range."""
    mujoco = load_mujoco()
    through_joint = motor.trntype in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    if not through_joint:
        return None
    gain, dynamics = float(motor.gainprm[0]), mujoco.mjtDyn
    position = (
        motor.gaintype == mujoco.mjtGain.mjGAIN_FIXED
        and motor.biastype == mujoco.mjtBias.mjBIAS_AFFINE
        and motor.dyntype in (dynamics.mjDYN_NONE, dynamics.mjDYN_FILTER, dynamics.mjDYN_FILTEREXACT)
        and gain > 0.0
        and float(motor.biasprm[0]) == 0.0
        and float(motor.biasprm[1]) == -gain
        and float(motor.gear[0]) == 1.0
    )
    if not position or motor.ctrllimited == mujoco.mjtLimited.mjLIMITED_FALSE:
        return None
    low, high = (float(end) for end in motor.ctrlrange)
    if (
        motor.inheritrange > 0.0
    ):  # MuJoCo fills it in when it compiles: a share of the joint's range about its middle
        joint = robot.joint(motor.target)
        middle, half = 0.5 * (joint.lower + joint.upper), 0.5 * (joint.upper - joint.lower)
        low, high = middle - motor.inheritrange * half, middle + motor.inheritrange * half
    return (low, high) if high > low else None
