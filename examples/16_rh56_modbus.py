"""Grasp with a real RH56: convert a planned grasp to the hand's angle commands and,
on request, send them over Modbus.

Plans a line grasp, converts its controls to the hand's six angle commands (1000 open,
0 closed) and prints the value of each register. Nothing is sent without `--send`, which
takes HOST:PORT for Modbus TCP (the manufacturer's default is 192.168.11.210:6000) or a
serial port for Modbus RTU. The commands are then written to registers 1486 to 1491 in
one request, and the angles the hand reports are read back. Values are checked before a
connection is opened. Needs pymodbus: `pip install 'elbowroom[hand]'`.

    python examples/16_rh56_modbus.py --width 0.03
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from elbowroom.grasp import ANGLE_ACT, ANGLE_SET, Grasp, GraspPlanner, Hand, load_hand

BAUD = 115200
TIMEOUT = 1.0
"""Seconds to wait for an answer."""
MOTION = 1.0
"""Seconds; the manufacturer states 0.8 s for the full range at full speed."""


def connect(address: str) -> Any:
    """A connected Modbus client: HOST:PORT is TCP, anything else a serial port."""
    try:
        from pymodbus.client import ModbusSerialClient, ModbusTcpClient
    except ImportError as error:
        raise SystemExit(
            "sending to a hand needs pymodbus, which is not installed: pip install "
            "'elbowroom[hand]'"
        ) from error

    host, colon, port = address.rpartition(":")
    if colon and port.isdigit():
        client: Any = ModbusTcpClient(host, port=int(port), timeout=TIMEOUT)
    else:
        client = ModbusSerialClient(address, baudrate=BAUD, timeout=TIMEOUT)
    if not client.connect():
        raise SystemExit(f"no Modbus connection to {address}")
    return client


def send(
    address: str,
    hand: Hand,
    values: Sequence[int],
    device: int = 1,
    wait: float = MOTION,
) -> list[int]:
    """Writes six angle commands; returns the six angles the hand reports afterwards.

    Args:
        address: HOST:PORT or a serial port.
        hand: checks the values before a connection is opened.
        values: as `Grasp.to_registers` gives them.
        device: Modbus device id of the hand.
        wait: seconds before the angles are read.
    """
    hand.from_registers(values)
    client = connect(address)
    try:
        written = client.write_registers(ANGLE_SET, list(values), device_id=device)
        if written.isError():
            raise SystemExit(f"{address}: the hand refused the command: {written}")
        time.sleep(wait)
        found = client.read_holding_registers(
            ANGLE_ACT, count=len(values), device_id=device
        )
        if found.isError():
            raise SystemExit(f"{address}: the hand does not report its angles: {found}")
        return list(found.registers)
    finally:
        client.close()


def main(argv: list[str] | None = None) -> tuple[Grasp, list[int]]:
    """Plans, prints and sends on request; returns the grasp and any reported angles."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--width", type=float, default=0.03, help="of the object, metres"
    )
    parser.add_argument("--hand", default="rh56", help="rh56 or rh56_left")
    parser.add_argument(
        "--send",
        metavar="ADDRESS",
        help="HOST:PORT (TCP) or a serial port; moves the hand",
    )
    parser.add_argument(
        "--device", type=int, default=1, help="Modbus device id of the hand"
    )
    parser.add_argument(
        "--wait",
        type=float,
        default=MOTION,
        help="seconds before the angles are read back",
    )
    args = parser.parse_args(argv)

    hand = load_hand(args.hand)
    grasp = GraspPlanner(hand).line(args.width)
    values = grasp.to_registers()
    print(f"line grasp of {1e3 * args.width:.0f} mm by {hand.name}:")
    for i, (name, value) in enumerate(zip(hand.registers, values, strict=True)):
        print(
            f"  register {ANGLE_SET + i}: {value:4d}  ({name}, "
            f"{grasp.actuators[name]:.3f} rad)"
        )
    if not args.send:
        print("nothing was sent; --send ADDRESS moves the hand")
        return grasp, []
    found = send(args.send, hand, values, args.device, args.wait)
    apart = [abs(value - there) for value, there in zip(values, found, strict=True)]
    print(
        f"sent to {args.send}; the hand reports {found}, {max(apart)} counts off at "
        "most"
    )
    return grasp, found


if __name__ == "__main__":
    main()
