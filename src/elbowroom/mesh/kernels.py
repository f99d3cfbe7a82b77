"""Numba kernels of posed meshes that other folders build on; importing this module loads numba."""

from ._kernels_batch import APART as APART
from ._kernels_batch import STACK as STACK
from ._kernels_batch import box_gap as box_gap
from ._kernels_batch import pair_state as pair_state
from ._kernels_batch import walk_scratch as walk_scratch
from ._kernels_distance import surface_distance as surface_distance
from ._kernels_features import corner_face as corner_face
from ._kernels_features import edge_edge as edge_edge
from ._kernels_features import point_distance as point_distance
from ._kernels_gjk import FAR as FAR
from ._kernels_gjk import support as support
from ._kernels_inside import point_inside as point_inside
from ._kernels_point import POINT_STACK as POINT_STACK
from ._kernels_point import nearest_triangle as nearest_triangle
from ._kernels_point import triangle_point as triangle_point
from ._kernels_query import HEADER_CLOSED as HEADER_CLOSED
from ._kernels_query import HEADER_NODES as HEADER_NODES
from ._kernels_query import HEADER_SCALE as HEADER_SCALE
from ._kernels_query import TOUCH as TOUCH
from ._kernels_query import inverse_pose as inverse_pose
from ._kernels_query import pose_triangle as pose_triangle
from ._kernels_query import relative_pose as relative_pose
from ._kernels_swept import MOTION as MOTION
from ._kernels_swept import STAYS_APART as STAYS_APART
from ._kernels_swept import TOO_CLOSE as TOO_CLOSE
from ._kernels_swept import swept_apart as swept_apart
