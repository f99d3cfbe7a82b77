"""Command lines that repeat what was done on the page, quoted for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._view import View


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
