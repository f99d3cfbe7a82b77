"""Elbowroom: from a robot description to motion that keeps clear of itself and of the world.

Public names load on first use, so `import elbowroom` brings in neither JAX, MuJoCo, viser nor numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__
from .errors import ElbowroomError as ElbowroomError

if TYPE_CHECKING:
    from .mesh import ExactCollision as ExactCollision
    from .robot import Robot as Robot
    from .robot import as_robot as as_robot
    from .robot import catalogue as catalogue
    from .robot import load_robot as load_robot

_HOME = {
    "ExactCollision": "mesh",
    "Robot": "robot",
    "as_robot": "robot",
    "catalogue": "robot",
    "load_robot": "robot",
}
"""Public name -> folder that defines it."""

__all__ = ["ElbowroomError", "ExactCollision", "Robot", "__version__", "as_robot", "catalogue", "load_robot"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'elbowroom' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
