"""Hands steer the robot on the page, from a recording and from a WebSocket."""

from __future__ import annotations

import json
import threading
import time
import urllib.request

import numpy as np
import pytest
from websockets.sync.client import connect

from elbowroom import CollisionModel, ExactCollision
from elbowroom.collision.internal import one_ball_a_link
from elbowroom.errors import InputError
from elbowroom.pairs import pairs_from_ignored
from elbowroom.ui import serve
from elbowroom.ui._jobs import Cancelled, Report
from elbowroom.ui._teleop import MAX_STATES, Steering, read_recording
from elbowroom.ui.panels import TeleopPanel
from elbowroom.ui.state import (
    Hand,
    PageState,
    RecordingRead,
    Seen,
    SetTeleop,
    TeleopEnded,
    TeleopMoved,
    TeleopStarted,
    TeleopState,
    update,
)
from tests.ui.page_tools import Browser, act, until, widget
from tests.xr_hands import RATE, crossing_hands, lines

SECONDS, SEED = 3.0, 0


@pytest.fixture(scope="module")
def teaarm(load) -> CollisionModel:
    """The bundled robot with the pairs of its SRDF, made in no time."""
    robot = load("teaarm")
    return CollisionModel(
        robot, one_ball_a_link(robot), pairs_from_ignored(robot, robot.disabled_pairs, "SRDF")
    )


def test_a_recording_is_read_and_bounded(load):
    robot = load("teaarm")
    messages = crossing_hands(0.5)
    found = read_recording("x", lines(messages), robot)
    assert len(found.states) == len(messages)
    assert found.seconds == pytest.approx(0.5, abs=1e-6)
    bad = b'{"type": "xr_state", "data": {}}\n{"type": "stop"}\nnot JSON\n'
    mixed = read_recording("x", bad + lines(messages), robot)
    assert mixed.times == found.times
    assert "2 lines make no sense; line 1" in mixed.notes[0]
    assert "1 messages" in mixed.notes[1]
    for data in (b"", b"\x00\xff", bad, b"{}\n" * (MAX_STATES + 1)):
        with pytest.raises(InputError):
            read_recording("x", data, robot)
    messages[-1]["data"]["timestamp_unix_ms"] += 1e9
    with pytest.raises(InputError, match="longer"):
        read_recording("x", lines(messages), robot)


def test_stamps_that_go_back_come_at_once(load):
    messages = crossing_hands(0.1)
    messages[2], messages[5] = messages[5], messages[2]
    times = read_recording("x", lines(messages), load("teaarm")).times
    assert list(times) == sorted(times)


def test_a_played_recording_moves_the_robot_and_nothing_touches(teaarm):
    sent = []
    recording = read_recording("x", lines(crossing_hands(SECONDS, SEED)), teaarm.robot)
    start = tuple(teaarm.robot.default_cfg.tolist())
    steering = Steering("r", teaarm, start, TeleopState(), sent.append, recording)
    began = time.monotonic()
    steering.work(Report(lambda: None))
    assert time.monotonic() - began > SECONDS  # in real time, not faster
    assert isinstance(sent[0], TeleopStarted)
    assert isinstance(sent[-1], TeleopEnded)
    moved = [event for event in sent if isinstance(event, TeleopMoved)]
    cfgs = np.array([cfg for _, cfg in steering.log])
    assert np.ptp(cfgs, axis=0).max() > 0.1
    assert ExactCollision(teaarm.robot, teaarm.pairs).free(cfgs).all()
    last = moved[-1].seen
    assert {hand.part for hand in last.hands} == {"left", "right", "head"}
    assert last.messages == len(recording.states)
    assert any(hand.followed for event in moved for hand in event.seen.hands)
    assert not any(hand.followed for hand in moved[0].seen.hands)  # the clutch is not pressed yet
    table = steering.motion().decode().splitlines()
    assert table[0].split(",")[1:] == list(teaarm.robot.joint_names)
    assert len(table) == len(cfgs) + 1


