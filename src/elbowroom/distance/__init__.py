"""Self-collision distances: differentiable in JAX, at once in the compiled core.

Names that need JAX load it on first use, so the checker starts without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._checker import SelfCollisionChecker as SelfCollisionChecker

if TYPE_CHECKING:
    from ._build import auto_ignore_zero_pose_collisions as auto_ignore_zero_pose_collisions
    from ._build import build_multi_sphere_collision as build_multi_sphere_collision
    from ._build import colldist_from_sdf as colldist_from_sdf
    from ._build import self_collision_residual as self_collision_residual
    from ._multi_sphere import MultiSphereCollision as MultiSphereCollision

_LAZY = {
    "MultiSphereCollision": "_multi_sphere",
    "auto_ignore_zero_pose_collisions": "_build",
    "build_multi_sphere_collision": "_build",
    "colldist_from_sdf": "_build",
    "self_collision_residual": "_build",
}
"""Name -> module that needs JAX."""

__all__ = [
    "MultiSphereCollision",
    "SelfCollisionChecker",
    "auto_ignore_zero_pose_collisions",
    "build_multi_sphere_collision",
    "colldist_from_sdf",
    "self_collision_residual",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
