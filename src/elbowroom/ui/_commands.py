"""Command lines that repeat what was done on the page, quoted for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._view import View
    from .state import ModelParts

SCENE = "scene.json"
"""Obstacles of the page as a file."""


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


def check_command(view: View) -> str:
    """The verdict on the page's configuration; "" where a command line cannot have the same model."""
    words, parts = robot_words(view), view.state.model
    if words is None or parts.spheres or parts.pairs or parts.world or parts.attached:
        return ""
    more: list[object] = ["--buffer", parts.buffer] if parts.buffer else []
    ignored = [name for pair, checked in parts.overrides if not checked for name in pair]
    if any(checked for _, checked in parts.overrides):
        return ""
    if ignored:
        more += ["--ignore", *ignored]
    return command("check", *words, "--cfg", *cfg_words(view.state.robot.cfg), *more)


def plan_command(view: View) -> str:
    """The motion that the page has found, as a file; "" where there is none or no command line has the same model.

    Obstacles are those of scene.json, which the page offers as a file.
    """
    plan, words = view.state.plan, robot_words(view)
    if plan.found is None or plan.found.result.motion is None or words is None:
        return ""
    asked = plan.found.asked
    parts, given = asked.parts, _model_words(asked.parts)
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


def _model_words(parts: ModelParts) -> list[object] | None:
    """Words that make the same model but for obstacles; None where there are none."""
    if parts.spheres or parts.pairs or parts.attached or any(checked for _, checked in parts.overrides):
        return None
    ignored = [name for pair, _ in parts.overrides for name in pair]
    more: list[object] = ["--buffer", parts.buffer] if parts.buffer else []
    return [*more, *(["--ignore", *ignored] if ignored else [])]


def grasp_command(view: View) -> str:
    """The grasp that the page shows, as a file."""
    grasp = view.state.grasp
    which = {"line": ["--finger", grasp.finger], "plane": ["--fingers", grasp.fingers]}.get(grasp.mode, [])
    out = ["--plot", "grasp.png"] if grasp.kind == "png" else ["--export", f"grasp.{grasp.kind}"]
    return command(
        "grasp", grasp.mode, "--width-mm", grasp.width_mm, *which, "--method", grasp.method, "--hand", grasp.hand,
        "--height-mm", grasp.height_mm, *out,
    )  # fmt: skip
