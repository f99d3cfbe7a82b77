"""Numba kernel of the segment proof: two links stay apart while all joints move along a straight line.

The motion bounds of the never-proofs, in one variable: on a piece of the segment around its middle, every joint turns
or slides by at most its rate times half the piece, so a point of a link moves by at most the bound of `movement`.
Spheres whose distance in the middle exceeds radii, padding and both movements are apart on the whole piece. Where
spheres overlap, the distance of the meshes in the middle must exceed the movement of everything that the links' balls
enclose. What neither shows is halved, until a colliding middle is found or the budget is spent.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ..mesh.kernels import (
    APART,
    STACK,
    inverse_pose,
    pair_state,
    relative_pose,
    surface_distance,
    walk_scratch,
)
from ..pairs.kernels import SLACK, box_bounds
from ..robot.kernels import axis_distance, chain_poses, chord_of
from ._kernels import SEARCH
from ._pack import POSE as ROW

FREE, BLOCKED, UNDECIDED = 0, 1, 2
MAX_VALUE = 1e5
"""Joint values (rad, m) beyond which rounding is no longer covered by the slack of a bound."""
DEPTH = 64
"""Halvings at most: pieces below 1e-19 of the segment mean nothing."""
MESH_DEPTH = 12
"""Halvings after which meshes are asked even where spheres are a little apart."""
PAIR_A, PAIR_B, FIRST_JOINT, N_JOINTS, N_A, SIDE, MESHES, CHAIN_WIDTH = range(8)
"""Columns of a chain: its links, its joints, how many lead to a, how many count as moving a, whether meshes decide."""
LINK_BALLS, LINK_GROUPS, LINK_COUNT, LINK_SPANS, TREE, LINK_COLUMNS = range(6)
"""Columns of a link: first ball, number of groups and of balls, first span, row of its tree's root or -1."""


@njit(cache=True, nogil=True, error_model="numpy")
def _farthest(balls, groups, at, kind, pose, chord, order, start, stop, step):
    """How far any point within the groups may move; `at` holds the groups' centres."""
    most = 0.0
    for g in range(groups):
        total = 0.0
        i = start
        while i != stop:
            k = order[i]
            part = chord[k]
            if kind[k] == 1:
                part *= axis_distance(pose, k, at[g, 0], at[g, 1], at[g, 2]) + balls[g, 3] + total
            total += part
            i += step
        most = max(most, total)
    return most


@njit(cache=True, nogil=True, error_model="numpy")
def _mesh_row(end, placed, link, row):
    """Pose of a link's mesh, as a row of twelve, from the pose (3, 4) of its body."""
    for r in range(3):
        for c in range(3):
            row[3 * r + c] = (
                end[r, 0] * placed[link, c]
                + end[r, 1] * placed[link, 3 + c]
                + end[r, 2] * placed[link, 6 + c]
            )
        row[9 + r] = (
            end[r, 0] * placed[link, 9]
            + end[r, 1] * placed[link, 10]
            + end[r, 2] * placed[link, 11]
            + end[r, 3]
        )


