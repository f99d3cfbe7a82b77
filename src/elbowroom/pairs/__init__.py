"""Which pairs of links need checking, each with a reason and the evidence for it."""

from ._compute import compute_pairs as compute_pairs
from ._evidence import PairEvidence as PairEvidence
from ._evidence import PairReason as PairReason
from ._given import pairs_from_ignored as pairs_from_ignored
from ._made_for import MadeFor as MadeFor
from ._matrix import PairDiff as PairDiff
from ._matrix import PairMatrix as PairMatrix
from ._options import PairOptions as PairOptions

__all__ = [
    "MadeFor",
    "PairDiff",
    "PairEvidence",
    "PairMatrix",
    "PairOptions",
    "PairReason",
    "compute_pairs",
    "pairs_from_ignored",
]
