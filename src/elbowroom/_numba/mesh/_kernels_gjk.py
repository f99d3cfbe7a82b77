"""Distance between the convex hulls of two meshes.

Gilbert, Johnson and Keerthi's algorithm with supports found in the trees, so that no hull is ever built. The lower
bound that is returned is the gap between the projections on the final direction: it holds whatever the number of
iterations. It is a bound for the meshes themselves, exact for convex ones.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ._kernels_tritri import FASTMATH

MAX_ITERATIONS = 24
"""Supports taken at most; typical runs need 4 to 10."""
CONVERGED = 1e-10
"""Relative gap between the distance and its lower bound at which the iteration stops."""
FAR = 1e300
"""No bound yet."""


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def support(nodes, tris, root, x, y, z, out, row, stack):
    """Farthest corner along a direction, to out[row]; returns its projection."""
    best = -FAR
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        i = stack[top]
        while nodes[i, 7] == 0.0:
            left = int(nodes[i, 6])
            right = left + 1
            p = x * nodes[left, 0] + y * nodes[left, 1] + z * nodes[left, 2]
            p += abs(x) * nodes[left, 3] + abs(y) * nodes[left, 4] + abs(z) * nodes[left, 5]
            q = x * nodes[right, 0] + y * nodes[right, 1] + z * nodes[right, 2]
            q += abs(x) * nodes[right, 3] + abs(y) * nodes[right, 4] + abs(z) * nodes[right, 5]
            if p < q:
                left, right = right, left
                p, q = q, p
            if q > best:
                stack[top] = right
                top += 1
            if p <= best:
                i = -1
                break
            i = left
        if i < 0:
            continue
        first = int(nodes[i, 6])
        for t in range(first, first + int(nodes[i, 7])):
            for c in range(0, 9, 3):
                p = x * tris[t, c] + y * tris[t, c + 1] + z * tris[t, c + 2]
                if p > best:
                    best = p
                    out[row, 0], out[row, 1], out[row, 2] = tris[t, c], tris[t, c + 1], tris[t, c + 2]
    return best


@njit(cache=True, error_model="numpy")
def _weights(s, i, j, k, lam):
    """Weights of the point nearest to the origin in the affine hull of rows i, j, k of `s`.

    False when it is not inside the simplex. `j` or `k` below zero mean a smaller hull.
    """
    if j < 0:
        lam[0] = 1.0
        return True
    ux, uy, uz = s[j, 0] - s[i, 0], s[j, 1] - s[i, 1], s[j, 2] - s[i, 2]
    uu = ux * ux + uy * uy + uz * uz
    ru = -(s[i, 0] * ux + s[i, 1] * uy + s[i, 2] * uz)
    if k < 0:
        if uu <= 0.0:
            return False
        t = ru / uu
        lam[0], lam[1] = 1.0 - t, t
        return t > 0.0 and t < 1.0
    vx, vy, vz = s[k, 0] - s[i, 0], s[k, 1] - s[i, 1], s[k, 2] - s[i, 2]
    vv = vx * vx + vy * vy + vz * vz
    uv = ux * vx + uy * vy + uz * vz
    rv = -(s[i, 0] * vx + s[i, 1] * vy + s[i, 2] * vz)
    den = uu * vv - uv * uv
    if den <= 1e-14 * uu * vv:
        return False
    p, q = (ru * vv - rv * uv) / den, (rv * uu - ru * uv) / den
    lam[0], lam[1], lam[2] = 1.0 - p - q, p, q
    return p > 0.0 and q > 0.0 and p + q < 1.0


@njit(cache=True, error_model="numpy")
def origin_inside(s):
    """Is the origin in the tetrahedron s[0:4]?"""
    for skip in range(4):
        i, j, k = (skip + 1) % 4, (skip + 2) % 4, (skip + 3) % 4
        ux, uy, uz = s[j, 0] - s[i, 0], s[j, 1] - s[i, 1], s[j, 2] - s[i, 2]
        vx, vy, vz = s[k, 0] - s[i, 0], s[k, 1] - s[i, 1], s[k, 2] - s[i, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        inner = nx * (s[skip, 0] - s[i, 0]) + ny * (s[skip, 1] - s[i, 1]) + nz * (s[skip, 2] - s[i, 2])
        origin = -(nx * s[i, 0] + ny * s[i, 1] + nz * s[i, 2])
        if inner == 0.0 or inner * origin < 0.0:
            return False
    return True


@njit(cache=True, error_model="numpy")
def reduce_simplex(s, n, lam, keep):
    """Sub-simplex of s[:n] that holds the point nearest to the origin: size, rows to `keep`, weights to `lam`."""
    best = FAR
    size = 0
    trial = np.empty(3)
    for i in range(n):
        for j in range(-1, i):
            for k in range(-1, max(j, 0)):
                if not _weights(s, i, j, k, trial):
                    continue
                m = 1 + int(j >= 0) + int(k >= 0)
                norm = 0.0
                for c in range(3):
                    p = trial[0] * s[i, c]
                    if m > 1:
                        p += trial[1] * s[j, c]
                    if m > 2:
                        p += trial[2] * s[k, c]
                    norm += p * p
                if norm < best:
                    best, size = norm, m
                    keep[0], keep[1], keep[2] = i, j, k
                    for c in range(m):
                        lam[c] = trial[c]
    return size


@njit(cache=True, error_model="numpy")
def hull_gap(na, ta, ra, nb, tb, rb, rel, stack, p, aim):
    """Certified lower bound of the distance between two convex hulls; 0 when they overlap or are not shown apart.

    The closest points (frame of A) go to p[0], p[1], the unit direction from A to B to aim[:3].
    """
    s, a, b = np.empty((4, 3)), np.empty((4, 3)), np.empty((4, 3))
    lam, keep, local = np.zeros(3), np.empty(3, np.int64), np.empty((1, 3))
    x, y, z = nb[rb, 0], nb[rb, 1], nb[rb, 2]
    vx = na[ra, 0] - (rel[0] * x + rel[1] * y + rel[2] * z + rel[9])
    vy = na[ra, 1] - (rel[3] * x + rel[4] * y + rel[5] * z + rel[10])
    vz = na[ra, 2] - (rel[6] * x + rel[7] * y + rel[8] * z + rel[11])
    n = 0
    lower = 0.0
    for _ in range(MAX_ITERATIONS):
        norm = np.sqrt(vx * vx + vy * vy + vz * vz)
        if norm < 1e-300:
            return 0.0
        x, y, z = vx / norm, vy / norm, vz / norm
        high = support(na, ta, ra, -x, -y, -z, a, n, stack)
        low = support(
            nb,
            tb,
            rb,
            rel[0] * x + rel[3] * y + rel[6] * z,
            rel[1] * x + rel[4] * y + rel[7] * z,
            rel[2] * x + rel[5] * y + rel[8] * z,
            local,
            0,
            stack,
        )
        bx, by, bz = local[0, 0], local[0, 1], local[0, 2]
        for c in range(3):
            b[n, c] = rel[3 * c] * bx + rel[3 * c + 1] * by + rel[3 * c + 2] * bz + rel[9 + c]
            s[n, c] = a[n, c] - b[n, c]
        gap = -high - low - (rel[9] * x + rel[10] * y + rel[11] * z)
        if gap > lower:
            lower = gap
            aim[0], aim[1], aim[2] = -x, -y, -z
        if n > 0 and norm - gap <= CONVERGED * norm:
            break
        n += 1
        if n == 4 and origin_inside(s):
            return 0.0
        size = reduce_simplex(s, n, lam, keep)
        if size == 0:
            break
        # Rows are kept in falling order; moved down in rising order they do not overwrite each other.
        n = size
        vx, vy, vz = 0.0, 0.0, 0.0
        for c in range(3):
            p[0, c] = 0.0
            p[1, c] = 0.0
        for m in range(size):
            row, weight = keep[size - 1 - m], lam[size - 1 - m]
            for c in range(3):
                s[m, c] = s[row, c]
                a[m, c] = a[row, c]
                b[m, c] = b[row, c]
                p[0, c] += weight * a[m, c]
                p[1, c] += weight * b[m, c]
            vx += weight * s[m, 0]
            vy += weight * s[m, 1]
            vz += weight * s[m, 2]
        if n == 4:
            break
    return lower
