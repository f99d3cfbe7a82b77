"""One triangle, or one point, against a convex primitive: distances with proof.

The closest point of a triangle to a convex solid is in its interior only where the triangle's plane parts the two:
then it lies over the solid's farthest point towards that plane. Otherwise it is on an edge, along which the distance
is convex: its minimum is bracketed, and the tangents at both ends of the bracket bound it from below. Distances
returned are such bounds, at most `ACCURACY` below the truth.

Triangles are t[0, :9] in the frame of the solid. Sizes are those of `PackedWorld`: half edges (a, b, c) of a BOX,
radius a and half length b of the others.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..mesh import corner_face, edge_edge, point_distance
from ._kernels_triangles import axis_pierces, triangle_box_overlap, triangle_cylinder_overlap
from ._pack import BOX, CAPSULE, CYLINDER, SPHERE

ACCURACY = 1e-10
"""Metres between the bounds at which a search along an edge ends."""
THIN = 1e-8
"""A normal shorter than this fraction of its edges' squared lengths is too inexact for a plane: edges decide."""
NORMAL_ERROR = 1e-15
"""Error of a normal against its edges' squared lengths: some roundings of a float64."""
MAX_STEPS = 60
"""Of such a search; typical ones need 5 to 8."""


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def outward(kind, a, b, c, x, y, z):
    """Distance of a point to a convex primitive, and the unit vector to it from the nearest point of the solid.

    The solid lies behind the plane through that nearest point across that vector. A point inside has a distance that
    is not positive, which is no depth, and the vector zero.
    """
    if kind == BOX:
        u, v, w = max(0.0, abs(x) - a), max(0.0, abs(y) - b), max(0.0, abs(z) - c)
        d = np.sqrt(u * u + v * v + w * w)
        if d > 0.0:
            return d, np.copysign(u, x) / d, np.copysign(v, y) / d, np.copysign(w, z) / d
        return max(abs(x) - a, abs(y) - b, abs(z) - c), 0.0, 0.0, 0.0
    if kind == CYLINDER:
        rho = np.sqrt(x * x + y * y)
        u, w = rho - a, abs(z) - b
        if u <= 0.0 and w <= 0.0:
            return max(u, w), 0.0, 0.0, 0.0
        u, w = max(0.0, u), max(0.0, w)
        d = np.sqrt(u * u + w * w)
        s = u / (rho * d) if u > 0.0 else 0.0
        return d, s * x, s * y, np.copysign(w, z) / d
    if kind == CAPSULE:
        z -= min(b, max(-b, z))
    d = np.sqrt(x * x + y * y + z * z)
    if d <= a:
        return d - a, 0.0, 0.0, 0.0
    return d - a, x / d, y / d, z / d


@njit(cache=True, nogil=True, error_model="numpy")
def plane_bound(kind, a, b, c, t):
    """Lower bound of the distance of a triangle, from the plane that parts its centroid from the solid."""
    x = (t[0, 0] + t[0, 3] + t[0, 6]) / 3.0
    y = (t[0, 1] + t[0, 4] + t[0, 7]) / 3.0
    z = (t[0, 2] + t[0, 5] + t[0, 8]) / 3.0
    d, u, v, w = outward(kind, a, b, c, x, y, z)
    lowest = min(
        u * (t[0, 0] - x) + v * (t[0, 1] - y) + w * (t[0, 2] - z),
        u * (t[0, 3] - x) + v * (t[0, 4] - y) + w * (t[0, 5] - z),
        u * (t[0, 6] - x) + v * (t[0, 7] - y) + w * (t[0, 8] - z),
    )
    return d + lowest


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _along(kind, a, b, c, x, y, z, ux, uy, uz, s):
    """Distance at place s of the edge from (x, y, z) along u, and its slope in s; 0 inside."""
    d, gx, gy, gz = outward(kind, a, b, c, x + s * ux, y + s * uy, z + s * uz)
    return max(d, 0.0), gx * ux + gy * uy + gz * uz


