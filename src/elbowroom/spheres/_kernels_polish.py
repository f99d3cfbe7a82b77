"""Numba kernels of the tight fit: the last descent, with exact coverage.

What is uncovered is found by the power diagram of the balls, not by samples: see `_kernels_proof`.
"""

# pyright: basic
from __future__ import annotations

import math

import numpy as np

from .._jit import njit
from ._kernels_descent import LEAST_RADIUS, between, cheapest_ball, exposure_gradient, uncovered
from ._kernels_proof import nearest_ball, prove_triangles

WITNESSES = 4096
"""Witnesses of one coverage check that a polish or a growth looks at, at most."""


@njit(cache=True, inline="always")
def _draw_in(balls, k, x, y, z, share):
    """Moves and grows ball k, as little as it takes, until its gap to a point has fallen by a share."""
    dx, dy, dz = x - balls[k, 0], y - balls[k, 1], z - balls[k, 2]
    d = math.sqrt(dx * dx + dy * dy + dz * dz)
    half = 0.5 * share * (d - balls[k, 3])
    if half > 0.0:
        balls[k, 3] += half
        balls[k, 0] += half * dx / d
        balls[k, 1] += half * dy / d
        balls[k, 2] += half * dz / d


@njit(cache=True, nogil=True)
def polish(balls, corners, clusters, samples, blocks, outside, steps, step_size):
    """Descends on the outside volume alone and, after each step, draws the balls back to what it has uncovered.

    Coverage is exact here: what is uncovered is found by the power diagram. Each such point draws all balls whose
    cells it bounds; were it the nearest alone, large balls would grow at the cost of small ones.

    Args:
        balls: (spheres, 4), changed in place. corners, clusters: triangles to cover, see `prove_triangles`.
        samples, blocks: (3, n) float32 further points to cover, inside the solid. outside: see `Outside`.
        steps: iterations. step_size: first and last step.
    """
    n = len(balls)
    grad, mean = np.zeros((n, 4)), np.zeros((n, 4))
    which, holders = np.empty(samples.shape[1], dtype=np.int64), np.zeros(len(blocks), dtype=np.int64)
    points, gaps = np.empty((WITNESSES, 3)), np.empty(WITNESSES)
    owners, cluster_holders = np.empty(WITNESSES, dtype=np.int64), np.zeros(len(clusters), dtype=np.int64)
    centers, radii = np.empty((n, 3)), np.empty(n)
    for step in range(steps):
        lr = between(step_size[0], step_size[1], step, steps)
        grad[:] = 0.0
        exposure_gradient(balls, outside, step, grad)
        for k in range(n):
            area = 4.0 * math.pi * max(balls[k, 3], LEAST_RADIUS) ** 2 * outside.weight
            for d in range(4):
                mean[k, d] = 0.8 * mean[k, d] + 0.2 * grad[k, d] / area
                balls[k, d] -= lr * mean[k, d]
            balls[k, 3] = max(balls[k, 3], LEAST_RADIUS)
        centers[:] = balls[:, :3]
        radii[:] = balls[:, 3]
        found = prove_triangles(corners, clusters, centers, radii, cluster_holders, points, gaps, owners)[1]
        for s in range(min(found, WITNESSES)):
            x, y, z = points[s, 0], points[s, 1], points[s, 2]
            k, gap = cheapest_ball(x, y, z, balls)
            if gap > 0.0:
                if owners[s] >= 0:
                    _draw_in(balls, owners[s], x, y, z, 0.5)
                else:
                    _draw_in(balls, k, x, y, z, 1.0)
        for q in range(uncovered(balls, samples, blocks, holders, which)):
            x, y, z = (
                np.float64(samples[0, which[q]]),
                np.float64(samples[1, which[q]]),
                np.float64(samples[2, which[q]]),
            )
            _draw_in(balls, cheapest_ball(x, y, z, balls)[0], x, y, z, 1.0)


@njit(cache=True, nogil=True)
def grow_exact(balls, corners, clusters, samples, rounds):
    """Grows the nearest ball to each sample (3, n) outside, then to each witness of uncovered surface, in rounds."""
    points, gaps = np.empty((WITNESSES, 3)), np.empty(WITNESSES)
    owners = np.empty(WITNESSES, dtype=np.int64)
    holders = np.zeros(len(clusters), dtype=np.int64)
    centers, radii = balls[:, :3].copy(), balls[:, 3].copy()
    for s in range(samples.shape[1]):
        x, y, z = np.float64(samples[0, s]), np.float64(samples[1, s]), np.float64(samples[2, s])
        k, gap = nearest_ball(x, y, z, centers, radii)
        radii[k] += max(gap, 0.0)
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
