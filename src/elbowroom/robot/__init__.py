"""Robot descriptions become Robots: URDF, MJCF, SRDF; forward kinematics in JAX and numba.

The second half of the names are doors for other folders: mesh files, sphere triangles, joint motions, SRDF elements.
Kernels that other folders inline are in `elbowroom.robot.kernels`, which loads numba.
"""

from ._catalogue import CatalogueEntry as CatalogueEntry
from ._catalogue import catalogue as catalogue
from ._catalogue import find_robot as find_robot
from ._jax_door import register_with_jax as _register_with_jax
from ._load import load_robot as load_robot
from ._meshfile import read_mesh as read_mesh
from ._pyroki import as_robot as as_robot
from ._robot import Robot as Robot
from ._srdf import Srdf as Srdf
from ._srdf import link_pair as srdf_link_pair
from ._srdf import read_srdf as read_srdf
from ._srdf import srdf_tree as srdf_tree
from ._tessellate import sphere_mesh as sphere_mesh
from ._tree import KinematicTree as KinematicTree
from ._types import Coupling as Coupling
from ._types import Joint as Joint
from ._types import MeshData as MeshData
from ._types import Note as Note
from ._types import Shape as Shape
from ._types import joint_motion as joint_motion

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
    "find_robot",
    "load_robot",
    "read_srdf",
    # doors
    "joint_motion",
    "read_mesh",
    "sphere_mesh",
    "srdf_link_pair",
    "srdf_tree",
]

_register_with_jax()