@njit(cache=True, nogil=True, error_model="numpy")
def edge_gap(kind, a, b, c, x, y, z, ux, uy, uz, limit):
    """Lower bound of the distance of an edge to a solid, at most ACCURACY below it, and the place of the nearest point.

    False position on the slope of the squared distance (Illinois rule), between tangents. Ends early at `limit`.
    """
    s0, s1 = 0.0, 1.0
    d0, slope0 = _along(kind, a, b, c, x, y, z, ux, uy, uz, s0)
    if slope0 >= 0.0:
        return d0, s0
    d1, slope1 = _along(kind, a, b, c, x, y, z, ux, uy, uz, s1)
    if slope1 <= 0.0:
        return d1, s1
    weight0, weight1, last = 1.0, 1.0, 0
    lower = 0.0
    for _ in range(MAX_STEPS):
        crossing = (d0 - d1 + slope1 * s1 - slope0 * s0) / (slope1 - slope0)
        lower = max(lower, d0 + slope0 * (crossing - s0))
        if lower >= limit or min(d0, d1) - lower <= ACCURACY:
            break
        g0, g1 = weight0 * d0 * slope0, weight1 * d1 * slope1
        s = s0 - g0 * (s1 - s0) / (g1 - g0)
        if not (s > s0 and s < s1):
            s = 0.5 * (s0 + s1)
        d, slope = _along(kind, a, b, c, x, y, z, ux, uy, uz, s)
        if d <= 0.0:
            return 0.0, s
        if slope < 0.0:
            s0, d0, slope0, weight0 = s, d, slope, 1.0
            weight1 = 0.5 * weight1 if last == -1 else 1.0
            last = -1
        else:
            s1, d1, slope1, weight1 = s, d, slope, 1.0
            weight0 = 0.5 * weight0 if last == 1 else 1.0
            last = 1
    return lower, (s0 if d0 <= d1 else s1)


