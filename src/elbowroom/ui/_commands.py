"""Command lines that repeat what was done on the page, quoted for a shell.

What was edited on the page is in no file, so a command that needs it names files that the page offers (the Export
panel): `needed` says which. `_exports.py` makes them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ._view import View

Need = Literal["model", "scene"]
"""A file that a command may need: spheres and pairs, or obstacles; both are formats of the Export panel."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9.-]+")
LONGEST_STEM = 40
"""Characters."""


def command(verb: str, *words: object) -> str:
    """`elbowroom VERB WORDS...`, quoted."""
    return shlex.join(["elbowroom", verb, *map(str, words)])


def robot_words(view: View) -> tuple[str, ...] | None:
    """The words that load the page's robot; None where no command line can."""
    key = view.state.robot.key
    return None if key is None or key.given else key.words


def cfg_words(cfg: Iterable[float]) -> tuple[str, ...]:
    """Joint values, as exact as they are."""
    return tuple(repr(float(value)) for value in cfg)


def file_name(view: View, ending: str) -> str:
    """A file of the page's robot, such as `teaarm_model.json`; plain letters, whatever the robot is called."""
    name = "" if view.robot is None else view.robot.name
    stem = _NOT_IN_NAMES.sub("_", name).strip("._-")[:LONGEST_STEM] or "robot"
    return stem + ending


def needed(view: View) -> tuple[Need, ...]:
    """The files that commands of this page need before they can be run."""
    parts = view.state.model
    kept = any(checked for _, checked in parts.overrides)
    model = parts.spheres is not None or parts.pairs is not None or kept
    scene = parts.world is not None and len(parts.world) > 0
    return (*(("model",) if model else ()), *(("scene",) if scene else ()))


def needed_files(view: View) -> tuple[str, ...]:
    """Their names."""
    return tuple(file_name(view, f"_{kind}.json") for kind in needed(view))


def model_words(view: View) -> tuple[str, ...] | None:
    """Words that give a verb the page's spheres, pairs, obstacles and buffer; None where no words can.

    Objects held by links have no words yet.
    """
    parts, files = view.state.model, needed(view)
    if parts.attached:
        return None
    words: list[str] = []
    if "model" in files:
        words += ["--pairs", file_name(view, "_model.json")]  # with the spheres that they were decided for
    else:
        ignored = [name for pair, _ in parts.overrides for name in pair]
        words += ["--ignore", *ignored] if ignored else []
    if "scene" in files:
        words += ["--scene", file_name(view, "_scene.json")]
        words += ["--allow", *(name for pair in parts.allow for name in pair)] if parts.allow else []
    return (*words, *(("--buffer", repr(parts.buffer)) if parts.buffer else ()))


def check_command(view: View) -> str:
    """The verdict on the page's configuration; "" where a command line cannot have the same model."""
    robot, model = robot_words(view), model_words(view)
    if robot is None or model is None:
        return ""
    return command("check", *robot, "--cfg", *cfg_words(view.state.robot.cfg), *model)
