"""Numba kernels of the tight fit: descent on the outside volume with coverage as a penalty.

Spheres are rows (x, y, z, r) in coordinates scaled to the link. The volume of a union of balls changes with
a ball's radius by its exposed area, and with its centre by the integral of the outward normal over that area; both
are summed over a few directions that turn from step to step (a stochastic gradient). Coverage is a penalty on
samples outside every ball, whose weight grows until it decides. Loops over directions and samples run in float32
lanes without a branch or a root; only what is exposed or uncovered is looked at one by one: nearly all is not.
"""

# pyright: basic
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import njit

DEPTH_POWER = 6
"""How steeply the weight of outside volume rises with its distance to the surface."""
DEPTH_MOST = 8.0
"""Largest weight that depth adds: hollow links have far points inside that no fit with few balls can spare."""
BEYOND_WEIGHT = 100.0
"""Weight of volume where a link must not reach against other outside volume."""
BLOCK = 32
"""Points tested together against a ball before they are looked at one by one."""
DIRECTIONS = 32
"""Directions per sphere and step; they turn from step to step."""
LEAST_RADIUS = 1e-3
"""Smallest radius during a descent, scaled."""


class Outside(NamedTuple):
    """What the weighted outside volume of some balls depends on, besides the balls."""

    dirs: np.ndarray
    """(turns, 3, DIRECTIONS) float32 unit directions, one set after the other."""
    grid: np.ndarray
    """(nx, ny, nz) float32 signed distance lattice."""
    beyond: np.ndarray
    """The same for where the link should not reach, positive there; of no size where it may reach anywhere."""
    low: np.ndarray
    """(3,) low corner of the lattices."""
    spacing: float
    """Between their nodes."""
    weight: float
    """One over the reference volume."""
    deep: float
    """Protrusion at which the weight of outside volume has doubled."""


@njit(cache=True, fastmath=True)
def _trilinear(x, y, z, grid, low, spacing):
    """Value of a lattice at a point; outside the lattice, the distance to the lattice is added."""
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


@njit(cache=True, fastmath=True, nogil=True)
def lattice_values(points, grid, low, spacing):
    """Values of a lattice at points (n, 3)."""
    out = np.empty(len(points))
    for p in range(len(points)):
        out[p] = _trilinear(points[p, 0], points[p, 1], points[p, 2], grid, low, spacing)
    return out


@njit(cache=True, fastmath=True)
def exposure_gradient(balls, outside, step, grad):
    """Adds the gradient of the weighted outside volume to `grad` (spheres, 4)."""
    dirs, grid, beyond, low, spacing, weight, deep = outside
    turn = step % len(dirs)
    ux, uy, uz = dirs[turn, 0], dirs[turn, 1], dirs[turn, 2]
    n = len(balls)
    near = np.empty(n, dtype=np.int64)
    xs, ys, zs = (
        np.empty(DIRECTIONS, dtype=np.float32),
        np.empty(DIRECTIONS, dtype=np.float32),
        np.empty(DIRECTIONS, dtype=np.float32),
    )
    hidden = np.empty(DIRECTIONS, dtype=np.float32)
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
        fx, fy, fz, fr = np.float32(x), np.float32(y), np.float32(z), np.float32(r)
        for d in range(DIRECTIONS):
            xs[d], ys[d], zs[d] = fx + fr * ux[d], fy + fr * uy[d], fz + fr * uz[d]
            hidden[d] = np.float32(-1.0)
        for q in range(m):
            k = near[q]
            cx, cy, cz = np.float32(balls[k, 0]), np.float32(balls[k, 1]), np.float32(balls[k, 2])
            r2 = np.float32(balls[k, 3] * balls[k, 3])
            for d in range(DIRECTIONS):
                dx, dy, dz = xs[d] - cx, ys[d] - cy, zs[d] - cz
                hidden[d] = max(hidden[d], r2 - (dx * dx + dy * dy + dz * dz))
        patch = 4.0 * math.pi * r * r / DIRECTIONS * weight
        for d in range(DIRECTIONS):
            if hidden[d] > np.float32(0.0):
                continue
            sd = _trilinear(xs[d], ys[d], zs[d], grid, low, spacing)
            share = min(max(sd / spacing + 0.5, 0.0), 1.0)
            if share == 0.0:
                continue
            if sd > 0.0:
                share *= 1.0 + min((sd / deep) ** DEPTH_POWER, DEPTH_MOST)
            if beyond.size > 0 and _trilinear(xs[d], ys[d], zs[d], beyond, low, spacing) > 0.0:
                share *= BEYOND_WEIGHT
            share *= patch
            grad[i, 0] += share * ux[d]
            grad[i, 1] += share * uy[d]
            grad[i, 2] += share * uz[d]
            grad[i, 3] += share


