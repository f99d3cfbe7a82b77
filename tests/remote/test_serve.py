"""Steering a robot by messages: clutch, stops, the loop, streams and sockets."""

from __future__ import annotations

import json
import os
import queue
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from elbowroom import load_robot
from elbowroom.errors import InputError
from elbowroom.ik import PoseTarget, PositionTarget
from elbowroom.remote import ServeReport, serve_socket
from elbowroom.remote._messages import (
    MOST_BYTES,
    Clutch,
    End,
    Follow,
    Reset,
    Stop,
    encode,
    read_message,
)
from elbowroom.remote._serve import MOST_WAITING, Mailbox, Outbox, Pacer, run_session, serve_lines
from elbowroom.remote._serve_socket import SocketDoor
from elbowroom.remote._session import Session
from elbowroom.remote._xr import XrOptions

LEFT, RIGHT = "frame_left_arm_ee", "frame_right_arm_ee"
POSE = [1.0, 0.0, 0.0, 0.0, 0.3, 0.2, 1.0]


@pytest.fixture(scope="module")
def robot():
    return load_robot("teaarm")


class Recorder:
    """Stands in for a tracker where only the messages matter: notes what it is asked, brakes within three ticks."""

    def __init__(self):
        self.asked, self.resets, self.speed = [], 0, 0

    def tick(self, targets, cfg, dt, *, clutch=True, stamp=None):
        self.asked.append(SimpleNamespace(targets=targets, cfg=cfg, dt=dt, clutch=clutch, stamp=stamp))
        self.speed = 3 if targets and clutch else max(0, self.speed - 1)
        state = "tracking" if targets and clutch else "stopping" if self.speed else "stopped"
        n = len(targets or ())
        return SimpleNamespace(
            cfg=np.array(cfg) + 1e-3 * self.speed,
            velocity=np.full(len(cfg), 0.1 * self.speed),
            state=state,
            proved=True,
            limited_by=("speed of joint x",),
            clearance_bound=float("inf"),
            targets=tuple(targets or ()),
            why="",
            position_error=np.arange(n) + 0.5,
            orientation_error=np.zeros(n),
            seconds=1e-4,
        )

    def reset(self):
        self.resets += 1


@pytest.fixture
def recorder():
    return Recorder()


@pytest.fixture
def session(robot, recorder):
    xr = XrOptions(left=LEFT, right=RIGHT, yaw=0.0)
    return Session(recorder, robot, (LEFT, RIGHT), robot.default_cfg, 200.0, xr)


def line(**message):
    return json.dumps(message)


# Sessions -------------------------------------------------------------------------------------------


def test_a_session_stands_until_it_is_told_and_says_who_it_is(session, recorder, robot):
    hello = session.hello()
    assert hello["joint_names"] == list(robot.joint_names)
    assert set(hello["links"]) == {LEFT, RIGHT}
    command = session.tick(0.0)
    assert recorder.asked[0].targets is None
    assert recorder.asked[0].dt == pytest.approx(0.005)
    assert command["state"] == "stopped"
    assert session.still
    assert command["cfg"] == robot.default_cfg.tolist()
    assert json.loads(encode(command))["clearance_bound"] is None


def test_the_latest_target_of_each_link_counts(session, recorder):
    session.take(Follow({LEFT: PoseTarget(LEFT, POSE)}), 0.0)
    assert session.tick(0.0)["position_error"] == {LEFT: 0.5}
    session.take(Follow({RIGHT: PoseTarget(RIGHT, POSE)}), 0.1)
    session.take(Follow({LEFT: PositionTarget(LEFT, [1, 2, 3])}), 0.1)
    assert session.tick(0.1)["position_error"] == {LEFT: 0.5, RIGHT: 1.5}
    left, right = recorder.asked[-1].targets
    assert isinstance(left, PositionTarget)
    assert isinstance(right, PoseTarget)


