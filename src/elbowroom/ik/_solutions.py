"""Several answers to one question: configurations that meet the targets, are free, and differ from each other.

For who may choose among them: a planner aims at all and takes the first it reaches.
"""

from __future__ import annotations

import time

import numpy as np
from jaxtyping import Float

from ._choose import combined
from ._search import Search

DISTINCT = 0.2
"""Radians or metres by which some joint of two answers differs, at least."""
ROUNDING = 1.0 + 1e-9
"""Tolerances are met to rounding: errors are computed anew for the answers."""


def distinct_solutions(search: Search, count: int) -> Float[np.ndarray, "n dof"]:
    """Up to so many answers, those nearest to the seed configuration first.

    Args:
        search: a question that has not run yet.
        count: after which no further start is made.
    """
    kept: list[Float[np.ndarray, "dof"]] = []
    if not search.tries:
        return np.zeros((0, len(search.base)))
    for _ in range(search.rounds):
        for one in search.tries:
            one.start()
        pools = [one.pool for one in search.tries if one.pool is not None]
        if len(pools) == len(search.tries):
            kept = _apart(_accepted(search, combined(search.base, pools)), count)
        if len(kept) >= count or all(one.spent for one in search.tries):
            break
        if time.perf_counter() > search.deadline:
            break
    return np.array(kept).reshape(-1, len(search.base))


def _accepted(search: Search, cfgs: Float[np.ndarray, "n dof"]) -> Float[np.ndarray, "m dof"]:
    """Those that meet the targets, are within limits and free, by the same rules as one answer."""
    options, whole = search.options, search.setup.whole
    position, orientation = whole.errors(whole.targets_row(search.targets), cfgs)
    good = (position <= options.position_tolerance * ROUNDING).all(axis=1)
    good &= (orientation <= options.orientation_tolerance * ROUNDING).all(axis=1)
    for k, low, high in search.setup.limits:
        good &= (cfgs[:, k] >= low) & (cfgs[:, k] <= high)
    cfgs = cfgs[good]
    return cfgs if search.model is None or not len(cfgs) else cfgs[search.model.free(cfgs)]


def _apart(cfgs: Float[np.ndarray, "n dof"], count: int) -> list[Float[np.ndarray, "dof"]]:
    """The first that are not nearly one before them."""
    kept: list[Float[np.ndarray, "dof"]] = []
    for cfg in cfgs:
        if all(np.abs(cfg - other).max() >= DISTINCT for other in kept):
            kept.append(cfg)
        if len(kept) == count:
            break
    return kept
