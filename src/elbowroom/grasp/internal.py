"""What other folders need of grasps: the object to draw, the hand's MJCF, the self-test.

It may change without notice.
"""

from ._checks import TIP_TOLERANCE as TIP_TOLERANCE
from ._execute import base_coordinates as base_coordinates
from ._hand import moving_joints as moving_joints
from ._placements import GraspedObject as GraspedObject
from ._placements import grasped_object as grasped_object
from ._planner import rebuild_tables as rebuild_tables
from ._rh56 import BUNDLED_HANDS as BUNDLED_HANDS
from ._rh56 import revisions as revisions
from ._rh56 import rh56_spec as rh56_spec
from ._selftest import SelfTest as SelfTest
from ._selftest import self_test as self_test
