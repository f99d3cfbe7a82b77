"""Numba kernels of the tight fit: descent on the outside volume, growth, repair, assessment.

Spheres are rows (x, y, z, r) in coordinates scaled to the link. The volume of a union of balls changes with
a ball's radius by its exposed area, and with its centre by the integral of the outward normal over that area; both
are summed over a few directions that turn from step to step (a stochastic gradient). Coverage is a penalty on
samples outside every ball, whose weight grows until it decides; `repair` then makes it strict.
"""

# pyright: basic
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import njit
from ._kernels_proof import nearest_ball, prove_triangles

DEPTH_POWER = 6
"""How steeply the weight of outside volume rises with its distance to the surface."""
DEPTH_MOST = 8.0
"""Largest weight that depth adds: hollow links have far points inside that no fit with few balls can spare."""
WITNESSES = 4096
"""Witnesses of one coverage check that a descent or a growth looks at, at most."""


class Outside(NamedTuple):
    """What the weighted outside volume of some balls depends on, besides the balls."""

    dirs: np.ndarray
    """(m, 3) unit directions."""
    turns: np.ndarray
    """(t, 3, 3) rotations of the directions, taken in turn."""
    grid: np.ndarray
    """(nx, ny, nz) signed distance lattice."""
    low: np.ndarray
    """(3,) its low corner."""
    spacing: float
    """Between its nodes."""
    weight: float
    """One over the reference volume."""
    deep: float
    """Protrusion at which the weight of outside volume has doubled."""
    planes: np.ndarray
    """(p, 4) clip planes."""
    plane_weight: float
    """Weight of volume beyond a clip plane against other outside volume."""


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
def _exposure_gradient(balls, outside, step, grad):
    """Adds the gradient of the weighted outside volume to `grad` (spheres, 4)."""
    dirs, turns, grid, low, spacing, weight, deep, planes, plane_weight = outside
    turn = turns[step % len(turns)]
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


# The parts of both descents. They are inlined as they stand, so that each is compiled with the options of its caller.


@njit(cache=True, inline="always")
def _between(first, last, step, steps):
    """Value at a step of what goes from first to last by a constant factor."""
    return first * (last / first) ** (step / max(steps - 1, 1))


@njit(cache=True, inline="always")
def _pull(balls, k, x, y, z, gap, force, grad):
    """Adds the gradient that draws ball k to a point at a gap from it."""
    length = gap + balls[k, 3]
    grad[k, 3] -= force
    grad[k, 0] -= force * (x - balls[k, 0]) / length
    grad[k, 1] -= force * (y - balls[k, 1]) / length
    grad[k, 2] -= force * (z - balls[k, 2]) / length


@njit(cache=True, inline="always")
def _pull_to_samples(balls, samples, gaps, owners, rho, share, grad):
    """Adds the gradient of the penalty on samples (3, n) outside every ball; `gaps` and `owners` are scratch (n,)."""
    nearest_gaps(samples, balls, gaps, owners)
    for s in range(samples.shape[1]):
        g = gaps[s]
        if g > 0.0:
            _pull(
                balls, owners[s], samples[0, s], samples[1, s], samples[2, s], g, 2.0 * rho * g / share, grad
            )


@njit(cache=True, inline="always")
def _adam_step(balls, grad, first, second, step, lr):
    """Moves the balls against a gradient, scaled by the running means of it (`first`) and of its square (`second`)."""
    b1, b2 = 0.8, 0.95
    c1, c2 = 1.0 - b1 ** (step + 1), 1.0 - b2 ** (step + 1)
    for k in range(len(balls)):
        for d in range(4):
            first[k, d] = b1 * first[k, d] + (1 - b1) * grad[k, d]
            second[k, d] = b2 * second[k, d] + (1 - b2) * grad[k, d] ** 2
            balls[k, d] -= lr * (first[k, d] / c1) / (math.sqrt(second[k, d] / c2) + 1e-9)
        balls[k, 3] = max(balls[k, 3], 1e-3)


@njit(cache=True, fastmath=True)
def descend(balls, samples, outside, steps, step_size, penalty):
    """Runs Adam on weighted outside volume plus coverage penalty; changes `balls` in place.

    Args:
        balls: (spheres, 4). samples: (3, n) float32 points to cover. outside: see `Outside`.
        steps: iterations. step_size, penalty: first and last value of step size and penalty weight.
    """
    n, n_samples = len(balls), samples.shape[1]
    grad, first, second = np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((n, 4))
    gaps, owners = np.empty(n_samples, dtype=np.float32), np.empty(n_samples, dtype=np.int32)
    for step in range(steps):
        rho = _between(penalty[0], penalty[1], step, steps)
        grad[:] = 0.0
        _exposure_gradient(balls, outside, step, grad)
        _pull_to_samples(balls, samples, gaps, owners, rho, n_samples, grad)
        _adam_step(balls, grad, first, second, step, _between(step_size[0], step_size[1], step, steps))


