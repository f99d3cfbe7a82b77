"""Inverse kinematics that keeps clear: targets, the solver, one tick, and a guard for any controller."""

from ._filtered import FilteredMotion as FilteredMotion
from ._guard import Guard as Guard
from ._guard import GuardStep as GuardStep
from ._ends import likely_ends as likely_ends
from ._messages import target_from_json as target_from_json
from ._options import IkOptions as IkOptions
from ._reach import Reachability as Reachability
from ._reach import ReachMap as ReachMap
from ._reach import reach_map as reach_map
from ._result import Failure as Failure
from ._result import IkResult as IkResult
from ._result import NearestFree as NearestFree
from ._rows import CollisionRows as CollisionRows
from ._rows import RowSet as RowSet
from ._safe_step import SafeOptions as SafeOptions
from ._safe_step import SafeStep as SafeStep
from ._safe_step import Step as Step
from ._serve import Mailbox as Mailbox
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
from ._targets import as_targets as as_targets
from ._track import Tracker as Tracker
from ._track import TrackStep as TrackStep
from ._track_options import TrackOptions as TrackOptions
from ._xr import XrOptions as XrOptions

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
    "Mailbox",
    "NearestFree",
    "PoseTarget",
    "PositionTarget",
    "RowSet",
    "SafeOptions",
    "SafeStep",
    "Step",
    "ReachMap",
    "Reachability",
    "ServeReport",
    "Session",
    "Target",
    "TrackOptions",
    "TrackStep",
    "Tracker",
    "XrOptions",
    "as_targets",
    "likely_ends",
    "reach_map",
    "serve_lines",
    "serve_socket",
    "target_from_json",
]
