"""Costs of moving faster than joints may: by how much, as a share of the limit, summed over the joints.

Speeds are those of the straight lines between steps; a step has the larger of the two that meet there, so that no jump
is unseen. Accelerations are second differences, with the robot at rest before the first and after the last step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from ... import _core
from ..._frozen import frozen
from ...robot import as_robot
from ...robot.internal import per_joint, stated_speeds, usual_accelerations
from ...typing import RobotLike
from ._cost import as_trajectories, checked_weight


class VelocityCost:
    """Sum over joints of `max(0, |velocity| / limit - 1)`; see the module."""

    name = "velocity"

    def __init__(self, robot: RobotLike, limits: Any = None, *, weight: float = 1.0) -> None:
        """Takes limits.

        Args:
            robot: whose joints they are.
            limits: (dof,) or one number, rad/s or m/s; None takes the robot's, as timing does. Infinity is none.
            weight: factor.

        Raises:
            InputError: limits that are not above zero, or of another shape.
        """
        robot = as_robot(robot)
        self.robot = robot
        given = stated_speeds(robot) if limits is None else limits
        self.limits = frozen(per_joint(given, robot.dof, "VelocityCost: limits"))
        self.weight = checked_weight("VelocityCost", weight)

    def cost(self, trajectories: Any, dt: float) -> Float[np.ndarray, "k t"]:
        """Cost of every step, weighted; arguments as of `Cost.cost`."""
        rows = as_trajectories(self.robot, trajectories, dt)
        return self.weight * _core.limit_cost(rows, dt, self.limits, 1)


class AccelerationCost:
    """Sum over joints of `max(0, |acceleration| / limit - 1)`; see the module."""

    name = "acceleration"

    def __init__(self, robot: RobotLike, limits: Any = None, *, weight: float = 1.0) -> None:
        """Takes limits.

        Args:
            robot: whose joints they are.
            limits: (dof,) or one number, rad/s^2 or m/s^2; None takes those that timing takes.
            weight: factor.

        Raises:
            InputError: limits that are not above zero, or of another shape.
        """
        robot = as_robot(robot)
        self.robot = robot
        given = usual_accelerations(stated_speeds(robot)) if limits is None else limits
        self.limits = frozen(per_joint(given, robot.dof, "AccelerationCost: limits"))
        self.weight = checked_weight("AccelerationCost", weight)

    def cost(self, trajectories: Any, dt: float) -> Float[np.ndarray, "k t"]:
        """Cost of every step, weighted; arguments as of `Cost.cost`."""
        rows = as_trajectories(self.robot, trajectories, dt)
        return self.weight * _core.limit_cost(rows, dt, self.limits, 2)
