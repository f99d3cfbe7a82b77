"""Robot descriptions become Robots: URDF, MJCF, SRDF; forward kinematics in JAX and in the compiled core.

It loads no JAX until something is computed by it.
"""

from __future__ import annotations

from ._default import DefaultPose as DefaultPose
from ._jax_facts import register_with_jax as _register_with_jax
from ._join import joined as joined
from ._join import without_links as without_links
from ._load import as_robot as as_robot
from ._load import load_robot as load_robot
from ._robot import Robot as Robot
from ._types import Coupling as Coupling
from ._types import Joint as Joint
from ._types import Note as Note
from ._types import Shape as Shape
from ._visuals import Visual as Visual
from .descriptions._catalogue import CatalogueEntry as CatalogueEntry
from .descriptions._catalogue import catalogue as catalogue

__all__ = [
    "CatalogueEntry",
    "Coupling",
    "DefaultPose",
    "Joint",
    "Note",
    "Robot",
    "Shape",
    "Visual",
    "as_robot",
    "catalogue",
    "joined",
    "load_robot",
    "without_links",
]


_register_with_jax()
