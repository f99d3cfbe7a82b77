"""The links of a robot against each other, in the compiled core: covering spheres, checked pairs, meshes.

`NearLinks` measures what is close among the links at one configuration: by meshes, or by spheres where a link has no
mesh.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .. import _core
from .._clash import Clash
from .._parallel import cores
from ..distance import SelfCollisionChecker
from ..distance.internal import largest_values
from ..mesh import ExactCollision, TriangleMesh
from ..pairs import PairEvidence, PairMatrix
from ..robot import Robot
from ..spheres import SphereModel
from ..typing import LinkPair

ORDER_SAMPLES = 256
"""Random configurations that decide the order of pairs, most often colliding first: it only costs or saves time."""
ROUNDING = 1e-9
"""Radians or metres beyond a limit that do not count."""
MADE = ("core", "core_spheres")
"""What is made on demand and does not travel."""

Balls = tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, "n"], Int[np.ndarray, "n"]]
"""Centres in link frames, radii, and links as positions in `robot.link_names`."""


class Links:
    """Spheres and meshes of the checked pairs of one robot."""

    def __init__(
        self, robot: Robot, spheres: SphereModel, pairs: PairMatrix, buffer: float, threads: int | None
    ) -> None:
        """Sorts the pairs.

        Args:
            robot: the robot.
            spheres: proved to cover its links.
            pairs: of which the checked ones count.
            buffer: metres that links must be apart.
            threads: for large batches; None uses all cores this process may run on.
        """
        self.robot, self.buffer, self.threads = robot, buffer, threads or cores()
        self._meshes = ExactCollision(robot, pairs.checked, threads=self.threads)
        self.spheres = replace(spheres, radii=spheres.padded_radii("self"), self_padding={})
        """What covers the links, padding applied."""
        solid = set(self.spheres.counts)
        self.pairs = self._sorted(pair for pair in pairs.checked if set(pair) <= solid)
        """Checked pairs of links with geometry, those that often collide first."""
        self._all_checked = pairs.for_buffer(np.inf) is pairs  # none was left out because of the limits
        self.only_meshes = frozenset(pairs.by_meshes)
        """Pairs that spheres cannot decide."""

    def _sorted(self, pairs: Iterable[LinkPair]) -> tuple[LinkPair, ...]:
        often = self._meshes.colliding(self._samples).sum(axis=0).tolist()
        count = dict(zip(self._meshes.pairs, often, strict=True))
        return tuple(sorted(pairs, key=lambda pair: -count.get(pair, 0)))

    @property
    def _samples(self) -> Float[np.ndarray, "n dof"]:
        low, high = (np.where(np.isfinite(v), v, 0.0) for v in (self.robot.lower, self.robot.upper))
        return np.random.default_rng(0).uniform(low, high, (ORDER_SAMPLES, self.robot.dof))

    @property
    def meshes(self) -> Mapping[str, TriangleMesh]:
        """Mesh of every link of a checked pair that has one."""
        return self._meshes.meshes

    @property
    def balls(self) -> Balls:
        """The spheres as arrays."""
        return self.spheres.centers, self.spheres.radii, self.spheres.link_idx

    @cached_property
    def core_spheres(self) -> _core.LinkSpheres:
        """The spheres in the compiled core, for joint values up to twice the limits."""
        return self.spheres_for(largest_values(self.robot.tree))

    def spheres_for(self, largest: Float[np.ndarray, "moving"]) -> _core.LinkSpheres:
        """The same for joint values up to `largest`."""
        return link_spheres(self.robot, self.balls, largest)

    @cached_property
    def core(self) -> _core.Scene:
        """Spheres, pairs and meshes in the compiled core, without obstacles."""
        return self.scene(self.core_spheres).tuned(self._samples)

    def scene(self, spheres: _core.LinkSpheres) -> _core.Scene:
        """Pairs and meshes with these spheres."""
        robot = self.robot
        meshes = {robot.link_index(name): mesh.tree for name, mesh in self.meshes.items()}
        pairs = np.array([[robot.link_index(name) for name in pair] for pair in self.pairs], dtype=np.int64)
        only_meshes = np.array([pair in self.only_meshes for pair in self.pairs], dtype=np.bool_)
        limits = np.stack([robot.lower - ROUNDING, robot.upper + ROUNDING])
        if self._all_checked:
            limits = np.array([[-np.inf], [np.inf]]) * np.ones(robot.dof)
        return _core.Scene(spheres, meshes, pairs.reshape(-1, 2), only_meshes, self.buffer, limits)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in MADE}


def link_spheres(robot: Robot, balls: Balls, largest: Float[np.ndarray, "moving"]) -> _core.LinkSpheres:
    """Spheres of links in the compiled core, for joint values up to `largest`."""
    centers, radii, link_idx = balls
    return _core.LinkSpheres(robot.tree.core, np.column_stack([centers, radii]), link_idx, largest)


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
