"""Limits of joints for `Tracker`: of velocities, of accelerations, and which joints may move at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from .._text import short
from ..errors import InputError, UnknownJointError, unknown
from ..robot import Robot
from ._targets import JointTarget, Target
from ._track_options import ABSURD_SPEED, ACCELERATION_TIME, UNLIMITED_SPEED, TrackOptions

PROBE = 0.1
"""rad or m around the default pose where it is seen which joints move a link."""


def limits_of(
    robot: Robot, options: TrackOptions
) -> tuple[Float[np.ndarray, "dof"], Float[np.ndarray, "dof"]]:
    """Velocity and acceleration limits of the joints, as the options or the robot say.

    Raises:
        InputError: of another shape, or not above zero.
    """
    if options.velocity_limits is None:
        stated = np.asarray(robot.velocity_limits, dtype=np.float64)
        velocity = np.where(stated < ABSURD_SPEED, stated, UNLIMITED_SPEED)
    else:
        velocity = _per_joint(options.velocity_limits, robot.dof, "velocity_limits")
    if options.acceleration_limits is None:
        acceleration = np.where(velocity < ABSURD_SPEED, velocity, UNLIMITED_SPEED) / ACCELERATION_TIME
    else:
        acceleration = _per_joint(options.acceleration_limits, robot.dof, "acceleration_limits")
    return frozen(velocity), frozen(acceleration)


def moving_joints(robot: Robot, targets: Sequence[Target], joints: Sequence[str] | None) -> tuple[str, ...]:
    """Names of the joints that move a target, of those that may (`joints`; None for all).

    Raises:
        UnknownJointError: no such joint. UnknownLinkError: no such link.
    """
    named = [item.joint for item in targets if isinstance(item, JointTarget)]
    for name in (*named, *(joints or ())):
        if name not in robot.joint_names:
            raise UnknownJointError(unknown("actuated joint", name, robot.joint_names))
    moves = np.isin(robot.joint_names, named)
    # a joint that moves a link does so almost everywhere
    probe = robot.default_cfg + np.random.default_rng(0).normal(0.0, PROBE, (3, robot.dof))
    for target in targets:
        if not isinstance(target, JointTarget):
            moves |= np.abs(robot.jacobian(probe, target.link)).max(axis=(0, 1)) > 0.0
    return tuple(
        name
        for name, does in zip(robot.joint_names, moves, strict=True)
        if does and (joints is None or name in joints)
    )


def _per_joint(value: Any, dof: int, what: str) -> Float[np.ndarray, "dof"]:
    try:
        found = np.broadcast_to(np.asarray(value, dtype=np.float64), (dof,)).copy()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"TrackOptions: {what} must be one number or {dof}, found {short(value)}"
        ) from error
    if not (found > 0.0).all():
        raise InputError(f"TrackOptions: {what} must be above zero, found {short(value)}")
    return found
