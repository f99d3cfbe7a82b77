"""The Plan panel with a gui and a scene that nobody looks at."""

from __future__ import annotations

import shlex
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from elbowroom import CollisionModel, cli, load_robot
from elbowroom.errors import InputError
from elbowroom.plan import Motion
from elbowroom.ui._commands import plan_command
from elbowroom.ui._jobs import Cancelled, Job, Jobs, Report
from elbowroom.ui._planning import asked_of, find_plan, motion_bytes, play, world_bytes
from elbowroom.ui.panels import PlanPanel
from elbowroom.ui.panels._plan import answer_text
from elbowroom.ui.scene._plan import CLOSE, FAR, coarse, colours_of
from elbowroom.ui.state import (
    HERE,
    Goes,
    Place,
    PlanFound,
    PlanGoes,
    RobotKey,
    Seek,
    SetCfg,
    SetPlace,
    SetPlan,
    SetWorld,
    Undo,
)
from elbowroom.world import Box, World
from tests.ui.page_tools import APART, TOUCHING, TestDesk, act, rails_file, until, widget

FAR_OFF = (0.9, -0.5)


def nodes(scene):
    return scene._handle_from_node_name


def plot(panel, name):
    return getattr(panel, name)._handle


@pytest.fixture
def planned(stage, desk):
    """A motion planned by hand on the panel, and looked at along its way."""
    panel, gui, scene = stage(PlanPanel)
    desk.send(SetCfg(APART))
    act(widget(gui, "Take pose as"), "Start ")
    desk.send(SetCfg(FAR_OFF))
    act(widget(gui, "Goal"), HERE)
    act(widget(gui, "Plan"))
    desk.work()  # plans
    desk.work()  # measures
    return panel, gui, scene


def test_a_motion_is_planned_between_poses_and_moves_the_robot(planned, desk):
    panel, gui, _ = planned
    found = desk.history.state.plan.found
    assert found.result.success
    np.testing.assert_allclose(found.result.path[[0, -1]], [APART, FAR_OFF], atol=1e-12)
    assert "Motion takes" in panel._text.content
    assert "proved free" in panel._text.content
    assert desk.history.state.robot.cfg == APART  # shown from its beginning
    slider = widget(gui, "Time s")
    assert slider.max == pytest.approx(found.result.motion.duration, abs=0.01)
    act(slider, 0.3)
    np.testing.assert_allclose(desk.history.state.robot.cfg, found.result.motion.at(0.3), atol=1e-12)
    act(slider, 1e9)
    assert desk.history.state.robot.cfg == pytest.approx(FAR_OFF)
    act(widget(gui, "Playback"), "Rewind")
    assert desk.history.state.robot.cfg == APART


def test_clearance_and_proof_are_shown_along_the_way(planned, desk):
    panel, _, scene = planned
    evidence = desk.history.state.plan_live.evidence
    path = evidence.result.path
    assert len(evidence.proved) == len(path) - 1
    exact = desk.model.clearance(path, exact=True)
    assert (evidence.proved <= np.minimum(exact[:-1], exact[1:]) + 1e-9).all()
    assert (evidence.proved > 0.0).all()
    times, measured, proved = plot(panel, "_clearance").data
    assert plot(panel, "_clearance").visible
    np.testing.assert_allclose(
        measured, 1e3 * exact[np.searchsorted(evidence.result.times, times)], atol=1e-6
    )
    assert (proved <= measured + 1e-6).all()
    assert nodes(scene)["/plan/way"].points.shape[1:] == (2, 3)
    robot = desk.model.robot
    tip = nodes(scene)[f"/plan/ghosts/{robot.link_index('tip')}_0"]
    np.testing.assert_allclose(
        tip.batched_positions[[0, -1]],
        robot.link_poses(path[[0, -1]])[:, robot.link_index("tip"), 4:],
        atol=1e-6,
    )
    assert f"/plan/ghosts/{robot.link_index('base')}_0" not in nodes(scene)  # it stays where it is
    assert "proved**" in panel._player._now.content


def test_trail_and_ghosts_are_toggled_and_the_motion_is_undone(planned, desk):
    _, gui, scene = planned
    act(widget(gui, "Trail by margin"), False)
    act(widget(gui, "Ghosts"), False)
    assert not [name for name in nodes(scene) if name.startswith(("/plan/way", "/plan/ghosts/"))]
    act(widget(gui, "Trail by margin"), True)
    assert "/plan/way" in nodes(scene)
    desk.send(Undo())
    assert desk.history.state.plan.found is None
    assert "/plan/way" not in nodes(scene)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_the_file_is_what_motion_write_writes(planned, desk, tmp_path, kind):
    _, gui, _ = planned
    act(widget(gui, "Write as"), kind)
    act(widget(gui, "Download motion"))
    motion = desk.history.state.plan.found.result.motion
    motion.write(tmp_path / f"motion.{kind}", rate=100.0)
    assert desk.files[f"motion.{kind}"] == (tmp_path / f"motion.{kind}").read_bytes()
    if kind == "json":
        (tmp_path / "m.json").write_bytes(desk.files["motion.json"])
        assert Motion.read(tmp_path / "m.json").duration == motion.duration


def test_the_command_says_exactly_what_was_asked(planned, desk):
    view = desk.view
    assert plan_command(view) == ""  # a robot that was handed over
    key = RobotKey("a robot.urdf", package_dirs=("x",))
    found = view.state.plan.found
    asked = replace(found.asked, key=key, parts=view.state.model)
    state = replace(
        view.state,
        robot=replace(view.state.robot, key=key),
        plan=replace(view.state.plan, found=replace(found, asked=asked), kind="json"),
    )
    assert plan_command(replace(view, state=state)) == (
        "elbowroom plan 'a robot.urdf' --package-dirs x --start 0.4 0.1 --goal 0.9 -0.5 "
        "--method auto --timeout 5.0 --seed 0 --out motion.json"
    )


