"""Aim: targets of one kind and order made into the objective of a tick, with the targets' own velocity."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..robot import Robot
from ._problem import Problem, shape_of
from ._targets import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget, Target
from ._track_options import TrackOptions

ROWS: dict[type, tuple[int, int]] = {
    PoseTarget: (3, 3),
    PositionTarget: (3, 0),
    AxisTarget: (0, 3),
    LookAt: (0, 3),
    JointTarget: (0, 1),
}
"""Rows of position and of orientation in the residuals of a target."""
GAIN_PER_TICK = 0.5
"""Share of an error that one tick may remove at most; more would overshoot when ticks are late."""
LAPSE = 2.5
"""A target that has not moved for so many of its own intervals stands still: targets come less often than ticks."""


class Aim:
    """The objective for targets of given kinds and links; remembers the last targets to know how fast they move."""

    def __init__(
        self, robot: Robot, targets: Sequence[Target], joints: Sequence[str], options: TrackOptions
    ) -> None:
        self.problem = Problem.of(robot, shape_of(targets), joints)
        self._options = options
        counts = np.array([ROWS[type(item)] for item in targets], dtype=np.int64).reshape(-1, 2)
        first = np.cumsum([0, *counts.sum(axis=1)])
        self._spans = frozen(np.column_stack([first[:-1], counts]))
        rows, dof = int(first[-1]), robot.dof
        self._H, self._f = np.empty((dof, dof)), np.empty(dof)
        self._wanted, self._feed = np.empty(rows), np.zeros(rows)
        self._bounds = np.empty((len(targets), 2))
        self._values: np.ndarray | None = None
        self._packed = b""
        self._unchanged = self._interval = (
            0.0  # seconds since the targets moved, and between their last moves
        )
        self._here, self._before = self.problem.space(), self.problem.space(slope=False)

    def at(
        self,
        targets: Sequence[Target],
        closed_for: Sequence[float],
        cfg: Float[np.ndarray, "dof"],
        rest: Float[np.ndarray, "dof"],
        limits: tuple[Float[np.ndarray, "dof"], Float[np.ndarray, "dof"]],
        dt: float,
    ) -> tuple[Float[np.ndarray, "dof dof"], Float[np.ndarray, "dof"], Float[np.ndarray, "values"]]:
        """H and f of 1/2 v'Hv + f'v over joint velocities (valid until the next call), and the packed targets.

        Args:
            targets: of the kinds and links, in the order, of the constructor.
            closed_for: seconds since each was first followed; its speed bounds grow over `engage_time`.
            cfg: where the robot is, read-only.
            rest: where joints go as far as the targets leave them free.
            limits: of joint velocities and accelerations.
            dt: seconds of this tick.
        """
        values = self.problem.targets_row(targets)
        row = cfg[None]
        self.problem.linearise_into(values, row, self._here)
        residual = self._here.residuals[0]
        options, ramp = self._options, max(self._options.engage_time, 1e-9)
        for k, (target, seconds) in enumerate(zip(targets, closed_for, strict=True)):
            share = min(1.0, seconds / ramp)
            linear, angular = _weights(target)
            self._bounds[k, 0] = share * linear * options.max_linear_speed
            self._bounds[k, 1] = share * angular * options.max_angular_speed
        self._follow_motion(values, residual, row, dt)
        _kernels().objective(
            residual, self._here.jacobians[0], self._feed, self._spans, self._bounds, cfg, rest, options.posture_gain,
            limits[0], limits[1], min(options.gain, GAIN_PER_TICK / dt), options.damping, self._H, self._f,
            self._wanted,
        )  # fmt: skip
        return self._H, self._f, values

    def forget(self) -> None:
        """The next targets are not the same ones moved: what they do at first is no velocity."""
        self._values = None
        self._feed[:] = 0.0

    def _follow_motion(
        self, values: np.ndarray, residual: np.ndarray, row: Float[np.ndarray, "1 dof"], dt: float
    ) -> None:
        """Updates the rates of the residuals that the targets' own motion causes."""
        self._unchanged += dt
        packed, old = values.tobytes(), self._values
        if old is None or not self._options.feedforward:
            self._unchanged = self._interval = 0.0
        elif packed != self._packed:
            self.problem.linearise_into(old, row, self._before)
            _kernels().follow_motion(
                residual, self._before.residuals[0], self._unchanged, self._options.feedforward,
                self._options.smoothing, self._spans, self._bounds, self._feed,
            )  # fmt: skip
            self._interval, self._unchanged = self._unchanged, 0.0
        elif self._unchanged > LAPSE * self._interval:
            self._feed[:] = 0.0
        self._values, self._packed = values, packed


def _weights(target: Target) -> tuple[float, float]:
    if isinstance(target, JointTarget):
        return 0.0, target.weight
    return getattr(target, "position_weight", 0.0), getattr(target, "orientation_weight", 0.0)


@cache
def _kernels() -> Any:
    """The kernels; numba loads when they are first needed."""
    from . import _kernels_track

    return _kernels_track
