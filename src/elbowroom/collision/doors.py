"""What other folders of the house need of the verdict beyond asking it; it may change without notice.

Its packed parts for kernels of planning and inverse kinematics (`Parts`, `WorldParts`, `Lanes`, `LinkChains`), spheres
made to cover (`covering`, `one_ball_a_link`), pairs from the cache (`cached_pairs`) or for a larger clearance
(`checked_for`), clearances that a motion cannot change in words (`constant_lines`, `joints_between`, `moving_joints`),
and kernels compiled ahead in a process of their own (`start_helper`, `is_warm`).
"""

from ._audit_report import BETWEEN as BETWEEN
from ._constant import constant_lines as constant_lines
from ._constant import joints_between as joints_between
from ._constant import moving_joints as moving_joints
from ._cover import covering as covering
from ._cover import one_ball_a_link as one_ball_a_link
from ._defaults import cached_pairs as cached_pairs
from ._lanes import Lanes as Lanes
from ._model import checked_for as checked_for
from ._parts import Parts as Parts
from ._parts import WorldParts as WorldParts
from ._segment_world import LinkChains as LinkChains
from ._slack import as_slacks as as_slacks
from ._warm import Helper as Helper
from ._warm import is_warm as is_warm
from ._warm import start_helper as start_helper
