"""How fast joints may be, and how quickly they get there: as the robot states it, or as a user does."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from .._text import short
from ..errors import InputError
from ._robot import Robot

ACCELERATION_TIME = 0.1
"""Seconds in which a joint reaches full speed under the default acceleration limits."""
UNLIMITED_SPEED = 3.0
"""rad/s or m/s: what stands in for a velocity limit that is not stated (or is absurd)."""
ABSURD_SPEED = 100.0
"""rad/s or m/s above which a stated velocity limit is ignored (baxter's head: 10,000)."""


def stated_speeds(robot: Robot) -> Float[np.ndarray, "dof"]:
    """Velocity limits of the description, rad/s or m/s, and `UNLIMITED_SPEED` where it states none."""
    stated = np.asarray(robot.velocity_limits, dtype=np.float64)
    # a description's zero means that no limit is stated
    return np.where((stated > 0.0) & (stated < ABSURD_SPEED), stated, UNLIMITED_SPEED)


def usual_accelerations(velocity: Float[np.ndarray, "dof"]) -> Float[np.ndarray, "dof"]:
    """Acceleration limits, rad/s^2 or m/s^2, that go with velocity limits where none are given."""
    return np.where(velocity < ABSURD_SPEED, velocity, UNLIMITED_SPEED) / ACCELERATION_TIME


def per_joint(value: Any, dof: int, what: str) -> Float[np.ndarray, "dof"]:
    """Limits as a user gives them: one number or one for each joint, above zero; infinity is none.

    Raises:
        InputError: of another shape, or not above zero; `what` names them in the message.
    """
    try:
        found = np.broadcast_to(np.asarray(value, dtype=np.float64), (dof,)).copy()
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be one number or {dof}, found {short(value)}") from error
    if not (found > 0.0).all():
        raise InputError(f"{what} must be above zero, found {short(value)}")
    return found


def speed_limits(
    robot: Robot, velocity: Any, acceleration: Any, whose: str
) -> tuple[Float[np.ndarray, "dof"], Float[np.ndarray, "dof"]]:
    """Limits of velocity and of acceleration, read-only, as a user gives them; None takes what is stated and usual.

    Raises:
        InputError: of another shape, or not above zero; the message names `whose` options they are.
    """
    fast = (
        stated_speeds(robot)
        if velocity is None
        else per_joint(velocity, robot.dof, f"{whose}: velocity_limits")
    )
    if acceleration is None:
        return frozen(fast), frozen(usual_accelerations(fast))
    return frozen(fast), frozen(per_joint(acceleration, robot.dof, f"{whose}: acceleration_limits"))
