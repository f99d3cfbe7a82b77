"""Sessions: what outlives a connection.

viser forgets a client when it disconnects, and a reload is a new client. The browser keeps the ids of its sessions in
its local storage; a connection resumes the first of them that the server knows and no other tab holds, or begins a new
one. So a reloaded page is as it was, undo included, and two tabs never share a state.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence

from .state import History

MAX_IDLE = 20
"""Sessions kept for tabs that are gone."""
LONGEST_IDLE = 6 * 3600.0
"""Seconds that they are kept."""


class Session:
    """The history of one tab."""

    def __init__(self, id_: str, history: History) -> None:
        self.id = id_
        self.history = history
        self.live = False
        """Whether a connection holds it."""
        self.holder: int | None = None
        """The connection that does, or did last."""
        self.seen = time.monotonic()


class Sessions:
    """All sessions of a server.

    Args:
        start: makes the history that a new session begins with.
    """

    def __init__(self, start: Callable[[], History] = History) -> None:
        self._start = start
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def claim(self, ids: Sequence[str], holder: int | None = None) -> Session:
        """The first of these sessions that is known and not live, or a new one; live from now on."""
        with self._lock:
            self._forget()
            for id_ in ids:
                session = self._sessions.get(id_)
                if session is not None and not session.live:
                    break
            else:
                session = Session(secrets.token_urlsafe(12), self._start())
                self._sessions[session.id] = session
            session.live, session.holder = True, holder
            return session

    def holders(self, ids: Sequence[str]) -> set[int]:
        """The connections that hold any of these sessions."""
        with self._lock:
            found = [self._sessions[id_] for id_ in ids if id_ in self._sessions]
            return {s.holder for s in found if s.live and s.holder is not None}

    def release(self, session: Session) -> None:
        """The connection is gone; the session waits for another."""
        with self._lock:
            session.live, session.seen = False, time.monotonic()
            self._forget()

    def known(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Those of the ids that mean a session."""
        with self._lock:
            return tuple(id_ for id_ in ids if id_ in self._sessions)

    def __len__(self) -> int:
        return len(self._sessions)

    def _forget(self) -> None:
        idle = sorted((s for s in self._sessions.values() if not s.live), key=lambda s: s.seen)
        too_many = max(len(idle) - MAX_IDLE, 0)
        oldest = time.monotonic() - LONGEST_IDLE
        for k, session in enumerate(idle):
            if k < too_many or session.seen < oldest:
                del self._sessions[session.id]
