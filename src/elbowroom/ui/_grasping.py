"""The work of the Grasp panel: hands and planners, sweeps, pictures, files. No viser in here."""

from __future__ import annotations

import tempfile
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .state import Closure, GraspDrawn, GraspMade, GraspReady, GraspSwept, Ready, SweepRows, Views, inwards

if TYPE_CHECKING:
    from ..grasp import Grasp, GraspPlanner
    from ._jobs import Report
    from .panels import Desk
    from .state import Event, GraspState

HANDS = ("rh56", "rh56_left", "allegro_right_hand", "allegro_left_hand")
"""That `load_hand` knows by name."""
SWEPT = 80
"""Widths of a sweep."""
REST = 0.35
"""Seconds that a slider rests before pictures are drawn."""
DPI = 80
"""Of the pictures in the panel."""


@cache
def hands() -> tuple[str, ...]:
    """Hands that can be loaded here."""
    from ..robot import catalogue

    there = {entry.name for entry in catalogue()}
    return tuple(name for name in HANDS if name in there)


@lru_cache(maxsize=8)
def planner_of(hand: str, method: str) -> GraspPlanner:
    """A planner, made once for all pages; what it computes does not depend on who asks."""
    from ..grasp import GraspPlanner, load_hand

    return GraspPlanner(load_hand(hand), method)


def get_ready(desk: Desk, closure: Closure, report: Report) -> Event:
    """Loads the hand and finds out what it can do, then sweeps over its range."""
    report.say(f"loading the hand {closure.hand}")
    planner = planner_of(closure.hand, closure.method)
    report.check()
    ready = ready_of(closure, planner)
    report.check()
    desk.send(GraspReady(ready))
    report.say("sweeping over all widths")
    return GraspSwept(_swept(ready, report))


def ready_of(closure: Closure, planner: GraspPlanner) -> Ready:
    """What a planner can do."""
    low, high = planner.range(closure.mode, finger=closure.finger or "index", fingers=closure.fingers or 4)
    sets = [
        entry.fingers for name, entry in planner.hand.oppositions.items() if not name.startswith("cylinder")
    ]
    return Ready(
        closure,
        planner,
        *inwards(low, high),
        able=tuple(fingers[0] for fingers in sets if len(fingers) == 1),
        counts=tuple(sorted({len(fingers) + 1 for fingers in sets if len(fingers) > 1})),
        methods=("smooth", "proportional") if planner.hand.proportional else ("smooth",),
    )


def grasp_of(planner: GraspPlanner, closure: Closure, width_mm: float) -> Grasp:
    """The grasp that `elbowroom grasp` plans."""
    return planner.grasp(
        closure.mode, 1e-3 * width_mm, finger=closure.finger or "index", fingers=closure.fingers or 4
    )


def make_grasp(ready: Ready, asked: GraspState) -> Event:
    """Plans one grasp."""
    return GraspMade(grasp_of(ready.planner, ready.closure, asked.width_mm), asked.asked)


def _swept(ready: Ready, report: Report) -> SweepRows:
    widths = np.linspace(ready.low_mm, ready.high_mm, SWEPT)
    grasps: list[Grasp] = []
    for k, width in enumerate(widths.tolist()):
        report(k, SWEPT)
        grasps.append(grasp_of(ready.planner, ready.closure, width))
    tilts = np.degrees([grasp.tilt_y for grasp in grasps])
    return SweepRows(ready.closure, widths, tilts, np.array([grasp.ctrl for grasp in grasps]))


def draw_views(grasp: Grasp, asked: GraspState, report: Report) -> Event | None:
    """Side and front view, each as a picture of its own, once the slider rests."""
    if report.stop.wait(REST):
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from .draw import plot_grasp

    figure = plot_grasp(grasp, 1e-3 * asked.height_mm)
    report.check()
    canvas = FigureCanvasAgg(figure)
    figure.set_dpi(DPI)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3]
    renderer = canvas.get_renderer()
    side, front = figure.axes[:2]
    parts = {"side": side.get_tightbbox(renderer), "front": front.get_tightbbox(renderer)}
    if figure.legends:
        parts["legend"] = figure.legends[0].get_window_extent(renderer)
    pictures = {name: _cut(pixels, box) for name, box in parts.items() if box is not None}
    return GraspDrawn(Views(pictures, asked.asked))


def _cut(pixels: np.ndarray, box: Any) -> np.ndarray:
    """Part of a picture; boxes count from its lower left corner."""
    height = len(pixels)
    top, bottom = max(int(height - box.y1) - 2, 0), int(height - box.y0) + 3
    return np.ascontiguousarray(pixels[top:bottom, max(int(box.x0) - 2, 0) : int(box.x1) + 3])


def grasp_bytes(planner: GraspPlanner, grasp: Grasp, height_mm: float, kind: str) -> bytes:
    """The file that `elbowroom grasp` writes with --plot (png) or --export (csv, json)."""
    from ..grasp import plan_approach

    height = 1e-3 * height_mm
    if kind != "png":
        motion = plan_approach(planner, grasp, height=height)
        return (motion.to_json() if kind == "json" else motion.to_csv()).encode()
    from .draw import plot_grasp, save_figure

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grasp.png"
        save_figure(plot_grasp(grasp, height), path)
        return path.read_bytes()
