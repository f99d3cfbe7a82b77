"""Motion: from one configuration to another, proved free all the way."""

from ._curve import Curve as Curve
from ._group import Group as Group
from ._options import PlanOptions as PlanOptions
from ._path_proof import PathProof as PathProof
from ._result import PlanResult as PlanResult
from ._roughness import roughness as roughness
from ._smooth import smooth as smooth
from ._stomp_options import StompOptions as StompOptions

__all__ = ["Curve", "Group", "PathProof", "PlanOptions", "PlanResult", "StompOptions", "roughness", "smooth"]
