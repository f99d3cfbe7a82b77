"""Numba kernel of the proof of a curve by spheres: places on all its cubic pieces together, sixteen at a time.

As `_kernels_lanes` proves one straight edge, this proves the pieces of a curve: a block of lanes holds places of
different pieces, each with the way that its links can go from there to the ends of its part of the piece. A joint of a
Bezier cubic goes no faster than three times the largest step between its control points, so no chord and no bulge is
needed. What is refused at a place of the curve, as spheres are, is refused for good; what is refused for the way alone
is cut.
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
from ..world import PackedGrid, PackedWorld
from ._kernels_lanes import CUTS, LEVELS, ROUND_UP, look_table, near_mask, nearest_within
from ._kernels_segment import BLOCKED, FREE, NARROW, UNDECIDED
from ._kernels_world import lane_point
from ._lanes import Lanes

COARSE = 0.03
"""Metres that the fastest link may go within half a part of a piece at first."""
MOST = 512
"""Parts of a piece at first, at most; one that goes farther is left undecided."""


@njit(cache=True, nogil=True, error_model="numpy")
def piece_moves(piece, slack, moving, doubles, reach, rate, off, size, move, room):
    """How far each of `reach` (n, joints) can go along a piece (4, dof), and by slack: fills move and room (n,)."""
    for k in range(len(moving)):
        i, d, coupled = moving[k, JOINT], moving[k, JOINT_DRIVER], moving[k, JOINT_COUPLED]
        if coupled:
            law, slope, total = i * LAW_WIDTH, 0.0, 0.0
            for c in range(4, 0, -1):
                slope = slope * size[d] + c * abs(doubles[law + c])
                total = (total + abs(doubles[law + c])) * size[d]
            rate[i], off[i], size[i] = slope * rate[d], slope * off[d], total + abs(doubles[law])
        else:
            step, far = 0.0, abs(piece[0, d])
            for c in range(3):
                step, far = max(step, abs(piece[c + 1, d] - piece[c, d])), max(far, abs(piece[c + 1, d]))
            rate[i], off[i], size[i] = 3.0 * step, slack[d], far + slack[d]
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
    nl, pad = len(links), (apart + move).max()
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
            close = near_mask(placed, s, radius + pad, 0.0, base, table, blur, world, grid) & near & ~met
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


@njit(cache=True, nogil=True, error_model="numpy")
def curve_by_spheres(pieces, slack, margins, proving, lanes, turns, world, grid, allowed, scratch, status):
    """Proves pieces by spheres: fills status (n,); returns the number of places looked at.

    FREE: proved, wherever joints are within the slack of the curve; BLOCKED: spheres meet on the curve itself;
    UNDECIDED: they come too close. Pairs that only meshes decide (`Lanes.mesh_pairs`) are not looked at.
    A quick look before a proof: without `proving`, FREE is only said of some places on the piece, where everything is
    farther apart than the margin, and BLOCKED where it is not.

    Args:
        pieces: (n, 4, dof) control configurations of cubics.
        slack: (dof,) from 0 up, rad or m.
        margins: (n,) metres that spheres should be apart besides; for a look.
        proving: whether to prove, or just to look.
        lanes: a `Lanes` as a plain tuple; so are world and grid.
        turns: links to compare with obstacles.
        scratch: as of `lane_scratch`.
    """
    lanes, world, grid = borrowed(Lanes(*lanes)), borrowed(PackedWorld(*world)), borrowed(PackedGrid(*grid))
    work, (q_full, ready, cfgs), _, (_, waiting, table) = scratch
    bodies, moving, links, groups, pairs, local, points = tables(lanes.ints, lanes.floats)
    poses, placed, _, trig = views(lanes.ints, work)
    base, pad, nl, np_ = lanes.base, lanes.pad, len(links), len(pairs)
    blur = look_table(base, grid.frame, grid.shape, table)
    n, _, dof = pieces.shape
    joints = max(1, lanes.link_reach.shape[1])
    rate, off, size = np.empty(joints), np.empty(joints), np.empty(joints)
    link_move, link_room = np.empty((n, nl)), np.empty((n, nl))
    pair_move, pair_room = np.empty((n, np_)), np.empty((n, np_))
    along, beside, cuts = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    total = 0
    for i in range(n):
        for reach, move, room in (
            (lanes.link_reach, link_move[i], link_room[i]),
            (lanes.pair_reach, pair_move[i], pair_room[i]),
        ):
            piece_moves(pieces[i], slack, moving, lanes.doubles, reach, rate, off, size, move, room)
            for k in range(len(move)):
                along[i], beside[i] = max(along[i], move[k]), max(beside[i], room[k])
        status[i] = FREE if along[i] < 2.0 * COARSE * MOST and beside[i] < np.inf else UNDECIDED
        if status[i] == FREE:
            cuts[i] = int(along[i] / (2.0 * COARSE)) + 1
        total += cuts[i]
    which, at, halves = np.empty(total, np.int64), np.empty(total), np.empty(total)
    count = 0
    for i in range(n):
        for c in range(cuts[i]):
            which[count], at[count], halves[count] = i, (c + 0.5) / cuts[i], 0.5 / cuts[i]
            count += 1
    looked = 0
    piece_of, half_of = np.empty(LANES, np.int64), np.empty(LANES)
    apart, moves = np.full(LANES, pad), np.zeros(LANES)
    for level in range(LEVELS + 1):
        refused = np.zeros(count, np.bool_)
        wide = 0
        rows = np.empty(LANES, np.int64)
        start = 0
        while start < count:
            full = 0
            while start < count and full < LANES:
                i = which[start]
                if status[i] == FREE:
                    rows[full], piece_of[full], half_of[full] = start, i, halves[start]
                    apart[full] = pad if proving else pad + margins[i]
                    t, s = at[start], 1.0 - at[start]
                    c0, c1, c2, c3 = s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t
                    for d in range(dof):
                        first, last = c0 * pieces[i, 0, d], c3 * pieces[i, 3, d]
                        cfgs[full, d] = first + c1 * pieces[i, 1, d] + c2 * pieces[i, 2, d] + last
                    full += 1
                start += 1
            if full == 0:
                break
            looked += full
            if not expand(cfgs, 0, full, moving, lanes.doubles, q_full):
                for lane in range(full):
                    status[piece_of[lane]] = UNDECIDED
                continue
            body_poses(bodies, local, q_full, trig, poses)
            for link in range(nl):
                ready[link] = 0
                place(poses, links[link, LINK_BODY] * POSE, points, link, 1, placed)
            left, everyone = 0, (1 << full) - 1
            for p in range(np_):
                a, b = pairs[p, 0], pairs[p, 1]
                most = 0.0
                for lane in range(full):
                    i = piece_of[lane]
                    move = half_of[lane] * pair_move[i, p] + pair_room[i, p]
                    most = max(most, move if proving else margins[i])
                reach = np.float32((pad + most) * ROUND_UP)
                mask = (
                    hits(placed, a * POINT, b * POINT, points[4 * a + 3] + points[4 * b + 3] + reach)
                    & everyone
                )
                if mask == 0:
                    continue
                need(a, ready, links, poses, points, placed)
                need(b, ready, links, poses, points, placed)
                mask = pair_mask(a, b, reach, mask, links, groups, nl, points, placed) & everyone
                if mask == 0:
                    continue
                met = mask
                if proving:
                    met &= pair_mask(
                        a, b, np.float32(pad * ROUND_UP), mask, links, groups, nl, points, placed
                    )
                for lane in range(full):
                    if (met >> lane) & 1:
                        status[piece_of[lane]] = BLOCKED
                left |= mask
            for lane in range(full, LANES):
                apart[lane] = moves[lane] = 0.0
            for lane in range(full):
                if status[piece_of[lane]] != FREE:
                    everyone &= ~(1 << lane)
            for turn in range(len(turns)):
                link = turns[turn]
                most = 0.0
                for lane in range(full):
                    i = piece_of[lane]
                    moves[lane] = half_of[lane] * link_move[i, link] + link_room[i, link] if proving else 0.0
                    most = max(most, apart[lane] + moves[lane])
                near = near_mask(
                    placed, link, points[4 * link + 3] + most, 0.0, base, table, blur, world, grid
                )
                near &= everyone
                if near == 0:
                    continue
                need(link, ready, links, poses, points, placed)
                met, more = link_in_lanes(
                    link, near, apart, moves, links, groups, points, placed, base, table, blur, world, grid, allowed,
                    waiting,
                )  # fmt: skip
                left |= more
                everyone &= ~met
                for lane in range(full):
                    if (met >> lane) & 1:
                        status[piece_of[lane]] = BLOCKED
            for lane in range(full):
                i = piece_of[lane]
                if (left >> lane) & 1 and status[i] == FREE:
                    if level == LEVELS or half_of[lane] * along[i] < NARROW * beside[i]:
                        status[i] = UNDECIDED
                    else:
                        refused[rows[lane]] = True
                        wide += CUTS
        again, places, widths = np.empty(wide, np.int64), np.empty(wide), np.empty(wide)
        m = 0
        for k in range(count):
            if refused[k] and status[which[k]] == FREE:
                for c in range(CUTS):
                    again[m], widths[m] = which[k], halves[k] / CUTS
                    places[m] = at[k] + halves[k] * ((2.0 * c + 1.0) / CUTS - 1.0)
                    m += 1
        which, at, halves, count = again, places, widths, m
        if count == 0:
            break
    return looked
