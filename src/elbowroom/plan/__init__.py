"""Motion: from one configuration to another, proved free all the way."""

from ._curve import Curve as Curve
from ._edges import Edges as Edges
from ._group import Group as Group
from ._options import PlanOptions as PlanOptions
from ._path_proof import PathProof as PathProof
from ._result import PlanResult as PlanResult
from ._sampler import Sampler as Sampler
from ._shorten import shorten as shorten
from ._stomp_options import StompOptions as StompOptions

__all__ = [
    "Curve",
    "Edges",
    "Group",
    "PathProof",
    "PlanOptions",
    "PlanResult",
    "Sampler",
    "StompOptions",
    "shorten",
]
