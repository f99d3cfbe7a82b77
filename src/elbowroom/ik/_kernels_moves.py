"""Numba kernels of where the bodies of a robot are, and of how far two configurations move its links."""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from .._numba.collision.kernels import (
    BODY,
    FIRST_BALL,
    FIRST_ON_WAY,
    MAX_VALUE,
    N_BALLS,
    N_GROUPS,
    N_ON_WAY,
    joint_rates,
    place_bodies,
)
from .._numba.robot import axis_distance, chord_of


@njit(cache=True, nogil=True, error_model="numpy")
def body_scratch(bodies):
    """Which bodies are posed (all), their poses, the slopes of coupled joints, and balls in place."""
    n = len(bodies.kinds)
    return np.ones(n, np.uint8), np.empty((n, 3, 4)), np.ones(n), np.empty((max(1, len(bodies.balls)), 3))


@njit(cache=True, nogil=True, error_model="numpy")
def pose_all(cfg, bodies, posed):
    """Poses all bodies and balls, and takes the slopes of coupled joints at a configuration."""
    bodies = borrowed(bodies)
    needed, pose, slope, at = posed
    place_bodies(cfg, bodies, needed, pose)
    for b in range(1, len(bodies.kinds)):
        x, rate = cfg[bodies.drivers[b]], 0.0
        for c in range(bodies.polys.shape[1] - 1, 0, -1):
            rate = rate * x + c * bodies.polys[b, c]
        slope[b] = rate
    for link in range(len(bodies.links)):
        T, first = pose[bodies.links[link, BODY]], bodies.links[link, FIRST_BALL]
        for i in range(first, first + bodies.links[link, N_BALLS]):
            u, v, w = bodies.balls[i, 0], bodies.balls[i, 1], bodies.balls[i, 2]
            for c in range(3):
                at[i, c] = T[c, 0] * u + T[c, 1] * v + T[c, 2] * w + T[c, 3]


@njit(cache=True, nogil=True, error_model="numpy")
def shared(bodies, a, b):
    """How many bodies carry both links."""
    bodies = borrowed(bodies)
    last_a = bodies.links[a, FIRST_ON_WAY] + bodies.links[a, N_ON_WAY] - 1
    last_b = bodies.links[b, FIRST_ON_WAY] + bodies.links[b, N_ON_WAY] - 1
    n = 0
    most = min(bodies.links[a, N_ON_WAY], bodies.links[b, N_ON_WAY])
    while n < most and bodies.way[last_a - n] == bodies.way[last_b - n]:
        n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def joint_scratch(bodies):
    """What `link_moves` works with: rates and chords of joints, and for every body on a link's way how far the bodies
    from the link up to that one move it."""
    n = len(bodies.kinds)
    return np.zeros(n), np.zeros(n), np.zeros(max(1, len(bodies.way)))


@njit(cache=True, nogil=True, error_model="numpy")
def link_moves(begin, end, bodies, posed, joints, moves):
    """moves[link]: metres that any point of a link may move between two configurations; False for wild values.

    Bodies are posed at the first of them (`posed`). The moves relative to the bodies on the links' ways stay in
    `joints`.
    """
    bodies = borrowed(bodies)
    rate, chord, on_way = joints
    pose_all(begin, bodies, posed)
    pose, at = posed[1], posed[3]
    if not joint_rates(begin, end, bodies.drivers[1:], bodies.polys[1:], rate[1:]) <= MAX_VALUE:
        return False
    for b in range(1, len(rate)):
        chord[b] = chord_of(bodies.kinds[b], rate[b])
    for link in range(len(bodies.links)):
        first, way = bodies.links[link, FIRST_BALL], bodies.links[link, FIRST_ON_WAY]
        stop = way + bodies.links[link, N_ON_WAY]
        on_way[way:stop] = 0.0
        for g in range(first, first + bodies.links[link, N_GROUPS]):
            x, y, z, radius = at[g, 0], at[g, 1], at[g, 2], bodies.balls[g, 3]
            total = 0.0
            for i in range(way, stop):  # outermost first, as in `movement`
                b = bodies.way[i]
                if chord[b] > 0.0:
                    turns = bodies.kinds[b] == 1
                    total += chord[b] * (axis_distance(pose, b, x, y, z) + radius + total if turns else 1.0)
                on_way[i] = max(on_way[i], total)
        moves[link] = on_way[stop - 1] if stop > way else 0.0
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def relative_move(bodies, a, b, on_way):
    """Metres by which two links may come closer: bodies that carry both move neither."""
    bodies = borrowed(bodies)
    both = shared(bodies, a, b)
    total = 0.0
    for link in (a, b):
        n = bodies.links[link, N_ON_WAY] - both
        if n > 0:
            total += on_way[bodies.links[link, FIRST_ON_WAY] + n - 1]
    return total
