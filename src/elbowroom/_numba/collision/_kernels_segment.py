"""Numba kernel of the segment proof: two links stay apart while all joints move along a straight line.

The motion bounds of the never-proofs, in one variable: on a piece of the segment around its middle, every joint turns
or slides by at most its rate times half the piece, so a point of a link moves by at most the bound of `movement`.
Spheres whose distance in the middle exceeds radii, padding and both movements are apart on the whole piece. Where
spheres overlap, the distance of the meshes in the middle must exceed the movement of everything that the links' balls
enclose. What neither shows is halved, until a colliding middle is found or the budget is spent.

With slack, every joint may besides be off the line by some width, at any time in any direction: it adds to what joints
turn or slide on a piece, and does not shrink with it. A piece that is hardly wider than the slack is not halved: what
does not show there will not show. A collision is still one of the line itself.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..mesh import (
    APART,
    HEADER_NODES,
    STACK,
    inverse_pose,
    pair_state,
    relative_pose,
    surface_distance,
    walk_scratch,
)
from ..pairs import SLACK, box_bounds
from ..robot import chain_poses, chord_of, movement
from ._pack import POSE as ROW

FREE, BLOCKED, UNDECIDED = 0, 1, 2
SEARCH = 1e-9
"""Relative difference to the true distance at which the search for it may stop."""
MAX_VALUE = 1e5
"""Joint values (rad, m) beyond which rounding is no longer covered by the slack of a bound."""
DEPTH = 64
"""Halvings at most: pieces below 1e-19 of the segment mean nothing."""
ENOUGH = 0.01
"""Metres of proved clearance beyond which meshes are not measured any closer."""
MESH_DEPTH = 12
"""Halvings after which meshes are asked even where spheres are a little apart."""
NARROW = 0.125
"""Pieces on which joints move less than this share of their slack are not halved."""
PAIR_A, PAIR_B, FIRST_JOINT, N_JOINTS, N_A, SIDE, MESHES, CHAIN_WIDTH = range(8)
"""Columns of a chain: its links, its joints, how many lead to a, how many count as moving a, whether meshes decide."""
LINK_BALLS, LINK_GROUPS, LINK_COUNT, LINK_SPANS, TREE, LINK_COLUMNS = range(6)
"""Columns of a link: first ball, number of groups and of balls, first span, row of its tree's root or -1."""


@njit(cache=True, nogil=True, error_model="numpy")
def _farthest(balls, groups, at, kind, pose, chord, order, start, stop, step, parts):
    """How far any point within the groups of a link may move; `at` holds the groups' centres."""
    most = 0.0
    for g in range(groups):
        move = movement(
            kind, pose, chord, order, start, stop, step, at[g, 0], at[g, 1], at[g, 2], balls[g, 3], parts
        )
        most = max(most, move)
    return most


@njit(cache=True, nogil=True, error_model="numpy")
def mesh_row(end, placed, link, row):
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


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _steepest(poly, k, reach):
    """Bounds of the slope and of the size of coupled joint k while its driver stays within `reach` of zero."""
    slope, size = 0.0, 0.0
    for c in range(poly.shape[1] - 1, 0, -1):
        slope = slope * reach + c * abs(poly[k, c])
        size = (size + abs(poly[k, c])) * reach
    return slope, size + abs(poly[k, 0])


