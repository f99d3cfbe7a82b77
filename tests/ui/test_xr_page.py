"""The headset's page in a real browser, with a stand-in for the headset; what it sends is read by `elbowroom.remote`."""

from __future__ import annotations

import http.client
import json
import queue
import re
import shutil
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from websockets.sync.server import serve

from elbowroom import load_robot
from elbowroom.errors import InputError
from elbowroom.remote._messages import Stop, read_message
from elbowroom.remote._serve import Mailbox
from elbowroom.remote._serve_socket import SocketDoor
from elbowroom.remote._session import Session
from elbowroom.remote._xr import XrOptions, XrState
from elbowroom.ui.xr import xr_page

LEFT, RIGHT = "frame_left_arm_ee", "frame_right_arm_ee"

HEADSET = """
// A stand-in for a headset: poses come from window.stub, frames from a timer.
window.stub = {modes: ["immersive-vr"], refuse: null, visible: "visible", sources: [], head: [0, 1.6, 0], ended: 0};
const pose = (at) => at && {transform: {position: {x: at[0], y: at[1], z: at[2], w: 1}, orientation: {x: 0, y: 0.6, z: 0, w: 0.8}}};
class Session extends EventTarget {
  renderState = {};
  get visibilityState() { return stub.visible; }
  get inputSources() { return stub.sources; }
  updateRenderState(state) { Object.assign(this.renderState, state); }
  async requestReferenceSpace(kind) { if (kind === "local-floor" && stub.noFloor) throw new Error("no floor"); stub.space = kind; return {kind}; }
  requestAnimationFrame(call) {
    const frame = {session: this, getViewerPose: () => pose(stub.head), getPose: (space) => pose(space.at),
                   getJointPose: (joint) => pose(joint.at)};
    setTimeout(() => this.over || call(performance.now(), frame), 10);
  }
  async end() { if (!this.over) { this.over = true; stub.ended++; this.dispatchEvent(new Event("end")); } }
}
window.XRWebGLLayer = class { constructor(session, gl) { this.framebuffer = null; } };
const xr = new EventTarget();
xr.isSessionSupported = async (mode) => stub.modes.includes(mode);
xr.requestSession = async (mode, options) => {
  if (stub.refuse) throw new Error(stub.refuse);
  stub.asked = {mode, options};
  return (stub.session = new Session());
};
Object.defineProperty(navigator, "xr", {value: xr, configurable: true});
stub.controller = (side, at, squeezed) => ({handedness: side, targetRayMode: "tracked-pointer", gripSpace: {at}, targetRaySpace: {at},
  gamepad: {buttons: [{pressed: false, touched: false, value: 0}, {pressed: squeezed, touched: squeezed, value: +squeezed}], axes: [0, 0, 0.5, NaN]}});
stub.hand = (side, at, gap) => ({handedness: side, targetRayMode: "tracked-pointer", gripSpace: {at}, targetRaySpace: {at},
  hand: new Map([["wrist", {at}], ["thumb-tip", {at: [0, 0, 0]}], ["index-finger-tip", {at: [gap, 0, 0]}]])});
"""


def test_the_page_asks_for_nothing_and_cannot_be_broken_out_of():
    page = xr_page()
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!data:)", page)
    assert not re.search(r"\b(fetch|import|XMLHttpRequest|importScripts)\s*\(", page)
    assert "default-src 'none'" in page
    assert xr_page("ws://host:1/</script><script>").count("</script>") == 1
    for wrong in ("", "http://host", "javascript:alert(1)", "ws:// host", "relative"):
        with pytest.raises(InputError, match="socket"):
            xr_page(wrong)


def test_the_socket_gives_out_pages_beside_itself():
    door = SocketDoor(SimpleNamespace(), Mailbox(), 0, pages={"/xr": xr_page()})
    host, port = door.address.removeprefix("ws://").split(":")
    try:
        for path, status in (("/xr", 200), ("/xr?a=b", 200), ("/", 426), ("/other", 426)):
            connection = http.client.HTTPConnection(host, int(port), timeout=10)
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.status == status
            text = answer.read().decode()
            if status == 200:
                assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
                assert text == xr_page()
            connection.close()
    finally:
        door.close()


