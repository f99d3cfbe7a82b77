"""The window with the width slider, driven without a display; and what is said where there is none."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from matplotlib.backend_bases import KeyEvent
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from elbowroom.cli import main
from elbowroom.errors import ElbowroomError, MissingExtraError
from elbowroom.grasp import GraspPlanner, GraspRangeError
from elbowroom.ui.draw import GraspWindow, require_window, show_grasp


@pytest.fixture
def window(smooth: GraspPlanner) -> GraspWindow:
    return make(smooth, "line", 0.03)


def make(planner: GraspPlanner, mode: str, width: float) -> GraspWindow:
    figure = Figure()
    FigureCanvasAgg(figure)
    return GraspWindow(figure, planner, mode, width)


def thing(window: GraspWindow, view: int = 0) -> Any:
    (patch,) = [p for p in window.figure.axes[view].patches if p.get_label() == "object"]
    return patch


def numbers(window: GraspWindow) -> dict[str, str]:
    """The column of numbers as name -> text."""
    (text,) = window.figure.axes[2].texts
    return {
        line.split("  ")[0]: line.split()[-1 if "mm" not in line else -2]
        for line in text.get_text().split("\n")
        if line
    }


def test_the_slider_moves_hand_object_and_numbers(window: GraspWindow, smooth: GraspPlanner) -> None:
    side, front = window.figure.axes[:2]
    limits = side.get_xlim(), side.get_ylim(), front.get_xlim()
    counts = [len(ax.patches) + len(ax.lines) + len(ax.texts) for ax in (side, front)]
    tips = {line.get_label(): line.get_xydata()[0] for line in side.lines if "tip" in str(line.get_label())}
    assert thing(window).get_width() == pytest.approx(30.0)
    window.slider.set_val(60.0)
    wanted = smooth.line(0.06)
    assert isinstance(thing(window), Rectangle)
    assert thing(window).get_width() == pytest.approx(60.0)
    assert [
        len(ax.patches) + len(ax.lines) + len(ax.texts) for ax in (side, front)
    ] == counts  # nothing piles up
    moved = {line.get_label(): line.get_xydata()[0] for line in side.lines if "tip" in str(line.get_label())}
    assert moved["thumb tip"][0] - moved["index tip"][0] == pytest.approx(60.0, abs=1e-3)
    assert tips["thumb tip"][0] - tips["index tip"][0] == pytest.approx(30.0, abs=1e-3)
    assert (side.get_xlim(), side.get_ylim(), front.get_xlim()) == limits  # only the hand moves
    shown = numbers(window)
    assert shown["width"] == "60.00"
    assert shown["tilt"] == f"{np.degrees(wanted.tilt_y):.2f}°"
    for name, value in wanted.actuators.items():
        assert float(shown[name]) == pytest.approx(value, abs=1e-4)


def test_everything_stays_inside_the_views_over_the_whole_range(smooth: GraspPlanner) -> None:
    window = make(smooth, "cylinder", 0.05)
    for width in np.linspace(window.slider.valmin, window.slider.valmax, 5):
        window.slider.set_val(width)
        assert isinstance(thing(window), Circle)
        assert 2 * thing(window).get_radius() == pytest.approx(width)
        for ax in window.figure.axes[:2]:
            box = np.concatenate(
                [
                    patch.get_extents().transformed(ax.transData.inverted()).get_points()
                    for patch in ax.patches[1:]
                ]
            )
            assert ax.get_xlim()[0] <= box[:, 0].min() <= box[:, 0].max() <= ax.get_xlim()[1]
            assert box[:, 1].max() <= ax.get_ylim()[1]


def test_keys_move_the_slider_within_its_range(window: GraspWindow) -> None:
    canvas = window.figure.canvas
    for key, value in (("right", 31.0), ("up", 31.1), ("left", 30.1), ("down", 30.0), ("x", 30.0)):
        canvas.callbacks.process("key_press_event", KeyEvent("key_press_event", canvas, key))
        assert window.slider.val == pytest.approx(value)
    window.slider.set_val(window.slider.valmax)
    canvas.callbacks.process("key_press_event", KeyEvent("key_press_event", canvas, "right"))
    assert window.slider.val == window.slider.valmax


def test_a_width_without_a_grasp_is_said_and_the_last_one_stays(
    window: GraspWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(width: float) -> None:
        raise GraspRangeError("no grasp of that width")

    told: list[Any] = []
    window.changed.append(told.append)
    before = window.grasp
    monkeypatch.setattr(window, "_plan", refuse)
    window.slider.set_val(60.0)
    assert window.grasp is before
    assert told == []
    assert window.figure.get_suptitle() == "no grasp of that width"


def test_a_wrong_width_is_refused_before_anything_is_drawn(smooth: GraspPlanner) -> None:
    with pytest.raises(ElbowroomError, match="0\\.5|500"):
        make(smooth, "line", 0.5)


class StandInViewer:
    """What `mujoco.viewer.launch_passive` returns; sees the object's size and the index finger at every picture."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, **ui: bool) -> None:
        self.model, self.data, self.cam = model, data, mujoco.MjvCamera()
        self.seen: list[tuple[np.ndarray, float]] = []

    def __enter__(self) -> StandInViewer:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def is_running(self) -> bool:
        return len(self.seen) < 10

    def lock(self) -> Any:
        return nullcontext()

    def sync(self) -> None:
        angle = self.data.qpos[self.model.joint("index_proximal_joint").qposadr[0]]
        self.seen.append((self.model.geom("object").size.copy(), float(angle)))


def test_the_slider_moves_mujocos_hand_too(
    window: GraspWindow, smooth: GraspPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[StandInViewer] = []

    def launch(*args: Any, **ui: bool) -> StandInViewer:
        opened.append(StandInViewer(*args, **ui))
        return opened[0]

    def tend(seconds: float) -> bool:
        if len(opened[0].seen) == 2:
            window.slider.set_val(60.0)
        return len(opened[0].seen) < 5  # closed then

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setitem(sys.modules, "mujoco.viewer", SimpleNamespace(launch_passive=launch))
    monkeypatch.setattr(window, "tend", tend)
    show_grasp(window.grasp, window=window)
    seen = opened[0].seen
    assert len(seen) == 5
    narrow, wide = smooth.line(0.03), smooth.line(0.06)
    assert [2e3 * size[0] for size, _ in seen] == pytest.approx([30, 30, 60, 60, 60])
    assert [angle for _, angle in seen] == pytest.approx(
        [narrow.actuators["index"]] * 2 + [wide.actuators["index"]] * 3
    )


def test_without_a_display_one_line_says_what_is_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert main(["grasp", "line", "--interactive"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.strip().count("\n") == 0
    assert "needs a display" in captured.err
    assert "--plot" in captured.err


def test_without_a_toolkit_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("matplotlib.get_backend", lambda: "agg")
    with pytest.raises(MissingExtraError, match="python3-tk"):
        require_window()
