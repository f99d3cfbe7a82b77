"""Numba kernels that place a point of one lane in the world and look it up in the broad phase."""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..distance import LANES, POINT
from ..world.kernels import FAR, NEAR, grid_look, loose_bound


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def lane_point(placed, point, lane, base):
    """A placed point of one lane in the world."""
    at = point * POINT + lane
    x, y, z = np.float64(placed[at]), np.float64(placed[at + LANES]), np.float64(placed[at + 2 * LANES])
    return (
        base[0, 0] * x + base[0, 1] * y + base[0, 2] * z + base[0, 9],
        base[0, 3] * x + base[0, 4] * y + base[0, 5] * z + base[0, 10],
        base[0, 6] * x + base[0, 7] * y + base[0, 8] * z + base[0, 11],
    )


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def look(frame, shape, bounds, planes, loose, world, x, y, z, reach):
    """FAR when the broad phase shows that no obstacle is within `reach` of a point, HIT when one surely is, or NEAR."""
    code, _ = grid_look(frame, shape, bounds, planes, x, y, z, reach)
    if code == FAR and len(loose) > 0 and loose_bound(world, loose, x, y, z, 1.01 * reach) <= reach:
        return NEAR
    return code
