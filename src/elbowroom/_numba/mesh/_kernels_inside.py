"""Point in closed mesh, by the winding number along a ray.

The signed crossings of a ray with a closed, consistently wound surface sum to the winding number of its origin,
which is not zero exactly inside. Triangles of open pieces of the mesh are passed over. A crossing near an edge is not
counted: another ray is tried, and after a few the sum of solid angles (van Oosterom and Strackee, 1983) decides.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ._kernels_build import CONTAINS
from ._kernels_query import HEADER_NODES

RAYS = np.array(
    [
        [0.3729, 0.5841, 0.7210],
        [-0.6113, 0.2337, 0.7561],
        [0.4517, -0.8219, 0.3473],
        [-0.1931, -0.4787, -0.8565],
    ]
)
"""Directions tried in turn; any four in general position do."""
UNSURE = 1 << 40
"""No winding number is this large."""
EDGE_MARGIN = 1e-9
"""Barycentric coordinates closer to zero than this are too near an edge to be counted."""


@njit(cache=True, error_model="numpy")
def _crossing(tris, i, px, py, pz, dx, dy, dz):
    """Signed crossing of the ray with triangle `i`: -1, 0, 1, or 2 when too near an edge to say."""
    ux, uy, uz = tris[i, 3] - tris[i, 0], tris[i, 4] - tris[i, 1], tris[i, 5] - tris[i, 2]
    vx, vy, vz = tris[i, 6] - tris[i, 0], tris[i, 7] - tris[i, 1], tris[i, 8] - tris[i, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    sx, sy, sz = px - tris[i, 0], py - tris[i, 1], pz - tris[i, 2]
    slope = nx * dx + ny * dy + nz * dz
    above = nx * sx + ny * sy + nz * sz
    qx, qy, qz = dy * sz - dz * sy, dz * sx - dx * sz, dx * sy - dy * sx
    # Cramer's rule: u and v of the crossing, times the slope.
    u = vx * qx + vy * qy + vz * qz
    v = -(ux * qx + uy * qy + uz * qz)
    turn = 1.0 if slope > 0.0 else -1.0
    size = abs(slope)
    u, v = u * turn, v * turn
    margin = EDGE_MARGIN * (abs(nx) + abs(ny) + abs(nz))
    if u < -margin or v < -margin or u + v > size + margin or above * turn > 0.0:
        return 0
    if size <= margin or min(u, v, size - u - v) < margin:
        return 2
    return 1 if slope > 0.0 else -1


@njit(cache=True, error_model="numpy")
def _ray_winding(nodes, tris, root, px, py, pz, dx, dy, dz, stack):
    """Sum of signed crossings of a ray, or `UNSURE` when one of them was too near an edge."""
    total = 0
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        i = stack[top]
        t0, t1 = 0.0, np.inf
        for k in range(3):
            d = dx if k == 0 else (dy if k == 1 else dz)
            s = nodes[i, k] - (px if k == 0 else (py if k == 1 else pz))
            h = nodes[i, 3 + k] * (1.0 + 1e-9) + 1e-300
            t0 = max(t0, min((s - h) / d, (s + h) / d))
            t1 = min(t1, max((s - h) / d, (s + h) / d))
        if t0 > t1:
            continue
        if nodes[i, 7] == 0.0:
            stack[top] = int(nodes[i, 6])
            stack[top + 1] = int(nodes[i, 6]) + 1
            top += 2
            continue
        first = int(nodes[i, 6])
        for k in range(first, first + int(nodes[i, 7])):
            if nodes[i, CONTAINS + k - first] == 0.0:
                continue
            c = _crossing(tris, k, px, py, pz, dx, dy, dz)
            if c == 2:
                return UNSURE
            total += c
    return total


@njit(cache=True, error_model="numpy")
def _half_solid_angle(tris, i, px, py, pz):
    """Half the signed solid angle of triangle `i` seen from a point."""
    ax, ay, az = tris[i, 0] - px, tris[i, 1] - py, tris[i, 2] - pz
    bx, by, bz = tris[i, 3] - px, tris[i, 4] - py, tris[i, 5] - pz
    cx, cy, cz = tris[i, 6] - px, tris[i, 7] - py, tris[i, 8] - pz
    la = np.sqrt(ax * ax + ay * ay + az * az)
    lb = np.sqrt(bx * bx + by * by + bz * bz)
    lc = np.sqrt(cx * cx + cy * cy + cz * cz)
    det = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    den = la * lb * lc + (ax * bx + ay * by + az * bz) * lc
    den += (bx * cx + by * cy + bz * cz) * la + (ax * cx + ay * cy + az * cz) * lb
    return np.arctan2(det, den)


@njit(cache=True, error_model="numpy")
def _solid_angle_winding(nodes, tris, root, px, py, pz):
    total = 0.0
    for row in range(root, root + int(nodes[root - 1, HEADER_NODES])):
        first = int(nodes[row, 6])
        for k in range(int(nodes[row, 7])):
            if nodes[row, CONTAINS + k] > 0.0:
                total += _half_solid_angle(tris, first + k, px, py, pz)
    return total / (2.0 * np.pi)


@njit(cache=True, error_model="numpy")
def point_inside(nodes, tris, root, px, py, pz, stack):
    """Is the point (frame of the mesh) inside the closed pieces of the mesh whose root is at row `root`?"""
    for k in range(3):
        p = px if k == 0 else (py if k == 1 else pz)
        if abs(p - nodes[root, k]) > nodes[root, 3 + k]:
            return False
    for k in range(RAYS.shape[0]):
        winding = _ray_winding(nodes, tris, root, px, py, pz, RAYS[k, 0], RAYS[k, 1], RAYS[k, 2], stack)
        if winding != UNSURE:
            return winding != 0
    return abs(_solid_angle_winding(nodes, tris, root, px, py, pz)) > 0.5
