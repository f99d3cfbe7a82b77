"""Long waits say what is being done, through the logger "elbowroom.progress" (INFO).

The command line prints it on standard error. Users of the library see nothing unless they turn logging on.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager

logger = logging.getLogger("elbowroom.progress")

PATIENCE = 2.0
"""Seconds of waiting before a message."""


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
