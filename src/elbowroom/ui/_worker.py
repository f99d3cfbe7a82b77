"""One thread per page that takes events in order and lets the latest win.

viser calls plain callbacks on many threads in no order; here everything that changes a page passes one queue. Events of
one gesture that wait together are worth only their last. Nothing that a step raises ends the thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from .state import Event


class Worker:
    """Runs steps on batches of events until it is stopped.

    Args:
        step: called on the worker's thread with the events that waited, never none.
        fault: told of what a step raises.
        name: of the thread.
    """

    def __init__(
        self, step: Callable[[Sequence[Event]], None], fault: Callable[[Exception], None], name: str
    ) -> None:
        self._step, self._fault = step, fault
        self._waiting: list[Event] = []
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def send(self, event: Event) -> None:
        """Queues an event from any thread; one of the same gesture that waits at the end gives way to it."""
        with self._changed:
            if self._stopped:
                return
            last = self._waiting[-1] if self._waiting else None
            if last is not None and type(last) is type(event) and last.gesture == event.gesture != "":
                self._waiting[-1] = event
            else:
                self._waiting.append(event)
            self._changed.notify()

    @property
    def settled(self) -> bool:
        """Whether no event waits."""
        return not self._waiting

    def stop(self) -> None:
        """Ends the thread after the step under way; what waits is dropped."""
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopped)
                if self._stopped:
                    return
                events, self._waiting = self._waiting, []
            try:
                self._step(events)
            except Exception as error:
                self._fault(error)


REST = 2.0
"""Rest after an answer, in multiples of its time."""
LONGEST_REST = 0.2
"""Seconds."""

Question = Callable[[], "Event | None"]


class AnswerQueue:
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
