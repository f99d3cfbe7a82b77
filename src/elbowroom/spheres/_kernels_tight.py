"""Numba kernels of the tight fit: descent on the outside volume, repair, assessment, single-sphere search.

Spheres are rows (x, y, z, r) in coordinates scaled to the link. The volume of a union of balls changes with
a ball's radius by its exposed area, and with its centre by the integral of the outward normal over that area; both
are summed over a few directions that turn from step to step (a stochastic gradient). Coverage is a penalty on
samples outside every ball, whose weight grows until it decides; `repair` then makes it strict.
"""

# pyright: basic
from __future__ import annotations

import math

import numpy as np
from numba import njit

from ._kernels_proof import prove_triangles

DEPTH_POWER = 6
"""How steeply the weight of outside volume rises with its distance to the surface."""
DEPTH_MOST = 8.0
"""Largest weight that depth adds: hollow links have far points inside that no fit with few balls can spare."""


@njit(cache=True, fastmath=True)
def _signed_distance(x, y, z, grid, low, spacing):
    """Trilinear value of the signed distance; outside the lattice, the distance to the lattice is added."""
    nx, ny, nz = grid.shape
    u, v, w = (x - low[0]) / spacing, (y - low[1]) / spacing, (z - low[2]) / spacing
    cu, cv, cw = min(max(u, 0.0), nx - 1.001), min(max(v, 0.0), ny - 1.001), min(max(w, 0.0), nz - 1.001)
    i, j, k = int(cu), int(cv), int(cw)
    fu, fv, fw = cu - i, cv - j, cw - k
    a = grid[i, j, k] * (1 - fw) + grid[i, j, k + 1] * fw
    b = grid[i, j + 1, k] * (1 - fw) + grid[i, j + 1, k + 1] * fw
    c = grid[i + 1, j, k] * (1 - fw) + grid[i + 1, j, k + 1] * fw
    d = grid[i + 1, j + 1, k] * (1 - fw) + grid[i + 1, j + 1, k + 1] * fw
    value = (a * (1 - fv) + b * fv) * (1 - fu) + (c * (1 - fv) + d * fv) * fu
    away = (u - cu) ** 2 + (v - cv) ** 2 + (w - cw) ** 2
    if away > 0.0:
        value += spacing * math.sqrt(away)
    return value


@njit(cache=True, fastmath=True)
def signed_distances(points, grid, low, spacing):
    """Signed distance of points (n, 3) from the lattice."""
    out = np.empty(len(points))
    for p in range(len(points)):
        out[p] = _signed_distance(points[p, 0], points[p, 1], points[p, 2], grid, low, spacing)
    return out


@njit(cache=True, fastmath=True)
def nearest_gaps(samples, balls, gaps, owners):
    """Smallest |s - c| - r of each sample and the ball that gives it.

    Args:
        samples: (3, n) float32, so that the inner loop runs over lanes. balls: (spheres, 4).
        gaps: (n,) float32 output. owners: (n,) int32 output.
    """
    n = samples.shape[1]
    xs, ys, zs = samples[0], samples[1], samples[2]
    for s in range(n):
        gaps[s] = np.float32(1e30)
    for k in range(len(balls)):
        x, y, z, r = (
            np.float32(balls[k, 0]),
            np.float32(balls[k, 1]),
            np.float32(balls[k, 2]),
            np.float32(balls[k, 3]),
        )
        index = np.int32(k)
        for s in range(n):
            dx, dy, dz = xs[s] - x, ys[s] - y, zs[s] - z
            g = np.sqrt(dx * dx + dy * dy + dz * dz) - r
            better = g < gaps[s]
            gaps[s] = g if better else gaps[s]
            owners[s] = index if better else owners[s]


