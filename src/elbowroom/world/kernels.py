"""Numba kernels of the world that other folders build on; importing this module loads numba.

A kernel that takes a `world` begins with `world = borrowed(world)`; see `elbowroom._borrow`.
"""

from .._borrow import borrowed as borrowed
from ._kernels_points import local_distance as local_distance
from ._kernels_points import nearest as nearest
from ._kernels_points import safe_local_distance as safe_local_distance
from ._kernels_points import safe_world_distance as safe_world_distance
from ._kernels_points import to_local as to_local
from ._kernels_points import world_distance as world_distance
from ._kernels_tree import STACK as STACK
