"""Motion: from one configuration to another, proved free all the way."""

from ._costs import Cost as Cost
from ._costs import FunctionCost as FunctionCost
from ._curve import Curve as Curve
from ._group import Group as Group
from ._limits import limits_of as limits_of
from ._link_boxes import LinkBoxes as LinkBoxes
from ._link_boxes import link_boxes as link_boxes
from ._motion import Limits as Limits
from ._motion import Motion as Motion
from ._obstacle_cost import ObstacleCost as ObstacleCost
from ._options import PlanOptions as PlanOptions
from ._path_proof import PathProof as PathProof
from ._prove import prove_path as prove_path
from ._result import PlanResult as PlanResult
from ._roughness import roughness as roughness
from ._smooth import smooth as smooth
from ._stomp import Stomp as Stomp
from ._stomp_options import StompOptions as StompOptions
from ._stomp_result import StompResult as StompResult
from ._timing import time_curve as time_curve

__all__ = [
    "Cost",
    "Curve",
    "FunctionCost",
    "Group",
    "Limits",
    "LinkBoxes",
    "Motion",
    "ObstacleCost",
    "PathProof",
    "PlanOptions",
    "PlanResult",
    "Stomp",
    "StompOptions",
    "StompResult",
    "limits_of",
    "link_boxes",
    "prove_path",
    "roughness",
    "smooth",
    "time_curve",
]
