"""A posed mesh against the solid of a sampled distance field: where its trilinear interpolation is not above zero.

The field changes by at most `slope` a metre, so its value at the centre of a piece of surface bounds it everywhere on
the piece; within one cell the interpolation is a polynomial whose linear part gives a closer bound. Pieces are halved
until they are decided. What is undecided at `FINEST` counts as touching: the answer is conservative by that much.
Distances are lower bounds: the least value on the surface over the slope, less at most `FINEST` and the part `ACCURACY`
of it.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..mesh import nearest_triangle, point_inside, pose_triangle
from ._kernels_field import cell_of, field_distance

FINEST = 1e-5
"""Metres: pieces of surface below this radius are not halved."""
ACCURACY = 0.03
"""Part of a distance that its bound may be below the least value on the surface."""
PIECES = 128
"""Pieces waiting at most: halving a triangle of 1 km down to FINEST takes some 60."""
MOST_PIECES = 200_000
"""Pieces looked at in one query; what is undecided then counts as touching, or with its bound."""
SMALLEST = 1e-12
"""Metres: what is known to be apart is not nearer than this."""


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def field_bound(values, rows, sizes, k, x, y, z):
    """Lower bound of the distance of a point (frame of the grid) to the solid of field k; not positive only inside."""
    return field_distance(values, rows, sizes, k, x, y, z) / sizes[k, 6]


@njit(cache=True, nogil=True, error_model="numpy")
def _cell_bound(values, rows, sizes, k, t, x, y, z, hx, hy, hz):
    """Least value over the slope on piece t[0] by the polynomial of its cell; -inf when it is not in one cell.

    (x, y, z) is a point of the piece, h the half extents of a box about that point that holds the piece.
    """
    ny, nz = rows[k, 2], rows[k, 3]
    sx, sy, sz = sizes[k, 0], sizes[k, 1], sizes[k, 2]
    i, u, _ = cell_of(x, sizes[k, 3], sx, rows[k, 1])
    j, v, _ = cell_of(y, sizes[k, 4], sy, ny)
    m, w, _ = cell_of(z, sizes[k, 5], sz, nz)
    if min(u, 1.0 - u) * sx < hx or min(v, 1.0 - v) * sy < hy or min(w, 1.0 - w) * sz < hz:
        return -np.inf
    at = rows[k, 0] + (i * ny + j) * nz + m
    f00, f01 = np.float64(values[at]), np.float64(values[at + 1])
    f10, f11 = np.float64(values[at + nz]), np.float64(values[at + nz + 1])
    at += ny * nz
    # Differences along x at the corners (y, z), then values there at x.
    a00, a01, a10, a11 = (
        values[at] - f00,
        values[at + 1] - f01,
        values[at + nz] - f10,
        values[at + nz + 1] - f11,
    )
    f00, f01, f10, f11 = f00 + u * a00, f01 + u * a01, f10 + u * a10, f11 + u * a11
    value = (1.0 - v) * ((1.0 - w) * f00 + w * f01) + v * ((1.0 - w) * f10 + w * f11)
    gx = ((1.0 - v) * ((1.0 - w) * a00 + w * a01) + v * ((1.0 - w) * a10 + w * a11)) / sx
    gy = ((1.0 - w) * (f10 - f00) + w * (f11 - f01)) / sy
    gz = ((1.0 - v) * (f01 - f00) + v * (f11 - f10)) / sz
    lowest = np.inf
    for c in range(0, 9, 3):
        lowest = min(lowest, gx * (t[0, c] - x) + gy * (t[0, c + 1] - y) + gz * (t[0, c + 2] - z))
    xy = abs((1.0 - w) * (a10 - a00) + w * (a11 - a01)) / (sx * sy)
    xz = abs((1.0 - v) * (a01 - a00) + v * (a11 - a10)) / (sx * sz)
    yz = abs(f11 - f10 - f01 + f00) / (sy * sz)
    xyz = abs(a11 - a10 - a01 + a00) / (sx * sy * sz)
    rest = xy * hx * hy + xz * hx * hz + yz * hy * hz + xyz * hx * hy * hz
    return (value + lowest - rest) / sizes[k, 6]


@njit(cache=True, nogil=True, error_model="numpy")
def _triangle_low(values, rows, sizes, k, t, pieces, best, left, p):
    """Best lower bound of the distance after triangle t[0], or -1 when it touches; and the pieces left to look at.

    With best = 0 only touching is asked for; a positive `best` is for surfaces that are known not to touch.
    """
    pieces[0] = t[0]
    top = 1
    while top > 0:
        top -= 1
        t[0] = pieces[top]
        left -= 1
        e, longest = 0, -1.0
        for c in range(3):
            a, b = 3 * c, 3 * ((c + 1) % 3)
            length = (
                (t[0, a] - t[0, b]) ** 2 + (t[0, a + 1] - t[0, b + 1]) ** 2 + (t[0, a + 2] - t[0, b + 2]) ** 2
            )
            if length > longest:
                e, longest = c, length
        a, b, c = 3 * e, 3 * ((e + 1) % 3), 3 * ((e + 2) % 3)
        x, y, z = (
            0.5 * (t[0, a] + t[0, b]),
            0.5 * (t[0, a + 1] + t[0, b + 1]),
            0.5 * (t[0, a + 2] + t[0, b + 2]),
        )
        d = field_bound(values, rows, sizes, k, x, y, z)
        if d <= 0.0:
            return -1.0, left
        tip = (t[0, c] - x) ** 2 + (t[0, c + 1] - y) ** 2 + (t[0, c + 2] - z) ** 2
        radius = np.sqrt(max(0.25 * longest, tip))
        low = d - radius
        if low <= 0.0 or low < best:
            hx = max(abs(t[0, a] - x), abs(t[0, c] - x))
            hy = max(abs(t[0, a + 1] - y), abs(t[0, c + 1] - y))
            hz = max(abs(t[0, a + 2] - z), abs(t[0, c + 2] - z))
            low = max(low, _cell_bound(values, rows, sizes, k, t, x, y, z, hx, hy, hz))
        if low > 0.0 and low >= best:
            continue
        if radius <= FINEST or left <= 0:
            if best == 0.0:
                return -1.0, left
            best = max(low, SMALLEST)
            p[0, 0], p[0, 1], p[0, 2] = x, y, z
            continue
        floor = (1.0 - ACCURACY) * d - FINEST
        if floor > 0.0 and floor < best:
            best = floor
            p[0, 0], p[0, 1], p[0, 2] = x, y, z
        for half in range(2):
            pieces[top] = t[0]
            at = a if half == 0 else b
            pieces[top, at], pieces[top, at + 1], pieces[top, at + 2] = x, y, z
            top += 1
    return best, left


@njit(cache=True, nogil=True, error_model="numpy")
def _sample_inside(nodes, tris, root, rel, inv, values, rows, sizes, k, stack):
    """Is a sample of the solid inside the closed pieces of a mesh? Every connected part of the solid has a sample.

    (Along one of the two directions of each axis the interpolation does not rise, down to a corner of the cell.)
    Where no part of the solid meets the surface, samples nearer to one another than to the surface are on the same
    side of it.
    """
    qx, qy, qz, clear = 0.0, 0.0, 0.0, -1.0
    cx, cy, cz = nodes[root, 0], nodes[root, 1], nodes[root, 2]
    hx, hy, hz = nodes[root, 3], nodes[root, 4], nodes[root, 5]
    low, high = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for c in range(3):
        r = 3 * c
        at = rel[r] * cx + rel[r + 1] * cy + rel[r + 2] * cz + rel[9 + c] - sizes[k, 3 + c]
        reach = abs(rel[r]) * hx + abs(rel[r + 1]) * hy + abs(rel[r + 2]) * hz
        last = float(rows[k, 1 + c])
        low[c] = int(min(last, max(0.0, np.floor((at - reach) / sizes[k, c]))))
        high[c] = int(min(last, max(0.0, np.floor((at + reach) / sizes[k, c]) + 1.0)))
    for i in range(low[0], high[0]):
        for j in range(low[1], high[1]):
            row = rows[k, 0] + (i * rows[k, 2] + j) * rows[k, 3]
            m = low[2]
            while m < high[2]:
                value = values[row + m]
                if value > 0.0:  # no sample of the solid is nearer than that
                    m += max(1, int(value / (sizes[k, 6] * sizes[k, 2])))
                    continue
                x = sizes[k, 3] + i * sizes[k, 0]
                y = sizes[k, 4] + j * sizes[k, 1]
                z = sizes[k, 5] + m * sizes[k, 2]
                m += 1
                u = inv[0] * x + inv[1] * y + inv[2] * z + inv[9]
                v = inv[3] * x + inv[4] * y + inv[5] * z + inv[10]
                w = inv[6] * x + inv[7] * y + inv[8] * z + inv[11]
                if abs(u - cx) > hx or abs(v - cy) > hy or abs(w - cz) > hz:
                    continue
                if (u - qx) ** 2 + (v - qy) ** 2 + (w - qz) ** 2 < clear:
                    continue
                if point_inside(nodes, tris, root, u, v, w, stack):
                    return True
                clear, _ = nearest_triangle(nodes, tris, root, u, v, w, np.inf, stack)
                qx, qy, qz = u, v, w
    return False


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _node_bound(nodes, i, rel, values, rows, sizes, k):
    """Lower bound of the distance of a node's box to the solid."""
    x, y, z = nodes[i, 0], nodes[i, 1], nodes[i, 2]
    d = field_bound(
        values,
        rows,
        sizes,
        k,
        rel[0] * x + rel[1] * y + rel[2] * z + rel[9],
        rel[3] * x + rel[4] * y + rel[5] * z + rel[10],
        rel[6] * x + rel[7] * y + rel[8] * z + rel[11],
    )
    return d - np.sqrt(nodes[i, 3] ** 2 + nodes[i, 4] ** 2 + nodes[i, 5] ** 2)


