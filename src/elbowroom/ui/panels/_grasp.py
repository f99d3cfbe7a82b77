"""The Grasp panel: a hand closes on an object; its tilt and controls, at one width and at all, and from two sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._escape import escape
from .._grasping import draw_views, get_ready, grasp_bytes, hands, make_grasp
from .._jobs import Job
from ..scene import GraspNodes
from ..state import GRASP_KINDS, GRASP_METHODS, GRASP_MODES, Event, SetGrasp
from ._widgets import Bound, Plot, Shown, on_click

if TYPE_CHECKING:
    from ...grasp import Grasp
    from .._view import View
    from ..state import Closure, Ready, SweepRows, Views
    from ._widgets import Desk

HIGHEST = 400.0
"""Millimetres over the table that the slider offers."""
VIEWS = ("side", "front", "legend")
CHANGES = 1e-9
"""Radians by which a control changes that takes part."""


class GraspPanel:
    """Computes nothing before the hand is shown."""

    title = "Grasp"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._desk = desk
        self._nodes = GraspNodes(scene)
        self._inputs = _Inputs(gui, desk)
        self._text = gui.add_markdown("")
        self._said = Shown[Any](self._say)
        self._sweep = gui.add_folder("Over all widths", visible=False)
        with self._sweep:
            self._tilt = Plot(gui, "Tilt, °", "mm")
            self._controls = Plot(gui, "Controls, rad", "mm")
        self._swept = Shown[Any](self._show_sweep)
        blank = np.full((2, 2, 3), 255, dtype=np.uint8)
        self._views = gui.add_folder("Views", visible=False)
        with self._views:
            self._images = {name: gui.add_image(blank, visible=False) for name in VIEWS}
        self._drawn = Shown[Any](self._show_pictures)
        self._readying: Closure | None = None
        self._asked: tuple[Any, ...] = ()
        self._drawing: tuple[Any, ...] = ()

    def show(self, view: View) -> None:
        """Brings widgets and scene up to date, and has computed what is not there yet."""
        self._inputs.show(view)
        self._nodes.show(view)
        self._compute(view)
        live, asked = view.state.grasp_live, view.state.grasp
        waiting = any(entry.key == "grasp" for entry in view.busy)
        self._said((live.grasp, asked.shown, waiting))
        sweep = live.sweep if asked.shown else None
        self._swept(sweep if sweep is not None and sweep.closure == asked.closure else None)
        self._drawn(live.views if asked.shown else None)

    def _compute(self, view: View) -> None:
        asked, live = view.state.grasp, view.state.grasp_live
        closure, ready = asked.closure, live.ready
        if not asked.shown:
            self._readying = None
            return
        swept = live.sweep is not None and live.sweep.closure == closure
        if not (ready is not None and ready.closure == closure and swept) and self._readying != closure:
            self._readying = closure
            self._desk.run(
                Job("grasp", "planning grasps", lambda report: get_ready(self._desk, closure, report))
            )
        if ready is None or ready.closure != closure:
            return
        if live.grasp_of != asked.asked and self._asked != asked.asked:
            self._asked = asked.asked
            self._desk.ask("grasp", lambda: make_grasp(ready, asked))
        grasp = live.grasp
        current = grasp is not None and live.grasp_of == asked.asked
        drawn = None if live.views is None else live.views.of
        if grasp is not None and current and asked.asked not in (drawn, self._drawing):
            self._drawing = asked.asked
            self._desk.run(
                Job("grasp views", "drawing the views", lambda report: draw_views(grasp, asked, report))
            )

    def _say(self, shown: tuple[Grasp | None, bool, bool]) -> None:
        grasp, there, waiting = shown
        if not there:
            self._text.content = "Shows a hand above a table, next to the robot, closing on an object."
        elif grasp is None:
            self._text.content = (
                "The grasp appears when the hand is loaded."
                if waiting
                else "No grasp. Choose another hand, or show the hand again."
            )
        else:
            self._text.content = grasp_text(grasp)

    def _show_sweep(self, sweep: SweepRows | None) -> None:
        self._sweep.visible = sweep is not None
        if sweep is None:
            self._tilt.show((), {})
            self._controls.show((), {})
            return
        self._tilt.show(sweep.widths_mm, {"tilt": sweep.tilts_deg})
        self._controls.show(sweep.widths_mm, control_lines(sweep, self._desk.view.state.grasp_live.ready))

    def _show_pictures(self, views: Views | None) -> None:
        self._views.visible = views is not None
        for name, handle in self._images.items():
            picture = None if views is None else views.pictures.get(name)
            if picture is not None:
                handle.image = picture
            handle.visible = picture is not None


class _Inputs:
    """The question."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._desk = desk
        there = hands()
        shown = gui.add_checkbox("Show the hand", False)
        hand = gui.add_dropdown("Hand", there, initial_value=there[0])
        mode = gui.add_dropdown("Mode", GRASP_MODES, initial_value="line", hint="What the fingers close on")
        method = gui.add_dropdown(
            "Closes", GRASP_METHODS, initial_value="smooth", hint="smooth: level, no jumps"
        )
        finger = gui.add_dropdown("Finger", ("index",), initial_value="index", hint="Opposite the thumb")
        fingers = gui.add_dropdown("Fingers", ("4",), initial_value="4", hint="Including the thumb")
        width = gui.add_slider("Width mm", 5.0, 110.0, 0.1, 30.0, hint="Of the object, or its diameter")
        height = gui.add_slider("Height mm", 0.0, HIGHEST, 1.0, 100.0, hint="Of the grasp above the table")
        self._shown = Bound[bool](shown, desk, lambda value: SetGrasp("shown", value))
        self._hand = Bound[str](hand, desk, lambda value: SetGrasp("hand", value) if value in there else None)
        self._mode = Bound[str](mode, desk, lambda value: SetGrasp("mode", value))
        self._method = Bound[str](method, desk, lambda value: SetGrasp("method", value))
        self._finger = Bound[str](finger, desk, lambda value: SetGrasp("finger", value))
        self._fingers = Bound[str](fingers, desk, self._count)
        self._width = Bound[float](width, desk, lambda value: SetGrasp("width_mm", value))
        self._height = Bound[float](height, desk, lambda value: SetGrasp("height_mm", value))
        kind = gui.add_dropdown(
            "Save as", GRASP_KINDS, initial_value="png", hint="Views, or the timed approach"
        )
        self._kind = Bound[str](kind, desk, lambda value: SetGrasp("kind", value))
        on_click(gui.add_button("Download grasp"), self._download)
        self._offered = Shown[Any](self._offer)
        self._relevant = Shown[str](self._show_mode)

    def _count(self, value: str) -> Event | None:
        return SetGrasp("fingers", int(value)) if value.isdigit() else None

    def _download(self) -> None:
        asked, live = self._desk.view.state.grasp, self._desk.view.state.grasp_live
        grasp, ready = live.grasp, live.ready
        if grasp is None or ready is None or not asked.shown or live.grasp_of != asked.asked:
            self._desk.say("Show the hand first, then download the grasp.", error=True)
            return

        def work(report: Any) -> None:
            data = grasp_bytes(ready.planner, grasp, asked.height_mm, asked.kind)
            report.check()
            self._desk.download(f"grasp.{asked.kind}", data)

        self._desk.run(Job("grasp file", "writing the grasp", work))

    def show(self, view: View) -> None:
        """Follows the state."""
        asked, ready = view.state.grasp, view.state.grasp_live.ready
        self._relevant(asked.mode)
        if ready is not None and ready.closure == asked.closure:
            self._offered(ready)
        self._shown.show(asked.shown, view)
        self._hand.show(asked.hand, view)
        self._mode.show(asked.mode, view)
        self._method.show(asked.method, view)
        for bound, value in ((self._finger, asked.finger), (self._fingers, str(asked.fingers))):
            if value not in bound.handle.options:
                bound.handle.options = (value, *bound.handle.options)
            bound.show(value, view)
        self._width.show(asked.width_mm, view)
        self._height.show(asked.height_mm, view)
        self._kind.show(asked.kind, view)

    def _offer(self, ready: Ready) -> None:
        """What this hand can do."""
        self._finger.handle.options = ready.able or (ready.closure.finger,)
        self._fingers.handle.options = tuple(map(str, ready.counts)) or (str(ready.closure.fingers),)
        self._method.handle.options = ready.methods
        self._width.handle.min, self._width.handle.max = ready.low_mm, ready.high_mm

    def _show_mode(self, mode: str) -> None:
        self._finger.handle.visible, self._fingers.handle.visible = mode == "line", mode == "plane"


