"""Kernels that slide one mesh along a direction until it is free.

Two triangles overlap on one interval of translations along a direction, the intersection of what each separating
axis allows. Two surfaces overlap on the union of these intervals, and the first translation outside the union that
also leaves no part inside a closed mesh is the separating translation along the direction. Nothing is assumed to be
monotone: interlinked parts meet again further on.

The reach is found by passes over both trees that visit only nodes able to extend it, farthest first; the last pass,
which finds nothing, is the proof. Vectors are in A's frame and B moves by t times the direction.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ._kernels_batch import APART, containment
from ._kernels_contact import axis_vector
from ._kernels_query import inverse_pose, pose_triangle
from ._kernels_tritri import (
    EDGE_EDGE,
    FACE_A,
    FACE_B,
    FASTMATH,
    IN_PLANE,
    PARALLEL_SINE_SQ,
    bounds_on_axis,
    dot_rows,
    has_normal,
    in_plane_axis,
    nearly_parallel,
    prepare,
)

GAP = 2e-6
"""Metres: translations that open a gap smaller than this do not separate."""
CLOSE = 1e-12
"""Fraction of a translation by which rounding may put the end of an interval before its beginning."""
WINDOWS = 32
"""Parts of the allowed translation searched one after the other for the next meeting of the surfaces."""
ROOT = np.int64(1)
"""Row of the root of a mesh that is packed by itself."""
EMPTY = 1e300
"""Stands for no bound on a sliding interval."""
STATIC = 1e-12
"""A projection that moves slower than this fraction of the axis' length stands still."""


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _allowed(low, high, speed, size, tol):
    """Interval of t with low <= t * speed <= high; (EMPTY, -EMPTY) when there is none."""
    if abs(speed) <= STATIC * size:
        slack = tol * size
        if low > slack or high < -slack:
            return EMPTY, -EMPTY
        return -EMPTY, EMPTY
    if speed > 0.0:
        return low / speed, high / speed
    return high / speed, low / speed


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _faces_interval(w, dx, dy, dz, tol):
    """Interval allowed by the two normals: t0, t1, kind of the axis that ends it."""
    t0, t1, kind = -EMPTY, EMPTY, -1
    for side in range(2):
        n = 9 + side
        x, y, z = w[n, 0], w[n, 1], w[n, 2]
        size = abs(x) + abs(y) + abs(z)
        if not has_normal(w, side):
            continue
        low_a, high_a, low_b, high_b = bounds_on_axis(w, x, y, z)
        speed = x * dx + y * dy + z * dz
        u0, u1 = _allowed(low_a - high_b, high_a - low_b, speed, size, tol)
        t0 = max(t0, u0)
        if u1 < t1:
            t1, kind = u1, FACE_A if side == 0 else FACE_B
    return t0, t1, kind


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def slide_interval(a, ia, b, ib, dx, dy, dz, tol, after, w, axis):
    """Interval (t0, t1) of translations of B along d for which the two triangles share a point.

    Returns t0 > t1 when they never do, or when t1 <= `after` is already clear. axis[:3] receives kind, edge of A,
    edge of B of the axis that ends the interval.
    """
    prepare(a, ia, b, ib, w)
    t0, t1, kind = _faces_interval(w, dx, dy, dz, tol)
    if t0 > t1 + (16.0 * tol + CLOSE * abs(t1)) or t1 <= after:
        return 1.0, 0.0
    edge_a, edge_b = 0, 0
    d0, d1, d2 = dot_rows(w, 9, 6), dot_rows(w, 9, 7), dot_rows(w, 9, 8)
    r0, r1 = dot_rows(w, 10, 0), dot_rows(w, 10, 1)
    for j in range(3):
        base = 6 if j < 2 else 7
        f = 3 + j
        vv = dot_rows(w, f, f)
        wx = w[f, 1] * w[base, 2] - w[f, 2] * w[base, 1]
        wy = w[f, 2] * w[base, 0] - w[f, 0] * w[base, 2]
        wz = w[f, 0] * w[base, 1] - w[f, 1] * w[base, 0]
        sx = w[f, 1] * dz - w[f, 2] * dy
        sy = w[f, 2] * dx - w[f, 0] * dz
        sz = w[f, 0] * dy - w[f, 1] * dx
        s = d1 - d0 if j == 0 else (d2 - d0 if j == 1 else d2 - d1)
        for i in range(3):
            uu, uv = dot_rows(w, i, i), dot_rows(w, i, f)
            nn = uu * vv - uv * uv
            if not nn > PARALLEL_SINE_SQ * uu * vv:
                continue
            q = w[i, 0] * wx + w[i, 1] * wy + w[i, 2] * wz
            speed = w[i, 0] * sx + w[i, 1] * sy + w[i, 2] * sz
            r = r0 if i == 0 else (r1 if i == 1 else r1 - r0)
            r = -r if j == 1 else r
            e = -s if i == 0 else s
            u0, u1 = _allowed(
                min(0.0, e) - max(q, q + r), max(0.0, e) - min(q, q + r), speed, np.sqrt(uu * vv), tol
            )
            t0 = max(t0, u0)
            if u1 < t1:
                t1, kind, edge_a, edge_b = u1, EDGE_EDGE, i, j
        if t0 > t1 + (16.0 * tol + CLOSE * abs(t1)) or t1 <= after:
            return 1.0, 0.0
    if nearly_parallel(w):
        for k in range(6):
            x, y, z = in_plane_axis(w, k)
            size = abs(x) + abs(y) + abs(z)
            if size == 0.0:
                continue
            low_a, high_a, low_b, high_b = bounds_on_axis(w, x, y, z)
            u0, u1 = _allowed(low_a - high_b, high_a - low_b, x * dx + y * dy + z * dz, size, tol)
            t0 = max(t0, u0)
            if u1 < t1:
                t1, kind, edge_a = u1, IN_PLANE, k
    axis[0], axis[1], axis[2] = kind, edge_a, edge_b
    if t0 > t1 and t0 <= t1 + (16.0 * tol + CLOSE * abs(t1)):
        return t1, t1  # a moment of touch, split by rounding
    return t0, t1


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def limiting_axis(a, ia, b, ib, axis, w):
    """Unit vector of the axis that ended a sliding interval, or zero; its sign is open."""
    prepare(a, ia, b, ib, w)
    x, y, z, length = axis_vector(w, axis[0], axis[1], axis[2])
    if length == 0.0:
        return 0.0, 0.0, 0.0
    return x, y, z


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def _span(tris, i, d):
    """Lowest and highest projection of triangle `i` on d."""
    p = tris[i, 0] * d[0] + tris[i, 1] * d[1] + tris[i, 2] * d[2]
    q = tris[i, 3] * d[0] + tris[i, 4] * d[1] + tris[i, 5] * d[2]
    r = tris[i, 6] * d[0] + tris[i, 7] * d[1] + tris[i, 8] * d[2]
    return min(p, q, r), max(p, q, r)


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _slide_leaf(na, ta, ia, nb, tb, ib, rel, d, low, high, first, work):
    """Treat the triangle pairs of a leaf pair: the new (low, high) as `slide_pass` describes them."""
    tol, _, scratch, w, axis, limit = work
    first_a, first_b = int(na[ia, 6]), int(nb[ib, 6])
    for j in range(first_b, first_b + int(nb[ib, 7])):
        pose_triangle(tb, j, rel, scratch, 0)
        rear, _ = _span(scratch, 0, d)
        for i in range(first_a, first_a + int(na[ia, 7])):
            _, front = _span(ta, i, d)
            if front - rear <= low:  # B has passed A by then
                continue
            t0, t1 = slide_interval(ta, i, scratch, 0, d[0], d[1], d[2], tol, low, w, axis)
            if t0 > t1:
                continue
            if first > 0:
                if not (t0 > low and t0 < high):
                    continue
                high = t0
            else:
                if not (t1 > low and t0 <= low + GAP):
                    continue
                low = t1
            limit[0], limit[1] = i, j
            limit[2], limit[3], limit[4] = axis[0], axis[1], axis[2]
    return low, high


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, inline="always")
def _open_node(opened, child, fixed, j, f, tol):
    """Test the two children at rows `child`, `child + 1` of `opened` against node `j` of `fixed`.

    `f` maps coordinates of `fixed` into the frame of `opened`. Returns for each child whether it may touch the node.
    """
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]
    x, y, z = fixed[j, 0], fixed[j, 1], fixed[j, 2]
    bx = r00 * x + r01 * y + r02 * z + f[9]
    by = r10 * x + r11 * y + r12 * z + f[10]
    bz = r20 * x + r21 * y + r22 * z + f[11]
    hx, hy, hz = fixed[j, 3] + tol, fixed[j, 4] + tol, fixed[j, 5] + tol
    ex = abs(r00) * hx + abs(r01) * hy + abs(r02) * hz
    ey = abs(r10) * hx + abs(r11) * hy + abs(r12) * hz
    ez = abs(r20) * hx + abs(r21) * hy + abs(r22) * hz
    u, v, q = fixed[j, 8], fixed[j, 9], fixed[j, 10]
    mx, my, mz = r00 * u + r01 * v + r02 * q, r10 * u + r11 * v + r12 * q, r20 * u + r21 * v + r22 * q
    m0 = mx * f[9] + my * f[10] + mz * f[11] + fixed[j, 11]
    thick = fixed[j, 12] + tol
    hit0 = False
    hit = False
    for k in range(2):
        c = child + k
        dx, dy, dz = bx - opened[c, 0], by - opened[c, 1], bz - opened[c, 2]
        gx, gy, gz = opened[c, 3], opened[c, 4], opened[c, 5]
        gap = max(abs(dx) - ex - gx, abs(dy) - ey - gy, abs(dz) - ez - gz)
        gap = max(
            gap, abs(r00 * dx + r10 * dy + r20 * dz) - hx - abs(r00) * gx - abs(r10) * gy - abs(r20) * gz
        )
        gap = max(
            gap, abs(r01 * dx + r11 * dy + r21 * dz) - hy - abs(r01) * gx - abs(r11) * gy - abs(r21) * gz
        )
        gap = max(
            gap, abs(r02 * dx + r12 * dy + r22 * dz) - hz - abs(r02) * gx - abs(r12) * gy - abs(r22) * gz
        )
        off = mx * opened[c, 0] + my * opened[c, 1] + mz * opened[c, 2] - m0
        gap = max(gap, abs(off) - thick - abs(mx) * gx - abs(my) * gy - abs(mz) * gz)
        x, y, z = opened[c, 8], opened[c, 9], opened[c, 10]
        off = x * bx + y * by + z * bz - opened[c, 11]
        reach = abs(x * r00 + y * r10 + z * r20) * hx + abs(x * r01 + y * r11 + z * r21) * hy
        gap = max(gap, abs(off) - opened[c, 12] - tol - reach - abs(x * r02 + y * r12 + z * r22) * hz)
        hit = gap <= 0.0
        if k == 0:
            hit0 = hit
    return hit0, hit


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def slide_pass(na, ta, nb, tb, rel, inv, d, low, high, first, work):
    """One pass over both trees.

    With `first` 0: extends `low` to the end of every interval that begins before low + GAP and ends after it; stops
    at `high`. Returns the new low; limit[:5] names the pair (triangle, triangle) and the axis that set it.
    With `first` 1: the earliest beginning of an interval in (low, high), or `high`.

    Nodes are tested where B is in the middle of the window of translations asked for, with half its length as margin.
    """
    tol, stack, _, _, _, _ = work
    dx, dy, dz = d[0], d[1], d[2]
    bx = inv[0] * dx + inv[1] * dy + inv[2] * dz
    by = inv[3] * dx + inv[4] * dy + inv[5] * dz
    bz = inv[6] * dx + inv[7] * dy + inv[8] * dz
    stack[0] = (ROOT << 32) | ROOT
    top = 1
    while top > 0:
        top -= 1
        code = stack[top]
        ia = code >> 32
        ib = code & 0xFFFFFFFF
        count_a = int(na[ia, 7])
        count_b = int(nb[ib, 7])
        if count_a > 0 and count_b > 0:
            low, high = _slide_leaf(na, ta, ia, nb, tb, ib, rel, d, low, high, first, work)
            if low >= high:
                return low
            continue
        size_a = na[ia, 3] + na[ia, 4] + na[ia, 5]
        size_b = nb[ib, 3] + nb[ib, 4] + nb[ib, 5]
        margin = 0.5 * (high - low) if first > 0 else 0.5 * GAP
        t = low + margin
        open_a = count_b > 0 or (count_a == 0 and size_a >= size_b)
        if open_a:
            child = int(na[ia, 6])
            x, y, z = rel[9] + t * dx, rel[10] + t * dy, rel[11] + t * dz
            f = (rel[0], rel[1], rel[2], rel[3], rel[4], rel[5], rel[6], rel[7], rel[8], x, y, z)
            keep0, keep1 = _open_node(na, child, nb, ib, f, tol + margin)
            code0 = (child << 32) | ib
            code1 = ((child + 1) << 32) | ib
            ahead = (na[child, 0] - na[child + 1, 0]) * dx + (na[child, 1] - na[child + 1, 1]) * dy
            ahead += (na[child, 2] - na[child + 1, 2]) * dz
        else:
            child = int(nb[ib, 6])
            x, y, z = inv[9] - t * bx, inv[10] - t * by, inv[11] - t * bz
            f = (inv[0], inv[1], inv[2], inv[3], inv[4], inv[5], inv[6], inv[7], inv[8], x, y, z)
            keep0, keep1 = _open_node(nb, child, na, ia, f, tol + margin)
            code0 = (ia << 32) | child
            code1 = (ia << 32) | (child + 1)
            ahead = (nb[child + 1, 0] - nb[child, 0]) * bx + (nb[child + 1, 1] - nb[child, 1]) * by
            ahead += (nb[child + 1, 2] - nb[child, 2]) * bz
        # The child that B leaves last is visited first; the one it meets first when the earliest meeting is asked.
        if (ahead > 0.0) != (first > 0):
            code0, code1 = code1, code0
            keep0, keep1 = keep1, keep0
        if keep0:
            stack[top] = code0
            top += 1
        if keep1:
            stack[top] = code1
            top += 1
    return high if first > 0 else low


