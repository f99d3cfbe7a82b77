"""The Grasp panel with a gui and a scene that nobody looks at."""

from __future__ import annotations

import shlex

import numpy as np
import pytest

from elbowroom import cli
from elbowroom.errors import InputError
from elbowroom.grasp.internal import grasped_object
from elbowroom.ui import _grasping
from elbowroom.ui._commands import grasp_command
from elbowroom.ui._jobs import Report
from elbowroom.ui.panels import GraspPanel
from elbowroom.ui.state import Closure, SetGrasp, Undo, inwards
from tests.ui.page_tools import act, widget


def nodes(scene):
    return scene._handle_from_node_name


@pytest.fixture
def shown(stage, desk, monkeypatch):
    """The hand is shown and its line grasp is there."""
    monkeypatch.setattr(_grasping, "SWEPT", 12)
    monkeypatch.setattr(_grasping, "REST", 0.0)
    panel, gui, scene = stage(GraspPanel)
    assert desk.jobs == []  # nothing is computed before
    act(widget(gui, "Show the hand"), True)
    desk.work()  # gets ready, sweeps
    desk.answer()  # plans
    return panel, gui, scene


def test_the_hand_closes_on_the_width_of_the_slider(shown, desk, smooth):
    panel, gui, scene = shown
    act(widget(gui, "Width mm"), 42.0)
    desk.answer()
    grasp = desk.history.state.grasp_live.grasp
    wanted = smooth.line(0.042)
    np.testing.assert_allclose(grasp.ctrl, wanted.ctrl)
    assert f"tilt {np.degrees(wanted.tilt_y):.2f}" in panel._text.content
    for name, value in wanted.actuators.items():
        assert f"{name.replace('_', '&#95;')} | {value:.4f}" in panel._text.content
    hand = wanted.hand
    base = nodes(scene)[f"/grasp/{hand.robot.link_index(hand.robot.link_names[0])}"]
    np.testing.assert_allclose(base.position, wanted.to_world(0.1).T_world_base[:3, 3], atol=1e-9)


def test_the_left_hand_can_be_chosen_and_is_the_mirror_image(shown, desk, smooth):
    _, gui, scene = shown
    assert widget(gui, "Hand").options[:2] == ("rh56", "rh56_left")
    act(widget(gui, "Hand"), "rh56_left")
    desk.work()
    desk.answer()
    grasp, right = desk.history.state.grasp_live.grasp, smooth.line(0.03)
    assert grasp.hand.name == "rh56_left"
    np.testing.assert_allclose(grasp.tips["thumb"], right.tips["thumb"] * (1, -1, 1), atol=1e-9)
    base = nodes(scene)[f"/grasp/{grasp.hand.robot.link_index('base')}"]
    np.testing.assert_allclose(base.position, right.to_world(0.1).T_world_base[:3, 3] * (1, -1, 1), atol=1e-9)
    assert "--hand rh56_left" in grasp_command(desk.view)


def test_the_object_is_to_scale_and_goes_up_with_the_height(shown, desk):
    _, gui, scene = shown
    act(widget(gui, "Height mm"), 150.0)
    desk.answer()
    grasp = desk.history.state.grasp_live.grasp
    vertices = nodes(scene)["/grasp/object"].vertices
    size = np.ptp(vertices, axis=0)
    np.testing.assert_allclose(size, grasped_object(grasp, 0.15).size, atol=1e-6)
    assert size[0] == pytest.approx(0.03, abs=1e-6)
    assert vertices[:, 2].max() > 0.15


def test_sweeps_are_drawn_over_the_range_of_the_hand(shown, desk, smooth):
    panel, gui, _ = shown
    low, high = smooth.range("line")
    slider = widget(gui, "Width mm")
    assert (slider.min, slider.max) == inwards(low, high)
    assert 1e-3 * slider.min >= low - 1e-12
    assert 1e-3 * slider.max <= high
    widths, tilts = panel._tilt._handle.data
    assert (widths[0], widths[-1]) == (slider.min, slider.max)
    np.testing.assert_allclose(tilts[3], np.degrees(smooth.line(1e-3 * widths[3]).tilt_y), atol=1e-9)
    names = [entry["label"] for entry in panel._controls._handle.series][1:]
    assert names == ["index", "thumb_proximal", "thumb_yaw"]  # those that take part
    assert panel._sweep.visible


def test_views_are_drawn_when_the_slider_rests(shown, desk):
    panel, gui, _ = shown
    act(widget(gui, "Width mm"), 50.0)
    act(widget(gui, "Width mm"), 60.0)
    assert [job.key for job in desk.jobs] == [
        "grasp views"
    ]  # of the first grasp; the next is not planned yet
    desk.jobs.clear()
    desk.answer()
    desk.work()
    views = desk.history.state.grasp_live.views
    assert views.of == desk.history.state.grasp.asked
    assert set(views.pictures) == {"side", "front", "legend"}
    for picture in views.pictures.values():
        assert picture.min() < 200  # something is drawn
    assert all(handle.visible for handle in panel._images.values())
    act(widget(gui, "Show the hand"), False)
    assert not panel._views.visible


def test_a_picture_that_nobody_wants_any_more_is_not_drawn(shown, desk, monkeypatch):
    monkeypatch.setattr(_grasping, "REST", 5.0)
    report = Report(lambda: None)
    report.stop.set()
    state = desk.history.state
    assert _grasping.draw_views(state.grasp_live.grasp, state.grasp, report) is None


def test_a_width_comes_into_the_range_of_another_mode_and_undo_brings_it_back(shown, desk):
    _, gui, scene = shown
    act(widget(gui, "Width mm"), 110.5)
    desk.answer()
    desk.jobs.clear()
    act(widget(gui, "Closes"), "proportional")
    act(widget(gui, "Mode"), "cylinder")
    desk.work()
    desk.answer()
    state = desk.history.state
    assert state.grasp.closure == Closure("rh56", "proportional", "cylinder", "", 0)
    assert state.grasp.width_mm == state.grasp_live.ready.high_mm == widget(gui, "Width mm").max
    assert state.grasp_live.grasp.mode == "cylinder"
    assert not widget(gui, "Finger").visible
    desk.send(Undo())
    desk.send(Undo())
    assert (desk.history.state.grasp.mode, desk.history.state.grasp.width_mm) == ("line", 110.5)
    act(widget(gui, "Show the hand"), False)
    assert not nodes(scene)["/grasp"].visible


@pytest.mark.parametrize("kind", ["png", "csv", "json"])
def test_the_command_writes_the_same_bytes(shown, desk, tmp_path, monkeypatch, capsys, kind):
    _, gui, _ = shown
    act(widget(gui, "Width mm"), 33.3)
    desk.answer()
    act(widget(gui, "Save as"), kind)
    desk.jobs.clear()
    act(widget(gui, "Download grasp"))
    desk.work()
    words = shlex.split(grasp_command(desk.view))
    assert words[:2] == ["elbowroom", "grasp"]
    monkeypatch.chdir(tmp_path)
    assert cli.main(words[1:]) == 0
    capsys.readouterr()
    assert desk.files[f"grasp.{kind}"] == (tmp_path / f"grasp.{kind}").read_bytes()


@pytest.mark.parametrize(
    ("name", "value"),
    [("width_mm", float("nan")), ("width_mm", 1e9), ("height_mm", -1.0), ("height_mm", float("inf")),
     ("mode", "hug"), ("method", "magic"), ("kind", "exe")],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(desk, name, value):
    with pytest.raises(InputError):
        desk.send(SetGrasp(name, value))
