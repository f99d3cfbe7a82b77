"""Robot descriptions become Robots: URDF, MJCF, SRDF; forward kinematics in JAX and numba.

Doors for other folders: rigid bodies and coupling laws (`find_bodies`, `coupling_law`), the joints between two links
and how far they can move a point (`Chains`), pairs and configurations by name (`pair_list`,
`adjacent_pairs`, `named_poses`), whether there is geometry (`require_geometry`), XML of descriptions
(`description_tree`), one robot on a link of another, and parts left out (`joined`, `without_links`), the bodies in
an MJCF scene (`own_bodies`), elements of SRDF files (`srdf_tree`, `link_pair`, `srdf_pairs`), mesh files and where they
are (`read_mesh`, `MeshResolver`), triangles of primitives, joint motions, and how fast joints may be (`stated_speeds`,
`usual_accelerations`, `per_joint`, `speed_limits`). Kernels that other folders build on are in
`elbowroom.robot.kernels`, which loads numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._bodies import Bodies as Bodies
from ._bodies import coupling_law as coupling_law
from ._bodies import find_bodies as find_bodies
from ._catalogue import CatalogueEntry as CatalogueEntry
from ._catalogue import catalogue as catalogue
from ._catalogue import find_robot as find_robot
from ._chain import Chain as Chain
from ._chain import Chains as Chains
from ._configurations import Configurations as Configurations
from ._configurations import read_configurations as read_configurations
from ._default import DefaultPose as DefaultPose
from ._facts import description_changes as description_changes
from ._facts import description_facts as description_facts
from ._geometry import require_geometry as require_geometry
from ._geometry import unseen_links as unseen_links
from ._jax_door import register_with_jax as _register_with_jax
from ._join import joined as joined
from ._join import root_pose as root_pose
from ._join import without_links as without_links
from ._link_pairs import adjacent_pairs as adjacent_pairs
from ._link_pairs import pair_list as pair_list
from ._load import description_tree as description_tree
from ._load import load_robot as load_robot
from ._meshfile import read_mesh as read_mesh
from ._mjcf_own import own_bodies as own_bodies
from ._named import named_poses as named_poses
from ._pyroki import as_robot as as_robot
from ._pyroki import jaxls_module as jaxls_module
from ._resolve import MeshResolver as MeshResolver
from ._robot import Robot as Robot
from ._speeds import UNLIMITED_SPEED as UNLIMITED_SPEED
from ._speeds import per_joint as per_joint
from ._speeds import speed_limits as speed_limits
from ._speeds import stated_speeds as stated_speeds
from ._speeds import usual_accelerations as usual_accelerations
from ._srdf import DisabledPair as DisabledPair
from ._srdf import Srdf as Srdf
from ._srdf import SrdfPairs as SrdfPairs
from ._srdf import link_pair as link_pair
from ._srdf import srdf_for_robot as srdf_for_robot
from ._srdf import srdf_pairs as srdf_pairs
from ._srdf import srdf_tree as srdf_tree
from ._tessellate import mesh_shape as mesh_shape
from ._tessellate import primitive as primitive
from ._tessellate import sphere_mesh as sphere_mesh
from ._tree import KinematicTree as KinematicTree
from ._tree import build_tree as build_tree
from ._types import Coupling as Coupling
from ._types import Joint as Joint
from ._types import MeshData as MeshData
from ._types import Note as Note
from ._types import Shape as Shape
from ._types import joint_motion as joint_motion
from ._visuals import Visual as Visual

if TYPE_CHECKING:
    from ._link_jax import LinkInJax as LinkInJax

__all__ = [
    "Bodies",
    "CatalogueEntry",
    "Chain",
    "Chains",
    "Configurations",
    "Coupling",
    "DefaultPose",
    "DisabledPair",
    "Joint",
    "KinematicTree",
    "MeshData",
    "MeshResolver",
    "Note",
    "Robot",
    "Shape",
    "Srdf",
    "SrdfPairs",
    "UNLIMITED_SPEED",
    "Visual",
    "adjacent_pairs",
    "as_robot",
    "build_tree",
    "catalogue",
    "coupling_law",
    "description_changes",
    "description_facts",
    "description_tree",
    "find_bodies",
    "find_robot",
    "joined",
    "jaxls_module",
    "joint_motion",
    "link_pair",
    "load_robot",
    "mesh_shape",
    "named_poses",
    "own_bodies",
    "pair_list",
    "per_joint",
    "primitive",
    "read_configurations",
    "read_mesh",
    "require_geometry",
    "root_pose",
    "srdf_for_robot",
    "sphere_mesh",
    "srdf_pairs",
    "srdf_tree",
    "speed_limits",
    "stated_speeds",
    "unseen_links",
    "usual_accelerations",
    "without_links",
]


_register_with_jax()
