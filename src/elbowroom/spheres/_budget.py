"""Sharing a budget of spheres between links along their cost curves.

The cost of a link falls with its number of spheres. On the lower convex envelope of each curve, giving the next
spheres to the link that gains most per sphere is optimal for the sum. Before that, links are lifted to the count at
which they stay below the ratio cap, as far as the budget allows, so that small links do not starve: first to that ratio
to their convex hull, idle links last, then closed links that move to that ratio to their own volume. Weights say whose
volume matters more; what they may take from a link is bounded.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ._tight import VolumeCurve

SHELL_CAP = 1.5
"""Ratio to its hull that a thin shell should not exceed."""
CAP_MARGIN = 1.12
"""A careful fit is a little tighter than the curve says: a curve may exceed the cap by this factor."""


HULL_MARGIN = 0.98
"""Ratios of fits are measured quickly: those to the hull keep this share of the cap."""


@dataclass(frozen=True)
class Claim:
    """One group of equal links that shares the budget."""

    curve: VolumeCurve
    """Ratios by count."""
    volume: float
    """Reference volume of one link, cubic metres: weights its relative cost."""
    copies: int
    """Links that get the same spheres."""
    capped: bool
    """Whether the ratio cap holds for the volume of the mesh too (closed shapes)."""
    hull: float = 1.0
    """Volume of the convex hull over `volume`; 0 for a flat shape, which no ratio holds for."""
    known: tuple[tuple[int, float], ...] = ()
    """Count and ratio of careful fits."""
    weight: float = 1.0
    """Weight of its excess volume relative to a link that is in no other link's way."""
    idle: bool = False
    """Whether the links stand still, and nothing comes near them."""
    moves: bool = True
    """Whether the ratio cap to the mesh matters: not for links that stand still."""
    keeps: float = 0.0
    """Share of what volume alone would give the links that others with larger weights leave to them."""

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

    def near_hull(self, cap: float, most: int) -> int:
        """Least count that is expected to stay below `cap` times the hull, 0 if none up to `most` is."""
        return self._reaching(HULL_MARGIN * cap * self.hull, most) if self.hull > 0.0 else 1

    def above_hull(self, ratio: float, cap: float) -> bool:
        """Whether a ratio to `volume` is above `cap` times the hull."""
        return 0.0 < HULL_MARGIN * cap * self.hull < ratio

    def below(self, cap: float, most: int, shells: bool = True) -> int:
        """Least count that is expected to stay below the ratio cap; 1 for an open shape.

        Thin shells cannot with any count up to `most`: if asked, they get what keeps them below SHELL_CAP times their
        hull.
        """
        return max(self._reaching(self.goal(cap, most, shells), most), 1) if self.capped else 1

    def goal(self, cap: float, most: int, shells: bool = True) -> float:
        """Ratio that a closed shape should stay below: the cap, or for a thin shell, if asked, what its hull allows."""
        if shells and self._reaching(cap, most) == 0:
            return max(SHELL_CAP * self.hull, cap)
        return cap

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
    """Ratio that links should not exceed."""
    target: float = 1.0
    """Without a budget: union over reference volume of all links together at which no more are given."""
    least_gain: float = 0.0
    """Without a budget: share of the reference volume of all links that a sphere more must save."""
    total: int | None = None
    """Without a budget: spheres in all, once that is settled."""
    most: int | None = None
    """Spheres of one link at most; None: twice what its curve has tried."""

    def limits(self, claims: Sequence[Claim]) -> list[int]:
        """Most spheres of a link, by group."""
        return [self.most or 2 * claim.curve.counts[-1] for claim in claims]

    def lifts(self, claims: Sequence[Claim]) -> list[int]:
        """Counts that keep links below the cap, by hull and, if they move, by mesh; 1 where none does."""
        near = [claim.near_hull(self.cap, n) for claim, n in zip(claims, self.limits(claims), strict=True)]
        wanted = [n if claim.moves else 0 for claim, n in zip(claims, self.wanted(claims), strict=True)]
        return [max(1, a, b) for a, b in zip(near, wanted, strict=True)]

    def wanted(self, claims: Sequence[Claim]) -> list[int]:
        """Counts that keep closed links below the cap.

        Of a given budget, links that need more than their curves have tried would take too much from the others.
        """
        return [claim.below(self.cap, self.reach(claim), shells=self.budget is None) for claim in claims]

    def reach(self, claim: Claim) -> int:
        """Most spheres that a closed link may be given to stay below the cap."""
        return self.most or claim.curve.counts[-1]


