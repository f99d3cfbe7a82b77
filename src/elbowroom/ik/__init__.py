"""Inverse kinematics that keeps clear: targets, the solver, one tick, and a guard for any controller."""

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
from ._rows import CollisionRows as CollisionRows
from ._rows import RowSet as RowSet
from ._safe_options import SafeOptions as SafeOptions
from ._safe_step import SafeStep as SafeStep
from ._safe_step import Step as Step
from ._solver import IkSolver as IkSolver
from ._targets import AxisTarget as AxisTarget
from ._targets import JointTarget as JointTarget
from ._targets import LookAt as LookAt
from ._targets import PoseTarget as PoseTarget
from ._targets import PositionTarget as PositionTarget
from ._targets import Target as Target
from ._targets import as_targets as as_targets
from ._track import Tracker as Tracker
from ._track import TrackStep as TrackStep
from ._track_options import TrackOptions as TrackOptions

__all__ = [
    "AxisTarget",
    "CollisionRows",
    "FilteredMotion",
    "Guard",
    "GuardStep",
    "Failure",
    "IkOptions",
    "IkResult",
    "IkSolver",
    "JointTarget",
    "LookAt",
    "NearestFree",
    "PoseTarget",
    "PositionTarget",
    "RowSet",
    "SafeOptions",
    "SafeStep",
    "Step",
    "ReachMap",
    "Reachability",
    "Target",
    "TrackOptions",
    "TrackStep",
    "Tracker",
    "as_targets",
    "reach_map",
]
