"""Numba kernels of the self-collision checker: sixteen configurations at a time, three levels of balls.

Forward kinematics runs over the bodies (rigid groups of links) that matter, with joint axes turned to z so
that a joint costs twelve multiplications. Each pair of links is then tested by link ball, by sub-balls, by
sphere against sub-ball and by spheres; a level is entered when any lane needs it, and a block ends when
every lane is known to collide. Points of a link are placed in the world when first needed.
Angles are reduced in float64, everything after that is float32; `_model.py` bounds the error.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ._layout import (
    BODIES,
    BODY_JOINT,
    BODY_KIND,
    BODY_PARENT,
    GROUP_SPHERE,
    GROUP_SPHERES,
    GROUPS,
    JOINT,
    JOINT_COUPLED,
    JOINT_DRIVER,
    LANES,
    LAW_LIMIT,
    LAW_WIDTH,
    LINK_BODY,
    LINK_GROUP,
    LINK_GROUPS,
    LINK_SPHERE,
    LINK_SPHERES,
    LINKS,
    MOVING,
    N_POINTS,
    PAIRS,
    POINT,
    POSE,
    START,
    WIDTHS,
)
from ._simd import (
    closer,
    compose,
    count_bits,
    hits,
    improve,
    place,
    sincos,
    slide,
    turn,
    within,
)

FULL = (1 << LANES) - 1


@njit(cache=True, nogil=True, error_model="numpy")
def expand(cfgs, start, count, moving, doubles, q_full):
    """Joint values at q_full[joint * LANES ...] of rows from `start`; spare lanes repeat the last row.

    Returns False when a value is not finite or beyond what the error bound covers.
    """
    good = FULL
    for k in range(len(moving)):
        i, d, coupled = moving[k, JOINT], moving[k, JOINT_DRIVER], moving[k, JOINT_COUPLED]
        to, law = i * LANES, i * LAW_WIDTH
        if coupled:
            c0, c1, c2 = doubles[law], doubles[law + 1], doubles[law + 2]
            c3, c4 = doubles[law + 3], doubles[law + 4]
            for lane in range(LANES):
                x = q_full[d * LANES + lane]
                q_full[to + lane] = c0 + x * (c1 + x * (c2 + x * (c3 + x * c4)))
        elif count == LANES:
            for lane in range(LANES):
                q_full[to + lane] = cfgs[start + lane, d]
        else:
            for lane in range(LANES):
                q_full[to + lane] = cfgs[start + min(lane, count - 1), d]
        good &= within(q_full, to, doubles[law + LAW_LIMIT])
    return good == FULL


@njit(cache=True, nogil=True, error_model="numpy")
def body_poses(bodies, local, q_full, trig, poses):
    """Poses of all bodies at offsets body * POSE, relative to the root body."""
    for b in range(1, len(bodies)):
        compose(poses, bodies[b, BODY_PARENT] * POSE, b * POSE, local, 12 * b)
        if bodies[b, BODY_KIND] == 1:
            sincos(q_full, bodies[b, BODY_JOINT] * LANES, trig)
            turn(poses, b * POSE, trig)
        else:
            slide(poses, b * POSE, q_full, bodies[b, BODY_JOINT] * LANES)


@njit(cache=True, nogil=True, inline="always")
def _table(ints, kind, width):
    """A view of one table."""
    return ints[ints[START + kind] : ints[START + kind] + width * ints[kind]].reshape(ints[kind], width)


@njit(cache=True, nogil=True, error_model="numpy")
def tables(ints, floats):
    """Views of the packed model: bodies, moving, links, groups, pairs, local poses, points."""
    bodies, moving = _table(ints, BODIES, WIDTHS[BODIES]), _table(ints, MOVING, WIDTHS[MOVING])
    links, groups = _table(ints, LINKS, WIDTHS[LINKS]), _table(ints, GROUPS, WIDTHS[GROUPS])
    pairs = _table(ints, PAIRS, WIDTHS[PAIRS])
    cut = 12 * len(bodies)
    return bodies, moving, links, groups, pairs, floats[:cut], floats[cut:]


@njit(cache=True, nogil=True, error_model="numpy")
def views(ints, work):
    """Views of the workspace: poses of bodies, points in the world, best distances, sine and cosine."""
    nb, n_points = ints[BODIES], ints[N_POINTS]
    cut = nb * POSE
    end = cut + n_points * POINT
    work[:POSE] = 0.0
    for k in range(3):
        work[4 * k * LANES : (4 * k + 1) * LANES] = 1.0  # body 0, the root, stays at the identity
    return work[:cut], work[cut:end], work[end : end + LANES], work[end + LANES : end + 3 * LANES]


@njit(cache=True, nogil=True, inline="always")
def need(link, ready, links, poses, points, world):
    """Places sub-balls and spheres of a link, once per block."""
    if ready[link] == 0:
        ready[link] = 1
        pose = links[link, LINK_BODY] * POSE
        place(poses, pose, points, links[link, LINK_GROUP], links[link, LINK_GROUPS], world)
        place(poses, pose, points, links[link, LINK_SPHERE], links[link, LINK_SPHERES], world)


@njit(cache=True, nogil=True, error_model="numpy")
def pair_mask(a, b, pad, wanted, links, groups, first_group, points, world):
    """Lanes in which a sphere of link a meets one of link b: all such lanes of `wanted`, perhaps others."""
    found = 0
    for ca in range(links[a, LINK_GROUP], links[a, LINK_GROUP] + links[a, LINK_GROUPS]):
        reach_a = points[4 * ca + 3] + pad
        near = hits(world, ca * POINT, b * POINT, reach_a + points[4 * b + 3]) & wanted
        if near == 0:
            continue
        a0 = groups[ca - first_group, GROUP_SPHERE]
        an = groups[ca - first_group, GROUP_SPHERES]
        for cb in range(links[b, LINK_GROUP], links[b, LINK_GROUP] + links[b, LINK_GROUPS]):
            reach_b = points[4 * cb + 3] + pad
            if hits(world, ca * POINT, cb * POINT, reach_a + points[4 * cb + 3]) & near == 0:
                continue
            b0 = groups[cb - first_group, GROUP_SPHERE]
            bn = groups[cb - first_group, GROUP_SPHERES]
            for sa in range(a0, a0 + an):
                if hits(world, sa * POINT, cb * POINT, points[4 * sa + 3] + reach_b) & near == 0:
                    continue
                reach = points[4 * sa + 3] + pad
                met = 0
                for sb in range(b0, b0 + bn):
                    met |= hits(world, sa * POINT, sb * POINT, reach + points[4 * sb + 3])
                found |= met
                near &= ~met
                if near == 0:
                    break
            if near == 0:
                break
        wanted &= ~found
        if wanted == 0:
            break
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def free(cfgs, ints, floats, doubles, pads, work, out):
    """out[row] = 1 when no checked pair comes closer than its pad; returns the first bad row or -1."""
    bodies, moving, links, groups, pairs, local, points = tables(ints, floats)
    poses, world, _, trig = views(ints, work)
    nl = len(links)
    q_full = np.empty(max(1, len(moving)) * LANES)
    ready = np.empty(nl, np.uint8)
    for start in range(0, len(cfgs), LANES):
        count = min(LANES, len(cfgs) - start)
        if not expand(cfgs, start, count, moving, doubles, q_full):
            return start
        body_poses(bodies, local, q_full, trig, poses)
        for link in range(nl):
            ready[link] = 0
            place(poses, links[link, LINK_BODY] * POSE, points, link, 1, world)
        alive = (1 << count) - 1
        for p in range(len(pairs)):
            a, b = pairs[p, 0], pairs[p, 1]
            pad = pads[p]
            mask = hits(world, a * POINT, b * POINT, points[4 * a + 3] + points[4 * b + 3] + pad) & alive
            if mask:
                need(a, ready, links, poses, points, world)
                need(b, ready, links, poses, points, world)
                alive &= ~pair_mask(a, b, pad, mask, links, groups, nl, points, world)
                if alive == 0:
                    break
        for lane in range(count):
            out[start + lane] = (alive >> lane) & 1
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def free_one(cfgs, ints, floats, doubles, pads, work):
    """1 when the one row is free, 0 when it is not, -1 when it is bad."""
    out = np.empty(1, np.bool_)
    bad = free(cfgs, ints, floats, doubles, pads, work, out)
    return -1 if bad >= 0 else int(out[0])


@njit(cache=True, nogil=True, error_model="numpy")
def pair_hits(cfgs, ints, floats, doubles, pads, work, out, counts):
    """out[row, p] = 1 when pair p comes closer than its pad, and counts[p] += such rows; either may be empty."""
    bodies, moving, links, groups, pairs, local, points = tables(ints, floats)
    poses, world, _, trig = views(ints, work)
    nl = len(links)
    q_full = np.empty(max(1, len(moving)) * LANES)
    ready = np.empty(nl, np.uint8)
    for start in range(0, len(cfgs), LANES):
        count = min(LANES, len(cfgs) - start)
        if not expand(cfgs, start, count, moving, doubles, q_full):
            return start
        body_poses(bodies, local, q_full, trig, poses)
        for link in range(nl):
            ready[link] = 0
            place(poses, links[link, LINK_BODY] * POSE, points, link, 1, world)
        everyone = (1 << count) - 1
        for p in range(len(pairs)):
            a, b = pairs[p, 0], pairs[p, 1]
            pad = pads[p]
            mask = hits(world, a * POINT, b * POINT, points[4 * a + 3] + points[4 * b + 3] + pad) & everyone
            if mask:
                need(a, ready, links, poses, points, world)
                need(b, ready, links, poses, points, world)
                mask = pair_mask(a, b, pad, mask, links, groups, nl, points, world) & everyone
                if len(counts):
                    counts[p] += count_bits(mask)
            if len(out):
                for lane in range(count):
                    out[start + lane, p] = (mask >> lane) & 1
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def _pair_best(a, b, pad, links, groups, first_group, points, world, best):
    """Lowers best[lane] to the smallest distance between spheres of links a and b, less pad."""
    for ca in range(links[a, LINK_GROUP], links[a, LINK_GROUP] + links[a, LINK_GROUPS]):
        reach_a = points[4 * ca + 3] + pad
        if closer(world, ca * POINT, b * POINT, reach_a + points[4 * b + 3], best) == 0:
            continue
        a0 = groups[ca - first_group, GROUP_SPHERE]
        an = groups[ca - first_group, GROUP_SPHERES]
        for cb in range(links[b, LINK_GROUP], links[b, LINK_GROUP] + links[b, LINK_GROUPS]):
            reach_b = points[4 * cb + 3] + pad
            if closer(world, ca * POINT, cb * POINT, reach_a + points[4 * cb + 3], best) == 0:
                continue
            b0 = groups[cb - first_group, GROUP_SPHERE]
            bn = groups[cb - first_group, GROUP_SPHERES]
            for sa in range(a0, a0 + an):
                if closer(world, sa * POINT, cb * POINT, points[4 * sa + 3] + reach_b, best) == 0:
                    continue
                reach = points[4 * sa + 3] + pad
                for sb in range(b0, b0 + bn):
                    if closer(world, sa * POINT, sb * POINT, reach + points[4 * sb + 3], best):
                        improve(world, sa * POINT, sb * POINT, reach + points[4 * sb + 3], best)


@njit(cache=True, nogil=True, error_model="numpy")
def distances(cfgs, ints, floats, doubles, pads, work, out, per_pair):
    """out (n, pairs): smallest distance of each pair less its pad; or out (n, 1): the smallest of all."""
    bodies, moving, links, groups, pairs, local, points = tables(ints, floats)
    poses, world, best, trig = views(ints, work)
    nl = len(links)
    q_full = np.empty(max(1, len(moving)) * LANES)
    ready = np.empty(nl, np.uint8)
    for start in range(0, len(cfgs), LANES):
        count = min(LANES, len(cfgs) - start)
        if not expand(cfgs, start, count, moving, doubles, q_full):
            return start
        body_poses(bodies, local, q_full, trig, poses)
        for link in range(nl):
            ready[link] = 0
            place(poses, links[link, LINK_BODY] * POSE, points, link, 1, world)
        best[:] = np.inf
        for p in range(len(pairs)):
            a, b = pairs[p, 0], pairs[p, 1]
            pad = pads[p]
            if per_pair:
                best[:] = np.inf
            if closer(world, a * POINT, b * POINT, points[4 * a + 3] + points[4 * b + 3] + pad, best):
                need(a, ready, links, poses, points, world)
                need(b, ready, links, poses, points, world)
                _pair_best(a, b, pad, links, groups, nl, points, world, best)
            if per_pair:
                for lane in range(count):
                    out[start + lane, p] = best[lane]
        if not per_pair:
            for lane in range(count):
                out[start + lane, 0] = best[lane]
    return -1
