"""A function in a process of its own, which can be killed at any moment.

`python -m elbowroom.ui._child` reads a pickled call on standard input and writes pickled frames on standard output:
progress as it goes, then the value or the error. It ends when its standard input is closed, so it never outlives the
page. Not multiprocessing: that would run the caller's main script again. Only this process and its own child speak
over the pipe; nothing that a browser sends is ever unpickled.
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
from typing import Any, BinaryIO, Protocol, TypeVar

from ..errors import ElbowroomError

Value = TypeVar("Value")
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
        [sys.executable, "-m", "elbowroom.ui._child"],
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
