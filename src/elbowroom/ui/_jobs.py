"""Long jobs of a page: progress, cancelling, errors as messages.

A job is a function of a `Report`, run on a thread of its own. It calls the report as the library's `progress` callbacks
are called, and there it hears of being cancelled. What cannot be interrupted that way goes to `report.child`, a process
that is killed.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, TypeVar

from ..errors import ElbowroomError
from ._view import Busy
from .state import Event

LENGTH = struct.Struct("<Q")
POLL = 0.05
"""Seconds between two looks at whether the job is cancelled."""


class Progress(Protocol):
    """What the child's frames are told to."""

    def __call__(self, done: int, total: int) -> None:
        """Progress."""
        ...

    def say(self, text: str) -> None:
        """What is being done."""
        ...


def run_child(
    function: Callable[..., Value],
    args: tuple[Any, ...],
    progress: Progress,
    stop: threading.Event,
    cancelled: type[Exception],
) -> Value:
    """Runs `function(*args, progress)` elsewhere; see `Report.child`."""
    call = pickle.dumps((function, args))
    process = subprocess.Popen(
        [sys.executable, "-m", "elbowroom.ui._jobs"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=os.name != "nt",  # so that its own workers can be ended with it
    )
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(process, stop, done), name="child watch", daemon=True)
    watcher.start()
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            _write(process.stdin, call)
        while (frame := _read(process.stdout)) is not None:
            kind, value = pickle.loads(frame)
            if kind == "value":
                return value
            if kind == "error":
                raise value
            if not stop.is_set():
                progress.say(value) if kind == "say" else progress(*value)
        if stop.is_set():
            raise cancelled
        raise ElbowroomError(f"the process for {function.__name__} ended by itself (code {process.wait()})")
    finally:
        done.set()
        watcher.join()
        _kill(process)
        process.communicate()


def _watch(process: subprocess.Popen[bytes], stop: threading.Event, done: threading.Event) -> None:
    while not done.wait(POLL):
        if stop.is_set():
            _kill(process)
            return


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL) if os.name != "nt" else process.kill()


def _write(pipe: BinaryIO | Any, data: bytes) -> None:
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.flush()


def _read(pipe: BinaryIO | Any) -> bytes | None:
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    data = pipe.read(length)
    return data if len(data) == length else None


class _Frames:
    """In the child: progress, as frames."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe, self._lock = pipe, threading.Lock()

    def send(self, kind: str, value: Any) -> None:
        """Writes a frame."""
        with self._lock:
            _write(self._pipe, pickle.dumps((kind, value)))

    def __call__(self, done: int, total: int) -> None:
        """Progress."""
        self.send("progress", (done, total))

    def say(self, text: str) -> None:
        """What is being done."""
        self.send("say", text)


def _end_with_parent(pipe: BinaryIO) -> None:
    pipe.read(1)
    os._exit(1)


def main() -> None:
    """The child's work."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not end up among the frames
    frames = _Frames(pipe)
    call = _read(sys.stdin.buffer)
    if call is None:
        return
    threading.Thread(target=_end_with_parent, args=(sys.stdin.buffer,), daemon=True).start()
    try:
        function, args = pickle.loads(call)
        frames.send("value", function(*args, frames))
    except ElbowroomError as error:
        frames.send("error", error)
    except Exception as error:
        frames.send("error", ElbowroomError(f"{type(error).__name__}: {error}"))
    os._exit(0)  # the thread that reads is still at it


if __name__ == "__main__":
    main()


Value = TypeVar("Value")


class Cancelled(Exception):
    """The user does not want the answer any more."""


