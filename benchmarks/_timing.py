"""Timing on noisy machines."""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu_seconds(function: Callable[[], object], repeats: int = 7) -> float:
    """Smallest CPU time of several runs: the run that was disturbed least."""
    return _smallest(time.process_time, function, repeats)


def wall_seconds(function: Callable[[], object], repeats: int = 7) -> float:
    """Smallest wall time of several runs, for work that uses all cores."""
    return _smallest(time.perf_counter, function, repeats)


def _smallest(clock: Callable[[], float], function: Callable[[], object], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        function()
        best = min(best, clock() - start)
    return best
