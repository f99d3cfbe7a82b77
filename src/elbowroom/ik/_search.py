"""The rounds of a solve: sixteen starts at a time, until a combination of what they reach is free.

The first round starts from the seed configuration, where there is one, and from the entries of the seed table whose
links are nearest to the targets. Later rounds take the entries that come next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from ..collision import CollisionModel
from ._choose import Choice, Chooser, Pool
from ._options import IkOptions
from ._problem import Lanes
from ._setup import Part, Setup
from ._targets import Target

LANES = 16
"""Starts of a round."""
ENOUGH = 6
"""Starts that have arrived after which a round without a seed may end; with one, all run on, since the nearest may be
the slowest."""
SAME = 1.05
"""Best efforts whose error is at most so many times the smallest count as equal: a free one is preferred."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a search ended with."""

    cfg: Float[np.ndarray, "dof"]
    met: bool
    """Whether the configuration meets the targets."""
    free: bool | None
    candidates: int
    seeds_tried: int
    iterations: int
    rank: int
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
    tries: list[_Tries] = field(default_factory=list["_Tries"], init=False)
    """What was started, per part."""
    choice: Choice | None = field(default=None, init=False)
    """The answer, once there is one."""

    def __post_init__(self) -> None:
        free = None if self.model is None else self.model.free
        self._chooser = Chooser(self.setup, self.base, free, free)
        self.tries = [_Tries(part, self) for part in self.setup.parts]

    @property
    def rounds(self) -> int:
        """How many the options allow."""
        return -(-self.options.seeds // LANES)

    def run(self) -> Found:
        """Rounds until there is a free answer, no seed is left, or time is up."""
        if not self.tries:
            return self.end()
        rounds = self.rounds
        for number in range(rounds):
            for one in self.waiting():
                one.start(number)
            if self.choose():
                break
            if number + 1 < rounds and time.perf_counter() > self.deadline:
                return self.end(timed_out=True)
        return self.end()

    def waiting(self) -> list[_Tries]:
        """The parts that need more starts: those that nothing has reached, or all where no combination is free."""
        return [one for one in self.tries if not len(one.pool.rows)] or self.tries

    def choose(self) -> bool:
        """Whether some combination of what was reached is free."""
        if all(len(one.pool.rows) for one in self.tries):
            self.choice = self._chooser.choose([one.pool for one in self.tries])
        return self.choice is not None

    def end(self, *, timed_out: bool = False) -> Found:
        """The answer, or the best that was found."""
        tries, choice, free = self.tries, self.choice, None if self.model is None else self.model.free
        if not tries:
            return Found(np.array(self.base), True, free and bool(free(self.base)), 0, 0, 0, 0, False)
        free_as_told: bool | None = None if self.model is None else choice is not None
        cfg, rank = (None, 0) if choice is None else (choice.cfg, choice.rank)
        if cfg is None:
            cfg = self._chooser.refused
        met = cfg is not None
        if cfg is None:
            cfg, free_as_told = self._best_effort(tries, free)
        return Found(
            cfg,
            met,
            free_as_told,
            candidates=sum(len(one.pool.rows) for one in tries),
            seeds_tried=sum(one.tried for one in tries),
            iterations=sum(one.iterations for one in tries),
            rank=rank,
            timed_out=timed_out,
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

    def _best_effort(
        self, tries: Sequence[_Tries], free: Callable[[Any], Any] | None
    ) -> tuple[Float[np.ndarray, "dof"], bool | None]:
        """The nearest miss; of several that are as near, one that is free."""
        best = [one.best() for one in tries]
        count = max(map(len, best), default=0)
        cfgs = np.repeat(self.base[None], max(count, 1), axis=0)
        for one, rows in zip(tries, best, strict=True):
            idx = one.part.joint_idx
            cfgs[:, idx] = rows[np.minimum(np.arange(count), len(rows) - 1)][:, idx]
        if free is None:
            return cfgs[0], None
        verdicts: Bool[np.ndarray, "n"] = free(cfgs)
        pick = int(np.argmax(verdicts))
        return cfgs[pick], bool(verdicts[pick])


class _Tries:
    """The starts of one part."""

    def __init__(self, part: Part, search: Search) -> None:
        self.part, self.search = part, search
        self.values = part.problem.targets_row([search.targets[k] for k in part.positions])
        dof = len(search.base)
        self.pool = Pool(part, np.empty((0, dof)), np.empty(0))
        self.tried = self.iterations = 0
        self._misses: list[tuple[Float[np.ndarray, "n dof"], Float[np.ndarray, "n"]]] = []

    def start(self, number: int) -> None:
        """Runs the starts of a round."""
        search, options, part = self.search, self.search.options, self.part
        lanes = part.table(search.model, search.base, options).search(
            self.values,
            LANES,
            search.base if search.seeded else None,
            iterations=options.iterations,
            position_tolerance=options.position_tolerance,
            orientation_tolerance=options.orientation_tolerance,
            skip=number * LANES,
            stop_at=0 if search.seeded else ENOUGH,
        )
        self.take(lanes)

    def take(self, lanes: Lanes) -> None:
        """Keeps what starts have reached, or how near they came."""
        search, part = self.search, self.part
        self.tried += len(lanes.reached)
        self.iterations += int(lanes.iterations.sum())
        reached = lanes.reached
        if reached.any():
            rows = lanes.cfgs[reached]
            self.pool.add(rows, search.setup.distances(rows, search.base, part))
        elif not len(self.pool.rows):
            self._misses.append((lanes.cfgs, lanes.position_error.sum(1) + lanes.orientation_error.sum(1)))

    def best(self) -> Float[np.ndarray, "n dof"]:
        """What reached, the nearest first, or what came closest to the targets, with what is as close."""
        if len(self.pool.rows):
            return self.pool.rows[np.argsort(self.pool.distance, kind="stable")[:LANES]]
        rows = np.concatenate([rows for rows, _ in self._misses])
        errors = np.concatenate([errors for _, errors in self._misses])
        order = np.argsort(errors, kind="stable")
        equal = errors[order] <= SAME * errors[order[0]] + search_slack(self.search.options)
        return rows[order[equal]][:LANES]


def search_slack(options: IkOptions) -> float:
    """Errors that differ by less are equal."""
    return options.position_tolerance + options.orientation_tolerance
