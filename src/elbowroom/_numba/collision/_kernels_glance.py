"""Numba kernels that glance at configurations: in which of sixteen the spheres meet, in lanes.

A search asks about many edges and uses few: it glances at them, and proves those of the path that it found. A glance
takes spheres as they are, where a proof (`_kernels_lanes`) must enlarge them by their way and cut pieces until that
fits: with little room around, hundreds of microseconds for an edge of 1 rad that is free.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..distance import (
    GROUP_SPHERE,
    GROUP_SPHERES,
    LANES,
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
from ._kernels_lanes import MOST, edge_moves, look_table, near_mask, nearest_within
from ._kernels_look import lane_point


@njit(cache=True, nogil=True, error_model="numpy")
def glance(count, first, lanes, turns, world, grid, allowed, scratch, blame):
    """Lanes in which spheres meet, of the `count` configurations in `scratch` (see `glance_rows`).

    Args:
        count: configurations, LANES at most.
        first: whether one such lane is enough.
        lanes: a `Lanes`; `turns` the links to compare with obstacles; `world`, `grid`, `allowed` as everywhere.
        scratch: of `lane_scratch`.
        blame: (LANES,) receives who meets: a pair of `lanes`, or the number of pairs + link * obstacles + obstacle.
    """
    work, (q_full, ready, cfgs), _, (_, waiting, table), _ = scratch
    bodies, moving, links, groups, pairs, local, points = tables(lanes.ints, lanes.floats)
    poses, placed, _, trig = views(lanes.ints, work)
    base, pad, nl, n_obstacles = lanes.base, lanes.pad, len(links), len(world.kinds)
    everyone, met = (1 << count) - 1, 0
    blame[:] = -1
    if not expand(cfgs, 0, count, moving, lanes.doubles, q_full):
        return everyone
    blur = look_table(base, grid.frame, grid.shape, table)
    body_poses(bodies, local, q_full, trig, poses)
    for link in range(nl):
        ready[link] = 0
        place(poses, links[link, LINK_BODY] * POSE, points, link, 1, placed)
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        reach = np.float32(pad)
        mask = (
            hits(placed, a * POINT, b * POINT, points[4 * a + 3] + points[4 * b + 3] + reach)
            & everyone
            & ~met
        )
        if mask:
            need(a, ready, links, poses, points, placed)
            need(b, ready, links, poses, points, placed)
            mask &= pair_mask(a, b, reach, mask, links, groups, nl, points, placed)
            for lane in range(count):
                if (mask >> lane) & 1:
                    blame[lane] = p
            met |= mask
            if met and first:
                return met
    for turn in range(len(turns)):
        link = turns[turn]
        reach = points[4 * link + 3] + pad
        wanted = near_mask(placed, link, reach, 0.0, base, table, blur, world, grid) & everyone & ~met
        if wanted == 0:
            continue
        need(link, ready, links, poses, points, placed)
        g0 = links[link, LINK_GROUP]
        for g in range(g0, g0 + links[link, LINK_GROUPS]):
            reach = points[4 * g + 3] + pad
            near = near_mask(placed, g, reach, 0.0, base, table, blur, world, grid) & wanted & ~met
            if near == 0:
                continue
            s0 = groups[g - nl, GROUP_SPHERE]
            for s in range(s0, s0 + groups[g - nl, GROUP_SPHERES]):
                reach = points[4 * s + 3] + pad
                close = near_mask(placed, s, reach, 0.0, base, table, blur, world, grid) & near & ~met
                lane = 0
                while close >> lane:
                    if (close >> lane) & 1:
                        x, y, z = lane_point(placed, s, lane, base)
                        _, k = nearest_within(world, x, y, z, reach, allowed[link], waiting)
                        if k >= 0:
                            met |= 1 << lane
                            blame[lane] = len(pairs) + link * n_obstacles + k
                            if first:
                                return met
                    lane += 1
    return met


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def glance_rows(scratch):
    """(LANES, dof) where `glance` expects the configurations."""
    return scratch[1][2]


@njit(cache=True, nogil=True, error_model="numpy")
def glance_along(begin, end, apart, lanes, turns, world, grid, allowed, scratch, blame):
    """Whether spheres meet nowhere on an edge where a glance falls, `apart` metres of the fastest link at most.

    `blame[0]` receives who meets otherwise, as of `glance`.
    """
    _, (_, _, cfgs), (rate, size, link_move, pair_move), _, _ = scratch
    _, moving, _, _, _, _, _ = tables(lanes.ints, lanes.floats)
    reaches = lanes.link_reach, lanes.pair_reach
    most = edge_moves(begin, end, moving, lanes.doubles, *reaches, rate, size, link_move, pair_move)
    if not most < np.inf:
        blame[0] = -1
        return False
    n = int(min(most / apart, MOST)) + 1
    blocks = (n + LANES - 1) // LANES
    for block in range(blocks):  # the lanes of a block lie far apart: most collisions show in the first
        count = min(LANES, n)
        for lane in range(count):
            t = (lane * blocks + block + 0.5) / (count * blocks)
            for d in range(len(begin)):
                cfgs[lane, d] = begin[d] + t * (end[d] - begin[d])
        met = glance(count, True, lanes, turns, world, grid, allowed, scratch, blame)
        if met:
            lane = 0
            while (met >> lane) & 1 == 0:
                lane += 1
            blame[0] = blame[lane]
            return False
    return True
