"""The contact of two triangles that meet: axis of least overlap, normal, depth and point.

The overlap of the projections is smallest along one of the eleven separating axes; its kind says how the triangles
touch. A corner in a face gives the corner, crossing edges give the midpoint of the closest points of the segments,
parallel faces give the middle of the common polygon; where the deepest corner is not over the other triangle, the
middle of the line of intersection. The point of a contact without depth lies on both triangles. The depth is that of
the pair of triangles, not of the meshes they belong to.

All functions work on the scratch rows `w` (32, 3) filled by `prepare`; rows 12 to 29 are theirs.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ._kernels_features import on_both
from ._kernels_tritri import (
    EDGE_EDGE,
    FACE_A,
    FACE_B,
    FACE_PREFERENCE,
    FASTMATH,
    IN_PLANE,
    PARALLEL_SINE_SQ,
    dot_rows,
    has_normal,
    in_plane_axis,
    prepare,
)

SAME_DEPTH = 1e-9
"""Corners whose depths differ by less than this fraction of the triangles' size are equally deep."""


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def least_overlap(w):
    """Kind, edge of A, edge of B, sign and overlap (not normalised) of the axis with the least overlap.

    Moving B along sign * axis by the overlap parts the triangles.
    """
    kind, edge_a, edge_b, sign = FACE_A, 0, 0, 1.0
    best, best_sq = np.inf, 1.0
    aa, bb = dot_rows(w, 9, 9), dot_rows(w, 10, 10)
    d0, d1, d2 = dot_rows(w, 9, 6), dot_rows(w, 9, 7), dot_rows(w, 9, 8)
    if has_normal(w, 0):
        up, down = -min(d0, d1, d2), max(d0, d1, d2)
        sign = 1.0 if up <= down else -1.0
        best, best_sq = max(0.0, min(up, down)), aa
    p, r0, r1 = dot_rows(w, 10, 6), dot_rows(w, 10, 0), dot_rows(w, 10, 1)
    if has_normal(w, 1):
        up, down = max(0.0, r0, r1) - p, p - min(0.0, r0, r1)
        over = max(0.0, min(up, down))
        if over * over * best_sq < best * best * bb:
            kind, sign, best, best_sq = FACE_B, 1.0 if up < down else -1.0, over, bb
    keep = 1.0 - FACE_PREFERENCE
    for j in range(3):
        base = 6 if j < 2 else 7
        vv = dot_rows(w, 3 + j, 3 + j)
        wx = w[3 + j, 1] * w[base, 2] - w[3 + j, 2] * w[base, 1]
        wy = w[3 + j, 2] * w[base, 0] - w[3 + j, 0] * w[base, 2]
        wz = w[3 + j, 0] * w[base, 1] - w[3 + j, 1] * w[base, 0]
        s = d1 - d0 if j == 0 else (d2 - d0 if j == 1 else d2 - d1)
        for i in range(3):
            uu, uv = dot_rows(w, i, i), dot_rows(w, i, 3 + j)
            nn = uu * vv - uv * uv
            if not nn > PARALLEL_SINE_SQ * uu * vv:
                continue
            q = w[i, 0] * wx + w[i, 1] * wy + w[i, 2] * wz
            r = r0 if i == 0 else (r1 if i == 1 else r1 - r0)
            r = -r if j == 1 else r
            e = -s if i == 0 else s
            up = max(0.0, e) - min(q, q + r)
            down = max(q, q + r) - min(0.0, e)
            over = max(0.0, min(up, down))
            if over * over * best_sq < keep * best * best * nn:
                kind, edge_a, edge_b = EDGE_EDGE, i, j
                sign, best, best_sq = 1.0 if up <= down else -1.0, over, nn
    return kind, edge_a, edge_b, sign, best


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def axis_vector(w, kind, edge_a, edge_b):
    """The unit axis named by its kind and edges, and its length before it was made unit; 0 when it has none."""
    if kind == FACE_A:
        x, y, z = w[9, 0], w[9, 1], w[9, 2]
    elif kind == FACE_B:
        x, y, z = w[10, 0], w[10, 1], w[10, 2]
    elif kind == IN_PLANE:
        x, y, z = in_plane_axis(w, edge_a)
    else:
        j = 3 + edge_b
        x = w[edge_a, 1] * w[j, 2] - w[edge_a, 2] * w[j, 1]
        y = w[edge_a, 2] * w[j, 0] - w[edge_a, 0] * w[j, 2]
        z = w[edge_a, 0] * w[j, 1] - w[edge_a, 1] * w[j, 0]
    size = max(abs(x), abs(y), abs(z))
    if size == 0.0:
        return 0.0, 0.0, 1.0, 0.0
    x, y, z = x / size, y / size, z / size
    length = np.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length, length * size


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _crossings(w, first, d0, d1, d2, out):
    """Where the triangle w[first:first+3], at distances d from a plane, crosses it; to w[out:out+2]."""
    count = 0
    for k in range(3):
        dp = d0 if k == 0 else (d1 if k == 1 else d2)
        dq = d1 if k == 0 else (d2 if k == 1 else d0)
        if (dp <= 0.0) != (dq <= 0.0) and count < 2:
            t = dp / (dp - dq)
            p, q = first + k, first + (k + 1) % 3
            for c in range(3):
                w[out + count, c] = w[p, c] + t * (w[q, c] - w[p, c])
            count += 1
    if count < 2:
        near = first
        if abs(d1) < abs(d0) and abs(d1) <= abs(d2):
            near = first + 1
        elif abs(d2) < abs(d0):
            near = first + 2
        for c in range(3):
            w[out, c] = w[near, c]
            w[out + 1, c] = w[near, c]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def intersection_segment(w):
    """Ends of the segment two crossing triangles share, to w[12] and w[13], directed along normal A x normal B."""
    for c in range(3):
        w[14, c] = 0.0
        w[15, c] = w[0, c]
        w[16, c] = w[1, c]
    p = dot_rows(w, 10, 6)
    _crossings(w, 14, -p, dot_rows(w, 10, 0) - p, dot_rows(w, 10, 1) - p, 18)
    _crossings(w, 6, dot_rows(w, 9, 6), dot_rows(w, 9, 7), dot_rows(w, 9, 8), 20)
    w[22, 0] = w[9, 1] * w[10, 2] - w[9, 2] * w[10, 1]
    w[22, 1] = w[9, 2] * w[10, 0] - w[9, 0] * w[10, 2]
    w[22, 2] = w[9, 0] * w[10, 1] - w[9, 1] * w[10, 0]
    a0, a1, b0, b1 = dot_rows(w, 22, 18), dot_rows(w, 22, 19), dot_rows(w, 22, 20), dot_rows(w, 22, 21)
    low_a, high_a = (18, 19) if a0 <= a1 else (19, 18)
    low_b, high_b = (20, 21) if b0 <= b1 else (21, 20)
    low = low_a if min(a0, a1) >= min(b0, b1) else low_b
    high = high_a if max(a0, a1) <= max(b0, b1) else high_b
    for c in range(3):
        w[12, c] = w[low, c]
        w[13, c] = w[high, c]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _clip_polygon(w):
    """Clip B by the edges of A seen along A's normal; polygon to w[14:14+n], its number of corners returned."""
    n = 3
    for k in range(3):
        for c in range(3):
            w[14 + k, c] = w[6 + k, c]
    for k in range(3):
        edge = 0 if k == 0 else (2 if k == 1 else 1)
        flip = -1.0 if k == 2 else 1.0
        x = flip * (w[9, 1] * w[edge, 2] - w[9, 2] * w[edge, 1])
        y = flip * (w[9, 2] * w[edge, 0] - w[9, 0] * w[edge, 2])
        z = flip * (w[9, 0] * w[edge, 1] - w[9, 1] * w[edge, 0])
        off = x * w[0, 0] + y * w[0, 1] + z * w[0, 2] if k == 1 else 0.0
        kept = 0
        for i in range(n):
            p, q = 14 + i, 14 + (i + 1) % n
            dp = x * w[p, 0] + y * w[p, 1] + z * w[p, 2] - off
            dq = x * w[q, 0] + y * w[q, 1] + z * w[q, 2] - off
            if dp >= 0.0:
                for c in range(3):
                    w[22 + kept, c] = w[p, c]
                kept += 1
            if (dp >= 0.0) != (dq >= 0.0):
                t = dp / (dp - dq)
                for c in range(3):
                    w[22 + kept, c] = w[p, c] + t * (w[q, c] - w[p, c])
                kept += 1
        n = kept
        for i in range(n):
            for c in range(3):
                w[14 + i, c] = w[22 + i, c]
        if n == 0:
            return 0
    return n


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _over_face(w, x, y, z, corner, edge_u, edge_v, n):
    """Is the point over the triangle at w[corner] spanned by edges u, v with normal row n?"""
    px, py, pz = x, y, z
    if corner >= 0:
        px, py, pz = x - w[corner, 0], y - w[corner, 1], z - w[corner, 2]
    nn = dot_rows(w, n, n)
    v = w[n, 0] * (py * w[edge_v, 2] - pz * w[edge_v, 1])
    v += w[n, 1] * (pz * w[edge_v, 0] - px * w[edge_v, 2]) + w[n, 2] * (px * w[edge_v, 1] - py * w[edge_v, 0])
    u = w[n, 0] * (w[edge_u, 1] * pz - w[edge_u, 2] * py)
    u += w[n, 1] * (w[edge_u, 2] * px - w[edge_u, 0] * pz) + w[n, 2] * (w[edge_u, 0] * py - w[edge_u, 1] * px)
    slack = SAME_DEPTH * nn
    return v >= -slack and u >= -slack and u + v <= nn + slack


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def face_point(w, kind, x, y, z, depth):
    """Contact point of a face axis with unit normal (x, y, z) from A to B, relative to A's first corner."""
    side = 1.0 if kind == FACE_A else -1.0
    for c in range(3):
        w[14, c] = 0.0
        w[15, c] = w[0, c]
        w[16, c] = w[1, c]
    first = 6 if kind == FACE_A else 14
    h0 = side * (w[first, 0] * x + w[first, 1] * y + w[first, 2] * z)
    h1 = side * (w[first + 1, 0] * x + w[first + 1, 1] * y + w[first + 1, 2] * z)
    h2 = side * (w[first + 2, 0] * x + w[first + 2, 1] * y + w[first + 2, 2] * z)
    low = min(h0, h1, h2)
    size = abs(w[0, 0]) + abs(w[0, 1]) + abs(w[0, 2]) + abs(w[3, 0]) + abs(w[3, 1]) + abs(w[3, 2])
    same = low + SAME_DEPTH * (size + abs(low))
    count, px, py, pz = 0, 0.0, 0.0, 0.0
    for k in range(3):
        h = h0 if k == 0 else (h1 if k == 1 else h2)
        if h <= same:
            count += 1
            px += w[first + k, 0]
            py += w[first + k, 1]
            pz += w[first + k, 2]
    if count == 3 and has_normal(w, 0):
        corners = _clip_polygon(w)
        if corners > 0:
            px, py, pz = 0.0, 0.0, 0.0
            for k in range(corners):
                px += w[14 + k, 0]
                py += w[14 + k, 1]
                pz += w[14 + k, 2]
            return px / corners, py / corners, pz / corners
    px, py, pz = px / count, py / count, pz / count
    corner, edge, n = (-1, 0, 9) if kind == FACE_A else (6, 3, 10)
    if _over_face(w, px, py, pz, corner, edge, edge + 1, n):
        half = 0.5 * depth * side
        return px + half * x, py + half * y, pz + half * z
    intersection_segment(w)
    return 0.5 * (w[12, 0] + w[13, 0]), 0.5 * (w[12, 1] + w[13, 1]), 0.5 * (w[12, 2] + w[13, 2])


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _edge_point(w, edge_a, edge_b):
    """Midpoint of the closest points of two crossing edges, relative to A's first corner."""
    start_a = 0.0 if edge_a < 2 else 1.0
    base = 6 if edge_b < 2 else 7
    ax, ay, az = start_a * w[0, 0], start_a * w[0, 1], start_a * w[0, 2]
    j = 3 + edge_b
    rx, ry, rz = ax - w[base, 0], ay - w[base, 1], az - w[base, 2]
    uu, vv, uv = dot_rows(w, edge_a, edge_a), dot_rows(w, j, j), dot_rows(w, edge_a, j)
    ur = w[edge_a, 0] * rx + w[edge_a, 1] * ry + w[edge_a, 2] * rz
    vr = w[j, 0] * rx + w[j, 1] * ry + w[j, 2] * rz
    s = min(1.0, max(0.0, (uv * vr - ur * vv) / (uu * vv - uv * uv)))
    t = (uv * s + vr) / vv
    if t < 0.0 or t > 1.0:
        t = min(1.0, max(0.0, t))
        s = min(1.0, max(0.0, (t * uv - ur) / uu))
    return (
        0.5 * (ax + s * w[edge_a, 0] + w[base, 0] + t * w[j, 0]),
        0.5 * (ay + s * w[edge_a, 1] + w[base, 1] + t * w[j, 1]),
        0.5 * (az + s * w[edge_a, 2] + w[base, 2] + t * w[j, 2]),
    )


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def touches_only(a, ia, depth):
    """Whether a depth is nothing beside the size of triangle `ia`."""
    size = 0.0
    for c in range(3):
        size += abs(a[ia, 3 + c] - a[ia, c]) + abs(a[ia, 6 + c] - a[ia, c])
    return depth <= SAME_DEPTH * size


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def touch_point(w, x, y, z):
    """A point on both of two triangles that touch, relative to A's first corner: (x, y, z) if it is one.

    Many axes part triangles that touch, so the axis that was chosen may be one of features that are not in touch.
    """
    for c in range(3):
        w[14, c] = 0.0
        w[15, c] = w[0, c]
        w[16, c] = w[1, c]
    return on_both(w[14:17].reshape(1, 9), 0, w[6:9].reshape(1, 9), 0, x, y, z, w[12:14])


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def triangle_contact(a, ia, b, ib, w, out, row):
    """Contact of two triangles known to meet: point, normal A to B, depth to out[row, :7]; returns the kind."""
    prepare(a, ia, b, ib, w)
    kind, edge_a, edge_b, sign, over = least_overlap(w)
    x, y, z, length = axis_vector(w, kind, edge_a, edge_b)
    x, y, z = sign * x, sign * y, sign * z
    depth = over / length if length > 0.0 else 0.0
    if kind == EDGE_EDGE:
        px, py, pz = _edge_point(w, edge_a, edge_b)
    else:
        px, py, pz = face_point(w, kind, x, y, z, depth)
    if touches_only(a, ia, depth):
        px, py, pz = touch_point(w, px, py, pz)
    out[row, 0], out[row, 1], out[row, 2] = px + a[ia, 0], py + a[ia, 1], pz + a[ia, 2]
    out[row, 3], out[row, 4], out[row, 5] = x, y, z
    out[row, 6] = depth
    return kind
