"""Numba kernel of RRT-Connect: two trees grow towards each other, and stop where they met or when told to.

A tree's nodes are the values of the moving joints. Edges from a node to its parent are only glanced at
(`collision._kernels_glance`): the sampler proves those of a path. Near tight goals nine samples of ten end in a
collision: so a tree looks at the ends of sixteen steps at once before it looks along one.
Random numbers come from a state in an array (splitmix64), so the trees are the same however the steps are cut.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from .._numba.collision.kernels import glance, glance_along, glance_rows
from .._numba.collision.parts import Lanes
from .._numba.distance import LANES
from .._numba.world.packed import PackedGrid, PackedWorld

SIZE_A, SIZE_B, DONE, MEET_A, MEET_B, STATE = 0, 1, 2, 3, 4, 5
"""Entries of `state`: nodes of both trees, iterations, and the nodes at which the trees met; its length."""
CUT, FOUND, FULL = range(3)
"""Why `grow` came back: iterations done, trees met, or no room left."""
CONNECT = 64
"""Nodes that one iteration may add to a tree, at most."""
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
def add_node(tree, q, parent, nodes, parents, state):
    """Appends a node; returns its number."""
    n = state[tree]
    for j in range(len(q)):
        nodes[tree, j, n] = q[j]
    parents[tree, n] = parent
    state[tree] = n + 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def grow(
    until, state, rng, nodes, parents, moving, low, high, step, apart, rows, counts, work, lanes, turns, world, grid,
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
        step: longest edge.
        apart: metres between glances at an edge.
        rows: (2, dof) configurations with the held joints in place.
        counts: (pairs + links * obstacles,) receives who refused extensions.
        work: of `tree_work`.
    """
    lanes, scratch = borrowed(Lanes(*lanes)), borrowed(scratch)
    world, grid = borrowed(PackedWorld(*world)), borrowed(PackedGrid(*grid))
    fresh, goal, ends, gaps, ats, refused, blame = work
    looks = glance_rows(scratch)
    m, room = len(moving), nodes.shape[2]
    while state[DONE] < until:
        if max(state[SIZE_A], state[SIZE_B]) + CONNECT > room:
            return FULL
        done = state[DONE]
        state[DONE] = done + 1
        side = 0 if state[SIZE_A] <= state[SIZE_B] else 1
        met, count = 0, 1
        if done < 2:  # straight at each other first
            side = done
            ats[0] = 0
        else:
            count = LANES
            for k in range(count):
                for j in range(m):
                    goal[j] = low[j] + uniform(rng) * (high[j] - low[j])
                ats[k], far = nearest_node(nodes[side], state[side], goal, gaps)
                share = min(1.0, step / far) if far > 0.0 else 1.0
                looks[k] = rows[0]
                for j in range(m):
                    q = nodes[side, j, ats[k]]
                    ends[k, j] = q + share * (goal[j] - q)
                    looks[k, moving[j]] = ends[k, j]
            met = glance(count, False, lanes, turns, world, grid, allowed, scratch, refused)
        for k in range(count):
            if (met >> k) & 1:
                if refused[k] >= 0:
                    counts[refused[k]] += 1
                continue
            tree, at, joined = (
                side,
                ats[k],
                -1,
            )  # `joined`: the node of the other tree at `goal`; -1 for a sample
            if done < 2:
                for j in range(m):
                    goal[j] = nodes[tree, j, at]
                joined, far = nearest_node(nodes[1 - tree], state[1 - tree], goal, gaps)
                for j in range(m):
                    goal[j] = nodes[1 - tree, j, joined]
                at, far = nearest_node(nodes[tree], state[tree], goal, gaps)
            else:
                far = 0.0  # its end is within a step
                for j in range(m):
                    goal[j] = ends[k, j]
            steps = 0
            while steps < CONNECT:
                # One step from node `at` of `tree` towards `goal`.
                share = min(1.0, step / far) if far > 0.0 else 1.0
                for j in range(m):
                    q = nodes[tree, j, at]
                    rows[0, moving[j]] = q
                    fresh[j] = goal[j] if share == 1.0 else q + share * (goal[j] - q)
                    rows[1, moving[j]] = fresh[j]
                if not glance_along(
                    rows[0], rows[1], apart, lanes, turns, world, grid, allowed, scratch, blame
                ):
                    if blame[0] >= 0:
                        counts[blame[0]] += 1
                    break
                if share == 1.0 and joined >= 0:
                    state[MEET_A + tree], state[MEET_A + 1 - tree] = at, joined
                    return FOUND
                at = add_node(tree, fresh, at, nodes, parents, state)
                steps += 1
                far -= step
                if joined < 0:  # the other tree comes to meet the new node
                    joined = at
                    for j in range(m):
                        goal[j] = fresh[j]
                    tree = 1 - tree
                    at, far = nearest_node(nodes[tree], state[tree], goal, gaps)
            if joined >= 0:
                break
    return CUT


def tree_work(m):
    """What `grow` works with; made in Python."""
    ats, refused, blame = (np.zeros(LANES, np.int64) for _ in range(3))
    return np.empty(m), np.empty(m), np.empty((LANES, m)), np.empty(BLOCK), ats, refused, blame
