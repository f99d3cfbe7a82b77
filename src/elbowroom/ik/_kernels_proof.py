"""Numba kernels of the proof of one control step: quickly where links are far apart, by the segment proof elsewhere.

Distances at the beginning of the step are known (`_kernels_rows`). Two links whose points together cannot move farther
than their distance, relative to the body where their ways meet, stay apart on the whole step. Of the others, those whose
spheres are well apart are proved by spheres, those that nearly touch by what their meshes move towards each other.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from ..collision.kernels import (
    FIRST_BALL,
    FIRST_ON_WAY,
    FREE,
    MAX_VALUE,
    MESHES,
    N_GROUPS,
    N_ON_WAY,
    PAIR_A,
    PAIR_B,
    UNDECIDED,
    joint_rates,
    prove_pair,
    prove_sliding,
    segment_scratch,
    slide_scratch,
)
from ..pairs.kernels import SLACK
from ..robot.kernels import axis_distance, chord_of
from ._kernels_rows import pose_all, shared

BY_SPHERES = 1
"""Pieces that are tried by spheres where meshes stand behind them: what takes more is quicker by the meshes."""


@njit(cache=True, nogil=True, error_model="numpy")
def joint_scratch(bodies):
    """What `link_moves` works with: rates and chords of joints, and for every body on a link's way how far the bodies
    from the link up to that one move it."""
    n = len(bodies.kinds)
    return np.zeros(n), np.zeros(n), np.zeros(max(1, len(bodies.way)))


@njit(cache=True, nogil=True, error_model="numpy")
def proof_scratch(dof, bodies, chains, links):
    """What `prove_own` works with: that of joints, of the segment proof, of sliding, and triangles closest last."""
    search = segment_scratch(dof, chains, links, bodies.nodes)
    return joint_scratch(bodies), search, slide_scratch(chains), np.full((len(chains), 2), -1, np.int64)


@njit(cache=True, nogil=True, error_model="numpy")
def link_moves(begin, end, bodies, posed, joints, moves):
    """moves[link]: metres that any point of a link may move between two configurations; False for wild values.

    The moves relative to the bodies on the links' ways stay in `joints`.
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
def _relative_move(bodies, a, b, on_way):
    """Metres by which two links may come closer: bodies that carry both move neither."""
    bodies = borrowed(bodies)
    both = shared(bodies, a, b)
    total = 0.0
    for link in (a, b):
        n = bodies.links[link, N_ON_WAY] - both
        if n > 0:
            total += on_way[bodies.links[link, FIRST_ON_WAY] + n - 1]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def prove_own(
    begin, end, buffers, budget, walks, low, skip, bodies, posed, moves, chains, kinds, drivers, locals_, polys, links,
    balls, spans, placed, nodes, tris, scratch,
):  # fmt: skip
    """(status, pair, t): FREE when all pairs stay farther apart than their buffers on the way from begin to end.

    Args:
        buffers: (pairs,) metres.
        budget: pieces that the proof of one pair may take.
        walks: pieces that may ask the meshes, of all pairs together.
        low: (pairs,) lower bounds of the distances above the buffers at `begin`, above zero where a pair counts.
        skip: (pairs,) 1 for pairs that are not looked at.
        moves: (links,) receives how far links may move.
        chains: the pairs; what follows it are the other arrays of a `PackedChains`.
    """
    joints, search, sliding, hints = scratch
    if not link_moves(begin, end, bodies, posed, joints, moves):
        return UNDECIDED, 0, 0.0
    for k in range(len(chains)):
        a, b = chains[k, PAIR_A], chains[k, PAIR_B]
        if skip[k] or moves[a] + moves[b] + SLACK < low[k]:
            continue
        if _relative_move(bodies, a, b, joints[2]) + SLACK < low[k]:
            continue
        meshes = chains[k, MESHES]
        status, t = UNDECIDED, 0.0
        if not meshes or hints[k, 0] < 0:
            status, t, _, _, _ = prove_pair(
                k, begin, end, buffers[k], BY_SPHERES if meshes else budget, -np.inf, chains, kinds, drivers, locals_,
                polys, links, balls, spans, placed, nodes, tris, search,
            )  # fmt: skip
        if status != FREE and meshes:
            status, t, pieces = prove_sliding(
                k, begin, end, buffers[k], min(budget, walks), chains, kinds, drivers, locals_, polys, links, placed,
                nodes, tris, hints[k], search, sliding,
            )  # fmt: skip
            walks -= pieces
        if status != FREE:
            return status, k, t
    return FREE, -1, -1.0
