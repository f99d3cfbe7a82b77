"""Which of the configurations that meet the targets is the answer: the nearest that the model calls free.

Every part of a question (see `_setup`) has its own candidates. Combinations are judged in the order of their distance
to the seed configuration, so the first free one is the nearest free one. Most questions end at the first. Where it
collides, candidates that collide already with the other arms at rest go last, and the rest is judged in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int

from ._setup import Part, Setup

FIRST = 2
"""Combinations judged one by one before batches are made."""
BATCH = 16
COMBINATIONS = 96
"""Judged at most in a round: beyond, new candidates are worth more than further combinations of the old."""
POOL = 64
"""Candidates of a part that are combined, the nearest of them."""
Free = Callable[[Float[np.ndarray, "n dof"]], Bool[np.ndarray, "n"]]


@dataclass(eq=False)
class Pool:
    """Candidates of one part."""

    part: Part
    rows: Float[np.ndarray, "n dof"]
    """Whole configurations; only the joints of the part count."""
    distance: Float[np.ndarray, "n"]
    alone: dict[int, bool] = field(default_factory=dict[int, bool])
    """Whether a candidate is free while the other parts rest."""

    def add(self, rows: Float[np.ndarray, "k dof"], distance: Float[np.ndarray, "k"]) -> None:
        """More candidates."""
        if len(self.rows):
            rows, distance = np.concatenate([self.rows, rows]), np.concatenate([self.distance, distance])
        self.rows, self.distance = rows, distance


@dataclass(frozen=True, eq=False)
class Choice:
    """A configuration that meets the targets."""

    cfg: Float[np.ndarray, "dof"]
    free: bool
    rank: int
    """How many were judged before it in its round."""


@dataclass(eq=False)
class Chooser:
    """Judges combinations of candidates, none twice."""

    setup: Setup
    base: Float[np.ndarray, "dof"]
    """Values of all joints that no candidate has."""
    free_one: Callable[[Float[np.ndarray, "dof"]], bool] | None
    """The verdict; None when everything counts as free."""
    free_many: Free | None
    judged: set[tuple[int, ...]] = field(default_factory=set[tuple[int, ...]])
    refused: Float[np.ndarray, "dof"] | None = None
    """The nearest combination that meets the targets and is not free."""

    def choose(self, pools: Sequence[Pool]) -> Choice | None:
        """The nearest free combination of what the pools hold; None when there is none."""
        if self.free_one is None or self.free_many is None:
            return Choice(self._joined(pools, [_order(pools, None, 1)[0]])[0], True, 0)
        rank = 0
        for combination in _order(pools, None, FIRST):
            if tuple(combination) in self.judged:
                continue
            cfg = self._joined(pools, [combination])[0]
            if self.free_one(cfg):
                return Choice(cfg, True, rank)
            self._refuse(combination, cfg)
            rank += 1
        penalties = [self._alone(pool) for pool in pools] if len(pools) > 1 else None
        left = [c for c in _order(pools, penalties, COMBINATIONS) if tuple(c) not in self.judged]
        for start in range(0, len(left), BATCH):
            batch = left[start : start + BATCH]
            cfgs = self._joined(pools, batch)
            free = self.free_many(cfgs)
            if free.any():
                best = int(np.argmax(free))
                return Choice(cfgs[best], True, rank + best)
            for combination, cfg in zip(batch, cfgs, strict=True):
                self._refuse(combination, cfg)
            rank += len(batch)
        return None

    def _refuse(self, combination: Sequence[int], cfg: Float[np.ndarray, "dof"]) -> None:
        self.judged.add(tuple(combination))
        if self.refused is None:
            self.refused = cfg

    def _joined(
        self, pools: Sequence[Pool], combinations: Sequence[Sequence[int]]
    ) -> Float[np.ndarray, "n dof"]:
        """Whole configurations of combinations."""
        if len(pools) == 1:
            return pools[0].rows[[combination[0] for combination in combinations]]
        out = np.repeat(self.base[None], len(combinations), axis=0)
        for k, pool in enumerate(pools):
            idx = pool.part.joint_idx
            out[:, idx] = pool.rows[[combination[k] for combination in combinations]][:, idx]
        return out

    def _alone(self, pool: Pool) -> Bool[np.ndarray, "n"]:
        """Which candidates collide while the other parts rest where the base has them."""
        new = [k for k in range(len(pool.rows)) if k not in pool.alone]
        if new and self.free_many is not None:
            rows = np.repeat(self.base[None], len(new), axis=0)
            rows[:, pool.part.joint_idx] = pool.rows[new][:, pool.part.joint_idx]
            pool.alone.update(zip(new, self.free_many(rows).tolist(), strict=True))
        return np.array([not pool.alone[k] for k in range(len(pool.rows))])


def _order(
    pools: Sequence[Pool], penalties: Sequence[Bool[np.ndarray, "n"]] | None, most: int
) -> list[list[int]]:
    """Combinations, one candidate of each pool: fewest penalties first, then the smallest distance in all."""
    if len(pools) == 1:
        return [[k] for k in np.argsort(pools[0].distance, kind="stable")[:most].tolist()]
    if penalties is None and most <= FIRST:  # the nearest of each, and the next best swap of one of them
        return _nearest(pools)[:most]
    kept: list[Int[np.ndarray, "n"]] = []
    total = np.zeros(())
    for k, pool in enumerate(pools):
        cost = pool.distance + (0.0 if penalties is None else 1e6 * penalties[k])
        near = np.argsort(cost, kind="stable")[: max(2, int(POOL ** (2.0 / len(pools))))]
        kept.append(near)
        total = np.add.outer(total, cost[near])
    first = np.argsort(total, axis=None, kind="stable")[:most]
    places = np.stack(np.unravel_index(first, total.shape), axis=1)
    return [[int(kept[k][place]) for k, place in enumerate(row)] for row in places]


def _nearest(pools: Sequence[Pool]) -> list[list[int]]:
    """The nearest of each pool, and that with the cheapest change of one."""
    orders = [np.argsort(pool.distance, kind="stable")[:2].tolist() for pool in pools]
    best = [order[0] for order in orders]
    swaps = [
        (float(pool.distance[order[1]] - pool.distance[order[0]]), k, order[1])
        for k, (pool, order) in enumerate(zip(pools, orders, strict=True))
        if len(order) > 1
    ]
    if not swaps:
        return [best]
    _, k, other = min(swaps)
    return [best, [*best[:k], other, *best[k + 1 :]]]
