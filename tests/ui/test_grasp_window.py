"""The window with the width slider, driven without a display; and what is said where there is none."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from matplotlib.backend_bases import KeyEvent, MouseEvent
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from elbowroom.cli import main
from elbowroom.errors import ElbowroomError, MissingExtraError
from elbowroom.grasp import GraspPlanner, GraspRangeError, Hand
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


# Controls ------------------------------------------------------------------------------------------


def test_mode_fingers_and_method_are_chosen_in_the_window(window: GraspWindow, smooth: GraspPlanner) -> None:
    told: list[Any] = []
    window.changed.append(told.append)
    window.mode_choice.set_active(1)
    assert (window.grasp.mode, window.grasp.opposition) == ("plane", "plane 4")
    assert window.grasp.width == pytest.approx(0.03)
    window.finger_choice.set_active(2)
    assert window.grasp.opposition == "plane 5"
    assert (window.slider.valmin, window.slider.valmax) == pytest.approx(
        tuple(1e3 * end for end in smooth.range("plane", fingers=5))
    )
    window.method_choice.set_active(1)
    assert window.grasp.method == "proportional"
    assert window.slider.valmin == pytest.approx(15.65, abs=0.01)
    window.mode_choice.set_active(2)
    assert window.slider.label.get_text() == "diameter, mm"
    window.method_choice.set_active(0)
    assert isinstance(thing(window), Circle)
    assert window.grasp.ctrl.tolist() == smooth.cylinder(window.grasp.width).ctrl.tolist()
    assert len(told) == 5


def test_a_kind_that_cannot_be_planned_is_said_and_the_last_one_stays(
    window: GraspWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = window.grasp
    monkeypatch.setattr(
        GraspPlanner, "range", lambda *a, **k: (_ for _ in ()).throw(GraspRangeError("cannot"))
    )
    window.mode_choice.set_active(2)
    monkeypatch.undo()
    assert window.figure.get_suptitle() == "cannot"
    assert window.grasp is before
    assert window.mode_choice.value_selected == "line"
    window.slider.set_val(40.0)
    assert window.grasp.mode == "line"


def test_another_kind_takes_the_nearest_width_that_it_can_do(window: GraspWindow) -> None:
    window.slider.set_val(6.0)
    window.method_choice.set_active(1)
    assert window.grasp.width == pytest.approx(window.slider.valmin * 1e-3)
    assert window.slider.val == pytest.approx(8.674, abs=0.001)


def test_the_height_moves_hand_and_object(window: GraspWindow) -> None:
    before = thing(window).get_y()
    told: list[Any] = []
    window.changed.append(told.append)
    window.height_slider.set_val(160.0)
    assert window.height == pytest.approx(0.16)
    assert thing(window).get_y() == pytest.approx(before + 60.0)
    assert len(told) == 1


def test_both_views_keep_one_scale_and_their_place(window: GraspWindow) -> None:
    def scales() -> list[float]:
        boxes = [(ax, ax.get_window_extent()) for ax in window.figure.axes[:2]]
        spans = [(box.width / np.ptp(ax.get_xlim()), box.height / np.ptp(ax.get_ylim())) for ax, box in boxes]
        return [scale for pair in spans for scale in pair]

    places = [ax.get_position().bounds for ax in window.figure.axes[:2]]
    window.mode_choice.set_active(2)
    window.height_slider.set_val(300.0)
    window.figure.draw_without_rendering()
    assert scales() == pytest.approx([scales()[0]] * 4, rel=1e-6)
    for ax, place in zip(window.figure.axes[:2], places, strict=True):
        assert ax.get_position().bounds == pytest.approx(place, abs=1e-6)


def test_a_hand_of_one_method_offers_that_one_alone(allegro: Hand) -> None:
    window = make(GraspPlanner(allegro), "line", 0.05)
    assert [text.get_text() for text in window.method_choice.labels] == ["smooth"]
    assert [text.get_text() for text in window.finger_choice.labels] == ["3", "4"]


def test_the_button_opens_a_viewer_that_follows_the_controls(
    window: GraspWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[StandInViewer] = []

    def launch(*args: Any, **ui: bool) -> StandInViewer:
        opened.append(StandInViewer(*args, **ui))
        return opened[-1]

    ticks: list[Any] = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setitem(sys.modules, "mujoco.viewer", SimpleNamespace(launch_passive=launch))
    timer = SimpleNamespace(add_callback=ticks.append, start=lambda: None, stop=ticks.clear)
    monkeypatch.setattr(window.figure.canvas, "new_timer", lambda interval: timer)
    press(window.viewer_button)
    press(window.viewer_button)  # one is enough
    assert len(opened) == 1
    ticks[0]()
    window.mode_choice.set_active(2)
    window.height_slider.set_val(150.0)
    ticks[0]()
    viewer = opened[0]
    assert [2e3 * size[0] for size, _ in viewer.seen] == pytest.approx([30.0, 30.0])
    geom = viewer.model.geom("object")
    assert geom.type[0] == mujoco.mjtGeom.mjGEOM_CYLINDER
    assert geom.pos[2] == pytest.approx(0.15)
    viewer.seen += [viewer.seen[0]] * 10  # closed by its user
    ticks[0]()
    assert ticks == []
    press(window.viewer_button)
    assert len(opened) == 2
    window.close_viewer()


def press(button: Any) -> None:
    canvas = button.ax.figure.canvas
    x, y = button.ax.transAxes.transform((0.5, 0.5))
    for name in ("button_press_event", "button_release_event"):
        canvas.callbacks.process(name, MouseEvent(name, canvas, x, y, 1))


def test_why_the_viewer_does_not_open_is_said(window: GraspWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    window.open_viewer()
    assert "needs a display" in window.figure.get_suptitle()
