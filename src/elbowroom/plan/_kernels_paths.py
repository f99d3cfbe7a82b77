"""Numba kernels that move a robot along whole paths: poses of its bodies at every step, points on them, their speeds.

Sixteen steps of a path make a block, so that the loops of the kinematics run over contiguous numbers and vectorise, in
float64. Poses are one flat array: number `j` of 12 (rotation row by row, translation) of body `b` at step `t` is at
`place(t, b, bodies) + j * LANES`. `tree` is (parents, kinds, drivers, local, polys) of a `LinkChains`.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from .._numba.robot import LANES, sincos

POSE = 12
REVOLUTE = 1


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def place(t, body, bodies):
    """Where the pose of a body at a step begins."""
    return ((t // LANES) * bodies + body) * (POSE * LANES) + t % LANES


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def point_at(poses, at, x, y, z):
    """A point of a body in the world; `at` is `place` of the body."""
    return (
        poses[at] * x + poses[at + LANES] * y + poses[at + 2 * LANES] * z + poses[at + 9 * LANES],
        poses[at + 3 * LANES] * x + poses[at + 4 * LANES] * y + poses[at + 5 * LANES] * z + poses[at + 10 * LANES],
        poses[at + 6 * LANES] * x + poses[at + 7 * LANES] * y + poses[at + 8 * LANES] * z + poses[at + 11 * LANES],
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def _move_body(kind, local, b, up, at, trig, poses):
    """Poses of one body in a block: that of its carrier, its place on it, and the motion of its joint."""
    for i in range(3):
        r, w = up + 3 * i * LANES, at + 3 * i * LANES
        a0, a1, a2, a3 = local[b, 0, 0], local[b, 1, 0], local[b, 2, 0], local[b, 0, 1]
        a4, a5, a6, a7 = local[b, 1, 1], local[b, 2, 1], local[b, 0, 2], local[b, 1, 2]
        a8, sx, sy, sz = local[b, 2, 2], local[b, 0, 3], local[b, 1, 3], local[b, 2, 3]
        rt, wt = up + (9 + i) * LANES, at + (9 + i) * LANES
        if kind == REVOLUTE:
            for lane in range(LANES):
                u, v, z = poses[r + lane], poses[r + LANES + lane], poses[r + 2 * LANES + lane]
                x, y = u * a0 + v * a1 + z * a2, u * a3 + v * a4 + z * a5
                s, c = trig[lane], trig[LANES + lane]
                poses[w + lane] = x * c + y * s
                poses[w + LANES + lane] = y * c - x * s
                poses[w + 2 * LANES + lane] = u * a6 + v * a7 + z * a8
                poses[wt + lane] = poses[rt + lane] + u * sx + v * sy + z * sz
        else:
            for lane in range(LANES):
                u, v, z = poses[r + lane], poses[r + LANES + lane], poses[r + 2 * LANES + lane]
                along = u * a6 + v * a7 + z * a8
                poses[w + lane] = u * a0 + v * a1 + z * a2
                poses[w + LANES + lane] = u * a3 + v * a4 + z * a5
                poses[w + 2 * LANES + lane] = along
                poses[wt + lane] = poses[rt + lane] + u * sx + v * sy + z * sz + trig[lane] * along


@njit(cache=True, nogil=True, error_model="numpy")
def move_bodies(path, parents, kinds, drivers, local, polys, trig, poses):
    """Poses of all bodies along a path (steps, dof); `trig` (2 * LANES,) is scratch; spare lanes repeat the last."""
    bodies, steps = len(parents), len(path)
    for block in range((steps + LANES - 1) // LANES):
        first = block * bodies * POSE * LANES
        for i in range(3):
            for j in range(4):
                at = first + (9 + i if j == 3 else 3 * i + j) * LANES
                for lane in range(LANES):
                    poses[at + lane] = local[0, i, j]
        for b in range(1, bodies):
            d, terms = drivers[b], polys.shape[1]
            for lane in range(LANES):
                trig[lane + LANES] = path[min(block * LANES + lane, steps - 1), d]
                trig[lane] = polys[b, terms - 1]
            for c in range(terms - 2, -1, -1):
                for lane in range(LANES):
                    trig[lane] = trig[lane] * trig[lane + LANES] + polys[b, c]
            if kinds[b] == REVOLUTE:
                for lane in range(LANES):
                    s, c = sincos(trig[lane])
                    trig[lane], trig[LANES + lane] = s, c
            size = POSE * LANES
            _move_body(kinds[b], local, b, first + parents[b] * size, first + b * size, trig, poses)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def step_speed(poses, t, steps, body, bodies, x, y, z, rate):
    """Speed of a point of a body at a step: central differences, one-sided at both ends; `rate` is steps per second."""
    before, after = max(t - 1, 0), min(t + 1, steps - 1)
    ax, ay, az = point_at(poses, place(before, body, bodies), x, y, z)
    bx, by, bz = point_at(poses, place(after, body, bodies), x, y, z)
    return np.sqrt((bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2) * rate / (after - before)
