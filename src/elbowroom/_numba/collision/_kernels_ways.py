"""Numba kernels: how far the spheres of links go from the middle of a piece, by where they are at its end.

The sum over joints of their motion times `Lanes.link_reach` holds whatever the configuration, and is three to four
times the real way: arms are folded, and motions of joints partly cancel. Where the end of a piece is looked at too, a
place f(t) on it (t within h of the middle m) goes no farther than |f(m + h) - f(m)| + h^2 F, with F a bound of its
second derivative: f(t) and f(m + h) both differ by at most h^2 F / 2 from what the slope at m makes of them. That is
used of the middle of a link's ball and of the link's rotation; a sphere's centre is at most `Lanes.link_far` from
that middle.

Second derivatives: a point c moved by joints i (nearer to the root) and j has |d2c / dq_i dq_j| no larger than its
distance from the axis of j (1 for a sliding joint), and a rotation no larger than 1.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..distance import (
    JOINT,
    JOINT_COUPLED,
    JOINT_DRIVER,
    LANES,
    LAW_WIDTH,
    LINK_BODY,
    POINT,
    POSE,
    place,
)


@njit(cache=True, nogil=True, error_model="numpy")
def bend_joints(moving, doubles, rate, size, curl):
    """Completes curl (joints,), bounds of second derivatives, which holds those of the driving joints, by the
    coupled ones: rate and size bound velocities and values."""
    for k in range(len(moving)):
        i, d = moving[k, JOINT], moving[k, JOINT_DRIVER]
        if moving[k, JOINT_COUPLED]:
            law, slope, turn = i * LAW_WIDTH, 0.0, 0.0
            for c in range(4, 0, -1):
                slope = slope * size[d] + c * abs(doubles[law + c])
            for c in range(4, 1, -1):
                turn = turn * size[d] + c * (c - 1) * abs(doubles[law + c])
            curl[i] = slope * curl[d] + turn * rate[d] * rate[d]


@njit(cache=True, nogil=True, error_model="numpy")
def bend_links(lanes, rate, curl, bend):
    """Fills bend (links,): metres, times h^2, that spheres may go beyond what the end of a piece shows."""
    reach, carries, far, ranked = lanes.link_reach, lanes.link_carried, lanes.link_far, lanes.ranked
    for k in range(len(bend)):
        before, total = 0.0, 0.0
        for c in range(len(ranked)):
            j = ranked[c]
            if carries[k, j]:
                total += (reach[k, j] + far[k]) * (rate[j] * (rate[j] + 2.0 * before) + curl[j])
                total += far[k] * curl[j]
                before += rate[j]
        bend[k] = total + far[k] * before * before


@njit(cache=True, nogil=True, error_model="numpy")
def link_ways(count, which, halves, move, bend, lanes, links, points, now, ahead, ways):
    """Fills ways (links, LANES): metres that spheres of each link go at most from the middle of a lane's piece.

    Args:
        count: lanes in use.
        which: (LANES,) the rows of `move` and `bend` (n, links) that hold for each lane.
        halves: (LANES,) half the width of each lane's piece.
        move: ways on the whole piece by `link_reach`.
        bend: of `bend_links`.
        now: (poses, placed) in the middle, with the balls of links in place.
        ahead: the same half a piece later; balls of links are placed here.
    """
    (poses, placed), (poses_end, placed_end) = now, ahead
    blur = 2.0 * lanes.blur
    for k in range(len(links)):
        body, point, far = links[k, LINK_BODY] * POSE, k * POINT, lanes.link_far[k]
        place(poses_end, body, points, k, 1, placed_end)
        for lane in range(count):
            square, turn = np.float32(0.0), np.float32(0.0)
            for row in range(3):
                at = point + row * LANES + lane
                square += (placed_end[at] - placed[at]) ** 2
            for entry in range(9):
                at = body + entry * LANES + lane
                turn += (poses_end[at] - poses[at]) ** 2
            i, h = which[lane], halves[lane]
            way = np.sqrt(square) + far * np.sqrt(0.5 * turn) + h * h * bend[i, k] + blur
            ways[k, lane] = min(way, h * move[i, k])
