"""Inverse kinematics that keeps clear: targets, the solver, one tick, and a guard for any controller."""

from ._options import IkOptions as IkOptions
from ._result import IkResult as IkResult
from ._targets import AxisTarget as AxisTarget
from ._targets import JointTarget as JointTarget
from ._targets import LookAt as LookAt
from ._targets import PoseTarget as PoseTarget
from ._targets import PositionTarget as PositionTarget
from ._targets import Target as Target
from ._targets import as_targets as as_targets

__all__ = [
    "AxisTarget",
    "IkOptions",
    "IkResult",
    "JointTarget",
    "LookAt",
    "PoseTarget",
    "PositionTarget",
    "Target",
    "as_targets",
]
