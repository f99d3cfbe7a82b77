"""What other folders of the house need of the verdict beyond asking it; it may change without notice.

Its packed parts for kernels of planning and inverse kinematics (`Parts`, `WorldParts`, `Lanes`, `LinkChains`), spheres
made to cover (`covering`, `one_ball_a_link`), pairs from the cache, and kernels compiled ahead in a process of their
own (`start_helper`, `is_warm`).
"""

from ._audit_report import BETWEEN as BETWEEN
from ._cover import covering as covering
from ._cover import one_ball_a_link as one_ball_a_link
from ._defaults import cached_pairs as cached_pairs
from ._lanes import Lanes as Lanes
from ._parts import Parts as Parts
from ._parts import WorldParts as WorldParts
from ._segment_world import LinkChains as LinkChains
from ._slack import as_slacks as as_slacks
from ._warm import Helper as Helper
from ._warm import is_warm as is_warm
from ._warm import start_helper as start_helper
