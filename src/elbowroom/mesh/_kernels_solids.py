"""Signed distance of two convex solids that are known by their farthest points along directions.

Gilbert, Johnson and Keerthi's algorithm for solids apart, the expanding polytope of van den Bergen for those that
overlap, both on the difference C of the solids (points of A minus points of B), which holds the origin when they
overlap. The polytope is grown inside C from any tetrahedron of its points, always over the face nearest to the origin,
faces that leave the origin outside first: no simplex around the origin is needed to begin with.

Guaranteed: for solids apart the distance is that of two of their points; for those that overlap, B moved by the depth
along the normal is apart. Both are within `CONVERGED` of the truth where the iteration ends by itself.

A solid is a kind, a size (3,) and points (n, 3): the hull of `points` for POINTS, a cylinder about z of radius size[0]
and half length size[1], an ellipsoid of semi-axes `size`. Results are in the frame of A; `rel` is the pose of B in it.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ._kernels_gjk import origin_inside, reduce_simplex

POINTS, CYLINDER, ELLIPSOID = 0, 1, 2
"""Kinds of solids."""
CONVERGED = 1e-10
"""Gap between the bounds of a distance, as a fraction of the size of the solids, at which the iteration ends."""
APART_STEPS, DEEP_STEPS = 250, 500
"""Iterations at most; polyhedra need about ten, smooth solids thirty to two hundred."""
FACES = 4 * DEEP_STEPS
"""Faces of the polytope kept at most, dead ones included only until their place is used again."""


@njit(cache=True, error_model="numpy")
def _farthest(kind, size, points, x, y, z):
    """Point of a solid farthest along a direction, in its own frame."""
    if kind == CYLINDER:
        rho = np.sqrt(x * x + y * y)
        scale = size[0] / rho if rho > 0.0 else 0.0
        return scale * x, scale * y, np.copysign(size[1], z)
    if kind == ELLIPSOID:
        u, v, w = size[0] * x, size[1] * y, size[2] * z
        length = np.sqrt(u * u + v * v + w * w)
        return size[0] * u / length, size[1] * v / length, size[2] * w / length
    best, at = -np.inf, 0
    for i in range(points.shape[0]):
        p = x * points[i, 0] + y * points[i, 1] + z * points[i, 2]
        if p > best:
            best, at = p, i
    return points[at, 0], points[at, 1], points[at, 2]


@njit(cache=True, error_model="numpy")
def _support(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, d, s, a, b, row):
    """Farthest point of the difference along `d`, to s[row], from a[row] of A and b[row] of B; its projection."""
    a[row, 0], a[row, 1], a[row, 2] = _farthest(kind_a, size_a, points_a, d[0], d[1], d[2])
    x, y, z = _farthest(
        kind_b,
        size_b,
        points_b,
        -(rel[0] * d[0] + rel[3] * d[1] + rel[6] * d[2]),
        -(rel[1] * d[0] + rel[4] * d[1] + rel[7] * d[2]),
        -(rel[2] * d[0] + rel[5] * d[1] + rel[8] * d[2]),
    )
    far = 0.0
    for c in range(3):
        b[row, c] = rel[3 * c] * x + rel[3 * c + 1] * y + rel[3 * c + 2] * z + rel[9 + c]
        s[row, c] = a[row, c] - b[row, c]
        far += d[c] * s[row, c]
    return far


@njit(cache=True, error_model="numpy")
def _cross(u, v, out):
    out[0] = u[1] * v[2] - u[2] * v[1]
    out[1] = u[2] * v[0] - u[0] * v[2]
    out[2] = u[0] * v[1] - u[1] * v[0]


@njit(cache=True, error_model="numpy")
def _unit(v):
    """Make a vector unit; False when it has no direction."""
    length = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    if not length > 0.0:
        return False
    for c in range(3):
        v[c] /= length
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def distance_apart(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, scale, out):
    """Distance of two solids, 0 when they are not shown apart; out: normal from A to B, point of A, point of B."""
    s, a, b, d = np.empty((4, 3)), np.empty((4, 3)), np.empty((4, 3)), np.empty(3)
    lam, keep = np.zeros(3), np.empty(3, np.int64)
    for c in range(3):
        d[c] = rel[9 + c]
    if not _unit(d):
        d[0] = 1.0
    n, norm, lower = 0, np.inf, 0.0
    for _ in range(APART_STEPS):
        lower = max(lower, -_support(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, d, s, a, b, n))
        if norm - lower <= CONVERGED * scale:
            break
        n += 1
        if n == 4 and origin_inside(s):
            return 0.0
        size = reduce_simplex(s, n, lam, keep)
        if size == 0:
            break
        n = size
        for m in range(
            size
        ):  # rows are kept in falling order: moved down in rising order none is overwritten
            row = keep[size - 1 - m]
            for c in range(3):
                s[m, c], a[m, c], b[m, c] = s[row, c], a[row, c], b[row, c]
        shorter = 0.0
        for c in range(3):
            d[c] = 0.0
            for m in range(size):
                d[c] -= lam[size - 1 - m] * s[m, c]
            shorter += d[c] * d[c]
        shorter = np.sqrt(shorter)
        if shorter <= CONVERGED * scale:
            return 0.0
        if not shorter < norm:  # rounding: nothing nearer is found
            break
        norm = shorter
        for c in range(3):
            out[c] = d[c] / norm
            out[3 + c], out[6 + c] = 0.0, 0.0
            for m in range(size):
                out[3 + c] += lam[size - 1 - m] * a[m, c]
                out[6 + c] += lam[size - 1 - m] * b[m, c]
            d[c] = out[c]
    return norm if lower > 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def _add_face(s, i, j, k, faces, planes, count):
    """Face of three points, wound outward, to the first free place; one without area is never nearest."""
    at = count
    for f in range(count):
        if faces[f, 0] < 0:
            at = f
            break
    n = np.empty(3)
    _cross(s[j] - s[i], s[k] - s[i], n)
    faces[at, 0], faces[at, 1], faces[at, 2] = i, j, k
    planes[at, 3] = np.inf
    if _unit(n):
        planes[at, 0], planes[at, 1], planes[at, 2] = n[0], n[1], n[2]
        planes[at, 3] = n[0] * s[i, 0] + n[1] * s[i, 1] + n[2] * s[i, 2]
    return max(count, at + 1)


@njit(cache=True, error_model="numpy")
def _tetrahedron(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, s, a, b):
    """Four points of the difference that span a volume."""
    d, other = np.zeros(3), np.empty(3)
    d[0] = 1.0
    _support(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, d, s, a, b, 0)
    _support(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, -d, s, a, b, 1)
    along = s[1] - s[0]
    for row in (2, 3):
        if row == 2:
            other[:] = 0.0
            other[np.argmin(np.abs(along))] = 1.0
            _cross(along, other, d)
        else:
            _cross(along, s[2] - s[0], d)
        _unit(d)
        base = d[0] * s[0, 0] + d[1] * s[0, 1] + d[2] * s[0, 2]
        up = _support(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, d, s, a, b, row) - base
        down = _support(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, -d, s, a, b, row) + base
        if up > down:
            _support(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, d, s, a, b, row)


@njit(cache=True, error_model="numpy")
def _foot(s, a, i, j, k, n, high, out):
    """Point of A over the foot of the origin on a face, to out[3:6]."""
    u, v, p = s[j] - s[i], s[k] - s[i], np.empty(3)
    for c in range(3):
        p[c] = high * n[c] - s[i, c]
    uu, vv, uv = (u * u).sum(), (v * v).sum(), (u * v).sum()
    pu, pv = (p * u).sum(), (p * v).sum()
    den = uu * vv - uv * uv
    x = min(1.0, max(0.0, (pu * vv - pv * uv) / den)) if den > 0.0 else 0.0
    y = min(1.0 - x, max(0.0, (pv * uu - pu * uv) / den)) if den > 0.0 else 0.0
    for c in range(3):
        out[3 + c] = (1.0 - x - y) * a[i, c] + x * a[j, c] + y * a[k, c]


@njit(cache=True, error_model="numpy", nogil=True)
def depth_inside(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, scale, out):
    """Least translation of B that parts two solids (negative by rounding where they are apart); out as above."""
    s, a, b = np.empty((DEEP_STEPS + 4, 3)), np.empty((DEEP_STEPS + 4, 3)), np.empty((DEEP_STEPS + 4, 3))
    faces, planes = np.empty((FACES, 3), np.int64), np.empty((FACES, 4))
    edges, best = np.empty((FACES, 2), np.int64), np.inf
    _tetrahedron(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, s, a, b)
    n = np.empty(3)
    _cross(s[1] - s[0], s[2] - s[0], n)
    j, k = (1, 2) if (n * (s[3] - s[0])).sum() < 0.0 else (2, 1)  # the fourth point is behind the first face
    count = _add_face(s, 0, j, k, faces, planes, 0)
    count = _add_face(s, 0, k, 3, faces, planes, count)
    count = _add_face(s, k, j, 3, faces, planes, count)
    count = _add_face(s, j, 0, 3, faces, planes, count)
    for step in range(DEEP_STEPS):
        new, at = 4 + step, -1
        for f in range(count):
            if faces[f, 0] >= 0 and planes[f, 3] < np.inf and (at < 0 or planes[f, 3] < planes[at, 3]):
                at = f
        n, high = planes[at, :3].copy(), planes[at, 3]
        far = _support(kind_a, size_a, points_a, kind_b, size_b, points_b, rel, n, s, a, b, new)
        if far < best:
            best = far
            for c in range(3):
                out[c] = n[c]
            _foot(s, a, faces[at, 0], faces[at, 1], faces[at, 2], n, high, out)
        if far - high <= CONVERGED * scale or best - high <= CONVERGED * scale:
            break
        rims = 0
        for f in range(count):
            if faces[f, 0] < 0 or planes[f, 3] == np.inf:
                continue
            above = planes[f, 0] * s[new, 0] + planes[f, 1] * s[new, 1] + planes[f, 2] * s[new, 2]
            if above - planes[f, 3] > 1e-14 * scale:
                for k in range(3):
                    edges[rims, 0], edges[rims, 1] = faces[f, k], faces[f, (k + 1) % 3]
                    rims += 1
                faces[f, 0] = -1
            if rims + 3 > FACES:
                break
        if rims == 0 or count + rims > FACES:
            break
        for e in range(rims):
            shared = False
            for g in range(rims):
                if edges[e, 0] == edges[g, 1] and edges[e, 1] == edges[g, 0]:
                    shared = True
                    break
            if not shared:
                count = _add_face(s, edges[e, 0], edges[e, 1], new, faces, planes, count)
    for c in range(3):
        out[6 + c] = out[3 + c] - best * out[c]
    return best


@njit(cache=True, error_model="numpy", nogil=True)
def nearest_of_triangles(triangles, bounds, order, kind, size, rel, scale, out):
    """Distance of the nearest triangle (n, 9) to a solid posed by `rel` in their frame, 0 when one meets it; its row.

    `bounds` (n,) are lower bounds of the distances, `order` sorts them; `out` as above, A being the triangle.
    """
    best, at = np.inf, -1
    zero, none, found = np.zeros(3), np.zeros((1, 3)), np.empty(9)
    for i in order:
        if bounds[i] >= best:
            break
        corners = triangles[i].reshape(3, 3)
        d = distance_apart(POINTS, zero, corners, kind, size, none, rel, scale, found)
        if d < best:
            best, at = d, i
            out[:] = found
        if d <= 0.0:
            break
    return best, at
