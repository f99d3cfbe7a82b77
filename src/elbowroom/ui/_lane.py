"""Answers that take some milliseconds, beside the worker: per question only the latest is computed.

A full verdict takes 5 to 30 ms, too long to wait for while a slider moves. The lane computes one answer at a time, and
rests between two as long as `REST` times what the last one took, so that dragging stays fluent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from .state import Event

REST = 2.0
"""Rest after an answer, in multiples of its time."""
LONGEST_REST = 0.2
"""Seconds."""

Question = Callable[[], "Event | None"]


class Lane:
    """A thread for questions.

    Args:
        answer: told of every event that a question returns.
        fault: told of what a question raises.
        name: of the thread.
    """

    def __init__(
        self, answer: Callable[[Event], None], fault: Callable[[Exception], None], name: str
    ) -> None:
        self._answer, self._fault = answer, fault
        self._questions: dict[str, Question] = {}
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def ask(self, key: str, question: Question) -> None:
        """Asks from any thread; a question of the same key that waits is forgotten."""
        with self._changed:
            if not self._stopped:
                self._questions[key] = question
                self._changed.notify()

    def stop(self) -> None:
        """Ends the thread after the question under way."""
        with self._changed:
            self._stopped = True
            self._questions.clear()
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._questions or self._stopped)
                if self._stopped:
                    return
                question = self._questions.pop(next(iter(self._questions)))
            start = time.monotonic()
            try:
                event = question()
            except Exception as error:
                self._fault(error)
            else:
                if event is not None:
                    self._answer(event)
            self._rest(min(REST * (time.monotonic() - start), LONGEST_REST))

    def _rest(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._stopped, timeout=seconds)