@njit(cache=True, nogil=True, error_model="numpy")
def joint_rates(begin, end, drivers, poly, rate):
    """Largest speed of every joint along the segment, per unit of it; returns a bound on all joint values."""
    largest = 0.0
    for k in range(len(drivers)):
        lo, hi = begin[drivers[k]], end[drivers[k]]
        slope, size = _steepest(poly, k, max(abs(lo), abs(hi)))
        rate[k] = slope * abs(hi - lo)
        largest = max(largest, size)
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def joint_rooms(begin, end, slack, drivers, poly, rate, room):
    """`joint_rates` where drivers may be off the line by `slack`; room[k]: by how much joint k then is, at most."""
    largest = 0.0
    for k in range(len(drivers)):
        lo, hi, off = begin[drivers[k]], end[drivers[k]], slack[drivers[k]]
        slope, size = _steepest(poly, k, max(abs(lo), abs(hi)) + off)
        rate[k], room[k] = slope * abs(hi - lo), slope * off
        largest = max(largest, size)
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def segment_scratch(dof, chains, links, nodes):
    """What proofs work with: configuration and poses, balls in place, shares of joints, pieces, scratch of meshes."""
    joints, balls, most_nodes = 1, 1, 1
    for k in range(len(chains)):
        joints = max(joints, chains[k, N_JOINTS])
    for k in range(len(links)):
        balls = max(balls, links[k, LINK_COUNT])
        if links[k, TREE] > 0:
            most_nodes = max(most_nodes, int(nodes[links[k, TREE] - 1, HEADER_NODES]))
    places = np.empty(dof), np.empty((joints, 3, 4)), np.empty((2, 3, 4))
    placed_balls = np.empty((2, balls, 3)), np.empty((2, balls))
    rates = np.empty(joints), np.empty(joints)
    shares = np.empty(joints), np.empty(joints), rates, np.empty(joints, np.int64)
    search = (
        np.empty(STACK),
        np.empty((2, 3)),
        np.zeros(3),
        np.empty((most_nodes, 2)),
        np.full(2, -1, np.int64),
    )
    return places, placed_balls, shares, np.empty((DEPTH + 2, 2)), np.empty((2, ROW)), walk_scratch(), search


@njit(cache=True, nogil=True, error_model="numpy")
def _mesh_gap(ends, placed, a, b, links, nodes, tris, far, scratch):
    """Distance of two links' meshes in the middle of a piece, a little less than true; negative when they touch.

    Where they are farther apart than `far`, that is the answer: it takes much less time.
    """
    _, _, _, _, rows, (stack, codes, corners, w, rel, inv), (bounds, p, aim, spans, hint) = scratch
    mesh_row(ends[0], placed, a, rows[0])
    mesh_row(ends[1], placed, b, rows[1])
    relative_pose(rows[0], rows[1], rel)
    ra, rb = links[a, TREE], links[b, TREE]
    if pair_state(nodes, tris, ra, nodes, tris, rb, rel, inv, stack, codes, corners, w, True) != APART:
        return -1.0
    inverse_pose(rel, inv)
    gap = surface_distance(
        nodes, tris, ra, nodes, tris, rb, rel, inv, far * far, stack, bounds, corners, p, aim, spans, hint
    )
    return np.sqrt(gap) * (1.0 - SEARCH)


