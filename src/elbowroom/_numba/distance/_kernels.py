"""Numba kernels of spheres on a robot: sixteen configurations at a time, three levels of balls.

Forward kinematics runs over the bodies (rigid groups of links) that matter, with joint axes turned to z so
that a joint costs twelve multiplications. Each pair of links is then tested by link ball, by sub-balls, by
sphere against sub-ball and by spheres; a level is entered when any lane needs it, and a block ends when
every lane is known to collide. Points of a link are placed in the world when first needed.
Angles are reduced in float64, everything after that is float32; `sphere_tables` bounds the error.
"""

# pyright: basic
from __future__ import annotations

from ..._jit import njit
from ..sphere_layout import (
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
    compose,
    hits,
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
