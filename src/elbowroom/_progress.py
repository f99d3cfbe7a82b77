"""Long waits say what is being done, once, through the logger "elbowroom.progress" (INFO).

The command line prints it on standard error. Users of the library see nothing unless they turn logging on.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager

logger = logging.getLogger("elbowroom.progress")

PATIENCE = 2.0
"""Seconds of waiting before anything is said."""


class Wait:
    """Work that comes in many small pieces; announced when together they have taken long.

    Args:
        what: is being done.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.seconds = 0.0
        """So far."""
        self._said = False

    def report(self, seconds: float) -> None:
        """Adds the time of a piece."""
        self.seconds += seconds
        if self.seconds > PATIENCE and not self._said:
            self._said = True
            logger.info("%s ...", self.what)


@contextmanager
def waiting(what: str) -> Generator[None]:
    """Announces a piece of work that is still going on when patience ends."""
    timer = threading.Timer(PATIENCE, logger.info, ("%s ...", what))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
