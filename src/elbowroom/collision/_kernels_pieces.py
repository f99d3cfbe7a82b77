"""Numba kernel of segments by spheres: the pieces that spheres do not show to be free, and who is in their way.

The middles of sixteen pieces at a time, in lanes, as in `_kernels_lanes`: every sphere is enlarged by the way that it
can go within half a piece and within the slack, so what is apart in the middle is apart on the piece. A piece that is
refused is cut into smaller ones, unless spheres meet in its middle as they are: then cuts do not help. What is left is
for the exact proof, with the links and pairs that were refused on it, and only those.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from ..distance.kernels import (
    GROUP_SPHERE,
    GROUP_SPHERES,
    JOINT,
    JOINT_COUPLED,
    JOINT_DRIVER,
    LANES,
    LAW_LIMIT,
    LAW_WIDTH,
    LINK_BODY,
    LINK_GROUP,
    LINK_GROUPS,
    LOOK,
    POINT,
    POSE,
    body_poses,
    expand,
    hits,
    need,
    pair_mask,
    place,
    tables,
    views,
)
from ..world import PackedGrid, PackedWorld
from ..world.kernels import STACK
from ._kernels_lanes import look_table, near_mask, nearest_within
from ._kernels_world import lane_point
from ._lanes import Lanes

COARSE = 0.03
"""Metres that the fastest sphere may go within half a piece at first."""
FINE = 0.004
"""Metres below which pieces are not made smaller at first: short segments take fewer lanes."""
CUTS = 4
"""Pieces that a refused one is cut into."""
LEVELS = 2
"""Times that pieces are cut, at most: beyond, meshes show more than smaller pieces."""
MOST = 256
"""Pieces of a segment at a level; a segment that needs more is left whole."""
ROUND_UP = 1.0 + 1e-6
"""What bounds of movement are multiplied by before they become float32."""


def pieces_scratch(lanes, dof):
    """What one thread works with; made in Python."""
    n_links, n_pairs, joints = len(lanes.link_reach), len(lanes.pair_reach), max(1, lanes.link_reach.shape[1])
    bodies, points = int(lanes.ints[0]), int(lanes.ints[10])
    return (
        np.zeros(bodies * POSE + points * POINT + 3 * LANES, np.float32),
        (np.zeros(joints * LANES), np.zeros(n_links, np.uint8), np.zeros((LANES, dof))),
        (np.zeros(joints), np.zeros(joints), np.zeros(joints)),
        (np.zeros((n_links, 2)), np.zeros((n_pairs, 2))),
        (np.zeros((2, MOST)), np.zeros(n_links, np.int64), np.zeros(n_pairs, np.int64)),
        (np.zeros(STACK, np.int64), np.zeros(LOOK, np.float32)),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _moves(begin, end, slack, moving, doubles, reach, rate, room, size, moves):
    """moves[k]: how far reach[k] goes along the segment, and by its slack; False for values that no bound covers."""
    for k in range(len(moving)):
        i, d, coupled = moving[k, JOINT], moving[k, JOINT_DRIVER], moving[k, JOINT_COUPLED]
        law = i * LAW_WIDTH
        if coupled:
            slope, total = 0.0, 0.0
            for c in range(4, 0, -1):
                slope = slope * size[d] + c * abs(doubles[law + c])
                total = (total + abs(doubles[law + c])) * size[d]
            rate[i], room[i], size[i] = slope * rate[d], slope * room[d], total + abs(doubles[law])
        else:
            rate[i], room[i] = abs(end[d] - begin[d]), slack[d]
            size[i] = max(abs(begin[d]), abs(end[d])) + slack[d]
        if not size[i] <= doubles[law + LAW_LIMIT]:
            return False
    for k in range(len(reach)):
        along, beside = 0.0, 0.0
        for j in range(reach.shape[1]):
            along += rate[j] * reach[k, j]
            beside += room[j] * reach[k, j]
        moves[k, 0], moves[k, 1] = along, beside
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _among(
    link, wanted, pad, move, links, groups, points, placed, base, table, blur, world, grid, may, waiting
):
    """(left, met): lanes of `wanted` in which a link may reach an obstacle on its piece, and in the middle already."""
    nl, left, met = len(links), 0, 0
    g0 = links[link, LINK_GROUP]
    for g in range(g0, g0 + links[link, LINK_GROUPS]):
        near = (
            near_mask(placed, g, points[4 * g + 3] + pad + move, 0.0, base, table, blur, world, grid)
            & wanted
            & ~met
        )
        if near == 0:
            continue
        s0 = groups[g - nl, GROUP_SPHERE]
        for s in range(s0, s0 + groups[g - nl, GROUP_SPHERES]):
            reach = points[4 * s + 3] + pad + move
            close = near_mask(placed, s, reach, 0.0, base, table, blur, world, grid) & near & ~met
            lane = 0
            while close >> lane:
                if (close >> lane) & 1:
                    x, y, z = lane_point(placed, s, lane, base)
                    gap, k = nearest_within(world, x, y, z, reach, may, waiting)
                    if k >= 0:
                        left |= 1 << lane
                        if gap <= points[4 * s + 3] + pad:
                            met |= 1 << lane
                lane += 1
    return left, met


@njit(cache=True, nogil=True, error_model="numpy")
def _leave(t, half, row, segment, pieces, owner):
    """Puts a piece on the list of those left."""
    pieces[row, 0], pieces[row, 1] = t, half
    owner[row] = segment


@njit(cache=True, nogil=True, error_model="numpy")
def pieces_left(
    begins, ends, slacks, wish, lanes, turns, world, grid, allowed, pieces, owner, open_links, open_pairs, looked,
    scratch,
):  # fmt: skip
    """Pieces of segments that spheres do not show to be free with `wish` metres to spare; returns their number.

    Args:
        begins: (n, dof) configurations; `ends` others.
        slacks: (n, dof), or (1, dof) for all: how far joints may be off the segments.
        lanes: a `Lanes`; `turns` the links to compare with obstacles; `world`, `grid` and `allowed` as everywhere.
        pieces: (room, 2) receives middle and half width, as parts of the segment; room for more than n of them.
        owner: (room,) receives the segment of each.
        open_links: (room, links) receives 1 for links that obstacles may reach.
        open_pairs: (room, pairs of `lanes`) the same for pairs.
        looked: (n,) receives the number of pieces looked at.
        scratch: of `pieces_scratch`.
    """
    lanes, scratch = borrowed(Lanes(*lanes)), borrowed(scratch)
    world, grid = borrowed(PackedWorld(*world)), borrowed(PackedGrid(*grid))
    work, (q_full, ready, cfgs), (rate, room, size), (link_moves, pair_moves), lists, (waiting, table) = (
        scratch
    )
    times, by_link, by_pair = lists
    bodies, moving, links, groups, pairs, local, points = tables(lanes.ints, lanes.floats)
    poses, placed, _, trig = views(lanes.ints, work)
    base, pad, nl, dof = lanes.base, lanes.pad + wish, len(links), begins.shape[1]
    blur, total = look_table(base, grid.frame, grid.shape, table), 0
    for segment in range(len(begins)):
        begin, end, slack = begins[segment], ends[segment], slacks[min(segment, len(slacks) - 1)]
        good = _moves(
            begin, end, slack, moving, lanes.doubles, lanes.link_reach, rate, room, size, link_moves
        ) and _moves(begin, end, slack, moving, lanes.doubles, lanes.pair_reach, rate, room, size, pair_moves)
        most = 0.0
        for k in range(len(link_moves)):
            most = max(most, link_moves[k, 0])
        n = int(min(most / (2.0 * FINE), LANES - 1)) + 1
        if most > 2.0 * LANES * COARSE:
            n = LANES * (int(min(most / (2.0 * LANES * COARSE), MOST)) + 1)
        first, spare = total, len(owner) - len(begins)
        whole = not good or not most < np.inf or n > MOST
        now, half = 0, 0.5 / n
        if not whole:
            for i in range(n):
                times[0, i] = (i + 0.5) / n
        for level in range(LEVELS + 1):
            if whole or n == 0:
                break
            wide = 0
            for start in range(0, n, LANES):
                count = min(LANES, n - start)
                looked[segment] += count
                for lane in range(count):
                    t = times[now, start + lane]
                    for d in range(dof):
                        cfgs[lane, d] = begin[d] + t * (end[d] - begin[d])
                if not expand(cfgs, 0, count, moving, lanes.doubles, q_full):
                    whole = True
                    break
                body_poses(bodies, local, q_full, trig, poses)
                for link in range(nl):
                    ready[link], by_link[link] = 0, 0
                    place(poses, links[link, LINK_BODY] * POSE, points, link, 1, placed)
                refused, met, everyone = 0, 0, (1 << count) - 1
                for p in range(len(pairs)):
                    a, b = pairs[p, 0], pairs[p, 1]
                    reach = np.float32((pad + half * pair_moves[p, 0] + pair_moves[p, 1]) * ROUND_UP)
                    both = points[4 * a + 3] + points[4 * b + 3]
                    mask = hits(placed, a * POINT, b * POINT, both + reach) & everyone
                    if mask:
                        need(a, ready, links, poses, points, placed)
                        need(b, ready, links, poses, points, placed)
                        mask = pair_mask(a, b, reach, mask, links, groups, nl, points, placed) & everyone
                    if mask:
                        still = np.float32((pad + pair_moves[p, 1]) * ROUND_UP)
                        met |= pair_mask(a, b, still, mask, links, groups, nl, points, placed) & everyone
                    by_pair[p] = mask
                    refused |= mask
                for turn in range(len(turns)):
                    link = turns[turn]
                    move, still = half * link_moves[link, 0], pad + link_moves[link, 1]
                    reach = points[4 * link + 3] + still + move
                    mask = near_mask(placed, link, reach, 0.0, base, table, blur, world, grid) & everyone
                    if mask:
                        need(link, ready, links, poses, points, placed)
                        mask, touched = _among(
                            link, mask, still, move, links, groups, points, placed, base, table, blur, world, grid,
                            allowed[link], waiting,
                        )  # fmt: skip
                        met |= touched
                    by_link[link] = mask
                    refused |= mask
                for lane in range(count):
                    if (refused >> lane) & 1 == 0:
                        continue
                    t = times[now, start + lane]
                    if (met >> lane) & 1 == 0 and level < LEVELS and wide + CUTS <= MOST:
                        for c in range(CUTS):
                            times[1 - now, wide + c] = t + half * ((2.0 * c + 1.0) / CUTS - 1.0)
                        wide += CUTS
                        continue
                    if total >= spare + segment:  # the others need a row each
                        whole = True
                        break
                    _leave(t, half, total, segment, pieces, owner)
                    for link in range(nl):
                        open_links[total, link] = (by_link[link] >> lane) & 1
                    for p in range(len(pairs)):
                        open_pairs[total, p] = (by_pair[p] >> lane) & 1
                    total += 1
                if whole:
                    break
            now, n, half = 1 - now, wide, half / CUTS
        if whole:
            total = first + 1
            _leave(0.5, 0.5, first, segment, pieces, owner)
            open_links[first], open_pairs[first] = 1, 1
    return total
