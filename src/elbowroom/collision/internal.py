"""What other folders need of the verdict beyond asking it; it may change without notice.

Spheres made to cover (`covering`, `one_ball_a_link`), pairs from the cache (`cached_pairs`) or for a larger clearance
(`checked_for`), the scene of the compiled core (`core_scene`), clearances that a motion cannot change in words
(`constant_lines`, `joints_between`, `moving_joints`), slack as rows
(`as_slacks`), links and obstacles as the core has them (`Links`, `Outside`).
"""

from ._audit_report import BETWEEN as BETWEEN
from ._constant import constant_lines as constant_lines
from ._constant import joints_between as joints_between
from ._constant import moving_joints as moving_joints
from ._defaults import cached_pairs as cached_pairs
from ._defaults import covering as covering
from ._defaults import one_ball_a_link as one_ball_a_link
from ._links import Links as Links
from ._model import checked_for as checked_for
from ._model import core_scene as core_scene
from ._outside import Outside as Outside
from ._segment import as_slacks as as_slacks
