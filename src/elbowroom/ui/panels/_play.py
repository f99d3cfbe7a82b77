"""A motion in time: the slider, and playing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._jobs import Job
from .._planning import play
from ..state import Event, Planned, Seek, ShowPlan
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from .._jobs import Report
    from .._view import View
    from ._desk import Desk

STEP = 0.01
"""Seconds, of the slider."""
SPEEDS = {"1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "4": 4.0}


class Player:
    """Shown where there is a motion."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._desk = desk
        self._folder = gui.add_folder("Motion", visible=False)
        with self._folder:
            slider = gui.add_slider("Time s", 0.0, 1.0, STEP, 0.0)
            self._acts = gui.add_button_group("Playback", ("Play", "Pause", "Rewind"))
            speed = gui.add_dropdown("Speed", tuple(SPEEDS), initial_value="1", hint="Times real time")
            self._now = gui.add_markdown("")
        self._slider = Bound[float](slider, desk, self._dragged)
        self._speed = Bound[str](speed, desk, lambda name: ShowPlan("speed", SPEEDS[name]))
        on_click(self._acts, lambda: self._press(self._acts.value))
        self._motion = Shown[Any](self._show_motion)
        self._where = Shown[str](self._say)

    def _dragged(self, value: float) -> Event:
        self._desk.cancel("play")
        return Seek(value)

    def _press(self, act: str) -> None:
        state = self._desk.view.state
        found = state.plan.found
        if found is None or found.result.motion is None:
            return
        if act == "Play":
            over = state.plan.time >= found.result.motion.duration - STEP
            begin, speed = 0.0 if over else state.plan.time, state.plan_live.speed

            def work(report: Report) -> None:
                play(self._desk, found, begin, speed, report)

            self._desk.run(Job("play", "playing the motion", work))
            return
        self._desk.cancel("play")
        if act == "Rewind":
            self._desk.send(Seek(0.0))

    def show(self, view: View) -> None:
        """Follows the state."""
        plan = view.state.plan
        found = (
            plan.found if plan.found is not None and plan.found.asked.key == view.state.robot.key else None
        )
        motion = None if found is None else found.result.motion
        self._motion(motion)
        if found is None or motion is None:
            return
        self._slider.show(round(round(plan.time / STEP) * STEP, 6), view)
        speed = view.state.plan_live.speed
        self._speed.show(next(name for name, value in SPEEDS.items() if value == speed), view)
        self._where(where_text(view, found))

    def _show_motion(self, motion: Any) -> None:
        if motion is not None:
            self._slider.handle.value = 0.0  # before the end comes nearer
            self._slider.handle.max = max(round(float(np.ceil(motion.duration / STEP)) * STEP, 6), STEP)
        self._folder.visible = motion is not None

    def _say(self, text: str) -> None:
        self._now.content = text


def where_text(view: View, found: Planned) -> str:
    """When this is, and what is known there, as Markdown."""
    plan, evidence = view.state.plan, view.state.plan_live.evidence
    text = f"{plan.time:.2f} of {found.result.motion.duration:.2f} s"
    times = found.result.times
    if evidence is None or evidence.result is not found.result or times is None or not len(evidence.proved):
        return text
    k = int(np.clip(np.searchsorted(times, plan.time, "right") - 1, 0, len(evidence.proved) - 1))
    margin = 1e3 * evidence.proved[k]
    piece = f"piece {k + 1} of {len(evidence.proved)}"
    proved = f"**at least {margin:.1f} mm proved**" if np.isfinite(margin) else "proved as a whole only"
    return f"{text}, {piece}: {proved}"
