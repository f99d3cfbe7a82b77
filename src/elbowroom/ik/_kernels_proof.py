"""Numba kernels of the proof of one control step: quickly where links are far apart, by the segment proof elsewhere.

Distances at the beginning of the step are known (`_kernels_rows`). Two links whose points together cannot move farther
than their distance stay apart on the whole step; only the other pairs are proved piece by piece.
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
    N_GROUPS,
    N_ON_WAY,
    PAIR_A,
    PAIR_B,
    UNDECIDED,
    joint_rates,
    prove_pair,
    segment_scratch,
)
from ..pairs.kernels import SLACK
from ..robot.kernels import chord_of, movement
from ._kernels_rows import pose_all

BY_MESHES = 0.01
"""Metres between spheres below which a proof asks meshes."""


@njit(cache=True, nogil=True, error_model="numpy")
def proof_scratch(dof, bodies, chains, links):
    """What `prove_own` works with: rates and shares of joints, and the scratch of the segment proof."""
    n = len(bodies.kinds)
    return (np.zeros(n), np.zeros(n), np.zeros(n)), segment_scratch(dof, chains, links, bodies.nodes)


@njit(cache=True, nogil=True, error_model="numpy")
def link_moves(begin, end, bodies, posed, joints, moves):
    """moves[link]: metres that any point of a link may move between two configurations; False for wild values."""
    bodies = borrowed(bodies)
    rate, chord, parts = joints
    pose_all(begin, bodies, posed)
    at = posed[3]
    if not joint_rates(begin, end, bodies.drivers[1:], bodies.polys[1:], rate[1:]) <= MAX_VALUE:
        return False
    for b in range(1, len(rate)):
        chord[b] = chord_of(bodies.kinds[b], rate[b])
    for link in range(len(bodies.links)):
        first, way = bodies.links[link, FIRST_BALL], bodies.links[link, FIRST_ON_WAY]
        stop = way + bodies.links[link, N_ON_WAY]
        most = 0.0
        for g in range(first, first + bodies.links[link, N_GROUPS]):
            x, y, z, radius = at[g, 0], at[g, 1], at[g, 2], bodies.balls[g, 3]
            move = movement(bodies.kinds, posed[1], chord, bodies.way, way, stop, 1, x, y, z, radius, parts)
            most = max(most, move)
        moves[link] = most
    return True


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
        low: (pairs,) lower bounds of the distances above the buffers at `begin`.
        skip: (pairs,) 1 for pairs that are not looked at.
        moves: (links,) receives how far links may move.
        chains: the pairs; what follows it are the other arrays of a `PackedChains`.
    """
    joints, search = scratch
    if not link_moves(begin, end, bodies, posed, joints, moves):
        return UNDECIDED, 0, 0.0
    asked = 0
    for k in range(len(chains)):
        if skip[k] or moves[chains[k, PAIR_A]] + moves[chains[k, PAIR_B]] + SLACK < low[k]:
            continue
        status, t, _, _, by_meshes = prove_pair(
            k, begin, end, buffers[k], budget, BY_MESHES, chains, kinds, drivers, locals_, polys, links, balls, spans,
            placed, nodes, tris, search,
        )  # fmt: skip
        asked += by_meshes
        if status == FREE and asked > walks:
            status = UNDECIDED
        if status != FREE:
            return status, k, t
    return FREE, -1, -1.0
