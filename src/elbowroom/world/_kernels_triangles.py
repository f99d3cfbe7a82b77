"""One triangle against one solid: do they share a point.

Triangles are in the frame of the solid, which is centred there. Solids contain: a triangle inside one touches it.
Apart is claimed only beyond the rounding error of what was compared, so touching counts as meeting.
"""

# pyright: basic
from __future__ import annotations

from .._jit import njit

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
