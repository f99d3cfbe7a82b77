"""Kernels for the distance between two surfaces.

Depth-first branch and bound with the nearer child first; the lower bound of a node pair is the larger of the gap
between the box of one and the box around the other, taken in both frames, and the gaps along the nodes' slabs.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ._kernels_features import triangle_distance
from ._kernels_gjk import FAR, hull_gap
from ._kernels_point import nearest_triangle
from ._kernels_query import HEADER_NODES, pose_triangle
from ._kernels_tritri import FASTMATH

HULL_REACHED = 1e-9
"""Relative difference of squared distances at which the distance of the hulls counts as reached."""
PROJECT_AFTER = 48
"""Node pairs visited before all nodes are projected on the direction of the best pair."""
AIM_AGAIN = 0.9
"""They are projected anew when the squared distance fell below this fraction of what it was the last time."""


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, inline="always")
def node_bounds(opened, child, fixed, j, f, ax, ay, az):
    """Squared lower bounds of the distances of the two children to node `j` of `fixed`.

    (ax, ay, az) is a unit direction from `opened` to `fixed`, or zero; the gap along it is one of the bounds.
    """
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]
    x, y, z = fixed[j, 0], fixed[j, 1], fixed[j, 2]
    bx = r00 * x + r01 * y + r02 * z + f[9]
    by = r10 * x + r11 * y + r12 * z + f[10]
    bz = r20 * x + r21 * y + r22 * z + f[11]
    hx, hy, hz = fixed[j, 3], fixed[j, 4], fixed[j, 5]
    ex = abs(r00) * hx + abs(r01) * hy + abs(r02) * hz
    ey = abs(r10) * hx + abs(r11) * hy + abs(r12) * hz
    ez = abs(r20) * hx + abs(r21) * hy + abs(r22) * hz
    thick = fixed[j, 12]
    u, v, q = fixed[j, 8], fixed[j, 9], fixed[j, 10]
    mx, my, mz = r00 * u + r01 * v + r02 * q, r10 * u + r11 * v + r12 * q, r20 * u + r21 * v + r22 * q
    m0 = mx * f[9] + my * f[10] + mz * f[11] + fixed[j, 11]
    near = ax * bx + ay * by + az * bz - abs(ax * r00 + ay * r10 + az * r20) * hx
    near -= abs(ax * r01 + ay * r11 + az * r21) * hy + abs(ax * r02 + ay * r12 + az * r22) * hz
    first = 0.0
    bound = 0.0
    for k in range(2):
        c = child + k
        dx, dy, dz = bx - opened[c, 0], by - opened[c, 1], bz - opened[c, 2]
        gx, gy, gz = opened[c, 3], opened[c, 4], opened[c, 5]
        px = max(0.0, abs(dx) - ex - gx)
        py = max(0.0, abs(dy) - ey - gy)
        pz = max(0.0, abs(dz) - ez - gz)
        qx = max(
            0.0, abs(r00 * dx + r10 * dy + r20 * dz) - hx - abs(r00) * gx - abs(r10) * gy - abs(r20) * gz
        )
        qy = max(
            0.0, abs(r01 * dx + r11 * dy + r21 * dz) - hy - abs(r01) * gx - abs(r11) * gy - abs(r21) * gz
        )
        qz = max(
            0.0, abs(r02 * dx + r12 * dy + r22 * dz) - hz - abs(r02) * gx - abs(r12) * gy - abs(r22) * gz
        )
        gap = near - ax * opened[c, 0] - ay * opened[c, 1] - az * opened[c, 2]
        gap = max(0.0, gap - abs(ax) * gx - abs(ay) * gy - abs(az) * gz)
        bound = max(px * px + py * py + pz * pz, qx * qx + qy * qy + qz * qz, gap * gap)
        off = mx * opened[c, 0] + my * opened[c, 1] + mz * opened[c, 2] - m0
        gap = max(0.0, abs(off) - thick - abs(mx) * gx - abs(my) * gy - abs(mz) * gz)
        bound = max(bound, gap * gap)
        x, y, z = opened[c, 8], opened[c, 9], opened[c, 10]
        off = x * bx + y * by + z * bz - opened[c, 11]
        reach = abs(x * r00 + y * r10 + z * r20) * hx + abs(x * r01 + y * r11 + z * r21) * hy
        gap = max(0.0, abs(off) - opened[c, 12] - reach - abs(x * r02 + y * r12 + z * r22) * hz)
        bound = max(bound, gap * gap)
        if k == 0:
            first = bound
    return first, bound


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _leaf_distance(na, ta, ia, nb, tb, ib, rel, aim, scratch, p, best, hint):
    """Best squared distance after the triangle pairs of one leaf pair; `aim` filters by the gap along a direction."""
    x, y, z = aim[0], aim[1], aim[2]
    first_a = int(na[ia, 6])
    first_b = int(nb[ib, 6])
    for j in range(first_b, first_b + int(nb[ib, 7])):
        pose_triangle(tb, j, rel, scratch, 0)
        b0 = scratch[0, 0] * x + scratch[0, 1] * y + scratch[0, 2] * z
        b1 = scratch[0, 3] * x + scratch[0, 4] * y + scratch[0, 5] * z
        b2 = scratch[0, 6] * x + scratch[0, 7] * y + scratch[0, 8] * z
        low = min(b0, b1, b2)
        for i in range(first_a, first_a + int(na[ia, 7])):
            a0 = ta[i, 0] * x + ta[i, 1] * y + ta[i, 2] * z
            a1 = ta[i, 3] * x + ta[i, 4] * y + ta[i, 5] * z
            a2 = ta[i, 6] * x + ta[i, 7] * y + ta[i, 8] * z
            gap = low - max(a0, a1, a2)
            if gap > 0.0 and gap * gap >= best:
                continue
            d = triangle_distance(ta, i, scratch, 0, best, p)
            if d < best:
                best = d
                hint[0] = i
                hint[1] = j
    return best


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _take_aim(p, aim):
    """Point `aim` from p[0] to p[1]."""
    x, y, z = p[1, 0] - p[0, 0], p[1, 1] - p[0, 1], p[1, 2] - p[0, 2]
    length = np.sqrt(x * x + y * y + z * z)
    if length > 1e-300:
        aim[0], aim[1], aim[2] = x / length, y / length, z / length


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _seed(na, ta, ra, nb, tb, rb, rel, inv, stack, scratch, p, aim, hint):
    """First bound, from triangles nearest to the closest points of the hulls, and the hulls' squared distance."""
    best = FAR
    if hint[0] >= 0:
        pose_triangle(tb, hint[1], rel, scratch, 0)
        best = triangle_distance(ta, hint[0], scratch, 0, best, p)
    q = np.zeros((2, 3))
    lower = hull_gap(na, ta, ra, nb, tb, rb, rel, stack, q, aim)
    if lower > 0.0:
        _, i = nearest_triangle(na, ta, ra, q[0, 0], q[0, 1], q[0, 2], FAR, stack)
        x, y, z = q[1, 0], q[1, 1], q[1, 2]
        bx = inv[0] * x + inv[1] * y + inv[2] * z + inv[9]
        by = inv[3] * x + inv[4] * y + inv[5] * z + inv[10]
        bz = inv[6] * x + inv[7] * y + inv[8] * z + inv[11]
        _, j = nearest_triangle(nb, tb, rb, bx, by, bz, FAR, stack)
        pose_triangle(tb, j, rel, scratch, 0)
        d = triangle_distance(ta, i, scratch, 0, best, p)
        if d < best:
            best = d
            hint[0] = i
            hint[1] = j
    elif best < FAR:
        _take_aim(p, aim)
    return best, lower * lower


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _project_nodes(nodes, tris, root, x, y, z, spans, column):
    """Extreme of every node's triangles along a direction, bottom up: spans[row - root, column] is the highest."""
    for row in range(root + int(nodes[root - 1, HEADER_NODES]) - 1, root - 1, -1):
        first = int(nodes[row, 6])
        count = int(nodes[row, 7])
        high = -FAR
        if count == 0:
            high = max(spans[first - root, column], spans[first + 1 - root, column])
        for i in range(first, first + count):
            p = tris[i, 0] * x + tris[i, 1] * y + tris[i, 2] * z
            q = tris[i, 3] * x + tris[i, 4] * y + tris[i, 5] * z
            r = tris[i, 6] * x + tris[i, 7] * y + tris[i, 8] * z
            high = max(high, p, q, r)
        spans[row - root, column] = high


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _project_both(na, ta, ra, nb, tb, rb, rel, aim, spans):
    """Project A on `aim` and B on its opposite; returns the part of the gap between them that the pose adds."""
    x, y, z = aim[0], aim[1], aim[2]
    _project_nodes(na, ta, ra, x, y, z, spans, 0)
    bx = rel[0] * x + rel[3] * y + rel[6] * z
    by = rel[1] * x + rel[4] * y + rel[7] * z
    bz = rel[2] * x + rel[5] * y + rel[8] * z
    _project_nodes(nb, tb, rb, -bx, -by, -bz, spans, 1)
    return rel[9] * x + rel[10] * y + rel[11] * z


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def surface_distance(na, ta, ra, nb, tb, rb, rel, inv, limit, stack, bounds, scratch, p, aim, spans, hint):
    """Squared distance of two surfaces that do not meet, or `limit`, a squared distance, when they are not nearer.

    Closest points in A's frame, when nearer than the limit, go to p[0], p[1] and their triangles to hint[0], hint[1];
    on entry `hint` names a pair to try first, or -1. The distance of the hulls ends the search at once when it is
    reached. When the search
    gets long, all nodes are projected on the direction of the best pair: the gap between the projections of two nodes
    is then a bound for one subtraction. `spans` (nodes, 2) is scratch for that.
    """
    aim[:] = 0.0
    best, floor = _seed(na, ta, ra, nb, tb, rb, rel, inv, stack, scratch, p, aim, hint)
    best = min(best, limit)
    return _search(na, ta, ra, nb, tb, rb, rel, inv, best, floor, stack, bounds, scratch, p, aim, spans, hint)


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def distance_near(na, ta, ra, nb, tb, rb, rel, inv, limit, stack, bounds, scratch, p, aim, spans, hint):
    """`surface_distance` of surfaces that have hardly moved since `hint` named their closest triangles: the hulls,
    which rarely know more than these, are not asked."""
    pose_triangle(tb, hint[1], rel, scratch, 0)
    best = triangle_distance(ta, hint[0], scratch, 0, FAR, p)
    aim[:] = 0.0
    if best < FAR:
        _take_aim(p, aim)
    best = min(best, limit)
    return _search(na, ta, ra, nb, tb, rb, rel, inv, best, 0.0, stack, bounds, scratch, p, aim, spans, hint)


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _search(na, ta, ra, nb, tb, rb, rel, inv, best, floor, stack, bounds, scratch, p, aim, spans, hint):
    """Branch and bound from a squared distance `best` that is known to be reached, or a limit, and a lower bound."""
    f = (rel[0], rel[1], rel[2], rel[3], rel[4], rel[5], rel[6], rel[7], rel[8], rel[9], rel[10], rel[11])
    g = (inv[0], inv[1], inv[2], inv[3], inv[4], inv[5], inv[6], inv[7], inv[8], inv[9], inv[10], inv[11])
    stack[0] = (ra << 32) | rb
    bounds[0] = floor * (1.0 - HULL_REACHED)
    top = 1
    steps = 0
    projected = False
    offset = 0.0
    aimed = FAR
    while top > 0:
        top -= 1
        if bounds[top] >= best or best * (1.0 - HULL_REACHED) <= floor:
            continue
        code = stack[top]
        ia = code >> 32
        ib = code & 0xFFFFFFFF
        if projected:
            gap = offset - spans[ia - ra, 0] - spans[ib - rb, 1]
            if gap > 0.0 and gap * gap >= best:
                continue
        steps += 1
        if steps >= PROJECT_AFTER and best < AIM_AGAIN * aimed:
            offset = _project_both(na, ta, ra, nb, tb, rb, rel, aim, spans)
            projected = True
            aimed = best
            steps = 0
        count_a = na[ia, 7]
        count_b = nb[ib, 7]
        if count_a > 0.0 and count_b > 0.0:
            before = best
            best = _leaf_distance(na, ta, ia, nb, tb, ib, rel, aim, scratch, p, best, hint)
            if best < before:
                _take_aim(p, aim)
            continue
        size_a = na[ia, 3] + na[ia, 4] + na[ia, 5]
        size_b = nb[ib, 3] + nb[ib, 4] + nb[ib, 5]
        if count_b > 0.0 or (count_a == 0.0 and size_a >= size_b):
            child = int(na[ia, 6])
            bound0, bound1 = node_bounds(na, child, nb, ib, f, aim[0], aim[1], aim[2])
            code0 = (child << 32) | ib
            code1 = ((child + 1) << 32) | ib
        else:
            child = int(nb[ib, 6])
            x = -(g[0] * aim[0] + g[1] * aim[1] + g[2] * aim[2])
            y = -(g[3] * aim[0] + g[4] * aim[1] + g[5] * aim[2])
            z = -(g[6] * aim[0] + g[7] * aim[1] + g[8] * aim[2])
            bound0, bound1 = node_bounds(nb, child, na, ia, g, x, y, z)
            code0 = (ia << 32) | child
            code1 = (ia << 32) | (child + 1)
        if bound0 <= bound1:
            code0, code1 = code1, code0
            bound0, bound1 = bound1, bound0
        if bound0 < best:
            stack[top] = code0
            bounds[top] = bound0
            top += 1
        if bound1 < best:
            stack[top] = code1
            bounds[top] = bound1
            top += 1
    return best
