"""The page in Chromium: each action changes the scene tree as it says; nothing is told to the console."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from elbowroom.ui import serve
from elbowroom.ui.panels import PANELS
from elbowroom.ui.scene import COLLIDING
from elbowroom.ui.state import ChooseSphere, PickLink
from tests.ui.browser_tools import Tab, chromium, context_of
from tests.ui.page_tools import HOSTILE, until

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def served(browser, rails):
    with serve(rails, port=0) as server:
        yield server


@pytest.fixture(scope="module")
def tab(browser, served):
    """One tab for tests that leave it as they find it, up to undo."""
    context = context_of(browser)
    yield Tab(context, served.url)
    context.close()


@pytest.fixture(autouse=True)
def nothing_is_told_to_the_console(tab):
    tab.faults.clear()
    yield
    assert tab.faults == []


def frame(rails, link):
    return f"/robot/{rails.robot.link_index(link)}"


def test_the_robot_is_drawn_and_names_are_harmless(tab, served, rails):
    tab.until_drawn(f"{frame(rails, 'tip')}/visual0")
    tab.until_text("rails", "slide mm", "follows turn")
    served.pages[0].send(PickLink(HOSTILE))  # a click on it
    tab.until_text(HOSTILE)
    assert tab.ask("document.querySelectorAll('img[src=\"x\"]').length") == 0
    served.pages[0].send(PickLink(None))


def test_a_typed_value_moves_links_and_collisions_are_named(tab, rails):
    tab.fill("slide mm", -400)
    tab.until_at(frame(rails, "arm"), (-0.4, 0.0, 0.0))
    tab.until_text("Not free")
    colour = "JSON.stringify(nodes[a[0]].message.props.color) === JSON.stringify(a[1])"
    tab.until(colour, f"{frame(rails, 'tip')}/visual0", list(COLLIDING))
    tab.until_drawn("/live/normals")
    tab.open("Verdict")
    tab.until_text("Worst pair: base and tip", "depth")
    tab.check("Contacts", False)
    tab.until("!nodes['/live/normals']")
    tab.check("Contacts", True)
    tab.until_drawn("/live/normals")
    tab.open("Pose")
    tab.press("Undo")
    tab.until_at(frame(rails, "arm"), (0.0, 0.0, 0.0))
    tab.until_text("Free")


def test_the_last_slider_value_is_the_one_drawn(tab, served, rails):
    tab.drag("slide mm", [0.5, *(0.5 + 0.004 * k for k in range(60)), 0.8])
    tab.until(f"Math.abs(pose('{frame(rails, 'arm')}').position[0] * 1000 - a[0]) < 1e-3", shown(tab))
    assert abs(shown(tab) - 600) < 30
    assert served.pages[0].view.state.robot.cfg[0] == pytest.approx(shown(tab) / 1000)
    tab.press("Undo")
    tab.until_at(frame(rails, "arm"), (0.0, 0.0, 0.0))


def shown(tab):
    return float(tab.value("slide mm"))


def test_models_are_toggled(tab, rails):
    tip = frame(rails, "tip")
    tab.check("Spheres")
    tab.until_drawn(f"{tip}/spheres")
    tab.check("Visual", False)
    tab.until_drawn(f"{tip}/visual0", False)
    tab.check("Visual")
    tab.check("Spheres", False)
    tab.until_drawn(f"{tip}/spheres", False)
    tab.until_drawn(f"{tip}/visual0")


def test_poses_are_saved_and_gone_to(tab, served):
    state = served.pages[0].view.state
    tab.fill("Name", "mine")
    tab.press("Save")
    until(lambda: served.pages[0].view.state.robot.saved)
    tab.press("Random")
    until(lambda: served.pages[0].view.state.robot.cfg != state.robot.cfg)
    tab.page.keyboard.press("Control+z")
    until(lambda: served.pages[0].view.state.robot.cfg == state.robot.cfg)
    tab.press("Remove")
    until(lambda: not served.pages[0].view.state.robot.saved)


def test_dark_is_dark(tab):
    scheme = "document.documentElement.getAttribute('data-mantine-color-scheme') === a[0]"
    tab.press("Dark")
    tab.until(scheme, "dark")
    tab.press("Dark")
    tab.until(scheme, "light")


def test_a_reload_restores_pose_and_undo_and_two_tabs_are_independent(browser, served, rails):
    context = context_of(browser)
    one, two = Tab(context, served.url), Tab(context, served.url)
    arm = frame(rails, "arm")
    one.fill("slide mm", 300)
    one.until_at(arm, (0.3, 0.0, 0.0))
    two.fill("slide mm", 500)
    two.until_at(arm, (0.5, 0.0, 0.0))
    one.reload()
    one.until_at(arm, (0.3, 0.0, 0.0))
    assert one.value("slide mm") == "300"
    one.press("Undo")
    one.until_at(arm, (0.0, 0.0, 0.0))
    assert math.isclose(two.ask(f"pose('{arm}').position[0]"), 0.5)
    assert one.faults == two.faults == []
    context.close()


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_cut(browser, served, width):
    context = context_of(browser, (width, 800))
    tab = Tab(context, served.url)
    for kind in PANELS:
        tab.open(kind.title)
        assert tab.too_wide() == []
    assert tab.faults == []
    context.close()


# A panel each: what is done there shows in the scene or can be read, and undo takes it back.


def under(root):
    return f"Object.keys(nodes).some((name) => name.startsWith('{root}') && nodes[name].effectiveVisibility)"


def test_a_sphere_that_is_deleted_is_missed_by_name(tab, served, rails):
    page = served.pages[0]
    before = len(page.view.model.spheres)
    page.send(ChooseSphere(("tip", 0)))  # a click on it
    tab.open("Spheres")
    tab.check("Show spheres")
    tab.until_drawn(f"{frame(rails, 'tip')}/spheres")
    tab.press("Prove and measure")
    tab.until_text("Covered")
    tab.press("Delete")
    tab.until_text("Not covered", "tip has no sphere")
    until(lambda: page.view.state.model.spheres is not None)
    tab.press("Undo")
    tab.until("!text.includes('Not covered')")
    tab.until_text("Covered")
    until(lambda: page.view.settled and len(page.view.model.spheres) == before)
    tab.check("Show spheres", False)
    page.send(ChooseSphere(None))


def test_a_pair_that_is_chosen_is_shown_at_its_closest(tab):
    tab.open("Pairs")
    tab.choose("Link A", "base")
    tab.choose("Link B", "tip")
    tab.until_text("base (blue) and tip (purple)")
    tab.press("Closest")
    tab.until_drawn("/pairs/segment")
    tab.press("Clear")
    tab.until(f"!{under('/pairs/segment')}")
    tab.press("Undo")  # where it was before it looked


def test_an_obstacle_is_added_and_gone_with_undo(tab, served):
    tab.open("World")
    tab.press("Box")
    tab.until(under("/world/"))
    tab.until(under("/world_gizmo"))
    until(lambda: len(served.pages[0].view.state.model.world) == 1)
    tab.press("Undo")
    tab.until(f"!{under('/world/')}")


def test_targets_of_hands_have_handles(tab):
    tab.open("IK")
    tab.until(under("/targets/"))  # from the start
    tab.check("Targets", False)
    tab.until(f"!{under('/targets/')}")
    tab.check("Targets")


def test_a_planned_motion_is_drawn_and_proved(tab, served, rails):
    arm = frame(rails, "arm")
    tab.open("Pose")
    tab.fill("slide mm", 200)
    tab.until_at(arm, (0.2, 0.0, 0.0))
    tab.open("Plan")
    tab.press("Goal")
    tab.press("Undo")  # the goal
    tab.press("Redo")
    tab.open("Pose")
    tab.fill("slide mm", 0)
    tab.until_at(arm, (0.0, 0.0, 0.0))
    tab.open("Plan")
    tab.press("Plan")
    tab.until(under("/plan/way"))
    tab.until_text("proved")
    assert served.pages[0].view.state.plan.found.result.proof.free
    tab.press("Rewind")
    tab.check("Trail by margin", False)
    tab.until(f"!{under('/plan/way')}")


def test_the_hand_closes_beside_the_robot(tab):
    tab.open("Grasp")
    tab.check("Show the hand")
    tab.until(under("/grasp/"))
    tab.until_text("tilt")
    tab.check("Show the hand", False)
    tab.until(f"!{under('/grasp/')}")


def test_a_file_is_handed_out(tab):
    tab.open("Export")
    with tab.page.expect_download() as download:
        tab.press("Download")
    assert json.loads(Path(download.value.path()).read_text())