@njit(cache=True, fastmath=True)
def _exposure_gradient(balls, dirs, turn, grid, low, spacing, weight, deep, planes, plane_weight, grad):
    """Adds the gradient of the weighted outside volume; returns nothing, writes `grad` (spheres, 4)."""
    n, n_dirs = len(balls), len(dirs)
    near = np.empty(n, dtype=np.int64)
    for i in range(n):
        x, y, z, r = balls[i, 0], balls[i, 1], balls[i, 2], balls[i, 3]
        m = 0
        for k in range(n):
            if k != i:
                dx, dy, dz = balls[k, 0] - x, balls[k, 1] - y, balls[k, 2] - z
                reach = r + balls[k, 3]
                if dx * dx + dy * dy + dz * dz < reach * reach:
                    near[m] = k
                    m += 1
        patch = 4.0 * math.pi * r * r / n_dirs * weight
        for d in range(n_dirs):
            ux = turn[0, 0] * dirs[d, 0] + turn[0, 1] * dirs[d, 1] + turn[0, 2] * dirs[d, 2]
            uy = turn[1, 0] * dirs[d, 0] + turn[1, 1] * dirs[d, 1] + turn[1, 2] * dirs[d, 2]
            uz = turn[2, 0] * dirs[d, 0] + turn[2, 1] * dirs[d, 1] + turn[2, 2] * dirs[d, 2]
            px, py, pz = x + r * ux, y + r * uy, z + r * uz
            hidden = False
            for q in range(m):
                k = near[q]
                dx, dy, dz = balls[k, 0] - px, balls[k, 1] - py, balls[k, 2] - pz
                if dx * dx + dy * dy + dz * dz < balls[k, 3] * balls[k, 3]:
                    hidden = True
                    near[q], near[0] = near[0], k
                    break
            if hidden:
                continue
            sd = _signed_distance(px, py, pz, grid, low, spacing)
            share = min(max(sd / spacing + 0.5, 0.0), 1.0)
            if share == 0.0:
                continue
            if sd > 0.0:
                share *= 1.0 + min((sd / deep) ** DEPTH_POWER, DEPTH_MOST)
            for p in range(len(planes)):
                if planes[p, 0] * px + planes[p, 1] * py + planes[p, 2] * pz < planes[p, 3]:
                    share *= plane_weight
            share *= patch
            grad[i, 0] += share * ux
            grad[i, 1] += share * uy
            grad[i, 2] += share * uz
            grad[i, 3] += share


@njit(cache=True, fastmath=True)
def descend(
    balls,
    samples,
    dirs,
    turns,
    grid,
    low,
    spacing,
    weight,
    deep,
    planes,
    plane_weight,
    steps,
    lr0,
    lr1,
    rho0,
    rho1,
):
    """Runs Adam on weighted outside volume plus coverage penalty; changes `balls` in place.

    Args:
        balls: (spheres, 4). samples: (3, n) float32 points to cover. dirs: (m, 3) unit directions; turns: (t, 3, 3).
        grid, low, spacing: signed distance lattice. weight: one over the reference volume.
        deep: protrusion at which the weight of outside volume has doubled. planes: (p, 4) clip planes.
        steps: iterations. lr0, lr1: first and last step size. rho0, rho1: first and last penalty weight.
    """
    n, n_samples = len(balls), samples.shape[1]
    grad, first, second = np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((n, 4))
    gaps, owners = np.empty(n_samples, dtype=np.float32), np.empty(n_samples, dtype=np.int32)
    b1, b2 = 0.8, 0.95
    for step in range(steps):
        f = step / max(steps - 1, 1)
        lr = lr0 * (lr1 / lr0) ** f
        rho = rho0 * (rho1 / rho0) ** f
        grad[:] = 0.0
        _exposure_gradient(
            balls,
            dirs,
            turns[step % len(turns)],
            grid,
            low,
            spacing,
            weight,
            deep,
            planes,
            plane_weight,
            grad,
        )
        nearest_gaps(samples, balls, gaps, owners)
        for s in range(n_samples):
            g = gaps[s]
            if g > 0.0:
                k = owners[s]
                pull = 2.0 * rho * g / n_samples
                length = g + balls[k, 3]
                grad[k, 3] -= pull
                for d in range(3):
                    grad[k, d] -= pull * (samples[d, s] - balls[k, d]) / length
        c1, c2 = 1.0 - b1 ** (step + 1), 1.0 - b2 ** (step + 1)
        for k in range(n):
            for d in range(4):
                first[k, d] = b1 * first[k, d] + (1 - b1) * grad[k, d]
                second[k, d] = b2 * second[k, d] + (1 - b2) * grad[k, d] ** 2
                balls[k, d] -= lr * (first[k, d] / c1) / (math.sqrt(second[k, d] / c2) + 1e-9)
            balls[k, 3] = max(balls[k, 3], 1e-3)


