"""Does an oriented box meet a primitive: exact, touching counts.

A box is a row of 15: its axes in the world (rotation row by row), its centre, its half edges. `rel` is its pose in the
frame of the obstacle, a row of 12. `slack` is the rounding of the coordinates: gaps below it are touching.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit

HALF = 12
"""Column of a box where its half edges begin."""
CORNERS = 32
"""Corners of a box cut by two planes at most: 8 of its own and 2 on each of its 12 edges."""


@njit(cache=True, nogil=True, error_model="numpy")
def faces_apart(rel, box, cx, cy, cz, ax, ay, az, slack):
    """Does a face of either part an upright box (centre c, half edges a, in the frame of `rel`) from the box?"""
    tx, ty, tz = rel[9] - cx, rel[10] - cy, rel[11] - cz
    hx, hy, hz = box[HALF], box[HALF + 1], box[HALF + 2]
    if abs(tx) > ax + slack + abs(rel[0]) * hx + abs(rel[1]) * hy + abs(rel[2]) * hz:
        return True
    if abs(ty) > ay + slack + abs(rel[3]) * hx + abs(rel[4]) * hy + abs(rel[5]) * hz:
        return True
    if abs(tz) > az + slack + abs(rel[6]) * hx + abs(rel[7]) * hy + abs(rel[8]) * hz:
        return True
    for j in range(3):
        u, v, w = rel[j], rel[3 + j], rel[6 + j]
        if abs(u * tx + v * ty + w * tz) > box[HALF + j] + slack + abs(u) * ax + abs(v) * ay + abs(w) * az:
            return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def edges_apart(rel, box, sizes, k, slack):
    """Does a plane along an edge of each part the upright box of half edges sizes[k] at the origin from the box?

    Near-parallel edges at angle e give a direction of length e: gaps of slack / e then count as touching, and
    the faces decide to within e times the size; one of the two is below 1e-7 of the size.
    """
    for i in range(3):
        m, n = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            p, q = (j + 1) % 3, (j + 2) % 3
            along = rel[9 + n] * rel[3 * m + j] - rel[9 + m] * rel[3 * n + j]
            reach = sizes[k, m] * abs(rel[3 * n + j]) + sizes[k, n] * abs(rel[3 * m + j])
            reach += box[HALF + p] * abs(rel[3 * i + q]) + box[HALF + q] * abs(rel[3 * i + p])
            if abs(along) > reach + slack:
                return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def box_meets_box(rel, box, sizes, k, slack):
    """The fifteen directions that can part two boxes."""
    if faces_apart(rel, box, 0.0, 0.0, 0.0, sizes[k, 0], sizes[k, 1], sizes[k, 2], slack):
        return False
    return not edges_apart(rel, box, sizes, k, slack)


@njit(cache=True, nogil=True, error_model="numpy")
def point_gap_squared(rel, box, x, y, z):
    """Squared distance of a point in the frame of `rel` to the solid box."""
    dx, dy, dz = x - rel[9], y - rel[10], z - rel[11]
    gx = max(0.0, abs(rel[0] * dx + rel[3] * dy + rel[6] * dz) - box[HALF])
    gy = max(0.0, abs(rel[1] * dx + rel[4] * dy + rel[7] * dz) - box[HALF + 1])
    gz = max(0.0, abs(rel[2] * dx + rel[5] * dy + rel[8] * dz) - box[HALF + 2])
    return gx * gx + gy * gy + gz * gz


@njit(cache=True, nogil=True, error_model="numpy")
def box_meets_half_space(rel, box, sizes, k, slack):
    """Is the corner that reaches farthest against the normal in it? sizes[k] is normal and offset."""
    nx, ny, nz = sizes[k, 0], sizes[k, 1], sizes[k, 2]
    low = nx * rel[9] + ny * rel[10] + nz * rel[11]
    for j in range(3):
        low -= box[HALF + j] * abs(nx * rel[j] + ny * rel[3 + j] + nz * rel[6 + j])
    return low <= sizes[k, 3] + slack


@njit(cache=True, nogil=True, error_model="numpy")
def _beyond(value, half):
    """How far a coordinate is outside [-half, half], with its sign."""
    return value - min(max(value, -half), half)


@njit(cache=True, nogil=True, error_model="numpy")
def _slope(rel, box, px, py, pz, s):
    """Half the derivative, by s, of the squared distance of the axis point at height s to the box."""
    return (
        rel[6] * _beyond(px + s * rel[6], box[HALF])
        + rel[7] * _beyond(py + s * rel[7], box[HALF + 1])
        + rel[8] * _beyond(pz + s * rel[8], box[HALF + 2])
    )


@njit(cache=True, nogil=True, error_model="numpy")
def axis_gap_squared(rel, box, length):
    """Squared distance of the box to the segment from -length to length on the z axis of the frame of `rel`.

    Along the segment the squared distance is convex, and its derivative is linear between the six heights where the
    line passes the planes of the faces: those that lie in the segment narrow it to one piece, whose zero is exact.
    """
    px = -(rel[0] * rel[9] + rel[3] * rel[10] + rel[6] * rel[11])
    py = -(rel[1] * rel[9] + rel[4] * rel[10] + rel[7] * rel[11])
    pz = -(rel[2] * rel[9] + rel[5] * rel[10] + rel[8] * rel[11])
    low, high = -length, length
    falls, rises = _slope(rel, box, px, py, pz, low), _slope(rel, box, px, py, pz, high)
    if falls >= 0.0:
        at = low
    elif rises <= 0.0:
        at = high
    else:
        for j in range(3):
            p = px if j == 0 else (py if j == 1 else pz)
            for side in range(2):
                s = ((2 * side - 1) * box[HALF + j] - p) / rel[6 + j]
                if low < s < high:
                    slope = _slope(rel, box, px, py, pz, s)
                    if slope < 0.0:
                        low, falls = s, slope
                    else:
                        high, rises = s, slope
        at = low + (high - low) * falls / (falls - rises)
    return point_gap_squared(rel, box, 0.0, 0.0, at)


@njit(cache=True, nogil=True, error_model="numpy")
def _shadow(rel, box, length, points):
    """Corners of the box between z = -length and z = length, seen along z: their x and y; returns their number."""
    hx, hy, hz = box[HALF], box[HALF + 1], box[HALF + 2]
    count = 0
    for corner in range(8):
        sx = hx if corner & 1 else -hx
        sy = hy if corner & 2 else -hy
        sz = hz if corner & 4 else -hz
        x = rel[9] + rel[0] * sx + rel[1] * sy + rel[2] * sz
        y = rel[10] + rel[3] * sx + rel[4] * sy + rel[5] * sz
        z = rel[11] + rel[6] * sx + rel[7] * sy + rel[8] * sz
        if abs(z) <= length:
            points[count, 0], points[count, 1] = x, y
            count += 1
        for j in range(3):  # edges from here to the corner on the other side
            if corner & (1 << j):
                continue
            edge = 2.0 * box[HALF + j]
            dz = edge * rel[6 + j]
            for side in range(2):
                s = ((2 * side - 1) * length - z) / dz
                if 0.0 < s < 1.0:
                    points[count, 0] = x + s * edge * rel[j]
                    points[count, 1] = y + s * edge * rel[3 + j]
                    count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _nearest_on_segment(ax, ay, bx, by):
    """The point of the segment from a to b that is nearest to the origin."""
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    s = min(max(-(ax * dx + ay * dy) / square, 0.0), 1.0) if square > 0.0 else 0.0
    return ax + s * dx, ay + s * dy


@njit(cache=True, nogil=True, error_model="numpy")
def _hull_reaches(points, count, radius):
    """Does the convex hull of points in the plane come within `radius` of the origin?

    Gilbert, Johnson and Keerthi's walk with one edge of the hull in hand: the farthest point against the nearest place
    found so far either proves a gap or makes, with the edge, a triangle with a nearer place.
    """
    ax, ay = points[0, 0], points[0, 1]
    bx, by = ax, ay
    for _ in range(4 * CORNERS):
        vx, vy = _nearest_on_segment(ax, ay, bx, by)
        square = vx * vx + vy * vy
        if square <= radius * radius:
            return True
        least, far = np.inf, 0
        for i in range(count):
            along = vx * points[i, 0] + vy * points[i, 1]
            if along < least:
                least, far = along, i
        if least > 0.0 and least * least > radius * radius * square:
            return False
        x, y = points[far, 0], points[far, 1]
        # Turns of the triangle's edges around the origin: all one way when it is inside.
        first, second, third = ax * by - ay * bx, bx * y - by * x, x * ay - y * ax
        if (first > 0.0 and second > 0.0 and third > 0.0) or (first < 0.0 and second < 0.0 and third < 0.0):
            return True
        px, py = _nearest_on_segment(ax, ay, x, y)
        qx, qy = _nearest_on_segment(bx, by, x, y)
        if px * px + py * py <= qx * qx + qy * qy:
            bx, by = x, y
        else:
            ax, ay = x, y
        nearer = min(px * px + py * py, qx * qx + qy * qy)
        if (
            not nearer < square
        ):  # no progress but for rounding: the radius lies between two roundings of the gap
            return True
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def box_meets_cylinder(rel, box, radius, length, points, slack):
    """Does what the box has between the planes of the ends come within the radius of the axis?"""
    if faces_apart(rel, box, 0.0, 0.0, 0.0, radius, radius, length, slack):
        return False
    count = _shadow(rel, box, length + slack, points)
    return count > 0 and _hull_reaches(points, count, radius + slack)
