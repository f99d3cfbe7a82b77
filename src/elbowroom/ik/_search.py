"""The rounds of a solve: sixteen starts at a time, until a combination of what they reach is free.

The first round starts from the seed configuration, where there is one, and from the entries of the seed table whose
links are nearest to the targets. Later rounds take the entries that come next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from ..collision import CollisionModel
from ._choose import Chooser, Pool
from ._options import IkOptions
from ._problem import Lanes
from ._setup import Part, Setup
from ._targets import Target

LANES = 16
"""Starts of a round."""
ENOUGH = 4
"""Starts that have arrived after which a round without a seed may end; with one, all run on, since the nearest may be
the slowest."""
POLISH = 60
"""Steps that bring a best effort to its minimum, where a search that still might arrive would have been given up."""
SAME = 1.1
"""Best efforts whose squared residual is at most so many times the smallest count as equal: a free one is preferred."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a search ended with."""

    cfg: Float[np.ndarray, "dof"]
    met: bool
    """Whether the searches of all parts arrived."""
    free: bool | None
    """The verdict; None without a model."""
    candidates: int
    seeds_tried: int
    iterations: int
    refused: int
    """Combinations that were judged before it and are not free."""
    timed_out: bool
    refined: bool = False
    """Whether it was moved for secondary aims."""


