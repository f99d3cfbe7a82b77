"""Numba kernels of the tight fit: growth and shrinkage on samples, the cost of balls, and moves that lower it.

Coordinates are scaled to the link; points are (3, n) float32 lanes. A move takes one ball away, splits another and
descends; what lowers the cost is kept. All of it runs without Python, so that links can be fitted in threads.
"""

# pyright: basic
from __future__ import annotations

import math

import numpy as np

from .._jit import njit
from ._kernels_descent import cheapest_ball, descend, uncovered

HOLD = np.float32(1.0 + 4e-6)
"""A ball holds a sample up to this factor on the squared radius: the rounding of float32."""
BLAME_FLOOR = 0.2
"""Share of the mean blame added to each ball's own when drawing the one to take away."""


@njit(cache=True, fastmath=True)
def _squared_distances(balls, points):
    """(spheres, n) float32 squared distances of points to the centres."""
    n = points.shape[1]
    out = np.empty((len(balls), n), dtype=np.float32)
    xs, ys, zs = points[0], points[1], points[2]
    for k in range(len(balls)):
        x, y, z = np.float32(balls[k, 0]), np.float32(balls[k, 1]), np.float32(balls[k, 2])
        row = out[k]
        for s in range(n):
            dx, dy, dz = xs[s] - x, ys[s] - y, zs[s] - z
            row[s] = dx * dx + dy * dy + dz * dz
    return out


@njit(cache=True, fastmath=True)
def _held_counts(squared, balls):
    """(n,) float32 how many balls hold each point, by `_squared_distances`."""
    counts = np.zeros(squared.shape[1], dtype=np.float32)
    for k in range(len(balls)):
        row, limit = squared[k], np.float32(balls[k, 3] ** 2) * HOLD
        for s in range(len(counts)):
            counts[s] += np.float32(1.0) if row[s] <= limit else np.float32(0.0)
    return counts


@njit(cache=True, fastmath=True)
def _own_reach(row, counts, limit):
    """Largest squared distance to a point that a ball of this squared radius holds alone; 0 if there is none."""
    reach = np.float32(0.0)
    for s in range(len(row)):
        alone = row[s] <= limit and counts[s] == np.float32(1.0)
        reach = max(reach, row[s] if alone else np.float32(0.0))
    return reach


@njit(cache=True, fastmath=True)
def _let_go(row, counts, limit, kept):
    """Takes one from the counts of points between two squared distances: those a shrinking ball lets go."""
    for s in range(len(row)):
        counts[s] -= np.float32(1.0) if row[s] <= limit and row[s] > kept else np.float32(0.0)


@njit(cache=True, nogil=True)
def repair(balls, samples, blocks):
    """Grows the nearest ball to each uncovered sample, then shrinks every ball to what it alone covers."""
    which, holders = np.empty(samples.shape[1], dtype=np.int64), np.zeros(len(blocks), dtype=np.int64)
    for q in range(uncovered(balls, samples, blocks, holders, which)):
        s = which[q]
        x, y, z = np.float64(samples[0, s]), np.float64(samples[1, s]), np.float64(samples[2, s])
        k, gap = cheapest_ball(x, y, z, balls)
        balls[k, 3] += max(gap, 0.0)
    squared = _squared_distances(balls, samples)
    counts = _held_counts(squared, balls)
    for k in np.argsort(-balls[:, 3]):
        limit = np.float32(balls[k, 3] ** 2) * HOLD
        reach = _own_reach(squared[k], counts, limit)
        if reach < balls[k, 3] ** 2:
            _let_go(squared[k], counts, limit, reach * HOLD)
            balls[k, 3] = math.sqrt(reach)


@njit(cache=True, nogil=True)
def spare_ball(balls, samples):
    """The first ball without which every sample that is covered would still be covered, or -1."""
    squared = _squared_distances(balls, samples)
    counts = _held_counts(squared, balls)
    for k in range(len(balls)):
        if _own_reach(squared[k], counts, np.float32(balls[k, 3] ** 2) * HOLD) == np.float32(0.0):
            return k
    return -1


@njit(cache=True, fastmath=True, nogil=True)
def assess(balls, points, weights):
    """Weight of the outside points inside the union, and the part that each ball alone covers (spheres,).

    Args:
        balls: (spheres, 4). points: (3, n) float32 outside the shape. weights: (n,) float32 of each.
    """
    squared = _squared_distances(balls, points)
    counts = _held_counts(squared, balls)
    total = np.float32(0.0)
    for s in range(len(counts)):
        total += weights[s] if counts[s] > np.float32(0.0) else np.float32(0.0)
    own = np.empty(len(balls))
    for k in range(len(balls)):
        row, limit = squared[k], np.float32(balls[k, 3] ** 2) * HOLD
        part = np.float32(0.0)
        for s in range(len(counts)):
            alone = row[s] <= limit and counts[s] == np.float32(1.0)
            part += weights[s] if alone else np.float32(0.0)
        own[k] = part
    return np.float64(total), own