@njit(cache=True, nogil=True, error_model="numpy")
def _face_gap(kind, a, b, c, t, p):
    """Gap between a triangle's plane and a BOX or CYLINDER, and whether it is the distance of the triangle.

    It is when the solid's point nearest to the plane lies under the triangle; points then go to p[0] (triangle), p[1].
    """
    ux, uy, uz = t[0, 3] - t[0, 0], t[0, 4] - t[0, 1], t[0, 5] - t[0, 2]
    vx, vy, vz = t[0, 6] - t[0, 0], t[0, 7] - t[0, 1], t[0, 8] - t[0, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = np.sqrt(nx * nx + ny * ny + nz * nz)
    size = abs(ux) + abs(uy) + abs(uz) + abs(vx) + abs(vy) + abs(vz)
    if not length > THIN * size * size:
        return 0.0, False
    nx, ny, nz = nx / length, ny / length, nz / length
    off = nx * t[0, 0] + ny * t[0, 1] + nz * t[0, 2]
    if off < 0.0:
        off, nx, ny, nz = -off, -nx, -ny, -nz
    if kind == BOX:
        qx, qy, qz = np.copysign(a, nx), np.copysign(b, ny), np.copysign(c, nz)
    else:
        flat = np.sqrt(nx * nx + ny * ny)
        s = a / flat if flat > 0.0 else 0.0
        qx, qy, qz = s * nx, s * ny, np.copysign(b, nz)
    far = off + size + abs(qx) + abs(qy) + abs(qz)
    gap = off - nx * qx - ny * qy - nz * qz - NORMAL_ERROR * far * size * size / length
    if gap <= 0.0:
        return gap, False
    px, py, pz = qx + gap * nx - t[0, 0], qy + gap * ny - t[0, 1], qz + gap * nz - t[0, 2]
    s = nx * (py * vz - pz * vy) + ny * (pz * vx - px * vz) + nz * (px * vy - py * vx)
    r = nx * (uy * pz - uz * py) + ny * (uz * px - ux * pz) + nz * (ux * py - uy * px)
    turn = nx * (uy * vz - uz * vy) + ny * (uz * vx - ux * vz) + nz * (ux * vy - uy * vx)
    if turn < 0.0:
        s, r = -s, -r
    if s < 0.0 or r < 0.0 or s + r > length:
        return gap, False
    p[1, 0], p[1, 1], p[1, 2] = qx, qy, qz
    p[0, 0], p[0, 1], p[0, 2] = qx + gap * nx, qy + gap * ny, qz + gap * nz
    return gap, True


@njit(cache=True, nogil=True, error_model="numpy")
def _core_gap(a, b, t, limit, tol, core, p):
    """`triangle_gap` of a CAPSULE or, with b = 0, a SPHERE: distance of the triangle to the core less the radius."""
    if axis_pierces(t, b):
        return -1.0
    core[0, :] = 0.0
    core[0, 2], core[0, 5], core[0, 8] = -b, b, b
    most = (max(limit, tol) + a) ** 2
    zero = np.int64(0)
    near = corner_face(t, zero, core, zero, most, p, zero, np.int64(1))
    if near < 0.0:
        return limit
    for i in range(3):
        near = edge_edge(t, zero, i, core, zero, zero, near, p)
    if near >= most:
        return limit
    d = np.sqrt(near)
    if d - a <= tol:
        return -1.0
    for k in range(3):
        p[1, k] += a / d * (p[0, k] - p[1, k])
    return d - a


@njit(cache=True, nogil=True, error_model="numpy")
def triangle_gap(kind, a, b, c, t, limit, tol, core, p):
    """One triangle against a BOX, SPHERE, CYLINDER or CAPSULE: -1 when they share a point, else their distance.

    Gaps up to the length `tol` are touching. Any value >= limit means that they are not nearer than `limit`; with
    limit 0 only the sign counts. The closest points go to p[0] (triangle) and p[1] when the result is in (0, limit).
    `core` (1, 9) is scratch.
    """
    if kind == CAPSULE:
        return _core_gap(a, b, t, limit, tol, core, p)
    if kind == SPHERE:
        if limit > 0.0:
            return _core_gap(a, 0.0, t, limit, tol, core, p)
        return -1.0 if point_distance(t, np.int64(0), 0.0, 0.0, 0.0, np.inf) <= (a + tol) ** 2 else 0.0
    gap, over = 0.0, False
    if limit > 0.0:
        gap, over = _face_gap(kind, a, b, c, t, p)
    if gap <= tol:
        if kind == BOX:
            meets = triangle_box_overlap(
                t[0, 0], t[0, 1], t[0, 2], t[0, 3], t[0, 4], t[0, 5], t[0, 6], t[0, 7], t[0, 8],
                a + tol, b + tol, c + tol,
            )  # fmt: skip
        else:
            meets = triangle_cylinder_overlap(t, a + tol, b + tol)
        if meets:
            return -1.0
    if over or gap >= limit:
        return gap
    best = limit
    for i in range(0, 9, 3):
        j = (i + 3) % 9
        x, y, z = t[0, i], t[0, i + 1], t[0, i + 2]
        u, v, w = t[0, j] - x, t[0, j + 1] - y, t[0, j + 2] - z
        d, s = edge_gap(kind, a, b, c, x, y, z, u, v, w, best)
        if d < best:
            best = d
            p[0, 0], p[0, 1], p[0, 2] = x + s * u, y + s * v, z + s * w
    if best <= tol:
        return -1.0
    if best < limit:
        d, u, v, w = outward(kind, a, b, c, p[0, 0], p[0, 1], p[0, 2])
        p[1, 0], p[1, 1], p[1, 2] = p[0, 0] - d * u, p[0, 1] - d * v, p[0, 2] - d * w
    return best