@njit(cache=True, nogil=True, error_model="numpy")
def _other_point(values, rows, sizes, k, distance, p):
    """p[1]: the point at a distance from p[0] down the slope of the field, by differences over a cell."""
    length = 0.0
    for c in range(3):
        x, y, z = p[0, 0], p[0, 1], p[0, 2]
        h = 0.5 * sizes[k, c]
        u, v, w = h * (c == 0), h * (c == 1), h * (c == 2)
        rise = field_bound(values, rows, sizes, k, x + u, y + v, z + w)
        p[1, c] = (rise - field_bound(values, rows, sizes, k, x - u, y - v, z - w)) / h
        length += p[1, c] ** 2
    for c in range(3):
        p[1, c] = p[0, c] - (distance * p[1, c] / np.sqrt(length) if length > 0.0 else 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _surface_low(nodes, tris, root, rel, values, rows, sizes, k, limit, stack, bounds, t, pieces, p):
    """Surface of a mesh against field k; a positive limit only where they are known not to touch."""
    best, left = limit, MOST_PIECES
    stack[0], bounds[0] = root, _node_bound(nodes, root, rel, values, rows, sizes, k)
    top = 1
    while top > 0:
        top -= 1
        if bounds[top] > 0.0 and bounds[top] >= best:
            continue
        i = stack[top]
        first, count = int(nodes[i, 6]), int(nodes[i, 7])
        for f in range(first, first + count):
            pose_triangle(tris, f, rel, t, np.int64(0))
            best, left = _triangle_low(values, rows, sizes, k, t, pieces, best, left, p)
            if best < 0.0:
                return -1.0
        if count > 0:
            continue
        near, far = first, first + 1
        d0 = _node_bound(nodes, near, rel, values, rows, sizes, k)
        d1 = _node_bound(nodes, far, rel, values, rows, sizes, k)
        if d1 < d0:
            near, far, d0, d1 = far, near, d1, d0
        stack[top], bounds[top] = far, d1
        top += int(d1 <= 0.0 or d1 < best)
        stack[top], bounds[top] = near, d0
        top += int(d0 <= 0.0 or d0 < best)
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def field_gap(
    nodes, tris, root, rel, inv, values, rows, sizes, k, limit, closed, stack, bounds, t, pieces, p
):
    """A mesh against field k; see `mesh_gap`."""
    bound = _node_bound(nodes, root, rel, values, rows, sizes, k)
    if bound > 0.0 and bound >= limit:
        return limit
    if bound <= 0.0:
        if (
            _surface_low(nodes, tris, root, rel, values, rows, sizes, k, 0.0, stack, bounds, t, pieces, p)
            < 0.0
        ):
            return -1.0
        if closed and _sample_inside(nodes, tris, root, rel, inv, values, rows, sizes, k, stack):
            return -1.0
    if limit <= 0.0:
        return limit
    best = _surface_low(nodes, tris, root, rel, values, rows, sizes, k, limit, stack, bounds, t, pieces, p)
    if best < limit:
        _other_point(values, rows, sizes, k, best, p)
    return best
