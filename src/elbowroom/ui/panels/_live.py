"""The Live collision panel: the exact verdict while joints move."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import fixed
from ...pairs import PairReason
from ...pairs.internal import grouped_by_reason
from .._escape import escape
from ..scene import LiveNodes
from ..state import Event, ShowLive, VerdictFound, Verdicts
from ._widgets import Bound, Shown

if TYPE_CHECKING:
    from ...collision import Verdict
    from .._view import View
    from ._widgets import Desk

MOST = 8
"""Clashes that are listed."""
PAUSE = 0.5
"""Seconds between two full verdicts while hands are followed; whether the robot is free is always shown."""


class LivePanel:
    """Asks for the full verdict whenever the robot or its surroundings changed, and shows the latest."""

    title = "Verdict"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._desk = desk
        self._nodes = LiveNodes(scene)
        self._head = gui.add_markdown("")
        self._body = gui.add_markdown("")
        with gui.add_folder("Show"):
            boxes = [gui.add_checkbox(text, True) for text in ("Segment", "Contacts", "Names")]
        self._boxes = [Bound[bool](box, desk, lambda _: self._chosen(boxes)) for box in boxes]
        self._asked: tuple[Any, Any] = (None, None)
        self._when = 0.0
        self._headline = Shown[str](self._show_head)
        self._details = Shown[str](self._show_body)

    def _chosen(self, boxes: list[Any]) -> Event:
        return ShowLive(*(box.value for box in boxes))

    def show(self, view: View) -> None:
        """Brings text and scene up to date."""
        self._ask(view)
        self._nodes.show(view)
        self._headline(headline(view))
        self._details("" if view.verdict is None else details(view.verdict))
        live = view.state.live
        for box, on in zip(self._boxes, (live.segment, live.contacts, live.names), strict=True):
            box.show(on, view)

    def _ask(self, view: View) -> None:
        model, cfg = view.model, view.state.robot.cfg
        if model is None or view.measured or self._asked == (model, cfg):
            return
        now = time.monotonic()
        if view.state.teleop.run and now - self._when < PAUSE:  # hands come first
            return
        self._asked, self._when = (model, cfg), now

        def question() -> Event:
            return VerdictFound(Verdicts(model.explain(np.array(cfg)), cfg, model))

        self._desk.ask("verdict", question)

    def _show_head(self, text: str) -> None:
        self._head.content = text

    def _show_body(self, text: str) -> None:
        self._body.content = text


def headline(view: View) -> str:
    """Free or not, of the configuration as it is, as Markdown."""
    if view.free is None:
        return "The verdict appears when the model is ready." if view.robot is not None else ""
    word = "### Free" if view.free else "### ⚠ Not free"
    return word if view.current else f"{word} (the model is being updated)"


def details(verdict: Verdict) -> str:
    """The worst pair and what else holds, as Markdown."""
    lines: list[str] = []
    closest = verdict.closest_varying
    if closest is not None:
        what = "clearance" if closest.distance > 0 else "depth"
        pair = f"{escape(closest.a)} and {escape(closest.b)}"
        lines.append(
            f"Worst pair: **{pair}**, {what} **{abs(closest.distance) * 1000:.1f} mm**, by {verdict.by}."
        )
    lines += [f"{escape(line)}." for line in map(str, verdict.constant)]
    if len(verdict.clashes) > 1:
        lines.append("| not free | | distance, mm (below 0: depth) |\n|---|---|--:|")
        rows = [
            f"| {escape(clash.a)} | {escape(clash.b)} | {fixed(1e3 * clash.distance, 1)} |"
            for clash in verdict.clashes[:MOST]
        ]
        lines[-1] += "\n" + "\n".join(rows)
        if len(verdict.clashes) > MOST:
            lines.append(f"... and {len(verdict.clashes) - MOST} more.")
    ignored = {p: e for p, e in verdict.ignored_touching.items() if e.reason is not PairReason.ADJACENT}
    for reason, text in grouped_by_reason(ignored).items():
        lines.append(f"Touching, but not checked ({escape(reason)}): {escape(text)}.")
    lines += [f"Beyond its limits: {escape(entry)}" for entry in verdict.out_of_limits]
    return "\n\n".join(lines)
