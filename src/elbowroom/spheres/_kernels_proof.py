"""Numba kernels of the coverage proof: clipping by the power diagram, power vertices, winding numbers.

With pow_i(x) = |x - c_i|^2 - r_i^2, a point is inside the union of the balls exactly when min_i pow_i(x) <= 0.
Where pow_i is the smallest (the cell of i in the power diagram) it is convex, so over the piece of a triangle
inside that cell it peaks at a corner of the piece: a corner of the triangle, a crossing of an edge with a face of
the diagram, or a power vertex in the triangle. Each piece is cut out by half planes that are moved outwards by
a slack well above the rounding error, so the computed piece always contains the true one and the largest value
at its corners is an upper bound: the kernels may doubt a covered triangle, never pass an uncovered one.
Coordinates are taken relative to the triangle to keep the rounding small.
"""

# pyright: basic
from __future__ import annotations

import math

import numpy as np

from .._jit import njit

EPS = 2.220446049250313e-16
SLACK = 256.0 * EPS
"""Outward shift of a cutting plane, relative to the squared size of the figure; rounding is below 40 EPS."""
CLUSTER = 16
"""Triangles tested together against a ball before they are looked at one by one."""
MAX_CORNERS = 96
"""Of a piece of a triangle, which n half planes leave 3 + n at most; more planes than this fall back to fewer cuts."""


@njit(cache=True)
def _clip(poly, n, out, ax, ay, az, b):
    """Keeps the part of a convex polygon with a . x <= b; returns the number of corners in `out`."""
    m = 0
    px, py, pz = poly[n - 1, 0], poly[n - 1, 1], poly[n - 1, 2]
    dp = ax * px + ay * py + az * pz - b
    for v in range(n):
        x, y, z = poly[v, 0], poly[v, 1], poly[v, 2]
        d = ax * x + ay * y + az * z - b
        if (d <= 0.0) != (dp <= 0.0):
            t = dp / (dp - d)
            out[m, 0] = px + t * (x - px)
            out[m, 1] = py + t * (y - py)
            out[m, 2] = pz + t * (z - pz)
            m += 1
        if d <= 0.0:
            out[m, 0], out[m, 1], out[m, 2] = x, y, z
            m += 1
        px, py, pz, dp = x, y, z, d
    return m


@njit(cache=True, inline="always")  # as a call it makes `descend_exact` a fifth slower
def _cut(i, k, centers, weights, slack, poly, n, work):
    """Cuts a polygon, in place, down to (a little more than) where the power of i is below that of k."""
    ax = 2.0 * (centers[k, 0] - centers[i, 0])
    ay = 2.0 * (centers[k, 1] - centers[i, 1])
    az = 2.0 * (centers[k, 2] - centers[i, 2])
    n = _clip(poly, n, work, ax, ay, az, weights[k] - weights[i] + slack)
    for v in range(n):
        for d in range(3):
            poly[v, d] = work[v, d]
    return n


@njit(cache=True)
def _cell(i, ids, n_ids, centers, weights, scale, poly, n, work):
    """Cuts a polygon down to (a little more than) the cell of ball i; returns the corners in `poly`."""
    slack = SLACK * scale * scale
    for q in range(n_ids):
        k = ids[q]
        if k == i:
            continue
        if n + 2 > MAX_CORNERS:
            break  # fewer cuts leave a larger piece: still safe
        n = _cut(i, k, centers, weights, slack, poly, n, work)
        if n == 0:
            break
    return n


@njit(cache=True, inline="always")
def _localize(k, centers, radii, middle, local, weights):
    """Writes centre and weight of ball k relative to a point; returns how far the ball reaches from there."""
    s = 0.0
    for d in range(3):
        local[k, d] = centers[k, d] - middle[d]
        s += local[k, d] ** 2
    weights[k] = s - radii[k] ** 2
    return math.sqrt(s) + radii[k]


@njit(cache=True)
def nearest_ball(x, y, z, centers, radii):
    """The ball nearest to a point, and the distance to it: that to the union of all balls, negative inside."""
    nearest, best = 0, np.inf
    for k in range(len(radii)):
        dx, dy, dz = x - centers[k, 0], y - centers[k, 1], z - centers[k, 2]
        gap = math.sqrt(dx * dx + dy * dy + dz * dz) - radii[k]
        if gap < best:
            nearest, best = k, gap
    return nearest, best


