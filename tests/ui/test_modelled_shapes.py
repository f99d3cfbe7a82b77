"""The page says what the shapes of a bundled robot are: on the Robot panel, and wherever it says "proved"."""

from __future__ import annotations

import html
from dataclasses import replace

import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.pairs import PairMatrix
from elbowroom.robot import Note
from elbowroom.ui.panels import PlanPanel, RobotPanel, SpheresPanel
from elbowroom.ui.report import Section, document
from elbowroom.ui.state import Place, SetPlace
from tests.ui.page_tools import APART, HOSTILE, TestDesk, act, widget

BUNDLED = er.load_robot("teaarm")


def plain(markdown):
    return html.unescape(markdown)


@pytest.fixture
def desk(rails):
    """The boxes on rails, with what is said of teaarm's shapes, and a name that is markup."""
    robot = replace(rails.robot, notes=(BUNDLED.notes[0], Note("modelled", HOSTILE, "its shapes are drawn")))
    pairs: PairMatrix = rails.pairs
    return TestDesk(CollisionModel(robot, rails.spheres, pairs))


def test_the_robot_panel_says_it_whole(stage):
    panel, _, _ = stage(RobotPanel)
    assert panel._shapes.visible
    assert f"Shapes of {BUNDLED.modelled[0]}." in plain(panel._shapes.content)
    assert "<" not in panel._shapes.content


def test_the_spheres_panel_says_it_below_the_proof(stage, desk):
    panel, gui, _ = stage(SpheresPanel)
    assert "Shapes of" not in panel._head.content
    act(widget(gui, "Prove and measure"))
    while "coverage" in desk.questions:
        desk.answer()
    proved, _, said, _ = plain(panel._head.content).split("\n\n")
    assert proved == "### Covered: proved"
    assert said == f"Shapes of {BUNDLED.modelled[0]}."


def test_the_plan_panel_says_it_below_the_proof(stage, desk):
    panel, gui, _ = stage(PlanPanel)
    desk.send(SetPlace("goal", Place("there", (APART[0], APART[1] / 2))))
    act(widget(gui, "Plan"))
    desk.work()
    text = plain(panel._text.content)
    assert "Motion takes" in text
    assert text.index("proved free") < text.index(f"Shapes of {BUNDLED.modelled[0]}.")


def test_other_robots_say_nothing(viser_server, rails):
    viser_server.gui.reset()
    desk = TestDesk(rails)
    panel = RobotPanel(viser_server.gui, viser_server.scene, desk)
    panel.show(desk.view)
    assert not panel._shapes.visible
    assert panel._shapes.content == ""


def test_notes_of_a_report_stand_below_its_numbers():
    text = document("t", "l", [Section("s", "words", (("proved", "yes"),), notes=("Shapes <ours>.",))])
    assert (
        text.index("<dd>yes</dd>")
        < text.index("<p>words</p>")
        < text.index('<p class="note">Shapes &lt;ours&gt;.</p>')
    )
