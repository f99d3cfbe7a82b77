"""Writes docs/reference/cli.md from the verbs' own texts, examples and arguments; a test says when it is outdated."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elbowroom.cli import VERBS
from elbowroom.cli._options import OTHER_FLAGS, Argument, arguments_of

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "cli.md"
HEAD = """\
# Command line

`elbowroom VERB [OPTIONS]`, the same as `python -m elbowroom VERB`. This page holds what `elbowroom VERB --help` prints;
`python tools/write_cli_page.py` makes it.

| verb | |
|---|---|
{verbs}

Exit codes are the same for all verbs: 0 yes or done, 1 the answer is no, 2 wrong use or bad input (one line on standard
error), 3 a bug in Elbowroom (please report it; `ELBOWROOM_DEBUG=1` shows where), 130 interrupted. Tables go to standard
output, progress and warnings to standard error. `--json` prints everything as JSON. An option that would have no effect
is refused. ROBOT is a name (`elbowroom info` lists them) or the path of a URDF, xacro or MJCF file. `-` is standard
input or output where a file is read or written.
"""


def cli_page() -> str:
    """The whole page as Markdown."""
    verbs = "\n".join(f"| [`{verb}`](#elbowroom-{verb}) | {text} |" for verb, text in VERBS.items())
    return "\n".join([HEAD.format(verbs=verbs), *map(_section, VERBS)])


def _section(verb: str) -> str:
    module = importlib.import_module(f"elbowroom.cli._{verb}")
    lines = [f"## elbowroom {verb}", "", _escaped(inspect.cleandoc(module.__doc__ or "")), ""]
    examples: Mapping[str, str] = getattr(module, "EXAMPLES", {})
    if examples:
        lines += ["| example | what it does |", "|---|---|"]
        lines += [f"| `{command}` | {_cell(text)} |" for command, text in examples.items()] + [""]
    lines += ["| argument | meaning | default |", "|---|---|---|"]
    lines += [_row(argument) for argument in arguments_of(module.Options)]
    return "\n".join([*lines, ""])


def _row(argument: Argument) -> str:
    value = argument.metavar or ("{" + ",".join(argument.choices) + "}" if argument.choices else "")
    if argument.positional:
        typed = [value]
    else:
        flags = [argument.flag, *filter(None, [OTHER_FLAGS.get(argument.name)])]
        typed = [f"{flag} {value}".strip() for flag in flags]
        if argument.default is True:
            typed.append(argument.flag.replace("--", "--no-", 1))
    names = ", ".join(f"`{text}`" for text in typed)
    return f"| {names} | {_cell(argument.help)} | {_default(argument.default)} |"


def _default(value: Any) -> str:
    if value is dataclasses.MISSING:
        return "must be given"
    if value is None or value is False or value in ((), "", {}):
        return ""
    if isinstance(value, tuple):
        return "`" + " ".join(map(str, value)) + "`"
    return "yes" if value is True else f"`{value}`"


def _cell(text: str) -> str:
    return _escaped(text).replace("|", "\\|")


def _escaped(text: str) -> str:
    """Markdown in which nothing but backticks has a meaning of its own."""
    for mark in "*_<":
        text = "".join(
            part if k % 2 else part.replace(mark, "\\" + mark) for k, part in enumerate(_coded(text))
        )
    return text


def _coded(text: str) -> list[str]:
    """Parts outside of backticks at even places, those inside, with their backticks, at odd ones."""
    parts = text.split("`")
    return [f"`{part}`" if k % 2 else part for k, part in enumerate(parts)]


if __name__ == "__main__":
    PAGE.write_text(cli_page(), encoding="utf-8")
    print(f"wrote {PAGE}")