class Report:
    """What a job is given: a progress callback that also says whether to go on."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.text = ""
        """What is being done now; "" for the title of the job."""
        self.share: float | None = None
        """Of the work that is done, 0 to 1."""
        self.stop = threading.Event()
        """Set when the job is cancelled."""
        self._changed = changed

    def __call__(self, done: int, total: int) -> None:
        """Progress, as the library reports it.

        Raises:
            Cancelled: the job is to end.
        """
        self.check()
        self.share = min(done / max(total, 1), 1.0)
        self._changed()

    def say(self, text: str) -> None:
        """What is being done now.

        Raises:
            Cancelled: the job is to end.
        """
        self.check()
        self.text, self.share = text, None
        self._changed()

    def check(self) -> None:
        """Raises Cancelled when the job is to end."""
        if self.stop.is_set():
            raise Cancelled

    def cancelled(self) -> bool:
        """For functions that ask, such as `plan_motion(cancel=...)`."""
        return self.stop.is_set()

    def child(self, function: Callable[..., Value], *args: Any) -> Value:
        """`function(*args, report)` in a process of its own, which is killed when the job is cancelled.

        Args:
            function: of a module of this package, by name; its last argument has `__call__(done, total)` and
                `say(text)` as a Report. args: what pickles.

        Raises:
            Cancelled: the job is to end. ElbowroomError: what the function raised, or the process ended by itself.
        """
        self.check()
        return run_child(function, args, self, self.stop, Cancelled)


@dataclass(frozen=True)
class Job:
    """Long work, such as a fit or a plan."""

    key: str
    """One job of a key at a time: a newer one cancels the one before."""
    title: str
    """What is being done, in words: "fitting spheres"."""
    work: Callable[[Report], Event | None]
    """Returns the event that brings in the result."""


class _Running:
    def __init__(self, job: Job, report: Report, thread: threading.Thread) -> None:
        self.job, self.report, self.thread = job, report, thread


class Jobs:
    """The long jobs of one page.

    Args:
        answer: told of the event that a job returns. fault: told of what it raises. changed: called when `busy` has.
    """

    def __init__(
        self,
        answer: Callable[[Event], None],
        fault: Callable[[Exception], None],
        changed: Callable[[], None],
    ) -> None:
        self._answer, self._fault, self._changed = answer, fault, changed
        self._running: dict[str, _Running] = {}
        self._all: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(self, job: Job) -> None:
        """Starts a job; one of the same key is cancelled."""
        report = Report(self._changed)
        with self._lock:
            if self._stopped:
                return
            old = self._running.pop(job.key, None)
            if old is not None:
                old.report.stop.set()
            thread = threading.Thread(
                target=self._work, args=(job, report), name=f"job {job.key}", daemon=True
            )
            self._running[job.key] = _Running(job, report, thread)
            self._all.add(thread)
        thread.start()
        self._changed()

    def cancel(self, key: str | None = None) -> None:
        """Cancels one job, or all; their results are dropped even if they come."""
        with self._lock:
            for name in [key] if key is not None else list(self._running):
                running = self._running.pop(name, None)
                if running is not None:
                    running.report.stop.set()
        self._changed()

    def running(self, key: str) -> bool:
        """Whether a job of that key is under way."""
        return key in self._running

    @property
    def busy(self) -> tuple[Busy, ...]:
        """The jobs under way."""
        with self._lock:
            found = list(self._running.values())
        return tuple(Busy(run.job.key, run.report.text or run.job.title, run.report.share) for run in found)

    def stop(self) -> None:
        """Cancels all and waits for their threads."""
        with self._lock:
            self._stopped = True
            threads = list(self._all)
        self.cancel()
        for thread in threads:
            thread.join()

    def _work(self, job: Job, report: Report) -> None:
        event, fault = None, None
        try:
            event = job.work(report)
        except Cancelled:
            pass
        except Exception as error:
            fault = error
        with self._lock:
            own = self._running.get(job.key)
            wanted = own is not None and own.report is report
            if wanted:
                del self._running[job.key]
            self._all.discard(threading.current_thread())
        if wanted and event is not None:
            self._answer(event)
        if wanted and fault is not None:
            self._fault(fault)
        self._changed()