@dataclass(eq=False)
class Search:
    """One question: targets of a shape, values of the joints that are held, and who judges."""

    setup: Setup
    targets: Sequence[Target]
    base: Float[np.ndarray, "dof"]
    """All joints: where starts are not told otherwise, and the reference of distances."""
    seeded: bool
    """Whether `base` is a seed configuration that a start should be made from."""
    model: CollisionModel | None
    options: IkOptions
    deadline: float
    """Of `time.perf_counter`."""
    tries: list[Tries] = field(default_factory=list["Tries"], init=False)
    """What was started, per part."""
    cfg: Float[np.ndarray, "dof"] | None = field(default=None, init=False)
    """The answer, once there is one."""
    setup_seconds: float = field(default=0.0, init=False)
    """Until all that is made once was made, with the first round of starts; not counted against the deadline."""

    def __post_init__(self) -> None:
        free = None if self.model is None else self.model.free
        self._chooser = Chooser(self.base, free)
        self.tries = [Tries(part, self) for part in self.setup.parts]

    @property
    def rounds(self) -> int:
        """How many the options allow."""
        return -(-self.options.seeds // LANES)

    def run(self) -> Found:
        """Rounds until there is a free answer, no seed is left, or time is up."""
        tries = self.tries
        if not tries:
            return self.end()
        for _ in range(self.rounds):
            for one in self.waiting():
                one.start()
            if self.setup.cold:  # tables were made and kernels may have been compiled: that does not count
                now = time.perf_counter()
                self.setup_seconds = now - (self.deadline - self.options.timeout)
                self.deadline = now + self.options.timeout
                self.setup.cold = False
            if self.choose():
                break
            if time.perf_counter() > self.deadline:
                return self.end(timed_out=True)
            if all(one.spent for one in tries):
                break
        return self.end()

    def waiting(self) -> list[Tries]:
        """The parts that need more starts: those where nothing arrived, or all where no combination is free."""
        return [one for one in self.tries if one.pool is None] or self.tries

    def choose(self) -> bool:
        """Whether some combination of what arrived is free."""
        pools = [one.pool for one in self.tries if one.pool is not None]
        if len(pools) == len(self.tries):
            self.cfg = self._chooser.choose(pools)
        return self.cfg is not None

    def end(self, *, timed_out: bool = False) -> Found:
        """The answer, or the best that was found."""
        tries, cfg, free = self.tries, self.cfg, self._chooser.free
        if not tries:
            verdict = None if free is None else bool(free(self.base))
            return Found(np.array(self.base), True, verdict, 0, 0, 0, int(verdict is False), False)
        if cfg is None and self._chooser.refused is None:
            for one in tries:
                if one.pool is None:
                    one.polish()
            cfg = self.cfg if self.choose() else None
        verdict = None if free is None else cfg is not None
        if cfg is None:
            cfg = self._chooser.refused
        met = cfg is not None
        if cfg is None:
            cfg, verdict = self._best_effort(free)
        return Found(
            cfg,
            met,
            verdict,
            sum([0 if one.pool is None else len(one.pool.order) for one in tries]),
            sum([one.tried for one in tries]),
            sum([one.iterations for one in tries]),
            len(self._chooser.judged),
            timed_out,
        )

    def errors(
        self, cfg: Float[np.ndarray, "dof"]
    ) -> tuple[Float[np.ndarray, "targets"], Float[np.ndarray, "targets"]]:
        """Errors of all targets at a configuration: metres, radians."""
        setup = self.setup
        if len(setup.parts) == 1 and not setup.fixed:
            position, orientation = setup.parts[0].problem.errors(self.tries[0].values, cfg[None])
        else:
            position, orientation = setup.whole.errors(setup.whole.targets_row(self.targets), cfg[None])
        return position[0], orientation[0]

    def _best_effort(self, free: Callable[[Any], Any] | None) -> tuple[Float[np.ndarray, "dof"], bool | None]:
        """The nearest miss; of several that are as near, one that is free."""
        best = [one.best() for one in self.tries]
        count = max(map(len, best))
        cfgs = np.repeat(self.base[None], count, axis=0)
        for one, rows in zip(self.tries, best, strict=True):
            idx = one.part.joint_idx
            cfgs[:, idx] = rows[np.minimum(np.arange(count), len(rows) - 1)][:, idx]
        if free is None:
            return cfgs[0], None
        verdicts: Bool[np.ndarray, "n"] = free(cfgs)
        pick = int(np.argmax(verdicts))
        return np.array(cfgs[pick]), bool(verdicts[pick])


class Tries:
    """The starts of one part."""

    def __init__(self, part: Part, search: Search) -> None:
        self.part, self.search = part, search
        targets = search.targets
        self.values = part.problem.targets_row([targets[k] for k in part.positions])
        self.pool: Pool | None = None
        """What arrived."""
        self.tried = self.iterations = 0
        self.spent = False
        """Whether the table has no further entry to start from."""
        self._misses: list[Float[np.ndarray, "n dof"]] = []

    def start(self) -> None:
        """Runs the starts of a round."""
        search, options, part = self.search, self.search.options, self.part
        lanes = part.table(search.model, search.base, options).search(
            self.values,
            LANES,
            search.base if search.seeded else None,
            iterations=options.iterations,
            position_tolerance=options.position_tolerance,
            orientation_tolerance=options.orientation_tolerance,
            skip=self.tried,
            stop_at=0 if search.seeded else ENOUGH,
        )
        self.tried += LANES
        self.take(lanes)

    def polish(self) -> None:
        """Follows the closest misses to their minimum, where a search that ought to arrive soon was given up."""
        options = self.search.options
        lanes = self.part.problem.solve(
            self.values,
            self._closest()[0][:LANES],
            iterations=POLISH,
            position_tolerance=options.position_tolerance,
            orientation_tolerance=options.orientation_tolerance,
            careful=True,
        )
        self.take(lanes)

    def take(self, lanes: Lanes) -> None:
        """Keeps what arrived, or else the misses."""
        part, rows = self.part, lanes.rows
        order, distance = np.empty(len(rows), np.int64), np.empty(len(rows))
        count, steps = _arrivals()(rows, self.search.base, part.joint_idx, part.weights, order, distance)
        self.iterations += steps
        self.spent = len(rows) == 0
        if not count:
            if self.pool is None and len(rows):
                self._misses.append(lanes.cfgs)
        elif self.pool is None:
            self.pool = Pool(part, lanes.cfgs, distance, order[:count].tolist())
        else:
            self.pool.add(lanes.cfgs, distance)

    def best(self) -> Float[np.ndarray, "n dof"]:
        """What arrived, the nearest first, or what came closest to the targets, with what is as close."""
        if self.pool is not None:
            return self.pool.rows[self.pool.order[:LANES]]
        rows, cost = self._closest()
        return rows[cost <= SAME * cost[0]][:LANES]

    def _closest(self) -> tuple[Float[np.ndarray, "n dof"], Float[np.ndarray, "n"]]:
        """All misses sorted by their squared residuals, and these."""
        rows = np.concatenate(self._misses)
        residuals = self.part.problem.residuals(self.values, rows)
        cost = np.einsum("ij,ij->i", residuals, residuals)
        order = np.argsort(cost, kind="stable")
        return rows[order], cost[order]


@cache
def _arrivals() -> Any:
    """The kernel; numba loads when it is first needed."""
    from ._kernels_choose import arrivals

    return arrivals