# In a browser ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(
        (p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None
    )
    if found is None:
        pytest.skip("no Chromium here")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def server():
    """A server as `elbowroom ik --serve` opens it: the page at /xr, and what arrives on the socket in a queue."""
    got: queue.Queue[str] = queue.Queue()
    state = SimpleNamespace(got=got, connections=[], busy=False, origins=[])

    def handle(connection):
        state.connections.append(connection)
        state.origins.append(connection.request.headers.get("Origin"))
        if state.busy:
            connection.close(1013, "another controller is connected")
            return
        connection.send(
            json.dumps({"type": "hello", "robot": "teaarm <b>", "xr": {"left": LEFT, "yaw": 0.0}})
        )
        for text in connection:
            got.put(text)

    def page(connection, request):
        if "Upgrade" in request.headers:
            return None
        answer = connection.respond(200, xr_page())
        del answer.headers["Content-Type"]
        answer.headers["Content-Type"] = "text/html"
        return answer

    with serve(handle, "127.0.0.1", 0, process_request=page) as running:
        state.port = running.socket.getsockname()[1]
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield state
        running.shutdown()


@pytest.fixture
def tab(browser, server):
    """The page with a stand-in headset; it must ask for nothing else and log no error."""
    context = browser.new_context()
    page = context.new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(HEADSET)
    address = f"http://localhost:{server.port}/xr"
    page.goto(address)
    yield page
    assert errors == []
    assert asked == [address]
    context.close()


def says(page, element, text):
    page.wait_for_function(
        "([id, text]) => document.getElementById(id).textContent.includes(text)", arg=[element, text]
    )


