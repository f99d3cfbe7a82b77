"""Numba kernels of the world that other folders build on; importing this module loads numba.

A kernel that takes a `world` begins with `world = borrowed(world)`; see `elbowroom._borrow`.
"""

from ..._borrow import borrowed as borrowed
from ._kernels_boxes import BOX_WIDTH as BOX_WIDTH
from ._kernels_boxes import box_meets_any as box_meets_any
from ._kernels_boxes import box_scratch as box_scratch
from ._kernels_gradients import local_gradient as local_gradient
from ._kernels_gradients import world_gradient as world_gradient
from ._kernels_grid import FAR as FAR
from ._kernels_grid import HIT as HIT
from ._kernels_grid import NEAR as NEAR
from ._kernels_grid import grid_look as grid_look
from ._kernels_grid import loose_bound as loose_bound
from ._kernels_grid import scene_bound as scene_bound
from ._kernels_mesh import mesh_gap as mesh_gap
from ._kernels_mesh import mesh_gap_scratch as mesh_gap_scratch
from ._kernels_points import local_distance as local_distance
from ._kernels_points import safe_local_distance as safe_local_distance
from ._kernels_points import safe_world_distance as safe_world_distance
from ._kernels_points import to_local as to_local
from ._kernels_points import world_distance as world_distance
from ._kernels_tree import STACK as STACK
from ._kernels_tree import box_gap_squared as box_gap_squared
from ._pack import HALF_SPACE as HALF_SPACE
