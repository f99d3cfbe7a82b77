"""The tight fit of one link: few balls, little volume outside, all of the link inside.

Starts come from splitting (the ball to blame for most outside volume is cut in two along the spread of what
it alone covers) and from clustering the samples. Each is improved by descent and by moves that take one ball away and
split another, keeping what lowers the weighted outside volume. The best are refined with the exact witnesses of the
coverage check in every step, and grown until proved. The weight of outside volume rises with its distance to
the surface, so the largest protrusion falls with the volume.

Guarantees that the returned balls cover the shape (`check` has passed). Does not guarantee a global optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import _kernels_tight as kernels
from ._certify import certify
from ._problem import Problem
from ._quality import protrusion
from ._shape import Float64, bounding_sphere

QUICK = (100, (0.015, 0.001), (3e3, 1e6))
"""Steps, first and last step size, first and last penalty of one improvement; measured on panda."""
FINE = (200, (0.005, 1e-5), (1e2, 1e5))
"""The same for the exact descent that ends a fit."""
STARTS, KEPT = 9, 3
"""Starts of a fit, and how many of the best go on, at effort 1."""
FEW = 8
"""Counts below this get more starts, in proportion."""
FIRST_MOVES, MOVES = 3, 12
"""Moves tried on each start, and on each of those that go on."""
STEEPER = (0.9, 0.8, 0.65, 0.5)
"""Shares of the depth tried, in turn, on a link that protrudes too far."""
BLAME_FLOOR = 0.2
"""Share of the mean blame added to each ball's own when drawing the one to take away."""


@dataclass(frozen=True)
class Curve:
    """Volume of one link's balls by their number, for sharing a budget."""

    counts: tuple[int, ...]
    """Numbers of balls tried, rising."""
    ratios: tuple[float, ...]
    """Union volume over reference volume at each."""
    balls: tuple[Float64, ...]
    """(count, 4) scaled balls at each."""