def test_the_command_writes_the_same_bytes(tmp_path, monkeypatch, capsys):
    path = rails_file(tmp_path)
    desk = TestDesk(CollisionModel(load_robot(path)), RobotKey(path.name))
    monkeypatch.chdir(tmp_path)
    desk.send(SetWorld(World([Box((0.1, 0.1, 0.1), pose=np.array([1.0, 0.0, 0.0, 0.0, 0.75, 0.5, 0.0]))])))
    model = desk.model.with_world(desk.history.state.model.world)
    desk.send(SetCfg((-0.1, 0.4)))
    desk.send(SetPlace("goal", Place("away", FAR_OFF)))
    desk.send(find_plan(desk, model, asked_of(desk.history.state), Report(lambda: None)))
    found = desk.history.state.plan.found
    assert found.result.success
    (tmp_path / "scene.json").write_bytes(world_bytes(found.asked.parts.world))
    words = shlex.split(PlanFound(found).command(desk.view))
    assert words[:4] == ["elbowroom", "plan", "rails.urdf", "scene.json"]
    assert cli.main(words[1:]) == 0
    capsys.readouterr()
    assert (tmp_path / "motion.csv").read_bytes() == motion_bytes(found.result.motion, "csv")


def test_why_there_is_no_motion_is_said(stage, desk):
    panel, gui, _ = stage(PlanPanel)
    desk.send(SetPlace("goal", Place("blocked", TOUCHING)))
    desk.send(SetCfg(APART))
    act(widget(gui, "Plan"))
    desk.work()
    assert "No motion" in panel._text.content
    assert "the goal is not free" in answer_text(desk.view)
    assert not panel._player._folder.visible
    assert desk.jobs == []  # nothing to measure
    with pytest.raises(InputError, match="no motion"):
        desk.send(Seek(0.1))


def test_the_cost_of_stomp_is_drawn_while_it_falls(stage, desk, monkeypatch):
    panel, gui, _ = stage(PlanPanel)
    act(widget(gui, "Method"), "stomp")
    seen = []
    asked = asked_of(desk.history.state)
    monkeypatch.setattr("elbowroom.ui._planning.OFTEN", 0.0)

    def planned(model, asked, timeout, progress, cancel):
        from elbowroom.plan import PlanProgress

        for cost in (5.0, 3.0, 2.0):
            progress(PlanProgress("stomp", 0.1, 0, cost))
            seen.append(desk.history.state.plan_live.goes.costs)
        raise Cancelled

    monkeypatch.setattr("elbowroom.ui._planning._planned", planned)
    with pytest.raises(Cancelled):
        find_plan(desk, desk.model, asked, Report(lambda: None))
    assert seen == [(5.0,), (5.0, 3.0), (5.0, 3.0, 2.0)]
    panel._show_costs(seen[-1])
    assert plot(panel, "_cost").visible
    np.testing.assert_array_equal(plot(panel, "_cost").data[1], seen[-1])


def test_a_search_hears_that_it_is_to_stop_and_its_answer_is_dropped(desk, monkeypatch):
    desk.send(SetPlan("timeout", 600.0))
    model = desk.model
    asking = threading.Event()

    def forever(model, asked, timeout, progress, cancel):
        asking.set()
        while not cancel():
            time.sleep(0.01)

    monkeypatch.setattr("elbowroom.ui._planning._planned", forever)
    answers = []
    jobs = Jobs(answers.append, answers.append, lambda: None)
    asked = asked_of(desk.history.state)
    jobs.run(Job("plan", "planning", lambda report: find_plan(desk, model, asked, report)))
    asking.wait(20.0)
    jobs.cancel("plan")
    until(lambda: not jobs._all)
    jobs.stop()
    assert [answer for answer in answers if isinstance(answer, PlanFound | Exception)] == []


def test_playing_moves_the_robot_in_time_and_ends_with_the_motion(planned, desk):
    found = desk.history.state.plan.found
    desk.sent.clear()
    play(desk, found, 0.0, 1.0, Report(lambda: None))
    seeks = [event.time for event in desk.sent]
    assert len(seeks) > 2
    assert seeks == sorted(seeks)
    assert desk.history.state.robot.cfg == pytest.approx(FAR_OFF)
    desk.send(PlanFound(replace(found)))
    desk.sent.clear()
    play(desk, found, 0.0, 1.0, Report(lambda: None))  # of a motion that is gone
    assert desk.sent == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("timeout", float("nan")), ("timeout", 0.0), ("timeout", 1e9), ("seed", -1), ("seed", 0.5),
     ("seed", float("inf")), ("method", "magic"), ("kind", "exe")],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(desk, name, value):
    before = desk.history.state
    with pytest.raises(InputError):
        desk.send(SetPlan(name, value))
    assert desk.history.state is before


def test_progress_is_no_step_of_undo(desk):
    past = len(desk.history.past)
    desk.send(PlanGoes(Goes("searching", 1.0, 12)))
    assert len(desk.history.past) == past


def test_colours_follow_clearance_and_ghosts_are_coarse():
    colours = colours_of(np.array([0.0, 1.0, np.inf, np.nan]))
    assert tuple(colours[0]) == CLOSE
    assert tuple(colours[1]) == tuple(colours[2]) == FAR
    assert tuple(colours[3]) == (0, 0, 0)
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=5)
    vertices, faces = coarse(np.asarray(ball.vertices), np.asarray(ball.faces))
    assert len(faces) < len(ball.faces) / 5
    assert np.abs(np.linalg.norm(vertices, axis=1) - 1.0).max() < 0.1
