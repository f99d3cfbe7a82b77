"""Inverse kinematics that keeps clear: targets, the solver, one tick, and a guard for any controller.

Names of the JAX engine load JAX on first use, so solving and tracking start without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._targets import AxisTarget as AxisTarget
from ._targets import JointTarget as JointTarget
from ._targets import LookAt as LookAt
from ._targets import PoseTarget as PoseTarget
from ._targets import PositionTarget as PositionTarget
from ._targets import Target as Target
from .solve._options import IkOptions as IkOptions
from .solve._reach import Reachability as Reachability
from .solve._reach import ReachMap as ReachMap
from .solve._reach import reach_map as reach_map
from .solve._result import Failure as Failure
from .solve._result import IkResult as IkResult
from .solve._result import NearestFree as NearestFree
from .solve._solver import IkSolver as IkSolver
from .track import FilteredMotion as FilteredMotion
from .track import Guard as Guard
from .track import GuardStep as GuardStep
from .track import Tracker as Tracker
from .track import TrackOptions as TrackOptions
from .track import TrackStep as TrackStep

if TYPE_CHECKING:
    from ._teaarm import TeaArmRobot as TeaArmRobot
    from .jax._batch import solve_jax as solve_jax
    from .jax._clearance import jaxls_cost as jaxls_cost
    from .jax._clearance import margins_at_rest as margins_at_rest
    from .jax._clearance import multi_sphere_self_collision_cost as multi_sphere_self_collision_cost
    from .jax._clearance import self_collision_cost as self_collision_cost
    from .jax._clearance import world_cost as world_cost
    from .jax._costs import Cost as Cost
    from .jax._costs import axis_cost as axis_cost
    from .jax._costs import heading_cost as heading_cost
    from .jax._costs import joint_cost as joint_cost
    from .jax._costs import limit_cost as limit_cost
    from .jax._costs import look_at_cost as look_at_cost
    from .jax._costs import manipulability_cost as manipulability_cost
    from .jax._costs import pose_cost as pose_cost
    from .jax._costs import position_cost as position_cost
    from .jax._costs import rest_cost as rest_cost
    from .jax._costs import target_cost as target_cost
    from .jax._solve import Minimum as Minimum
    from .jax._solve import cost_by_name as cost_by_name
    from .jax._solve import minimize as minimize

_NEED_JAX = {
    "Cost": "jax._costs",
    "Minimum": "jax._solve",
    "TeaArmRobot": "_teaarm",
    "axis_cost": "jax._costs",
    "cost_by_name": "jax._solve",
    "heading_cost": "jax._costs",
    "jaxls_cost": "jax._clearance",
    "joint_cost": "jax._costs",
    "limit_cost": "jax._costs",
    "look_at_cost": "jax._costs",
    "manipulability_cost": "jax._costs",
    "margins_at_rest": "jax._clearance",
    "minimize": "jax._solve",
    "multi_sphere_self_collision_cost": "jax._clearance",
    "pose_cost": "jax._costs",
    "position_cost": "jax._costs",
    "rest_cost": "jax._costs",
    "self_collision_cost": "jax._clearance",
    "solve_jax": "jax._batch",
    "target_cost": "jax._costs",
    "world_cost": "jax._clearance",
}
"""Name -> module that needs JAX."""

__all__ = [
    "AxisTarget",
    "FilteredMotion",
    "Guard",
    "GuardStep",
    "Cost",
    "Failure",
    "IkOptions",
    "IkResult",
    "IkSolver",
    "JointTarget",
    "LookAt",
    "Minimum",
    "NearestFree",
    "PoseTarget",
    "PositionTarget",
    "ReachMap",
    "Reachability",
    "Target",
    "TrackOptions",
    "TrackStep",
    "Tracker",
    "reach_map",
    "TeaArmRobot",
    "axis_cost",
    "cost_by_name",
    "heading_cost",
    "jaxls_cost",
    "joint_cost",
    "limit_cost",
    "look_at_cost",
    "manipulability_cost",
    "margins_at_rest",
    "minimize",
    "multi_sphere_self_collision_cost",
    "pose_cost",
    "position_cost",
    "rest_cost",
    "self_collision_cost",
    "solve_jax",
    "target_cost",
    "world_cost",
]


def __getattr__(name: str) -> Any:
    if name not in _NEED_JAX:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_NEED_JAX[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
