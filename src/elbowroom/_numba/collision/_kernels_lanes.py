"""Numba kernel of the proof of an edge by spheres: the middles of sixteen pieces at a time, in lanes.

Every sphere is enlarged by the way it can go within half a piece (`_lanes`), so what is apart in the middle is apart
on the piece. A piece that is refused is cut, unless the spheres meet in its middle as they are: then no cut helps, and
the edge is refused at once. Thousands of edges a second are refused this way; meshes are not asked here.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..distance import (
    CELL,
    CORNER,
    GROUP_SPHERE,
    GROUP_SPHERES,
    HALF,
    HIGH,
    JOINT,
    JOINT_COUPLED,
    JOINT_DRIVER,
    LANES,
    LAST,
    LAW_WIDTH,
    LINK_BODY,
    LINK_GROUP,
    LINK_GROUPS,
    LOOK,
    LOW,
    PER_METER,
    POINT,
    POSE,
    ROTATION,
    STRIDE,
    body_poses,
    expand,
    hits,
    maybe_near,
    need,
    pair_mask,
    place,
    tables,
    views,
)
from ..world.kernels import STACK, box_gap_squared, loose_bound, safe_world_distance
from ._kernels_look import lane_point
from ._kernels_segment import BLOCKED, FREE, UNDECIDED
from ._kernels_ways import bend_joints, bend_links, link_ways

FULL = (1 << LANES) - 1
COARSE = 0.04
"""Metres that the fastest sphere may go within half a piece at first; beyond, there are more pieces than lanes."""
FINE = 0.006
"""Metres below which pieces are not made smaller at first: short edges take fewer lanes."""
CUTS = 4
"""Pieces that a refused one is cut into."""
LEVELS = 3
"""Times that pieces are cut, at most."""
ROUND_UP = 1.0 + 1e-6
"""What pads are multiplied by before they become float32 and are added to radii."""
BLUR = 2e-6
"""Metres of float32 rounding of a look into the grid, per metre of the largest coordinate."""
MOST = 256
"""Pieces that may wait at a level; an edge with more is left undecided."""


def lane_scratch(lanes, dof):
    """What one thread works with; made in Python."""
    n_links, n_pairs, joints = len(lanes.link_reach), len(lanes.pair_reach), lanes.link_reach.shape[1]
    bodies, points = int(lanes.ints[0]), int(lanes.ints[10])
    work = np.zeros(bodies * POSE + points * POINT + 3 * LANES, np.float32)
    return (
        work,
        (np.zeros(max(1, joints) * LANES), np.zeros(n_links, np.uint8), np.zeros((LANES, dof))),
        (np.zeros(max(1, joints)), np.zeros(max(1, joints)), np.zeros(n_links), np.zeros(n_pairs)),
        (np.zeros((2, MOST)), np.zeros(STACK, np.int64), np.zeros(LOOK, np.float32)),
        (
            np.zeros_like(work), np.zeros(max(1, joints)), np.zeros((n_links, LANES)), np.zeros(LANES, np.int64),
            np.zeros(LANES), np.zeros((1, n_links)),
        ),
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def edge_moves(begin, end, moving, doubles, link_reach, pair_reach, rate, size, link_move, pair_move):
    """How far links, and links of pairs relative to each other, can go along an edge; returns the farthest."""
    for k in range(len(moving)):
        i, d, coupled = moving[k, JOINT], moving[k, JOINT_DRIVER], moving[k, JOINT_COUPLED]
        if coupled:
            law, slope, total = i * LAW_WIDTH, 0.0, 0.0
            for c in range(4, 0, -1):
                slope = slope * size[d] + c * abs(doubles[law + c])
                total = (total + abs(doubles[law + c])) * size[d]
            rate[i], size[i] = slope * rate[d], total + abs(doubles[law])
        else:
            rate[i], size[i] = abs(end[d] - begin[d]), max(abs(begin[d]), abs(end[d]))
    most = 0.0
    for k in range(len(link_move)):
        total = 0.0
        for j in range(link_reach.shape[1]):
            total += rate[j] * link_reach[k, j]
        link_move[k] = total
        most = max(most, total)
    for k in range(len(pair_move)):
        total = 0.0
        for j in range(pair_reach.shape[1]):
            total += rate[j] * pair_reach[k, j]
        pair_move[k] = total
        most = max(most, total)
    return most


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def nearest_within(world, x, y, z, reach, may, waiting):
    """(gap, k): the obstacle nearest to a point among those that are not allowed; k is -1 when none is within reach."""
    tree, members, endless = world.tree, world.members, world.endless
    best, found = reach, -1
    waiting[0] = 0
    top = min(1, len(members))
    turn = 0  # half-spaces, which no tree holds, come last
    while top > 0 or turn < len(endless):
        if top > 0:
            top -= 1
            row = waiting[top]
            if box_gap_squared(tree, row, x, y, z) > max(best, 0.0) ** 2:
                continue
            first, count = int(tree[row, 6]), int(tree[row, 7])
            if count == 0:
                waiting[top], waiting[top + 1] = first, first + 1
                top += 2
                continue
            listed = members
        else:
            first, count, listed = turn, 1, endless
            turn += 1
        for i in range(first, first + count):
            k = listed[i]
            if not may[k]:
                gap = safe_world_distance(world, k, x, y, z, 1.01 * reach)
                if gap <= best:
                    best, found = gap, k
    return best, found


@njit(cache=True, nogil=True, error_model="numpy")
def look_table(base, frame, shape, table):
    """Fills the table of `maybe_near`; returns what its float32 arithmetic must be allowed, metres."""
    table[ROTATION:CORNER] = base[0]
    largest = 1.0
    for k in range(3):
        table[CORNER + k], table[LAST + k] = frame[k], max(shape[k] - 1, 0)
        table[LOW + k], table[HIGH + k] = frame[4 + k], frame[7 + k]
        largest = max(largest, abs(frame[k]), abs(frame[4 + k]), abs(frame[7 + k]), abs(base[0, 9 + k]))
    table[STRIDE], table[STRIDE + 1] = shape[1], shape[2]
    table[PER_METER], table[HALF], table[CELL] = frame[3], frame[10], 1.0 / frame[3]
    return BLUR * largest


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def near_mask(placed, point, reach, inner, base, table, blur, world, grid):
    """Lanes in which the broad phase cannot show that no obstacle is within `reach` of a point.

    LANES bits higher: those in which one likely is within `inner`.
    """
    bounds, planes, loose = grid.bounds, grid.planes, grid.loose
    mask = 0
    if len(bounds) > 0:
        mask = maybe_near(placed, point * POINT, table, bounds, np.float32(reach + blur), np.float32(inner))
    elif len(world.members) > 0:
        mask = FULL
    if len(planes) + len(loose) > 0:
        for lane in range(LANES):
            if (mask >> lane) & 1 == 0:
                x, y, z = lane_point(placed, point, lane, base)
                low = loose_bound(world, loose, x, y, z, 1.01 * reach)
                for m in range(len(planes)):
                    low = min(low, planes[m, 0] * x + planes[m, 1] * y + planes[m, 2] * z - planes[m, 3])
                if low <= reach:
                    mask |= 1 << lane
    return mask


@njit(cache=True, nogil=True, error_model="numpy")
def link_among(
    link, wanted, pad, move, links, groups, points, placed, base, table, blur, world, grid, allowed, waiting
):
    """(left, lane, obstacle): lanes of `wanted` in which a link is not shown to stay clear of the obstacles.

    `lane` is one in which a sphere meets an obstacle in the middle, or -1; `obstacle` is one that refused.
    """
    nl = len(links)
    left, obstacle = 0, -1
    g0 = links[link, LINK_GROUP]
    for g in range(g0, g0 + links[link, LINK_GROUPS]):
        near = (
            near_mask(placed, g, points[4 * g + 3] + pad + move, 0.0, base, table, blur, world, grid) & wanted
        )
        if near == 0:
            continue
        s0 = groups[g - nl, GROUP_SPHERE]
        for s in range(s0, s0 + groups[g - nl, GROUP_SPHERES]):
            reach = points[4 * s + 3] + pad + move
            found = near_mask(placed, s, reach, reach - move, base, table, blur, world, grid)
            close, hit = found & near & ~left, (found >> LANES) & near
            turn = 0  # likely collisions first: one ends it all
            while close >> turn:
                lane = turn
                if hit:
                    lane = 0
                    while (hit >> lane) & 1 == 0:
                        lane += 1
                    hit = 0
                else:
                    turn += 1
                if (close >> lane) & 1:
                    x, y, z = lane_point(placed, s, lane, base)
                    gap, k = nearest_within(world, x, y, z, reach, allowed[link], waiting)
                    if k >= 0:
                        if gap <= points[4 * s + 3] + pad:
                            return left, lane, k
                        left |= 1 << lane
                        obstacle = k
    return left, -1, obstacle


@njit(cache=True, nogil=True, error_model="numpy")
def edge_by_spheres(begin, end, lanes, turns, world, grid, allowed, scratch):
    """(status, t, pair, link, obstacle): FREE when proved on the whole edge, BLOCKED when spheres meet at t.

    UNDECIDED when pieces as small as they get are still refused, at t. Who refused: a pair of `lanes`, or a link and an
    obstacle; -1 for the others. Arguments are borrowed: a `Lanes` and the obstacles as named tuples, `turns` the links
    to compare with them, `scratch` that of `lane_scratch`.
    """
    work, (q_full, ready, cfgs), (rate, size, link_move, pair_move), (lists, waiting, table), more = scratch
    work_end, curl, ways, which, halves, bend = more
    bodies, moving, links, groups, pairs, local, points = tables(lanes.ints, lanes.floats)
    poses, placed, _, trig = views(lanes.ints, work)
    poses_end, placed_end, _, _ = views(lanes.ints, work_end)
    base, pad, nl, dof = lanes.base, lanes.pad, len(links), len(begin)
    most = edge_moves(
        begin,
        end,
        moving,
        lanes.doubles,
        lanes.link_reach,
        lanes.pair_reach,
        rate,
        size,
        link_move,
        pair_move,
    )
    blur = look_table(base, grid.frame, grid.shape, table)
    if not most < np.inf:
        return UNDECIDED, 0.0, -1, -1, -1
    n = min(LANES, int(most / (2.0 * FINE)) + 1)
    blocks = int(most / (2.0 * LANES * COARSE)) + 1
    if blocks > 1:
        n = LANES * blocks
    if n > MOST:
        return UNDECIDED, 0.0, -1, -1, -1
    blocks = (n + LANES - 1) // LANES
    now, half = 0, 0.5 / n
    curl[:], which[:] = 0.0, 0
    bend_joints(moving, lanes.doubles, rate, size, curl)
    bend_links(lanes, rate, curl, bend[0])
    moves = link_move.reshape(1, nl)
    for i in range(n):  # the lanes of a block lie far apart: most collisions show in the first
        lists[0, i] = ((i % LANES) * blocks + i // LANES + 0.5) / n
    for level in range(LEVELS + 1):
        wide = 0
        pair_at, link_at, obstacle_at = -1, -1, -1
        for start in range(0, n, LANES):
            count = min(LANES, n - start)
            for later in range(1, -1, -1):  # the ends of the pieces, then their middles
                for lane in range(count):
                    t = lists[now, start + lane] + later * half
                    for d in range(dof):
                        cfgs[lane, d] = begin[d] + t * (end[d] - begin[d])
                if not expand(cfgs, 0, count, moving, lanes.doubles, q_full):
                    return UNDECIDED, 0.0, -1, -1, -1
                body_poses(bodies, local, q_full, trig, poses_end if later else poses)
            for link in range(nl):
                ready[link] = 0
                place(poses, links[link, LINK_BODY] * POSE, points, link, 1, placed)
            halves[:] = half
            link_ways(
                count,
                which,
                halves,
                moves,
                bend,
                lanes,
                links,
                points,
                (poses, placed),
                (poses_end, placed_end),
                ways,
            )
            left = 0
            everyone = (1 << count) - 1
            for p in range(len(pairs)):
                a, b = pairs[p, 0], pairs[p, 1]
                way = min(half * pair_move[p], ways[a, :count].max() + ways[b, :count].max())
                reach = np.float32((pad + way) * ROUND_UP)
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
                met = pair_mask(a, b, np.float32(pad), mask, links, groups, nl, points, placed) & everyone
                if met:
                    lane = 0
                    while (met >> lane) & 1 == 0:
                        lane += 1
                    return BLOCKED, lists[now, start + lane], p, -1, -1
                left |= mask
                pair_at = p
            for turn in range(len(turns)):
                link = turns[turn]
                move = ways[link, :count].max()
                near = (
                    near_mask(
                        placed, link, points[4 * link + 3] + pad + move, 0.0, base, table, blur, world, grid
                    )
                    & everyone
                    & ~left
                )
                if near == 0:
                    continue
                need(link, ready, links, poses, points, placed)
                more, lane, k = link_among(
                    link,
                    near,
                    pad,
                    move,
                    links,
                    groups,
                    points,
                    placed,
                    base,
                    table,
                    blur,
                    world,
                    grid,
                    allowed,
                    waiting,
                )
                if lane >= 0:
                    return BLOCKED, lists[now, start + lane], -1, link, k
                if more:
                    left |= more
                    link_at, obstacle_at = link, k
            if left == 0:
                continue
            if level == LEVELS or wide + CUTS * LANES > MOST:
                lane = 0
                while (left >> lane) & 1 == 0:
                    lane += 1
                return (
                    UNDECIDED,
                    lists[now, start + lane],
                    pair_at if link_at < 0 else -1,
                    link_at,
                    obstacle_at,
                )
            for lane in range(count):
                if (left >> lane) & 1:
                    t = lists[now, start + lane]
                    for c in range(CUTS):
                        lists[1 - now, wide] = t + half * ((2.0 * c + 1.0) / CUTS - 1.0)
                        wide += 1
        if wide == 0:
            return FREE, -1.0, -1, -1, -1
        now, n, half = 1 - now, wide, half / CUTS
    return UNDECIDED, 0.0, -1, -1, -1