@njit(cache=True)
def cheapest_ball(x, y, z, balls):
    """The ball whose volume grows least when it grows to a point, and the distance to it, negative inside."""
    best, least, gap = 0, np.inf, 0.0
    for k in range(len(balls)):
        dx, dy, dz, r = x - balls[k, 0], y - balls[k, 1], z - balls[k, 2], balls[k, 3]
        d = math.sqrt(dx * dx + dy * dy + dz * dz)
        more = d * d * d - r * r * r
        if more < least:
            best, least, gap = k, more, d - r
    return best, gap


@njit(cache=True, nogil=True)
def block_bounds(points):
    """Bounding balls (blocks, 4) of runs of BLOCK points (3, n), which should be ordered in space."""
    n = points.shape[1] // BLOCK
    out = np.zeros((n, 4))
    for g in range(n):
        part = points[:, g * BLOCK : (g + 1) * BLOCK]
        for d in range(3):
            out[g, d] = 0.5 * (part[d].min() + part[d].max())
        for s in range(BLOCK):
            away = (
                (part[0, s] - out[g, 0]) ** 2 + (part[1, s] - out[g, 1]) ** 2 + (part[2, s] - out[g, 2]) ** 2
            )
            out[g, 3] = max(out[g, 3], math.sqrt(away))
    return out


@njit(cache=True, fastmath=True)
def uncovered(balls, points, blocks, holders, found):
    """Finds the points outside every ball, block by block: most blocks are inside one ball.

    Args:
        balls: (spheres, 4). points: (3, n) float32. blocks: from `block_bounds`.
        holders: (blocks,) ball to try first for each block; updated. found: (n,) output, indices of points.

    Returns:
        How many were found.
    """
    n_balls, n_found = len(balls), 0
    close, powers = np.empty(n_balls, dtype=np.int64), np.empty(BLOCK, dtype=np.float32)
    for g in range(len(blocks)):
        mx, my, mz, reach = blocks[g, 0], blocks[g, 1], blocks[g, 2], blocks[g, 3]
        n_close, held = 0, False
        for step in range(n_balls + 1):
            k = holders[g] if step == 0 else step - 1
            dx, dy, dz, r = balls[k, 0] - mx, balls[k, 1] - my, balls[k, 2] - mz, balls[k, 3]
            away = dx * dx + dy * dy + dz * dz
            if r > reach and away <= (r - reach) * (r - reach):
                holders[g], held = k, True
                break
            if step > 0 and away < (r + reach) * (r + reach):
                close[n_close] = k
                n_close += 1
        if held:
            continue
        lo, hi = g * BLOCK, (g + 1) * BLOCK
        xs, ys, zs = points[0, lo:hi], points[1, lo:hi], points[2, lo:hi]
        for s in range(BLOCK):
            powers[s] = np.float32(1e30)
        for q in range(n_close):
            k = close[q]
            x, y, z = np.float32(balls[k, 0]), np.float32(balls[k, 1]), np.float32(balls[k, 2])
            r2 = np.float32(balls[k, 3] * balls[k, 3])
            for s in range(BLOCK):
                dx, dy, dz = xs[s] - x, ys[s] - y, zs[s] - z
                power = dx * dx + dy * dy + dz * dz - r2
                powers[s] = power if power < powers[s] else powers[s]
        for s in range(BLOCK):
            if powers[s] > np.float32(0.0):
                found[n_found] = g * BLOCK + s
                n_found += 1
    return n_found


@njit(cache=True, inline="always")
def between(first, last, step, steps):
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


@njit(cache=True)
def _pull_to(points, which, n, balls, rho, grad):
    """Adds the gradient of the penalty on those of the points (3, any) that `which` names first and no ball holds."""
    for q in range(n):
        s = which[q]
        x, y, z = np.float64(points[0, s]), np.float64(points[1, s]), np.float64(points[2, s])
        k, gap = cheapest_ball(x, y, z, balls)
        if gap > 0.0:
            _pull(balls, k, x, y, z, gap, 2.0 * rho * gap, grad)


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
        balls[k, 3] = max(balls[k, 3], LEAST_RADIUS)


@njit(cache=True, nogil=True)
def descend(balls, samples, blocks, outside, steps, step_size, penalty):
    """Runs Adam on weighted outside volume plus coverage penalty; changes `balls` in place.

    Args:
        balls: (spheres, 4). samples: (3, n) float32 points to cover. blocks: their bounds. outside: see `Outside`.
        steps: iterations. step_size, penalty: first and last value of step size and penalty weight.
    """
    n, n_samples = len(balls), samples.shape[1]
    grad, first, second = np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((n, 4))
    which, holders = np.empty(n_samples, dtype=np.int64), np.zeros(len(blocks), dtype=np.int64)
    for step in range(steps):
        rho = between(penalty[0], penalty[1], step, steps)
        grad[:] = 0.0
        exposure_gradient(balls, outside, step, grad)
        found = uncovered(balls, samples, blocks, holders, which)
        _pull_to(samples, which, found, balls, rho / n_samples, grad)
        _adam_step(balls, grad, first, second, step, between(step_size[0], step_size[1], step, steps))