def first_state(box):
    """The first headset state in a mailbox: what the page has sent may still be on its way to the server."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        for message in box.take():
            if isinstance(message, XrState):
                return message
        time.sleep(0.01)
    raise AssertionError("no headset state came")


def next_state(server, ok=lambda data: True):
    """The next xr_state for which `ok` holds."""
    for _ in range(500):
        message = json.loads(server.got.get(timeout=10))
        if message["type"] == "xr_state" and ok(message["data"]):
            return message
    raise AssertionError("no such state came")


def test_poses_arrive_as_elbowroom_reads_them(tab, server):
    robot = load_robot("teaarm")
    says(tab, "headset", "ready (immersive-vr)")
    tab.evaluate(
        "stub.sources = [stub.controller('left', [0.1, 1.2, -0.3], true), stub.hand('right', [0.4, 1.1, -0.5], 0.01)]"
    )
    tab.click("#start")
    says(tab, "connection", "connected to ws://localhost")
    says(tab, "robot", f"teaarm <b> (left: {LEFT})")  # text, not markup
    message = next_state(server)
    assert server.origins == [f"http://localhost:{server.port}"]
    assert tab.evaluate("stub.asked.options.optionalFeatures") == ["local-floor", "hand-tracking"]
    state = read_message(json.dumps(message), robot, (LEFT, RIGHT))
    assert isinstance(state, XrState)
    assert set(state.devices) == {"head", "left", "right"}
    for part, place in (("head", [0, 1.6, 0]), ("left", [0.1, 1.2, -0.3]), ("right", [0.4, 1.1, -0.5])):
        T = state.devices[part].T_xr_device
        assert np.allclose(T[:3, 3], place)
        assert np.allclose(T[:3, 2], [0.96, 0, 0.28])  # a turn about y
    assert state.devices["left"].presses("squeeze")
    assert not state.devices["left"].presses("trigger")
    assert state.devices["right"].presses("squeeze")  # a pinch
    later = read_message(json.dumps(next_state(server)), robot, (LEFT, RIGHT))
    assert 0.0 < later.stamp - state.stamp < 5.0
    assert abs(state.stamp - tab.evaluate("Date.now()") / 1e3) < 60.0
    says(tab, "tracked", "head, left controller, right hand")


def test_what_is_not_tracked_is_not_sent(tab, server):
    def device(data):
        return next((d for d in data["devices"] if d["handedness"] == "left"), None)

    tab.click("#start")
    says(tab, "connection", "connected")
    tab.evaluate(
        "stub.sources = [stub.controller('left', null, true), stub.controller('none', [0, 0, 0], true)]"
    )
    found = next_state(server, lambda data: device(data) is not None)["data"]
    assert [d["handedness"] for d in found["devices"]] == [
        "none",
        "left",
    ]  # the head, and no third controller
    assert "gripPose" not in device(found)
    tab.evaluate("stub.sources = [stub.controller('left', [0, NaN, 0], true)]; stub.head = null")
    found = next_state(server, lambda data: len(data["devices"]) == 1)["data"]
    assert "gripPose" not in device(found)
    assert device(found)["gamepad"]["axes"] == [0, 0, 0.5, 0]
    read_message(
        json.dumps({"type": "xr_state", "data": found}), load_robot("teaarm"), (LEFT,)
    )  # no NaN, no null
    tab.evaluate(
        "stub.sources = [stub.controller('left', [0, 1, 0], true)]; stub.visible = 'visible-blurred'"
    )
    next_state(server, lambda data: data["devices"] == [])  # a menu is open: nobody steers
    says(tab, "tracked", "nothing")


def test_a_pinch_holds_until_the_fingers_are_well_apart(tab, server):
    tab.click("#start")
    presses = []
    for gap in (0.03, 0.01, 0.03, 0.05, 0.03):
        tab.evaluate("gap => { stub.sources = [stub.hand('left', [0, 1, gap], gap)]; }", gap)
        state = next_state(
            server,
            lambda data, gap=gap: any(
                d.get("joints", {}).get("wrist", {"position": {}})["position"].get("z") == gap
                for d in data["devices"]
            ),
        )
        presses.append(state["data"]["devices"][1]["gamepad"]["buttons"][1]["pressed"])
    assert presses == [False, True, True, False, False]


def test_a_lost_connection_is_said_and_taken_up_again(tab, server):
    tab.click("#start")
    next_state(server)
    server.busy = True
    server.connections[0].close(1011, "broken")
    says(tab, "connection", "attempt")
    says(tab, "connection", "another controller is connected")
    assert tab.get_attribute("#connection", "data-good") == "no"
    server.busy = False
    says(tab, "connection", "connected to")
    assert len(server.connections) >= 3
    while not server.got.empty():
        server.got.get()
    next_state(server)
    assert tab.evaluate("stub.ended") == 0  # the session went on


def test_the_end_of_the_session_stops_the_robot(tab, server):
    tab.evaluate("stub.noFloor = true")
    tab.click("#start")
    next_state(server)
    assert tab.evaluate("stub.space") == "local"
    tab.click("#stop")
    says(tab, "headset", "session ended")
    says(tab, "connection", "not connected")
    messages = []
    while not messages or messages[-1]["type"] == "xr_state":
        messages.append(json.loads(server.got.get(timeout=10)))
    assert isinstance(read_message(json.dumps(messages[-1]), load_robot("teaarm"), (LEFT,)), Stop)
    tab.click("#start")  # and again
    next_state(server)


def test_the_server_can_be_checked_before(tab, server):
    tab.click("#check")
    says(tab, "connection", "the server answers at ws://localhost")
    tab.fill("#socket", "ws://127.0.0.1:1")
    tab.click("#check")
    says(tab, "connection", "no server answers at ws://127.0.0.1:1")
    tab.fill("#socket", "nonsense:")
    tab.click("#check")
    says(tab, "connection", "not a WebSocket address")


def test_answers_of_the_robot_are_shown(tab, server):
    tab.click("#start")
    next_state(server)
    connection = server.connections[0]
    connection.send(json.dumps({"type": "command", "state": "holding", "why": "the clutch is open"}))
    says(tab, "says", "holding: the clutch is open")
    connection.send(json.dumps({"type": "error", "error": "<img src=x onerror=alert(1)>"}))
    says(tab, "says", "<img src=x onerror=alert(1)>")
    connection.send("{")
    says(tab, "says", "not JSON")


def test_a_session_that_does_not_start_is_said(tab):
    tab.evaluate("stub.refuse = 'the user said no'")
    tab.click("#start")
    says(tab, "headset", "the session did not start: the user said no")
    assert tab.is_enabled("#start")
    says(tab, "connection", "not connected")


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("Object.defineProperty(navigator, 'xr', {value: undefined})", "This browser has no WebXR"),
        (HEADSET + "stub.modes = []", "no headset that it can start a session on"),
        ("Object.defineProperty(window, 'isSecureContext', {value: false})", "This page is not secure"),
    ],
)
def test_without_webxr_a_plain_message(browser, server, before, text):
    page = browser.new_page()
    page.add_init_script(before)
    page.goto(f"http://localhost:{server.port}/xr")
    says(page, "problem", text)
    assert page.is_visible("#problem")
    assert page.is_disabled("#start")
    page.close()


def test_the_door_of_a_session_takes_the_page(browser):
    """Origin and messages against the server of `elbowroom ik --serve`; no tick is taken."""
    robot = load_robot("teaarm")
    session = Session(
        SimpleNamespace(), robot, (LEFT, RIGHT), robot.default_cfg, 100.0, XrOptions(LEFT, RIGHT)
    )
    box = Mailbox()
    door = SocketDoor(session, box, 0, pages={"/xr": xr_page()})
    page = browser.new_page()
    page.add_init_script(HEADSET)
    try:
        page.goto(door.address.replace("ws://127.0.0.1", "http://localhost") + "/xr")
        page.evaluate("stub.sources = [stub.controller('left', [0.1, 1.2, -0.3], true)]")
        page.click("#start")
        says(page, "robot", f"left: {LEFT}")
        page.wait_for_function("() => link.sent > 5")
        state = first_state(box)
        assert state.devices["left"].presses("squeeze")
    finally:
        page.close()
        door.close()
