"""CollisionRows: what keeps a robot from touching itself and the world, linearised at one configuration.

Method in `_kernels_rows`. The rows are a model of what happens near the configuration, for optimisers; that a motion is
free is never concluded from them but proved (`_proof`).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .._frozen import frozen
from .._numba.collision.parts import Parts
from ..collision import CollisionModel

MOST_WORLD_ROWS = 512
"""Rows of links and obstacles at most: beyond, a robot sits in a heap of things, and the proof has the last word."""
SPREAD, ALL = 3, -1
"""Rows of one pair of links at most, and what asks for all pairs, as in `_kernels_rows`."""
_EVERY = np.full(2, ALL)
Found = tuple[
    Float[np.ndarray, "m dof"], Float[np.ndarray, "m"], Int[np.ndarray, "m 2"], Int[np.ndarray, "m"]
]
"""Rows, distances, of whom, and which are rough."""


@dataclass(frozen=True, eq=False)
class RowSet:
    """The constraints at one configuration: to first order, `distance + A @ change` is the distance after a change."""

    A: Float[np.ndarray, "m dof"]
    """How each distance changes with the joints, m per rad or m."""
    distance: Float[np.ndarray, "m"]
    """Metres above the buffer, never negative: 0 where two things are not farther apart than the buffer."""
    of: Int[np.ndarray, "m 2"]
    """Pair of links and -1, or link and obstacle: numbers of `parts`."""
    rough: Int[np.ndarray, "m"]
    """1 for rows of spheres with meshes behind them, whose distances may be too small; see `CollisionRows.measure`."""
    low: Float[np.ndarray, "pairs"]
    """Lower bound of the distance of every checked pair above the buffer; where that is not positive the distance
    itself, minus infinity where meshes touch."""
    low_world: Float[np.ndarray, "links"] | None
    """The same of every link to all obstacles; None without a world."""
    within: Float[np.ndarray, "links obstacles"] | None
    """Distance above the buffer of links and obstacles where that is not positive, minus infinity where they touch;
    infinite elsewhere."""
    closest: Int[np.ndarray, "pairs 2"]
    """Closest triangles of the pairs that were measured by their meshes, -1 for others."""
    parts: Parts

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Of each row: two links, or a link and an obstacle."""
        return tuple(self.name(k) for k in range(len(self.distance)))

    def name(self, k: int) -> tuple[str, str]:
        """Who row `k` is about."""
        first, second = self.of[k].tolist()
        if second < 0:
            return self.parts.own.pairs[first]
        among = self.parts.among
        assert among is not None
        return among.links[first], among.obstacles[second]

    @property
    def in_contact(self) -> bool:
        """Whether anything is not farther apart than the buffer."""
        return self.clearance <= 0.0

    @property
    def contacts(self) -> tuple[tuple[str, str], ...]:
        """Pairs that are not farther apart than the buffer: links, then links and obstacles."""
        found = [self.parts.own.pairs[k] for k in np.flatnonzero(self.low <= 0.0)]
        among = self.parts.among
        if self.within is not None and among is not None:
            found += [(among.links[a], among.obstacles[b]) for a, b in np.argwhere(self.within <= 0.0)]
        return tuple(found)

    @property
    def overlaps(self) -> tuple[tuple[str, str], ...]:
        """Those of them whose meshes, or exact shapes, touch."""
        found = [self.parts.own.pairs[k] for k in np.flatnonzero(self.low == -np.inf)]
        among = self.parts.among
        if self.within is not None and among is not None:
            found += [(among.links[a], among.obstacles[b]) for a, b in np.argwhere(self.within == -np.inf)]
        return tuple(found)

    @cached_property
    def clearance(self) -> float:
        """Lower bound of the clearance above the buffer, metres; not meaningful beyond the reach that was asked."""
        low = min(self.low.tolist(), default=np.inf)
        return low if self.low_world is None else min(low, *self.low_world.tolist())