def control_lines(sweep: SweepRows, ready: Ready | None) -> dict[str, np.ndarray]:
    """Controls that change over a sweep, by actuator."""
    if ready is None or len(ready.planner.hand.actuator_names) != sweep.controls.shape[1]:
        return {}
    changing = np.ptp(sweep.controls, axis=0) > CHANGES
    names = ready.planner.hand.actuator_names
    return {name: sweep.controls[:, k] for k, name in enumerate(names) if changing[k]}


def grasp_text(grasp: Grasp) -> str:
    """Tilt, controls and errors in numbers, as Markdown."""
    what = "Diameter" if grasp.mode == "cylinder" else "Width"
    lines = [
        f"**{what} {1e3 * grasp.width:.1f} mm, tilt {np.degrees(grasp.tilt_y):.2f}°**, closed {100 * grasp.s:.1f} %",
        f"Error of the width {_mm(grasp.width_error)}, of the height {_mm(grasp.height_error)}.",
    ]
    if grasp.touching:
        lines.append(
            f"{len(grasp.touching)} links touch it, around {np.degrees(grasp.wrapped):.0f}° of its outline."
        )
    if grasp.range_violation > CHANGES:
        lines.append(f"**⚠ A joint is {grasp.range_violation:.3f} rad out of its range.**")
    table = ["| actuator | rad | ° |", "|---|--:|--:|"]
    table += [
        f"| {escape(name)} | {value:.4f} | {np.degrees(value):.1f} |"
        for name, value in grasp.actuators.items()
    ]
    return "\n\n".join(lines) + "\n\n" + "\n".join(table)


def _mm(metres: float) -> str:
    """A small length in words."""
    size = 1e3 * abs(metres)
    return "below 0.001 mm" if size < 1e-3 else f"{size:.3f} mm"
