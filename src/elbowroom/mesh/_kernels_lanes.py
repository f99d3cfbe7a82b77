"""Many pairs of triangles at once: the tests of `_kernels_tritri` and `_kernels_contact`, lane by lane.

Pairs are copied field by field into a batch, so that the loop over its lanes has no branches and becomes vector
instructions. The formulas are those of `triangles_meet` and `least_overlap`, axis for axis; near-parallel pairs are
marked and left to the scalar test. Offsets are unsigned and the number of lanes is read at run time: else the loops
are unrolled instead of vectorised.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ._kernels_tritri import (
    COPLANAR_COSINE,
    FACE_A,
    FACE_B,
    FACE_PREFERENCE,
    FASTMATH,
    NO_NORMAL_SQ,
    PARALLEL_SINE_SQ,
    cross,
    dot,
    edge_volumes,
    face_slack,
    fill_normals,
    minus,
    size_of,
)

BATCH = 64
"""Pairs in a batch: 18 fields of them stay in the first-level cache."""
F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15, F16, F17 = (
    np.uint64(BATCH * k) for k in range(1, 18)
)
"""Offsets of the fields: edges of A (6), corners of B (9), all relative to A's first corner; see `load_pairs`."""
LOADED = 18
"""Fields of a batch of pairs."""
SEPARATE, MEET, ASK = 0.0, 1.0, 2.0
"""What `test_lanes` says of a pair; ASK is for near-parallel planes that no other axis separates."""


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def whole_lanes(n):
    """`n` rounded up to eights: working on lanes without a pair is cheaper than a remainder one by one."""
    return (n + 7) & ~7


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def load_pairs(ta, tb, found, begin, n, pairs):
    """Copy the corners of the pairs found[begin : begin + n] (A's row << 32 | B's) into the lanes of `pairs`."""
    for k in range(n):
        code = found[begin + k]
        i = np.uint64(code >> 32)
        j = np.uint64(code & 0xFFFFFFFF)
        lane = np.uint64(k)
        for c in range(9):
            pairs[lane + np.uint64(BATCH * c)] = ta[i, c]
            pairs[lane + np.uint64(BATCH * (c + 9))] = tb[j, c]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def pose_lanes(p, rel, lanes):
    """Turn loaded corners into A's edges from its first corner, and B's corners in A's frame relative to it.

    Fields: 0-2 first corner of A, 3-8 its edges to the others, 9-17 corners of B.
    """
    r00, r01, r02, r10, r11, r12 = rel[0], rel[1], rel[2], rel[3], rel[4], rel[5]
    r20, r21, r22, tx, ty, tz = rel[6], rel[7], rel[8], rel[9], rel[10], rel[11]
    for k in range(np.uint64(lanes.shape[0])):
        ax, ay, az = p[k], p[F1 + k], p[F2 + k]
        p[F3 + k] -= ax
        p[F4 + k] -= ay
        p[F5 + k] -= az
        p[F6 + k] -= ax
        p[F7 + k] -= ay
        p[F8 + k] -= az
        dx, dy, dz = tx - ax, ty - ay, tz - az
        x, y, z = p[F9 + k], p[F10 + k], p[F11 + k]
        p[F9 + k] = r00 * x + r01 * y + r02 * z + dx
        p[F10 + k] = r10 * x + r11 * y + r12 * z + dy
        p[F11 + k] = r20 * x + r21 * y + r22 * z + dz
        x, y, z = p[F12 + k], p[F13 + k], p[F14 + k]
        p[F12 + k] = r00 * x + r01 * y + r02 * z + dx
        p[F13 + k] = r10 * x + r11 * y + r12 * z + dy
        p[F14 + k] = r20 * x + r21 * y + r22 * z + dz
        x, y, z = p[F15 + k], p[F16 + k], p[F17 + k]
        p[F15 + k] = r00 * x + r01 * y + r02 * z + dx
        p[F16 + k] = r10 * x + r11 * y + r12 * z + dy
        p[F17 + k] = r20 * x + r21 * y + r22 * z + dz


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def _apart(q, r, s):
    """How far the cross of two edges separates: q, q + r are B's projections, 0 and s those of A."""
    return max(min(q, q + r) - max(0.0, s), min(0.0, s) - max(q, q + r))


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def _edges_gap(q, s, r0, r1, r2):
    """How far an edge of B is separated by its crosses with the three edges of A; arguments as in `_edges_apart`."""
    return max(max(_apart(q[0], r0, -s), _apart(q[1], r1, s)), _apart(q[2], r2, s))


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def _posed(p, k):
    """Edges 0 and 1 of A and corners of B in a lane of a posed batch, relative to A's first corner."""
    e0, e1 = (p[F3 + k], p[F4 + k], p[F5 + k]), (p[F6 + k], p[F7 + k], p[F8 + k])
    b0, b1 = (p[F9 + k], p[F10 + k], p[F11 + k]), (p[F12 + k], p[F13 + k], p[F14 + k])
    return e0, e1, b0, b1, (p[F15 + k], p[F16 + k], p[F17 + k])


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def test_lanes(p, tol, out):
    """Do the posed pairs of a batch meet? SEPARATE, MEET or ASK to `out`, whose length is the number of lanes."""
    for k in range(np.uint64(out.shape[0])):
        e0, e1, b0, b1, b2 = _posed(p, k)
        n = cross(e0, e1)
        d0, d1, d2 = dot(n, b0), dot(n, b1), dot(n, b2)
        size_a = size_of(e0) + size_of(e1)
        gap_a = max(min(min(d0, d1), d2), -max(max(d0, d1), d2)) - face_slack(n, size_a, tol)
        f0, f1 = minus(b1, b0), minus(b2, b0)
        m = cross(f0, f1)
        b, r0, r1 = dot(m, b0), dot(e0, m), dot(e1, m)
        size_b = size_of(f0) + size_of(f1)
        gap_b = max(b - max(max(0.0, r0), r1), min(min(0.0, r0), r1) - b) - face_slack(m, size_b, tol)
        e2, f2 = minus(e1, e0), minus(b2, b1)
        r2 = r1 - r0
        gap = _edges_gap(edge_volumes(e0, e1, e2, f0, b0), d1 - d0, r0, r1, r2)
        gap = max(gap, _edges_gap(edge_volumes(e0, e1, e2, f1, b0), d2 - d0, -r0, -r1, -r2))
        gap = max(gap, _edges_gap(edge_volumes(e0, e1, e2, f2, b1), d2 - d1, r0, r1, r2))
        gap = max(max(gap_a, gap_b), gap - tol * size_a * size_b)
        nm, nn, mm = dot(n, m), dot(n, n), dot(m, m)
        a4, b4 = size_a * size_a, size_b * size_b
        # Positive when both planes are well defined and not parallel.
        clear = min(nn - NO_NORMAL_SQ * a4 * a4, mm - NO_NORMAL_SQ * b4 * b4)
        clear = min(clear, (1.0 - 2.0 * COPLANAR_COSINE) * nn * mm - nm * nm)
        answer = MEET if clear > 0.0 else ASK
        out[k] = SEPARATE if gap > 0.0 else answer


