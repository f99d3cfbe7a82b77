"""One triangle against one solid: do they share a point. Distances are in `_kernels_convex`.

Triangles are in the frame of the solid, which is centred there. Solids contain: a triangle inside one touches it.
Apart is claimed only beyond the rounding error of what was compared, so touching counts as meeting.
"""

# pyright: basic
from __future__ import annotations

from ..._jit import njit

ROUNDING = 1e-14
"""Error of a projection against the products it is made of: some tens of roundings of a float64."""


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _cross_parts(ux, uy, uz, ax, ay, az, bx, by, bz, hx, hy, hz, slack):
    """Does one of the three crosses of the box's axes with edge u part the box from corners a (on the edge) and b?"""
    vx, vy, vz = abs(ux), abs(uy), abs(uz)
    slack *= vx + vy + vz
    p, q, r = uy * az - uz * ay, uy * bz - uz * by, vy * hz + vz * hy + slack
    apart = min(p, q) > r or max(p, q) < -r
    p, q, r = uz * ax - ux * az, uz * bx - ux * bz, vz * hx + vx * hz + slack
    apart |= min(p, q) > r or max(p, q) < -r
    p, q, r = ux * ay - uy * ax, ux * by - uy * bx, vx * hy + vy * hx + slack
    return apart or min(p, q) > r or max(p, q) < -r


@njit(cache=True, nogil=True, error_model="numpy")
def triangle_box_overlap(ax, ay, az, bx, by, bz, cx, cy, cz, hx, hy, hz):
    """Do triangle abc and the solid box of half edges h, centred at the origin and along its axes, share a point?

    Thirteen separating axes (Akenine-Moeller, "Fast 3D triangle-box overlap testing", 2001).
    """
    size = max(hx, hy, hz, abs(ax), abs(ay), abs(az))
    slack = ROUNDING * max(size, abs(bx), abs(by), abs(bz), abs(cx), abs(cy), abs(cz))
    if (
        min(ax, bx, cx) > hx + slack or max(ax, bx, cx) < -hx - slack
        or min(ay, by, cy) > hy + slack or max(ay, by, cy) < -hy - slack
        or min(az, bz, cz) > hz + slack or max(az, bz, cz) < -hz - slack
    ):  # fmt: skip
        return False
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    reach = abs(nx) * hx + abs(ny) * hy + abs(nz) * hz
    reach += slack * (abs(ux) + abs(uy) + abs(uz)) * (abs(vx) + abs(vy) + abs(vz))
    if abs(nx * ax + ny * ay + nz * az) > reach:
        return False
    return not (
        _cross_parts(ux, uy, uz, ax, ay, az, cx, cy, cz, hx, hy, hz, slack)
        or _cross_parts(vx, vy, vz, cx, cy, cz, bx, by, bz, hx, hy, hz, slack)
        or _cross_parts(cx - bx, cy - by, cz - bz, bx, by, bz, ax, ay, az, hx, hy, hz, slack)
    )


@njit(cache=True, nogil=True, error_model="numpy")
def axis_pierces(t, half):
    """Does the segment |z| <= half of the z axis cross triangle t[0, :9]? Triangles along z are left to their edges."""
    u = t[0, 3] * t[0, 7] - t[0, 6] * t[0, 4]
    v = t[0, 6] * t[0, 1] - t[0, 0] * t[0, 7]
    w = t[0, 0] * t[0, 4] - t[0, 3] * t[0, 1]
    area = u + v + w
    if area == 0.0 or min(u, v, w) * max(u, v, w) < 0.0:
        return False
    return abs(u * t[0, 2] + v * t[0, 5] + w * t[0, 8]) <= half * abs(area)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _axis_gap_squared(x, y, u, v):
    """Squared distance of the origin to the segment from (x, y) to (u, v) of the plane."""
    u, v = u - x, v - y
    length = u * u + v * v
    s = min(1.0, max(0.0, -(x * u + y * v) / length)) if length > 0.0 else 0.0
    return (x + s * u) ** 2 + (y + s * v) ** 2


@njit(cache=True, nogil=True, error_model="numpy")
def triangle_cylinder_overlap(t, radius, half):
    """Do triangle t[0, :9] and the solid cylinder about z, of length 2 `half`, share a point?

    The part of the triangle between the planes of the ends, seen along the axis, is a polygon: does it come within
    the radius of the axis? Its sides are the clipped edges and the cuts of the end planes.
    """
    if axis_pierces(t, half):
        return True
    near = radius * radius
    top_x, top_y, low_x, low_y = 0.0, 0.0, 0.0, 0.0
    tops, lows = 0, 0
    for i in range(0, 9, 3):
        j = (i + 3) % 9
        x, y, z = t[0, i], t[0, i + 1], t[0, i + 2]
        u, v, w = t[0, j] - x, t[0, j + 1] - y, t[0, j + 2] - z
        over, under = (z > half) != (z + w > half), (z < -half) != (z + w < -half)
        if not over and not under and abs(z) > half:
            continue
        at_top = (half - z) / w if over else 0.0
        at_low = (-half - z) / w if under else 0.0
        first, last = 0.0, 1.0
        if over:
            px, py = x + at_top * u, y + at_top * v
            if tops == 1 and _axis_gap_squared(px, py, top_x, top_y) <= near:
                return True
            top_x, top_y = px, py
            tops += 1
            first, last = (at_top, last) if z > half else (first, at_top)
        if under:
            px, py = x + at_low * u, y + at_low * v
            if lows == 1 and _axis_gap_squared(px, py, low_x, low_y) <= near:
                return True
            low_x, low_y = px, py
            lows += 1
            first, last = (at_low, last) if z < -half else (first, at_low)
        if _axis_gap_squared(x + first * u, y + first * v, x + last * u, y + last * v) <= near:
            return True
    return False
