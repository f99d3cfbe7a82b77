"""Deciding whether a pair that no sample brought together can meet at all.

A short attempt at a proof settles most pairs. The others are searched: low-discrepancy points in the joints
between the two links only, then a pattern search downhill from the best of them. Only if that finds nothing is
the full budget spent on the proof.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from .. import _core
from ._chain import PairChain
from ._sample import sobol

QUICK_BOXES = 500
"""Budget of the first attempt: below a millisecond."""
SEARCH_POINTS = 1024
"""Points in the joints between the links from which the best are starts of the search."""
SEARCH_ROUNDS = 60
"""Sweeps over the joints; steps halve when nothing helps, so the last are below 1e-9 of the range."""


@dataclass(frozen=True)
class SettleTask:
    """One pair to settle."""

    chain: PairChain
    pad: float
    boxes: int
    starts: int
    seed: int


@dataclass(frozen=True)
class Settled:
    """The outcome."""

    proved: bool
    meets: bool
    clearance: float
    """Proved lower bound, or the smallest clearance seen; without padding."""
    boxes: int
    cfg: Float[np.ndarray, "vars"] | None
    """Values of the pair's joints where it meets."""
    how: str
    seconds: float


def settle(task: SettleTask) -> Settled:
    """Proof, search, proof."""
    start = time.perf_counter()
    joints, pair = task.chain.joints, task.chain.core

    def attempt(boxes: int) -> Settled | None:
        status, bound, used, cfg = pair.prove(joints.lower, joints.upper, task.pad, boxes)
        spent = time.perf_counter() - start
        if status == _core.PROVED:
            return Settled(True, False, bound + task.pad, used, None, "proof", spent)
        if status == _core.HIT:
            return Settled(False, True, bound + task.pad, used, cfg, "proof attempt", spent)
        return None

    quick = attempt(min(QUICK_BOXES, task.boxes))
    if quick is not None:
        return quick
    points = sobol(task.seed, 0, SEARCH_POINTS, joints.lower, joints.upper)
    values = pair.clearances(points)
    starts = points[np.argsort(values, kind="stable")[: task.starts]]
    best, cfg = float(values.min()), points[int(values.argmin())]
    if len(starts) and best > task.pad:
        found, at = pair.search(starts, joints.lower, joints.upper, task.pad, SEARCH_ROUNDS)
        if found < best:
            best, cfg = found, at
    if best <= task.pad:
        return Settled(False, True, best, 0, cfg, "local search", time.perf_counter() - start)
    full = attempt(task.boxes) if task.boxes > QUICK_BOXES else None
    if full is not None:
        return full
    return Settled(False, False, best, task.boxes, None, "", time.perf_counter() - start)