@njit(cache=True, nogil=True, error_model="numpy")
def prove_pair(
    pair, begin, end, slack, buffer, budget, near, chains, kinds, drivers, locals_, polys, links, balls, spans,
    placed, nodes, tris, scratch,
):  # fmt: skip
    """One pair of `prove_segment`: (status, t, low, by_spheres, by_meshes).

    Meshes are asked where spheres are not farther apart than `near`, above the buffer, and where pieces are not halved
    any more or were `MESH_DEPTH` times.
    """
    a, b, meshes = chains[pair, PAIR_A], chains[pair, PAIR_B], chains[pair, MESHES]
    j0, m, n_a, side = (
        chains[pair, FIRST_JOINT],
        chains[pair, N_JOINTS],
        chains[pair, N_A],
        chains[pair, SIDE],
    )
    (cfg, pose_all, ends), (at, moves), (chords, parts_all, (rates, rooms), orders), waiting, _, _, search = (
        scratch
    )
    kind, local, driver, poly = (
        kinds[j0 : j0 + m],
        locals_[j0 : j0 + m],
        drivers[j0 : j0 + m],
        polys[j0 : j0 + m],
    )
    pose, chord, parts, order = pose_all[:m], chords[:m], parts_all[:m], orders[:m]
    rate, room = rates[:m], rooms[:m]
    groups_a, groups_b = links[a, LINK_GROUPS], links[b, LINK_GROUPS]
    balls_a = balls[links[a, LINK_BALLS] : links[a, LINK_BALLS] + links[a, LINK_COUNT]]
    balls_b = balls[links[b, LINK_BALLS] : links[b, LINK_BALLS] + links[b, LINK_COUNT]]
    spans_a = spans[links[a, LINK_SPANS] : links[a, LINK_SPANS] + groups_a]
    spans_b = spans[links[b, LINK_SPANS] : links[b, LINK_SPANS] + groups_b]
    for k in range(m):
        order[k] = n_a - 1 - k if k < n_a else k
    by_spheres, by_meshes, low = 0, 0, np.inf
    if not joint_rooms(begin, end, slack, driver, poly, rate, room) <= MAX_VALUE:
        return UNDECIDED, 0.0, low, by_spheres, by_meshes
    along, beside = rate.sum(), room.sum()
    search[4][:] = -1
    waiting[0, 0], waiting[0, 1] = 0.5, 0.5
    top = 1
    while top > 0:
        top -= 1
        t, half = waiting[top, 0], waiting[top, 1]
        if by_spheres + by_meshes >= budget or top + 2 > DEPTH:
            return UNDECIDED, t, low, by_spheres, by_meshes
        for k in range(m):
            d = driver[k]
            cfg[d] = begin[d] + t * (end[d] - begin[d])
            chord[k] = chord_of(kind[k], rate[k] * half + room[k])
        narrow = along * half < NARROW * beside
        chain_poses(cfg, n_a, kind, local, poly, driver, pose, ends[0], ends[1])
        bound, middle, _, _ = box_bounds(
            buffer, side, kind, pose, chord, order, parts, ends[0], balls_a, spans_a, at[0], moves[0], ends[1],
            balls_b, spans_b, at[1], moves[1],
        )  # fmt: skip
        by_spheres += 1
        if bound > SLACK:
            low = min(low, bound)
            continue
        if meshes == 0:
            if middle <= 0.0:
                return BLOCKED, t, middle, by_spheres, by_meshes
        elif middle <= near or half < 0.5**MESH_DEPTH or narrow:
            by_meshes += 1
            move = _farthest(balls_a, groups_a, at[0], kind, pose, chord, order, 0, side, 1, parts)
            move += _farthest(balls_b, groups_b, at[1], kind, pose, chord, order, m - 1, side - 1, -1, parts)
            far = buffer + move + ENOUGH
            gap = _mesh_gap(ends, placed, a, b, links, nodes, tris, far, scratch) - buffer
            if gap <= 0.0:
                return BLOCKED, t, gap, by_spheres, by_meshes
            gap -= move
            if gap > SLACK:
                low = min(low, gap)
                continue
        if narrow:
            return UNDECIDED, t, low, by_spheres, by_meshes
        half *= 0.5
        waiting[top, 0], waiting[top, 1] = t + half, half
        waiting[top + 1, 0], waiting[top + 1, 1] = t - half, half
        top += 2
    return FREE, -1.0, low, by_spheres, by_meshes


@njit(cache=True, nogil=True, error_model="numpy")
def prove_segments(
    begins, ends, slacks, opens, buffer, budgets, chains, kinds, drivers, locals_, polys, links, balls, spans, placed,
    nodes, tris, found, counts,
):  # fmt: skip
    """Whether all pairs stay farther apart than `buffer` on every segment from begins[k] to ends[k].

    Args:
        slacks: (n, dof), or (1, dof) for all: how far joints may be off the segment.
        opens: (n, pairs), or (1, pairs) for all: whether a pair is looked at.
        budgets: (n,) pieces that each proof may take.
        found: (n, 2) receives the fraction t and `low`: FREE has the smallest proved clearance `low` and t -1; BLOCKED
            has where the pair touches; UNDECIDED has where the budget ended.
        counts: (n, 4) receives the status, the pair that decided or -1, and the pieces looked at by spheres and by
            meshes.
    """
    scratch = segment_scratch(begins.shape[1], chains, links, nodes)
    for k in range(len(begins)):
        low, t, status, decided = np.inf, -1.0, FREE, -1
        slack, looked_at = slacks[min(k, len(slacks) - 1)], opens[min(k, len(opens) - 1)]
        by_spheres, by_meshes = 0, 0
        for pair in range(len(chains)):
            if not looked_at[pair]:
                continue
            status, t, bound, by_sphere, by_mesh = prove_pair(
                pair, begins[k], ends[k], slack, buffer, budgets[k] - by_spheres - by_meshes, 0.0, chains, kinds,
                drivers, locals_, polys, links, balls, spans, placed, nodes, tris, scratch,
            )  # fmt: skip
            by_spheres += by_sphere
            by_meshes += by_mesh
            if status != FREE:
                decided, low = pair, bound
                break
            low = min(low, bound)
        found[k, 0], found[k, 1] = t, low
        counts[k, 0], counts[k, 1], counts[k, 2], counts[k, 3] = status, decided, by_spheres, by_meshes
