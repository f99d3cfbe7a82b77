"""The IK panel with a gui and a scene that nobody looks at."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest

from elbowroom import CollisionModel, load_robot
from elbowroom.cli import main
from elbowroom.errors import ElbowroomError
from elbowroom.ui._follow import prepare
from elbowroom.ui.panels import IkPanel
from elbowroom.ui.state import History, IkReady, LockJoint, Move, RobotKey, SetTarget, Undo
from elbowroom.world import Box, World
from tests.ui.page_tools import HOSTILE, act, rails_file, widget
from tests.ui.test_world_panel import drag, quiet

ANYWHERE = (1.0, 0.0, 0.0, 0.0)


@pytest.fixture
def ik(stage, desk):
    """The panel with its targets shown."""
    panel, gui, scene = stage(IkPanel)
    act(widget(gui, "Targets"), True)
    assert [job.key for job in desk.jobs] == ["ik"]
    desk.jobs.clear()
    desk.send(IkReady())
    return panel, gui, scene


def tip(desk):
    return desk.view.poses[desk.model.robot.link_index("tip")]


def settle(desk, most=400):
    """Answers until nothing is asked any more."""
    for _ in range(most):
        if not desk.questions:
            return
        desk.answer()
    raise AssertionError("the robot never came to rest")


def target(desk):
    """The node of the tip's gizmo."""
    return "/targets/" + str([*desk.panels[0]._nodes._gizmos].index("tip"))


def test_the_robot_follows_a_dragged_target_and_one_undo_brings_it_back(ik, desk):
    panel, _, scene = ik
    before, start = desk.history.state, desk.history.state.robot.cfg
    desk.sent.clear()
    goal = (*ANYWHERE, 0.8, 0.0, 0.0)
    drag(scene, target(desk), goal, ("start", "update"))
    settle(desk)
    assert "Following" in panel._text.content
    assert desk.history.state.ik.held
    drag(scene, target(desk), goal, ("end",))
    settle(desk)
    np.testing.assert_allclose(tip(desk)[4:], goal[4:], atol=1e-4)
    assert "### Reached" in panel._text.content
    verdict = desk.model.explain(np.array(desk.history.state.robot.cfg))
    assert f"Clearance {1000 * verdict.clearance:.1f} mm" in panel._text.content
    quick = History(before)
    for k, event in enumerate(desk.sent):  # as quickly as they come on a page
        quick = quick.after(event, 0.02 * k)
    assert len(quick.past) == 1
    desk.history = quick
    desk.send(Undo())
    assert desk.history.state.robot.cfg == start
    assert desk.questions == {}  # it does not set off again
    gizmo = scene._handle_from_node_name[target(desk)]
    np.testing.assert_allclose(gizmo.position, tip(desk)[4:])


def test_it_stops_before_what_is_in_the_way_and_says_why(ik, desk):
    panel, _, _ = ik
    wall = World([Box((0.1, 4.0, 4.0), name="wall", pose=[1, 0, 0, 0, 1.0, 0, 0])])
    desk.made(desk.model.with_world(wall))
    desk.send(SetTarget("tip", (*ANYWHERE, 1.0, 0.0, 0.0), begins=True, held=False))
    settle(desk)
    assert desk.model.free(np.array(desk.history.state.robot.cfg))
    assert 0.75 < tip(desk)[4] < 0.85
    assert "Not reached" in panel._text.content
    assert "wall" in desk.history.state.ik.found.why
    desk.send(SetTarget("tip", (*ANYWHERE, 1.3, 0.0, 0.0), begins=True, held=False))
    settle(desk)
    assert "jumped" in panel._text.content  # behind the wall there is room, but no way


def test_locked_joints_stay_and_other_moves_let_targets_go(ik, desk):
    panel, gui, _ = ik
    act(widget(gui, "Lock slide"), True)
    act(widget(gui, "Orientation"), False)
    desk.send(SetTarget("tip", (*ANYWHERE, 0.8, 0.0, 0.0), begins=True, held=False))
    settle(desk)
    assert desk.history.state.robot.cfg[0] == 0.0
    assert "Not reached" in panel._text.content
    desk.send(Move(0, 0.1))
    assert desk.history.state.ik.of(desk.history.state) == ()
    assert desk.questions == {}
    with pytest.raises(ElbowroomError):
        desk.send(LockJoint("nothing", True))


def test_a_place_is_typed_and_hostile_names_are_harmless(ik, desk):
    panel, gui, _ = ik
    widget(gui, "Link").value = "tip"
    act(widget(gui, "Target mm"), (700.0, 0.0, 0.0))
    settle(desk)
    np.testing.assert_allclose(tip(desk)[4:], (0.7, 0.0, 0.0), atol=1e-4)
    desk.send(SetTarget(HOSTILE, (*ANYWHERE, 0.0, 2.0, 0.5), begins=True, held=False))
    assert "<" not in panel._text.content
    act(widget(gui, "Release targets"))
    assert desk.history.state.ik.targets == ()


@pytest.mark.parametrize("pose", [(np.nan,) * 7, (1, 0, 0, 0, 1e9, 0, 0), (0.0,) * 7, (1.0,)])
def test_targets_that_make_no_sense_are_refused(ik, desk, pose):
    with pytest.raises(ElbowroomError):
        desk.send(SetTarget("tip", pose))
    assert desk.history.state.ik.targets == ()


def test_the_command_gives_the_same_answer_to_the_last_bit(stage, desk, tmp_path, capsys):
    path = rails_file(tmp_path)
    model = CollisionModel(load_robot(path))
    prepare(model, quiet)
    state, key = desk.history.state, RobotKey(str(path))
    desk.key, desk.history = key, History(replace(state, robot=replace(state.robot, key=key)))
    desk.made(model)
    _, gui, _ = stage(IkPanel)
    act(widget(gui, "Targets"), True)
    desk.send(IkReady())
    act(widget(gui, "Lock turn"), True)
    desk.send(SetTarget("tip", (*ANYWHERE, 0.8, 0.0, 0.0), begins=True, held=False))
    settle(desk)
    words = shlex.split(next(e for e in reversed(desk.sent) if hasattr(e, "found")).command(desk.view))
    assert words[:2] == ["elbowroom", "ik"]
    capsys.readouterr()
    assert main([*words[1:], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert tuple(found["cfg"].values()) == desk.history.state.robot.cfg


def test_a_target_that_a_lost_connection_held_is_released(stage, desk):
    panel, _, _ = stage(IkPanel)
    desk.panels.clear()
    desk.send(SetTarget("tip", (*ANYWHERE, 0.8, 0.0, 0.0), begins=True))
    assert desk.history.state.ik.held
    panel.show(desk.view)
    assert not desk.history.state.ik.held
