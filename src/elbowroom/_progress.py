"""Long waits say what is being done, once, through the logger "elbowroom.progress" (INFO).

The command line prints it on standard error. Users of the library see nothing unless they turn logging on.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager

logger = logging.getLogger("elbowroom.progress")

PATIENCE = 2.0
"""Seconds of waiting before anything is said."""


class Wait:
    """Work that may come in many small pieces; announced once, when together they have taken long.

    Args:
        what: is being done.
        announced: whether it is said at all.
    """

    def __init__(self, what: str, *, announced: bool = True) -> None:
        self.what, self.announced = what, announced
        self.seconds = 0.0
        """So far."""
        self._said = False

    def report(self, seconds: float) -> None:
        """Adds the time of a piece."""
        self.seconds += seconds
        if self.announced and self.seconds > PATIENCE:
            self._say()

    @contextmanager
    def during(self) -> Generator[None]:
        """Around one piece that may be long: announces it while it is going on."""
        timer = threading.Timer(PATIENCE, self._say)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _say(self) -> None:
        if not self._said:
            self._said = True
            logger.info("%s ...", self.what)


COMPILING = Wait("compiling kernels, once per machine")
"""Of this process, and of one that compiles for it."""
LOADING = Wait("loading compiled kernels", announced=False)
"""Of this process; never announced."""


def seconds_of_kernels() -> float:
    """What compiling and loading kernels has taken so far: time limits of answers leave it out."""
    return COMPILING.seconds + LOADING.seconds


def waiting(what: str) -> AbstractContextManager[None]:
    """Announces a piece of work that is still going on when patience ends."""
    return Wait(what).during()
