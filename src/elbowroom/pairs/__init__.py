"""Which pairs of links need checking, each with a reason and the evidence for it."""

from ._by_mesh import pairs_by_mesh as pairs_by_mesh
from ._chain import PairChains as PairChains
from ._compute import compute_pairs as compute_pairs
from ._compute import upper_bound as upper_bound
from ._diff import PairDiff as PairDiff
from ._diff import diff_pairs as diff_pairs
from ._matrix import PairEvidence as PairEvidence
from ._matrix import PairMatrix as PairMatrix
from ._matrix import PairReason as PairReason
from ._options import PairOptions as PairOptions
from ._srdf import read_pairs_srdf as read_pairs_srdf
from ._srdf import write_pairs_srdf as write_pairs_srdf

__all__ = [
    "PairChains",
    "PairDiff",
    "PairEvidence",
    "PairMatrix",
    "PairOptions",
    "PairReason",
    "compute_pairs",
    "diff_pairs",
    "pairs_by_mesh",
    "read_pairs_srdf",
    "upper_bound",
    "write_pairs_srdf",
]
