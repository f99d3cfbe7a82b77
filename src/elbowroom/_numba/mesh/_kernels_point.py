"""Distance of a point to a mesh: the nearest triangle by a walk of the tree, nearer child first.

Triangles are rows of nine numbers, in the frame of the point. Normals and barycentric coordinates come from cross
products, not from squared lengths: thin triangles then lose half as many digits.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ._kernels_tritri import FASTMATH

POINT_STACK = 128
"""Nodes waiting at most, one a level: trees are at most 64 + log2(triangles) deep."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def _edge_distance(px, py, pz, ux, uy, uz):
    """Squared distance of p to the segment from the origin to u."""
    uu = ux * ux + uy * uy + uz * uz
    s = min(1.0, max(0.0, (px * ux + py * uy + pz * uz) / uu)) if uu > 0.0 else 0.0
    return (px - s * ux) ** 2 + (py - s * uy) ** 2 + (pz - s * uz) ** 2


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def point_distance(tris, i, x, y, z, limit):
    """Squared distance of a point to triangle `i`; anything from `limit` up when it is not below."""
    ux, uy, uz = tris[i, 3] - tris[i, 0], tris[i, 4] - tris[i, 1], tris[i, 5] - tris[i, 2]
    vx, vy, vz = tris[i, 6] - tris[i, 0], tris[i, 7] - tris[i, 1], tris[i, 8] - tris[i, 2]
    px, py, pz = x - tris[i, 0], y - tris[i, 1], z - tris[i, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    nn = nx * nx + ny * ny + nz * nz
    above = nx * px + ny * py + nz * pz
    if nn > 0.0:
        height = above * above / nn
        if height >= limit:
            return height
        qx, qy, qz = ny * pz - nz * py, nz * px - nx * pz, nx * py - ny * px
        s, t = vx * qx + vy * qy + vz * qz, -(ux * qx + uy * qy + uz * qz)
        if s >= 0.0 and t >= 0.0 and s + t <= nn:
            return height
    best = min(_edge_distance(px, py, pz, ux, uy, uz), _edge_distance(px, py, pz, vx, vy, vz))
    return min(best, _edge_distance(px - ux, py - uy, pz - uz, vx - ux, vy - uy, vz - uz))


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def _node_gap(nodes, i, x, y, z):
    """Squared distance of a point to the box of a node."""
    dx = max(0.0, abs(x - nodes[i, 0]) - nodes[i, 3])
    dy = max(0.0, abs(y - nodes[i, 1]) - nodes[i, 4])
    dz = max(0.0, abs(z - nodes[i, 2]) - nodes[i, 5])
    return dx * dx + dy * dy + dz * dz


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def nearest_triangle(nodes, tris, root, x, y, z, limit, stack):
    """Squared distance of a point to a mesh, and the row of the nearest triangle; (limit, -1) when it is not below.

    Args:
        nodes, tris, root: of the mesh, as packed.
        x, y, z: the point in the frame of the mesh.
        limit: squared distance from which on the answer does not matter.
        stack: (POINT_STACK,) or longer, int64.
    """
    best, nearest = limit, -1
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        i = stack[top]
        if _node_gap(nodes, i, x, y, z) >= best:
            continue
        while nodes[i, 7] == 0.0:
            near = int(nodes[i, 6])
            far = near + 1
            gap, other = _node_gap(nodes, near, x, y, z), _node_gap(nodes, far, x, y, z)
            # Where the point is in both boxes, the nearer centre is the better guess.
            swap = other < gap
            if other == gap:
                swap = _off_centre(nodes, far, x, y, z) < _off_centre(nodes, near, x, y, z)
            if swap:
                near, far = far, near
                gap, other = other, gap
            if other < best:
                stack[top] = far
                top += 1
            i = near
            if gap >= best:
                break
        if nodes[i, 7] > 0.0:
            first = int(nodes[i, 6])
            for t in range(first, first + int(nodes[i, 7])):
                d = point_distance(tris, t, x, y, z, best)
                if d < best:
                    best, nearest = d, t
    return best, nearest


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def _off_centre(nodes, i, x, y, z):
    """Squared distance of a point to the centre of a node's box."""
    return (x - nodes[i, 0]) ** 2 + (y - nodes[i, 1]) ** 2 + (z - nodes[i, 2]) ** 2


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def _to_edge(px, py, pz, ax, ay, az, bx, by, bz, best, out):
    """The point of the segment from a to b nearest to p, to out[:3] where it is nearer than `best` (squared)."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    uu = ux * ux + uy * uy + uz * uz
    s = min(1.0, max(0.0, ((px - ax) * ux + (py - ay) * uy + (pz - az) * uz) / uu)) if uu > 0.0 else 0.0
    qx, qy, qz = ax + s * ux, ay + s * uy, az + s * uz
    d = (px - qx) ** 2 + (py - qy) ** 2 + (pz - qz) ** 2
    if d < best:
        out[0], out[1], out[2] = qx, qy, qz
        return d
    return best


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
def triangle_point(tris, i, x, y, z, out):
    """The point of triangle `i` nearest to a point, to out[:3], and the triangle's unit normal, to out[3:6]."""
    ax, ay, az = tris[i, 0], tris[i, 1], tris[i, 2]
    bx, by, bz = tris[i, 3], tris[i, 4], tris[i, 5]
    cx, cy, cz = tris[i, 6], tris[i, 7], tris[i, 8]
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    px, py, pz = x - ax, y - ay, z - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    nn = nx * nx + ny * ny + nz * nz
    length = np.sqrt(nn) if nn > 0.0 else 1.0
    out[3], out[4], out[5] = nx / length, ny / length, nz / length
    qx, qy, qz = ny * pz - nz * py, nz * px - nx * pz, nx * py - ny * px
    s, t = vx * qx + vy * qy + vz * qz, -(ux * qx + uy * qy + uz * qz)
    if nn > 0.0 and s >= 0.0 and t >= 0.0 and s + t <= nn:
        above = (nx * px + ny * py + nz * pz) / nn
        out[0], out[1], out[2] = x - above * nx, y - above * ny, z - above * nz
        return
    best = _to_edge(x, y, z, ax, ay, az, bx, by, bz, np.inf, out)
    best = _to_edge(x, y, z, bx, by, bz, cx, cy, cz, best, out)
    _to_edge(x, y, z, cx, cy, cz, ax, ay, az, best, out)
