"""Which links limit motion: whose spheres are in the way of others while the meshes are apart, and who is idle.

Volume outside a mesh costs motion where another link wants to be. In sampled configurations, spheres of each pair are
examined: the share of them in which they overlap while the meshes are apart is a needless refusal that the two
links are to blame for, each by its part of the protrusion. To first order the blame falls as the excess volume falls,
so it becomes a weight on that volume, and one budget serves both: little volume in all, few needless refusals. Links
that stand still with nothing near them, such as antennas and wheel suspensions, count less.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ._budget import Claim
from ._meetings import Fits, Meetings
from ._mirror import Match
from ._quality import protrusion
from ._shape import Float64, LinkShape

IDLE = 0.25
"""Weight of links that stand still, with nothing near them."""
HARDLY = 0.02
"""Share of the configurations in which something comes near a link although it is idle."""
KEEPS, STILL_KEEPS = 0.85, 0.6
"""Share of what volume alone would give a link that it keeps: a link that moves, and one that stands still with others
near. The world is near any link that moves."""
REFUSAL = 0.5
"""What one needless overlap in every configuration counts, in volumes of the whole robot."""


Spheres = Mapping[int, tuple[Float64, Float64]]
"""Centres (n, 3) and radii (n,) by shape, metres, link frame."""


@dataclass(frozen=True)
class Importance:
    """Weighs the claims of links on a budget."""

    meetings: Meetings
    names: Sequence[str]
    shapes: Sequence[LinkShape]
    matches: Sequence[Match]
    """Of each link, the shape that it takes its spheres from."""

    def blamed(self, spheres: Spheres) -> frozenset[int]:
        """Shapes that some needless overlap is to blame on."""
        fits = self._placed(spheres)
        links = {name for pair in self.meetings.needless_overlaps(fits) for name in pair}
        return self._shapes_of(links)

    def touching_at_rest(self, spheres: Spheres) -> frozenset[int]:
        """Shapes of which spheres overlap slightly at the default configuration while the meshes are apart."""
        links = {name for pair in self.meetings.touching_at_rest(self._placed(spheres)) for name in pair}
        return self._shapes_of(links)

    def weigh(self, claims: dict[int, Claim], counts: dict[int, int], spheres: Spheres) -> dict[int, Claim]:
        """The claims with weights.

        Args:
            claims: by shape. counts: spheres of each shape.
            spheres: of each shape, from which the weights are computed.
        """
        fits = self._placed(spheres)
        reach = {k: protrusion(self.shapes[k], *balls) for k, balls in spheres.items()}
        placed = [(name, match.model) for name, match in zip(self.names, self.matches, strict=True)]
        blame = self._blame(fits, {name: reach[k][0] for name, k in placed if k in reach})
        idle = self._idle(fits, {name: reach[k][1] for name, k in placed if k in reach})
        whole = sum(claim.copies * claim.volume for claim in claims.values())
        out: dict[int, Claim] = {}
        for k, claim in claims.items():
            links = [name for name, model in placed if model == k]
            rests = all(name in idle for name in links)
            excess = claim.model()[counts[k] - 1][1] * claim.volume
            refusals = float(np.mean([blame.get(name, 0.0) for name in links]))
            weight = (IDLE if rests else 1.0) + REFUSAL * refusals * whole / max(excess, 1e-300)
            still = self.meetings.still.issuperset(links)
            keeps = 0.0 if rests else STILL_KEEPS if still else KEEPS
            out[k] = replace(claim, weight=weight, idle=rests, moves=not still, keeps=keeps)
        return out

    def _shapes_of(self, links: Collection[str]) -> frozenset[int]:
        """Shapes of links."""
        return frozenset(m.model for name, m in zip(self.names, self.matches, strict=True) if name in links)

    def _placed(self, spheres: Spheres) -> Fits:
        """Spheres by link."""
        return {
            name: (match.carry(spheres[match.model][0]), spheres[match.model][1])
            for name, match in zip(self.names, self.matches, strict=True)
            if match.model in spheres
        }

    def _blame(self, fits: Fits, reach: dict[str, float]) -> dict[str, float]:
        """Needless overlaps per configuration that links are to blame for, each by its part of the mean protrusion."""
        out: dict[str, float] = {}
        for (a, b), rate in self.meetings.needless_overlaps(fits).items():
            both = max(reach[a] + reach[b], 1e-300)
            out[a] = out.get(a, 0.0) + rate * reach[a] / both
            out[b] = out.get(b, 0.0) + rate * reach[b] / both
        return out

    def _idle(self, fits: Fits, reach: dict[str, float]) -> frozenset[str]:
        """Links that stand still, and that moving ones hardly ever come nearer than their largest protrusion."""
        still, adjacent = self.meetings.still, self.meetings.adjacent
        names, clearance = self.meetings.clearances(fits)
        found: set[str] = set()
        for i, a in enumerate(names):
            others = [j for j, b in enumerate(names) if b not in still and not {(a, b), (b, a)} & adjacent]
            # spheres do not depend on the default configuration, which comes first
            near = (clearance[1:, i, others] < reach[a]).any(axis=1)
            if a in still and near.mean() < HARDLY:
                found.add(a)
        return frozenset(found)
