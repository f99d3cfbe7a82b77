"""Numba kernels of the proof of one control step: quickly where links are far apart, by the segment proof elsewhere.

Distances at the beginning of the step are known (`_kernels_rows`). Two links whose points together cannot move farther
than their distance, relative to the body where their ways meet, stay apart on the whole step. Of the others, those
whose spheres are well apart are proved by spheres, those that nearly touch by what their meshes move towards
each other.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from .._numba.collision.kernels import (
    FREE,
    MESHES,
    PAIR_A,
    PAIR_B,
    UNDECIDED,
    prove_pair,
    prove_sliding,
    segment_scratch,
    slide_scratch,
)
from .._numba.pairs import SLACK
from ._kernels_moves import joint_scratch, link_moves, relative_move

BY_SPHERES = 1
"""Pieces that are tried by spheres where meshes stand behind them: what takes more is quicker by the meshes."""


@njit(cache=True, nogil=True, error_model="numpy")
def proof_scratch(dof, bodies, chains, links):
    """What `prove_own` works with: that of joints, of the segment proof, of sliding, two triangles, and no slack."""
    search = segment_scratch(dof, chains, links, bodies.nodes)
    return joint_scratch(bodies), search, slide_scratch(chains), np.empty(2, np.int64), np.zeros(dof)


@njit(cache=True, nogil=True, error_model="numpy")
def prove_own(
    begin, end, buffers, budget, walks, low, closest, skip, bodies, posed, moves, chains, kinds, drivers, locals_,
    polys, links, balls, spans, placed, nodes, tris, scratch,
):  # fmt: skip
    """(status, pair, t): FREE when all pairs stay farther apart than their buffers on the way from begin to end.

    Args:
        buffers: (pairs,) metres.
        budget: pieces that the proof of one pair may take.
        walks: pieces that may ask the meshes, of all pairs together.
        low: (pairs,) lower bounds of the distances above the buffers at `begin`, above zero where a pair counts.
        closest: (pairs, 2) closest triangles at `begin` of pairs whose spheres are known to say little, -1 for others.
        skip: (pairs,) 1 for pairs that are not looked at.
        moves: (links,) receives how far links may move.
        chains: the pairs; what follows it are the other arrays of a `PackedChains`.
    """
    joints, search, sliding, hint, no_slack = scratch
    if not link_moves(begin, end, bodies, posed, joints, moves):
        return UNDECIDED, 0, 0.0
    for k in range(len(chains)):
        a, b = chains[k, PAIR_A], chains[k, PAIR_B]
        if skip[k] or moves[a] + moves[b] + SLACK < low[k]:
            continue
        if relative_move(bodies, a, b, joints[2]) + SLACK < low[k]:
            continue
        meshes = chains[k, MESHES]
        status, t = UNDECIDED, 0.0
        if not meshes or closest[k, 0] < 0:
            status, t, _, _, _ = prove_pair(
                k, begin, end, no_slack, buffers[k], BY_SPHERES if meshes else budget, -np.inf, chains, kinds, drivers,
                locals_, polys, links, balls, spans, placed, nodes, tris, search,
            )  # fmt: skip
        if status != FREE and meshes:
            hint[:] = closest[k]
            status, t, pieces = prove_sliding(
                k, begin, end, buffers[k], min(budget, walks), chains, kinds, drivers, locals_, polys, links, placed,
                nodes, tris, hint, search, sliding,
            )  # fmt: skip
            walks -= pieces
        if status != FREE:
            return status, k, t
    return FREE, -1, -1.0
