"""What is close among the links at one configuration, measured: by meshes, or by spheres where a link has no mesh."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from jaxtyping import Float

from .._clash import Clash
from ..distance import SelfCollisionChecker
from ..mesh import ExactCollision
from ..pairs import PairEvidence, PairMatrix
from ..robot import Robot
from ..spheres import SphereModel
from ..typing import LinkPair


class NearLinks:
    """The checked pairs of links of a robot, and the ignored ones."""

    def __init__(self, robot: Robot, spheres: SphereModel, pairs: PairMatrix) -> None:
        self.robot, self.spheres, self.pairs = robot, spheres, pairs

    def near(self, row: Float[np.ndarray, "dof"]) -> tuple[Clash, ...]:
        """Every checked pair, the closest first."""
        found = self._checked.distances(row)
        if self._round is None:
            return found
        return tuple(sorted((*found, *self._round.closest(row)), key=lambda clash: clash.distance))

    def contacts(self, row: Float[np.ndarray, "dof"]) -> tuple[Clash, ...]:
        """Checked pairs that touch, the deepest first."""
        if self._round is not None:
            return tuple(clash for clash in self.near(row) if clash.distance <= 0.0)
        return self._checked.contacts(row)

    def measured(self, row: Float[np.ndarray, "dof"], pair: LinkPair) -> Clash:
        """One checked pair."""
        if self._round is not None and self.by_spheres(pair):
            return next(clash for clash in self._round.closest(row) if clash.pair == pair)
        return self._checked.distances(row, [pair])[0]

    def by_spheres(self, pair: LinkPair) -> bool:
        """Whether spheres have the last word on a pair: one of its links has no mesh."""
        return pair in self._checked.unchecked

    def ignored_touching(self, row: Float[np.ndarray, "dof"]) -> dict[LinkPair, PairEvidence]:
        """Ignored pairs whose meshes touch, and why they are ignored."""
        touching = np.flatnonzero(self._ignored.colliding(row))
        return {pair: self.pairs.entries[pair] for pair in (self._ignored.pairs[k] for k in touching)}

    @cached_property
    def _checked(self) -> ExactCollision:
        return ExactCollision(self.robot, self.pairs.checked)

    @cached_property
    def _round(self) -> SelfCollisionChecker | None:
        """The spheres of checked pairs in which a link has no mesh; None when there are none."""
        pairs = self._checked.unchecked
        return SelfCollisionChecker(self.robot, self.spheres, pairs, threads=1) if pairs else None

    @cached_property
    def _ignored(self) -> ExactCollision:
        return ExactCollision(self.robot, tuple(self.pairs.ignored))
