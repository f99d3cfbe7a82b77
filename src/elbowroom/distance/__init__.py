"""Self-collision distances: differentiable in JAX, at once in numba.

Names that need JAX load it on first use, so the numba checker starts without it.

Doors for other folders: spheres as arrays (`sphere_arrays`, `link_values`), balls around balls (`enclosing_ball`,
`split_balls`), the model that the numba kernels run on (`pack_model`, `PackedModel`), `bad_row`, the error for
rows that they refuse, and the module `elbowroom.distance.kernels`, which loads numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._checker import SelfCollisionChecker as SelfCollisionChecker
from ._checker import bad_row as bad_row
from ._inputs import Spheres as Spheres
from ._inputs import default_pairs as default_pairs
from ._inputs import link_values as link_values
from ._inputs import sphere_arrays as sphere_arrays
from ._model import PackedModel as PackedModel
from ._model import enclosing_ball as enclosing_ball
from ._model import pack_model as pack_model
from ._model import split_balls as split_balls

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
    "PackedModel",
    "SelfCollisionChecker",
    "Spheres",
    "auto_ignore_zero_pose_collisions",
    "bad_row",
    "build_multi_sphere_collision",
    "colldist_from_sdf",
    "default_pairs",
    "enclosing_ball",
    "link_values",
    "pack_model",
    "self_collision_residual",
    "sphere_arrays",
    "split_balls",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    globals()[name] = value
    return value
