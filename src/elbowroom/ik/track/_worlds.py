"""Newest: makes things of worlds in a thread of its own, and hands out the newest one that is finished."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from ...world import World

Made = TypeVar("Made")


class Newest(Generic[Made]):
    """Worlds come as perception finds them; a loop takes what is finished and never waits.

    A world that comes while another is being made waits; one that waits is dropped when a newer one comes.
    """

    def __init__(self, make: Callable[[World | None], Made]) -> None:
        """Takes what makes a model, a guard's steps, of a world; it runs in the thread."""
        self._make = make
        self._lock = threading.Lock()
        self._waiting: list[World | None] = []
        self._busy = False
        self._done: list[Made | BaseException] = []

    def put(self, world: World | None) -> None:
        """A newer world."""
        with self._lock:
            self._waiting = [world]
            if self._busy:
                return
            self._busy = True
        threading.Thread(target=self._work, name="elbowroom-worlds", daemon=True).start()

    def take(self) -> Made | None:
        """The newest that was finished since the last call; None when there is none.

        Raises:
            what making it raised, in the caller's thread.
        """
        with self._lock:
            found = self._done.pop() if self._done else None
        if isinstance(found, BaseException):
            raise found
        return found

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._busy = False
                    return
                world = self._waiting.pop()
            try:
                made: Made | BaseException = self._make(world)
            except Exception as error:  # said where the loop takes it
                made = error
            with self._lock:
                self._done = [made]