def test_only_news_renews_a_target(session, recorder):
    first = Follow({LEFT: PoseTarget(LEFT, POSE)}, stamp=1.0)
    session.take(first, 0.0)
    session.tick(0.0)
    session.take(first, 0.5)
    session.take(Follow({LEFT: PositionTarget(LEFT, [9, 9, 9])}, stamp=0.5), 0.6)
    session.tick(0.6)
    assert recorder.asked[0].stamp == recorder.asked[1].stamp == 0.0
    assert isinstance(recorder.asked[1].targets[0], PoseTarget)
    session.take(Follow({LEFT: PoseTarget(LEFT, POSE)}, stamp=1.1), 0.7)
    session.tick(0.7)
    assert recorder.asked[2].stamp == 0.7


def test_clutch_stop_and_reset(session, recorder, robot):
    session.take(Follow({LEFT: PoseTarget(LEFT, POSE)}), 0.0)
    session.take(Clutch(False), 0.0)
    session.tick(0.0)
    assert not recorder.asked[-1].clutch
    session.take(Clutch(True), 0.0)
    session.tick(0.0)
    assert recorder.asked[-1].clutch
    session.take(Stop(), 0.0)
    session.tick(0.0)
    assert recorder.asked[-1].targets is None
    assert not recorder.asked[-1].clutch
    session.take(Follow({LEFT: PoseTarget(LEFT, POSE)}), 0.0)
    session.tick(0.0)
    assert recorder.asked[-1].clutch
    session.take(Reset({"waist_yaw": 0.25}), 0.0)
    session.tick(0.0)
    assert recorder.resets == 1
    assert recorder.asked[-1].targets is None
    assert recorder.asked[-1].cfg[robot.joint_names.index("waist_yaw")] == 0.25


def xr(squeeze, x=0.0, ms=0.0):
    device = {
        "role": "controller",
        "handedness": "left",
        "gripPose": {"position": {"x": x, "y": 1, "z": 0}, "orientation": {"x": 0, "y": 0, "z": 0, "w": 1}},
        "gamepad": {"buttons": [{"pressed": on, "value": 0.0} for on in (False, squeeze)], "axes": []},
    }
    return line(
        type="xr_state", client_id="abc", data={"timestamp_unix_ms": ms, "devices": [device], "fps": 72}
    )


def test_a_headset_steers_while_it_squeezes_and_must_let_go_after_a_stop(session, recorder, robot):
    def send(text, now):
        session.take(read_message(text, robot, session.links), now)
        session.tick(now)
        return recorder.asked[-1]

    assert not send(xr(False), 0.00).clutch
    begun = send(xr(True, 0.0, 10), 0.01)
    assert begun.clutch
    moved = send(xr(True, -0.1, 20), 0.02)
    change = moved.targets[0].pose[4:] - begun.targets[0].pose[4:]
    np.testing.assert_allclose(change, [0.0, 0.1, 0.0], atol=1e-12)  # to the left
    session.take(Stop(), 0.03)
    assert not send(xr(True, -0.2, 40), 0.04).clutch
    assert not send(xr(False, -0.2, 50), 0.05).clutch
    again = send(xr(True, -0.2, 60), 0.06)
    assert again.clutch
    here = robot.link_poses(again.cfg)[robot.link_index(LEFT)]
    np.testing.assert_allclose(again.targets[0].pose, here, atol=1e-12)  # where it is, not where it was sent


# The loop -------------------------------------------------------------------------------------------


def test_of_targets_between_two_ticks_the_last_counts_and_the_rest_keeps_its_order():
    box = Mailbox()
    target = {LEFT: PoseTarget(LEFT, POSE)}
    for message in (Follow(target, 1.0), Follow({}, 3.0), Follow(target, 2.0), Clutch(False), Follow(target)):
        box.put(message)
    first, clutch, last = box.take()
    assert isinstance(first, Follow)
    assert (first.stamp, dict(first.targets)) == (3.0, target)
    assert clutch == Clutch(False)
    assert isinstance(last, Follow)
    assert box.take() == []
    assert box.received == 5


