"""What other folders need of robots; it may change without notice.

Rigid bodies and coupling laws (`find_bodies`, `coupling_law`), the joints between two links and how far they can move
a point (`Chains`), pairs and configurations by name (`pair_list`, `adjacent_pairs`, `named_poses`), whether there is
geometry (`require_geometry`), XML of descriptions (`description_tree`, `urdf_links`), the bodies in an MJCF scene
(`own_bodies`), elements of SRDF files (`srdf_tree`, `link_pair`, `srdf_pairs`), mesh files and where they are
(`read_mesh`, `MeshResolver`, `package_dirs_of`), triangles of primitives, joint motions, and how fast joints may be
(`stated_speeds`, `usual_accelerations`, `per_joint`, `speed_limits`). It loads no JAX.
"""

from typing import TYPE_CHECKING

from ._bodies import Bodies as Bodies
from ._bodies import Chain as Chain
from ._bodies import Chains as Chains
from ._bodies import coupling_law as coupling_law
from ._bodies import find_bodies as find_bodies
from ._default import named_poses as named_poses
from ._facts import description_changes as description_changes
from ._facts import description_facts as description_facts
from ._geometry import require_geometry as require_geometry
from ._geometry import unseen_links as unseen_links
from ._join import root_pose as root_pose
from ._link_pairs import adjacent_pairs as adjacent_pairs
from ._link_pairs import pair_list as pair_list
from ._load import as_kinematics as as_kinematics
from ._load import description_tree as description_tree
from ._load import package_dirs_of as package_dirs_of
from ._load import urdf_links as urdf_links
from ._pyroki import jaxls_module as jaxls_module
from ._speeds import per_joint as per_joint
from ._speeds import speed_limits as speed_limits
from ._speeds import stated_speeds as stated_speeds
from ._speeds import usual_accelerations as usual_accelerations
from ._tessellate import mesh_shape as mesh_shape
from ._tessellate import primitive as primitive
from ._tessellate import sphere_mesh as sphere_mesh
from ._tool_frames import default_tool_frames as default_tool_frames
from ._tree import KinematicTree as KinematicTree
from ._tree import build_tree as build_tree
from ._types import joint_motion as joint_motion
from .descriptions._catalogue import find_robot as find_robot
from .descriptions._meshfile import read_mesh as read_mesh
from .descriptions._mjcf_own import own_bodies as own_bodies
from .descriptions._resolve import MeshResolver as MeshResolver
from .descriptions._resolve import as_folders as as_folders
from .descriptions._srdf import DisabledPair as DisabledPair
from .descriptions._srdf import SrdfPairs as SrdfPairs
from .descriptions._srdf import link_pair as link_pair
from .descriptions._srdf import srdf_pairs as srdf_pairs
from .descriptions._srdf import srdf_tree as srdf_tree

if TYPE_CHECKING:
    from ._link_jax import LinkInJax as LinkInJax
