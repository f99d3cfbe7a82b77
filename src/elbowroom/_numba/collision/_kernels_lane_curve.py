"""Numba kernel of the proof of a curve by spheres: places on all its cubic pieces together, sixteen at a time.

As `_kernels_lanes` proves one straight edge, this proves the pieces of a curve: a block of lanes holds places of
different pieces, each with the way that its links can go from there to the ends of its part of the piece, and within
the slack. A joint of a Bezier cubic goes no faster than three times the largest step between its control points, so no
chord and no bulge is needed; a straight line is a piece like others. Parts that are refused for the way alone are cut.
What is left is for the exact proof, with the links and pairs that were refused on it, and only those.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._borrow import borrowed
from ..._jit import njit
from ..distance import (
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
from ..world.packed import PackedGrid, PackedWorld
from ._kernels_lanes import CUTS, ROUND_UP, look_table, near_mask, nearest_within
from ._kernels_look import lane_point
from ._kernels_segment import BLOCKED, FREE, NARROW, UNDECIDED
from ._kernels_ways import bend_joints, bend_links, link_ways
from ._lanes import Lanes

COARSE = 0.06
"""Metres that the fastest link may go within half a part of a piece at first."""
LEVELS = 3
"""Times that parts are cut, at most: beyond, meshes show more than smaller parts."""
MOST = 512
"""Parts of a piece at first, at most; one that goes farther is left whole."""


@njit(cache=True, nogil=True, error_model="numpy")
def joint_ways(piece, slack, moving, doubles, rate, off, size, curl):
    """How fast joints go on a piece (4, dof), how far they may be off it, their largest values and accelerations.

    False for values that no error bound covers.
    """
    for k in range(len(moving)):
        i, d, coupled = moving[k, JOINT], moving[k, JOINT_DRIVER], moving[k, JOINT_COUPLED]
        law = i * LAW_WIDTH
        if coupled:
            slope, total = 0.0, 0.0
            for c in range(4, 0, -1):
                slope = slope * size[d] + c * abs(doubles[law + c])
                total = (total + abs(doubles[law + c])) * size[d]
            rate[i], off[i], size[i] = slope * rate[d], slope * off[d], total + abs(doubles[law])
        else:
            step, far, bent = 0.0, abs(piece[0, d]), 0.0
            for c in range(3):
                step, far = max(step, abs(piece[c + 1, d] - piece[c, d])), max(far, abs(piece[c + 1, d]))
                if c < 2:
                    bent = max(bent, abs(piece[c + 2, d] - 2.0 * piece[c + 1, d] + piece[c, d]))
            rate[i], off[i], size[i], curl[i] = 3.0 * step, slack[d], far + slack[d], 6.0 * bent
        if not size[i] <= doubles[law + LAW_LIMIT]:
            return False
    bend_joints(moving, doubles, rate, size, curl)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def reach_ways(reach, rate, off, move, room):
    """How far each row of `reach` (n, joints) can go along a piece, and by slack: fills move and room (n,)."""
    for k in range(len(reach)):
        along, beside = 0.0, 0.0
        for j in range(reach.shape[1]):
            along += rate[j] * reach[k, j]
            beside += off[j] * reach[k, j]
        move[k], room[k] = along, beside


@njit(cache=True, nogil=True, error_model="numpy")
def link_in_lanes(
    link, wanted, apart, move, links, groups, points, placed, base, table, blur, world, grid, allowed, waiting
):
    """(met, left): lanes of `wanted` in which spheres of a link are closer than `apart` (LANES,) to an obstacle, and
    those in which they are not shown to stay farther away when they move by `move` (LANES,)."""
    nl, pad, still = len(links), (apart + move).max(), apart.max()
    met, left = 0, 0
    g0 = links[link, LINK_GROUP]
    for g in range(g0, g0 + links[link, LINK_GROUPS]):
        near = (
            near_mask(placed, g, points[4 * g + 3] + pad, 0.0, base, table, blur, world, grid) & wanted & ~met
        )
        if near == 0:
            continue
        s0 = groups[g - nl, GROUP_SPHERE]
        for s in range(s0, s0 + groups[g - nl, GROUP_SPHERES]):
            radius = points[4 * s + 3]
            found = near_mask(placed, s, radius + pad, radius + still, base, table, blur, world, grid)
            # Of lanes that are refused already it only matters whether they meet an obstacle.
            close = found & near & ~met & ~(left & ~(found >> LANES))
            lane = 0
            while close >> lane:
                if (close >> lane) & 1:
                    x, y, z = lane_point(placed, s, lane, base)
                    reach = radius + apart[lane] + move[lane]
                    gap, k = nearest_within(world, x, y, z, reach, allowed[link], waiting)
                    if k >= 0:
                        left |= 1 << lane
                        if gap <= radius + apart[lane]:
                            met |= 1 << lane
                lane += 1
    return met, left


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def place_on(piece, t, cfg):
    """Fills cfg (dof,): where a piece (4, dof) is at t."""
    s = 1.0 - t
    c0, c1, c2, c3 = s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t
    for d in range(len(cfg)):
        cfg[d] = c0 * piece[0, d] + c1 * piece[1, d] + c2 * piece[2, d] + c3 * piece[3, d]


@njit(cache=True, nogil=True, error_model="numpy")
def curve_by_spheres(
    pieces, slacks, margins, proving, lanes, turns, world, grid, allowed, scratch, status, looked, parts, owner,
    open_links, open_pairs,
):  # fmt: skip
    """Proves pieces by spheres: fills status (n,) and the list of parts that are left; returns their number.

    FREE: proved but for the parts that are left, `margins` metres above what must be kept and wherever joints are
    within the slack; UNDECIDED: nothing is proved, and there is no room for its parts or no bound for its values. Pairs
    that only meshes decide (`Lanes.mesh_pairs`) are not looked at.
    A quick look before a proof: without `proving`, FREE is only said of some places on the piece, where everything is
    farther apart than the margin, and BLOCKED where it is not; nothing is left.

    Args:
        pieces: (n, 4, dof) control configurations of cubics.
        slacks: (n, dof), or (1, dof) for all: how far joints may be off the pieces, rad or m.
        margins: (n,) metres that spheres should be apart besides.
        proving: whether to prove, or just to look.
        lanes: a `Lanes` as a plain tuple; so are world and grid.
        turns: links to compare with obstacles.
        scratch: as of `lane_scratch`.
        looked: (n,) receives the number of places looked at.
        parts: (rows, 2) receives middle and half width of the parts left, as parameters of their piece.
        owner: (rows,) receives the piece of each.
        open_links: (rows, links) receives 1 for links that obstacles may reach.
        open_pairs: (rows, pairs of `lanes`) the same for pairs.
    """
    lanes, world, grid = borrowed(Lanes(*lanes)), borrowed(PackedWorld(*world)), borrowed(PackedGrid(*grid))
    work, (q_full, ready, cfgs), _, (_, waiting, table), (work_end, curl, ways, _, _, _) = scratch
    bodies, moving, links, groups, pairs, local, points = tables(lanes.ints, lanes.floats)
    poses, placed, _, trig = views(lanes.ints, work)
    poses_end, placed_end, _, _ = views(lanes.ints, work_end)
    base, pad, nl, np_ = lanes.base, lanes.pad, len(links), len(pairs)
    blur = look_table(base, grid.frame, grid.shape, table)
    n = len(pieces)
    joints = max(1, lanes.link_reach.shape[1])
    rate, off, size = np.zeros(joints), np.zeros(joints), np.zeros(joints)
    link_move, link_room, bend = np.empty((n, nl)), np.empty((n, nl)), np.empty((n, nl))
    pair_move, pair_room = np.empty((n, np_)), np.empty((n, np_))
    along, beside, cuts = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    count = 0
    for i in range(n):
        slack = slacks[min(i, len(slacks) - 1)]
        good = joint_ways(pieces[i], slack, moving, lanes.doubles, rate, off, size, curl)
        bend_links(lanes, rate, curl, bend[i])
        reach_ways(lanes.link_reach, rate, off, link_move[i], link_room[i])
        reach_ways(lanes.pair_reach, rate, off, pair_move[i], pair_room[i])
        for k in range(nl):
            along[i], beside[i] = max(along[i], link_move[i, k]), max(beside[i], link_room[i, k])
        for k in range(np_):
            along[i], beside[i] = max(along[i], pair_move[i, k]), max(beside[i], pair_room[i, k])
        good = good and along[i] < 2.0 * COARSE * MOST and beside[i] < np.inf
        status[i], looked[i] = FREE if good else UNDECIDED, 0
        if good:
            cuts[i] = int(along[i] / (2.0 * COARSE)) + 1
            count += cuts[i]
    which, at, halves = np.empty(count, np.int64), np.empty(count), np.empty(count)
    count = 0
    for i in range(n):
        for c in range(cuts[i]):
            which[count], at[count], halves[count] = i, (c + 0.5) / cuts[i], 0.5 / cuts[i]
            count += 1
    left = 0
    rows, piece_of, half_of = np.empty(LANES, np.int64), np.empty(LANES, np.int64), np.empty(LANES)
    apart, moves = np.zeros(LANES), np.zeros(LANES)
    by_link, by_pair = np.zeros(nl, np.int64), np.zeros(np_, np.int64)
    for level in range(LEVELS + 1):
        cut, wide, start = np.zeros(count, np.bool_), 0, 0
        while start < count:
            full = 0
            while start < count and full < LANES:
                i = which[start]
                if status[i] == FREE:
                    rows[full], piece_of[full], half_of[full] = start, i, halves[start]
                    looked[i] += 1
                    full += 1
                start += 1
            if full == 0:
                break
            good = True
            for later in range(1 if proving else 0, -1, -1):  # the ends of the parts, then their middles
                for lane in range(full):
                    at_now = at[rows[lane]] + later * half_of[lane]
                    place_on(pieces[piece_of[lane]], at_now, cfgs[lane])
                good = good and expand(cfgs, 0, full, moving, lanes.doubles, q_full)
                if good:
                    body_poses(bodies, local, q_full, trig, poses_end if later else poses)
            if not good:
                for lane in range(full):
                    status[piece_of[lane]] = UNDECIDED
                continue
            for link in range(nl):
                ready[link], by_link[link] = 0, 0
                place(poses, links[link, LINK_BODY] * POSE, points, link, 1, placed)
            if proving:
                link_ways(
                    full, piece_of, half_of, link_move, bend, lanes, links, points, (poses, placed),
                    (poses_end, placed_end), ways,
                )  # fmt: skip
            refused, met, everyone = 0, 0, (1 << full) - 1
            for p in range(np_):
                a, b = pairs[p, 0], pairs[p, 1]
                near, still = 0.0, 0.0
                for lane in range(full):
                    i = piece_of[lane]
                    room = margins[i] + (pair_room[i, p] if proving else 0.0)
                    move = (
                        min(half_of[lane] * pair_move[i, p], ways[a, lane] + ways[b, lane])
                        if proving
                        else 0.0
                    )
                    still, near = max(still, room), max(near, room + move)
                reach = np.float32((pad + near) * ROUND_UP)
                both = points[4 * a + 3] + points[4 * b + 3]
                mask = hits(placed, a * POINT, b * POINT, both + reach) & everyone
                if mask:
                    need(a, ready, links, poses, points, placed)
                    need(b, ready, links, poses, points, placed)
                    mask = pair_mask(a, b, reach, mask, links, groups, nl, points, placed) & everyone
                if mask and proving:
                    reach = np.float32((pad + still) * ROUND_UP)
                    met |= pair_mask(a, b, reach, mask, links, groups, nl, points, placed) & everyone
                by_pair[p] = mask
                refused |= mask
            if not proving:
                everyone &= ~refused  # one refusal is enough
            for turn in range(len(turns)):
                link = turns[turn]
                most = 0.0
                for lane in range(LANES):
                    apart[lane] = moves[lane] = 0.0
                    if lane < full:
                        i = piece_of[lane]
                        apart[lane] = pad + margins[i] + (link_room[i, link] if proving else 0.0)
                        moves[lane] = ways[link, lane] if proving else 0.0
                        most = max(most, apart[lane] + moves[lane])
                reach = points[4 * link + 3] + most
                mask = near_mask(placed, link, reach, 0.0, base, table, blur, world, grid) & everyone
                if mask:
                    need(link, ready, links, poses, points, placed)
                    touched, mask = link_in_lanes(
                        link, mask, apart, moves, links, groups, points, placed, base, table, blur, world, grid,
                        allowed, waiting,
                    )  # fmt: skip
                    met |= touched
                by_link[link] = mask
                refused |= mask
                if not proving:
                    everyone &= ~refused
            for lane in range(full):
                i = piece_of[lane]
                if (refused >> lane) & 1 == 0 or status[i] != FREE:
                    continue
                narrow = half_of[lane] * along[i] < NARROW * beside[i]
                if not proving:
                    status[i] = BLOCKED
                elif level < LEVELS and not narrow and (met >> lane) & 1 == 0:
                    cut[rows[lane]] = True
                    wide += CUTS
                elif left == len(owner):
                    status[i] = UNDECIDED
                else:
                    parts[left, 0], parts[left, 1], owner[left] = at[rows[lane]], half_of[lane], i
                    for link in range(nl):
                        open_links[left, link] = (by_link[link] >> lane) & 1
                    for p in range(np_):
                        open_pairs[left, p] = (by_pair[p] >> lane) & 1
                    left += 1
        again, places, widths = np.empty(wide, np.int64), np.empty(wide), np.empty(wide)
        m = 0
        for k in range(count):
            if cut[k] and status[which[k]] == FREE:
                for c in range(CUTS):
                    again[m], widths[m] = which[k], halves[k] / CUTS
                    places[m] = at[k] + halves[k] * ((2.0 * c + 1.0) / CUTS - 1.0)
                    m += 1
        which, at, halves, count = again, places, widths, m
        if count == 0:
            break
    return left
