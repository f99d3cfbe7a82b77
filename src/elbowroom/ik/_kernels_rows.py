"""Numba kernels of linearised collision constraints: how the distances of a robot's links change with its joints.

For two things that are apart by d along the unit vector n, from a point of the first to a point of the second, d grows
by n . (velocity of the second point - velocity of the first); velocities of points are linear in the joints' rates. A
pair of links gives such a row for its closest spheres, for a few that lie elsewhere too, since links also turn; where
spheres overlap, for the closest points of the two meshes. One pair may be asked for alone, by its meshes wherever its
spheres are: spheres are only a first guess, and nobody shall be held back by them. Joints that carry both links change
nothing and are left out.

`bodies` is a `LinkChains` of the collision model, `chains` the table of its pairs.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from .._numba.collision.kernels import (
    BODY,
    FIRST_BALL,
    FIRST_ON_WAY,
    FIRST_SPAN,
    MESHES,
    N_BALLS,
    N_GROUPS,
    N_ON_WAY,
    PAIR_A,
    PAIR_B,
    ROOT,
    SEARCH,
    mesh_row,
)
from .._numba.mesh import (
    APART,
    HEADER_NODES,
    STACK,
    distance_near,
    inverse_pose,
    pair_state,
    relative_pose,
    surface_distance,
    walk_scratch,
)
from .._numba.pairs import SLACK
from ._kernels_moves import body_scratch, joint_scratch, link_moves, pose_all, relative_move, shared

REVOLUTE = 1
SPREAD = 3
"""Rows of spheres for one pair at most."""
NEAR = 1e-9
"""Metres between spheres below which meshes are asked."""
ALL = -1


@njit(cache=True, nogil=True, error_model="numpy")
def add_point(bodies, start, stop, point, normal, sign, posed, row):
    """Adds to a row (dof,) how fast a point, carried by the bodies way[start:stop], moves along a direction."""
    bodies = borrowed(bodies)
    _, pose, slope, _ = posed
    nx, ny, nz = normal
    for i in range(start, stop):
        b = bodies.way[i]
        ax, ay, az = pose[b, 0, 2], pose[b, 1, 2], pose[b, 2, 2]
        if bodies.kinds[b] == REVOLUTE:
            rx, ry, rz = point[0] - pose[b, 0, 3], point[1] - pose[b, 1, 3], point[2] - pose[b, 2, 3]
            speed = nx * (ay * rz - az * ry) + ny * (az * rx - ax * rz) + nz * (ax * ry - ay * rx)
        else:
            speed = nx * ax + ny * ay + nz * az
        row[bodies.drivers[b]] += sign * slope[b] * speed


@njit(cache=True, nogil=True, error_model="numpy")
def _link_row(bodies, a, b, p, q, normal, posed, row):
    """The row of two links' points p of a and q of b, `normal` from p to q."""
    bodies = borrowed(bodies)
    row[:] = 0.0
    both = shared(bodies, a, b)
    first, n = bodies.links[a, FIRST_ON_WAY], bodies.links[a, N_ON_WAY]
    add_point(bodies, first, first + n - both, p, normal, -1.0, posed, row)
    first, n = bodies.links[b, FIRST_ON_WAY], bodies.links[b, N_ON_WAY]
    add_point(bodies, first, first + n - both, q, normal, 1.0, posed, row)


@njit(cache=True, nogil=True, error_model="numpy")
def _ball_gap(bodies, at, i, j):
    bodies = borrowed(bodies)
    dx, dy, dz = at[j, 0] - at[i, 0], at[j, 1] - at[i, 1], at[j, 2] - at[i, 2]
    return np.sqrt(dx * dx + dy * dy + dz * dz) - bodies.balls[i, 3] - bodies.balls[j, 3]


