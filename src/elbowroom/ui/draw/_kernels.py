"""Numba kernel that fills triangles into a depth buffer."""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit


@njit(cache=True, error_model="numpy")
def fill_triangles(corners, colours, image, depth):
    """Draws triangles where they are nearer than what is there.

    Args:
        corners: (tris, 3, 3) pixel x, pixel y, depth.
        colours: (tris, 3) in [0, 1].
        image: (height, width, 3), changed.
        depth: (height, width), larger is nearer, changed.
    """
    height, width = depth.shape
    for t in range(len(corners)):
        x0, y0, z0 = corners[t, 0]
        x1, y1, z1 = corners[t, 1]
        x2, y2, z2 = corners[t, 2]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if abs(area) < 1e-12:
            continue
        left = max(0, int(np.floor(min(x0, x1, x2))))
        right = min(width - 1, int(np.ceil(max(x0, x1, x2))))
        top = max(0, int(np.floor(min(y0, y1, y2))))
        bottom = min(height - 1, int(np.ceil(max(y0, y1, y2))))
        for row in range(top, bottom + 1):
            y = row + 0.5
            for column in range(left, right + 1):
                x = column + 0.5
                a = ((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / area
                b = ((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / area
                c = 1.0 - a - b
                if a >= 0.0 and b >= 0.0 and c >= 0.0:
                    z = a * z0 + b * z1 + c * z2
                    if z > depth[row, column]:
                        depth[row, column] = z
                        image[row, column, 0] = colours[t, 0]
                        image[row, column, 1] = colours[t, 1]
                        image[row, column, 2] = colours[t, 2]
