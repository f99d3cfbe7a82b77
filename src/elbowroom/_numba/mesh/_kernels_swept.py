"""Kernel that shows two surfaces apart while one moves past the other: a moment in the middle, and a motion around it.

In the frame of A, a point x of B moves from where it is in the middle by s v(x) + r, |s| <= half, where
v(x) = v + w x (x - c) is its velocity there, and r what its path bends, |r| <= bend + bend_slope |x - c|. Two convex
sets stay apart when their gap along a fixed unit vector n stays positive; along n a point of B reads
n . x + s n . v(x), linear in x and in s, so that corners of boxes and triangles at both ends of the motion say it all.
Surfaces that slide along each other hardly move along n, however fast they are: this is what a bound of mere distances
cannot see.
Pairs of tree nodes are opened until boxes are farther apart than B moves, in any direction or along the direction of
the closest triangles known; pairs of triangles are tried along that direction, then along their own.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ._kernels_distance import node_bounds
from ._kernels_features import triangle_distance
from ._kernels_gjk import FAR
from ._kernels_query import pose_triangle
from ._kernels_tritri import FASTMATH

STAYS_APART, NOT_SHOWN, TOO_CLOSE = 0, 1, 2
MOTION = 11
"""Numbers of a motion: c, v, w, bend and bend_slope."""
MOST = 4000
"""Pairs of nodes opened at most, some 0.2 ms: a motion that needs more is too wide for one look, its halves are not."""
ROUNDING = 1e-9
"""Metres, and share of a distance, by which bounds must be better than asked: far more than float64 rounds."""


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, inline="always")
def _reach_of(nodes, i, rel, motion, half):
    """(move, bend) of a node of B: how far its points move at most, and how far off the straight line of it."""
    x, y, z = nodes[i, 0], nodes[i, 1], nodes[i, 2]
    rx = rel[0] * x + rel[1] * y + rel[2] * z + rel[9] - motion[0]
    ry = rel[3] * x + rel[4] * y + rel[5] * z + rel[10] - motion[1]
    rz = rel[6] * x + rel[7] * y + rel[8] * z + rel[11] - motion[2]
    radius = np.sqrt(nodes[i, 3] * nodes[i, 3] + nodes[i, 4] * nodes[i, 4] + nodes[i, 5] * nodes[i, 5])
    wx, wy, wz = motion[6], motion[7], motion[8]
    vx, vy, vz = motion[3] + wy * rz - wz * ry, motion[4] + wz * rx - wx * rz, motion[5] + wx * ry - wy * rx
    bend = motion[9] + motion[10] * (np.sqrt(rx * rx + ry * ry + rz * rz) + radius)
    speed = np.sqrt(vx * vx + vy * vy + vz * vz) + np.sqrt(wx * wx + wy * wy + wz * wz) * radius
    return half * speed + bend, bend


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, inline="always")
def _high(nodes, i, x, y, z):
    """Highest projection of a node's box on a direction."""
    high = x * nodes[i, 0] + y * nodes[i, 1] + z * nodes[i, 2]
    return high + abs(x) * nodes[i, 3] + abs(y) * nodes[i, 4] + abs(z) * nodes[i, 5]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _set_aim(p, rel, motion, half, aim, ends):
    """Points `aim` from p[0] to p[1]; ends (2, 4): how low points of B (in B's frame) read at both ends, negated."""
    x, y, z = p[1, 0] - p[0, 0], p[1, 1] - p[0, 1], p[1, 2] - p[0, 2]
    length = np.sqrt(x * x + y * y + z * z)
    if not length > 1e-12:
        aim[:] = 0.0
        return
    x, y, z = x / length, y / length, z / length
    aim[0], aim[1], aim[2] = x, y, z
    wx, wy, wz = motion[6], motion[7], motion[8]
    tx, ty, tz = y * wz - z * wy, z * wx - x * wz, x * wy - y * wx
    along = x * motion[3] + y * motion[4] + z * motion[5]
    along -= tx * motion[0] + ty * motion[1] + tz * motion[2]
    for k in range(2):
        s = half if k else -half
        gx, gy, gz = x + s * tx, y + s * ty, z + s * tz
        ends[k, 0] = -(rel[0] * gx + rel[3] * gy + rel[6] * gz)
        ends[k, 1] = -(rel[1] * gx + rel[4] * gy + rel[7] * gz)
        ends[k, 2] = -(rel[2] * gx + rel[5] * gy + rel[8] * gz)
        ends[k, 3] = -(gx * rel[9] + gy * rel[10] + gz * rel[11] + s * along)


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, inline="always")
def _nodes_gap(na, ia, nb, ib, aim, ends):
    """Gap along `aim` that the boxes of two nodes keep, but for what paths bend."""
    high = max(
        _high(nb, ib, ends[0, 0], ends[0, 1], ends[0, 2]) + ends[0, 3],
        _high(nb, ib, ends[1, 0], ends[1, 1], ends[1, 2]) + ends[1, 3],
    )
    return -high - _high(na, ia, aim[0], aim[1], aim[2])


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _swept_triangle(tb, j, rel, motion, half, corners):
    """Triangle j of B in the middle and at both ends of its straight motion, to corners[:3]; returns what it bends."""
    pose_triangle(tb, j, rel, corners, 0)
    wx, wy, wz = motion[6], motion[7], motion[8]
    far = 0.0
    for k in range(0, 9, 3):
        x, y, z = corners[0, k] - motion[0], corners[0, k + 1] - motion[1], corners[0, k + 2] - motion[2]
        far = max(far, x * x + y * y + z * z)
        vx, vy, vz = motion[3] + wy * z - wz * y, motion[4] + wz * x - wx * z, motion[5] + wx * y - wy * x
        for end in range(1, 3):
            s = half if end == 1 else -half
            corners[end, k] = corners[0, k] + s * vx
            corners[end, k + 1] = corners[0, k + 1] + s * vy
            corners[end, k + 2] = corners[0, k + 2] + s * vz
    return motion[9] + motion[10] * np.sqrt(far)


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _triangles_gap(ta, i, corners, x, y, z):
    """Gap along a direction between triangle i of A and both ends of a swept triangle."""
    high, low = -FAR, FAR
    for k in range(0, 9, 3):
        high = max(high, x * ta[i, k] + y * ta[i, k + 1] + z * ta[i, k + 2])
        for end in range(1, 3):
            low = min(low, x * corners[end, k] + y * corners[end, k + 1] + z * corners[end, k + 2])
    return low - high


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _pair_apart(ta, i, corners, need, buffer, best, p):
    """(status, squared): whether a triangle stays apart from a swept one along the direction between them."""
    squared = triangle_distance(ta, i, corners, 0, FAR, p)
    if squared <= buffer * buffer:
        return TOO_CLOSE, squared
    x, y, z = p[1, 0] - p[0, 0], p[1, 1] - p[0, 1], p[1, 2] - p[0, 2]
    length = np.sqrt(x * x + y * y + z * z)
    if not length > 1e-12:
        return TOO_CLOSE, 0.0
    shown = _triangles_gap(ta, i, corners, x / length, y / length, z / length) > need
    return (STAYS_APART if shown else NOT_SHOWN), squared


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _leaves_apart(na, ta, ia, nb, tb, ib, rel, motion, half, buffer, aim, corners, p, best, hint):
    """(status, best) of the triangles of two leaves; `best` is the smallest squared distance met, its pair to hint."""
    first = int(na[ia, 6])
    for j in range(int(nb[ib, 6]), int(nb[ib, 6]) + int(nb[ib, 7])):
        need = _swept_triangle(tb, j, rel, motion, half, corners) + buffer + ROUNDING
        for i in range(first, first + int(na[ia, 7])):
            if _triangles_gap(ta, i, corners, aim[0], aim[1], aim[2]) > need:
                continue
            status, squared = _pair_apart(ta, i, corners, need, buffer, best, p)
            if squared < best:
                best = squared
                hint[0], hint[1] = i, j
            if status != STAYS_APART:
                hint[0], hint[1] = i, j
                return status, best
    return STAYS_APART, best


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def swept_apart(na, ta, ra, nb, tb, rb, rel, inv, motion, half, buffer, stack, corners, p, aim, ends, hint):
    """Whether two surfaces stay farther apart than `buffer` on a motion: STAYS_APART, NOT_SHOWN, TOO_CLOSE (in the
    middle). Surfaces alone are looked at: whoever asks knows that neither lies inside the other at some moment of it.

    Args:
        rel: pose of B in A's frame in the middle of the motion.
        inv: its inverse.
        motion: (MOTION,) as above, in A's frame; `bend` and its slope for the given half.
        half: how far s goes either way.
        buffer: metres.
        corners: (3, 9) or more rows of scratch.
        p, aim, ends: (2, 3), (3,), (2, 4) scratch.
        hint: (2,) triangles to begin with, those closest the last time, or -1; receives the closest met, or those in
            the way.
    """
    f = (rel[0], rel[1], rel[2], rel[3], rel[4], rel[5], rel[6], rel[7], rel[8], rel[9], rel[10], rel[11])
    g = (inv[0], inv[1], inv[2], inv[3], inv[4], inv[5], inv[6], inv[7], inv[8], inv[9], inv[10], inv[11])
    best = FAR
    aim[:] = 0.0
    ends[:] = 0.0
    if hint[0] >= 0:
        need = _swept_triangle(tb, hint[1], rel, motion, half, corners) + buffer + ROUNDING
        status, best = _pair_apart(ta, hint[0], corners, need, buffer, best, p)
        if status != STAYS_APART:
            return status
        _set_aim(p, rel, motion, half, aim, ends)
    stack[0] = (ra << 32) | rb
    top, opened = 1, 0
    while top > 0:
        top -= 1
        opened += 1
        if opened > MOST:
            return NOT_SHOWN
        ia, ib = stack[top] >> 32, stack[top] & 0xFFFFFFFF
        count_a, count_b = na[ia, 7], nb[ib, 7]
        if count_a > 0.0 and count_b > 0.0:
            status, best = _leaves_apart(
                na, ta, ia, nb, tb, ib, rel, motion, half, buffer, aim, corners, p, best, hint
            )
            if status != STAYS_APART:
                return status
            continue
        size_a = na[ia, 3] + na[ia, 4] + na[ia, 5]
        size_b = nb[ib, 3] + nb[ib, 4] + nb[ib, 5]
        open_a = count_b > 0.0 or (count_a == 0.0 and size_a >= size_b)
        if open_a:
            child = int(na[ia, 6])
            bound0, bound1 = node_bounds(na, child, nb, ib, f, 0.0, 0.0, 0.0)
        else:
            child = int(nb[ib, 6])
            bound0, bound1 = node_bounds(nb, child, na, ia, g, 0.0, 0.0, 0.0)
        move, bend = _reach_of(nb, ib if open_a else child, rel, motion, half)
        for k in range(2):
            ca, cb = (child + k, ib) if open_a else (ia, child + k)
            if k == 1 and not open_a:
                move, bend = _reach_of(nb, cb, rel, motion, half)
            need = buffer + move + ROUNDING
            if (bound1 if k else bound0) > need * need * (1.0 + ROUNDING):
                continue
            if _nodes_gap(na, ca, nb, cb, aim, ends) > buffer + bend + ROUNDING:
                continue
            stack[top] = (ca << 32) | cb
            top += 1
    return STAYS_APART