def grow_curve(problem: Problem, most: int, trials: int, seed: int) -> Curve:
    """Splits from one ball up to `most`, with a few improving moves at each count."""
    rng = np.random.default_rng([seed, 17])
    balls, least = _one_ball(problem), np.inf
    counts: list[int] = []
    ratios: list[float] = []
    kept: list[Float64] = []
    while True:
        if len(balls) > 1:
            problem.descend(balls, *QUICK)
        if len(balls) > 2:
            other = _clustered(problem, len(balls), rng)
            problem.descend(other, *QUICK)
            if problem.cost(other)[0] < problem.cost(balls)[0]:
                balls = other
        balls, cost = improve(problem, balls, trials, rng)
        if cost > least:  # one ball more is never worse
            balls = np.concatenate([kept[-1], np.repeat(kept[-1][:1], len(balls) - len(kept[-1]), axis=0)])
        least = min(cost, least)
        counts.append(len(balls))
        ratios.append(problem.ratio(balls))
        kept.append(balls.copy())
        if len(balls) >= most:
            return Curve(tuple(counts), tuple(ratios), tuple(kept))
        for _ in range(min(most - len(balls), 1 + len(balls) // 10)):
            blame = problem.cost(balls)[1]
            balls = split(problem, balls, int(np.argmax(blame)))


def start_for(problem: Problem, curve: Curve, count: int) -> Float64:
    """Balls of the curve at a count, split further where the curve has skipped it."""
    place = max(int(np.searchsorted(curve.counts, count, side="right")) - 1, 0)
    balls = curve.balls[place].copy()
    while len(balls) < count:
        balls = split(problem, balls, int(np.argmax(problem.cost(balls)[1])))
    if len(balls) > curve.counts[place]:
        problem.descend(balls, *QUICK)
    return balls


def refine(problem: Problem, start: Float64 | None, count: int, effort: float, seed: int) -> list[Float64]:
    """The best of several starts at one count.

    Args:
        problem: the link. start: (count, 4) balls to improve as the first start, if any.
        count: number of balls. effort: scales the number of starts and moves. seed: of starts and moves.

    Returns:
        (count, 4) scaled balls, the cheapest first, covering up to rounding; `finish` proves them.
    """
    if count == 1:
        return [_one_ball(problem)]
    rng = np.random.default_rng([seed, 29])
    # few balls are quick to fit, and caught in bad places more often
    wide = float(np.clip(FEW / count, 1.0, 2.0))
    starts, kept = max(round(STARTS * effort * wide), 1), max(round(KEPT * effort**0.5 * wide), 1)
    candidates: list[tuple[float, int, Float64]] = []
    for turn in range(starts):
        if turn == 0 and start is not None:
            balls = start.copy()
        else:
            balls = _clustered(problem, count, rng)
            problem.descend(balls, *QUICK)
        balls, cost = improve(problem, balls, FIRST_MOVES, rng)
        candidates.append((cost, turn, balls))
    candidates.sort(key=lambda item: item[:2])
    fine: list[tuple[float, int, Float64]] = []
    for _, turn, balls in candidates[:kept]:
        balls = improve(problem, balls, max(round(MOVES * effort), 1), rng)[0].copy()
        problem.descend_exact(balls, *FINE)
        fine.append((float(problem.cost(balls)[0]), turn, balls))
    return [balls for _, _, balls in sorted(fine, key=lambda item: item[:2])]


def finish(problem: Problem, balls: Float64) -> tuple[Float64, Float64]:
    """Proved centres (spheres, 3) and radii (spheres,) in metres; balls that hold nothing are dropped."""
    centers, radii = problem.metric(balls)
    radii = certify(problem.shape, centers, radii)
    keep = np.ones(len(radii), dtype=bool)
    for k in range(len(radii)):  # a ball inside another adds nothing
        inside = np.linalg.norm(centers - centers[k], axis=1) + radii[k] <= radii
        inside[k] = False
        if (inside & keep).any():
            keep[k] = False
    return centers[keep], radii[keep]


def flatten(problem: Problem, candidates: list[Float64], limit: float, seed: int) -> tuple[Float64, Float64]:
    """Proved spheres whose largest protrusion is below a limit, if a candidate or a steeper weight can do it.

    Args:
        problem: the link. candidates: fits, the cheapest first. limit: protrusion to stay below, metres.
        seed: of the moves.

    Returns:
        Centres and radii in metres: the first below the limit, otherwise those that protrude least.
    """
    rng = np.random.default_rng([seed, 43])
    best, least = _finish_and_reach(problem, candidates[0])
    for balls in candidates[1:]:
        if least <= limit:
            return best
        spheres, reach = _finish_and_reach(problem, balls)
        if reach < least:
            best, least = spheres, reach
    deep, balls = problem.deep * problem.scale, candidates[0]
    for share in STEEPER if len(balls) > 1 else ():
        if least <= limit:
            break
        problem.set_deep(share * deep)
        trial = improve(problem, balls, MOVES, rng)[0].copy()
        problem.descend_exact(trial, *FINE)
        spheres, reach = _finish_and_reach(problem, trial)
        if reach < least:
            best, least, balls = spheres, reach, trial
    problem.set_deep(deep)
    return best


def _finish_and_reach(problem: Problem, balls: Float64) -> tuple[tuple[Float64, Float64], float]:
    """Proved centres and radii, and how far they protrude at most, metres."""
    spheres = finish(problem, balls)
    return spheres, protrusion(problem.shape, *spheres)[1]


def improve(problem: Problem, balls: Float64, trials: int, rng: np.random.Generator) -> tuple[Float64, float]:
    """Tries to take one ball away and split another, keeping what lowers the cost."""
    best = balls
    cost, blame = problem.cost(best)
    n = len(best)
    for _ in range(trials if n > 1 else 0):
        gone = kernels.spare_ball(best, problem.samples)
        if gone < 0:
            idle = 1.0 / (blame + BLAME_FLOOR * blame.mean() + 1e-9)
            gone = int(rng.choice(n, p=idle / idle.sum()))
        rest = blame.copy()
        rest[gone] = 0.0
        if rest.sum() <= 0.0:
            rest = np.ones(n)
            rest[gone] = 0.0
        cut = int(rng.choice(n, p=rest / rest.sum()))
        trial = np.delete(best, gone, axis=0)
        kernels.repair(trial, problem.samples)
        trial = split(problem, trial, cut - (cut > gone))
        problem.descend(trial, *QUICK)
        new_cost, new_blame = problem.cost(trial)
        if new_cost < cost:
            best, cost, blame = trial, new_cost, new_blame
    return best, float(cost)


def split(problem: Problem, balls: Float64, index: int) -> Float64:
    """Cuts one ball in two along the widest spread of the samples that it alone covers."""
    ball = balls[index]
    held = ((problem.samples - ball[:3]) ** 2).sum(axis=1) <= ball[3] ** 2 * (1.0 + 1e-9)
    own = problem.samples[held & (kernels.cover_counts(balls, problem.samples) == 1)]
    if len(own) < 4:
        own = problem.samples[held]
    if len(own) < 2:
        own = np.array([ball[:3] - 0.5 * ball[3], ball[:3] + 0.5 * ball[3]])
    offset = own - own.mean(axis=0)
    axis = np.linalg.eigh(offset.T @ offset)[1][:, 2]
    along = offset @ axis
    upper = along > np.median(along)
    if not upper.any() or upper.all():
        upper = np.arange(len(own)) % 2 == 0
    return np.concatenate([np.delete(balls, index, axis=0), [_box_ball(own[upper]), _box_ball(own[~upper])]])


def _box_ball(points: Float64) -> Float64:
    """Ball about the middle of the bounding box of points, as a row."""
    center = (points.min(axis=0) + points.max(axis=0)) / 2
    return np.append(center, max(float(np.sqrt(((points - center) ** 2).sum(axis=1).max())), 1e-3))


def _one_ball(problem: Problem) -> Float64:
    """The ball around everything: for one ball there is nothing to search."""
    center, radius = bounding_sphere(problem.shape.vertices)
    return problem.scaled(center[None], np.array([radius]))


def _clustered(problem: Problem, count: int, rng: np.random.Generator) -> Float64:
    """Balls about clusters of the samples (a few rounds of Lloyd's algorithm)."""
    points = problem.samples
    centers = points[rng.choice(len(points), count, replace=count > len(points))]
    label = np.zeros(len(points), dtype=np.int64)
    for _ in range(7):
        label = ((points[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        sizes = np.bincount(label, minlength=count)
        sums = np.stack([np.bincount(label, points[:, d], count) for d in range(3)], axis=1)
        fresh = points[rng.integers(len(points), size=count)]
        centers = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], fresh)
    rows = [
        _box_ball(points[label == k]) if (label == k).any() else np.append(centers[k], 0.05)
        for k in range(count)
    ]
    return np.ascontiguousarray(np.array(rows))
