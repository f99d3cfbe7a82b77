"""The command line: `elbowroom VERB`, the same as `python -m elbowroom VERB`.

Each verb is a module with a docstring (its help), an `Options` dataclass (its arguments, parsed by
tyro) and `run(options) -> exit code`. Only the module of the verb in use is imported. An error that a
user can cause is one line on standard error and exit code 2, never a traceback.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Sequence

from .. import __version__
from ..errors import ApproximationWarning, ElbowroomError, unknown
from ._interrupt import leave_on_signals
from ._progress import library_progress, say

VERBS = {
    "demo": "Run the bundled robot through everything and write a report with pictures",
    "setup": "From a description to all files that other tools need, in one folder",
    "info": "List the robots that can be loaded, or describe one, or a scene",
    "spheres": "Cover a robot with spheres, prove that they contain it, write them to a file",
    "pairs": "Say for every pair of links whether it must be checked, why, and how one knows",
    "check": "Check configurations for collisions with itself and with obstacles",
    "mesh": "Check two mesh files against each other exactly",
    "ik": "Find joint values that put links where they are asked to be, free of collision; or follow targets live",
    "plan": "Find a motion from one configuration to another that touches nothing, with speeds and a proof",
    "grasp": "Plan grasps of a hand: line, plane or cylinder at a given width",
    "convert": "Convert spheres, ignored pairs and scenes of obstacles between file formats",
    "view": "Look at a robot in the browser: move it, see what would touch, and why",
    "doctor": "Say what is installed, what is missing, and what is slow on this machine",
    "completion": "Print a script that completes verbs and options in bash, zsh or fish",
}
"""Verb -> one line of help; the module is `_VERB.py`."""

EXIT_ERROR = 2
"""Wrong use or bad input."""
EXIT_FAULT = 3
"""A fault of ours."""
EXIT_INTERRUPTED = 130
DEBUG = "ELBOWROOM_DEBUG"
"""Environment variable that shows where a fault happened."""


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
            say(f"{name}: there is not enough memory for this ({error or 'out of memory'})")
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
    say(f"elbowroom: {unknown('verb', arguments[0], VERBS)}")
    return EXIT_ERROR


def _fault(name: str, error: Exception) -> int:
    """One line for an error that nobody foresaw; the whole story only when asked for."""
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    text = " ".join(str(error).split()) or "no message"
    hint = "" if os.environ.get(DEBUG) else f"; {DEBUG}=1 shows where"
    say(f"{name}: this is a fault of elbowroom, please report it: {type(error).__name__}: {text:.300}{hint}")
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
            "elbowroom VERB --help tells more, with examples; every verb has --json.",
            "Exit codes: 0 yes or done, 1 the answer is no, 2 wrong use or bad input, 3 our fault, 130 interrupted.",
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