def test_a_sender_that_floods_has_to_wait():
    box = Mailbox()

    def flood():
        for k in range(3 * MOST_WAITING):
            box.put(Clutch(bool(k % 2)))

    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    taken = []
    while thread.is_alive() or len(taken) < 3 * MOST_WAITING:
        got = box.take()
        assert len(got) <= MOST_WAITING
        taken += got
        thread.join(0.001)
    assert taken == [Clutch(bool(k % 2)) for k in range(3 * MOST_WAITING)]  # nothing lost, nothing swapped


def test_a_slow_reader_gets_the_newest_command_and_every_answer():
    gate, busy, got = threading.Event(), threading.Event(), []

    def write(text):
        busy.set()
        gate.wait(10)
        got.append(json.loads(text))
        return True

    box = Outbox(write)
    box.send({"type": "hello"})
    busy.wait(10)
    for k in range(5):
        box.send({"type": "command", "tick": k})
        box.send({"type": "error", "k": k})
    gate.set()
    box.close()
    assert [message["type"] for message in got].count("command") == 1
    assert [message["k"] for message in got if message["type"] == "error"] == list(range(5))
    assert [message["tick"] for message in got if message["type"] == "command"] == [4]
    assert got[0]["type"] == "hello"
    assert box.dropped == 4


