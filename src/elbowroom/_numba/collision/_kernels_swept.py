"""Numba kernels of the proof that two links slide past each other: `swept_apart` of their meshes, piece by piece.

The segment proof compares distances with how far links move in any direction, so links that nearly touch take many
pieces. Here only motion towards each other counts: on a piece around its middle, the second link moves in the frame of
the first by the velocity there times time, and off that by at most half the square of the time times the largest
acceleration of its points. Along a chain of joints with rates r_j, from the first link to the second, that is at most
the sum over j of (r_j^2 + c_j + 2 r_j sum of r_i before j) d_j for turning joints, d_j the point's distance from the
axis, and of c_j + 2 r_j sum of r_i before j for sliding ones, where i are turning joints, c_j bounds the joint's own
acceleration (of coupled joints that are not linear). Distances from axes change by what the joints after j move.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..mesh import MOTION, STAYS_APART, TOO_CLOSE, inverse_pose, relative_pose, swept_apart
from ..robot import axis_distance, chain_poses, chord_of
from ._kernels_segment import (
    BLOCKED,
    DEPTH,
    FIRST_JOINT,
    FREE,
    MAX_VALUE,
    N_A,
    N_JOINTS,
    PAIR_A,
    PAIR_B,
    TREE,
    UNDECIDED,
    joint_rates,
    mesh_row,
)

BENDS_MORE = 1.0 + 1e-9
"""What rounding may take from a bound of bends."""


@njit(cache=True, nogil=True, error_model="numpy")
def _bend(x, y, z, radius, half, kind, pose, rate, curve, order):
    """How far a path of a point in a ball may be off its straight line, times 2 / half^2; the ball is of b."""
    before = 0.0
    for k in range(len(kind)):
        if kind[k] == 1:
            before += rate[k]
    total, moved = 0.0, 0.0
    for i in range(len(kind) - 1, -1, -1):
        k = order[i]
        if kind[k] == 1:
            before -= rate[k]
            far = axis_distance(pose, k, x, y, z) + radius + moved
            total += (rate[k] * rate[k] + curve[k] + 2.0 * rate[k] * max(before, 0.0)) * far
            moved += chord_of(1, rate[k] * half) * far
        else:
            total += curve[k] + 2.0 * rate[k] * max(before, 0.0)
            moved += rate[k] * half
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def relative_motion(row, c, n_a, half, kind, pose, speed, rate, curve, order, motion):
    """Fills the `motion` of b in the frame of a's mesh, `row`, around the point c of that frame."""
    x = row[0] * c[0] + row[1] * c[1] + row[2] * c[2] + row[9]
    y = row[3] * c[0] + row[4] * c[1] + row[5] * c[2] + row[10]
    z = row[6] * c[0] + row[7] * c[1] + row[8] * c[2] + row[11]
    vx, vy, vz, wx, wy, wz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(kind)):
        rate_k = -speed[k] if k < n_a else speed[k]
        ax, ay, az = rate_k * pose[k, 0, 2], rate_k * pose[k, 1, 2], rate_k * pose[k, 2, 2]
        if kind[k] == 1:
            rx, ry, rz = x - pose[k, 0, 3], y - pose[k, 1, 3], z - pose[k, 2, 3]
            vx, vy, vz = vx + ay * rz - az * ry, vy + az * rx - ax * rz, vz + ax * ry - ay * rx
            wx, wy, wz = wx + ax, wy + ay, wz + az
        else:
            vx, vy, vz = vx + ax, vy + ay, vz + az
    for i in range(3):
        motion[i] = c[i]
        motion[3 + i] = row[i] * vx + row[3 + i] * vy + row[6 + i] * vz
        motion[6 + i] = row[i] * wx + row[3 + i] * wy + row[6 + i] * wz
    square = 0.5 * half * half * BENDS_MORE
    bend = _bend(x, y, z, 0.0, half, kind, pose, rate, curve, order)
    motion[9] = square * bend
    motion[10] = square * (_bend(x, y, z, 1.0, half, kind, pose, rate, curve, order) - bend) + 1e-12


