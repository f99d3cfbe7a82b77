"""Closest features of two triangles, and points that lie on both of two triangles.

A pair of triangles costs a plane test unless it may improve the bound; then nine edge pairs and six corners decide.
Triangles are rows of nine numbers; both are in the same frame.
"""

# pyright: basic
from __future__ import annotations

from ..._jit import njit
from ._kernels_tritri import FASTMATH

THIN_SQ = 1e-16
"""A squared normal below this fraction of its edges' lengths to the fourth is too inexact for a plane: edges decide."""


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def corner_face(a, ia, b, ib, limit, p, row_a, row_b):
    """Corners of triangle `ib` over the face of triangle `ia`: improved squared distance.

    Returns `limit` unchanged, a smaller squared distance with the points in p[row_a], p[row_b], or -1 when the
    planes already show that the pair is farther than `limit`.
    """
    a0x, a0y, a0z = a[ia, 0], a[ia, 1], a[ia, 2]
    ux, uy, uz = a[ia, 3] - a0x, a[ia, 4] - a0y, a[ia, 5] - a0z
    vx, vy, vz = a[ia, 6] - a0x, a[ia, 7] - a0y, a[ia, 8] - a0z
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    nn = nx * nx + ny * ny + nz * nz
    size = abs(ux) + abs(uy) + abs(uz) + abs(vx) + abs(vy) + abs(vz)
    if nn <= THIN_SQ * size**4:
        return limit
    d0 = nx * (b[ib, 0] - a0x) + ny * (b[ib, 1] - a0y) + nz * (b[ib, 2] - a0z)
    d1 = nx * (b[ib, 3] - a0x) + ny * (b[ib, 4] - a0y) + nz * (b[ib, 5] - a0z)
    d2 = nx * (b[ib, 6] - a0x) + ny * (b[ib, 7] - a0y) + nz * (b[ib, 8] - a0z)
    low, high = min(d0, d1, d2), max(d0, d1, d2)
    gap = low if low > 0.0 else (-high if high < 0.0 else 0.0)
    if gap * gap >= limit * nn:
        return -1.0
    for k in range(3):
        d = d0 if k == 0 else (d1 if k == 1 else d2)
        if d * d >= limit * nn:
            continue
        px, py, pz = b[ib, 3 * k] - a0x, b[ib, 3 * k + 1] - a0y, b[ib, 3 * k + 2] - a0z
        s = nx * (py * vz - pz * vy) + ny * (pz * vx - px * vz) + nz * (px * vy - py * vx)
        t = nx * (uy * pz - uz * py) + ny * (uz * px - ux * pz) + nz * (ux * py - uy * px)
        if s >= 0.0 and t >= 0.0 and s + t <= nn:
            limit = d * d / nn
            p[row_b, 0], p[row_b, 1], p[row_b, 2] = b[ib, 3 * k], b[ib, 3 * k + 1], b[ib, 3 * k + 2]
            d /= nn
            p[row_a, 0] = b[ib, 3 * k] - d * nx
            p[row_a, 1] = b[ib, 3 * k + 1] - d * ny
            p[row_a, 2] = b[ib, 3 * k + 2] - d * nz
    return limit


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def edge_edge(a, ia, i, b, ib, j, limit, p):
    """Closest points of edge `i` of one triangle and edge `j` of the other; improves `limit` and p[0], p[1]."""
    i0, i1 = 3 * i, 3 * ((i + 1) % 3)
    j0, j1 = 3 * j, 3 * ((j + 1) % 3)
    ax, ay, az = a[ia, i0], a[ia, i0 + 1], a[ia, i0 + 2]
    bx, by, bz = b[ib, j0], b[ib, j0 + 1], b[ib, j0 + 2]
    ux, uy, uz = a[ia, i1] - ax, a[ia, i1 + 1] - ay, a[ia, i1 + 2] - az
    vx, vy, vz = b[ib, j1] - bx, b[ib, j1 + 1] - by, b[ib, j1 + 2] - bz
    rx, ry, rz = ax - bx, ay - by, az - bz
    uu = ux * ux + uy * uy + uz * uz
    vv = vx * vx + vy * vy + vz * vz
    uv = ux * vx + uy * vy + uz * vz
    ur = ux * rx + uy * ry + uz * rz
    vr = vx * rx + vy * ry + vz * rz
    den = uu * vv - uv * uv
    s = 0.0
    if den > 1e-14 * uu * vv:
        s = min(1.0, max(0.0, (uv * vr - ur * vv) / den))
    t = (uv * s + vr) / vv if vv > 0.0 else 0.0
    if t < 0.0 or t > 1.0 or vv == 0.0:
        t = min(1.0, max(0.0, t))
        s = min(1.0, max(0.0, (t * uv - ur) / uu)) if uu > 0.0 else 0.0
    px, py, pz = ax + s * ux, ay + s * uy, az + s * uz
    qx, qy, qz = bx + t * vx, by + t * vy, bz + t * vz
    d = (px - qx) ** 2 + (py - qy) ** 2 + (pz - qz) ** 2
    if d < limit:
        p[0, 0], p[0, 1], p[0, 2] = px, py, pz
        p[1, 0], p[1, 1], p[1, 2] = qx, qy, qz
        return d
    return limit


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def triangle_distance(a, ia, b, ib, limit, p):
    """Squared distance of two triangles that do not cross, if below `limit`, with closest points in p[0], p[1].

    Triangles that touch may cross by rounding: their points are still right, no feature is left out for it.
    """
    best = corner_face(a, ia, b, ib, limit, p, 0, 1)
    if best < 0.0:
        return limit
    other = corner_face(b, ib, a, ia, best, p, 1, 0)
    if other < 0.0:  # the planes are as far apart as the points found
        return best
    best = other
    for i in range(3):
        for j in range(3):
            best = edge_edge(a, ia, i, b, ib, j, best, p)
    return best