@njit(cache=True)
def cluster_bounds(corners):
    """Bounding balls (clusters, 4) of runs of CLUSTER triangles; the triangles should be ordered in space."""
    n = (len(corners) + CLUSTER - 1) // CLUSTER
    out = np.zeros((n, 4))
    for g in range(n):
        part = corners[g * CLUSTER : (g + 1) * CLUSTER]
        for d in range(3):
            out[g, d] = 0.5 * (part[:, :, d].min() + part[:, :, d].max())
        far = 0.0
        for t in range(len(part)):
            for v in range(3):
                dx, dy, dz = part[t, v, 0] - out[g, 0], part[t, v, 1] - out[g, 1], part[t, v, 2] - out[g, 2]
                far = max(far, dx * dx + dy * dy + dz * dz)
        out[g, 3] = math.sqrt(far) * (1.0 + 1e-12)
    return out


@njit(cache=True, nogil=True)
def prove_triangles(corners, clusters, centers, radii, holders, witnesses, witness_gaps, witness_owners):
    """Bounds the gap over every triangle.

    Args:
        corners: (tris, 3, 3) triangles. clusters: their bounds, from `cluster_bounds`.
        centers: (spheres, 3); radii: (spheres,) balls, same frame, at least one.
        holders: (clusters,) ball to try first for each cluster, any valid index; updated.
        witnesses: (cap, 3) output: points outside every ball. witness_gaps: (cap,) their distances.
        witness_owners: (cap,) the ball whose cell the point bounds; a point comes once for each such ball.

    Returns:
        Upper bound of the distance to the union over all triangles, positive when not proved, and the number of
        witnesses found (those beyond the capacity are counted, not stored).
    """
    n_balls = len(radii)
    poly, work = np.empty((MAX_CORNERS + 4, 3)), np.empty((MAX_CORNERS + 4, 3))
    close, near = np.empty(n_balls, dtype=np.int64), np.empty(n_balls, dtype=np.int64)
    local, weights = np.empty((n_balls, 3)), np.empty(n_balls)
    found, bound = 0, -np.inf
    for g in range(len(clusters)):
        mid, reach = clusters[g, :3], clusters[g, 3]
        n_close, held = 0, False
        for step in range(n_balls + 1):
            k = holders[g] if step == 0 else step - 1
            dx, dy, dz = centers[k, 0] - mid[0], centers[k, 1] - mid[1], centers[k, 2] - mid[2]
            away = math.sqrt(dx * dx + dy * dy + dz * dz)
            worst = away + reach - radii[k] + 16.0 * EPS * (away + reach + radii[k])
            if worst <= 0.0:
                bound, holders[g], held = max(bound, worst), k, True
                break
            if step > 0 and away <= (radii[k] + reach) * (1.0 + 1e-12):
                close[n_close] = k
                n_close += 1
        if held:
            continue
        last = -1
        for t in range(g * CLUSTER, min((g + 1) * CLUSTER, len(corners))):
            last, worst = _held_by_one(corners[t], centers, radii, close, n_close, last)
            if last >= 0:
                bound = max(bound, worst)
                continue
            n_near = _touching(corners[t], centers, radii, close, n_close, near)
            worst, found = _prove_by_cells(
                corners[t], centers, radii, near, n_near, local, weights, poly, work,
                found, witnesses, witness_gaps, witness_owners,
            )  # fmt: skip
            bound = max(bound, worst)
    return bound, found


@njit(cache=True)
def _held_by_one(tri, centers, radii, close, n_close, last):
    """A ball that holds all three corners, and so the triangle: its index (or -1) and its largest gap."""
    for step in range(-1, n_close):
        if step < 0 and last < 0:
            continue
        k = last if step < 0 else close[step]
        far = 0.0
        for v in range(3):
            dx, dy, dz = tri[v, 0] - centers[k, 0], tri[v, 1] - centers[k, 1], tri[v, 2] - centers[k, 2]
            far = max(far, dx * dx + dy * dy + dz * dz)
            if far > radii[k] * radii[k]:
                break
        far = math.sqrt(far)
        worst = far - radii[k] + 16.0 * EPS * (radii[k] + far)
        if worst <= 0.0:
            return k, worst
    return -1, np.inf


