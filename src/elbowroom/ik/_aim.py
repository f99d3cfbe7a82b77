"""Aim: targets of one kind and order made into the objective of a tick, with the targets' own velocity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..robot import Robot
from ._problem import Problem
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
        self.problem = Problem.of(robot, tuple((type(item), _name(item)) for item in targets), tuple(joints))
        self._options = options
        counts = np.array([ROWS[type(item)] for item in targets], dtype=np.int64).reshape(-1, 2)
        first = np.cumsum([0, *counts.sum(axis=1)])
        self._spans = frozen(np.column_stack([first[:-1], counts]))
        rows, dof = int(first[-1]), robot.dof
        self._H, self._f = np.empty((dof, dof)), np.empty(dof)
        self._wanted, self._feed = np.empty(rows), np.zeros(rows)
        self._bounds = np.empty((len(targets), 2))
        self._values: np.ndarray | None = None
        self._unchanged, self._interval = 0.0, 0.0  # seconds since the targets moved, and between their last moves

    def at(
        self,
        targets: Sequence[Target],
        closed_for: Sequence[float],
        cfg: Float[np.ndarray, "dof"],
        reference: Float[np.ndarray, "dof"],
        limits: tuple[Float[np.ndarray, "dof"], Float[np.ndarray, "dof"]],
        dt: float,
    ) -> tuple[Float[np.ndarray, "dof dof"], Float[np.ndarray, "dof"], Float[np.ndarray, "values"]]:
        """H and f of 1/2 v'Hv + f'v over joint velocities (valid until the next call), and the packed targets.

        Args:
            targets: of the kinds and links, in the order, of the constructor.
            closed_for: seconds since each was first followed; its speed bounds grow over `engage_time`.
            cfg: where the robot is.
            reference: joint velocities where the targets say nothing.
            limits: of joint velocities and accelerations.
            dt: seconds of this tick.
        """
        from ._kernels_track import objective

        values = self.problem.targets_row(targets)
        row = cfg[None]
        residual = self.problem.residuals(values, row)[0]
        self._follow_motion(values, residual, row, dt)
        options, ramp = self._options, max(self._options.engage_time, 1e-9)
        for k, (target, seconds) in enumerate(zip(targets, closed_for, strict=True)):
            share = min(1.0, seconds / ramp)
            linear, angular = _weights(target)
            self._bounds[k, 0] = share * linear * options.max_linear_speed
            self._bounds[k, 1] = share * angular * options.max_angular_speed
        objective(
            residual, self.problem.jacobians(values, row)[0], self._feed, self._spans, self._bounds, reference,
            limits[0], limits[1], min(options.gain, GAIN_PER_TICK / dt), options.damping, self._H, self._f, self._wanted,
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
        old = self._values
        if old is None or not self._options.feedforward:
            self._values, self._unchanged, self._interval = values, 0.0, 0.0
        elif not np.array_equal(values, old):
            rate = (residual - self.problem.residuals(old, row)[0]) * (
                self._options.feedforward / self._unchanged
            )
            blend = self._unchanged / (self._unchanged + self._options.smoothing)
            self._interval, self._unchanged, self._values = self._unchanged, 0.0, values
            self._feed += blend * (rate - self._feed)
            for k, (first, linear, angular) in enumerate(self._spans.tolist()):
                middle, last = first + linear, first + linear + angular
                for part, bound in ((slice(first, middle), 0), (slice(middle, last), 1)):
                    if float(np.dot(rate[part], rate[part])) > self._bounds[k, bound] ** 2:
                        self._feed[part] = 0.0  # a jump, not a motion
        elif self._unchanged > LAPSE * self._interval:
            self._feed[:] = 0.0


def _name(target: Target) -> str:
    return target.joint if isinstance(target, JointTarget) else target.link


def _weights(target: Target) -> tuple[float, float]:
    if isinstance(target, JointTarget):
        return 0.0, target.weight
    return getattr(target, "position_weight", 0.0), getattr(target, "orientation_weight", 0.0)
