"""A session at a fixed rate: messages in from one thread, commands out by another, ticks in between.

What arrives waits in a `Mailbox`: of targets that come faster than ticks only the last counts, everything else is kept
in order, and a sender that floods is made to wait. What leaves waits in an `Outbox`: a reader that is too slow gets
the newest command, not a backlog. So neither side can hold up the tick. Between ticks the loop sleeps; ticks that were
missed are left out, never caught up with, so that commands do not come in bursts.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._brief import brief
from ..errors import ElbowroomError, InputError
from ._messages import MOST_BYTES, End, Follow, Message, encode, read_message
from ._session import Session
from ._xr import XrState

MOST_WAITING = 64
"""Messages between two ticks before the sender has to wait."""
MOST_ANSWERS = 256
"""Answers that wait for a slow reader; more are dropped and counted."""
REMEMBERED = 100_000
"""Ticks whose times are kept for the report."""
BRAKING = 5.0
"""Seconds that braking may take at the end."""
MOST_RATE = 1000.0
"""Ticks a second: what a sleeping loop can keep."""


def checked_rate(rate: float) -> float:
    """A rate that can be kept.

    Raises:
        InputError: it cannot.
    """
    if not 1.0 <= rate <= MOST_RATE:
        raise InputError(f"rate: expected 1 to {MOST_RATE:.0f} ticks a second, found {rate!r:.40}")
    return float(rate)


class Mailbox:
    """Messages that wait for the next tick."""

    def __init__(self) -> None:
        self._waiting: list[Message] = []
        self._changed = threading.Condition()
        self.closed = False
        """Whether nothing will come any more."""
        self.received = 0

    def put(self, message: Message) -> None:
        """Leaves a message; waits while too many are there."""
        with self._changed:
            self.received += 1
            if self._waiting and (merged := _merged(self._waiting[-1], message)) is not None:
                self._waiting[-1] = merged
                return
            self._changed.wait_for(lambda: len(self._waiting) < MOST_WAITING or self.closed)
            self._waiting.append(message)

    def take(self) -> list[Message]:
        """All that wait, in order."""
        with self._changed:
            found, self._waiting = self._waiting, []
            self._changed.notify_all()
            return found

    def close(self) -> None:
        """Nothing will come any more."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()


def _merged(last: Message, new: Message) -> Message | None:
    """One message for two of the same kind, of which the newer counts; None where both do."""
    if isinstance(last, XrState) and isinstance(new, XrState):
        return new if new.stamp >= last.stamp else last
    if isinstance(last, Follow) and isinstance(new, Follow) and last.clutch == new.clutch:
        if last.stamp is not None and new.stamp is not None and new.stamp <= last.stamp:
            return last
        return Follow({**last.targets, **new.targets}, new.stamp, new.clutch)
    return None


class Outbox:
    """Answers on their way to one reader, written by a thread of their own."""

    def __init__(self, write: Callable[[str], bool]) -> None:
        """`write` sends one text and returns whether a client listens."""
        self._write = write
        self._waiting: list[Mapping[str, Any]] = []
        self._changed = threading.Condition()
        self._closing = False
        self.dropped = 0
        """Commands and answers that the reader was too slow for."""
        self.broken = False
        """Whether the reader is gone."""
        self._thread = threading.Thread(target=self._run, daemon=True, name="outbox")
        self._thread.start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Leaves a message; never waits."""
        with self._changed:
            if message["type"] == "command":
                before = len(self._waiting)
                self._waiting = [other for other in self._waiting if other["type"] != "command"]
                self.dropped += before - len(self._waiting)
            if len(self._waiting) < MOST_ANSWERS:
                self._waiting.append(message)
            else:
                self.dropped += 1
            self._changed.notify()

    def close(self, patience: float = 2.0) -> None:
        """Sends what waits, for at most so many seconds."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(patience)

    def _run(self) -> None:
        while not self.broken:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                batch, self._waiting = self._waiting, []
                if not batch:
                    return
            try:
                self.broken = not all(self._write(encode(message)) for message in batch)
            except ElbowroomError:  # a full disk
                self.broken = True


@brief
@dataclass(frozen=True)
class ServeReport:
    """How a session went."""

    ticks: int
    missed: int
    """Ticks left out because the one before took too long."""
    messages: int
    dropped: int
    """Answers that a slow reader did not get."""
    late: Mapping[str, float]
    """How much later than due ticks began, seconds: median, 99 %, 99.9 %, max of the last 100,000."""
    compute: Mapping[str, float]
    """How long ticks took, seconds, likewise."""

    def __str__(self) -> str:
        times = (f"{name} {1e3 * value:.2f}" for name, value in self.late.items())
        busy = (f"{name} {1e3 * value:.2f}" for name, value in self.compute.items())
        return (
            f"{self.ticks} ticks, {self.missed} missed, {self.messages} messages, {self.dropped} answers dropped; "
            f"late by ms: {', '.join(times)}; a tick took ms: {', '.join(busy)}"
        )


