"""Limits of joints in a plan: of velocities, accelerations and jerks."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..robot import Robot
from ..robot.doors import per_joint, speed_limits
from ._options import PlanOptions

Row = Float[np.ndarray, "dof"]


def limits_of(robot: Robot, options: PlanOptions) -> tuple[Row, Row, Row | None]:
    """Velocity, acceleration and jerk limits (None: no jerk is limited), as the options or the robot say.

    Raises:
        InputError: of another shape, or not above zero.
    """
    velocity, acceleration = speed_limits(
        robot, options.velocity_limits, options.acceleration_limits, "PlanOptions"
    )
    jerk = None
    if options.jerk_limits is not None:
        jerk = frozen(per_joint(options.jerk_limits, robot.dof, "PlanOptions: jerk_limits"))
    return velocity, acceleration, jerk