@njit(cache=True, nogil=True, error_model="numpy")
def _rates(begin, end, drivers, poly, rate):
    """Largest speed of every joint along the segment, per unit of it; returns a bound on all joint values."""
    largest = 0.0
    for k in range(len(drivers)):
        lo, hi = begin[drivers[k]], end[drivers[k]]
        reach = max(abs(lo), abs(hi))
        slope, size = 0.0, 0.0
        for c in range(poly.shape[1] - 1, 0, -1):
            slope = slope * reach + c * abs(poly[k, c])
            size = (size + abs(poly[k, c])) * reach
        rate[k] = slope * abs(hi - lo)
        largest = max(largest, size + abs(poly[k, 0]))
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def prove_segment(
    begin,
    end,
    buffer,
    budget,
    chains,
    kinds,
    drivers,
    locals_,
    polys,
    links,
    balls,
    spans,
    placed,
    nodes,
    tris,
):
    """Whether all pairs stay farther apart than `buffer` on the segment.

    Returns:
        (status, pair, t, low, by_spheres, by_meshes): FREE with the smallest proved clearance `low` and the pieces
        proved either way; BLOCKED with the pair and where it touches (fraction of the segment); UNDECIDED with the
        pair and place at which the budget ended.
    """
    most_joints, most_balls, most_nodes = 1, 1, 1
    for k in range(len(chains)):
        most_joints = max(most_joints, chains[k, N_JOINTS])
    for k in range(len(links)):
        most_balls = max(most_balls, links[k, LINK_COUNT])
        if links[k, TREE] > 0:
            most_nodes = max(most_nodes, int(nodes[links[k, TREE] - 1, 6]))
    cfg = np.empty(len(begin))
    pose_all, end_a, end_b = np.empty((most_joints, 3, 4)), np.empty((3, 4)), np.empty((3, 4))
    at_a, at_b = np.empty((most_balls, 3)), np.empty((most_balls, 3))
    moves_a, moves_b = np.empty(most_balls), np.empty(most_balls)
    chord_all, parts_all, rate_all = np.empty(most_joints), np.empty(most_joints), np.empty(most_joints)
    order_all = np.empty(most_joints, np.int64)
    waiting = np.empty((DEPTH + 2, 2))
    row_a, row_b = np.empty(ROW), np.empty(ROW)
    stack, codes, scratch, w, rel, inv = walk_scratch()
    bounds, p, aim = np.empty(STACK), np.empty((2, 3)), np.zeros(3)
    node_spans, hint = np.empty((most_nodes, 2)), np.full(2, -1, np.int64)
    low = np.inf
    by_spheres, by_meshes = 0, 0
    for pair in range(len(chains)):
        a, b = chains[pair, PAIR_A], chains[pair, PAIR_B]
        j0, m, n_a, side = (
            chains[pair, FIRST_JOINT],
            chains[pair, N_JOINTS],
            chains[pair, N_A],
            chains[pair, SIDE],
        )
        kind, local = kinds[j0 : j0 + m], locals_[j0 : j0 + m]
        driver, poly = drivers[j0 : j0 + m], polys[j0 : j0 + m]
        pose, chord, parts, rate, order = (
            pose_all[:m],
            chord_all[:m],
            parts_all[:m],
            rate_all[:m],
            order_all[:m],
        )
        first_a, first_b = links[a, LINK_BALLS], links[b, LINK_BALLS]
        balls_a = balls[first_a : first_a + links[a, LINK_COUNT]]
        balls_b = balls[first_b : first_b + links[b, LINK_COUNT]]
        groups_a, groups_b = links[a, LINK_GROUPS], links[b, LINK_GROUPS]
        spans_a = spans[links[a, LINK_SPANS] : links[a, LINK_SPANS] + groups_a]
        spans_b = spans[links[b, LINK_SPANS] : links[b, LINK_SPANS] + groups_b]
        for k in range(m):
            order[k] = n_a - 1 - k if k < n_a else k
        if not _rates(begin, end, driver, poly, rate) <= MAX_VALUE:
            return UNDECIDED, pair, 0.0, low, by_spheres, by_meshes
        hint[:] = -1
        waiting[0, 0], waiting[0, 1] = 0.5, 0.5
        top = 1
        while top > 0:
            top -= 1
            t, half = waiting[top, 0], waiting[top, 1]
            if by_spheres + by_meshes >= budget or top + 2 > DEPTH:
                return UNDECIDED, pair, t, low, by_spheres, by_meshes
            for k in range(m):
                d = driver[k]
                cfg[d] = begin[d] + t * (end[d] - begin[d])
                chord[k] = chord_of(kind[k], rate[k] * half)
            chain_poses(cfg, n_a, kind, local, poly, driver, pose, end_a, end_b)
            bound, middle, _, _ = box_bounds(
                buffer, side, kind, pose, chord, order, parts, end_a, balls_a, spans_a, at_a, moves_a, end_b,
                balls_b, spans_b, at_b, moves_b,
            )  # fmt: skip
            by_spheres += 1
            if bound > SLACK:
                low = min(low, bound)
                continue
            if middle <= 0.0 or half < 0.5**MESH_DEPTH:
                if chains[pair, MESHES] == 0:
                    if middle <= 0.0:
                        return BLOCKED, pair, t, middle, by_spheres, by_meshes
                else:
                    by_meshes += 1
                    _mesh_row(end_a, placed, a, row_a)
                    _mesh_row(end_b, placed, b, row_b)
                    relative_pose(row_a, row_b, rel)
                    ra, rb = links[a, TREE], links[b, TREE]
                    if (
                        pair_state(nodes, tris, ra, nodes, tris, rb, rel, inv, stack, codes, scratch, w, True)
                        != APART
                    ):
                        return BLOCKED, pair, t, 0.0, by_spheres, by_meshes
                    inverse_pose(rel, inv)
                    gap = surface_distance(
                        nodes,
                        tris,
                        ra,
                        nodes,
                        tris,
                        rb,
                        rel,
                        inv,
                        stack,
                        bounds,
                        scratch,
                        p,
                        aim,
                        node_spans,
                        hint,
                    )
                    gap = np.sqrt(gap) * (1.0 - SEARCH) - buffer
                    if gap <= 0.0:
                        return BLOCKED, pair, t, gap, by_spheres, by_meshes
                    gap -= _farthest(balls_a, groups_a, at_a, kind, pose, chord, order, 0, side, 1)
                    gap -= _farthest(balls_b, groups_b, at_b, kind, pose, chord, order, m - 1, side - 1, -1)
                    if gap > SLACK:
                        low = min(low, gap)
                        continue
            half *= 0.5
            waiting[top, 0], waiting[top, 1] = t + half, half
            waiting[top + 1, 0], waiting[top + 1, 1] = t - half, half
            top += 2
    return FREE, -1, -1.0, low, by_spheres, by_meshes
