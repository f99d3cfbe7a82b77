"""Which pairs of links need checking, each with a reason and the evidence for it.

Doors for `formats`: `edit_pairs` and `edit_elements` make an SRDF say what a matrix or a list of pairs says, `TO_SRDF`
has the words, `unseen_in_srdf` says what others miss, `matrix_from_srdf` reads them back; `pairs_to_json` and
`pairs_from_json` are the lossless form.
"""

from ._chain import PairChains as PairChains
from ._compute import compute_pairs as compute_pairs
from ._diff import PairDiff as PairDiff
from ._diff import diff_pairs as diff_pairs
from ._evidence import PairEvidence as PairEvidence
from ._evidence import PairReason as PairReason
from ._file import is_pairs_json as is_pairs_json
from ._file import pairs_from_json as pairs_from_json
from ._file import pairs_to_json as pairs_to_json
from ._given import BY_MESHES as BY_MESHES
from ._given import pairs_from_ignored as pairs_from_ignored
from ._made_for import LinkMark as LinkMark
from ._made_for import MadeFor as MadeFor
from ._made_for import made_for as made_for
from ._matrix import PairMatrix as PairMatrix
from ._options import BUFFER as BUFFER
from ._options import PairOptions as PairOptions
from ._sample import CHECKPOINT as CHECKPOINT
from ._sentences import upper_bound as upper_bound
from ._srdf import TO_SRDF as TO_SRDF
from ._srdf import edit_elements as edit_elements
from ._srdf import edit_pairs as edit_pairs
from ._srdf import matrix_from_srdf as matrix_from_srdf
from ._srdf import read_pairs_srdf as read_pairs_srdf
from ._srdf import unseen_in_srdf as unseen_in_srdf
from ._srdf import write_pairs_srdf as write_pairs_srdf

__all__ = [
    "BUFFER",
    "BY_MESHES",
    "CHECKPOINT",
    "PairChains",
    "LinkMark",
    "MadeFor",
    "PairDiff",
    "PairEvidence",
    "PairMatrix",
    "PairOptions",
    "PairReason",
    "TO_SRDF",
    "compute_pairs",
    "diff_pairs",
    "edit_elements",
    "edit_pairs",
    "is_pairs_json",
    "made_for",
    "matrix_from_srdf",
    "pairs_from_ignored",
    "pairs_from_json",
    "pairs_to_json",
    "read_pairs_srdf",
    "unseen_in_srdf",
    "upper_bound",
    "write_pairs_srdf",
]
