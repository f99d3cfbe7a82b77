"""Numba kernel of RRT-Connect: two trees grow towards each other, and stop where they met or when told to.

A tree's nodes are the values of the moving joints; every edge from a node to its parent is proved free by spheres.
Random numbers come from a state in an array (splitmix64), so the trees are the same however the steps are cut.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from ..collision import Lanes
from ..collision.kernels import FREE, LIKELY, edge_by_spheres
from ..world import PackedGrid, PackedWorld

SIZE_A, SIZE_B, DONE, MEET_A, MEET_B, STATE = 0, 1, 2, 3, 4, 5
"""Entries of `state`: nodes of both trees, iterations, and the nodes at which the trees met; its length."""
CUT, FOUND, FULL = range(3)
"""Why `grow` came back: iterations done, trees met, or no room left."""
CONNECT = 64
"""Nodes that one iteration may add to a tree, at most."""
SHORT = 0.05
BLOCK = 64
"""Nodes whose distances are computed together."""


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def uniform(rng):
    """A number from [0, 1)."""
    rng[0] += np.uint64(0x9E3779B97F4A7C15)
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_node(nodes, count, q, gaps):
    """(node, distance) of the node nearest to q; nodes (m, room) with infinity where there is none."""
    best, found = np.inf, 0
    for first in range(0, count, BLOCK):
        gaps[:] = 0.0
        for j in range(len(q)):
            row = nodes[j, first : first + BLOCK]
            for k in range(BLOCK):
                gaps[k] += (row[k] - q[j]) ** 2
        for k in range(BLOCK):
            if gaps[k] < best:
                best, found = gaps[k], first + k
    return found, np.sqrt(best)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def add_node(tree, q, parent, length, nodes, parents, lengths, state):
    """Appends a node whose first edges are of this length; returns its number."""
    n = state[tree]
    for j in range(len(q)):
        nodes[tree, j, n] = q[j]
    parents[tree, n], lengths[tree, n] = parent, length
    state[tree] = n + 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def grow(
    until, state, rng, nodes, parents, lengths, sure, moving, low, high, knobs, rows, counts, work, lanes, turns, world, grid,
    allowed, scratch,
):  # fmt: skip
    """Iterates until `until` iterations are done in all, the trees meet, or there is no room for more nodes.

    Args:
        until: iterations.
        state: see SIZE_A ... STATE.
        rng: (1,) uint64.
        nodes: (2, m, room), a multiple of BLOCK, infinite where empty; parents (2, room), -1 at roots.
        moving: (m,) entries of a configuration.
        low, high: (m,) where to sample.
        lengths: (2, room) how far the next edge from a node goes: half as far after each that was refused.
        step: longest edge, and shortest.
        rows: (2, dof) configurations with the held joints in place.
        counts: (pairs + links * obstacles,) receives who refused extensions.
        work: (2, m) and (BLOCK,) scratch.
    """
    lanes, scratch = borrowed(Lanes(*lanes)), borrowed(scratch)
    world, grid = borrowed(PackedWorld(*world)), borrowed(PackedGrid(*grid))
    points, gaps = work
    step = knobs[0]
    fresh, goal = points[0], points[1]
    m, room, n_pairs = len(moving), nodes.shape[2], len(lanes.pair_reach)
    while state[DONE] < until:
        if max(state[SIZE_A], state[SIZE_B]) + CONNECT > room:
            return FULL
        done = state[DONE]
        state[DONE] = done + 1
        tree = 0 if state[SIZE_A] <= state[SIZE_B] else 1
        joined = -1  # the node of the other tree at `goal`: -1 while that is a sample
        if done < 2:  # straight at each other first
            tree = done
            for j in range(m):
                goal[j] = nodes[tree, j, 0]
            joined, _ = nearest_node(nodes[1 - tree], state[1 - tree], goal, gaps)
            for j in range(m):
                goal[j] = nodes[1 - tree, j, joined]
        else:
            for j in range(m):
                goal[j] = low[j] + uniform(rng) * (high[j] - low[j])
        at, far = nearest_node(nodes[tree], state[tree], goal, gaps)
        steps = 0
        while steps < CONNECT:
            # One step from node `at` of `tree` towards `goal`.
            length = lengths[tree, at]
            share = min(1.0, length / far) if far > 0.0 else 1.0
            for j in range(m):
                q = nodes[tree, j, at]
                rows[0, moving[j]] = q
                fresh[j] = goal[j] if share == 1.0 else q + share * (goal[j] - q)
                rows[1, moving[j]] = fresh[j]
            status, _, pair, link, obstacle = edge_by_spheres(
                rows[0], rows[1], True, lanes, turns, world, grid, allowed, scratch
            )
            if status != FREE and status != LIKELY:
                lengths[tree, at] = max(knobs[1], 0.5 * min(length, far))
                if pair >= 0:
                    counts[pair] += 1
                elif link >= 0 and obstacle >= 0:
                    counts[n_pairs + link * len(world.kinds) + obstacle] += 1
                break
            if share == 1.0 and joined >= 0:
                state[MEET_A + tree], state[MEET_A + 1 - tree] = at, joined
                return FOUND
            at = add_node(tree, fresh, at, min(step, knobs[2] * length), nodes, parents, lengths, state)
            sure[tree, at] = status == FREE
            steps += 1
            far -= length
            if joined < 0:  # the other tree comes to meet the new node
                joined = at
                for j in range(m):
                    goal[j] = fresh[j]
                tree = 1 - tree
                at, far = nearest_node(nodes[tree], state[tree], goal, gaps)
    return CUT