@njit(cache=True)
def _box_ball(points, chosen, side, ball):
    """Writes the ball about the middle of the box around the chosen points of one side."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for q in range(len(chosen)):
        if side[q]:
            for d in range(3):
                low[d] = min(low[d], points[d, chosen[q]])
                high[d] = max(high[d], points[d, chosen[q]])
    far = 0.0
    for q in range(len(chosen)):
        if side[q]:
            s = 0.0
            for d in range(3):
                s += (points[d, chosen[q]] - 0.5 * (low[d] + high[d])) ** 2
            far = max(far, s)
    for d in range(3):
        ball[d] = 0.5 * (low[d] + high[d])
    ball[3] = max(math.sqrt(far), 1e-3)


@njit(cache=True)
def _widest_axis(points, chosen, middle):
    """Unit direction in which the chosen points spread most, by a few power iterations."""
    spread = np.zeros((3, 3))
    for q in range(len(chosen)):
        for a in range(3):
            for b in range(3):
                spread[a, b] += (points[a, chosen[q]] - middle[a]) * (points[b, chosen[q]] - middle[b])
    axis = np.array([0.61, 0.53, 0.59])
    for _ in range(24):
        turned = np.array([
            spread[a, 0] * axis[0] + spread[a, 1] * axis[1] + spread[a, 2] * axis[2] for a in range(3)
        ])  # fmt: skip
        length = math.sqrt((turned**2).sum())
        if length < 1e-30:
            break
        axis = turned / length
    return axis


@njit(cache=True, nogil=True)
def split(balls, index, samples):
    """Cuts one ball in two along the widest spread of the samples that it alone covers; (spheres + 1, 4) balls."""
    squared = _squared_distances(balls, samples)
    counts = _held_counts(squared, balls)
    limit = np.float32(balls[index, 3] ** 2) * HOLD
    held = squared[index] <= limit
    chosen = np.flatnonzero(held & (counts == np.float32(1.0)))
    if len(chosen) < 4:
        chosen = np.flatnonzero(held)
    out = np.empty((len(balls) + 1, 4))
    out[:index] = balls[:index]
    out[index:-2] = balls[index + 1 :]
    out[-2:] = balls[index]
    if len(chosen) < 2:
        out[-1, 3] = out[-2, 3] = 0.5 * balls[index, 3]
        return out
    middle = np.zeros(3)
    for q in range(len(chosen)):
        for d in range(3):
            middle[d] += samples[d, chosen[q]] / len(chosen)
    axis = _widest_axis(samples, chosen, middle)
    along = np.empty(len(chosen))
    for q in range(len(chosen)):
        along[q] = 0.0
        for d in range(3):
            along[q] += (samples[d, chosen[q]] - middle[d]) * axis[d]
    upper = along > np.median(along)
    if not upper.any():
        upper[0] = True
    _box_ball(samples, chosen, upper, out[-2])
    _box_ball(samples, chosen, ~upper, out[-1])
    return out


@njit(cache=True, nogil=True)
def clustered(samples, picks, fresh):
    """Balls about clusters of the samples (a few rounds of Lloyd's algorithm).

    Args:
        samples: (3, n) float32. picks: (count,) samples to start from. fresh: (rounds, count) samples that take the
            place of clusters without any.
    """
    count, n = len(picks), samples.shape[1]
    balls = np.zeros((count, 4))
    for k in range(count):
        for d in range(3):
            balls[k, d] = samples[d, picks[k]]
    label = np.zeros(n, dtype=np.int64)
    for turn in range(len(fresh)):
        squared = _squared_distances(balls, samples)
        sizes, sums = np.zeros(count), np.zeros((count, 3))
        for s in range(n):
            best = 0
            for k in range(1, count):
                if squared[k, s] < squared[best, s]:
                    best = k
            label[s] = best
            sizes[best] += 1.0
            for d in range(3):
                sums[best, d] += samples[d, s]
        for k in range(count):
            for d in range(3):
                balls[k, d] = sums[k, d] / sizes[k] if sizes[k] > 0.0 else samples[d, fresh[turn, k]]
    for k in range(count):
        chosen = np.flatnonzero(label == k)
        if len(chosen) > 0:
            _box_ball(samples, chosen, np.ones(len(chosen), dtype=np.bool_), balls[k])
        else:
            balls[k, 3] = 0.05
    return balls


@njit(cache=True)
def _drawn(odds, draw):
    """Index drawn by a number in [0, 1) with the given odds."""
    level, total = draw * odds.sum(), 0.0
    for k in range(len(odds)):
        total += odds[k]
        if level < total:
            return k
    return int(np.argmax(odds))


@njit(cache=True, nogil=True)
def improve(balls, samples, blocks, outside, points, weights, draws, steps, step_size, penalty):
    """Tries to take one ball away and split another, keeping what lowers the cost.

    Args:
        balls: (spheres, 4). samples, blocks: (3, n) float32 to cover. outside: see `Outside`.
        points, weights: of `assess`. draws: (trials, 2) uniform random numbers.
        steps, step_size, penalty: of the descent after each move.

    Returns:
        The best balls, their cost, and how many moves were kept.
    """
    best, kept = balls.copy(), 0
    cost, blame = assess(best, points, weights)
    n = len(best)
    if n < 2:
        return best, cost, kept
    for trial in range(len(draws)):
        gone = spare_ball(best, samples)
        if gone < 0:
            gone = _drawn(1.0 / (blame + BLAME_FLOOR * blame.mean() + 1e-9), draws[trial, 0])
        odds = blame + 1e-12
        odds[gone] = 0.0
        cut = _drawn(odds, draws[trial, 1])
        rest = np.empty((n - 1, 4))
        rest[:gone] = best[:gone]
        rest[gone:] = best[gone + 1 :]
        repair(rest, samples, blocks)
        moved = split(rest, cut - (1 if cut > gone else 0), samples)
        descend(moved, samples, blocks, outside, steps, step_size, penalty)
        repair(moved, samples, blocks)
        new_cost, new_blame = assess(moved, points, weights)
        if new_cost < cost:
            best, cost, blame, kept = moved, new_cost, new_blame, kept + 1
    return best, cost, kept