@njit(cache=True)
def descend_exact(
    balls,
    corners,
    clusters,
    samples,
    dirs,
    turns,
    grid,
    low,
    spacing,
    weight,
    deep,
    planes,
    plane_weight,
    steps,
    lr0,
    lr1,
    rho0,
    rho1,
):
    """As `descend`, but the penalty is on the exact witnesses of every step, found by the power diagram.

    Args:
        corners, clusters: triangles to cover, see `prove_triangles`.
        samples: (3, n) float32 further points to cover, inside the solid. The others are those of `descend`.
    """
    n, cap = len(balls), 4096
    grad, first, second = np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((n, 4))
    points, gaps, owners = np.empty((cap, 3)), np.empty(cap), np.empty(cap, dtype=np.int64)
    n_samples = samples.shape[1]
    sample_gaps, sample_owners = np.empty(n_samples, dtype=np.float32), np.empty(n_samples, dtype=np.int32)
    holders = np.zeros(len(clusters), dtype=np.int64)
    centers, radii = np.empty((n, 3)), np.empty(n)
    b1, b2 = 0.8, 0.95
    for step in range(steps):
        f = step / max(steps - 1, 1)
        lr = lr0 * (lr1 / lr0) ** f
        rho = rho0 * (rho1 / rho0) ** f
        grad[:] = 0.0
        _exposure_gradient(
            balls,
            dirs,
            turns[step % len(turns)],
            grid,
            low,
            spacing,
            weight,
            deep,
            planes,
            plane_weight,
            grad,
        )
        centers[:] = balls[:, :3]
        radii[:] = balls[:, 3]
        found = prove_triangles(corners, clusters, centers, radii, holders, points, gaps, owners)[1]
        for s in range(min(found, cap)):
            k = owners[s]
            if k < 0:
                k = 0
                best = np.inf
                for q in range(n):
                    away = math.sqrt(((points[s] - centers[q]) ** 2).sum()) - radii[q]
                    if away < best:
                        k, best = q, away
            pull = 2.0 * rho * gaps[s]
            length = gaps[s] + radii[k]
            grad[k, 3] -= pull
            for d in range(3):
                grad[k, d] -= pull * (points[s, d] - balls[k, d]) / length
        nearest_gaps(samples, balls, sample_gaps, sample_owners)
        for s in range(n_samples):
            g = sample_gaps[s]
            if g > 0.0:
                k = sample_owners[s]
                pull = 2.0 * rho * g
                grad[k, 3] -= pull
                for d in range(3):
                    grad[k, d] -= pull * (samples[d, s] - balls[k, d]) / (g + radii[k])
        c1, c2 = 1.0 - b1 ** (step + 1), 1.0 - b2 ** (step + 1)
        for k in range(n):
            for d in range(4):
                first[k, d] = b1 * first[k, d] + (1 - b1) * grad[k, d]
                second[k, d] = b2 * second[k, d] + (1 - b2) * grad[k, d] ** 2
                balls[k, d] -= lr * (first[k, d] / c1) / (math.sqrt(second[k, d] / c2) + 1e-9)
            balls[k, 3] = max(balls[k, 3], 1e-3)


@njit(cache=True)
def grow_exact(balls, corners, clusters, samples, rounds):
    """Grows the nearest ball to each witness of uncovered surface or sample; returns the largest gap left."""
    cap = 4096
    points, gaps, owners = np.empty((cap, 3)), np.empty(cap), np.empty(cap, dtype=np.int64)
    holders = np.zeros(len(clusters), dtype=np.int64)
    centers, radii = balls[:, :3].copy(), balls[:, 3].copy()
    for s in range(len(samples)):
        k, best = _nearest(samples[s], centers, radii)
        if best > 0.0:
            radii[k] += best
    bound = np.inf
    for turn in range(rounds):
        bound, found = prove_triangles(corners, clusters, centers, radii, holders, points, gaps, owners)
        if bound <= 0.0:
            break
        found = min(found, cap)
        order = np.argsort(-gaps[:found])
        for q in range(found):
            k, best = _nearest(points[order[q]], centers, radii)
            if best > 0.0:
                radii[k] += best * (1.0 + 0.05 * turn) + 1e-7
    balls[:, 3] = radii
    return bound


