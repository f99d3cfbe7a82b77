"""How the page looks in Chromium: words can be read, the robot is in the picture, clicks show what they are about."""

from __future__ import annotations

import time

import numpy as np
import pytest

from elbowroom import load_robot
from elbowroom.ui import serve
from elbowroom.ui.panels import PANELS
from elbowroom.ui.state import OpenScene, PickLink, Place, SetCfg, SetPlace, ShowLayer, ShowTargets, Undo
from elbowroom.world import SCENES, Box, World, scene_for
from tests.ui.browser_tools import Tab, chromium, context_of
from tests.ui.page_tools import until

pytestmark = pytest.mark.long

ARROW = 0.11
"""Metres from the middle of a hand's handle, on an arrow."""
SIZES = [(1280, 800), (1600, 900), (400, 800)]


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def arms(browser):
    with serve("teaarm", port=0) as server:
        yield server


def stays_inside(tab):
    """Soon: the camera follows a moment after the robot."""
    until(lambda: tab.outside() <= 1.0)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_words_can_be_read(browser, arms, size, dark):
    context = context_of(browser, size)
    tab = Tab(context, arms.url)
    tab.until_text("closest:", "Drag a handle")
    if dark:
        tab.page.keyboard.press("Shift+D")
        tab.until("document.documentElement.getAttribute('data-mantine-color-scheme') === 'dark'")
    found = {}
    for kind in PANELS:
        tab.open(kind.title)
        tab.page.wait_for_timeout(300)  # colours of tabs and buttons fade
        if faint := tab.faint():
            found[kind.title] = faint
        assert tab.too_wide() == []
    assert found == {}
    stays_inside(tab)
    assert tab.covered() <= 1.0
    assert tab.faults == []
    context.close()


@pytest.mark.parametrize("size", SIZES)
def test_the_robot_stays_in_the_picture(browser, arms, size):
    context = context_of(browser, size)
    tab = Tab(context, arms.url)
    tab.until_text("closest:")
    stays_inside(tab)
    page = arms.pages[-1]
    robot = load_robot("teaarm")
    for kind in SCENES:
        page.send(OpenScene(scene_for(robot, kind, fill=False)))
        until(lambda: page.view.current and page.view.measured and page.view.settled, 60.0)
        stays_inside(tab)
    page.send(OpenScene(None))
    page.send(SetPlace("goal", Place("zero", (0.0,) * robot.dof)))
    tab.open("Plan")
    tab.press("Plan")
    tab.until_text("Motion takes", "proved free with at least")
    stays_inside(tab)
    tab.press("Play")
    until(lambda: page.view.busy)
    while any(entry.key == "play" for entry in page.view.busy):
        stays_inside(tab)
    tab.open("IK")
    until(lambda: page.view.state.ik.ready)
    drag_gizmos(tab, page, robot)
    assert tab.faults == []
    context.close()


WHERE = """([name, x, y, z]) => {
    const m = window.__viserMutable, node = m.nodeRefFromName[name], box = m.canvas.getBoundingClientRect();
    m.camera.updateMatrixWorld(true); node.updateWorldMatrix(true, true);
    const p = m.camera.position.clone().set(x, y, z).applyMatrix4(node.matrixWorld).project(m.camera);
    return [box.left + (p.x + 1) / 2 * box.width, box.top + (1 - p.y) / 2 * box.height];
}"""


def on_screen(tab, name, point=(0.0, 0.0, 0.0)):
    """Pixels of a point in the frame of a node, once the camera has come to rest."""
    seen = []

    def still():
        seen.append(tab.page.evaluate(WHERE, [name, *point]))
        tab.page.wait_for_timeout(150)
        return len(seen) > 2 and np.ptp(seen[-3:], axis=0).max() < 0.5

    until(still)
    return np.array(seen[-1])


def pull(tab, begin, by):
    """Presses the mouse, moves it in steps, and lets go."""
    tab.page.mouse.move(*begin)
    tab.page.wait_for_timeout(100)
    tab.page.mouse.down()
    for share in np.linspace(0.0, 1.0, 7):
        tab.page.mouse.move(*(begin + share * np.asarray(by)))
        tab.page.wait_for_timeout(60)
    tab.page.mouse.up()


def drag_gizmos(tab, page, robot):
    """Pulls the handle of each hand at its arrows, out and back, as a mouse does."""
    cfg = robot.named_cfgs["arms_forward"]  # no arm is in front of a handle
    for name, hand in (("/targets/0", "frame_left_arm_ee"), ("/targets/1", "frame_right_arm_ee")):
        page.send(SetCfg(tuple(cfg.tolist())))  # the other hand may have been pulled in front of this one
        tab.until_drawn(name)
        tab.until_at(name, tuple(robot.link_poses(cfg)[robot.link_index(hand), 4:]))
        stays_inside(tab)
        followed = []
        for axis in np.eye(3):
            for pixels in (50.0, -50.0):
                followed.append(follows(tab, page, name, axis, pixels))
                stays_inside(tab)
        assert sum(followed) >= 2, (
            name,
            followed,
        )  # an arrow may be in the hand, where a click takes the link