@njit(cache=True, error_model="numpy")
def pack_hits(pairs, k, hits, h):
    """Copy lane `k` of the posed batch `pairs` to lane `h` of `hits`."""
    source, target = np.uint64(k), np.uint64(h)
    for c in range(LOADED):
        hits[target + np.uint64(BATCH * c)] = pairs[source + np.uint64(BATCH * c)]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def _better(q, r, e, uu_vv, uv, code, best, best_sq, best_code, best_sign):
    """One edge-cross axis of `least_overlap`: the best so far, or this one."""
    up = max(0.0, e) - min(q, q + r)
    down = max(q, q + r) - min(0.0, e)
    over = max(0.0, min(up, down))
    nn = uu_vv - uv * uv
    bar = (1.0 - FACE_PREFERENCE) * best * best * nn if nn > PARALLEL_SINE_SQ * uu_vv else -1.0
    wins = over * over * best_sq < bar
    sign = 1.0 if up <= down else -1.0
    return (
        over if wins else best,
        nn if wins else best_sq,
        code if wins else best_code,
        sign if wins else best_sign,
    )


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def overlap_lanes(p, out, lanes):
    """Axis of least overlap of pairs that meet, as `least_overlap`: code, sign, overlap, squared length of the axis.

    A code is kind + 4 * edge of A + 16 * edge of B. The overlap of a pair that an axis separates is 0.
    """
    for k in range(np.uint64(lanes.shape[0])):
        e0x, e0y, e0z, e1x, e1y, e1z = p[F3 + k], p[F4 + k], p[F5 + k], p[F6 + k], p[F7 + k], p[F8 + k]
        b0x, b0y, b0z, b1x, b1y, b1z = p[F9 + k], p[F10 + k], p[F11 + k], p[F12 + k], p[F13 + k], p[F14 + k]
        b2x, b2y, b2z = p[F15 + k], p[F16 + k], p[F17 + k]
        nx, ny, nz = e0y * e1z - e0z * e1y, e0z * e1x - e0x * e1z, e0x * e1y - e0y * e1x
        d0 = nx * b0x + ny * b0y + nz * b0z
        d1 = nx * b1x + ny * b1y + nz * b1z
        d2 = nx * b2x + ny * b2y + nz * b2z
        f0x, f0y, f0z = b1x - b0x, b1y - b0y, b1z - b0z
        f1x, f1y, f1z = b2x - b0x, b2y - b0y, b2z - b0z
        mx, my, mz = f0y * f1z - f0z * f1y, f0z * f1x - f0x * f1z, f0x * f1y - f0y * f1x
        aa, bb = nx * nx + ny * ny + nz * nz, mx * mx + my * my + mz * mz
        size_a = abs(e0x) + abs(e0y) + abs(e0z) + abs(e1x) + abs(e1y) + abs(e1z)
        size_b = abs(f0x) + abs(f0y) + abs(f0z) + abs(f1x) + abs(f1y) + abs(f1z)
        size_a, size_b = size_a * size_a, size_b * size_b
        up, down = -min(min(d0, d1), d2), max(max(d0, d1), d2)
        flat = aa <= NO_NORMAL_SQ * size_a * size_a
        best = np.inf if flat else max(0.0, min(up, down))
        sq = 1.0 if flat else aa
        sign = 1.0 if up <= down else -1.0
        sign = 1.0 if flat else sign
        code = float(FACE_A)
        b = mx * b0x + my * b0y + mz * b0z
        r0 = e0x * mx + e0y * my + e0z * mz
        r1 = e1x * mx + e1y * my + e1z * mz
        up, down = max(max(0.0, r0), r1) - b, b - min(min(0.0, r0), r1)
        over = max(0.0, min(up, down))
        bar = best * best * bb if bb > NO_NORMAL_SQ * size_b * size_b else -1.0
        wins = over * over * sq < bar
        other = 1.0 if up < down else -1.0
        best, sq, sign = over if wins else best, bb if wins else sq, other if wins else sign
        code = float(FACE_B) if wins else code
        e2x, e2y, e2z = e1x - e0x, e1y - e0y, e1z - e0z
        uu0, uu1 = e0x * e0x + e0y * e0y + e0z * e0z, e1x * e1x + e1y * e1y + e1z * e1z
        uu2 = e2x * e2x + e2y * e2y + e2z * e2z
        r2 = r1 - r0
        vv, s = f0x * f0x + f0y * f0y + f0z * f0z, d1 - d0
        wx, wy, wz = f0y * b0z - f0z * b0y, f0z * b0x - f0x * b0z, f0x * b0y - f0y * b0x
        uv, q = e0x * f0x + e0y * f0y + e0z * f0z, e0x * wx + e0y * wy + e0z * wz
        best, sq, code, sign = _better(q, r0, -s, uu0 * vv, uv, 2.0, best, sq, code, sign)
        uv, q = e1x * f0x + e1y * f0y + e1z * f0z, e1x * wx + e1y * wy + e1z * wz
        best, sq, code, sign = _better(q, r1, s, uu1 * vv, uv, 6.0, best, sq, code, sign)
        uv, q = e2x * f0x + e2y * f0y + e2z * f0z, e2x * wx + e2y * wy + e2z * wz
        best, sq, code, sign = _better(q, r2, s, uu2 * vv, uv, 10.0, best, sq, code, sign)
        vv, s = f1x * f1x + f1y * f1y + f1z * f1z, d2 - d0
        wx, wy, wz = f1y * b0z - f1z * b0y, f1z * b0x - f1x * b0z, f1x * b0y - f1y * b0x
        uv, q = e0x * f1x + e0y * f1y + e0z * f1z, e0x * wx + e0y * wy + e0z * wz
        best, sq, code, sign = _better(q, -r0, -s, uu0 * vv, uv, 18.0, best, sq, code, sign)
        uv, q = e1x * f1x + e1y * f1y + e1z * f1z, e1x * wx + e1y * wy + e1z * wz
        best, sq, code, sign = _better(q, -r1, s, uu1 * vv, uv, 22.0, best, sq, code, sign)
        uv, q = e2x * f1x + e2y * f1y + e2z * f1z, e2x * wx + e2y * wy + e2z * wz
        best, sq, code, sign = _better(q, -r2, s, uu2 * vv, uv, 26.0, best, sq, code, sign)
        f2x, f2y, f2z = b2x - b1x, b2y - b1y, b2z - b1z
        vv, s = f2x * f2x + f2y * f2y + f2z * f2z, d2 - d1
        wx, wy, wz = f2y * b1z - f2z * b1y, f2z * b1x - f2x * b1z, f2x * b1y - f2y * b1x
        uv, q = e0x * f2x + e0y * f2y + e0z * f2z, e0x * wx + e0y * wy + e0z * wz
        best, sq, code, sign = _better(q, r0, -s, uu0 * vv, uv, 34.0, best, sq, code, sign)
        uv, q = e1x * f2x + e1y * f2y + e1z * f2z, e1x * wx + e1y * wy + e1z * wz
        best, sq, code, sign = _better(q, r1, s, uu1 * vv, uv, 38.0, best, sq, code, sign)
        uv, q = e2x * f2x + e2y * f2y + e2z * f2z, e2x * wx + e2y * wy + e2z * wz
        best, sq, code, sign = _better(q, r2, s, uu2 * vv, uv, 42.0, best, sq, code, sign)
        out[k] = code
        out[F1 + k] = sign
        out[F2 + k] = best
        out[F3 + k] = sq


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def axis_lanes(p, out, lanes):
    """After `overlap_lanes`: unit normal (fields 3-5), depth (6) and, for edge axes, the point (7-9) from A's corner.

    The formulas of `axis_vector` and of the closest points of two edges.
    """
    for k in range(np.uint64(lanes.shape[0])):
        e0x, e0y, e0z, e1x, e1y, e1z = p[F3 + k], p[F4 + k], p[F5 + k], p[F6 + k], p[F7 + k], p[F8 + k]
        b0x, b0y, b0z, b1x, b1y, b1z = p[F9 + k], p[F10 + k], p[F11 + k], p[F12 + k], p[F13 + k], p[F14 + k]
        b2x, b2y, b2z = p[F15 + k], p[F16 + k], p[F17 + k]
        code, sign, over = out[k], out[F1 + k], out[F2 + k]
        j = 2.0 if code >= 32.0 else (1.0 if code >= 16.0 else 0.0)
        rest = code - 16.0 * j
        i = 2.0 if rest >= 8.0 else (1.0 if rest >= 4.0 else 0.0)
        kind = rest - 4.0 * i
        ax, ay, az = e0x if i > 1.0 else 0.0, e0y if i > 1.0 else 0.0, e0z if i > 1.0 else 0.0
        ux, uy, uz = e1x if i > 0.0 else e0x, e1y if i > 0.0 else e0y, e1z if i > 0.0 else e0z
        ux, uy, uz = ux - ax, uy - ay, uz - az
        bx, by, bz = b1x if j > 1.0 else b0x, b1y if j > 1.0 else b0y, b1z if j > 1.0 else b0z
        vx, vy, vz = b2x if j > 0.0 else b1x, b2y if j > 0.0 else b1y, b2z if j > 0.0 else b1z
        vx, vy, vz = vx - bx, vy - by, vz - bz
        # The normal of A is the cross of its edges, that of B of its own: choose the factors.
        qx, qy, qz = e1x if kind < 1.0 else vx, e1y if kind < 1.0 else vy, e1z if kind < 1.0 else vz
        gx, gy, gz = b1x - b0x, b1y - b0y, b1z - b0z
        fx, fy, fz = gx if kind == 1.0 else ux, gy if kind == 1.0 else uy, gz if kind == 1.0 else uz
        gx, gy, gz = b2x - b0x, b2y - b0y, b2z - b0z
        qx, qy, qz = gx if kind == 1.0 else qx, gy if kind == 1.0 else qy, gz if kind == 1.0 else qz
        x, y, z = fy * qz - fz * qy, fz * qx - fx * qz, fx * qy - fy * qx
        size = max(max(abs(x), abs(y)), abs(z))
        none = size == 0.0
        z = 1.0 if none else z
        scale = 1.0 if none else size
        x, y, z = x / scale, y / scale, z / scale
        length = np.sqrt(x * x + y * y + z * z)
        turn = sign / length
        out[F3 + k], out[F4 + k], out[F5 + k] = x * turn, y * turn, z * turn
        out[F6 + k] = 0.0 if none else over / (length * scale)
        uu, vv, uv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, ux * vx + uy * vy + uz * vz
        rx, ry, rz = ax - bx, ay - by, az - bz
        ur, vr = ux * rx + uy * ry + uz * rz, vx * rx + vy * ry + vz * rz
        s = min(1.0, max(0.0, (uv * vr - ur * vv) / (uu * vv - uv * uv)))
        t = (uv * s + vr) / vv
        inside = min(1.0, max(0.0, t))
        again = min(1.0, max(0.0, (inside * uv - ur) / uu))
        s = s if t == inside else again
        out[F7 + k] = 0.5 * (ax + s * ux + bx + inside * vx)
        out[F8 + k] = 0.5 * (ay + s * uy + by + inside * vy)
        out[F9 + k] = 0.5 * (az + s * uz + bz + inside * vz)


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def unpack(p, h, w):
    """Fill the scratch rows `w` from lane `h` of a posed batch, as `prepare` does."""
    for c in range(3):
        w[0, c] = p[BATCH * (3 + c) + h]
        w[1, c] = p[BATCH * (6 + c) + h]
        w[2, c] = w[1, c] - w[0, c]
        w[6, c] = p[BATCH * (9 + c) + h]
        w[7, c] = p[BATCH * (12 + c) + h]
        w[8, c] = p[BATCH * (15 + c) + h]
        w[3, c] = w[7, c] - w[6, c]
        w[4, c] = w[8, c] - w[6, c]
        w[5, c] = w[8, c] - w[7, c]
    fill_normals(w)
