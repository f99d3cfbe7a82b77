"""Several costs together: those that a plan has by default, their sum, and each by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from ...collision import CollisionModel, as_model
from ...errors import InputError
from ...robot.internal import stated_speeds, usual_accelerations
from ...typing import RobotLike
from .._group import Group
from ._cost import Cost
from ._limit_costs import AccelerationCost, VelocityCost
from ._obstacle_cost import ObstacleCost
from ._self_cost import SelfCollisionCost


def default_costs(
    model: CollisionModel | RobotLike,
    ends: Any,
    joints: Sequence[str] | None = None,
    *,
    boxes_decide: bool = True,
) -> tuple[Cost, ...]:
    """What `Stomp` keeps low when no costs are given: a good beginning for a list of your own.

    Obstacles (`ObstacleCost`), the robot itself (`SelfCollisionCost`), and the limits of velocity and acceleration of
    the joints that move (`VelocityCost`, `AccelerationCost`), each with its default weight.

    Args:
        model: the robot among its obstacles.
        ends: (dof,) or (n, dof) configurations that count as free, such as start and goal: see `ObstacleCost`.
        joints: names of those that move; all when omitted. The limits of the others do not count.
        boxes_decide: as of `ObstacleCost`.

    Raises:
        InputError: no model, ends or joints that make no sense. UnknownJointError: no such joint.
    """
    model = as_model(model)
    ends = model.robot.as_cfgs(ends)
    if len(ends) == 0:
        raise InputError("ends: expected at least one configuration, found none")
    group = Group.of(model.robot, ends[0], joints)
    still = np.setdiff1d(np.arange(model.robot.dof), group.moving)
    velocity = stated_speeds(model.robot)
    acceleration = usual_accelerations(velocity)
    velocity[still] = acceleration[still] = np.inf
    return (
        ObstacleCost(model, start=ends, boxes_decide=boxes_decide),
        SelfCollisionCost(model),
        VelocityCost(model.robot, velocity),
        AccelerationCost(model.robot, acceleration),
    )


def total_cost(costs: Sequence[Cost], trajectories: Any, dt: float) -> Float[np.ndarray, "k t"]:
    """Sum of several costs, per trajectory and step."""
    parts = [cost.cost(trajectories, dt) for cost in costs]
    return np.sum(parts, axis=0) if parts else np.zeros(np.shape(trajectories)[:2])
