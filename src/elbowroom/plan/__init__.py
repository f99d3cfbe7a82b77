"""Motion: from one configuration to another, proved free all the way."""

from ._costs import Cost as Cost
from ._costs import FunctionCost as FunctionCost
from ._costs import cost_report as cost_report
from ._costs import total_cost as total_cost
from ._curve import Curve as Curve
from ._group import Group as Group
from ._limit_costs import AccelerationCost as AccelerationCost
from ._limit_costs import VelocityCost as VelocityCost
from ._link_boxes import LinkBoxes as LinkBoxes
from ._link_boxes import link_boxes as link_boxes
from ._obstacle_cost import ObstacleCost as ObstacleCost
from ._options import PlanOptions as PlanOptions
from ._path_constraints import PlaneCost as PlaneCost
from ._path_constraints import TubeCost as TubeCost
from ._path_constraints import UprightCost as UprightCost
from ._path_proof import PathProof as PathProof
from ._result import PlanResult as PlanResult
from ._self_cost import SelfCollisionCost as SelfCollisionCost
from ._stomp_options import StompOptions as StompOptions

__all__ = [
    "AccelerationCost",
    "Cost",
    "Curve",
    "FunctionCost",
    "Group",
    "LinkBoxes",
    "ObstacleCost",
    "PathProof",
    "PlanOptions",
    "PlanResult",
    "PlaneCost",
    "SelfCollisionCost",
    "StompOptions",
    "TubeCost",
    "UprightCost",
    "VelocityCost",
    "cost_report",
    "link_boxes",
    "total_cost",
]
