"""Numba kernels that place a point of one lane in the world and look it up in the broad phase."""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..distance import LANES, POINT


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
