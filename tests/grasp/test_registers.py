"""Angle commands of the RH56: the scale both ways, what is refused, and what arrives over Modbus at a stand-in hand."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pymodbus.server import ModbusSerialServer, ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from elbowroom.errors import InputError
from elbowroom.grasp import ANGLE_ACT, ANGLE_SET, GraspPlanner, Hand, load_hand

EXAMPLE = Path(__file__).parents[2] / "examples" / "16_rh56_modbus.py"
REPORTED = [990, 991, 992, 993, 994, 995]
"""Angles that the stand-in reports."""
BAD_VALUES: list[Any] = [
    (0, 0, 0, 0, 0),
    (0,) * 7,
    (0, 0, 0, 0, 0, 1001),
    (-1, 0, 0, 0, 0, 0),
    (0.5, 0, 0, 0, 0, 0),
    (True, 0, 0, 0, 0, 0),
    ("500", 0, 0, 0, 0, 0),
    (np.nan,) * 6,
    None,
    500,
]


@pytest.mark.parametrize("name", ["rh56", "rh56_left"])
@pytest.mark.parametrize("revision", ["spec", "newest"])
def test_scale_is_open_1000_closed_0_in_the_documented_order(name: str, revision: str) -> None:
    hand = load_hand(name, revision=revision)
    assert tuple(hand.registers) == ("pinky", "ring", "middle", "index", "thumb_proximal", "thumb_yaw")
    low, high = np.array(list(hand.registers.values())).T
    np.testing.assert_array_equal([a.lower for a in hand.actuators], low)
    np.testing.assert_array_equal([a.upper for a in hand.actuators], high)
    assert hand.to_registers(low) == (1000,) * 6
    assert hand.to_registers(high) == (0,) * 6
    assert (ANGLE_SET, ANGLE_ACT) == (1486, 1546)


def test_round_trips_over_the_whole_range(hand: Hand) -> None:
    for value in range(1001):
        assert hand.to_registers(hand.from_registers((value,) * 6)) == (value,) * 6
    low, high = np.array(list(hand.registers.values())).T
    count = (high - low) / 1000
    for share in np.linspace(0.0, 1.0, 4001):
        ctrl = low + share * (high - low)
        back = hand.from_registers(hand.to_registers(ctrl))
        assert (np.abs(back - ctrl) <= 0.5 * count + 1e-12).all()


def test_every_grasp_has_commands_and_they_give_its_controls_back(smooth: GraspPlanner) -> None:
    for mode in ("line", "plane", "cylinder"):
        for grasp in smooth.sweep(mode, 25).grasps:
            back = grasp.from_registers(grasp.to_registers())
            np.testing.assert_array_equal(back, grasp.hand.from_registers(grasp.to_registers()))
            np.testing.assert_allclose(back, grasp.ctrl, atol=0.5 * 1.57 / 1000 + 1e-12)


def test_fingers_close_with_falling_commands(smooth: GraspPlanner) -> None:
    wide, narrow = smooth.line(0.1).to_registers(), smooth.line(0.01).to_registers()
    assert narrow[3] < wide[3]
    assert narrow[:3] == wide[:3] == (1000, 1000, 1000)


@pytest.mark.parametrize("values", BAD_VALUES, ids=repr)
def test_values_that_are_no_commands_are_refused(hand: Hand, values: Any) -> None:
    with pytest.raises(InputError, match="rh56: (expected 6 register values|register of)"):
        hand.from_registers(values)


def test_controls_outside_the_scale_are_refused(hand: Hand) -> None:
    with pytest.raises(InputError, match=r"index at 1\.6000 rad .* 0\.0000 \(1000, open\) to 1\.5000 rad"):
        hand.to_registers([0, 0, 0, 1.6, 0, 0])
    with pytest.raises(InputError, match="thumb_yaw at -0.1"):
        hand.to_registers([0, 0, 0, 0, 0, -0.1])
    with pytest.raises(InputError, match="NaN"):
        hand.to_registers([0, 0, 0, 0, 0, np.nan])
    with pytest.raises(InputError, match="one control"):
        hand.to_registers(np.zeros((2, 6)))


def test_other_hands_and_wrong_scales_say_so(hand: Hand) -> None:
    with pytest.raises(InputError, match="no angle registers"):
        replace(hand, registers={}).to_registers(np.zeros(6))
    with pytest.raises(InputError, match="every actuator once"):
        replace(hand, registers={"index": (0.0, 1.5)}).from_registers([3])
    flat = dict.fromkeys(hand.registers, (0.0, 0.0))
    with pytest.raises(InputError, match="two different numbers"):
        replace(hand, registers=flat).to_registers(np.zeros(6))


@pytest.mark.parametrize(
    ("registers", "text"),
    [
        (5, "registers must be a mapping .* found 5"),
        (None, "registers must be a mapping .* found None"),
        ([("index", (0.0, 1.5))], "registers must be a mapping"),
        ({1: (0.0, 1.5)}, "registers must name every actuator once .* found 1"),
        (5.0, "registers must be a mapping"),
    ],
)
def test_scales_that_are_none_are_said(hand: Hand, registers: Any, text: str) -> None:
    own = replace(hand, registers=registers)
    with pytest.raises(InputError, match=f"rh56: {text}"):
        own.to_registers(np.zeros(6))
    with pytest.raises(InputError, match=f"rh56: {text}"):
        own.from_registers((0,) * 6)


@pytest.mark.parametrize(
    "ends",
    [
        5,
        None,
        ("x", "y"),
        "xy",
        (0.0,),
        (0.0, 1.0, 2.0),
        (0.0, np.nan),
        (0.0, np.inf),
        ((0.0,), (1.0, 2.0)),
        {0, 1},
    ],
)
def test_ends_that_are_not_two_numbers_are_said(hand: Hand, ends: Any) -> None:
    own = replace(hand, registers={**hand.registers, "index": ends})
    with pytest.raises(InputError, match="rh56: register of index: expected .* two different numbers, found"):
        own.to_registers(np.zeros(6))
    with pytest.raises(InputError, match="rh56: register of index: expected .* two different numbers, found"):
        own.from_registers((0,) * 6)


def test_ends_may_come_from_numpy(hand: Hand) -> None:
    measured = {name: np.array(ends) for name, ends in hand.registers.items()}
    own = replace(hand, registers=measured)  # pyright: ignore[reportArgumentType]
    assert own.to_registers(np.full(6, 0.3)) == hand.to_registers(np.full(6, 0.3))


def test_a_measured_scale_takes_the_place_of_the_assumed_one(hand: Hand) -> None:
    measured = {**hand.registers, "index": (0.1, 1.4)}
    own = replace(hand, registers=measured)
    assert own.to_registers([0, 0, 0, 0.1, 0, 0])[3] == 1000
    assert own.from_registers((1000, 1000, 1000, 0, 1000, 1000))[3] == pytest.approx(1.4)


# Over Modbus, on this machine alone ----------------------------------------------------------------


@dataclass
class StandIn:
    """A hand that knows its twelve angle registers and nothing else, and keeps every request."""

    requests: list[tuple[int, int, list[int]]] = field(default_factory=list)
    """Function code, address, registers."""
    address: str = ""
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    def heard(self, sending: bool, pdu: Any) -> Any:
        if not sending:
            self.requests.append((pdu.function_code, pdu.address, list(pdu.registers)))
        return pdu

    def run(self, port: str | None) -> threading.Thread:
        """Serves TCP on a free port of the loopback, or a serial port."""
        ready = threading.Event()

        async def serve() -> None:
            device = SimDevice(
                1,
                [
                    SimData(ANGLE_SET, values=[0] * 6, datatype=DataType.REGISTERS),
                    SimData(ANGLE_ACT, values=REPORTED, datatype=DataType.REGISTERS),
                ],
            )
            if port is None:
                server: Any = ModbusTcpServer(device, address=("127.0.0.1", 0), trace_pdu=self.heard)
            else:
                server = ModbusSerialServer(device, port=port, baudrate=115200, trace_pdu=self.heard)
            self.stop = server.shutdown
            await server.listen()
            if port is None:
                self.address = f"127.0.0.1:{server.transport.sockets[0].getsockname()[1]}"
            ready.set()
            await server.serving

        def work() -> None:
            asyncio.set_event_loop(self._loop)
            try:
                self._loop.run_until_complete(serve())
            except asyncio.CancelledError:
                pass
            finally:
                self._loop.close()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        assert ready.wait(10)
        return thread

    def end(self, thread: threading.Thread) -> None:
        asyncio.run_coroutine_threadsafe(self.stop(), self._loop)
        thread.join(10)


@pytest.fixture
def example() -> Any:
    spec = importlib.util.spec_from_file_location("rh56_modbus", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tcp_hand() -> Iterator[StandIn]:
    hand = StandIn()
    thread = hand.run(None)
    yield hand
    hand.end(thread)


@pytest.fixture
def serial_hand() -> Iterator[StandIn]:
    """Two pseudo terminals back to back: one port for the hand, one for the driver."""
    ours, hand_end = os.openpty()
    theirs, driver_end = os.openpty()
    for end in (ours, theirs, hand_end, driver_end):
        import tty

        tty.setraw(end)

    def carry(source: int, target: int) -> None:
        try:
            while data := os.read(source, 256):
                os.write(target, data)
        except OSError:
            return  # closed

    for pair in ((ours, theirs), (theirs, ours)):
        threading.Thread(target=carry, args=pair, daemon=True).start()
    hand = StandIn(address=os.ttyname(driver_end))
    thread = hand.run(os.ttyname(hand_end))
    yield hand
    hand.end(thread)
    for end in (hand_end, driver_end):
        os.close(end)


def check_what_arrived(hand: StandIn, commands: tuple[int, ...]) -> None:
    """One write of the six documented registers, one read of the six that report, nothing else."""
    assert hand.requests == [(16, 1486, list(commands)), (3, 1546, [])]


def test_over_tcp_exactly_the_documented_registers_arrive(tcp_hand: StandIn, example: Any) -> None:
    grasp, found = example.main(["--width", "0.04", "--send", tcp_hand.address, "--wait", "0"])
    assert found == REPORTED
    check_what_arrived(tcp_hand, grasp.to_registers())
    assert len(set(grasp.to_registers())) > 2


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals")
def test_over_a_serial_port_exactly_the_documented_registers_arrive(
    serial_hand: StandIn, example: Any
) -> None:
    grasp, found = example.main(["--width", "0.04", "--send", serial_hand.address, "--wait", "0"])
    assert found == REPORTED
    check_what_arrived(serial_hand, grasp.to_registers())


@pytest.mark.parametrize("values", BAD_VALUES, ids=repr)
def test_bad_values_are_refused_before_anything_is_sent(
    tcp_hand: StandIn, example: Any, hand: Hand, values: Any
) -> None:
    with pytest.raises(InputError):
        example.send(tcp_hand.address, hand, values, wait=0.0)
    assert tcp_hand.requests == []


def test_without_pymodbus_the_line_that_installs_it_is_said(
    example: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pymodbus.client", None)
    with pytest.raises(SystemExit, match=r"needs pymodbus, .* pip install 'elbowroom\[hand\]'"):
        example.main(["--send", "127.0.0.1:1"])
    assert example.main([])[1] == []


def test_nothing_is_opened_unless_asked_for(
    example: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(example, "connect", lambda address: pytest.fail("opened"))
    _, found = example.main([])
    assert found == []
    assert "nothing was sent" in capsys.readouterr().out


def test_a_hand_that_is_not_there_and_one_that_refuses_are_said(tcp_hand: StandIn, example: Any) -> None:
    with pytest.raises(SystemExit, match="no Modbus connection to 127.0.0.1:1"):
        example.main(["--send", "127.0.0.1:1"])
    example.ANGLE_SET = 2000
    with pytest.raises(SystemExit, match="refused the command"):
        example.main(["--send", tcp_hand.address, "--wait", "0"])
