"""The Robot and Live panels with a gui and a scene that nobody looks at."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import trimesh

from elbowroom import load_robot
from elbowroom.robot import Visual
from elbowroom.ui._escape import escape
from elbowroom.ui._view import View
from elbowroom.ui.panels import LivePanel, RobotPanel
from elbowroom.ui.panels._robot import _Unseen, followers, unseen_text
from elbowroom.ui.scene import COLLIDING, link_colours
from elbowroom.ui.scene._meshes import _coloured, visual_surfaces
from elbowroom.ui.state import Move, PageState, PickLink, RobotKey, RobotState, SetCfg, ShowLayer, Undo
from tests.ui.page_tools import APART, HOSTILE, TOUCHING, URDF, act, widget


def nodes(scene):
    return scene._handle_from_node_name


def test_sliders_are_in_degrees_and_millimetres_and_move_the_robot(stage, desk):
    _, gui, scene = stage(RobotPanel)
    slide, turn = widget(gui, "slide mm"), widget(gui, "turn °")
    assert (slide.min, slide.max) == (-1000.0, 1000.0)
    assert (turn.min, turn.max) == (-57.3, 57.3)
    act(slide, 250.0)
    act(turn, 30.0)
    np.testing.assert_allclose(desk.history.state.robot.cfg, (0.25, np.deg2rad(30.0)), atol=1e-12)
    tip = nodes(scene)[f"/robot/{desk.model.robot.link_index('tip')}"]
    np.testing.assert_allclose(tip.position, desk.view.poses[desk.model.robot.link_index("tip"), 4:])
    desk.send(Undo())
    assert (slide.value, turn.value) == (250.0, 0.0)


def test_followers_are_shown_and_names_are_harmless(stage, desk):
    panel, _, _ = stage(RobotPanel)
    desk.send(SetCfg((0.0, 0.5)))
    text = panel._joints._follow.content
    assert f"{np.rad2deg(0.1 - 2 * 0.5):.1f} °" in text
    assert "follows turn" in text
    desk.send(PickLink(HOSTILE))
    assert "<" not in panel._link.content
    assert escape(HOSTILE) in panel._link.content
    assert "12 triangles" in panel._link.content


def test_followers_are_found_where_joints_before_them_are_fixed(tmp_path):
    fixed = '<joint name="weld" type="fixed"><parent link="base"/><child link="arm"/></joint>'
    text = URDF.replace(
        '<link name="arm"/>', f'<link name="arm"/><link name="foot"/>{fixed.replace("arm", "foot")}'
    )
    (tmp_path / "welded.urdf").write_text(text)
    found = followers(load_robot(tmp_path / "welded.urdf"), (0.0, 0.5))
    assert found == f"- follow: {np.rad2deg(0.1 - 2 * 0.5):.1f} °, follows turn"


def test_only_what_moves_is_sent(stage, desk, viser_server, monkeypatch):
    stage(RobotPanel)
    sent = []
    monkeypatch.setattr(viser_server._websock_server, "queue_message", sent.append)
    desk.send(Move(0, 0.2))
    kinds = {type(message).__name__ for message in sent}
    assert kinds == {"SetPositionMessage", "GuiUpdateMessage"}
    moved = {message.name for message in sent if hasattr(message, "name")}
    robot = desk.model.robot
    assert moved == {f"/robot/{robot.link_index(link)}" for link in ("arm", "tip")}


def test_models_are_toggled_and_faded(stage, desk):
    _, gui, scene = stage(RobotPanel)
    tip = f"/robot/{desk.model.robot.link_index('tip')}"
    assert nodes(scene)[f"{tip}/visual0"].visible
    assert f"{tip}/spheres" not in nodes(scene)
    act(widget(gui, "Spheres"), True)
    act(widget(gui, "Collision"), True)
    act(widget(gui, "Visual"), False)
    assert nodes(scene)[f"{tip}/spheres"].visible
    assert nodes(scene)[f"{tip}/collision0"].visible
    assert not nodes(scene)[f"{tip}/visual0"].visible
    act(widget(gui, "Spheres opacity"), 0.25)
    assert nodes(scene)[f"{tip}/spheres"].opacity == 0.25
    assert desk.sent[-1].layer == "spheres"


def test_poses_are_chosen_drawn_saved_and_removed(stage, desk):
    _, gui, _ = stage(RobotPanel)
    choice, name, press = widget(gui, "Go to"), widget(gui, "Name"), widget(gui, "Pose")
    act(press, "Random")
    drawn = desk.history.state.robot.cfg
    assert drawn != (0.0, 0.0)
    name.value = "mine"
    act(press, "Save")
    assert "mine" in choice.options
    act(choice, "zero")
    assert desk.history.state.robot.cfg == (0.0, 0.0)
    act(choice, "mine")
    assert desk.history.state.robot.cfg == drawn
    assert choice.value == "choose ..."
    act(press, "Remove")
    assert "mine" not in choice.options


def test_a_link_is_picked_by_click_and_painted(stage, desk):
    _, _, scene = stage(RobotPanel)
    tip = nodes(scene)[f"/robot/{desk.model.robot.link_index('tip')}/visual0"]
    before = tip.color
    act(tip)
    assert desk.history.state.look.link == "tip"
    assert tip.color != before
    act(tip)
    assert tip.color == before


def test_only_robots_of_the_catalogue_are_opened(stage, desk):
    _, gui, _ = stage(RobotPanel)
    act(widget(gui, "Robot"), "teaarm")
    act(widget(gui, "Robot"), "/etc/passwd")
    assert [key.source for key in desk.opened] == ["teaarm"]


def test_the_verdict_follows_names_and_draws_what_touches(stage, desk):
    panel, _, scene = stage(LivePanel)
    desk.send(SetCfg(APART))
    desk.answer()
    assert panel._head.content == "### Free"
    assert nodes(scene)["/live/segment"].visible
    assert "clearance" in panel._body.content
    assert link_colours(desk.view) == {}
    desk.send(SetCfg(TOUCHING))
    assert "Not free" in panel._head.content  # at once, before anything is measured
    desk.answer()
    assert "depth" in panel._body.content
    assert link_colours(desk.view) == {"base": COLLIDING, "tip": COLLIDING}
    assert not nodes(scene)["/live/segment"].visible
    assert "/live/normals" in nodes(scene)
    verdict = desk.model.explain(np.array(TOUCHING))
    assert f"{verdict.closest.depth * 1000:.1f} mm" in panel._body.content


def test_a_verdict_is_asked_for_once(stage, desk):
    stage(LivePanel)
    desk.answer()
    desk.send(ShowLayer("spheres", True))
    assert desk.questions == {}
    desk.send(Move(0, 0.3))
    assert list(desk.questions) == ["verdict"]


@pytest.mark.parametrize("text", [HOSTILE, "a|b", "`x`", "{1+1}", "[x](javascript:y)", "a\nb", "x" * 500])
def test_escaped_text_is_plain_text(text):
    found = escape(text)
    assert not set("<>{}[]|`*_\n\"'/\\") & set(found)
    assert len(found) <= 6 * 80


SEEN = """<robot name="seen"><link name="base"><visual><geometry><box size="1 1 1"/></geometry><material name="m">
<color rgba="0 0.2 1 0.5"/></material></visual>{}</link></robot>"""


def test_a_link_looks_as_described(tmp_path, viser_server):
    (tmp_path / "seen.urdf").write_text(SEEN.format(""))
    (found,) = visual_surfaces(load_robot(tmp_path / "seen.urdf"), "base")
    assert (found.colour, found.opacity, len(found.faces)) == ((0, 51, 255), 0.5, 12)
    box = trimesh.creation.box()
    box.unmerge_vertices()
    box.visual.vertex_colors = np.repeat([[255, 0, 0, 255], [0, 0, 255, 255]], [30, 6], axis=0)
    parts = list(_coloured(Visual("box", box, (0, 0, 0, 1), True)))
    assert [(part.colour, len(part.faces)) for part in parts] == [((255, 0, 0), 10), ((0, 0, 255), 2)]
    corners = np.concatenate([part.vertices[part.faces] for part in parts])
    np.testing.assert_allclose(np.sort(corners, axis=0), np.sort(box.triangles, axis=0))


def test_visuals_that_no_check_sees_are_offered(tmp_path, viser_server):
    (tmp_path / "seen.urdf").write_text(SEEN.format(""))
    bare = load_robot(tmp_path / "seen.urdf")
    assert unseen_text(bare).startswith("⚠ **No link** has")
    solid = "<collision><geometry><box size='1 1 1'/></geometry></collision>"
    (tmp_path / "seen.urdf").write_text(SEEN.format(solid))
    assert unseen_text(load_robot(tmp_path / "seen.urdf")) == ""
    key = RobotKey(str(tmp_path / "seen.urdf"))
    state = PageState(robot=RobotState(key))
    opened = []
    desk = SimpleNamespace(view=View(state, bare), open=opened.append, send=None)
    viser_server.gui.reset()
    offer = _Unseen(viser_server.gui, desk)
    offer.show(desk.view)
    assert offer._take.visible
    act(offer._take)
    assert opened == [RobotKey(key.source, use_visual=True)]
    assert opened[0].load().shapes
    offer.show(View(PageState(robot=RobotState(opened[0])), opened[0].load()))
    assert not offer._take.visible
    assert not offer._text.visible