@njit(cache=True, nogil=True, error_model="numpy")
def joint_curves(begin, end, driver, poly, curve):
    """Bounds of the joints' own accelerations along the segment: zero but for coupled joints that are not linear."""
    for k in range(len(driver)):
        lo, hi = begin[driver[k]], end[driver[k]]
        reach, size = max(abs(lo), abs(hi)), 0.0
        for c in range(poly.shape[1] - 1, 1, -1):
            size = size * reach + c * (c - 1) * abs(poly[k, c])
        curve[k] = size * (hi - lo) * (hi - lo)


@njit(cache=True, nogil=True, error_model="numpy")
def slide_scratch(chains):
    """What `prove_sliding` adds to the scratch of the segment proof: speeds and curves, motion, ends of an aim."""
    joints = 1
    for k in range(len(chains)):
        joints = max(joints, chains[k, N_JOINTS])
    return np.empty(joints), np.empty(joints), np.empty(MOTION), np.empty((2, 4)), np.empty(3)


@njit(cache=True, nogil=True, error_model="numpy")
def prove_sliding(
    pair, begin, end, buffer, budget, chains, kinds, drivers, locals_, polys, links, placed, nodes, tris, hint, scratch,
    sliding,
):  # fmt: skip
    """(status, t, pieces): FREE when the meshes of a pair stay farther apart than `buffer` from begin to end.

    They must be apart at `begin`, neither inside the other: that is not looked at.

    Args:
        hint: (2,) triangles closest the last time, or -1; kept from call to call.
        scratch: of `segment_scratch`.
        sliding: of `slide_scratch`.
    """
    a, b, n_a = chains[pair, PAIR_A], chains[pair, PAIR_B], chains[pair, N_A]
    j0, m = chains[pair, FIRST_JOINT], chains[pair, N_JOINTS]
    kind, local = kinds[j0 : j0 + m], locals_[j0 : j0 + m]
    driver, poly = drivers[j0 : j0 + m], polys[j0 : j0 + m]
    (cfg, poses, ends), _, (_, _, (rates, _), orders), waiting, rows, walk, (_, p, aim, _, _) = scratch
    stack, _, corners, _, rel, inv = walk
    speeds, curves, motion, ends_of_aim, c = sliding
    pose, rate, order, speed, curve = poses[:m], rates[:m], orders[:m], speeds[:m], curves[:m]
    ra, rb = links[a, TREE], links[b, TREE]
    for k in range(m):
        order[k] = n_a - 1 - k if k < n_a else k
    if not joint_rates(begin, end, driver, poly, rate) <= MAX_VALUE:
        return UNDECIDED, 0.0, 0
    joint_curves(begin, end, driver, poly, curve)
    waiting[0, 0], waiting[0, 1] = 0.5, 0.5
    top, pieces = 1, 0
    while top > 0:
        top -= 1
        t, half = waiting[top, 0], waiting[top, 1]
        if pieces >= budget or top + 2 > DEPTH:
            return UNDECIDED, t, pieces
        pieces += 1
        for k in range(m):
            d = driver[k]
            x, slope = begin[d] + t * (end[d] - begin[d]), 0.0
            cfg[d] = x
            for e in range(poly.shape[1] - 1, 0, -1):
                slope = slope * x + e * poly[k, e]
            speed[k] = slope * (end[d] - begin[d])
        chain_poses(cfg, n_a, kind, local, poly, driver, pose, ends[0], ends[1])
        mesh_row(ends[0], placed, a, rows[0])
        mesh_row(ends[1], placed, b, rows[1])
        relative_pose(rows[0], rows[1], rel)
        inverse_pose(rel, inv)
        for i in range(3):  # a point near which motions are bounded best
            c[i] = tris[hint[0], i] if hint[0] >= 0 else nodes[ra, i]
        relative_motion(rows[0], c, n_a, half, kind, pose, speed, rate, curve, order, motion)
        found = swept_apart(
            nodes,
            tris,
            ra,
            nodes,
            tris,
            rb,
            rel,
            inv,
            motion,
            half,
            buffer,
            stack,
            corners,
            p,
            aim,
            ends_of_aim,
            hint,
        )
        if found == STAYS_APART:
            continue
        if found == TOO_CLOSE:
            return BLOCKED, t, pieces
        half *= 0.5
        waiting[top, 0], waiting[top, 1] = t + half, half
        waiting[top + 1, 0], waiting[top + 1, 1] = t - half, half
        top += 2
    return FREE, -1.0, pieces
