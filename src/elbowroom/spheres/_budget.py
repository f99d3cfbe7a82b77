"""Sharing a budget of spheres between links along their cost curves.

The cost of a link falls with its number of spheres. On the lower convex envelope of each curve, giving the next
spheres to whoever gains most per sphere is optimal for the sum. Before that, closed links are lifted to the
count at which they stay below the ratio cap, as far as the budget allows, so that small links do not starve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ._tight import Curve

CAP_MARGIN = 1.06
"""A careful fit is a little tighter than the curve says: a curve may exceed the cap by this factor."""


@dataclass(frozen=True)
class Claim:
    """One group of equal links that shares the budget."""

    curve: Curve
    """Ratios by count."""
    volume: float
    """Reference volume of one link, cubic metres: weights its relative cost."""
    copies: int
    """Links that get the same spheres."""
    capped: bool
    """Whether the ratio cap holds (closed shapes)."""
    known: tuple[tuple[int, float], ...] = ()
    """Count and ratio of careful fits."""

    def seen(self, count: int, ratio: float) -> Claim:
        """The claim with one careful fit more."""
        known = (*(k for k in self.known if k[0] != count), (count, ratio))
        return replace(self, known=tuple(sorted(known)))

    def model(self) -> list[tuple[int, float]]:
        """Excess volume by count, up to twice the curve's end, smoothed: single fits are noisy, their trend is not.

        The trend is a power law through the curve; careful fits scale it.
        """
        counts = np.array(self.curve.counts, dtype=float)
        costs = np.maximum(np.array(self.curve.ratios) - self.base, 1e-6)
        every = np.arange(1, 2 * int(counts[-1]) + 1)
        cost = np.exp(np.interp(np.log(every), np.log(counts), np.log(costs)))
        if len(counts) > 3:
            slope, level = np.polyfit(np.log(counts[1:]), np.log(costs[1:]), 1)
            trend = np.exp(level + slope * np.log(every))
            cost[1:] = np.cbrt(cost[1:] * trend[1:] ** 2)
            end = int(counts[-1])
            cost[end:] = cost[end - 1] * trend[end:] / trend[end - 1]
        if self.known:
            at = np.array([k[0] for k in self.known])
            scale = np.log([max(k[1] - self.base, 1e-6) / cost[min(k[0], len(cost)) - 1] for k in self.known])
            cost = cost * np.exp(np.interp(np.log(every), np.log(at), scale))
        return [(int(n), float(c)) for n, c in zip(every, np.minimum.accumulate(cost), strict=True)]

    @property
    def base(self) -> float:
        """Ratio that no count can go below: the solid itself, for a closed shape."""
        return 1.0 if self.capped else 0.0

    def below(self, cap: float) -> int:
        """Least count that is expected to stay below the ratio cap; 1 when it is out of reach (thin shells)."""
        too_few = max((n for n, ratio in self.known if ratio > cap), default=0)
        curve = zip(self.curve.counts, self.curve.ratios, strict=True)
        enough = [n for n, ratio in self.known if ratio <= cap] + [
            n for n, r in curve if r <= CAP_MARGIN * cap
        ]
        return min((n for n in enough if n > too_few), default=1)


def share_budget(claims: Sequence[Claim], budget: int, cap: float) -> list[int]:
    """Number of spheres for each link of each group; the sum over copies never exceeds the budget.

    Args:
        claims: the groups; the budget must allow one sphere for each link. budget: spheres in all.
        cap: ratio that capped groups should not exceed.
    """
    counts = [1] * len(claims)
    left = budget - sum(claim.copies for claim in claims)
    wanted = [claim.below(cap) if claim.capped else 1 for claim in claims]
    for k in sorted(range(len(claims)), key=lambda k: ((wanted[k] - 1) * claims[k].copies, k)):
        need = (wanted[k] - 1) * claims[k].copies
        if 0 < need <= left:
            counts[k] = wanted[k]
            left -= need
    hulls = [_envelope(claim.model()) for claim in claims]
    while True:
        best, gain_best, step_best = -1, 0.0, 0
        for k, claim in enumerate(claims):
            step, gain = _next(hulls[k], counts[k])
            step = min(step, left // claim.copies)
            if step > 0 and gain * claim.volume > gain_best:
                best, gain_best, step_best = k, gain * claim.volume, step
        if best < 0:
            return counts
        counts[best] += step_best
        left -= step_best * claims[best].copies


def pick_known(claims: Sequence[Claim], budget: int, cap: float) -> list[int]:
    """The best choice among the counts that have been fitted: fewest capped links above the cap, then least volume.

    Exact, by dynamic programming over the budget. Each claim must have been seen, and the first fits together must
    keep to the budget.
    """
    penalty = 1e3 * sum(claim.copies * claim.volume * max(r for _, r in claim.known) for claim in claims)
    best = np.zeros(budget + 1)
    picks: list[list[int]] = []
    for claim in claims:
        new, pick = np.full(budget + 1, np.inf), [0] * (budget + 1)
        for count, ratio in claim.known:
            worth = claim.copies * (ratio * claim.volume + (penalty if claim.capped and ratio > cap else 0.0))
            used = count * claim.copies
            for total in range(used, budget + 1):
                if best[total - used] + worth < new[total]:
                    new[total], pick[total] = best[total - used] + worth, count
        best = new
        picks.append(pick)
    counts: list[int] = []
    total = budget
    for claim, pick in zip(reversed(claims), reversed(picks), strict=True):
        counts.append(pick[total])
        total -= pick[total] * claim.copies
    return counts[::-1]


def _envelope(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Lower convex envelope of a curve."""
    hull: list[tuple[int, float]] = []
    for point in points:
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-2], point):
            hull.pop()
        hull.append(point)
    return hull


def _slope(a: tuple[int, float], b: tuple[int, float]) -> float:
    return (b[1] - a[1]) / (b[0] - a[0])


def _next(hull: list[tuple[int, float]], count: int) -> tuple[int, float]:
    """Spheres to the next corner of the envelope, and the gain per sphere; (0, 0) at the end."""
    counts = [c for c, _ in hull]
    k = int(np.searchsorted(counts, count, side="right"))
    if k >= len(hull):
        return 0, 0.0
    return counts[k] - count, -_slope(hull[k - 1], hull[k]) if k > 0 else 0.0