class Pacer:
    """Wakes at a fixed rate without drift, and remembers how well that went."""

    def __init__(
        self,
        rate: float,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.period = 1.0 / checked_rate(rate)
        self._clock, self._sleep = clock, sleep
        self._due = self.start = clock()
        self._late: deque[float] = deque(maxlen=REMEMBERED)
        self._compute: deque[float] = deque(maxlen=REMEMBERED)
        self.done = 0
        """Ticks up to now."""
        self.missed = 0

    def ticks(self) -> Generator[float]:
        """Seconds since the start, at every tick; never ends."""
        while True:
            began = self._clock()
            self._late.append(began - self._due)
            self.done += 1
            yield began - self.start
            done = self._clock()
            self._compute.append(done - began)
            behind = int(max(0.0, done - self._due) / self.period)  # whole periods that are over already
            self.missed += behind
            self._due += (behind + 1) * self.period
            self._sleep(max(0.0, self._due - done))

    def report(self, messages: int, dropped: int) -> ServeReport:
        """What happened up to now."""
        late, compute = _spread(self._late), _spread(self._compute)
        return ServeReport(self.done, self.missed, messages, dropped, late, compute)


def _spread(values: deque[float]) -> dict[str, float]:
    if not values:
        return {}
    marks = np.quantile(np.array(values), (0.5, 0.99, 0.999, 1.0)).tolist()
    return dict(zip(("median", "99 %", "99.9 %", "max"), marks, strict=True))


def run_session(
    session: Session, mailbox: Mailbox, outbox: Outbox | Any, pacer: Pacer | None = None
) -> ServeReport:
    """Ticks until the input ends, an `end` message comes or no client listens; then brakes and reports how it went.

    Args:
        session: the robot.
        mailbox: where messages arrive; closed when the input ends.
        outbox: takes messages by `send`; has `dropped` and `broken`.
        pacer: says when; None: at the session's rate from now on.
    """
    pacer = pacer or Pacer(session.rate)
    ending: float | None = None
    for now in pacer.ticks():
        closed = mailbox.closed  # before taking: what came before the end counts
        for message in mailbox.take():
            try:
                session.take(message, now)
            except ElbowroomError as error:
                outbox.send(error_message(error))
            if isinstance(message, End):
                ending = now if ending is None else ending
        if ending is None and (closed or outbox.broken):
            ending = now
            session.take(End(), now)
        outbox.send(session.tick(now))
        if ending is not None and (session.still or now - ending > BRAKING):
            break
    report = pacer.report(mailbox.received, outbox.dropped)
    outbox.send({"type": "end", **vars(report)})
    return report


def error_message(error: Exception) -> dict[str, Any]:
    """The answer to a message that makes no sense."""
    return {"type": "error", "error": " ".join(str(error).split())}


def serve_lines(
    session: Session, descriptor: int, write: Callable[[str], bool], mailbox: Mailbox | None = None
) -> ServeReport:
    """Steers by JSON lines from a file descriptor until it ends; commands and answers go to `write`.

    Args:
        session: the robot.
        descriptor: where lines come from, such as 0.
        write: sends one text without the end of its line, and returns whether a client listens.
        mailbox: closing it from elsewhere ends the session, too; None makes one.
    """
    mailbox, outbox = mailbox or Mailbox(), Outbox(write)
    outbox.send(session.hello())
    reading = (descriptor, session, mailbox, outbox)
    threading.Thread(target=_read_lines, args=reading, daemon=True, name="input").start()
    try:
        return run_session(session, mailbox, outbox)
    finally:
        outbox.close()


def _read_lines(descriptor: int, session: Session, mailbox: Mailbox, outbox: Outbox) -> None:
    """Fills a mailbox and closes it at the end.

    Not by Python's own reader, whose lock a thread that waits for input would hold when the process ends.
    """
    try:
        for line in _lines(descriptor):
            try:
                mailbox.put(read_message(line, session.robot, session.links))
            except ElbowroomError as error:
                outbox.send(error_message(error))
    finally:
        mailbox.close()


def _lines(descriptor: int) -> Generator[bytes]:
    """Lines that are not empty; of one that is too long, the first bytes, which are still too many."""
    rest = b""
    while chunk := os.read(descriptor, 65536):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line.strip())
        rest = rest[: MOST_BYTES + 1]
    if rest.strip():
        yield rest
