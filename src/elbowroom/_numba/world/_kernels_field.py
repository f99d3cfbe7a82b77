"""Kernels of sampled distance fields: the value and its gradient at a point, and how steep a field is.

Inside the grid the field is trilinear, but no deeper than the nearest face of the grid: the solid ends there. Beyond
the grid, with q the nearest point of the grid, all of the solid lies on the far side of q: by Pythagoras it is at
least the root of |p - q|^2 + value(q)^2 away. That is continuous, and changes as slowly as the field does.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit


@njit(cache=True, nogil=True, error_model="numpy")
def cell_of(x, origin, step, samples):
    """Cell along one axis, the place in it from 0 to 1, and how far the coordinate is beyond the grid (signed)."""
    u = (x - origin) / step
    inner = min(max(u, 0.0), samples - 1.0)
    i = min(int(inner), samples - 2)
    return i, inner - i, (u - inner) * step


@njit(cache=True, nogil=True, error_model="numpy")
def _face_depth(x, origin, step, samples):
    """How far inside the grid a coordinate is."""
    return min(x - origin, origin + step * (samples - 1) - x)


@njit(cache=True, nogil=True, error_model="numpy")
def field_distance(values, rows, sizes, k, x, y, z):
    """Signed distance of a point (frame of the grid) to the solid of field `k`.

    Args:
        values: of all fields, end to end.
        rows, sizes: `PackedWorld.rows` and `sizes`.
        k: the obstacle.
        x, y, z: the point.
    """
    nx, ny, nz = rows[k, 1], rows[k, 2], rows[k, 3]
    i, u, gx = cell_of(x, sizes[k, 3], sizes[k, 0], nx)
    j, v, gy = cell_of(y, sizes[k, 4], sizes[k, 1], ny)
    m, w, gz = cell_of(z, sizes[k, 5], sizes[k, 2], nz)
    at = rows[k, 0] + (i * ny + j) * nz + m
    row = at + ny * nz
    a = (1.0 - w) * values[at] + w * values[at + 1]
    b = (1.0 - w) * values[at + nz] + w * values[at + nz + 1]
    c = (1.0 - w) * values[row] + w * values[row + 1]
    d = (1.0 - w) * values[row + nz] + w * values[row + nz + 1]
    value = (1.0 - u) * ((1.0 - v) * a + v * b) + u * ((1.0 - v) * c + v * d)
    gap = gx * gx + gy * gy + gz * gz
    if gap > 0.0:
        return np.sqrt(gap + max(value, 0.0) ** 2)
    if value >= 0.0:
        return value
    depth = min(
        _face_depth(x, sizes[k, 3], sizes[k, 0], nx),
        _face_depth(y, sizes[k, 4], sizes[k, 1], ny),
        _face_depth(z, sizes[k, 5], sizes[k, 2], nz),
    )
    return max(value, -depth)


@njit(cache=True, nogil=True, error_model="numpy")
def field_gradient(values, rows, sizes, k, x, y, z, out):
    """`field_distance`, and its gradient (frame of the grid) to out[:3]."""
    nx, ny, nz = rows[k, 1], rows[k, 2], rows[k, 3]
    i, u, gx = cell_of(x, sizes[k, 3], sizes[k, 0], nx)
    j, v, gy = cell_of(y, sizes[k, 4], sizes[k, 1], ny)
    m, w, gz = cell_of(z, sizes[k, 5], sizes[k, 2], nz)
    at = rows[k, 0] + (i * ny + j) * nz + m
    value, vx, vy, vz = 0.0, 0.0, 0.0, 0.0
    for corner in range(8):
        a, b, c = corner >> 2, (corner >> 1) & 1, corner & 1
        sample = np.float64(values[at + (a * ny + b) * nz + c])
        pu, pv, pw = u if a == 1 else 1.0 - u, v if b == 1 else 1.0 - v, w if c == 1 else 1.0 - w
        value += pu * pv * pw * sample
        vx += (2 * a - 1) * pv * pw * sample
        vy += (2 * b - 1) * pu * pw * sample
        vz += (2 * c - 1) * pu * pv * sample
    vx, vy, vz = vx / sizes[k, 0], vy / sizes[k, 1], vz / sizes[k, 2]
    gap = gx * gx + gy * gy + gz * gz
    if gap > 0.0:
        above = max(value, 0.0)
        distance = np.sqrt(gap + above * above)
        out[0] = (gx if gx != 0.0 else above * vx) / distance
        out[1] = (gy if gy != 0.0 else above * vy) / distance
        out[2] = (gz if gz != 0.0 else above * vz) / distance
        return distance
    out[0], out[1], out[2] = vx, vy, vz
    if value >= 0.0:
        return value
    depth, axis = _face_depth(x, sizes[k, 3], sizes[k, 0], nx), 0
    other = _face_depth(y, sizes[k, 4], sizes[k, 1], ny)
    if other < depth:
        depth, axis = other, 1
    other = _face_depth(z, sizes[k, 5], sizes[k, 2], nz)
    if other < depth:
        depth, axis = other, 2
    if -depth <= value:
        return value
    out[0], out[1], out[2] = 0.0, 0.0, 0.0
    middle = sizes[k, 3 + axis] + 0.5 * sizes[k, axis] * (rows[k, 1 + axis] - 1)
    out[axis] = 1.0 if (x if axis == 0 else (y if axis == 1 else z)) > middle else -1.0
    return -depth
