"""Numba kernel of the proof of many short chords by spheres: the pieces of a path or curve, sixteen middles at a time.

As `_kernels_lanes` proves one long edge, this proves all chords of a path together: a block of lanes holds middles of
different chords, each with the way that its links can go within half a piece, and with slack: how far joints may be
off the chord besides. What is refused in the middle of a chord, as spheres are, is refused for good; what is refused
for the way alone is cut.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from ..distance.kernels import (
    JOINT,
    JOINT_COUPLED,
    JOINT_DRIVER,
    LANES,
    LAW_WIDTH,
    LINK_BODY,
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
from ..world.kernels import FAR
from ._kernels_lanes import CUTS, LEVELS, ROUND_UP, link_among
from ._kernels_segment import BLOCKED, FREE, UNDECIDED
from ._kernels_world import lane_point, look
from ._lanes import Lanes

COARSE = 0.03
"""Metres that the fastest link of a chord may go within half a piece at first."""
MOST = 512
"""Pieces of a chord at first, at most; one that goes farther is left undecided."""
NARROW = 0.25
"""Pieces on which links go less than this share of what slack lets them go are not cut."""


@njit(cache=True, nogil=True, error_model="numpy")
def chord_moves(begin, end, slack, moving, doubles, reach, rate, off, size, move, room):
    """How far each of `reach` (n, joints) can go along a chord, and by slack: fills move (n,) and room (n,)."""
    for k in range(len(moving)):
        i, d, coupled = moving[k, JOINT], moving[k, JOINT_DRIVER], moving[k, JOINT_COUPLED]
        if coupled:
            law, slope, total = i * LAW_WIDTH, 0.0, 0.0
            for c in range(4, 0, -1):
                slope = slope * size[d] + c * abs(doubles[law + c])
                total = (total + abs(doubles[law + c])) * size[d]
            rate[i], off[i], size[i] = slope * rate[d], slope * off[d], total + abs(doubles[law])
        else:
            rate[i], off[i] = abs(end[d] - begin[d]), slack[d]
            size[i] = max(abs(begin[d]), abs(end[d])) + slack[d]
    for k in range(len(reach)):
        along, beside = 0.0, 0.0
        for j in range(reach.shape[1]):
            along += rate[j] * reach[k, j]
            beside += off[j] * reach[k, j]
        move[k], room[k] = along, beside


@njit(cache=True, nogil=True, error_model="numpy")
def chords_by_spheres(
    begins, ends, slacks, margins, proving, lanes, turns, world, grid, allowed, scratch, status
):
    """Proves chords by spheres: fills status (n,); returns the number of middles looked at.

    FREE: proved, wherever joints are within their slack of the chord; BLOCKED: spheres meet on the chord itself;
    UNDECIDED: they come too close. A quick look before a proof: without `proving`, FREE is only said of some places on
    the chord, where everything is farther apart than the margin; BLOCKED where it is not. Pairs that only meshes decide (`Lanes.mesh_pairs`) are not looked at.

    Args:
        begins: (n, dof) one end of each chord.
        ends: (n, dof) the other.
        slacks: (n, dof) from 0 up.
        margins: (n,) metres that spheres should be apart besides; for a look.
        proving: whether to prove, or just to look.
        lanes: a `Lanes` as a plain tuple; so are world and grid.
        turns: links to compare with obstacles.
        scratch: as of `lane_scratch`.
    """
    lanes, world, grid = borrowed(Lanes(*lanes)), borrowed(PackedWorld(*world)), borrowed(PackedGrid(*grid))
    work, (q_full, ready, cfgs), _, (_, waiting) = scratch
    frame, shape, bounds, planes, loose = grid.frame, grid.shape, grid.bounds, grid.planes, grid.loose
    bodies, moving, links, groups, pairs, local, points = tables(lanes.ints, lanes.floats)
    poses, placed, _, trig = views(lanes.ints, work)
    base, pad, nl, np_ = lanes.base, lanes.pad, len(links), len(pairs)
    n, dof = begins.shape
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
            chord_moves(begins[i], ends[i], slacks[i], moving, lanes.doubles, reach, rate, off, size, move, room)
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
    chord_of, t_of, half_of = np.empty(LANES, np.int64), np.empty(LANES), np.empty(LANES)
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
                    rows[full], chord_of[full], t_of[full], half_of[full] = start, i, at[start], halves[start]
                    for d in range(dof):
                        cfgs[full, d] = begins[i, d] + at[start] * (ends[i, d] - begins[i, d])
                    full += 1
                start += 1
            if full == 0:
                break
            looked += full
            if not expand(cfgs, 0, full, moving, lanes.doubles, q_full):
                for lane in range(full):
                    status[chord_of[lane]] = UNDECIDED
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
                    i = chord_of[lane]
                    move = half_of[lane] * pair_move[i, p] + pair_room[i, p]
                    most = max(most, move if proving else margins[i])
                reach = np.float32((pad + most) * ROUND_UP)
                mask = hits(placed, a * POINT, b * POINT, points[4 * a + 3] + points[4 * b + 3] + reach) & everyone
                if mask == 0:
                    continue
                need(a, ready, links, poses, points, placed)
                need(b, ready, links, poses, points, placed)
                mask = pair_mask(a, b, reach, mask, links, groups, nl, points, placed) & everyone
                if mask == 0:
                    continue
                met = mask
                if proving:
                    met &= pair_mask(a, b, np.float32(pad * ROUND_UP), mask, links, groups, nl, points, placed)
                for lane in range(full):
                    if (met >> lane) & 1:
                        status[chord_of[lane]] = BLOCKED
                left |= mask
            for lane in range(full):
                i = chord_of[lane]
                for turn in range(len(turns)):
                    if status[i] != FREE:
                        break
                    link = turns[turn]
                    x, y, z = lane_point(placed, link, lane, base)
                    apart, move = pad + margins[i], 0.0
                    if proving:
                        apart, move = pad, half_of[lane] * link_move[i, link] + link_room[i, link]
                    reach = points[4 * link + 3] + apart + move
                    if look(frame, shape, bounds, planes, loose, world, x, y, z, reach) == FAR:
                        continue
                    need(link, ready, links, poses, points, placed)
                    verdict, _ = link_among(
                        lane, link, apart, move, links, groups, points, placed, base, world, grid, allowed, waiting
                    )
                    if verdict == BLOCKED:
                        status[i] = BLOCKED
                    elif verdict != FREE:
                        left |= 1 << lane
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
