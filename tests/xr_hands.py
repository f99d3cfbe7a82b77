"""Recordings of a headset that nobody wore: two hands that pass through each other, by a seed."""

from __future__ import annotations

import json

import numpy as np
from scipy.spatial.transform import Rotation

RATE = 90.0
"""States a second."""
APART = 0.6
"""Metres between the hands at rest; each goes as far and a little more."""
PERIOD = 5.0
"""Seconds for there and back."""
HEAD_SPEED = 0.002
"""m/s by which the head goes to the right: its place tells the time of a state."""
LET_GO = 0.4
"""Seconds for which the clutch is open now and then."""


def crossing_hands(seconds: float, seed: int = 0) -> list[dict]:
    """`xr_state` messages: hands swap places again and again, sway, turn, and let go of the clutch now and then."""
    rng = np.random.default_rng(seed)
    phases, swings = rng.uniform(0.0, 2 * np.pi, (2, 6)), rng.uniform(0.3, 1.0, (2, 6))
    gaps = np.cumsum(rng.uniform(4.0, 8.0, int(seconds / 4.0) + 2))
    messages = []
    for k in range(int(seconds * RATE) + 1):
        t = k / RATE
        pressed = not ((gaps <= t) & (t < gaps + LET_GO)).any() and t > 0.2
        share = 0.5 * (1.0 - np.cos(2 * np.pi * t / PERIOD))
        hands = []
        for i, side in enumerate((-1.0, 1.0)):
            sway = 0.06 * np.sin(2 * np.pi * 0.31 * swings[i, :3] * t + phases[i, :3])
            turn = 0.4 * np.sin(2 * np.pi * 0.23 * swings[i, 3:] * t + phases[i, 3:])
            place = np.array([side * APART * (0.5 - 1.1 * share), 1.2, -0.4]) + sway
            hands.append((place, Rotation.from_rotvec(turn).as_quat()))
        messages.append(_state(t, hands, pressed))
    return messages


def lines(messages: list[dict]) -> bytes:
    """As a file."""
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def _state(t: float, hands: list, pressed: bool) -> dict:
    buttons = [
        {"pressed": False, "touched": False, "value": 0},
        {"pressed": pressed, "value": float(pressed)},
    ]
    devices = [
        {
            "role": "controller",
            "handedness": side,
            "gripPose": _pose(place, turn),
            "gamepad": {"buttons": buttons, "axes": []},
        }
        for side, (place, turn) in zip(("left", "right"), hands, strict=True)
    ]
    head = _pose(np.array([HEAD_SPEED * t, 1.6, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    devices.insert(0, {"role": "head", "handedness": "none", "pose": head})
    return {"type": "xr_state", "data": {"timestamp_unix_ms": 1.7e12 + 1000.0 * t, "devices": devices}}


def _pose(place: np.ndarray, turn: np.ndarray) -> dict:
    return {
        "position": dict(zip("xyz", place.tolist(), strict=True)),
        "orientation": dict(zip("xyzw", turn.tolist(), strict=True)),
    }