@njit(cache=True)
def _nearest(point, centers, radii):
    k, best = 0, np.inf
    for q in range(len(radii)):
        dx, dy, dz = point[0] - centers[q, 0], point[1] - centers[q, 1], point[2] - centers[q, 2]
        away = math.sqrt(dx * dx + dy * dy + dz * dz) - radii[q]
        if away < best:
            k, best = q, away
    return k, best


@njit(cache=True)
def repair(balls, samples):
    """Grows the nearest ball to each uncovered sample, then shrinks every ball to what it alone covers."""
    n = len(balls)
    for s in range(len(samples)):
        best, owner = 1e30, 0
        for k in range(n):
            dx, dy, dz = samples[s, 0] - balls[k, 0], samples[s, 1] - balls[k, 1], samples[s, 2] - balls[k, 2]
            g = math.sqrt(dx * dx + dy * dy + dz * dz) - balls[k, 3]
            if g < best:
                best, owner = g, k
        if best > 0.0:
            balls[owner, 3] += best
    order = np.argsort(-balls[:, 3])
    counts = cover_counts(balls, samples)
    for q in range(n):
        k = order[q]
        need = 0.0
        r2 = balls[k, 3] ** 2 * (1.0 + 1e-12)
        for s in range(len(samples)):
            dx, dy, dz = samples[s, 0] - balls[k, 0], samples[s, 1] - balls[k, 1], samples[s, 2] - balls[k, 2]
            d2 = dx * dx + dy * dy + dz * dz
            if d2 <= r2 and counts[s] == 1 and d2 > need:
                need = d2
        need = math.sqrt(need)
        if need < balls[k, 3]:
            for s in range(len(samples)):
                dx, dy, dz = (
                    samples[s, 0] - balls[k, 0],
                    samples[s, 1] - balls[k, 1],
                    samples[s, 2] - balls[k, 2],
                )
                d2 = dx * dx + dy * dy + dz * dz
                if d2 <= r2 and d2 > need * need * (1.0 + 1e-12):
                    counts[s] -= 1
            balls[k, 3] = need


@njit(cache=True)
def cover_counts(balls, points):
    """How many balls hold each point."""
    counts = np.zeros(len(points), dtype=np.int64)
    for k in range(len(balls)):
        r2 = balls[k, 3] ** 2 * (1.0 + 1e-12)
        for s in range(len(points)):
            dx, dy, dz = points[s, 0] - balls[k, 0], points[s, 1] - balls[k, 1], points[s, 2] - balls[k, 2]
            if dx * dx + dy * dy + dz * dz <= r2:
                counts[s] += 1
    return counts


@njit(cache=True)
def spare_ball(balls, points):
    """The first ball without which every point that is covered would still be covered, or -1."""
    needed = np.zeros(len(balls), dtype=np.bool_)
    for s in range(len(points)):
        count, owner = 0, -1
        for k in range(len(balls)):
            dx, dy, dz = points[s, 0] - balls[k, 0], points[s, 1] - balls[k, 1], points[s, 2] - balls[k, 2]
            if dx * dx + dy * dy + dz * dz <= balls[k, 3] ** 2 * (1.0 + 1e-12):
                count += 1
                owner = k
                if count > 1:
                    break
        if count == 1:
            needed[owner] = True
    for k in range(len(balls)):
        if not needed[k]:
            return k
    return -1


@njit(cache=True)
def assess(balls, outside, weights):
    """Weight of the outside points inside the union, and the part that each ball alone covers (spheres,)."""
    own = np.zeros(len(balls))
    total = 0.0
    for s in range(len(outside)):
        count, owner = 0, 0
        for k in range(len(balls)):
            dx, dy, dz = outside[s, 0] - balls[k, 0], outside[s, 1] - balls[k, 1], outside[s, 2] - balls[k, 2]
            if dx * dx + dy * dy + dz * dz <= balls[k, 3] ** 2:
                count += 1
                owner = k
        if count > 0:
            total += weights[s]
        if count == 1:
            own[owner] += weights[s]
    return total, own
