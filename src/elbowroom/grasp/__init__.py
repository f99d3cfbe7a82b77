"""Grasp geometry: hands with coupled joints, closures for lines, planes and cylinders, checks."""

from ._checks import GraspCheck as GraspCheck
from ._checks import GraspChecker as GraspChecker
from ._execute import ApproachOptions as ApproachOptions
from ._execute import GraspMotion as GraspMotion
from ._execute import plan_approach as plan_approach
from ._grasp import Grasp as Grasp
from ._grasp import WorldGrasp as WorldGrasp
from ._hand import Hand as Hand
from ._hand import UnknownFingerError as UnknownFingerError
from ._load import load_hand as load_hand
from ._mount import mount as mount
from ._planner import GraspPlanner as GraspPlanner
from ._planner import GraspRangeError as GraspRangeError
from ._planner import Sweep as Sweep
from ._quality import GraspContact as GraspContact
from ._quality import GraspQuality as GraspQuality
from ._quality import RatedGrasp as RatedGrasp
from ._quality import best_grasp as best_grasp
from ._quality import contacts_on_cylinder as contacts_on_cylinder
from ._quality import contacts_on_sides as contacts_on_sides
from ._quality import grasp_quality as grasp_quality
from ._reach import ReachOptions as ReachOptions
from ._reach import ReachResult as ReachResult
from ._reach import reach_for as reach_for
from ._registers import ANGLE_ACT as ANGLE_ACT
from ._registers import ANGLE_SET as ANGLE_SET
from ._types import Opposition as Opposition
from ._types import Wrap as Wrap

__all__ = [
    # the hand
    "load_hand",
    "Hand",
    "Opposition",
    "Wrap",
    "UnknownFingerError",
    # planning
    "GraspPlanner",
    "Grasp",
    "WorldGrasp",
    "Sweep",
    "GraspRangeError",
    # execution
    "ANGLE_SET",
    "ANGLE_ACT",
    "plan_approach",
    "ApproachOptions",
    "GraspMotion",
    # on an arm
    "mount",
    "reach_for",
    "ReachOptions",
    "ReachResult",
    # quality and checks
    "contacts_on_sides",
    "contacts_on_cylinder",
    "grasp_quality",
    "GraspQuality",
    "GraspContact",
    "GraspChecker",
    "GraspCheck",
    "best_grasp",
    "RatedGrasp",
]
