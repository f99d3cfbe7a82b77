"""Robot descriptions become Robots: URDF, MJCF, SRDF; forward kinematics in JAX and numba."""

from ._catalogue import CatalogueEntry as CatalogueEntry
from ._catalogue import catalogue as catalogue
from ._jax_door import register_with_jax as _register_with_jax
from ._load import load_robot as load_robot
from ._pyroki import as_robot as as_robot
from ._robot import Robot as Robot
from ._srdf import Srdf as Srdf
from ._srdf import read_srdf as read_srdf
from ._tree import KinematicTree as KinematicTree
from ._types import Coupling as Coupling
from ._types import Joint as Joint
from ._types import MeshData as MeshData
from ._types import Note as Note
from ._types import Shape as Shape

__all__ = [
    "CatalogueEntry",
    "Coupling",
    "Joint",
    "KinematicTree",
    "MeshData",
    "Note",
    "Robot",
    "Shape",
    "Srdf",
    "as_robot",
    "catalogue",
    "load_robot",
    "read_srdf",
]

_register_with_jax()
