"""What other folders need of pairs; it may change without notice.

For `formats`: `edit_pairs` and `edit_elements` make an SRDF say what a matrix or a list of pairs says, `TO_SRDF` has
the words, `unseen_in_srdf` says what others miss, `first_of` names pairs, `matrix_from_srdf` reads them back;
`pairs_to_json` and `pairs_from_json` are the lossless form, `ignore_dictionary` is that of cuRobo and XRDF. For the
verdict: `made_for` marks what pairs hold for, `PairChains` places them, `grouped_by_reason` tells of many in few lines.
"""

from ._chain import PairChains as PairChains
from ._file import is_pairs_json as is_pairs_json
from ._file import pairs_from_json as pairs_from_json
from ._file import pairs_to_json as pairs_to_json
from ._given import BY_MESHES as BY_MESHES
from ._made_for import made_for as made_for
from ._matrix import ignore_dictionary as ignore_dictionary
from ._options import BUFFER as BUFFER
from ._sample import CHECKPOINT as CHECKPOINT
from ._sentences import grouped_by_reason as grouped_by_reason
from ._sentences import some_pairs as some_pairs
from ._srdf import TO_SRDF as TO_SRDF
from ._srdf import edit_elements as edit_elements
from ._srdf import edit_pairs as edit_pairs
from ._srdf import first_of as first_of
from ._srdf import matrix_from_srdf as matrix_from_srdf
from ._srdf import unseen_in_srdf as unseen_in_srdf
from ._srdf import write_pairs_srdf as write_pairs_srdf
