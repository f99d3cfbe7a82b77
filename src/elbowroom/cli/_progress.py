"""What is being done, on standard error: a bar for those who look, a line a step for files and pipes."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .._progress import PATIENCE, logger
from .._progress import waiting as waiting

if TYPE_CHECKING:
    from .._parallel import Progress

STEP = 0.25
"""Share of the work between two lines in a pipe."""


def say(text: str) -> None:
    """One line on standard error."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def progress_bar(label: str, *, quiet: bool = False) -> Generator[Progress | None]:
    """Shows progress on standard error: a bar in a terminal, in a pipe a line at the start and each quarter.

    Yields the callback to give to long work. Work shorter than `PATIENCE` says nothing in a pipe.

    Args:
        label: what is being done.
        quiet: show nothing; the callback is None.
    """
    if quiet:
        yield None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(file=sys.stderr), transient=True) as bar:
            task = bar.add_task(label, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    else:
        with waiting(label):
            yield _Lines(label)


class _Lines:
    """Prints a line whenever another quarter is done, once the work has taken long enough."""

    def __init__(self, label: str) -> None:
        self.label, self.shown, self.total = label, 0.0, 0
        self.start = self.last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if total != self.total:  # work in several passes counts each from the start
            self.shown, self.total = 0.0, total
        share = done / max(total, 1)
        now = time.monotonic()
        if now - self.last > PATIENCE and self.shown + STEP <= share < 1.0:
            self.shown, self.last = share, now
            say(f"{self.label}: {done} of {total} ({100 * share:.0f} %, {now - self.start:.0f} s)")


class _Shown(logging.Handler):
    """Shows the library's own lines on what takes long."""

    def emit(self, record: logging.LogRecord) -> None:
        """Prints one line, once."""
        say(record.getMessage())


@contextmanager
def library_progress() -> Generator[None]:
    """Shows what the library itself reports of long waits."""
    handler = _Shown()
    level, spread = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = spread