@njit(cache=True)
def descend_exact(balls, corners, clusters, samples, outside, steps, step_size, penalty):
    """As `descend`, but the penalty is on the exact witnesses of every step, found by the power diagram.

    Args:
        corners, clusters: triangles to cover, see `prove_triangles`.
        samples: (3, n) float32 further points to cover, inside the solid. The others are those of `descend`.
    """
    n, n_samples = len(balls), samples.shape[1]
    grad, first, second = np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((n, 4))
    gaps, owners = np.empty(n_samples, dtype=np.float32), np.empty(n_samples, dtype=np.int32)
    points, point_gaps = np.empty((WITNESSES, 3)), np.empty(WITNESSES)
    point_owners = np.empty(WITNESSES, dtype=np.int64)
    holders = np.zeros(len(clusters), dtype=np.int64)
    centers, radii = np.empty((n, 3)), np.empty(n)
    for step in range(steps):
        rho = _between(penalty[0], penalty[1], step, steps)
        grad[:] = 0.0
        _exposure_gradient(balls, outside, step, grad)
        centers[:] = balls[:, :3]
        radii[:] = balls[:, 3]
        found = prove_triangles(corners, clusters, centers, radii, holders, points, point_gaps, point_owners)[
            1
        ]
        for s in range(min(found, WITNESSES)):
            x, y, z = points[s, 0], points[s, 1], points[s, 2]
            k, g = point_owners[s], point_gaps[s]
            if k < 0:
                k = nearest_ball(x, y, z, centers, radii)[0]
            _pull(balls, k, x, y, z, g, 2.0 * rho * g, grad)
        _pull_to_samples(balls, samples, gaps, owners, rho, 1.0, grad)
        _adam_step(balls, grad, first, second, step, _between(step_size[0], step_size[1], step, steps))


@njit(cache=True)
def grow_exact(balls, corners, clusters, samples, rounds):
    """Grows the nearest ball to each sample that is outside, then to each witness of uncovered surface, in rounds."""
    points, gaps = np.empty((WITNESSES, 3)), np.empty(WITNESSES)
    owners = np.empty(WITNESSES, dtype=np.int64)
    holders = np.zeros(len(clusters), dtype=np.int64)
    centers, radii = balls[:, :3].copy(), balls[:, 3].copy()
    _grow_to(samples, centers, radii)
    for turn in range(rounds):
        bound, found = prove_triangles(corners, clusters, centers, radii, holders, points, gaps, owners)
        if bound <= 0.0:
            break
        order = np.argsort(-gaps[: min(found, WITNESSES)])
        for q in order:
            k, gap = nearest_ball(points[q, 0], points[q, 1], points[q, 2], centers, radii)
            if gap > 0.0:
                radii[k] += gap * (1.0 + 0.05 * turn) + 1e-7
    balls[:, 3] = radii


@njit(cache=True)
def _grow_to(samples, centers, radii):
    """Grows the nearest ball to each sample (n, 3) outside all of them, in place."""
    for s in range(len(samples)):
        k, gap = nearest_ball(samples[s, 0], samples[s, 1], samples[s, 2], centers, radii)
        if gap > 0.0:
            radii[k] += gap


@njit(cache=True)
def _distance2(points, s, balls, k):
    """Squared distance of point s to the centre of ball k."""
    dx, dy, dz = points[s, 0] - balls[k, 0], points[s, 1] - balls[k, 1], points[s, 2] - balls[k, 2]
    return dx * dx + dy * dy + dz * dz


@njit(cache=True)
def repair(balls, samples):
    """Grows the nearest ball to each uncovered sample, then shrinks every ball to what it alone covers."""
    _grow_to(samples, balls[:, :3], balls[:, 3])
    counts = cover_counts(balls, samples)
    for k in np.argsort(-balls[:, 3]):
        need = 0.0
        r2 = balls[k, 3] ** 2 * (1.0 + 1e-12)
        for s in range(len(samples)):
            d2 = _distance2(samples, s, balls, k)
            if d2 <= r2 and counts[s] == 1 and d2 > need:
                need = d2
        need = math.sqrt(need)
        if need < balls[k, 3]:
            for s in range(len(samples)):
                d2 = _distance2(samples, s, balls, k)
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
            if _distance2(points, s, balls, k) <= r2:
                counts[s] += 1
    return counts


@njit(cache=True)
def spare_ball(balls, points):
    """The first ball without which every point that is covered would still be covered, or -1."""
    needed = np.zeros(len(balls), dtype=np.bool_)
    for s in range(len(points)):
        count, owner = 0, -1
        for k in range(len(balls)):
            if _distance2(points, s, balls, k) <= balls[k, 3] ** 2 * (1.0 + 1e-12):
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
            if _distance2(outside, s, balls, k) <= balls[k, 3] ** 2:
                count += 1
                owner = k
        if count > 0:
            total += weights[s]
        if count == 1:
            own[owner] += weights[s]
    return total, own