def test_messages_come_over_a_websocket_and_the_robot_may_be_put_elsewhere(teaarm):
    sent = []
    start = tuple(teaarm.robot.default_cfg.tolist())
    steering = Steering("r", teaarm, start, TeleopState(port=0, clutch="none"), sent.append)
    report = Report(lambda: None)
    ended = []

    def work() -> None:
        try:
            steering.work(report)
        except Cancelled:
            ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: sent, 60.0)
    address = sent[0].address
    with urllib.request.urlopen(f"http{address.removeprefix('ws')}/xr") as answer:
        assert b"xr_state" in answer.read()
    with connect(address, max_queue=None) as socket:
        assert json.loads(socket.recv())["type"] == "hello"
        for message in crossing_hands(0.5):
            socket.send(json.dumps(message))
            time.sleep(1.0 / RATE)
        until(lambda: any(hand.followed for hand in sent[-1].seen.hands))
        elsewhere = (start[0] + 0.3, *start[1:])
        steering.put(elsewhere)
        until(lambda: abs(sent[-1].cfg[0] - elsewhere[0]) < 0.05)
    report.stop.set()
    thread.join(10.0)
    assert ended
    assert isinstance(sent[-1], TeleopEnded)


def test_state_takes_ticks_of_its_run_alone(desk):
    state = desk.history.state
    tick = TeleopMoved("a", (0.5, 0.1), Seen(state="tracking"))
    assert update(state, tick) is state  # no run
    running = update(state, TeleopStarted("a", state.robot.cfg))
    moved = update(running, tick)
    assert moved.robot.cfg == moved.teleop.cfg == (0.5, 0.1)
    assert update(moved, TeleopMoved("a", (0.5,), Seen())) is moved  # another robot
    assert update(moved, TeleopEnded("b")) is moved
    assert update(moved, TeleopEnded("a")).teleop.run == ""
    for nonsense in (
        SetTeleop("squeeze", float("nan"), 1),
        SetTeleop("squeeze", 1e9, 1),
        SetTeleop("x", 1.0, 1),
    ):
        with pytest.raises(InputError):
            update(PageState(), nonsense)


def test_panel_starts_follows_and_stops(stage, desk):
    panel, gui, scene = stage(TeleopPanel)
    follow = widget(gui, "Follow")
    act(follow, "Recording")
    assert "Upload a recording" in desk.said[-1]
    act(widget(gui, "Scale"), 2.0)
    assert desk.history.state.teleop.scale == 2.0
    act(follow, "Headset")
    job = desk.jobs[-1]
    assert job.key == "teleop"
    run = panel.steering.run
    desk.send(TeleopStarted(run, desk.view.state.robot.cfg, "ws://127.0.0.1:1"))
    hand = Hand("left", (1.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3), followed=True)
    seen = Seen((hand,), state="tracking", arrived=time.perf_counter(), messages=1)
    desk.send(TeleopMoved(run, (0.3, 0.1), seen))
    assert "/teleop/left" in scene._handle_from_node_name
    assert len(panel.lags) == 1
    desk.send(TeleopMoved(run, (0.31, 0.1), seen))
    assert len(panel.lags) == 1  # no news of the hands
    act(follow, "Stop")
    assert not desk.jobs
    desk.send(TeleopEnded(run))
    assert not scene._handle_from_node_name["/teleop/left"].visible


def test_a_run_is_one_step_of_undo(desk):
    before = desk.history.state.robot.cfg
    desk.send(TeleopStarted("a", before))
    history = desk.history
    for k in range(5):
        history = history.after(TeleopMoved("a", (0.1 * k, 0.0), Seen()), 0.01 * k)
    assert len(history.past) == 1
    assert history.past[0].robot.cfg == before


def test_no_port_is_opened_for_others(stage, desk):
    desk.local = False
    _, gui, _ = stage(TeleopPanel)
    act(widget(gui, "Follow"), "Headset")
    assert not desk.jobs
    assert "Other machines" in desk.said[-1]


def test_the_page_draws_hands_and_robot(teaarm):
    """The whole way, from the upload to the other end of a WebSocket."""
    with serve(teaarm, port=0) as server:
        browser = Browser(server.url)
        until(lambda: server.pages and server.pages[0].view.current)
        page = server.pages[0]
        data = lines(crossing_hands(1.0, SEED))
        page.send(RecordingRead(read_recording("x", data, teaarm.robot)))
        until(lambda: page.view.state.teleop.recording is not None)
        before = browser.poses
        browser.wait(lambda: browser.value("Follow") is not None)
        browser.set("Follow", "Recording")
        browser.wait(lambda: "/teleop/right" in browser.nodes)
        until(lambda: page.view.state.teleop.run == "", 60.0)
        assert browser.poses - before > 200
        assert not browser.notes
        browser.close()
