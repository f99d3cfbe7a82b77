"""Interrupts that always work: exit code 130, whatever the process is in the middle of.

Python raises KeyboardInterrupt between two of its own instructions. Inside a compiled call it comes late, and inside
a compiler or a callback it surfaces as some other error, or not at all. So the signal raises nothing: a thread waits
for it, removes files under way, ends the worker processes and leaves. Who moves a robot asks for `last_words`.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any

EXIT_BY_SIGNAL = 128
"""Added to the number of the signal: 130 for an interrupt, as shells have it."""
SHOW_CURSOR = b"\x1b[?25h"
PATIENCE = 6.0
"""Seconds that last words may take."""
_LAST_WORDS: list[Callable[[], None]] = []
"""What to do before leaving."""


def leave_on_signals(verb: str) -> None:
    """From now on, interrupt and termination end this process at once, with a line and exit code 130 or 143."""
    if os.name == "nt":  # no signals of this kind; KeyboardInterrupt does what it can
        return
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # ignored for background jobs: let it be
            signal.signal(number, _nothing)
    quiet = "ignore:resource_tracker"  # joblib's helper cleans up after workers that were ended, and need not say so
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), quiet)))
    threading.Thread(target=_wait, args=(read, verb), daemon=True, name="interrupts").start()


@contextmanager
def last_words(ask: Callable[[], None]) -> Generator[None]:
    """In this block an interrupt does not end the process at once: `ask` is called, and the block may end by itself."""
    asked, done = threading.Event(), threading.Event()

    def ask_and_wait() -> None:
        asked.set()
        ask()
        done.wait(PATIENCE)

    _LAST_WORDS.append(ask_and_wait)
    try:
        yield
    finally:
        _LAST_WORDS.remove(ask_and_wait)
        done.set()
        if asked.is_set():  # the thread that waited for the signal leaves now, with its exit code
            threading.Event().wait(PATIENCE)


def _nothing(number: int, frame: Any) -> None:
    """Python needs a handler for the signal to reach the thread that waits."""


def _wait(read: int, verb: str) -> None:
    while True:
        number = os.read(read, 1)[0]
        if number in (signal.SIGINT, signal.SIGTERM):
            _leave(number, verb)


def _leave(number: int, verb: str) -> None:
    for act in list(_LAST_WORDS):
        with suppress(Exception):
            act()
    files = sys.modules.get(
        "elbowroom._files"
    )  # not imported here: it loads numpy, and signals may come before
    for path in list(getattr(files, "UNFINISHED", ())):
        with suppress(OSError):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    with suppress(Exception):
        _end_workers()
    word = "interrupted" if number == signal.SIGINT else "terminated"
    with suppress(OSError):  # last, for others may still have complained
        start = SHOW_CURSOR if os.isatty(2) else b""  # a progress bar may have hidden it
        os.write(2, start + f"elbowroom {verb}: {word}\n".encode())
    os._exit(EXIT_BY_SIGNAL + number)


def _end_workers() -> None:
    """Ends the processes that joblib has started here; its tracker of shared memory cleans up after them."""
    loky = sys.modules.get("joblib.externals.loky.reusable_executor")
    executor = getattr(loky, "_executor", None)
    for pid in list(getattr(executor, "_processes", None) or ()):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
