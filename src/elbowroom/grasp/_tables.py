"""Fingertip and knuckle positions, from tables or exactly.

Tables hold, per finger, the two points on a grid of the finger's own controls: 200 samples for one actuator,
50 x 50 for two, interpolated linearly. On the RH56 they are within 1.3e-5 m of exact kinematics; a finger with
more actuators is computed exactly. They are cached under a hash of the hand's kinematics, so a changed hand
never meets an old table, and a file with unexpected content is recomputed. A mirrored hand (`mirror_of`) uses
the table of its original with the sign of y changed.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from jaxtyping import Float

from .._cache import Arrays, cached
from ._hand import Hand

ALGORITHM = "tables 1"
SAMPLES = {1: 200, 2: 50}
"""Samples per actuator by how many actuators move the finger."""

POINTS, MIRRORED = (1.0,) * 6, (1.0, -1.0, 1.0) * 2
"""Signs of tip and knuckle in a table, and in that of a mirrored hand, which has the table of its original."""


class Fingers(Protocol):
    """Where the points of a finger are at a control; base frame."""

    def tip(self, finger: str, ctrl: Float[np.ndarray, "actuators"]) -> Float[np.ndarray, "3"]:
        """The fingertip."""
        ...

    def knuckle(self, finger: str, ctrl: Float[np.ndarray, "actuators"]) -> Float[np.ndarray, "3"]:
        """The end of the proximal link."""
        ...


class ExactFingers:
    """Exact kinematics behind the interface of the tables."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand

    def tip(self, finger: str, ctrl: Float[np.ndarray, "actuators"]) -> Float[np.ndarray, "3"]:
        """The fingertip."""
        return self.hand.points_unchecked(ctrl, False)[0][self.hand.finger_index(finger)]

    def knuckle(self, finger: str, ctrl: Float[np.ndarray, "actuators"]) -> Float[np.ndarray, "3"]:
        """The end of the proximal link."""
        points, _ = self.hand.points_unchecked(ctrl, False)
        return points[len(self.hand.fingers) + self.hand.finger_index(finger)]


class TableFingers:
    """Interpolated kinematics of a hand.

    Args:
        hand: the hand.
        rebuild: recompute the tables even if they are cached.
    """

    def __init__(self, hand: Hand, *, rebuild: bool = False) -> None:
        self.hand = hand
        self._exact = ExactFingers(hand)
        self._columns = {name: hand.finger_actuators(name) for name in hand.finger_names}
        arrays = self._load(rebuild)
        side = np.array(POINTS if hand.original is None else MIRRORED)
        self._tables = {name: side * arrays[name] for name in self._tabulated}
        self._axes = {
            name: [self._axis(column, SAMPLES[len(self._columns[name])]) for column in self._columns[name]]
            for name in self._tabulated
        }

    @property
    def _tabulated(self) -> list[str]:
        return [name for name, columns in self._columns.items() if len(columns) in SAMPLES]

    def tip(self, finger: str, ctrl: Float[np.ndarray, "actuators"]) -> Float[np.ndarray, "3"]:
        """The fingertip; controls outside the table are taken at its edge."""
        return (
            self._exact.tip(finger, ctrl) if finger not in self._tables else self._look_up(finger, ctrl)[:3]
        )

    def knuckle(self, finger: str, ctrl: Float[np.ndarray, "actuators"]) -> Float[np.ndarray, "3"]:
        """The end of the proximal link; controls outside the table are taken at its edge."""
        if finger not in self._tables:
            return self._exact.knuckle(finger, ctrl)
        return self._look_up(finger, ctrl)[3:]

    def _look_up(self, finger: str, ctrl: np.ndarray) -> np.ndarray:
        value = self._tables[finger]
        for column, (low, step, count) in zip(self._columns[finger], self._axes[finger], strict=True):
            place = min(max((float(ctrl[column]) - low) / step, 0.0), count - 1.0)
            i = min(int(place), count - 2)
            f = place - i
            value = (1.0 - f) * value[i] + f * value[i + 1]
        return value

    def _axis(self, column: int, count: int) -> tuple[float, float, int]:
        """First value, step and number of values of a table's axis."""
        actuator = self.hand.actuators[column]
        return actuator.lower, (actuator.upper - actuator.lower) / (count - 1), count

    # Building -----------------------------------------------------------------------------------

    def _load(self, rebuild: bool) -> Arrays:
        parts = (ALGORITHM, repr(SAMPLES), *self.hand.fingerprint)
        return cached("grasp", parts, self._build, fits=self._fits, rebuild=rebuild)

    def _fits(self, arrays: Arrays) -> bool:
        for name in self._tabulated:
            n = len(self._columns[name])
            found = arrays.get(name)
            if found is None or found.shape != ((SAMPLES[n],) * n + (6,)) or found.dtype != np.float64:
                return False
            if not np.isfinite(found).all():
                return False
        return True

    def _build(self) -> dict[str, np.ndarray]:
        arrays: dict[str, np.ndarray] = {}
        hand = self.hand.original or self.hand
        n_fingers = len(hand.fingers)
        for name in self._tabulated:
            columns = self._columns[name]
            row = hand.finger_index(name)
            axes = [
                np.linspace(hand.actuators[c].lower, hand.actuators[c].upper, SAMPLES[len(columns)])
                for c in columns
            ]
            grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
            table = np.empty((*grid.shape[:-1], 6))
            ctrl = hand.ctrl_lower.copy()
            for index in np.ndindex(*grid.shape[:-1]):
                ctrl[list(columns)] = grid[index]
                points, _ = hand.points_unchecked(ctrl, False)
                table[index] = np.concatenate([points[row], points[n_fingers + row]])
            arrays[name] = table
        return arrays
