"""`elbowroom demo`: one file that shows everything and asks for nothing."""

from __future__ import annotations

import base64
import json
import re
from html import unescape

import numpy as np
import pytest

import elbowroom as er
from elbowroom.cli import main
from elbowroom.ui.report import Figure, Section, document, playback_html, there_and_back
from tests.ui.browser_tools import QUIET, chromium, context_of
from tests.ui.page_tools import HOSTILE, rails_model

pytestmark = pytest.mark.slow
MAX_SIZE = 5 * 2**20


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The report, and what was printed."""
    folder = tmp_path_factory.mktemp("demo") / "report"
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("elbowroom.cli._demo.print_json", printed.append)
        assert main(["demo", "--out", str(folder), "--json"]) == 0
    assert [path.name for path in folder.iterdir()] == ["report.html"]
    return folder / "report.html", printed[0]


def test_the_report_holds_what_was_found(demo):
    path, facts = demo
    text = path.read_text()
    assert path.stat().st_size <= MAX_SIZE
    for part in (
        "Elbowroom on teaarm",
        "19 links",
        "arms_forward",
        "proved to cover every link",
        "Ferrari-Canny",
    ):
        assert part in text
    images = re.findall(r'src="data:image/png;base64,([^"]*)"', text)
    assert len(images) == 6
    assert all(base64.b64decode(image).startswith(b"\x89PNG") for image in images)
    assert facts["Self-collision"]["proved"]
    assert facts["Spheres"]["proved"]
    assert json.dumps(facts["Motion"]["frames"]) == "96"


def test_what_is_proved_is_said_to_be_proved_of_our_shapes(demo):
    path, facts = demo
    parts = re.split(r"<h2>", re.sub(r'srcdoc="[^"]*"', "", path.read_text()))[1:]
    found = {part.partition("<")[0]: unescape(part) for part in parts}
    for title in ("Description", "Spheres", "Self-collision", "Motion", "Grasp"):
        (said,) = er.load_robot("rh56" if title == "Grasp" else "teaarm").modelled
        assert f"Shapes of {said}." in found[title]
        assert facts[title]["modelled"] == (said,)
    assert "Shapes of" not in found["Forward kinematics"]


def test_the_report_loads_nothing_from_elsewhere(demo):
    text = demo[0].read_text()
    outer = re.sub(r'srcdoc="[^"]*"', "", text)
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*', outer) == []
    assert "url(" not in outer
    inner = unescape(re.search(r'srcdoc="([^"]*)"', text)[1])
    assert re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="?(?!data:)\w+:', inner) == []


@pytest.mark.parametrize("width", [1280, 400])
def test_the_report_plays_offline(demo, width):
    with chromium() as browser:
        context = context_of(browser, (width, 800), offline=True, color_scheme="dark")
        page, asked, faults = context.new_page(), [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("websocket", lambda socket: asked.append(socket.url))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda m: faults.append(m.text) if m.type in ("error", "warning") else None)
        page.goto(demo[0].as_uri())
        page.locator("iframe").scroll_into_view_if_needed()
        page.frame_locator("iframe").locator("canvas").first.wait_for()
        (scene,) = (frame for frame in page.frames if frame is not page.main_frame)
        moved = "Object.values(window.__viserMutable.nodePoseData).map((pose) => pose.wxyz.join()).join()"
        scene.wait_for_function(
            "Object.keys(window.__viserSceneTree?.getState() ?? {}).includes('/robot/18')"
        )
        before = scene.evaluate(moved)
        scene.wait_for_function(f"(before) => {moved} !== before", arg=before)
        nodes = scene.evaluate("Object.keys(window.__viserSceneTree.getState())")
        assert sum("/visual" in name for name in nodes) >= 17
        assert sum("/spheres" in name for name in nodes) == 17
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert asked == [demo[0].as_uri()]
        assert [text for text in faults if not any(words in text for words in QUIET)] == []
        context.close()


def test_nothing_of_a_description_is_markup(tmp_path):
    robot = rails_model(tmp_path).robot
    playback = playback_html(robot, there_and_back(robot.default_cfg, robot.upper, 3))
    assert HOSTILE not in playback
    assert "onerror=alert" not in playback
    text = document(
        HOSTILE, HOSTILE, [Section(HOSTILE, HOSTILE, ((HOSTILE, HOSTILE),), (Figure(b"", HOSTILE),))]
    )
    assert "<img src=x" not in text
    assert text.count("&lt;img src=x") == 10


def test_a_motion_goes_there_and_back():
    cfgs = there_and_back(np.zeros(2), np.array([1.0, -2.0]), 5)
    np.testing.assert_allclose(cfgs, [[0, 0], [0.5, -1], [1, -2], [0.5, -1], [0, 0]], atol=1e-12)