@njit(cache=True, error_model="numpy")
def separation(na, ta, nb, tb, rel, inv, d, begin, ceiling, contain, work):
    """First separating translation of B along the unit vector d; some value >= `ceiling` when it is not below.

    The meshes are known not to be apart up to the translation `begin`.
    `work` is (touch tolerance, stack, scratch (2, 9), scratch rows (32, 3), axis (3,), limit (5,)); `limit` receives
    the pair of triangles that let go last and its axis, limit[0] is -1 when there is none.
    """
    _, stack, _, _, _, limit = work
    reach = begin
    limit[0] = -1
    moved, back = np.empty(12), np.empty(12)
    extend, earliest = np.int64(0), np.int64(1)
    while True:
        while True:
            before = reach
            reach = slide_pass(na, ta, nb, tb, rel, inv, d, reach, ceiling, extend, work)
            if reach >= ceiling:
                return reach
            if reach == before:
                break
        if not contain:
            return reach
        for c in range(9):
            moved[c] = rel[c]
        for c in range(3):
            moved[9 + c] = rel[9 + c] + (reach + 0.5 * GAP) * d[c]
        inverse_pose(moved, back)
        if containment(na, ta, ROOT, nb, tb, ROOT, moved, back, stack) == APART:
            return reach
        low, window = reach, ceiling / WINDOWS
        while True:
            end = min(ceiling, low + window)
            nxt = slide_pass(na, ta, nb, tb, rel, inv, d, low, end, earliest, work)
            if nxt < end:
                break
            if end >= ceiling:
                return ceiling
            low = end
        reach = nxt