@njit(cache=True)
def _touching(tri, centers, radii, close, n_close, near):
    """Balls that may touch a triangle: only these can cover any of it."""
    mx = (tri[0, 0] + tri[1, 0] + tri[2, 0]) / 3.0
    my = (tri[0, 1] + tri[1, 1] + tri[2, 1]) / 3.0
    mz = (tri[0, 2] + tri[1, 2] + tri[2, 2]) / 3.0
    reach = 0.0
    for v in range(3):
        reach = max(reach, (tri[v, 0] - mx) ** 2 + (tri[v, 1] - my) ** 2 + (tri[v, 2] - mz) ** 2)
    reach = math.sqrt(reach)
    n = 0
    for q in range(n_close):
        k = close[q]
        away = (centers[k, 0] - mx) ** 2 + (centers[k, 1] - my) ** 2 + (centers[k, 2] - mz) ** 2
        if away <= ((radii[k] + reach) * (1.0 + 1e-12)) ** 2:
            near[n] = k
            n += 1
    return n


@njit(cache=True)
def _prove_by_cells(
    tri,
    centers,
    radii,
    near,
    n_near,
    local,
    weights,
    poly,
    work,
    found,
    witnesses,
    witness_gaps,
    witness_owners,
):
    """Cuts a triangle by the cells of the balls that touch it; returns the bound of its gap and the witness count."""
    cap = len(witnesses)
    bound = -np.inf
    if n_near == 0:
        for v in range(3):
            gap = nearest_ball(tri[v, 0], tri[v, 1], tri[v, 2], centers, radii)[1]
            bound = max(bound, gap)
            if found < cap:
                witnesses[found], witness_gaps[found], witness_owners[found] = tri[v], gap, -1
            found += 1
        return bound, found
    mid = (tri[0] + tri[1] + tri[2]) / 3.0
    scale = 0.0
    for v in range(3):
        scale = max(scale, math.sqrt(((tri[v] - mid) ** 2).sum()))
    for q in range(n_near):
        scale = max(scale, _localize(near[q], centers, radii, mid, local, weights))
    doubt = 16.0 * EPS * scale
    for q in range(n_near):
        i = near[q]
        for v in range(3):
            for d in range(3):
                poly[v, d] = tri[v, d] - mid[d]
        n = _cell(i, near, n_near, local, weights, scale, poly, 3, work)
        for v in range(n):
            dx, dy, dz = poly[v, 0] - local[i, 0], poly[v, 1] - local[i, 1], poly[v, 2] - local[i, 2]
            gap = math.sqrt(dx * dx + dy * dy + dz * dz) - radii[i] + doubt
            bound = max(bound, gap)
            if gap > 0.0:
                x, y, z = poly[v, 0] + mid[0], poly[v, 1] + mid[1], poly[v, 2] + mid[2]
                true = nearest_ball(x, y, z, centers, radii)[1]
                if true > 0.0:
                    if found < cap:
                        witnesses[found, 0], witnesses[found, 1], witnesses[found, 2] = x, y, z
                        witness_gaps[found], witness_owners[found] = true, i
                    found += 1
    if bound == -np.inf:
        bound = np.inf  # some cell must meet the triangle: if none does, nothing is proved
    return bound, found


@njit(cache=True)
def _square(normal, offset, half, poly):
    """Writes the corners of a square in the plane normal . x = offset, about the foot of the origin."""
    axis = 0
    for d in range(3):
        if abs(normal[d]) < abs(normal[axis]):
            axis = d
    u = np.zeros(3)
    u[axis] = 1.0
    u -= normal[axis] * normal
    u /= math.sqrt((u**2).sum())
    w = np.cross(normal, u)
    for v in range(4):
        su = half * (1.0 if v == 0 or v == 3 else -1.0)
        sw = half * (1.0 if v < 2 else -1.0)
        poly[v] = offset * normal + su * u + sw * w


@njit(cache=True)
def _face(i, j, order, offsets, local, weights, scale, poly, n, work):
    """Cuts a polygon between i and j down to (a little more than) their common face; returns its corners.

    Planes come nearest first; once they are farther from centre i than every corner, none can cut any more.
    """
    slack = SLACK * scale * scale
    for q in range(len(order)):
        k = order[q]
        if k == j:
            continue
        if offsets[k] == np.inf:
            break
        if q % 8 == 0 and offsets[k] > 0.0:
            far = 0.0
            for v in range(n):
                far = max(far, ((poly[v] - local[i]) ** 2).sum())
            if offsets[k] * offsets[k] > far * (1.0 + 1e-9):
                break
        n = _cut(i, k, local, weights, slack, poly, n, work)
        if n == 0:
            break
    return n


