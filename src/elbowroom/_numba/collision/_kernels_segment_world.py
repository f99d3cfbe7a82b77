"""Numba kernel of the segment proof against obstacles: every link stays clear while all joints move along a line.

The method of `_kernels_segment`, with the world as the other body: all links are posed at the middle of a piece of the
segment, and those that `link_on_piece` does not show to be clear on all of it are looked at again on its two halves.
The widest pieces come first as long as few wait, which finds collisions early; then one after the other, so that few
wait.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..robot import chord_of
from ..world.kernels import borrowed
from ._kernels_link_world import FIRST_ON_WAY, N_ON_WAY, link_on_piece, link_scratch, obstacle_in_reach
from ._kernels_segment import BLOCKED, DEPTH, FREE, MAX_VALUE, NARROW, UNDECIDED, joint_rooms

WIDE = 32
"""Pieces that may wait before narrow ones are finished first."""


@njit(cache=True, nogil=True, error_model="numpy")
def place_bodies(cfg, chains, needed, pose):
    """Poses (3, 4) of the needed bodies in the world, joints moved; those that carry a needed one are needed too."""
    chains = borrowed(chains)
    pose[0] = chains.local[0]
    for b in range(1, len(chains.kinds)):
        if needed[b] == 0:
            continue
        x, q = cfg[chains.drivers[b]], 0.0
        for c in range(chains.polys.shape[1] - 1, -1, -1):
            q = q * x + chains.polys[b, c]
        up, local, out = pose[chains.parents[b]], chains.local[b], pose[b]
        for i in range(3):
            for j in range(4):
                total = up[i, 3] if j == 3 else 0.0
                for c in range(3):
                    total += up[i, c] * local[c, j]
                out[i, j] = total
        if chains.kinds[b] == 1:
            s, c = np.sin(q), np.cos(q)
            for i in range(3):
                u, v = out[i, 0], out[i, 1]
                out[i, 0] = u * c + v * s
                out[i, 1] = v * c - u * s
        else:
            for i in range(3):
                out[i, 3] += q * out[i, 2]


@njit(cache=True, nogil=True, error_model="numpy")
def _next_piece(waiting, n):
    """Place of the piece to look at: the widest while few wait, then the last."""
    if n > WIDE:
        return n - 1
    best = 0
    for k in range(1, n):
        if waiting[k, 1] > waiting[best, 1]:
            best = k
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _pose_piece(begin, end, t, half, open_links, rate, room, chains, needed, cfg, pose, chord):
    """Bodies of the open links at the middle of a piece, and what every joint adds to a movement on it."""
    chains = borrowed(chains)
    needed[:] = 0
    for link in range(len(chains.links)):
        if open_links[link]:
            first = chains.links[link, FIRST_ON_WAY]
            for i in range(first, first + chains.links[link, N_ON_WAY]):
                needed[chains.way[i]] = 1
    for d in range(len(begin)):
        cfg[d] = begin[d] + t * (end[d] - begin[d])
    for b in range(1, len(needed)):
        chord[b] = chord_of(chains.kinds[b], rate[b] * half + room[b])
    place_bodies(cfg, chains, needed, pose)


@njit(cache=True, nogil=True, error_model="numpy")
def _narrows(link, half, chains, rate, room):
    """Whether halves of a piece would show more of a link: its joints move, and not only within their slack."""
    chains = borrowed(chains)
    first = chains.links[link, FIRST_ON_WAY]
    along, beside = 0.0, 0.0
    for i in range(first, first + chains.links[link, N_ON_WAY]):
        along += rate[chains.way[i]] * half
        beside += room[chains.way[i]]
    return along > 0.0 and along >= NARROW * beside


@njit(cache=True, nogil=True, error_model="numpy")
def world_scratch(dof, chains, world):
    """What `prove_world` works with: joints and bodies, pieces that wait and their open links, scratch of a link."""
    bodies, links, most = len(chains.kinds), len(chains.links), WIDE + DEPTH + 2
    joints = (
        np.empty(dof),
        np.zeros(bodies),
        np.zeros(bodies),
        np.zeros(bodies),
        np.empty((bodies, 3, 4)),
        np.empty(bodies, np.uint8),
    )
    pieces = np.empty((most, 2)), np.empty((most, links), np.uint8), np.empty(links, np.uint8)
    return joints, pieces, link_scratch(chains, world)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def prove_world(begin, end, slack, looked_at, buffer, budget, chains, world, grid, allowed, scratch):
    """One segment: (status, t, low, link, obstacle, by_spheres, by_meshes); see `prove_world_segments`."""
    chains, world, grid = borrowed(chains), borrowed(world), borrowed(grid)
    (cfg, rate, room, chord, pose, needed), (waiting, open_at, now), search = scratch
    by_spheres, by_meshes, low = 0, 0, np.inf
    links = len(chains.links)
    drivers, polys = chains.drivers[1:], chains.polys[1:]
    if not joint_rooms(begin, end, slack, drivers, polys, rate[1:], room[1:]) <= MAX_VALUE:
        return UNDECIDED, 0.0, low, 0, 0, by_spheres, by_meshes
    slacked = room[1:].any()
    waiting[0, 0], waiting[0, 1] = 0.5, 0.5
    open_at[0] = looked_at
    n = 1 if links > 0 else 0
    while n > 0:
        k = _next_piece(waiting, n)
        n -= 1
        t, half = waiting[k, 0], waiting[k, 1]
        now[:] = open_at[k]
        waiting[k], open_at[k] = waiting[n], open_at[n]
        _pose_piece(begin, end, t, half, now, rate, room, chains, needed, cfg, pose, chord)
        left = False
        for i in range(links):
            link = chains.turns[i]
            if now[link] == 0:
                continue
            if by_spheres + by_meshes >= budget or half < 0.5**DEPTH:
                obstacle = obstacle_in_reach(link, buffer, chains, world, grid, allowed, pose, chord, search)
                return UNDECIDED, t, low, link, max(obstacle, 0), by_spheres, by_meshes
            last = slacked and not _narrows(link, half, chains, rate, room)
            status, bound, obstacle, asked = link_on_piece(
                link, last, buffer, chains, world, grid, allowed, pose, chord, search
            )
            by_spheres += 1
            by_meshes += asked
            if status == BLOCKED:
                return BLOCKED, t, bound, link, obstacle, by_spheres, by_meshes
            if status == FREE:
                now[link] = 0
                low = min(low, bound)
            elif not last and _narrows(link, half, chains, rate, room):
                left = True
            else:  # as close as it is, it stays
                obstacle = obstacle_in_reach(link, buffer, chains, world, grid, allowed, pose, chord, search)
                return UNDECIDED, t, low, link, max(obstacle, 0), by_spheres, by_meshes
        if left:
            half *= 0.5
            for side in range(2):
                waiting[n, 0], waiting[n, 1] = t + (1 - 2 * side) * half, half
                open_at[n] = now
                n += 1
    return FREE, -1.0, low, -1, -1, by_spheres, by_meshes


@njit(cache=True, nogil=True, error_model="numpy")
def prove_world_segments(
    begins, ends, slacks, opens, buffer, budgets, chains, world, grid, allowed, found, counts
):
    """Whether all links stay farther than `buffer` from the obstacles on every segment from begins[k] to ends[k].

    Args:
        slacks: (n, dof), or (1, dof) for all: how far joints may be off the segment.
        opens: (n, links), or (1, links) for all: whether a link is looked at.
        budgets: (n,) pieces that each proof may take.
        chains: a `LinkChains`.
        world: a `PackedWorld`; `grid` is its `PackedGrid`.
        allowed: (links, obstacles) whether touching is meant.
        found: (n, 2) receives the fraction t and `low`, as `prove_segments` gives them.
        counts: (n, 5) receives the status, the link and the obstacle that decided or -1, and the pieces looked at by
            spheres and by meshes.
    """
    scratch = world_scratch(begins.shape[1], chains, world)
    for k in range(len(begins)):
        slack, looked_at = slacks[min(k, len(slacks) - 1)], opens[min(k, len(opens) - 1)]
        status, t, low, link, obstacle, by_spheres, by_meshes = prove_world(
            begins[k], ends[k], slack, looked_at, buffer, budgets[k], chains, world, grid, allowed, scratch
        )
        found[k, 0], found[k, 1] = t, low
        counts[k, 0], counts[k, 1], counts[k, 2] = status, link, obstacle
        counts[k, 3], counts[k, 4] = by_spheres, by_meshes
