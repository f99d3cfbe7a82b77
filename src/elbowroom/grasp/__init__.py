"""Grasp geometry: hands with coupled joints, closures for lines, planes and cylinders, checks."""

from ._checks import TIP_TOLERANCE as TIP_TOLERANCE
from ._checks import GraspCheck as GraspCheck
from ._checks import GraspChecker as GraspChecker
from ._checks import Overlap as Overlap
from ._choose import RatedGrasp as RatedGrasp
from ._choose import best_grasp as best_grasp
from ._choose import rate_grasp as rate_grasp
from ._contact import Contact as Contact
from ._execute import ApproachOptions as ApproachOptions
from ._execute import GraspMotion as GraspMotion
from ._execute import base_coordinates as base_coordinates
from ._execute import plan_approach as plan_approach
from ._grasp import Grasp as Grasp
from ._grasp import WorldGrasp as WorldGrasp
from ._hand import Actuator as Actuator
from ._hand import Finger as Finger
from ._hand import Hand as Hand
from ._hand import UnknownFingerError as UnknownFingerError
from ._hand import moving_joints as moving_joints
from ._load import load_hand as load_hand
from ._mount import MountedHand as MountedHand
from ._mount import mount as mount
from ._mount import mounted_hand as mounted_hand
from ._object import GraspedObject as GraspedObject
from ._object import grasped_object as grasped_object
from ._placements import Placement as Placement
from ._planner import GraspPlanner as GraspPlanner
from ._planner import GraspRangeError as GraspRangeError
from ._planner import Sweep as Sweep
from ._proportional import ClosureFigures as ClosureFigures
from ._quality import GraspContact as GraspContact
from ._quality import GraspQuality as GraspQuality
from ._quality import contacts_on_cylinder as contacts_on_cylinder
from ._quality import contacts_on_mesh as contacts_on_mesh
from ._quality import contacts_on_sides as contacts_on_sides
from ._quality import grasp_quality as grasp_quality
from ._reach import reach_for as reach_for
from ._reach_types import ReachOptions as ReachOptions
from ._reach_types import ReachResult as ReachResult
from ._rh56 import revisions as revisions
from ._rh56 import rh56_spec as rh56_spec
from ._selftest import SelfTest as SelfTest
from ._selftest import self_test as self_test
from ._tables import ExactFingers as ExactFingers
from ._tables import TableFingers as TableFingers
from ._types import Opposition as Opposition
from ._types import ProportionalLaw as ProportionalLaw
from ._types import Wrap as Wrap

__all__ = [
    # the hand
    "load_hand",
    "Hand",
    "Finger",
    "Actuator",
    "Opposition",
    "Wrap",
    "ProportionalLaw",
    "UnknownFingerError",
    "moving_joints",
    "revisions",
    "rh56_spec",
    "TableFingers",
    "ExactFingers",
    # planning
    "GraspPlanner",
    "Grasp",
    "WorldGrasp",
    "Sweep",
    "ClosureFigures",
    "GraspRangeError",
    "GraspedObject",
    "grasped_object",
    "self_test",
    "SelfTest",
    # execution
    "plan_approach",
    "ApproachOptions",
    "GraspMotion",
    "base_coordinates",
    # on an arm
    "mount",
    "mounted_hand",
    "MountedHand",
    "reach_for",
    "ReachOptions",
    "ReachResult",
    "Placement",
    "Contact",
    # quality and checks
    "contacts_on_mesh",
    "contacts_on_sides",
    "contacts_on_cylinder",
    "grasp_quality",
    "GraspQuality",
    "GraspContact",
    "GraspChecker",
    "Overlap",
    "TIP_TOLERANCE",
    "GraspCheck",
    "rate_grasp",
    "best_grasp",
    "RatedGrasp",
]
