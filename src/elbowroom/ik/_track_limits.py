"""Limits of joints for `Tracker`: of velocities and of accelerations."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..robot import Robot, per_joint, stated_speeds, usual_accelerations
from ._track_options import TrackOptions


def limits_of(
    robot: Robot, options: TrackOptions
) -> tuple[Float[np.ndarray, "dof"], Float[np.ndarray, "dof"]]:
    """Velocity and acceleration limits of the joints, as the options or the robot say.

    Raises:
        InputError: of another shape, or not above zero.
    """
    if options.velocity_limits is None:
        velocity = stated_speeds(robot)
    else:
        velocity = per_joint(options.velocity_limits, robot.dof, "TrackOptions: velocity_limits")
    if options.acceleration_limits is None:
        acceleration = usual_accelerations(velocity)
    else:
        acceleration = per_joint(options.acceleration_limits, robot.dof, "TrackOptions: acceleration_limits")
    return frozen(velocity), frozen(acceleration)
