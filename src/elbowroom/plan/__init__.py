"""Motion: from one configuration to another, proved free all the way."""

from ._batch import PlanProblem as PlanProblem
from ._batch import plan_batch as plan_batch
from ._curve import Curve as Curve
from ._motion import Limits as Limits
from ._motion import Motion as Motion
from ._options import PlanOptions as PlanOptions
from ._path_constraints import PlaneCost as PlaneCost
from ._path_constraints import TubeCost as TubeCost
from ._path_constraints import UprightCost as UprightCost
from ._path_proof import PathProof as PathProof
from ._plan import plan_motion as plan_motion
from ._progress import PlanProgress as PlanProgress
from ._prove import prove_path as prove_path
from ._result import PlanResult as PlanResult
from ._roadmap import Roadmap as Roadmap
from ._timing import time_curve as time_curve
from .stomp._cost import Cost as Cost
from .stomp._cost import FunctionCost as FunctionCost
from .stomp._default_costs import default_costs as default_costs
from .stomp._limit_costs import AccelerationCost as AccelerationCost
from .stomp._limit_costs import VelocityCost as VelocityCost
from .stomp._link_boxes import LinkBoxes as LinkBoxes
from .stomp._link_boxes import link_boxes as link_boxes
from .stomp._obstacle_cost import ObstacleCost as ObstacleCost
from .stomp._options import StompOptions as StompOptions
from .stomp._result import StompResult as StompResult
from .stomp._self_cost import SelfCollisionCost as SelfCollisionCost
from .stomp._stomp import Stomp as Stomp

__all__ = [
    "AccelerationCost",
    "Cost",
    "Curve",
    "FunctionCost",
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
    "SelfCollisionCost",
    "Stomp",
    "StompOptions",
    "StompResult",
    "TubeCost",
    "UprightCost",
    "VelocityCost",
    "default_costs",
    "link_boxes",
    "plan_batch",
    "plan_motion",
    "prove_path",
    "time_curve",
]
