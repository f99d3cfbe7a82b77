"""The command line: `elbowroom VERB`, the same as `python -m elbowroom VERB`.

Each verb is a module with a docstring (its help), an `Options` dataclass (its arguments, parsed by
tyro) and `run(options) -> exit code`. Only the module of the verb in use is imported. An error that a
user can cause is one line on standard error and exit code 2, never a traceback.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Sequence

from .. import __version__
from ..errors import ApproximationWarning, ElbowroomError, unknown

VERBS = {
    "demo": "Run the bundled robot through everything and write a report with pictures",
    "info": "List the robots that can be loaded, or describe one",
    "spheres": "Cover a robot with spheres, prove that they contain it, write them to a file",
    "pairs": "Say for every pair of links whether it must be checked, why, and how one knows",
    "check": "Check configurations for self-collision, by spheres or exactly",
    "mesh": "Check two mesh files against each other exactly",
    "grasp": "Plan grasps of a hand: line, plane or cylinder at a given width",
    "convert": "Convert spheres and ignored pairs between file formats",
    "doctor": "Say what is installed, what is missing and how to get it",
}
"""Verb -> one line of help; the module is `_VERB.py`."""

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_usage())
        return 0 if arguments else EXIT_ERROR
    if arguments[0] in ("-V", "--version"):
        print(f"elbowroom {__version__}")
        return 0
    verb, rest = arguments[0], arguments[1:]
    if verb not in VERBS:
        print(f"elbowroom: {unknown('verb', verb, VERBS)}", file=sys.stderr)
        return EXIT_ERROR
    from .._progress import show_progress

    warnings.showwarning = _show_warning
    show_progress()
    try:
        return _run(verb, rest)
    except ElbowroomError as error:
        print(f"elbowroom {verb}: {error}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        print(f"elbowroom {verb}: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of our output, such as `head`, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(verb: str, arguments: list[str]) -> int:
    import tyro

    module = importlib.import_module(f"._{verb}", __name__)
    try:
        options = tyro.cli(
            module.Options, args=arguments, prog=f"elbowroom {verb}", description=module.__doc__
        )
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
            "elbowroom VERB --help tells more; every verb has --json.",
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
