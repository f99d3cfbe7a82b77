"""Pictures: objects to scale, tips on their sides, MuJoCo's picture shows what it should."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from matplotlib.patches import Circle, Rectangle

from elbowroom.errors import InputError, MissingExtraError
from elbowroom.grasp import ApproachOptions, GraspPlanner, Hand, plan_approach
from elbowroom.grasp.internal import grasped_object
from elbowroom.ui.draw import _mujoco as ours
from elbowroom.ui.draw import (
    hand_bones,
    hand_pieces,
    plot_grasp,
    plot_sweep,
    render_grasp,
    save_figure,
    show_grasp,
)


def test_the_object_is_drawn_to_scale_between_the_tips(smooth: GraspPlanner) -> None:
    grasp = smooth.plane(0.05, fingers=3)
    side = plot_grasp(grasp, 0.1).axes[0]
    (patch,) = [p for p in side.patches if isinstance(p, Rectangle) and p.get_label() == "object"]
    assert patch.get_width() == pytest.approx(50.0)
    assert side.get_aspect() == 1.0
    marks = {line.get_label(): line.get_xydata()[0] for line in side.lines if "tip" in str(line.get_label())}
    assert marks["thumb tip"] == pytest.approx([patch.get_x() + 50.0, 100.0], abs=1e-6)
    mean = np.mean([marks["index tip"], marks["middle tip"]], axis=0)
    assert mean == pytest.approx([patch.get_x(), 100.0], abs=1e-6)


@pytest.mark.parametrize("diameter", [0.015, 0.05, 0.08, 0.105])
def test_a_cylinder_is_a_circle_that_the_hand_touches_and_does_not_enter(
    smooth: GraspPlanner, hand: Hand, diameter: float
) -> None:
    grasp = smooth.cylinder(diameter)
    side = plot_grasp(grasp, 0.1).axes[0]
    (circle,) = [p for p in side.patches if isinstance(p, Circle)]
    assert 2 * circle.get_radius() == pytest.approx(1e3 * diameter)
    assert circle.center == pytest.approx((0.0, 100.0), abs=1e-6)
    (marks,) = [line.get_xydata() for line in side.lines if line.get_label() == "contact"]
    away = np.linalg.norm(marks - circle.center, axis=1) - circle.get_radius()
    assert len(away) >= 5
    assert np.abs(away).max() < 1e-3  # mm
    for piece in hand_pieces(hand, grasp.ctrl, grasp.to_world(0.1).T_world_base):
        assert np.hypot(piece.vertices[:, 0], piece.vertices[:, 2] - 0.1).min() > diameter / 2 - 1e-6


def test_a_proportional_cylinder_is_a_circle_through_the_knuckles(hand: Hand) -> None:
    side = plot_grasp(GraspPlanner(hand, "proportional").cylinder(0.07), 0.1).axes[0]
    (circle,) = [p for p in side.patches if isinstance(p, Circle)]
    assert 2 * circle.get_radius() == pytest.approx(70.0)


def test_pieces_and_bones_are_where_the_hand_is(smooth: GraspPlanner, hand: Hand) -> None:
    grasp = smooth.line(0.03)
    T, tips = grasp.to_world(0.1)
    bones = hand_bones(hand, grasp.ctrl, T)
    for name, tip in tips.items():
        np.testing.assert_allclose(bones[name][-1], tip, atol=1e-12)
        assert bones[name][0, 2] > tip[2]  # the finger hangs down
    pieces = hand_pieces(hand, grasp.ctrl, T)
    assert {piece.finger for piece in pieces} == {"", *hand.finger_names}
    near = min(
        np.linalg.norm(p.vertices - tips["index"], axis=1).min() for p in pieces if p.finger == "index"
    )
    assert near < 0.004
    assert grasped_object(grasp, 0.1).size[0] == pytest.approx(0.03)


def test_sweeps_show_both_methods(hand: Hand, smooth: GraspPlanner, tmp_path: Path) -> None:
    figure = plot_sweep([GraspPlanner(hand, "proportional"), smooth], "line", n=20)
    assert len(figure.axes) == 8
    assert figure.axes[0].get_title().startswith("proportional")
    assert figure.axes[1].get_title().startswith("smooth")
    save_figure(figure, tmp_path / "sweep.png", dpi=40)
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")


def test_mujoco_draws_hand_object_and_tips(smooth: GraspPlanner) -> None:
    try:
        pixels = render_grasp(smooth.plane(0.05), size=(320, 240)).astype(int)
    except MissingExtraError as error:
        assert "apt install" in str(error)  # noqa: PT017 - a machine without OpenGL must at least say what to do
        pytest.skip("no OpenGL here")
    assert pixels.shape == (240, 320, 3)
    red, green, blue = np.moveaxis(pixels, -1, 0)
    yellow = (red > 150) & (green > 110) & (blue < 110)
    dark = pixels.max(axis=-1) < 110
    rows = np.arange(240)[:, None] * np.ones((1, 320))
    assert 300 < yellow.sum() < 20_000
    assert dark.sum() > 300
    assert rows[dark].mean() < rows[yellow].mean()  # palm above the object


def test_without_opengl_the_error_says_what_to_install(
    smooth: GraspPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "CONTEXTS", ("mujoco.nothing",))
    with pytest.raises(MissingExtraError, match="libosmesa6.*plot_grasp"):
        render_grasp(smooth.line(0.03))


def test_the_viewer_needs_a_display(smooth: GraspPlanner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(MissingExtraError, match="display"):
        show_grasp(smooth.line(0.03))


class StandInViewer:
    """What `mujoco.viewer.launch_passive` returns, open until the motion has been played."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, **ui: bool) -> None:
        self.model, self.data, self.ui, self.cam = model, data, ui, mujoco.MjvCamera()
        self.seen: list[np.ndarray] = []

    def __enter__(self) -> StandInViewer:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def is_running(self) -> bool:
        return len(self.seen) < 100

    def sync(self) -> None:
        self.seen.append(self.data.qpos.copy())


def test_the_viewer_plays_the_motion_to_its_end(
    smooth: GraspPlanner, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[StandInViewer] = []

    def launch(*args: Any, **ui: bool) -> StandInViewer:
        opened.append(StandInViewer(*args, **ui))
        return opened[0]

    grasp = smooth.cylinder(0.05)
    motion = plan_approach(smooth, grasp, options=ApproachOptions(ctrl_speed=4.0, base_speed=1.0))
    clock = iter(np.linspace(0.0, 2 * motion.times[-1], 102))
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setitem(sys.modules, "mujoco.viewer", SimpleNamespace(launch_passive=launch))
    show_grasp(grasp, motion=motion)
    (viewer,) = opened
    joint = viewer.model.joint("index_proximal_joint").qposadr[0]
    angles = [qpos[joint] for qpos in viewer.seen]
    assert angles[0] == pytest.approx(motion.ctrl[0, 3])
    assert angles[-1] == pytest.approx(grasp.actuators["index"])
    assert np.all(np.diff(angles) >= 0)
    assert 0.1 < viewer.cam.lookat[2] < grasp.to_world().T_world_base[2, 3]


def test_mujoco_pictures_are_of_the_bundled_hand(allegro: Hand) -> None:
    with pytest.raises(InputError, match="rh56"):
        render_grasp(GraspPlanner(allegro).line(0.05))