def follows(tab, page, name, axis, pixels):
    """Whether the target changes when it is pulled at an arrow; a pull that misses turns the camera, and back."""
    before, mouse = page.view.state.ik.targets, tab.page.mouse
    tip = on_screen(tab, name, ARROW * axis)
    along = tip - on_screen(tab, name)
    steps = [tip + share * pixels * along / np.linalg.norm(along) for share in np.linspace(0.0, 1.0, 7)]
    mouse.move(*tip)
    tab.page.wait_for_timeout(100)
    mouse.down()
    for step in steps:
        mouse.move(*step)
        tab.page.wait_for_timeout(60)
    end = time.monotonic() + 2.0
    while page.view.state.ik.targets == before and time.monotonic() < end:
        time.sleep(0.05)
    followed = page.view.state.ik.targets != before
    for step in [] if followed else reversed(steps):
        mouse.move(*step)
        tab.page.wait_for_timeout(60)
    mouse.up()
    return followed


def test_a_cell_shows_its_pair_and_a_link_its_pairs(browser, arms):
    context = context_of(browser, (1280, 800))
    tab = Tab(context, arms.url)
    tab.until_text("closest:")
    page = arms.pages[-1]
    tab.open("Pairs")
    tab.page.locator(".er-cell").nth(40).click()
    until(lambda: page.view.state.pairs.pair is not None)
    a, b = page.view.state.pairs.pair
    tab.until_text(f"{a} (blue) and {b} (purple)")
    tab.until_drawn("/pairs/segment")
    page.send(PickLink("left_arm_l5"))
    tab.open("Pose")
    tab.until_text("Checked (", "left_arm_l5")
    assert tab.faults == []
    context.close()


def test_clicks_and_drags_in_the_scene(browser, arms):
    """With the mouse on the canvas: a link tells its pairs, an obstacle gets a gizmo and follows it, a sphere is edited."""
    context = context_of(browser, (1280, 800))
    tab = Tab(context, arms.url)
    tab.until_text("closest:")
    page, robot = arms.pages[-1], load_robot("teaarm")
    page.send(ShowTargets(False))
    tab.until(
        "!Object.keys(nodes).some((name) => name.startsWith('/targets/') && nodes[name].effectiveVisibility)"
    )
    torso = f"/robot/{robot.link_index('torso_link')}"
    tab.page.mouse.click(*on_screen(tab, torso))
    until(lambda: page.view.state.look.link is not None)
    tab.until_text("Checked (", page.view.state.look.link)

    box = Box((0.2, 0.2, 0.2), pose=np.array([1.0, 0.0, 0.0, 0.0, 0.55, 0.45, 0.6]), name="crate")
    page.send(OpenScene(World([box])))
    until(lambda: page.view.current and page.view.settled)
    find = "Object.keys(window.__viserMutable.nodeRefFromName).find((name) => name.startsWith('/world/'))"
    tab.until(find)
    crate = tab.ask(find)
    stays_inside(tab)
    tab.page.mouse.click(*on_screen(tab, crate))
    until(lambda: page.view.state.world.picked == "crate")
    tab.until_drawn("/world_gizmo")
    begin = on_screen(tab, crate)
    pull(tab, begin, (80.0, -40.0))
    until(lambda: np.linalg.norm(page.view.state.model.world["crate"].pose[:3, 3] - box.pose[:3, 3]) > 0.05)
    until(lambda: np.linalg.norm(on_screen(tab, crate) - begin - (80.0, -40.0)) < 20.0)
    page.send(Undo())  # the whole drag is one step
    until(lambda: np.allclose(page.view.state.model.world["crate"].pose, box.pose))

    page.send(OpenScene(None))
    page.send(ShowLayer("visual", False))
    page.send(ShowLayer("spheres", True))
    tab.until_drawn(f"{torso}/spheres")
    tab.page.mouse.click(*on_screen(tab, torso))
    until(lambda: page.view.state.spheres.chosen is not None)
    tab.open("Spheres")
    assert tab.value("Link") == page.view.state.spheres.chosen[0]
    assert tab.faults == []
    context.close()


def test_first_steps_are_shown_once(browser, arms):
    context = context_of(browser, (1280, 800))
    tab = Tab(context, arms.url)
    for words in ("Drag a handle", "Click a link", "Generate a scene"):
        tab.until_text(words)
        tab.press("Next")
    tab.until("!text.includes('First steps')")
    tab.reload()
    tab.until_text("closest:")
    assert "First steps" not in tab.ask("text")
    context.close()
