"""Limits of joints in a plan: of velocities, accelerations and jerks."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..robot import Robot, per_joint, stated_speeds, usual_accelerations
from ._options import PlanOptions

Row = Float[np.ndarray, "dof"]


def limits_of(robot: Robot, options: PlanOptions) -> tuple[Row, Row, Row | None]:
    """Velocity, acceleration and jerk limits (None: no jerk is limited), as the options or the robot say.

    Raises:
        InputError: of another shape, or not above zero.
    """
    if options.velocity_limits is None:
        velocity = stated_speeds(robot)
    else:
        velocity = per_joint(options.velocity_limits, robot.dof, "PlanOptions: velocity_limits")
    if options.acceleration_limits is None:
        acceleration = usual_accelerations(velocity)
    else:
        acceleration = per_joint(options.acceleration_limits, robot.dof, "PlanOptions: acceleration_limits")
    jerk = None
    if options.jerk_limits is not None:
        jerk = frozen(per_joint(options.jerk_limits, robot.dof, "PlanOptions: jerk_limits"))
    return frozen(velocity), frozen(acceleration), jerk
