"""Motion: from one configuration to another, proved free all the way."""

from ._batch import PlanProblem as PlanProblem
from ._batch import plan_batch as plan_batch
from ._cost import Cost as Cost
from ._cost import FunctionCost as FunctionCost
from ._costs import cost_report as cost_report
from ._costs import default_costs as default_costs
from ._costs import total_cost as total_cost
from ._curve import Curve as Curve
from ._edges import Edges as Edges
from ._group import Group as Group
from ._limit_costs import AccelerationCost as AccelerationCost
from ._limit_costs import VelocityCost as VelocityCost
from ._limits import limits_of as limits_of
from ._link_boxes import LinkBoxes as LinkBoxes
from ._link_boxes import link_boxes as link_boxes
from ._motion import Limits as Limits
from ._motion import Motion as Motion
from ._obstacle_cost import ObstacleCost as ObstacleCost
from ._options import PlanOptions as PlanOptions
from ._path_constraints import PlaneCost as PlaneCost
from ._path_constraints import TubeCost as TubeCost
from ._path_constraints import UprightCost as UprightCost
from ._path_proof import PathProof as PathProof
from ._plan import plan_motion as plan_motion
from ._prove import prove_path as prove_path
from ._result import PlanResult as PlanResult
from ._roadmap import Roadmap as Roadmap
from ._roughness import roughness as roughness
from ._sampler import Sampler as Sampler
from ._self_cost import SelfCollisionCost as SelfCollisionCost
from ._shorten import shorten as shorten
from ._smooth import smooth as smooth
from ._stomp import Stomp as Stomp
from ._stomp_options import StompOptions as StompOptions
from ._stomp_result import StompResult as StompResult
from ._timing import time_curve as time_curve
from ._watch import PlanProgress as PlanProgress

__all__ = [
    "AccelerationCost",
    "Cost",
    "Curve",
    "Edges",
    "FunctionCost",
    "Group",
    "Limits",
    "LinkBoxes",
    "Motion",
    "ObstacleCost",
    "PathProof",
    "PlanOptions",
    "PlanProblem",
    "PlanProgress",
    "PlanResult",
    "PlaneCost",
    "Roadmap",
    "Sampler",
    "SelfCollisionCost",
    "Stomp",
    "StompOptions",
    "StompResult",
    "TubeCost",
    "UprightCost",
    "VelocityCost",
    "cost_report",
    "default_costs",
    "limits_of",
    "link_boxes",
    "plan_batch",
    "plan_motion",
    "prove_path",
    "roughness",
    "shorten",
    "smooth",
    "time_curve",
    "total_cost",
]