class Time:
    """A clock that only sleep and work move."""

    def __init__(self):
        self.now, self.slept = 0.0, []

    def clock(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


def test_ticks_do_not_drift_and_missed_ones_are_left_out():
    time = Time()
    pacer = Pacer(100.0, time.clock, time.sleep)
    began = []
    for now in pacer.ticks():
        began.append(now)
        time.now += 0.027 if len(began) == 3 else 0.004
        if len(began) == 6:
            break
    np.testing.assert_allclose(began, [0.0, 0.01, 0.02, 0.05, 0.06, 0.07], atol=1e-12)
    report = pacer.report(0, 0)
    assert (report.ticks, report.missed) == (6, 2)
    assert all(seconds > 0.0 for seconds in time.slept)  # it sleeps between ticks, and never bursts
    assert report.compute["max"] == pytest.approx(0.027)
    assert report.late["max"] == pytest.approx(0.0)


class Kept:
    """An outbox that keeps what it is sent."""

    dropped, broken = 0, False

    def __init__(self):
        self.sent = []

    def send(self, message):
        self.sent.append(json.loads(encode(message)))


def run(session, box, out):
    time = Time()
    return run_session(session, box, out, Pacer(session.rate, time.clock, time.sleep))


def test_the_end_of_input_brakes_and_says_how_it_went(session):
    box, out = Mailbox(), Kept()
    box.put(Follow({LEFT: PoseTarget(LEFT, POSE)}))
    box.put(Reset({"waist_yaw": 99.0}))
    box.put(Follow({LEFT: PoseTarget(LEFT, POSE)}))
    session.tick(0.0)
    ticks = 0
    send = out.send

    def closing(message):
        nonlocal ticks
        ticks += 1
        if ticks == 4:
            box.close()
        send(message)

    out.send = closing
    report = run(session, box, out)
    states = [message["state"] for message in out.sent if message["type"] == "command"]
    assert states == ["tracking"] * 4 + ["stopping"] * 2 + ["stopped"]
    assert out.sent[-1]["type"] == "end"
    assert out.sent[-1]["ticks"] == report.ticks == 7
    assert out.sent[-1]["messages"] == 3


def test_an_end_message_and_a_reader_that_is_gone_end_it_too(session):
    box, out = Mailbox(), Kept()
    box.put(Follow({LEFT: PoseTarget(LEFT, POSE)}))
    box.put(End())
    run(session, box, out)
    assert out.sent[-1]["type"] == "end"
    out.broken = True
    assert run(session, Mailbox(), out).ticks == 1


def test_an_error_in_a_message_is_answered_and_the_loop_goes_on(session, recorder):
    read, write = os.pipe()
    got = []
    lines = [
        "nonsense",
        line(type="target", targets={"ghost": POSE}),
        "",
        "x" * (3 * MOST_BYTES),
        line(type="target", targets={LEFT: POSE}),
    ]

    def send(text):
        got.append(json.loads(text))
        if got[-1]["type"] == "command" and got[-1]["state"] == "tracking":
            file.close()  # the end of input
        return True

    file = os.fdopen(write, "w")
    threading.Thread(target=lambda: (file.write("\n".join([*lines, ""])), file.flush()), daemon=True).start()
    report = serve_lines(session, read, send)
    os.close(read)
    assert [message["type"] for message in (got[0], got[-1])] == ["hello", "end"]
    errors = [message["error"] for message in got if message["type"] == "error"]
    assert len(errors) == 3
    assert "not JSON" in errors[0]
    assert "ghost" in errors[1]
    assert "at most" in errors[2]
    assert got[-2]["state"] == "stopped"
    assert report.messages == 1
    assert report.ticks == len(recorder.asked)


# Sockets --------------------------------------------------------------------------------------------


@pytest.fixture
def door(session):
    box = Mailbox()
    found = SocketDoor(session, box, 0)
    thread = threading.Thread(target=run_session, args=(session, box, found), daemon=True)
    thread.start()
    yield SimpleNamespace(door=found, box=box, thread=thread, session=session)
    box.close()
    thread.join(20)
    found.close()


def next_of(kind, connection):
    while (message := json.loads(connection.recv(timeout=20)))["type"] != kind:
        pass
    return message


def test_one_controller_steers_over_a_socket(door):
    with connect(door.door.address) as first:
        assert json.loads(first.recv(timeout=20))["type"] == "hello"
        assert next_of("command", first)["state"] == "stopped"
        first.send(line(type="target", targets={LEFT: POSE}))
        while next_of("command", first)["state"] != "tracking":
            pass
        first.send("nonsense")
        assert "not JSON" in next_of("error", first)["error"]
        with connect(door.door.address) as second:
            assert "another controller" in json.loads(second.recv(timeout=20))["error"]
            with pytest.raises(ConnectionClosed) as closed:
                second.recv(timeout=20)
            assert closed.value.rcvd.code == 1013
        assert next_of("command", first)["state"] == "tracking"  # the first is not disturbed
        first.send("x" * (MOST_BYTES + 1))
        with pytest.raises(ConnectionClosed) as closed:
            next_of("never", first)
        assert closed.value.rcvd.code == 1009  # too large
    with connect(door.door.address) as third:  # it braked, and the next starts without old targets
        assert json.loads(third.recv(timeout=20))["type"] == "hello"
        while next_of("command", third)["state"] != "stopped":
            pass
        third.send(line(type="end"))
        assert next_of("end", third)["missed"] >= 0
    door.thread.join(20)
    assert not door.thread.is_alive()


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example"])
def test_pages_of_other_hosts_are_refused(door, origin):
    with pytest.raises(InvalidStatus) as refused:
        connect(door.door.address, origin=origin)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("origin", [None, "http://localhost:8080", "https://127.0.0.1:4443", "http://[::1]"])
def test_programs_and_pages_of_this_machine_may_steer(door, origin):
    with connect(door.door.address, origin=origin) as connection:
        assert json.loads(connection.recv(timeout=20))["type"] == "hello"


def test_serving_a_socket_ends_with_a_report(session):
    addresses, reports = queue.SimpleQueue(), queue.SimpleQueue()
    thread = threading.Thread(
        target=lambda: reports.put(serve_socket(session, 0, announce=addresses.put)), daemon=True
    )
    thread.start()
    with connect(addresses.get(timeout=20)) as controller:
        assert json.loads(controller.recv(timeout=20))["type"] == "hello"
        controller.send(line(type="end"))
        said = next_of("end", controller)
    report = reports.get(timeout=20)
    assert isinstance(report, ServeReport)
    assert report.messages == 1
    assert report.missed == said["missed"]


def test_a_port_that_is_taken_is_said(door, session):
    port = int(door.door.address.rpartition(":")[2])
    with pytest.raises(InputError, match=f"cannot listen on port {port} of 127.0.0.1"):
        SocketDoor(session, Mailbox(), port)
