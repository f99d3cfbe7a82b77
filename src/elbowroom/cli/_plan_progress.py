"""How a search goes, on standard error: a line that renews itself in a terminal, a line now and then in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .._progress import PATIENCE
from .._text import number
from ._progress import say

if TYPE_CHECKING:
    from ..plan import PlanProgress

SHOWN = 0.1
"""Seconds between two changes of the line in a terminal."""


@contextmanager
def live(method: str) -> Generator[Callable[[PlanProgress], None]]:
    """Yields what `plan_motion` may call with its progress."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console

    with Console(file=sys.stderr).status(f"planning ({method})") as status:
        last = 0.0

        def show(progress: PlanProgress) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last > SHOWN:
                last = now
                status.update(text_of(progress))

        yield show


class _Lines:
    """A line every two seconds, none for what is over by then."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, progress: PlanProgress) -> None:
        now = time.monotonic()
        if now - self.last > PATIENCE:
            self.last = now
            say(text_of(progress))


def text_of(progress: PlanProgress) -> str:
    """What is being done, nodes and best cost so far, seconds."""
    parts = [progress.doing]
    if progress.nodes:
        parts.append(f"{progress.nodes:,} nodes")
    if progress.cost is not None:
        parts.append(f"best cost {number(progress.cost, 4)}")
    return f"{', '.join(parts)} ({progress.seconds:.1f} s)"