@njit(cache=True, nogil=True, error_model="numpy")
def _near_balls(bodies, a, b, reach, at, picks):
    """(n, low): pairs of spheres of two links within reach, to picks[:n], and a lower bound of all distances."""
    bodies = borrowed(bodies)
    gaps, of_a, of_b = picks
    base_a, base_b = bodies.links[a, FIRST_BALL], bodies.links[b, FIRST_BALL]
    span_a, span_b = bodies.links[a, FIRST_SPAN], bodies.links[b, FIRST_SPAN]
    low, n = np.inf, 0
    for g in range(bodies.links[a, N_GROUPS]):
        first_a, count_a = base_a + bodies.spans[span_a + g, 0], bodies.spans[span_a + g, 1]
        for h in range(bodies.links[b, N_GROUPS]):
            gap = _ball_gap(bodies, at, base_a + g, base_b + h)
            if gap > reach:
                low = min(low, gap)
                continue
            first_b, count_b = base_b + bodies.spans[span_b + h, 0], bodies.spans[span_b + h, 1]
            for i in range(first_a, first_a + count_a):
                for j in range(first_b, first_b + count_b):
                    gap = _ball_gap(bodies, at, i, j)
                    low = min(low, gap)
                    if gap <= reach:
                        gaps[n], of_a[n], of_b[n] = gap, i, j
                        n += 1
    return n, low


@njit(cache=True, nogil=True, error_model="numpy")
def _mesh_gap(bodies, a, b, limit, posed, apart, hint, meshes):
    """Distance of two links' meshes, a little less than true, `limit` when not nearer, -1 when they touch.

    Those known to be `apart`, and where, are not asked whether they touch. Closest points go to meshes[0][2] and
    [3], in the world.
    """
    bodies = borrowed(bodies)
    pose = posed[1]
    (row_a, row_b, on_a, on_b), (stack, codes, corners, w, rel, inv), (bounds, p, aim, spans) = meshes
    mesh_row(pose[bodies.links[a, BODY]], bodies.placed, a, row_a)
    mesh_row(pose[bodies.links[b, BODY]], bodies.placed, b, row_b)
    relative_pose(row_a, row_b, rel)
    nodes, tris, ra, rb = bodies.nodes, bodies.tris, bodies.links[a, ROOT], bodies.links[b, ROOT]
    inverse_pose(rel, inv)
    if apart and hint[0] >= 0:
        squared = distance_near(
            nodes, tris, ra, nodes, tris, rb, rel, inv, limit * limit, stack, bounds, corners, p, aim, spans, hint
        )  # fmt: skip
    elif pair_state(nodes, tris, ra, nodes, tris, rb, rel, inv, stack, codes, corners, w, True) != APART:
        return -1.0
    else:
        squared = surface_distance(
            nodes, tris, ra, nodes, tris, rb, rel, inv, limit * limit, stack, bounds, corners, p, aim, spans, hint
        )  # fmt: skip
    if squared >= limit * limit:
        return limit
    for c in range(3):
        r = 3 * c
        on_a[c] = row_a[r] * p[0, 0] + row_a[r + 1] * p[0, 1] + row_a[r + 2] * p[0, 2] + row_a[9 + c]
        on_b[c] = row_a[r] * p[1, 0] + row_a[r + 1] * p[1, 1] + row_a[r + 2] * p[1, 2] + row_a[9 + c]
    return np.sqrt(squared) * (1.0 - SEARCH)


@njit(cache=True, nogil=True, error_model="numpy")
def own_scratch(bodies):
    """What `own_rows` works with: bodies, near spheres, poses and closest points of two meshes, walks, searches."""
    most, nodes = 1, 1
    for k in range(len(bodies.links)):
        most = max(most, bodies.links[k, N_BALLS])
        if bodies.links[k, ROOT] > 0:
            nodes = max(nodes, int(bodies.nodes[bodies.links[k, ROOT] - 1, HEADER_NODES]))
    picks = np.empty(most * most), np.empty(most * most, np.int64), np.empty(most * most, np.int64)
    places = np.empty(12), np.empty(12), np.empty(3), np.empty(3)
    search = np.empty(STACK), np.empty((2, 3)), np.zeros(3), np.empty((nodes, 2))
    moving = joint_scratch(bodies), np.empty(len(bodies.links))
    return body_scratch(bodies), picks, (places, walk_scratch(), search), moving


@njit(cache=True, nogil=True, error_model="numpy")
def own_memory(dof, pairs):
    """What `own_rows` keeps from call to call; it saves time and changes no answer.

    The configuration last asked about, lower bounds (pairs,) of the distances of meshes there, and the triangles
    (pairs, 2) closest the last time, or -1.
    """
    return np.full(dof, np.nan), np.zeros(pairs), np.full((pairs, 2), -1, np.int64)


