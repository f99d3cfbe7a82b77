"""Limits of joints in a plan: of values, velocities, accelerations and jerks."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..robot import Robot
from ..robot.internal import per_joint, speed_limits
from ._motion import Limits
from ._options import PlanOptions


class PlanLimits(NamedTuple):
    """Of all joints of a robot."""

    rows: Float[np.ndarray, "k dof"]
    """Lower, upper, of velocity, acceleration and, where it is limited, jerk: as the core takes them."""
    limits: Limits

    @property
    def speeds(
        self,
    ) -> tuple[Float[np.ndarray, "dof"], Float[np.ndarray, "dof"], Float[np.ndarray, "dof"] | None]:
        """Velocity, acceleration and jerk limits (None: no jerk is limited)."""
        return self.limits.velocity, self.limits.acceleration, self.limits.jerk


_stated: weakref.WeakKeyDictionary[Robot, PlanLimits] = weakref.WeakKeyDictionary()
"""What robots state themselves."""


def limits_of(robot: Robot, options: PlanOptions) -> PlanLimits:
    """As the options or the robot say.

    Raises:
        InputError: of another shape, or not above zero.
    """
    own = (
        options.velocity_limits is None
        and options.acceleration_limits is None
        and options.jerk_limits is None
    )
    found = _stated.get(robot) if own else None
    if found is not None:
        return found
    rows = [robot.lower, robot.upper]
    rows += speed_limits(robot, options.velocity_limits, options.acceleration_limits, "PlanOptions")
    if options.jerk_limits is not None:
        rows.append(per_joint(options.jerk_limits, robot.dof, "PlanOptions: jerk_limits"))
    every = frozen(np.array(rows, dtype=np.float64))
    found = PlanLimits(every, Limits(every[2], every[3], every[4] if len(every) > 4 else None))
    if own:
        _stated[robot] = found
    return found
