"""Which pairs of links need checking, each with a reason and the evidence for it."""

from ._alarms import AlarmReport as AlarmReport
from ._alarms import PairAlarms as PairAlarms
from ._alarms import false_alarms as false_alarms
from ._by_mesh import pairs_by_mesh as pairs_by_mesh
from ._compute import compute_pairs as compute_pairs
from ._compute import upper_bound as upper_bound
from ._diff import PairDiff as PairDiff
from ._diff import diff_pairs as diff_pairs
from ._exchange import curobo_ignore_from_pairs as curobo_ignore_from_pairs
from ._exchange import mjcf_excludes_from_pairs as mjcf_excludes_from_pairs
from ._exchange import pairs_from_curobo_ignore as pairs_from_curobo_ignore
from ._exchange import pairs_from_mjcf_excludes as pairs_from_mjcf_excludes
from ._matrix import PairEvidence as PairEvidence
from ._matrix import PairMatrix as PairMatrix
from ._matrix import PairReason as PairReason
from ._options import PairOptions as PairOptions
from ._srdf import read_pairs_srdf as read_pairs_srdf
from ._srdf import write_pairs_srdf as write_pairs_srdf

__all__ = [
    "AlarmReport",
    "PairAlarms",
    "PairDiff",
    "PairEvidence",
    "PairMatrix",
    "PairOptions",
    "PairReason",
    "compute_pairs",
    "curobo_ignore_from_pairs",
    "diff_pairs",
    "false_alarms",
    "mjcf_excludes_from_pairs",
    "pairs_by_mesh",
    "pairs_from_curobo_ignore",
    "pairs_from_mjcf_excludes",
    "read_pairs_srdf",
    "upper_bound",
    "write_pairs_srdf",
]
