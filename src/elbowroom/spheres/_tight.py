"""The tight fit of one link: few balls, little volume outside, all of the link inside.

Starts come from splitting (the ball to blame for most outside volume is cut in two along the spread of what
it alone covers) and from clustering the samples. The best is improved by moves that take one ball away and split
another, keeping what lowers the weighted outside volume, then polished with the exact witnesses of the coverage check
in every step, and grown until proved. The weight of outside volume rises with its distance to the surface, so the
largest protrusion falls with the volume.

Guarantees that the returned balls cover the shape (`check` has passed). Does not guarantee a global optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._problem import FitProblem, Schedule
from ._quality import protrusion
from ._shape import Float64, certify

QUICK = Schedule(70, (0.015, 0.001), (3e3, 1e6))
"""Of one improvement; measured on panda."""
POLISH = (60, (0.005, 1e-4))
"""Steps, first and last step size of the exact descent that ends a fit."""
CURVE_MOVES = 4
"""Improving moves at each count of a cost curve, at effort 1; so are the numbers below."""
STARTS = 9
"""Starts of a fit besides that of the curve."""
MOVES = 24
"""Moves tried on each of the starts that go on."""
KEPT = 3
"""Best starts that go on; one at effort 0."""
FEW, FEW_MOVES = 8, 3
"""Up to this count there are more starts, and moves on each: few balls are quick to fit, and caught in bad places more
often."""
STEEP_MOVES = 8
"""Moves tried on a link that protrudes too far, for each steeper weight."""
STEEPER = (0.85, 0.65, 0.5)
"""Shares of the depth tried, in turn, on a link that protrudes too far."""
MIN_RADIUS, MIN_SHARE = 1e-3, 0.01
"""Smallest radius of a sphere, metres, or this share of the size of a smaller link."""


@dataclass(frozen=True)
class VolumeCurve:
    """Volume of one link's balls by their number, for sharing a budget."""

    counts: tuple[int, ...]
    """Numbers of balls tried, rising."""
    ratios: tuple[float, ...]
    """Union volume over reference volume at each."""
    balls: tuple[Float64, ...]
    """(count, 4) scaled balls at each."""


def grow_curve(problem: FitProblem, most: int, effort: float, seed: int) -> VolumeCurve:
    """Splits from one ball up to `most`, with a few improving moves at each count."""
    rng = np.random.default_rng([seed, 17])
    balls, least = problem.one_ball(), np.inf
    counts: list[int] = []
    ratios: list[float] = []
    kept: list[Float64] = []
    while True:
        if len(balls) > 1:
            balls = problem.descend(balls, QUICK)
        if 2 < len(balls) <= FEW and effort > 0.0:
            other = problem.descend(problem.clustered(len(balls), rng), QUICK)
            balls = min(balls, other, key=problem.cost)
        balls, cost = problem.improve(balls, _times(CURVE_MOVES, effort), rng, QUICK)
        if cost > least:  # one ball more is never worse
            balls = np.concatenate([kept[-1], np.repeat(kept[-1][:1], len(balls) - len(kept[-1]), axis=0)])
        least = min(cost, least)
        counts.append(len(balls))
        ratios.append(problem.ratio(balls))
        kept.append(balls)
        if len(balls) >= most:
            return VolumeCurve(tuple(counts), tuple(ratios), tuple(kept))
        for _ in range(min(most - len(balls), 1 + len(balls) // 4)):
            balls = problem.split_worst(balls)


def start_for(problem: FitProblem, curve: VolumeCurve, count: int) -> Float64:
    """Balls of the curve at a count, split further where the curve has skipped it."""
    place = max(int(np.searchsorted(curve.counts, count, side="right")) - 1, 0)
    balls = curve.balls[place]
    while len(balls) < count:
        balls = problem.split_worst(balls)
    if len(balls) > curve.counts[place]:
        balls = problem.descend(balls, QUICK)
    return balls


def refine(problem: FitProblem, start: Float64 | None, count: int, effort: float, seed: int) -> list[Float64]:
    """The best of several starts at one count.

    Args:
        problem: the link. start: (count, 4) balls to improve as the first start, if any.
        count: number of balls. effort: scales the number of starts and moves. seed: of starts and moves.

    Returns:
        (count, 4) scaled balls, the cheapest first, covering up to rounding; `finish` proves them.
    """
    if count == 1:
        return [problem.one_ball()]
    rng = np.random.default_rng([seed, 29])
    starts = [] if start is None else [start]
    for _ in range(_times(STARTS * float(np.clip(FEW / count, 1.0, 2.0)), effort) + (start is None)):
        starts.append(problem.descend(problem.clustered(count, rng), QUICK))
    kept = max(1, _times(KEPT, min(effort, 1.0)))
    if count <= FEW:
        starts = [problem.improve(balls, _times(FEW_MOVES, effort), rng, QUICK)[0] for balls in starts]
    starts.sort(key=problem.cost)
    fits = [problem.improve(balls, _times(MOVES, effort), rng, QUICK)[0] for balls in starts[:kept]]
    return sorted((problem.polish(balls, *POLISH) for balls in fits), key=problem.cost)


def _times(number: float, effort: float) -> int:
    return round(number * effort)


def finish(problem: FitProblem, balls: Float64) -> tuple[Float64, Float64]:
    """Proved centres (spheres, 3) and radii (spheres,) in metres; balls that hold nothing are dropped."""
    centers, radii = problem.metric(balls)
    radii = np.maximum(radii, min(MIN_RADIUS, MIN_SHARE * problem.shape.size))
    radii = certify(problem.shape, centers, radii)
    keep = np.ones(len(radii), dtype=bool)
    for k in range(len(radii)):  # a ball inside another adds nothing
        inside = np.linalg.norm(centers - centers[k], axis=1) + radii[k] <= radii
        inside[k] = False
        if (inside & keep).any():
            keep[k] = False
    return centers[keep], radii[keep]


def flatten(
    problem: FitProblem, fits: list[Float64], limit: float, effort: float, seed: int
) -> tuple[Float64, Float64]:
    """Proved spheres whose largest protrusion is below a limit, if a fit or a steeper weight can do it.

    Args:
        problem: the link. fits: its balls, the cheapest first. limit: protrusion to stay below, metres.
        effort: scales the number of moves; none at all are tried at 0. seed: of the moves.

    Returns:
        Centres and radii in metres: the first below the limit, otherwise those that protrude least.
    """
    rng = np.random.default_rng([seed, 43])
    best, least = _finish_and_reach(problem, fits[0])
    for balls in fits[1:]:
        if least <= limit:
            return best
        spheres, reach = _finish_and_reach(problem, balls)
        if reach < least:
            best, least = spheres, reach
    balls, moves = fits[0], _times(STEEP_MOVES, effort)
    for share in STEEPER if len(balls) > 1 and moves else ():
        if least <= limit:
            break
        steeper = problem.with_depth(share * problem.deep)
        trial = steeper.polish(steeper.improve(balls, moves, rng, QUICK)[0], *POLISH)
        spheres, reach = _finish_and_reach(problem, trial)
        if reach < least:
            best, least, balls = spheres, reach, trial
    return best


def _finish_and_reach(problem: FitProblem, balls: Float64) -> tuple[tuple[Float64, Float64], float]:
    """Proved centres and radii, and how far they protrude at most, metres."""
    spheres = finish(problem, balls)
    return spheres, protrusion(problem.shape, *spheres)[1]
