"""Timing on noisy machines."""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu_seconds(function: Callable[[], object], repeats: int = 7) -> float:
    """Smallest CPU time of several runs: the run that was disturbed least."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best