def share_budget(claims: Sequence[Claim], rule: Rule) -> list[int]:
    """Number of spheres for each link of each group; the sum over copies never exceeds the budget."""
    budget = rule.budget or rule.total or enough(claims, rule)
    counts, left = [1] * len(claims), budget - sum(claim.copies for claim in claims)
    limits = rule.limits(claims)
    goals = (
        [0 if claim.idle else claim.near_hull(rule.cap, n) for claim, n in zip(claims, limits, strict=True)],
        [claim.near_hull(rule.cap, n) if claim.idle else 0 for claim, n in zip(claims, limits, strict=True)],
        [n if claim.moves else 0 for claim, n in zip(claims, rule.wanted(claims), strict=True)],
    )
    for wanted in (*goals, _kept(claims, replace(rule, budget=budget))):
        left = _lift(claims, counts, wanted, left)
    hulls = [_envelope(claim.model()) for claim in claims]
    weights = [claim.weight * claim.volume for claim in claims]
    queue = [_offer(hulls[k], counts[k], weights[k], k) for k in range(len(claims))]
    heapq.heapify(queue)
    while queue:
        gain, k, step = heapq.heappop(queue)
        step = min(step, left // claims[k].copies, limits[k] - counts[k])
        if step > 0 and gain < 0.0:
            counts[k] += step
            left -= step * claims[k].copies
            heapq.heappush(queue, _offer(hulls[k], counts[k], weights[k], k))
    return counts


def _kept(claims: Sequence[Claim], rule: Rule) -> list[int]:
    """Counts that weights do not take from links."""
    if not any(claim.keeps for claim in claims):
        return [1] * len(claims)
    plain = share_budget([replace(claim, weight=1.0, idle=False, keeps=0.0) for claim in claims], rule)
    return [int(np.ceil(claim.keeps * n)) for claim, n in zip(claims, plain, strict=True)]


def enough(claims: Sequence[Claim], rule: Rule) -> int:
    """Spheres in all that reach the target volume, whatever is in whose way, and keep links below the cap."""
    limits, whole = rule.limits(claims), sum(claim.copies * claim.volume for claim in claims)
    counts = [1] * len(claims)
    left = sum((n - 1) * claim.copies for claim, n in zip(claims, limits, strict=True))
    left = _lift(claims, counts, rule.wanted(claims), left)
    models = [claim.model() for claim in claims]
    hulls = [_envelope(model) for model in models]
    volume = sum(
        claim.copies * claim.volume * (claim.base + model[n - 1][1])
        for claim, model, n in zip(claims, models, counts, strict=True)
    )
    queue = [_offer(hulls[k], counts[k], claims[k].volume, k) for k in range(len(claims))]
    heapq.heapify(queue)
    while queue and volume > rule.target * whole:
        gain, k, _ = heapq.heappop(queue)
        if gain < -rule.least_gain * whole and counts[k] < limits[k]:
            counts[k] += 1
            volume += gain * claims[k].copies
            heapq.heappush(queue, _offer(hulls[k], counts[k], claims[k].volume, k))
    near = [max(claim.near_hull(rule.cap, n), 1) for claim, n in zip(claims, limits, strict=True)]
    return max(
        sum(claim.copies * n for claim, n in zip(claims, each, strict=True)) for each in (counts, near)
    )


def _lift(claims: Sequence[Claim], counts: list[int], wanted: Sequence[int], left: int) -> int:
    """Raises counts to what is wanted, those that take fewest first; what is left of the budget."""
    need = [(n - counts[k]) * claims[k].copies for k, n in enumerate(wanted)]
    for k in sorted(range(len(claims)), key=lambda k: (need[k], k)):
        if 0 < need[k] <= left:
            counts[k] = wanted[k]
            left -= need[k]
    return left


def pick_known(claims: Sequence[Claim], rule: Rule) -> list[int]:
    """The best choice among the counts that have been fitted: fewest links above the cap, then least weighted volume.

    A ratio to the hull above the cap counts a thousand times one to the mesh. Exact, by dynamic programming over the
    budget. Each claim must have been seen, and the first fits together must keep to the budget.
    """
    worst = sum(
        claim.copies * claim.weight * claim.volume * max(r for _, r in claim.known) for claim in claims
    )
    budget = rule.budget or rule.total or enough(claims, rule)
    best = np.zeros(budget + 1)
    picks: list[list[int]] = []
    for claim in claims:
        new, pick = np.full(budget + 1, np.inf), [0] * (budget + 1)
        goal = claim.goal(rule.cap, rule.reach(claim), rule.budget is None)
        for count, ratio in claim.known:
            over = 1e6 * claim.above_hull(ratio, rule.cap) + 1e3 * (
                claim.capped and claim.moves and ratio > goal
            )
            worth = claim.copies * (claim.weight * ratio * claim.volume + over * worst)
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