class CollisionRows:
    """Makes the rows of a collision model; one instance serves any number of threads."""

    def __init__(self, model: CollisionModel, buffer: float | None = None) -> None:
        """Takes what the model is packed into.

        Args:
            model: the robot, and its obstacles.
            buffer: metres that pairs shall be apart; that of the model when omitted or smaller.
        """
        self.model = model
        self.parts = model.parts
        self.buffer = max(model.buffer, buffer or 0.0)
        self._local = threading.local()

    def at(self, cfg: Float[np.ndarray, "dof"], reach: float) -> RowSet:
        """The rows at a configuration.

        Args:
            cfg: (dof,) float64, finite.
            reach: metres above the buffer within which pairs get rows.
        """
        cfg, own, among = as_row(cfg), self.parts.own, self.parts.among
        low, closest = np.empty(len(own.pairs)), np.empty((len(own.pairs), 2), np.int64)
        found = self._own_rows(cfg, ALL, reach, low, closest)
        if among is None:
            return RowSet(*found, low, None, None, closest, self.parts)
        low_world, within = np.empty(len(among.links)), np.full(among.allowed.shape, np.inf)
        more = self._world_rows(cfg, _EVERY, reach, low_world, within)
        joined = [np.concatenate(both) for both in zip(found, more, strict=True)]
        return RowSet(joined[0], joined[1], joined[2], joined[3], low, low_world, within, closest, self.parts)

    def measure(
        self, cfg: Float[np.ndarray, "dof"], of: tuple[int, int], reach: float, at: RowSet
    ) -> tuple[Float[np.ndarray, "dof"], float] | None:
        """The row and the distance of one pair by its meshes; None where these are not within reach.

        Args:
            cfg: the configuration.
            of: an entry of `RowSet.of`.
            reach: metres above the buffer.
            at: the rows there, whose bound for a pair of links is raised to what is found.
        """
        if of[1] < 0:
            found = self._own_rows(as_row(cfg), of[0], reach, at.low, at.closest)
        else:
            among = self.parts.among
            assert among is not None
            low, within = np.empty(len(among.links)), np.full(among.allowed.shape, np.inf)
            found = self._world_rows(as_row(cfg), np.array(of), reach, low, within)
        return (found[0][0], float(found[1][0])) if len(found[1]) else None

    def _own_rows(
        self,
        cfg: Float[np.ndarray, "dof"],
        only: int,
        reach: float,
        low: Float[np.ndarray, "pairs"],
        closest: Int[np.ndarray, "pairs 2"],
    ) -> Found:
        from ._kernels_rows import own_rows

        own = self.parts.own
        memory, scratch, rows, distances, of, rough = self._own()
        m = own_rows(
            cfg, only, reach, self.buffer, own.bodies, own.chains.chains, memory, scratch, rows, distances, of,
            rough, low, closest,
        )  # fmt: skip
        return rows[:m].copy(), distances[:m].copy(), of[:m].copy(), rough[:m].copy()

    def _world_rows(
        self,
        cfg: Float[np.ndarray, "dof"],
        only: Int[np.ndarray, "2"],
        reach: float,
        low: Float[np.ndarray, "links"],
        within: Float[np.ndarray, "links obstacles"],
    ) -> Found:
        from ._kernels_rows_world import world_rows

        among = self.parts.among
        assert among is not None
        scratch, rows, distances, of, rough = self._world()
        m = world_rows(
            cfg, only, reach, self.buffer, among.bodies, among.world, among.grid, among.allowed, scratch, rows,
            distances, of, rough, low, within,
        )  # fmt: skip
        return rows[:m].copy(), distances[:m].copy(), of[:m].copy(), rough[:m].copy()

    def _own(self) -> tuple[Any, ...]:
        """Memory, scratch and space of the calling thread."""
        kept = getattr(self._local, "own", None)
        if kept is None:
            from ._kernels_rows import own_memory, own_scratch

            own, most = self.parts.own, max(1, SPREAD * len(self.parts.own.pairs))
            scratch = own_scratch(own.bodies)
            memory = own_memory(self.model.robot.dof, len(own.pairs))
            kept = self._local.own = memory, scratch, *self._space(most)
        return kept

    def _world(self) -> tuple[Any, ...]:
        kept = getattr(self._local, "world", None)
        if kept is None:
            from ._kernels_rows_world import world_scratch

            among, most = self.parts.among, MOST_WORLD_ROWS
            assert among is not None
            scratch = world_scratch(among.bodies, among.world)
            kept = self._local.world = scratch, *self._space(most)
        return kept

    def _space(self, most: int) -> Found:
        """Where kernels write rows."""
        numbers = np.empty((most, 2), np.int64), np.empty(most, np.int64)
        return np.empty((most, self.model.robot.dof)), np.empty(most), *numbers

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model, "buffer": self.buffer}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["model"], state["buffer"])


def as_row(cfg: Float[np.ndarray, "dof"]) -> Float[np.ndarray, "dof"]:
    """A configuration as the kernels know it: contiguous, float64, its own, read-only."""
    return frozen(np.array(cfg, dtype=np.float64))
