"""The server of the page, by a client that is no browser."""

from __future__ import annotations

import gc
import json
import math
import socket
import threading
import urllib.request

import pytest

from elbowroom.errors import InputError
from elbowroom.ui import RobotKey, serve
from elbowroom.ui._guard import refusal
from elbowroom.ui._page import MAX_IDLE, Sessions
from tests.ui.page_tools import Browser, until


@pytest.fixture(scope="module")
def served(rails):
    before = set(threading.enumerate())
    with serve(rails, port=0) as server:
        yield server
    until(lambda: set(threading.enumerate()) <= before)  # stop() leaves nothing running


@pytest.fixture
def browser(served):
    found = []

    def open_(storage=None, **options):
        found.append(Browser(served.url, storage, **options))
        return found[-1]

    yield open_
    for tab in found:
        tab.close()
    until(lambda: not served.pages)


def ready(tab):
    tab.wait(lambda: "/live/segment" in tab.nodes or "/live/normals" in tab.nodes)
    return tab


def test_the_page_is_there_and_the_robot_is_drawn(served, browser):
    with urllib.request.urlopen(served.url) as answer:
        assert b"<html" in answer.read()[:500].lower()
    tab = ready(browser())
    assert {"/robot", "/robot/0", "/robot/0/visual0"} <= set(tab.nodes)
    assert tab.value("slide mm") == 0.0


def test_the_last_of_many_moves_is_the_one_drawn(served, browser):
    tab = ready(browser())
    for k in range(400):
        tab.set("slide mm", 2.0 * k)
    arm = f"/robot/{served.pages[0].view.robot.link_index('arm')}"
    tab.wait(lambda: tab.nodes[arm].get("SetPositionMessage", (0,))[0] == pytest.approx(0.798))
    assert tab.poses < 2000
    assert len(served.pages[0].session.history.past) == 1


def test_nonsense_is_told_and_the_page_goes_on(served, browser):
    tab = ready(browser())
    tab.set("slide mm", math.nan)
    tab.wait(lambda: any("NaN" in note for note in tab.notes))
    tab.set("slide mm", 1e9)
    tab.wait(lambda: served.pages[0].view.state.robot.cfg[0] == 1.0)
    tab.set("turn °", 10.0)
    tab.wait(lambda: served.pages[0].view.state.robot.cfg[1] == pytest.approx(math.radians(10)))


def test_a_reload_resumes_and_two_tabs_are_independent(served, browser):
    storage = {}
    tab = ready(browser(storage))
    tab.set("slide mm", 300.0)
    page = served.pages[0]
    until(lambda: page.view.state.robot.cfg[0] == 0.3)
    other = ready(browser(storage))
    assert other.value("slide mm") == 0.0
    other.set("slide mm", -300.0)
    tab.close()
    until(lambda: len(served.pages) == 1)
    again = ready(browser(storage))
    again.wait(lambda: again.value("slide mm") == 300.0)
    edit = next(u for u, w in again.widgets.items() if w["props"].get("label") == "Edit")
    again.send("GuiUpdateMessage", uuid=edit, updates={"value": "Undo"})
    again.wait(lambda: again.value("slide mm") == 0.0)
    assert other.value("slide mm") == -300.0
    assert len(json.loads(storage["elbowroom-sessions"])) == 2


def test_fifty_connections_leave_nothing_behind(served, browser):
    storage = {}
    ready(browser(storage)).close()
    until(lambda: not served.pages)

    def come_and_go():
        tab = Browser(served.url, storage)
        tab.wait(lambda: "/robot/0/visual0" in tab.nodes)
        tab.close()
        until(lambda: not served.pages)

    for _ in range(5):
        come_and_go()
    gc.collect()
    threads, objects, sessions = threading.active_count(), len(gc.get_objects()), len(served.sessions)
    for _ in range(50):
        come_and_go()
    until(lambda: threading.active_count() <= max(threads, 40))  # viser keeps up to 32 threads of its own
    gc.collect()
    assert len(gc.get_objects()) < objects + 20_000
    assert len(served.sessions) == sessions


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null"])
def test_pages_of_other_sites_are_refused(served, origin):
    assert Browser(served.url, origin=origin).close_code == 1008


def test_who_may_connect():
    own = {"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:8080"}
    assert refusal(own, "127.0.0.1") == ""
    assert refusal({"Host": "127.0.0.1:8080"}, "127.0.0.1") == ""
    assert "localhost" not in refusal({"Host": "localhost:1", "Origin": "http://localhost:1"}, "127.0.0.1")
    rebound = {"Host": "evil.example:8080", "Origin": "http://evil.example:8080"}
    assert "this machine only" in refusal(rebound, "127.0.0.1")
    assert refusal(rebound, "0.0.0.0") == ""
    assert "evil" in refusal({**own, "Origin": "http://evil.example"}, "0.0.0.0")


@pytest.mark.parametrize("garbage", [b"\xc1garbage", "text", b"", b"\x81\xa4type\xa4evil"])
def test_share_requests_are_not_heard_and_garbage_ends_only_its_sender(served, browser, garbage):
    good = ready(browser())
    good.send("ShareUrlRequest")
    bad = ready(browser())
    bad.send_raw(garbage)
    assert bad.close_code is not None
    until(lambda: len(served.pages) == 1)
    good.set("slide mm", 100.0)
    good.wait(lambda: served.pages[0].view.state.robot.cfg[0] == 0.1)
    assert served._viser._share_tunnel is None


def test_what_cannot_be_bound_is_one_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port}.*--port 0") as caught:
            serve(port=port)
        assert "\n" not in str(caught.value)
    for host in ("203.0.113.1", "no.such.host.invalid"):
        with pytest.raises(InputError, match=host):
            serve(host=host, port=0)
    with pytest.raises(InputError, match="65535"):
        serve(port=99999)


def test_a_robot_that_cannot_be_loaded_is_told(tmp_path):
    with serve(RobotKey(str(tmp_path / "no.urdf")), port=0) as server:
        tab = Browser(server.url)
        tab.wait(lambda: any("no.urdf" in note for note in tab.notes))
        tab.close()


def test_idle_sessions_are_bounded():
    sessions = Sessions()
    live = sessions.claim(())
    for _ in range(3 * MAX_IDLE):
        sessions.release(sessions.claim(()))
    assert len(sessions) == MAX_IDLE + 1
    assert sessions.claim([live.id]) is not live
    sessions.release(live)
    assert sessions.claim(["unknown", live.id]) is live
