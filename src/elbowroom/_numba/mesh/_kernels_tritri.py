"""Triangle against triangle by separating axes: do they meet, and the projections that contacts and sweeps need.

Eleven axes decide for triangles in general position (two normals, nine edge crosses); near-parallel planes also
need the in-plane normals of the six edges. All edge-cross projections come from u . (v x b), so no axis is formed
until one is reported. Separation is claimed only beyond the rounding error of the projections: a pair said to be
apart is apart, and touching pairs count as meeting.

Triangles are rows of nine numbers; both are in the same frame. `tol` is a length: gaps below it are contact.
"""

# pyright: basic
from __future__ import annotations

from ..._jit import njit

FASTMATH = {"contract", "reassoc", "arcp", "nsz"}
"""Freedom for the compiler that keeps infinities and NaN meaningful."""
COPLANAR_COSINE = 1e-6
"""Planes whose normals' cosine is this close to 1 are treated as parallel."""
ROUNDING = 1e-15
"""Error of a normal against the product of its edges' lengths: some roundings of a float64."""
NO_NORMAL_SQ = 1e-26
"""A squared normal below this fraction of its edges' squared lengths is noise: the triangle is a segment or a point."""


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def dot(u, v):
    """Inner product of two vectors, tuples of three."""
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def cross(u, v):
    """Cross product of two vectors."""
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def minus(u, v):
    """Difference of two vectors."""
    return u[0] - v[0], u[1] - v[1], u[2] - v[2]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def size_of(u):
    """Sum of the absolute values of a vector."""
    return abs(u[0]) + abs(u[1]) + abs(u[2])


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def face_slack(n, size, tol):
    """How far projections on a triangle's normal must be apart; `size` is that of its edges 0 and 1 together."""
    return tol * size_of(n) + ROUNDING * size * size * size


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def edge_volumes(e0, e1, e2, f, b):
    """e . (f x b) for the three edges of A: projections of the corner `b` of B on their crosses with B's edge `f`."""
    w = cross(f, b)
    return dot(e0, w), dot(e1, w), dot(e2, w)


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def fill_normals(w):
    """Rows 9 and 10 of the scratch rows `w` from the edges in rows 0, 1 and 3, 4."""
    for side in range(2):
        p = 3 * side
        w[9 + side, 0] = w[p, 1] * w[p + 1, 2] - w[p, 2] * w[p + 1, 1]
        w[9 + side, 1] = w[p, 2] * w[p + 1, 0] - w[p, 0] * w[p + 1, 2]
        w[9 + side, 2] = w[p, 0] * w[p + 1, 1] - w[p, 1] * w[p + 1, 0]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def prepare(a, ia, b, ib, w):
    """Fill the scratch row set `w` (12, 3) for the pair: everything relative to A's first corner.

    Rows: 0-2 edges of A, 3-5 edges of B, 6-8 corners of B, 9 normal of A, 10 normal of B. Edge 0 is corner 0 to 1,
    edge 1 is 0 to 2, edge 2 is 1 to 2.
    """
    for k in range(3):
        a0 = a[ia, k]
        w[0, k] = a[ia, k + 3] - a0
        w[1, k] = a[ia, k + 6] - a0
        w[2, k] = a[ia, k + 6] - a[ia, k + 3]
        w[3, k] = b[ib, k + 3] - b[ib, k]
        w[4, k] = b[ib, k + 6] - b[ib, k]
        w[5, k] = b[ib, k + 6] - b[ib, k + 3]
        w[6, k] = b[ib, k] - a0
        w[7, k] = b[ib, k + 3] - a0
        w[8, k] = b[ib, k + 6] - a0
    fill_normals(w)


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def dot_rows(w, i, j):
    """Inner product of two scratch rows."""
    return w[i, 0] * w[j, 0] + w[i, 1] * w[j, 1] + w[i, 2] * w[j, 2]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def in_plane_axis(w, k):
    """In-plane normal of edge `k` (0-2 of A, 3-5 of B) with respect to the larger of the two normals."""
    n = 9 if dot_rows(w, 9, 9) >= dot_rows(w, 10, 10) else 10
    return (
        w[n, 1] * w[k, 2] - w[n, 2] * w[k, 1],
        w[n, 2] * w[k, 0] - w[n, 0] * w[k, 2],
        w[n, 0] * w[k, 1] - w[n, 1] * w[k, 0],
    )


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def bounds_on_axis(w, x, y, z):
    """Projections of both triangles of the prepared pair on an axis: (low A, high A, low B, high B)."""
    a1 = w[0, 0] * x + w[0, 1] * y + w[0, 2] * z
    a2 = w[1, 0] * x + w[1, 1] * y + w[1, 2] * z
    b0 = w[6, 0] * x + w[6, 1] * y + w[6, 2] * z
    b1 = w[7, 0] * x + w[7, 1] * y + w[7, 2] * z
    b2 = w[8, 0] * x + w[8, 1] * y + w[8, 2] * z
    return min(0.0, a1, a2), max(0.0, a1, a2), min(b0, b1, b2), max(b0, b1, b2)


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _split_in_plane(w, tol):
    """Does an in-plane edge normal of the prepared, near-parallel pair separate it?"""
    for k in range(6):
        x, y, z = in_plane_axis(w, k)
        low_a, high_a, low_b, high_b = bounds_on_axis(w, x, y, z)
        slack = tol * (abs(x) + abs(y) + abs(z))
        if low_b - high_a > slack or low_a - high_b > slack:
            return True
    return False


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _edges_apart(q, s, r0, r1, r2, tol):
    """Is an edge of B separated by its crosses with the three edges of A?

    With f the edge of B, q are e_i . (f x b), s is f . normal A, r are e_i . normal B with the edge's sign.
    """
    q0, q1, q2 = q
    low, high = min(0.0, -s), max(0.0, -s)
    if min(q0, q0 + r0) - high > tol or low - max(q0, q0 + r0) > tol:
        return True
    low, high = min(0.0, s), max(0.0, s)
    if min(q1, q1 + r1) - high > tol or low - max(q1, q1 + r1) > tol:
        return True
    return min(q2, q2 + r2) - high > tol or low - max(q2, q2 + r2) > tol


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def triangles_meet(a, ia, b, ib, tol, w):
    """Do triangle `ia` of `a` and triangle `ib` of `b` share a point (touching within `tol` counts)?

    `w` is scratch, used by near-parallel planes only.
    """
    a0 = (a[ia, 0], a[ia, 1], a[ia, 2])
    e0 = minus((a[ia, 3], a[ia, 4], a[ia, 5]), a0)
    e1 = minus((a[ia, 6], a[ia, 7], a[ia, 8]), a0)
    b0 = minus((b[ib, 0], b[ib, 1], b[ib, 2]), a0)
    b1 = minus((b[ib, 3], b[ib, 4], b[ib, 5]), a0)
    b2 = minus((b[ib, 6], b[ib, 7], b[ib, 8]), a0)
    n = cross(e0, e1)
    d0, d1, d2 = dot(n, b0), dot(n, b1), dot(n, b2)
    size_a = size_of(e0) + size_of(e1)
    slack = face_slack(n, size_a, tol)
    if min(d0, d1, d2) > slack or max(d0, d1, d2) < -slack:
        return False
    f0, f1 = minus(b1, b0), minus(b2, b0)
    m = cross(f0, f1)
    p, r0, r1 = dot(m, b0), dot(e0, m), dot(e1, m)
    size_b = size_of(f0) + size_of(f1)
    slack = face_slack(m, size_b, tol)
    if p - max(0.0, r0, r1) > slack or min(0.0, r0, r1) - p > slack:
        return False
    e2, f2 = minus(e1, e0), minus(b2, b1)
    r2 = r1 - r0
    slack = tol * size_a * size_b
    if _edges_apart(edge_volumes(e0, e1, e2, f0, b0), d1 - d0, r0, r1, r2, slack):
        return False
    if _edges_apart(edge_volumes(e0, e1, e2, f1, b0), d2 - d0, -r0, -r1, -r2, slack):
        return False
    if _edges_apart(edge_volumes(e0, e1, e2, f2, b1), d2 - d1, r0, r1, r2, slack):
        return False
    nm, nn, mm = dot(n, m), dot(n, n), dot(m, m)
    flat = nn <= NO_NORMAL_SQ * size_a**4 or mm <= NO_NORMAL_SQ * size_b**4
    if not flat and nm * nm < (1.0 - 2.0 * COPLANAR_COSINE) * nn * mm:
        return True
    prepare(a, ia, b, ib, w)
    return not _split_in_plane(w, tol)
