"""Sharing a budget of spheres between links along their cost curves.

The cost of a link falls with its number of spheres. On the lower convex envelope of each curve, giving the next
spheres to whoever gains most per sphere is optimal for the sum. Before that, closed links are lifted to the
count at which they stay below the ratio cap, as far as the budget allows, so that small links do not starve.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ._tight import Curve

SHELL_CAP = 1.5
"""Ratio to its hull that a thin shell should not exceed."""
CAP_MARGIN = 1.12
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
    hull: float = 1.0
    """Volume of the convex hull over `volume`."""
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

    def below(self, cap: float, most: int, shells: bool = True) -> int:
        """Least count that is expected to stay below the ratio cap; 1 for an open shape.

        Thin shells cannot with any count up to `most`: if asked, they get what keeps them below SHELL_CAP times their
        hull.
        """
        if not self.capped:
            return 1
        enough = self._reaching(cap, most)
        if enough == 0 and shells:
            enough = self._reaching(max(SHELL_CAP * self.hull, cap), most)
        return max(enough, 1)

    def _reaching(self, ratio: float, most: int) -> int:
        """Least count expected to stay below a ratio, 0 if none does."""
        too_few = max((n for n, r in self.known if r > ratio), default=0)
        curve = zip(self.curve.counts, self.curve.ratios, strict=True)
        enough = [n for n, r in self.known if r <= ratio] + [n for n, r in curve if r <= CAP_MARGIN * ratio]
        enough += [n for n, cost in self.model() if n not in self.curve.counts and self.base + cost <= ratio]
        return min((n for n in enough if too_few < n <= most), default=0)


@dataclass(frozen=True)
class Rule:
    """When the sharing ends."""

    budget: int | None
    """Spheres in all; it must allow one for each link. None: as many as it takes to reach the target."""
    cap: float
    """Ratio that capped groups should not exceed."""
    target: float = 1.0
    """Without a budget: union over reference volume of all links together at which no more are given."""
    least_gain: float = 0.0
    """Without a budget: share of the reference volume of all links that a sphere more must save."""
    most: int = 48
    """Without a budget: spheres of one link at most."""


def share_budget(claims: Sequence[Claim], rule: Rule) -> list[int]:
    """Number of spheres for each link of each group; the sum over copies never exceeds the budget."""
    counts = [1] * len(claims)
    whole = sum(claim.copies * claim.volume for claim in claims)
    if rule.budget is None:
        limits, least = [rule.most] * len(claims), rule.least_gain * whole
        left = sum(rule.most * claim.copies for claim in claims)
    else:
        limits, least, left = [2 * claim.curve.counts[-1] for claim in claims], 0.0, rule.budget
    left -= sum(claim.copies for claim in claims)
    # of a given budget, links that need more than their curves have tried would take too much from the others
    reach = [rule.most if rule.budget is None else claim.curve.counts[-1] for claim in claims]
    wanted = [
        claim.below(rule.cap, most, rule.budget is None) for claim, most in zip(claims, reach, strict=True)
    ]
    for k in sorted(range(len(claims)), key=lambda k: ((wanted[k] - 1) * claims[k].copies, k)):
        need = (wanted[k] - 1) * claims[k].copies
        if 0 < need <= left:
            counts[k] = wanted[k]
            left -= need
    models = [claim.model() for claim in claims]
    hulls = [_envelope(model) for model in models]
    volume = sum(
        claim.copies * claim.volume * (claim.base + model[n - 1][1])
        for claim, model, n in zip(claims, models, counts, strict=True)
    )
    queue = [_offer(hulls[k], counts[k], claims[k].volume, k) for k in range(len(claims))]
    heapq.heapify(queue)
    while queue and (rule.budget is not None or volume > rule.target * whole):
        gain, k, step = heapq.heappop(queue)
        step = min(step if rule.budget is not None else 1, left // claims[k].copies, limits[k] - counts[k])
        if step > 0 and gain < -least:
            counts[k] += step
            left -= step * claims[k].copies
            volume += gain * step * claims[k].copies
            heapq.heappush(queue, _offer(hulls[k], counts[k], claims[k].volume, k))
    return counts


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


def _offer(hull: list[tuple[int, float]], count: int, volume: float, k: int) -> tuple[float, int, int]:
    """Volume that one sphere more of group k adds (negative), k, and the spheres to the next corner of its envelope."""
    place = bisect.bisect_right(hull, count, key=lambda corner: corner[0])
    if place >= len(hull):
        return 0.0, k, 0
    slope = _slope(hull[place - 1], hull[place]) if place > 0 else 0.0
    return slope * volume, k, hull[place][0] - count
