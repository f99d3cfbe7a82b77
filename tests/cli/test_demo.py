"""`elbowroom demo`: one file that shows everything and asks for nothing."""

from __future__ import annotations

import base64
import re
from html import unescape

import numpy as np
import pytest

import elbowroom as er
from elbowroom.cli import main
from elbowroom.ui.report import Figure, Section, document, playback_html, there_and_back
from tests.ui.browser_tools import QUIET, chromium, context_of
from tests.ui.page_tools import HOSTILE, rails_model

pytestmark = pytest.mark.long
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


MOTION, CLASH, MODEL, GUARD, HAND = (
    "A dual-arm robot reaches around things",
    "What would happen otherwise",
    "The model that knows",
    "The guard stops a careless policy",
    "A hand closes on an object",
)


def test_the_report_tells_the_story_in_order(demo):
    path, facts = demo
    text = re.sub(r'srcdoc="[^"]*"', "", path.read_text())
    assert path.stat().st_size <= MAX_SIZE
    assert re.findall("<h2>([^<]*)</h2>", text) == [MOTION, CLASH, MODEL, GUARD, HAND, "Your robot"]
    images = re.findall(r'src="data:image/png;base64,([^"]*)"', text)
    assert len(images) == 7
    assert all(base64.b64decode(image).startswith(b"\x89PNG") for image in images)
    assert [*facts][2:] == [MOTION, CLASH, MODEL, GUARD, HAND, "Your robot"]
    assert "<code>Guard(model).step(...)</code>" in text
    assert "`" not in re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.S)


def test_claims_of_the_report_hold(demo):
    """Each figure that the report shows is computed again here."""
    path, facts = demo
    text = unescape(path.read_text())
    model = er.CollisionModel(er.load_robot("teaarm"))
    robot = model.robot
    assert facts[MOTION]["proved"]
    assert facts[CLASH]["clashes"] == [
        str(one) for one in model.explain(robot.named_cfgs["self_collision"]).clashes
    ]
    assert facts[CLASH]["clashes"][0] in text
    assert facts[MODEL]["proved"]
    assert facts[MODEL]["differ"] == 0
    assert facts[MODEL]["free"] == int(model.free(robot.random_cfgs(2_000)).sum())
    assert f"{len(model.pairs.checked)} of {len(model.pairs.entries)}" in text
    deepest = 1e3 * model.clearance(robot.named_cfgs["self_collision"], exact=True)
    assert facts[GUARD]["deepest_mm"] <= deepest + 1e-6
    assert facts[GUARD]["kept_mm"] >= 5.0
    assert facts[GUARD]["proved"] == facts[GUARD]["steps"]
    assert 0 < facts[GUARD]["altered"] < facts[GUARD]["steps"]
    assert facts[HAND]["width"] == pytest.approx(0.04, abs=1e-6)


def test_the_report_says_that_the_shapes_are_ours(demo):
    path, facts = demo
    parts = re.split(r"<h2>", re.sub(r'srcdoc="[^"]*"', "", path.read_text()))[1:]
    found = {part.partition("<")[0]: unescape(part) for part in parts}
    for title, name in ((MOTION, "teaarm"), (HAND, "rh56")):
        (said,) = er.load_robot(name).modelled
        assert f"Shapes of {said}." in found[title]
        assert facts[title]["modelled"] == (f"Shapes of {said}.",)


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
        assert sum(name.startswith("/world/") for name in nodes) >= 4
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert asked == [demo[0].as_uri()]
        assert [text for text in faults if not any(words in text for words in QUIET)] == []
        context.close()


def test_without_webgl_a_picture_takes_the_place_of_the_scene(demo):
    with chromium() as browser:
        context = context_of(browser, (1280, 800), offline=True)
        page = context.new_page()
        page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
        page.goto(demo[0].as_uri())
        assert page.locator(".still img").is_visible()
        assert not page.locator("iframe").is_visible()
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
