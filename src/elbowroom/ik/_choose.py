"""Which of the configurations that meet the targets is the answer: the nearest that the model calls free.

Every part of a question (see `_setup`) has its own candidates. Combinations are judged in the order of their distance
to the seed configuration, so the first free one is the nearest free one. Most questions end at the first. Where it
collides, candidates that collide already with the other arms at rest go last, and the rest is judged in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from ._setup import Part

BATCH = 16
COMBINATIONS = 96
"""Judged at most in a round: beyond, new candidates are worth more than further combinations of the old."""
POOL = 64
"""Candidates of a part that are combined with one other part, the nearest of them; fewer with more parts."""
LAST = 1e6
"""Added to the squared distance of what comes last."""


@dataclass(eq=False)
class Pool:
    """Candidates of one part."""

    part: Part
    rows: Float[np.ndarray, "n dof"]
    """Whole configurations where searches ended; only the joints of the part count."""
    distance: Float[np.ndarray, "n"]
    """To the seed configuration, squared; infinite where a search did not arrive."""
    order: list[int]
    """Candidates: rows that arrived, the nearest first."""
    alone: dict[int, bool] = field(default_factory=dict[int, bool])
    """Whether a candidate is free while the other parts rest."""

    def add(self, rows: Float[np.ndarray, "k dof"], distance: Float[np.ndarray, "k"]) -> None:
        """The rows of another round."""
        self.rows, self.distance = (
            np.concatenate([self.rows, rows]),
            np.concatenate([self.distance, distance]),
        )
        count = int(np.isfinite(self.distance).sum())
        self.order = np.argsort(self.distance, kind="stable")[:count].tolist()


@dataclass(eq=False)
class Chooser:
    """Judges combinations of candidates, none twice."""

    base: Float[np.ndarray, "dof"]
    """Values of all joints that no candidate has."""
    free: Callable[[Any], Any] | None
    """The verdict, of one configuration or of several; None when everything counts as free."""
    judged: set[tuple[int, ...]] = field(default_factory=set[tuple[int, ...]])
    """Combinations that are not free."""
    refused: Float[np.ndarray, "dof"] | None = None
    """The first of them: the nearest combination that meets the targets."""

    def choose(self, pools: Sequence[Pool]) -> Float[np.ndarray, "dof"] | None:
        """The nearest free combination of what the pools hold; None when there is none."""
        free = self.free
        best = tuple([pool.order[0] for pool in pools])
        if best not in self.judged:
            cfg = self._one(pools, best)
            if free is None or free(cfg):
                return cfg
            self._refuse(best, cfg)
        if free is None:
            return None
        penalties = None if len(pools) == 1 else [self._collides_alone(pool, free) for pool in pools]
        left = [c for c in _in_order(pools, penalties) if c not in self.judged]
        for start in range(0, len(left), BATCH):
            batch = left[start : start + BATCH]
            cfgs = _joined(self.base, pools, batch)
            verdicts = free(cfgs)
            best = int(np.argmax(verdicts))
            for combination, cfg in zip(batch[:best] if verdicts[best] else batch, cfgs, strict=False):
                self._refuse(combination, cfg)
            if verdicts[best]:
                return np.array(cfgs[best])
        return None

    def _refuse(self, combination: tuple[int, ...], cfg: Float[np.ndarray, "dof"]) -> None:
        self.judged.add(combination)
        if self.refused is None:
            self.refused = cfg

    def _one(self, pools: Sequence[Pool], combination: tuple[int, ...]) -> Float[np.ndarray, "dof"]:
        """The whole configuration of a combination."""
        if len(pools) == 1:
            return pools[0].rows[combination[0]].copy()
        out = self.base.copy()
        for pool, row in zip(pools, combination, strict=True):
            idx = pool.part.joint_idx
            out[idx] = pool.rows[row, idx]
        return out

    def _collides_alone(self, pool: Pool, free: Callable[[Any], Any]) -> Bool[np.ndarray, "n"]:
        """Which candidates collide while the other parts rest where the base has them."""
        new = [k for k in pool.order if k not in pool.alone]
        if new:
            rows = np.repeat(self.base[None], len(new), axis=0)
            rows[:, pool.part.joint_idx] = pool.rows[new][:, pool.part.joint_idx]
            pool.alone.update(zip(new, free(rows).tolist(), strict=True))
        return np.array([not pool.alone.get(k, False) for k in range(len(pool.rows))])


def combined(base: Float[np.ndarray, "dof"], pools: Sequence[Pool]) -> Float[np.ndarray, "n dof"]:
    """Whole configurations of what the pools hold, the nearest to the seed configuration first."""
    return _joined(base, pools, _in_order(pools, None))


def _joined(
    base: Float[np.ndarray, "dof"], pools: Sequence[Pool], combinations: Sequence[tuple[int, ...]]
) -> Float[np.ndarray, "n dof"]:
    """Whole configurations of combinations."""
    if len(pools) == 1:
        return pools[0].rows[[combination[0] for combination in combinations]]
    out = np.repeat(base[None], len(combinations), axis=0)
    for k, pool in enumerate(pools):
        idx = pool.part.joint_idx
        out[:, idx] = pool.rows[[combination[k] for combination in combinations]][:, idx]
    return out


def _in_order(
    pools: Sequence[Pool], penalties: Sequence[Bool[np.ndarray, "n"]] | None
) -> list[tuple[int, ...]]:
    """Combinations, one candidate of each pool: fewest penalties first, then the smallest distance in all."""
    if len(pools) == 1:
        return [(k,) for k in pools[0].order[:COMBINATIONS]]
    kept: list[Int[np.ndarray, "n"]] = []
    total = np.zeros(())
    for k, pool in enumerate(pools):
        cost = pool.distance + (0.0 if penalties is None else LAST * penalties[k])
        most = min(len(pool.order), max(2, int(POOL ** (2.0 / len(pools)))))
        near = np.argsort(cost, kind="stable")[:most]
        kept.append(near)
        total = np.add.outer(total, cost[near])
    first = np.argsort(total, axis=None, kind="stable")[:COMBINATIONS]
    places = np.stack(np.unravel_index(first, total.shape), axis=1).tolist()
    return [tuple(int(kept[k][place]) for k, place in enumerate(row)) for row in places]
