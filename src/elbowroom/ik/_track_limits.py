"""Limits of joints for `Tracker`: of velocities and of accelerations."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from .._text import short
from ..errors import InputError
from ..robot import Robot
from ._track_options import ABSURD_SPEED, ACCELERATION_TIME, UNLIMITED_SPEED, TrackOptions


def limits_of(
    robot: Robot, options: TrackOptions
) -> tuple[Float[np.ndarray, "dof"], Float[np.ndarray, "dof"]]:
    """Velocity and acceleration limits of the joints, as the options or the robot say.

    Raises:
        InputError: of another shape, or not above zero.
    """
    if options.velocity_limits is None:
        stated = np.asarray(robot.velocity_limits, dtype=np.float64)
        # a description's zero means that no limit is stated
        velocity = np.where((stated > 0.0) & (stated < ABSURD_SPEED), stated, UNLIMITED_SPEED)
    else:
        velocity = _per_joint(options.velocity_limits, robot.dof, "velocity_limits")
    if options.acceleration_limits is None:
        acceleration = np.where(velocity < ABSURD_SPEED, velocity, UNLIMITED_SPEED) / ACCELERATION_TIME
    else:
        acceleration = _per_joint(options.acceleration_limits, robot.dof, "acceleration_limits")
    return frozen(velocity), frozen(acceleration)


def _per_joint(value: Any, dof: int, what: str) -> Float[np.ndarray, "dof"]:
    try:
        found = np.broadcast_to(np.asarray(value, dtype=np.float64), (dof,)).copy()
    except (TypeError, ValueError) as error:
        raise InputError(f"TrackOptions: {what} must be one number or {dof}, found {short(value)}") from error
    if not (found > 0.0).all():
        raise InputError(f"TrackOptions: {what} must be above zero, found {short(value)}")
    return found
