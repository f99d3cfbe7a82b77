"""Messages about hands that wait for the next tick, and when they came."""

from __future__ import annotations

import time
from typing import Any

from ..remote.doors import Mailbox, XrState


class Inbox(Mailbox):
    """A mailbox that knows when the latest message about hands came."""

    arrived = 0.0
    """Seconds of `time.perf_counter`; 0 when none has come."""

    def put(self, message: Any, when: float | None = None) -> None:
        """Leaves a message.

        Args:
            message: of `elbowroom.ik`.
            when: it was due, for one that is played back; None for now.
        """
        if isinstance(message, XrState):
            self.arrived = time.perf_counter() if when is None else when
        super().put(message)
