"""Limits of joints for `Tracker`: of velocities and of accelerations."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from ..robot import Robot
from ..robot.doors import speed_limits
from ._track_options import TrackOptions


def limits_of(
    robot: Robot, options: TrackOptions
) -> tuple[Float[np.ndarray, "dof"], Float[np.ndarray, "dof"]]:
    """Velocity and acceleration limits of the joints, as the options or the robot say.

    Raises:
        InputError: of another shape, or not above zero.
    """
    return speed_limits(robot, options.velocity_limits, options.acceleration_limits, "TrackOptions")
