"""The command line: `elbowroom VERB`, the same as `python -m elbowroom VERB`.

Each verb is a module with a docstring (its help), an `Options` dataclass (its arguments, parsed by
tyro) and `run(options) -> exit code`. Only the module of the verb in use is imported. An error that a
user can cause is one line on standard error and exit code 2, never a traceback.

Interrupts work at any moment. Python raises KeyboardInterrupt only between two of its own instructions: inside a
compiled call it comes late, and inside a compiler or a callback it surfaces as some other error, or not at all. So the
signal raises nothing: a thread waits for it, removes unfinished files, ends the worker processes and exits with 130.
A verb that moves a robot registers `last_words`.
"""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import ApproximationWarning, ElbowroomError, unknown
from ._progress import library_progress, say

VERBS = {
    "demo": "Show what Elbowroom does on a bundled robot, in a report to play with",
    "setup": "Write everything other tools need from a description, in one folder",
    "info": "List the robots that can be loaded, or describe one, or a scene",
    "spheres": "Cover a robot with spheres, prove that they contain it, write them to a file",
    "pairs": "Decide for every pair of links whether it must be checked, with the reason and the evidence",
    "check": "Check configurations for collisions with itself and with obstacles",
    "mesh": "Check two mesh files against each other exactly",
    "ik": "Solve collision-free inverse kinematics, once or while following moving targets",
    "plan": "Plan a collision-free motion, timed and proved",
    "grasp": "Plan grasps of a hand: line, plane or cylinder at a given width",
    "convert": "Convert spheres, ignored pairs and scenes of obstacles between file formats",
    "view": "Open a robot in the browser: move it, see what would touch and why",
    "bench": "Time this robot on this machine, compared with Pinocchio and Coal",
    "doctor": "Report what is installed, missing or slow on this machine",
    "completion": "Print a completion script for bash, zsh or fish",
}
"""Verb -> one line of help; the module is `_VERB.py`."""

EXIT_ERROR = 2
"""Wrong use or bad input."""
EXIT_FAULT = 3
"""A bug in elbowroom."""
EXIT_INTERRUPTED = 130
DEBUG = "ELBOWROOM_DEBUG"
"""Environment variable that shows where a fault happened."""
EXIT_BY_SIGNAL = 128
"""Added to the number of the signal: 130 for an interrupt, as shells have it."""
SHOW_CURSOR = b"\x1b[?25h"
PATIENCE = 6.0
"""Seconds that last words may take."""
_LAST_WORDS: list[Callable[[], None]] = []
"""What to do before leaving."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code.

    Args:
        argv: the arguments; None takes those of the process, which is then ended at once by an interrupt.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    verb = arguments[0] if arguments and arguments[0] in VERBS else ""
    if argv is None:
        leave_on_signals(verb)
    from ._output import outlets  # after the signals, for it loads numpy

    name = f"elbowroom {verb}".strip()
    with outlets(), library_progress():
        try:
            code = _run(verb, arguments[1:]) if verb else _without_verb(arguments)
            sys.stdout.flush()
        except ElbowroomError as error:
            say(f"{name}: {error}")
        except KeyboardInterrupt:
            say(f"{name}: interrupted")
            return EXIT_INTERRUPTED
        except MemoryError as error:
            say(f"{name}: not enough memory ({error or 'out of memory'})")
        except Exception as error:
            return _fault(name, error)
        else:
            return code
    return EXIT_ERROR


def _without_verb(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_usage())
        return 0 if arguments else EXIT_ERROR
    if arguments[0] in ("-V", "--version"):
        print(f"elbowroom {__version__}")
        return 0
    if arguments[0] == "--cmake-dir":
        print(_cmake_dir())
        return 0
    say(f"elbowroom: {unknown('verb', arguments[0], VERBS)}")
    return EXIT_ERROR


def _cmake_dir() -> str:
    """The folder in which CMake's `find_package(elbowroom)` finds the C++ core, for its `elbowroom_ROOT`."""
    from .. import _core

    library = importlib.import_module(f"{_core.__name__}.{_core.VARIANT}").__file__ or ""
    return str(Path(library).parent.parent / "cpp" / "cmake")


def _fault(name: str, error: Exception) -> int:
    """One line for an unforeseen error; the traceback only on request."""
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    text = " ".join(str(error).split()) or "no message"
    hint = "" if os.environ.get(DEBUG) else f"; {DEBUG}=1 shows where"
    say(f"{name}: this is a bug in elbowroom, please report it: {type(error).__name__}: {text:.300}{hint}")
    return EXIT_FAULT


def _run(verb: str, words: list[str]) -> int:
    from ._options import parse

    warnings.showwarning = _show_warning
    module = importlib.import_module(f"._{verb}", __name__)
    try:
        options = parse(module, words, f"elbowroom {verb}")
    except SystemExit as stop:  # tyro has printed help or what is wrong with the arguments
        return stop.code if isinstance(stop.code, int) else EXIT_ERROR
    return module.run(options)


def _usage() -> str:
    width = max(map(len, VERBS))
    lines = [f"  {verb:<{width}}  {text}" for verb, text in VERBS.items()]
    return "\n".join(
        [
            "usage: elbowroom VERB [OPTIONS]",
            "",
            *lines,
            "",
            "elbowroom --cmake-dir prints where CMake's find_package(elbowroom) finds the C++ core.",
            "elbowroom VERB --help shows the options and examples; every verb has --json.",
            "Exit codes: 0 yes or done, 1 the answer is no, 2 wrong use or bad input, 3 a bug, 130 interrupted.",
        ]
    )


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: str | None = None,
) -> None:
    if issubclass(category, ApproximationWarning):
        print(f"warning: {message}", file=sys.stderr)
    else:
        print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=sys.stderr)


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