@njit(cache=True, nogil=True)
def power_vertices(centers, radii, middle, half, points, gaps):
    """Corners of the power diagram's faces inside a box that no ball holds.

    Args:
        centers: (spheres, 3); radii: (spheres,) balls. middle, half: (3,) box that holds the mesh.
        points: (cap, 3) output; gaps: (cap,) output, distance to the union.

    Returns:
        How many were found; those beyond the capacity are counted, not stored.
    """
    n_balls, cap = len(radii), len(points)
    local, weights = np.empty((n_balls, 3)), np.empty(n_balls)
    size = math.sqrt((half**2).sum())
    scale = size
    for k in range(n_balls):
        scale = max(scale, _localize(k, centers, radii, middle, local, weights))
    room = (
        2 * n_balls + 4
    )  # a cut adds a corner, two by rounding: no plane need be left out, as corners must not move
    poly, work = np.empty((room, 3)), np.empty((room, 3))
    offsets = np.empty(n_balls)
    found = 0
    for i in range(n_balls):
        for k in range(n_balls):
            # signed distance from centre i to the plane between i and k: the cell is on the near side
            gap2 = ((local[k] - local[i]) ** 2).sum()
            if k == i or gap2 < (1e-12 * scale) ** 2:
                offsets[k] = np.inf  # concentric balls: the larger one holds the other
            else:
                offsets[k] = (weights[k] - weights[i] - 2.0 * (local[i] * (local[k] - local[i])).sum()) / (
                    2.0 * math.sqrt(gap2)
                )
        order = np.argsort(offsets)
        for j in range(i + 1, n_balls):
            if offsets[j] == np.inf:
                continue
            normal = local[j] - local[i]
            length = math.sqrt((normal**2).sum())
            normal /= length
            offset = (weights[j] - weights[i]) / (2.0 * length)
            if abs(offset) > size * (1.0 + 1e-9):
                continue
            _square(normal, offset, 2.0 * size, poly)
            n = _face(i, j, order, offsets, local, weights, scale, poly, 4, work)
            for v in range(n):
                if (
                    abs(poly[v, 0]) > half[0] * (1 + 1e-9)
                    or abs(poly[v, 1]) > half[1] * (1 + 1e-9)
                    or abs(poly[v, 2]) > half[2] * (1 + 1e-9)
                ):
                    continue
                p = poly[v] - local[i]
                gap = math.sqrt((p**2).sum()) - radii[i] + 64.0 * EPS * scale
                if gap > 0.0:
                    x, y, z = poly[v, 0] + middle[0], poly[v, 1] + middle[1], poly[v, 2] + middle[2]
                    true = nearest_ball(x, y, z, centers, radii)[1]
                    if true > -64.0 * EPS * scale:  # else a ball around ball i holds it
                        if found < cap:
                            points[found, 0], points[found, 1], points[found, 2], gaps[found] = x, y, z, true
                        found += 1
    return found


@njit(cache=True, nogil=True)
def winding_numbers(points, corners):
    """Signed number of times a triangle set wraps each point (solid angles, van Oosterom and Strackee)."""
    out = np.zeros(len(points))
    for p in range(len(points)):
        px, py, pz = points[p, 0], points[p, 1], points[p, 2]
        total = 0.0
        for t in range(len(corners)):
            ax, ay, az = corners[t, 0, 0] - px, corners[t, 0, 1] - py, corners[t, 0, 2] - pz
            bx, by, bz = corners[t, 1, 0] - px, corners[t, 1, 1] - py, corners[t, 1, 2] - pz
            cx, cy, cz = corners[t, 2, 0] - px, corners[t, 2, 1] - py, corners[t, 2, 2] - pz
            a = math.sqrt(ax * ax + ay * ay + az * az)
            b = math.sqrt(bx * bx + by * by + bz * bz)
            c = math.sqrt(cx * cx + cy * cy + cz * cz)
            det = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
            ab = ax * bx + ay * by + az * bz
            bc = bx * cx + by * cy + bz * cz
            ca = cx * ax + cy * ay + cz * az
            total += math.atan2(det, a * b * c + ab * c + bc * a + ca * b)
        out[p] = total / (2.0 * math.pi)
    return out
