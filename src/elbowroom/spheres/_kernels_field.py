"""Numba kernels on triangle sets: distance by a bounding-box tree, crossings of rays, volumes along rays.

Everything here serves fitting and reporting; the coverage proof takes only the order of the triangles from it.
"""

# pyright: basic
from __future__ import annotations

import math

import numpy as np

from .._jit import njit

LEAF = 4
"""Triangles in a leaf of the tree."""


@njit(cache=True, nogil=True)
def build_tree(corners):
    """Builds a median-split tree; returns boxes (nodes, 6), children or leaf ranges (nodes, 3), triangle order."""
    n = len(corners)
    order = np.arange(n)
    mids = np.empty((n, 3))
    for t in range(n):
        for d in range(3):
            mids[t, d] = (corners[t, 0, d] + corners[t, 1, d] + corners[t, 2, d]) / 3.0
    cap = 2 * n + 1
    boxes, nodes = np.empty((cap, 6)), np.zeros((cap, 3), dtype=np.int64)
    stack = np.empty((128, 3), dtype=np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, n
    top, used = 1, 1
    while top > 0:
        top -= 1
        node, lo, hi = stack[top, 0], stack[top, 1], stack[top, 2]
        for d in range(3):
            low, high = np.inf, -np.inf
            for q in range(lo, hi):
                for v in range(3):
                    x = corners[order[q], v, d]
                    low, high = min(low, x), max(high, x)
            boxes[node, d], boxes[node, 3 + d] = low, high
        if hi - lo <= LEAF:
            nodes[node, 0], nodes[node, 1], nodes[node, 2] = -1, lo, hi
            continue
        axis, spread = 0, -1.0
        for d in range(3):
            low, high = np.inf, -np.inf
            for q in range(lo, hi):
                x = mids[order[q], d]
                low, high = min(low, x), max(high, x)
            if high - low > spread:
                spread, axis = high - low, d
        part = order[lo:hi].copy()
        part = part[np.argsort(mids[part, axis], kind="mergesort")]
        order[lo:hi] = part
        half = (lo + hi) // 2
        nodes[node, 0], nodes[node, 1] = used, used + 1
        stack[top, 0], stack[top, 1], stack[top, 2] = used, lo, half
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = used + 1, half, hi
        top += 2
        used += 2
    return boxes[:used].copy(), nodes[:used].copy(), order


@njit(cache=True, fastmath=True)
def _triangle_distance2(px, py, pz, tri):
    """Squared distance of a point to a triangle (regions of Ericson, Real-Time Collision Detection, 5.1.5)."""
    abx, aby, abz = tri[1, 0] - tri[0, 0], tri[1, 1] - tri[0, 1], tri[1, 2] - tri[0, 2]
    acx, acy, acz = tri[2, 0] - tri[0, 0], tri[2, 1] - tri[0, 1], tri[2, 2] - tri[0, 2]
    apx, apy, apz = px - tri[0, 0], py - tri[0, 1], pz - tri[0, 2]
    d1 = abx * apx + aby * apy + abz * apz
    d2 = acx * apx + acy * apy + acz * apz
    s, t = 0.0, 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        s, t = 0.0, 0.0
    else:
        bb = abx * abx + aby * aby + abz * abz
        bc = abx * acx + aby * acy + abz * acz
        cc = acx * acx + acy * acy + acz * acz
        d3, d4 = d1 - bb, d2 - bc
        d5, d6 = d1 - bc, d2 - cc
        va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
        if d3 >= 0.0 and d4 <= d3:
            s, t = 1.0, 0.0
        elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
            s, t = (d1 / (d1 - d3) if d1 != d3 else 0.0), 0.0
        elif d6 >= 0.0 and d5 <= d6:
            s, t = 0.0, 1.0
        elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
            s, t = 0.0, (d2 / (d2 - d6) if d2 != d6 else 0.0)
        elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
            w = (d4 - d3) / ((d4 - d3) + (d5 - d6)) if (d4 - d3) + (d5 - d6) > 0.0 else 0.0
            s, t = 1.0 - w, w
        else:
            den = va + vb + vc
            if den != 0.0:
                s, t = vb / den, vc / den
    x, y, z = apx - s * abx - t * acx, apy - s * aby - t * acy, apz - s * abz - t * acz
    return x * x + y * y + z * z


@njit(cache=True, nogil=True)
def distances(points, corners, boxes, nodes, order):
    """Unsigned distance of each point to the nearest triangle of a tree."""
    out = np.empty(len(points))
    stack = np.empty(128, dtype=np.int64)
    keys = np.empty(128)
    guess = 0
    for p in range(len(points)):
        px, py, pz = points[p, 0], points[p, 1], points[p, 2]
        best = _triangle_distance2(px, py, pz, corners[guess])
        stack[0], keys[0] = 0, 0.0
        top = 1
        while top > 0:
            top -= 1
            if keys[top] >= best:
                continue
            node = stack[top]
            if nodes[node, 0] < 0:
                for q in range(nodes[node, 1], nodes[node, 2]):
                    d2 = _triangle_distance2(px, py, pz, corners[order[q]])
                    if d2 < best:
                        best, guess = d2, order[q]
                continue
            first, second = nodes[node, 0], nodes[node, 1]
            d_first, d_second = (
                _box_distance2(px, py, pz, boxes[first]),
                _box_distance2(px, py, pz, boxes[second]),
            )
            if d_first < d_second:
                first, second, d_first, d_second = second, first, d_second, d_first
            stack[top], keys[top] = first, d_first
            stack[top + 1], keys[top + 1] = second, d_second
            top += 2
        out[p] = math.sqrt(best)
    return out


@njit(cache=True, fastmath=True)
def _box_distance2(px, py, pz, box):
    dx = max(box[0] - px, 0.0, px - box[3])
    dy = max(box[1] - py, 0.0, py - box[4])
    dz = max(box[2] - pz, 0.0, pz - box[5])
    return dx * dx + dy * dy + dz * dz


@njit(cache=True)
def _side(ax, ay, bx, by, px, py, flip):
    """Which side of edge ab a point is on, the same for both triangles that share the edge."""
    if flip:
        return -((ax - bx) * (py - by) - (ay - by) * (px - bx))
    return (bx - ax) * (py - ay) - (by - ay) * (px - ax)


@njit(cache=True, nogil=True)
def ray_crossings(vertices, faces, x0, y0, dx, dy, nx, ny):
    """Crossings of a lattice of rays along +z with a mesh.

    Args:
        vertices: (verts, 3); faces: (tris, 3). x0, y0: first ray; dx, dy: spacing; nx, ny: rays per direction.

    Returns:
        start (nx * ny + 1,), z (crossings,) sorted in each ray, sign (crossings,): +1 entering, -1 leaving.
    """
    counts = np.zeros(nx * ny + 1, dtype=np.int64)
    for fill in range(2):
        if fill == 1:
            start = np.zeros(nx * ny + 1, dtype=np.int64)
            for r in range(nx * ny):
                start[r + 1] = start[r] + counts[r]
            z, sign = np.empty(start[-1]), np.empty(start[-1], dtype=np.int64)
            counts[:] = 0
        for t in range(len(faces)):
            a, b, c = faces[t, 0], faces[t, 1], faces[t, 2]
            ax, ay, bx, by, cx, cy = (
                vertices[a, 0], vertices[a, 1], vertices[b, 0], vertices[b, 1], vertices[c, 0], vertices[c, 1],
            )  # fmt: skip
            i_lo = max(0, math.floor((min(ax, bx, cx) - x0) / dx))
            i_hi = min(nx - 1, math.ceil((max(ax, bx, cx) - x0) / dx))
            j_lo = max(0, math.floor((min(ay, by, cy) - y0) / dy))
            j_hi = min(ny - 1, math.ceil((max(ay, by, cy) - y0) / dy))
            for i in range(i_lo, i_hi + 1):
                px = x0 + i * dx
                for j in range(j_lo, j_hi + 1):
                    py = y0 + j * dy
                    wc = _side(ax, ay, bx, by, px, py, a > b)
                    wa = _side(bx, by, cx, cy, px, py, b > c)
                    wb = _side(cx, cy, ax, ay, px, py, c > a)
                    # a ray exactly on an edge belongs to the triangle that runs it upwards in index order
                    sc = wc > 0.0 or (wc == 0.0 and a < b)
                    sa = wa > 0.0 or (wa == 0.0 and b < c)
                    sb = wb > 0.0 or (wb == 0.0 and c < a)
                    if sa != sb or sb != sc:
                        continue
                    total = wa + wb + wc
                    if total == 0.0:
                        continue
                    ray = i * ny + j
                    if fill == 1:
                        q = start[ray] + counts[ray]
                        z[q] = (wa * vertices[a, 2] + wb * vertices[b, 2] + wc * vertices[c, 2]) / total
                        sign[q] = -1 if sc else 1
                    counts[ray] += 1
    for r in range(nx * ny):
        lo, hi = start[r], start[r + 1]
        for q in range(lo + 1, hi):  # insertion sort: few crossings a ray
            zq, sq = z[q], sign[q]
            k = q - 1
            while k >= lo and z[k] > zq:
                z[k + 1], sign[k + 1] = z[k], sign[k]
                k -= 1
            z[k + 1], sign[k + 1] = zq, sq
    return start, z, sign


@njit(cache=True, nogil=True)
def ray_volumes(start, z, sign, centers, radii, x0, y0, dx, dy, nx, ny):
    """Lengths along rays, times the area of a lattice cell.

    Returns:
        Volume of the solid, of the union of balls, and of their intersection.
    """
    n = len(radii)
    lows, highs = np.empty(n), np.empty(n)
    solid, union, both = 0.0, 0.0, 0.0
    for i in range(nx):
        px = x0 + i * dx
        for j in range(ny):
            py = y0 + j * dy
            m = 0
            for k in range(n):
                h = radii[k] ** 2 - (px - centers[k, 0]) ** 2 - (py - centers[k, 1]) ** 2
                if h > 0.0:
                    h = math.sqrt(h)
                    lo, hi = centers[k, 2] - h, centers[k, 2] + h
                    q = m - 1
                    while q >= 0 and lows[q] > lo:
                        lows[q + 1], highs[q + 1] = lows[q], highs[q]
                        q -= 1
                    lows[q + 1], highs[q + 1] = lo, hi
                    m += 1
            merged = 0
            for q in range(m):
                if merged > 0 and lows[q] <= highs[merged - 1]:
                    highs[merged - 1] = max(highs[merged - 1], highs[q])
                else:
                    lows[merged], highs[merged] = lows[q], highs[q]
                    merged += 1
            for q in range(merged):
                union += highs[q] - lows[q]
            wind, ray = 0, i * ny + j
            for q in range(start[ray], start[ray + 1] - 1):
                wind += sign[q]
                if wind != 0:
                    solid += z[q + 1] - z[q]
                    for g in range(merged):
                        both += max(0.0, min(highs[g], z[q + 1]) - max(lows[g], z[q]))
    cell = dx * dy
    return solid * cell, union * cell, both * cell
