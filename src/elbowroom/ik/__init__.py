"""Inverse kinematics that keeps clear: targets, the solver, one tick, and a guard for any controller.

Names of the JAX engine load JAX on first use, so the numba engine starts without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._filtered import FilteredMotion as FilteredMotion
from ._guard import Guard as Guard
from ._guard import GuardStep as GuardStep
from ._options import IkOptions as IkOptions
from ._reach import Reachability as Reachability
from ._reach import ReachMap as ReachMap
from ._reach import reach_map as reach_map
from ._result import Failure as Failure
from ._result import IkResult as IkResult
from ._result import NearestFree as NearestFree
from ._serve import ServeReport as ServeReport
from ._serve import serve_lines as serve_lines
from ._serve_socket import serve_socket as serve_socket
from ._session import Session as Session
from ._solver import IkSolver as IkSolver
from ._targets import AxisTarget as AxisTarget
from ._targets import JointTarget as JointTarget
from ._targets import LookAt as LookAt
from ._targets import PoseTarget as PoseTarget
from ._targets import PositionTarget as PositionTarget
from ._targets import Target as Target
from ._track import Tracker as Tracker
from ._track import TrackStep as TrackStep
from ._track_options import TrackOptions as TrackOptions
from ._xr import XrOptions as XrOptions

if TYPE_CHECKING:
    from ._jax_batch import solve_jax as solve_jax
    from ._jax_clearance import margins_at_rest as margins_at_rest
    from ._jax_clearance import self_collision_cost as self_collision_cost
    from ._jax_clearance import world_cost as world_cost
    from ._jax_costs import Cost as Cost
    from ._jax_costs import axis_cost as axis_cost
    from ._jax_costs import heading_cost as heading_cost
    from ._jax_costs import joint_cost as joint_cost
    from ._jax_costs import limit_cost as limit_cost
    from ._jax_costs import look_at_cost as look_at_cost
    from ._jax_costs import manipulability_cost as manipulability_cost
    from ._jax_costs import pose_cost as pose_cost
    from ._jax_costs import position_cost as position_cost
    from ._jax_costs import rest_cost as rest_cost
    from ._jax_costs import target_cost as target_cost
    from ._jax_solve import Minimum as Minimum
    from ._jax_solve import cost_by_name as cost_by_name
    from ._jax_solve import minimize as minimize
    from ._pyroki_cost import jaxls_cost as jaxls_cost
    from ._pyroki_cost import multi_sphere_self_collision_cost as multi_sphere_self_collision_cost
    from ._teaarm import TeaArmRobot as TeaArmRobot

_NEED_JAX = {
    "Cost": "_jax_costs",
    "Minimum": "_jax_solve",
    "TeaArmRobot": "_teaarm",
    "axis_cost": "_jax_costs",
    "cost_by_name": "_jax_solve",
    "heading_cost": "_jax_costs",
    "jaxls_cost": "_pyroki_cost",
    "joint_cost": "_jax_costs",
    "limit_cost": "_jax_costs",
    "look_at_cost": "_jax_costs",
    "manipulability_cost": "_jax_costs",
    "margins_at_rest": "_jax_clearance",
    "minimize": "_jax_solve",
    "multi_sphere_self_collision_cost": "_pyroki_cost",
    "pose_cost": "_jax_costs",
    "position_cost": "_jax_costs",
    "rest_cost": "_jax_costs",
    "self_collision_cost": "_jax_clearance",
    "solve_jax": "_jax_batch",
    "target_cost": "_jax_costs",
    "world_cost": "_jax_clearance",
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
    "ServeReport",
    "Session",
    "Target",
    "TrackOptions",
    "TrackStep",
    "Tracker",
    "XrOptions",
    "reach_map",
    "serve_lines",
    "serve_socket",
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
