"""Motion: a curve and when each place of it is passed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .. import _core
from .._brief import brief
from .._frozen import Frozen, freeze, frozen
from .._text import number, short
from ..errors import InputError
from ._curve import Curve

ON_TIME = 1e-9
"""Of a step: an end that is this close to a row is on it."""
MAX_ROWS = 10_000_000
"""Rows that a motion is resampled to at most."""


@brief
@dataclass(frozen=True, eq=False)
class Limits(Frozen):
    """What the joints may do, (dof,) each; infinite where there is no limit."""

    velocity: Float[np.ndarray, "dof"]
    """rad/s or m/s."""
    acceleration: Float[np.ndarray, "dof"]
    """rad/s^2 or m/s^2."""
    jerk: Float[np.ndarray, "dof"] | None
    """rad/s^3 or m/s^3; None limits none."""


@dataclass(frozen=True, eq=False)
class Motion(Frozen):
    """A curve passed in time, from rest to rest: on each of n intervals its parameter is a cubic polynomial of time."""

    curve: Curve
    times: Float[np.ndarray, "n+1"]
    """Seconds at which the intervals begin, from 0, and the end."""
    places: Float[np.ndarray, "n+1"]
    """Parameter of the curve at these times."""
    rates: Float[np.ndarray, "n+1"]
    """Its rate, 1/s."""
    pushes: Float[np.ndarray, "n+1"]
    """Its acceleration at the beginning of an interval, 1/s^2."""
    jerks: Float[np.ndarray, "n"]
    """Its third derivative on an interval, 1/s^3."""
    pieces: Int[np.ndarray, "n"]
    """Piece of the curve in which an interval lies."""
    limits: Limits
    """That it was made to keep."""
    peaks: Float[np.ndarray, "3 dof"]
    """What speed, acceleration and jerk of each joint never exceed: speeds and accelerations proved between the
    intervals' ends too where no jerk is limited, else looked at in many places; jerks infinite unless limited."""
    joint_names: tuple[str, ...] = ()
    """Of the robot, for export; may be left out."""

    @classmethod
    def of(
        cls,
        curve: Curve,
        rows: Float[np.ndarray, "5 n+1"],
        pieces: Any,
        limits: Limits,
        peaks: Any,
        joint_names: tuple[str, ...],
    ) -> Motion:
        """A motion of arrays that become read-only; rows are times, places, rates, pushes, and jerks with one more."""
        freeze(rows, pieces, peaks)
        times, places, rates, pushes, jerks = rows
        return cls(curve, times, places, rates, pushes, jerks[:-1], pieces, limits, peaks, joint_names)

    @property
    def duration(self) -> float:
        """Seconds."""
        return float(self.times[-1])

    @property
    def shares(self) -> Float[np.ndarray, "3 dof"]:
        """Share of each limit (velocity, acceleration, jerk) that is used at most; 0 where nothing is limited."""
        velocity, acceleration, jerk = self.limits.velocity, self.limits.acceleration, self.limits.jerk
        found = np.zeros_like(self.peaks)
        for k, limit in enumerate((velocity, acceleration, jerk)):
            if limit is not None:
                found[k] = np.where(np.isfinite(limit), self.peaks[k] / limit, 0.0)
        return frozen(found)

    def at(self, t: Any, derivative: int = 0) -> Float[np.ndarray, "*n dof"]:
        """Configurations at times, or velocities, accelerations, jerks (derivative 1, 2, 3).

        Args:
            t: seconds, (n,) or a number; before the beginning and after the end the robot rests.
            derivative: 0 to 3; where one jumps, that of the interval after.
        """
        if derivative not in (0, 1, 2, 3):
            raise InputError(f"derivative must be 0, 1, 2 or 3, found {short(derivative)}")
        points = np.asarray(t, dtype=np.float64)
        if not np.isfinite(points).all():
            raise InputError("times must be finite numbers of seconds")
        out = _core.evaluate_motion(
            self.curve.pieces, self.curve.knots, self._rows, self.pieces, derivative, points.reshape(-1)
        )
        return out.reshape(*points.shape, -1)

    @cached_property
    def _rows(self) -> Float[np.ndarray, "5 n+1"]:
        """Times, places, rates, pushes and jerks, as the core takes them."""
        return np.stack([self.times, self.places, self.rates, self.pushes, np.append(self.jerks, 0.0)])

    def resampled(self, rate: float) -> tuple[Float[np.ndarray, "n"], Float[np.ndarray, "n dof"]]:
        """Times and configurations at a fixed rate.

        The last row is the goal exactly, at the first multiple of 1 / rate that is not before the end: at rest there,
        so no limit is exceeded in between. A motion of no time is one row.

        Args:
            rate: rows per second.
        """
        steps = self._steps(rate)
        times = np.arange(steps + 1) / rate
        rows = self.at(times)
        rows[0], rows[-1] = self.curve.pieces[0, 0], self.curve.pieces[-1, 3]
        return times, rows

    def chord_error(self, rate: float) -> Float[np.ndarray, "dof"]:
        """How far straight lines between the rows of `resampled(rate)` are from the curve, at most (rad, m).

        A function whose second derivative is at most A leaves its chord over h seconds by at most A h^2 / 8; velocities
        do not jump, at stops neither. Under jerk limits, accelerations were only checked at many points, so this
        is not a proof: prove the rows themselves.
        """
        self._steps(rate)
        return self.peaks[1] / (8.0 * rate * rate)

    def write(self, path: str | Path, *, rate: float = 100.0, joints: Sequence[str] | None = None) -> None:
        """Writes the motion: JSON without loss (`read` brings it back), or CSV of rows at a fixed rate.

        Args:
            path: ends in .json or .csv.
            rate: rows per second, of CSV.
            joints: columns of CSV; None takes all.
        """
        from ._export import write_motion

        write_motion(self, Path(path), rate, joints)

    @classmethod
    def read(cls, path: str | Path) -> Motion:
        """A motion that `write` wrote as JSON, bit for bit.

        Raises:
            FormatError: something else.
        """
        from ._export import read_motion

        return read_motion(Path(path))

    def to_ros(self, rate: float = 100.0, joints: Sequence[str] | None = None) -> dict[str, Any]:
        """A dictionary like trajectory_msgs/JointTrajectory: joint_names, points with positions, velocities,
        accelerations and time_from_start.

        Args:
            rate: points per second.
            joints: which joints; None takes all.
        """
        from ._export import ros_trajectory

        return ros_trajectory(self, rate, joints)

    def _steps(self, rate: float) -> int:
        """Steps of `resampled`."""
        if not (isinstance(rate, (int, float, np.number)) and math.isfinite(rate) and rate > 0.0):
            raise InputError(f"rate must be a number of rows per second above zero, found {short(rate)}")
        steps = self.duration * float(rate)
        if steps > MAX_ROWS:
            raise InputError(f"rate: {number(float(rate))} rows per second are more than {MAX_ROWS} rows")
        return math.ceil(steps - ON_TIME)

    def __repr__(self) -> str:
        used = self.shares.max(axis=1)
        kinds = (
            ("speed", "acceleration", "jerk") if self.limits.jerk is not None else ("speed", "acceleration")
        )
        share = ", ".join(f"{kind} {used[k]:.0%}" for k, kind in enumerate(kinds))
        return f"Motion({number(self.duration)} s; of the limits: {share})"