@njit(cache=True, nogil=True, error_model="numpy")
def _move_on(cfg, bodies, chains, posed, moving, memory):
    """Poses all bodies, and lowers the bounds remembered by what links have moved since."""
    where, apart, _ = memory
    joints, moves = moving
    same = True
    for i in range(len(cfg)):
        same = same and cfg[i] == where[i]
    if same:
        pose_all(cfg, bodies, posed)
        return
    known = link_moves(cfg, where, bodies, posed, joints, moves)
    for k in range(len(chains)):
        if apart[k] > 0.0:
            move = relative_move(bodies, chains[k, PAIR_A], chains[k, PAIR_B], joints[2]) if known else np.inf
            apart[k] = max(0.0, apart[k] - move - SLACK)
    where[:] = cfg


@njit(cache=True, nogil=True, error_model="numpy")
def _between(p, q):
    """Unit vector from p to q; x where they coincide."""
    x, y, z = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    length = np.sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length) if length > 1e-12 else (1.0, 0.0, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _closest_pick(n, picks, chosen, count):
    """The closest pair of spheres left that shares no sphere with those chosen; -1 for none."""
    gaps, of_a, of_b = picks
    best = -1
    for k in range(n):
        if best >= 0 and gaps[k] >= gaps[best]:
            continue
        apart = True
        for i in range(count):
            apart = apart and of_a[k] != of_a[chosen[i]] and of_b[k] != of_b[chosen[i]]
        if apart:
            best = k
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def own_rows(
    cfg, only, reach, buffer, bodies, chains, memory, scratch, rows, distances, of, rough, low, closest
):  # fmt: skip
    """Rows of the checked pairs within reach at one configuration; returns how many.

    Args:
        cfg: (dof,).
        only: a pair that is asked for alone, by its meshes; ALL for all.
        reach: metres above the buffer within which a pair counts.
        buffer: metres that pairs must be apart: distances are what is left above it.
        chains: (pairs, 7) the pairs.
        memory: of `own_memory`.
        rows: (most, dof) receives how each distance changes with the joints.
        distances: (most,) receives the distances, 0 where a pair is not farther apart than the buffer.
        of: (most, 2) receives the pair of each row, and -1.
        rough: (most,) receives 1 for rows of spheres with meshes behind them.
        low: (pairs,) receives a lower bound of each pair's distance above the buffer; where it is not positive the
            distance itself, minus infinity where meshes touch.
        closest: (pairs, 2) receives the closest triangles of pairs measured by their meshes, -1 for others.
    """
    bodies = borrowed(bodies)
    posed, picks, meshes, moving = scratch
    at = posed[3]
    _, apart, hints = memory
    _move_on(cfg, bodies, chains, posed, moving, memory)
    chosen = np.empty(SPREAD, np.int64)
    m = 0
    for k in range(max(0, only), len(chains) if only == ALL else only + 1):
        a, b = chains[k, PAIR_A], chains[k, PAIR_B]
        n, gap = _near_balls(bodies, a, b, reach + buffer, at, picks)
        low[k] = gap - buffer
        closest[k] = -1
        apart[k] = max(apart[k], gap)
        if n == 0:
            continue
        if (only != ALL or gap - buffer <= NEAR) and chains[k, MESHES]:
            gap = _mesh_gap(bodies, a, b, reach + buffer, posed, apart[k] > SLACK, hints[k], meshes)
            low[k] = gap - buffer if gap >= 0.0 else -np.inf
            apart[k] = max(0.0, gap)
            if gap < 0.0 or gap >= reach + buffer:
                continue
            closest[k] = hints[k]
            p, q = meshes[0][2], meshes[0][3]
            _link_row(bodies, a, b, p, q, _between(p, q), posed, rows[m])
            distances[m], of[m, 0], of[m, 1], rough[m] = max(0.0, gap - buffer), k, -1, 0
            m += 1
            continue
        for count in range(SPREAD):
            best = _closest_pick(n, picks, chosen, count)
            if best < 0:
                break
            chosen[count] = best
            i, j = picks[1][best], picks[2][best]
            normal = _between(at[i], at[j])
            _link_row(bodies, a, b, at[i], at[j], normal, posed, rows[m])
            distances[m], of[m, 0], of[m, 1] = max(0.0, picks[0][best] - buffer), k, -1
            rough[m] = chains[k, MESHES]
            m += 1
    return m
