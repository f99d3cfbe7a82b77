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
    from ..pairs import PairOptions
    from ..robot import Robot
    from ..spheres import FitOptions
    from ._view import View
    from .state import ModelParts

SCENE = "scene.json"
"""Obstacles of the page as a file."""

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
    return (_stem(view.robot) if view.robot is not None else "robot") + ending


def needed(view: View) -> tuple[Need, ...]:
    """The files that commands of this page need before they can be run."""
    parts = view.state.model
    kept = any(checked for _, checked in parts.overrides)
    model = parts.spheres is not None or parts.pairs is not None or kept
    scene = parts.world is not None and len(parts.world) > 0
    return (*(("model",) if model else ()), *(("scene",) if scene else ()))


def needed_files(view: View) -> tuple[str, ...]:
    """Their names."""
    return tuple(
        scene_file(view) if kind == "scene" else file_name(view, "_model.json") for kind in needed(view)
    )


def scene_file(view: View) -> str:
    """The file that holds the page's obstacles: that which they came from or were saved as, or what Export calls it."""
    return view.state.world.file_of(view.state.model.world) or file_name(view, "_scene.json")


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
        words += ["--scene", scene_file(view)]
        words += ["--allow", *(name for pair in parts.allow for name in pair)] if parts.allow else []
    return (*words, *(("--buffer", repr(parts.buffer)) if parts.buffer else ()))


def own_words(parts: ModelParts) -> tuple[str, ...] | None:
    """The words that make a model without its obstacles, with no other file; None where no command line can."""
    if parts.spheres or parts.pairs or parts.attached or any(checked for _, checked in parts.overrides):
        return None
    ignored = [name for pair, _ in parts.overrides for name in pair]
    buffer = ["--buffer", repr(parts.buffer)] if parts.buffer else []
    return (*buffer, *(["--ignore", *ignored] if ignored else []))


def check_command(view: View) -> str:
    """The verdict on the page's configuration; "" where a command line cannot have the same model."""
    words, more = robot_words(view), model_words(view)
    if words is None or more is None:
        return ""
    return command("check", *words, "--cfg", *cfg_words(view.state.robot.cfg), *more)


def spheres_file(robot: Robot) -> str:
    """Name of the file that the page and its commands write the spheres to."""
    return f"{_stem(robot)}_spheres.json"


def pairs_file(robot: Robot) -> str:
    """Name of the file that the page and its commands write the pairs to."""
    return f"{_stem(robot)}_pairs.json"


def _stem(robot: Robot) -> str:
    return _NOT_IN_NAMES.sub("_", robot.name).strip("._-")[:LONGEST_STEM] or "robot"


def fit_words(options: FitOptions) -> tuple[object, ...]:
    """Arguments of `elbowroom spheres` for a fit, those that are not at their defaults."""
    words: list[object] = []
    if options.method != "tight":
        words += ["--method", options.method]
    if options.n_spheres is not None:
        words += ["-n", options.n_spheres]
    if options.margin:
        words += ["--margin", repr(float(options.margin))]
    if options.effort != 1.0:
        words += ["--effort", repr(float(options.effort))]
    if not options.share_mirrored:
        words.append("--no-share-mirrored")
    if options.per_link:
        words += ["--per-link", *(word for entry in options.per_link.items() for word in entry)]
    return tuple(words)


def pair_words(options: PairOptions) -> tuple[object, ...]:
    """Arguments of `elbowroom pairs` for what the page's form offers."""
    words: list[object] = ["--samples", options.samples, "--seed", options.seed]
    words += ["--buffer", repr(options.buffer)]
    for flag, pairs in (("--ignore", options.ignore), ("--check", options.check)):
        if pairs:
            words += [flag, *(name for pair in pairs for name in pair)]
    return tuple(words)


def plan_command(view: View) -> str:
    """The motion that the page has found, as a file; "" where there is none or no command line has the same model.

    Obstacles are those of scene.json, which the page offers as a file.
    """
    plan, words = view.state.plan, robot_words(view)
    if plan.found is None or plan.found.result.motion is None or words is None:
        return ""
    asked = plan.found.asked
    parts, given = asked.parts, own_words(asked.parts)
    if asked.key != view.state.robot.key or given is None:
        return ""
    scene = [] if parts.world is None else [SCENE]
    allowed = [name for pair in parts.allow for name in pair]
    return command(
        "plan", words[0], *scene, *words[1:],
        "--start", *cfg_words(asked.start), "--goal", *cfg_words(asked.goal),
        "--method", asked.method, "--timeout", asked.timeout, "--seed", asked.seed,
        *given, *(["--allow", *allowed] if allowed else []), "--out", f"motion.{plan.kind}",
    )  # fmt: skip


def grasp_command(view: View) -> str:
    """The grasp that the page shows, as a file."""
    grasp = view.state.grasp
    which = {"line": ["--finger", grasp.finger], "plane": ["--fingers", grasp.fingers]}.get(grasp.mode, [])
    out = ["--plot", "grasp.png"] if grasp.kind == "png" else ["--export", f"grasp.{grasp.kind}"]
    return command(
        "grasp", grasp.mode, "--width-mm", grasp.width_mm, *which, "--method", grasp.method, "--hand", grasp.hand,
        "--height-mm", grasp.height_mm, *out,
    )  # fmt: skip
