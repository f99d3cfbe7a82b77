"""Elbowroom: from a robot description to motion that keeps clear of itself and of the world.

Public names load on first use, so `import elbowroom` brings in neither JAX, MuJoCo nor viser.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__
from .errors import ElbowroomError as ElbowroomError

if TYPE_CHECKING:
    from .collision import Audit as Audit
    from .collision import Clash as Clash
    from .collision import CollisionModel as CollisionModel
    from .collision import SegmentProof as SegmentProof
    from .collision import Verdict as Verdict
    from .collision import audit as audit
    from .distance import MultiSphereCollision as MultiSphereCollision
    from .distance import SelfCollisionChecker as SelfCollisionChecker
    from .distance import auto_ignore_zero_pose_collisions as auto_ignore_zero_pose_collisions
    from .distance import build_multi_sphere_collision as build_multi_sphere_collision
    from .distance import colldist_from_sdf as colldist_from_sdf
    from .ik import Guard as Guard
    from .ik import IkOptions as IkOptions
    from .ik import IkResult as IkResult
    from .ik import IkSolver as IkSolver
    from .ik import TeaArmRobot as TeaArmRobot
    from .mesh import ExactCollision as ExactCollision
    from .pairs import PairMatrix as PairMatrix
    from .pairs import PairOptions as PairOptions
    from .pairs import PairReason as PairReason
    from .pairs import compute_pairs as compute_pairs
    from .plan import PathProof as PathProof
    from .plan import PlanOptions as PlanOptions
    from .plan import PlanResult as PlanResult
    from .plan import plan_motion as plan_motion
    from .plan import prove_path as prove_path
    from .recordings import Configurations as Configurations
    from .recordings import read_configurations as read_configurations
    from .robot import Robot as Robot
    from .robot import as_robot as as_robot
    from .robot import catalogue as catalogue
    from .robot import load_robot as load_robot
    from .spheres import FitOptions as FitOptions
    from .spheres import SphereModel as SphereModel
    from .spheres import fit_spheres as fit_spheres
    from .spheres import prove_coverage as prove_coverage
    from .ui import show as show

_HOME = {
    "Audit": "collision",
    "Clash": "collision",
    "CollisionModel": "collision",
    "SegmentProof": "collision",
    "Verdict": "collision",
    "audit": "collision",
    "MultiSphereCollision": "distance",
    "SelfCollisionChecker": "distance",
    "auto_ignore_zero_pose_collisions": "distance",
    "build_multi_sphere_collision": "distance",
    "colldist_from_sdf": "distance",
    "TeaArmRobot": "ik",
    "PairMatrix": "pairs",
    "PairOptions": "pairs",
    "PairReason": "pairs",
    "compute_pairs": "pairs",
    "ExactCollision": "mesh",
    "Guard": "ik",
    "IkOptions": "ik",
    "IkResult": "ik",
    "IkSolver": "ik",
    "PathProof": "plan",
    "PlanOptions": "plan",
    "PlanResult": "plan",
    "plan_motion": "plan",
    "prove_path": "plan",
    "Configurations": "recordings",
    "Robot": "robot",
    "as_robot": "robot",
    "catalogue": "robot",
    "load_robot": "robot",
    "read_configurations": "recordings",
    "FitOptions": "spheres",
    "SphereModel": "spheres",
    "fit_spheres": "spheres",
    "prove_coverage": "spheres",
    "show": "ui",
}
"""Public name -> folder that defines it."""

__all__ = [
    "Audit",
    "Clash",
    "CollisionModel",
    "Configurations",
    "ElbowroomError",
    "ExactCollision",
    "FitOptions",
    "Guard",
    "IkOptions",
    "IkResult",
    "IkSolver",
    "MultiSphereCollision",
    "PairMatrix",
    "PairOptions",
    "PairReason",
    "PathProof",
    "PlanOptions",
    "PlanResult",
    "Robot",
    "SegmentProof",
    "SelfCollisionChecker",
    "SphereModel",
    "TeaArmRobot",
    "Verdict",
    "__version__",
    "as_robot",
    "audit",
    "auto_ignore_zero_pose_collisions",
    "build_multi_sphere_collision",
    "catalogue",
    "colldist_from_sdf",
    "compute_pairs",
    "fit_spheres",
    "load_robot",
    "plan_motion",
    "prove_coverage",
    "prove_path",
    "read_configurations",
    "show",
]


_FOLDERS = (
    "collision",
    "distance",
    "formats",
    "grasp",
    "ik",
    "mesh",
    "pairs",
    "plan",
    "recordings",
    "robot",
    "spheres",
    "world",
)
"""Folders that are used as `elbowroom.NAME` without importing them first."""


def __getattr__(name: str) -> Any:
    if name in _FOLDERS:
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module 'elbowroom' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
