"""Numba kernels of the sphere model that other folders build on; importing this module loads numba."""

from ._kernels import GROUP_SPHERE as GROUP_SPHERE
from ._kernels import GROUP_SPHERES as GROUP_SPHERES
from ._kernels import JOINT as JOINT
from ._kernels import JOINT_COUPLED as JOINT_COUPLED
from ._kernels import JOINT_DRIVER as JOINT_DRIVER
from ._kernels import LANES as LANES
from ._kernels import LAW_LIMIT as LAW_LIMIT
from ._kernels import LAW_WIDTH as LAW_WIDTH
from ._kernels import LINK_BODY as LINK_BODY
from ._kernels import LINK_GROUP as LINK_GROUP
from ._kernels import LINK_GROUPS as LINK_GROUPS
from ._kernels import POINT as POINT
from ._kernels import POSE as POSE
from ._kernels import body_poses as body_poses
from ._kernels import expand as expand
from ._kernels import hits as hits
from ._kernels import need as need
from ._kernels import pair_hits as pair_hits
from ._kernels import pair_mask as pair_mask
from ._kernels import place as place
from ._kernels import tables as tables
from ._kernels import views as views
