"""Guard: between any controller and the robot; what it lets through respects limits and touches nothing, proved.

A wanted step that is safe passes as it is. Another is replaced by the nearest one that is safe (`_safe_step`). What
cannot be proved is not done: the robot slows down and stops.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._frozen import frozen
from .._text import short
from ..collision import CollisionModel, as_model
from ..errors import InputError
from ..typing import RobotLike
from ._brake import braking
from ._filtered import FilteredMotion
from ._rows import RowSet, as_row
from ._safe_options import SafeOptions
from ._safe_step import SafeStep, Step

FOLLOWED = 0.02
"""rad or m: a robot within this of where it was sent moves as it was told; farther away it is taken to be at rest."""


@brief
@dataclass(frozen=True, eq=False)
class GuardStep:
    """What the guard made of a wanted step."""

    cfg: Float[np.ndarray, "dof"]
    """Where to go."""
    altered: bool
    """Whether that is not what was wanted."""
    limited_by: tuple[str, ...]
    """What is in the way: "speed of joint x", "limit of joint x", "acceleration of joint x", "a and b" (links, or a
    link and an obstacle); empty when nothing was altered."""
    clearance: float
    """Lower bound of the clearance where the step begins, metres; no more than 0.1 m is looked for."""
    proved: bool
    """Whether the straight line from the old configuration to the new one, and the stop after it, were proved free; of
    a start in contact, that it is not left for a deeper one."""
    velocity: Float[np.ndarray, "dof"]
    """Rates of the step."""
    seconds: float
    why: str
    """A sentence."""

    def __str__(self) -> str:
        return self.why


class Guard:
    """Lets safe steps of one robot pass and replaces the others; see the module.

    With limits on acceleration it remembers the last step, to brake from it: one guard for one robot.
    """

    def __init__(
        self,
        model: CollisionModel | RobotLike,
        *,
        velocity_limits: Any = None,
        acceleration_limits: Any = None,
        clearance: float = 0.0,
        hold_on_bad: bool = False,
    ) -> None:
        """Takes what shall be kept.

        Args:
            model: the robot among its obstacles.
            velocity_limits: (dof,) or one number, rad/s or m/s; those of the robot when omitted.
            acceleration_limits: (dof,) or one number, rad/s^2 or m/s^2. Omitted, the robot is taken to stop at once.
            clearance: metres that everything shall be apart; the buffer of the model counts where it is larger.
            hold_on_bad: whether a wanted configuration that is NaN, infinite or of the wrong shape stops the robot
                (`why` says so) instead of being refused with an error.
        """
        model = as_model(model)
        if isinstance(clearance, bool) or not 0.0 <= float(clearance) < math.inf:
            raise InputError(f"clearance must be metres from 0 up, found {clearance!r:.40}")
        self.model, self.hold_on_bad = model, hold_on_bad
        self._safe = SafeStep(
            model, velocity_limits, acceleration_limits, SafeOptions(clearance=float(clearance))
        )
        self._last: Step | None = None
        self._one = np.eye(model.robot.dof)

    @property
    def velocity_limits(self) -> Float[np.ndarray, "dof"]:
        """rad/s or m/s, infinite where there are none."""
        return self._safe.velocities

    @property
    def acceleration_limits(self) -> Float[np.ndarray, "dof"] | None:
        """rad/s^2 or m/s^2; None without."""
        return self._safe.accelerations

    def reset(self) -> None:
        """Forgets the last step: the robot is at rest."""
        self._last = None

    def step(self, cfg: Any, wanted_cfg: Any, dt: float) -> GuardStep:
        """The step nearest to the wanted one that is safe.

        Args:
            cfg: (dof,) where the robot is. Not free, it may only leave contact; beyond joint limits, only come back.
            wanted_cfg: (dof,) where the controller wants it after `dt`; all joints move together on a straight line.
            dt: seconds.

        Raises:
            InputError: wrong shapes, NaN, infinite values, or `dt` not above zero.
        """
        start = time.perf_counter()
        now = self.model.robot.as_cfg(cfg)
        if isinstance(dt, bool) or not (
            isinstance(dt, (int, float, np.number)) and 0.0 < float(dt) < math.inf
        ):
            raise InputError(f"dt must be seconds above zero, found {short(dt)}")
        dt = float(dt)
        bad = ""
        try:
            wanted = self.model.robot.as_cfg(wanted_cfg)
        except InputError as error:
            if not self.hold_on_bad:
                raise InputError(f"wanted configuration refused: {error}") from error
            wanted, bad = now, str(error)
        velocity, stop, at = self._state(now, dt)
        rate = (wanted - now) / dt
        end = None if bad else self._safe.try_exactly(now, velocity, rate, dt, at)
        if end is not None:
            made = Step(
                cfg=frozen(wanted.copy()), velocity=frozen(rate), stop=frozen(end), proved=True, limited_by=(),
                clearance=at.clearance + self._safe.rows.buffer, braked=False, seconds=time.perf_counter() - start,
            )  # fmt: skip
        else:
            made = self._safe.choose(now, velocity, self._one, -rate, dt, stop, at)
        self._last = made
        return self._said(made, end is None, bad, time.perf_counter() - start)

    def filter(self, trajectory: Any, dt: float | None = None, *, times: Any = None) -> FilteredMotion:
        """Lets a whole recording pass, step by step, from rest at its first configuration.

        Args:
            trajectory: (n, dof) configurations, the wanted ones.
            dt: seconds between them.
            times: (n,) seconds instead, increasing.

        Raises:
            InputError: wrong shapes, NaN, or neither or both of `dt` and `times`.
        """
        wanted = self.model.robot.as_cfgs(trajectory)
        spans = _spans(len(wanted), dt, times)
        kept, self._last = self._last, None
        try:
            cfg, steps = wanted[0], list[GuardStep]()
            for row, span in zip(wanted[1:], spans.tolist(), strict=True):
                steps.append(self.step(cfg, row, span))
                cfg = steps[-1].cfg
        finally:
            self._last = kept
        return FilteredMotion.of(self.model.robot.name, wanted, spans, steps)

    def _state(
        self, cfg: Float[np.ndarray, "dof"], dt: float
    ) -> tuple[Float[np.ndarray, "dof"], Float[np.ndarray, "dof"] | None, RowSet]:
        """Velocity of the last step, where braking from it ends if that is proved, and the rows here."""
        at = self._safe.rows.at(cfg, self._safe.options.reach)
        last, still = self._last, np.zeros(len(cfg))
        if self._safe.accelerations is None or last is None:
            return still, None, at
        if bool((cfg == last.cfg).all()):
            return last.velocity, last.stop, at
        if float(np.abs(cfg - last.cfg).max()) > FOLLOWED:
            return still, None, at
        # Measured beside the command: braking as it was told keeps speeds and accelerations. Only where that would pass
        # a joint's limit or is not proved from here, it goes to where the last stop ends, by noise maybe faster.
        if last.stop is None:
            return last.velocity, None, at
        slower = braking(cfg, last.velocity, None, self._safe.accelerations, dt)
        way = self._safe.limits.way(as_row(cfg), frozen(slower), dt)
        blocked = self._safe.proof.blocked
        fits = way.within and blocked(cfg, way.end, at) is None
        if fits or blocked(cfg, last.stop, at) is not None:
            return last.velocity, None, at
        return last.velocity, last.stop, at

    def _said(self, made: Step, altered: bool, bad: str, seconds: float) -> GuardStep:
        held = made.limited_by
        if bad:
            why = f"held: the wanted configuration is refused ({bad})"
        elif not altered:
            why = "as wanted"
        elif not made.proved:
            why = f"braking, not proved free: {', '.join(held) or 'nothing known'}"
        elif made.braked:
            why = f"stopping: {', '.join(held) or 'no step could be proved'}"
        else:
            why = f"altered: {', '.join(held) or 'not proved as wanted'}"
        return GuardStep(made.cfg, altered, held, made.clearance, made.proved, made.velocity, seconds, why)

    def __repr__(self) -> str:
        slow = "" if self._safe.accelerations is None else ", acceleration limits"
        return f"Guard({self.model.robot.name!r}: clearance {1000.0 * self._safe.rows.buffer:g} mm{slow})"


def _spans(n: int, dt: float | None, times: Any) -> Float[np.ndarray, "steps"]:
    """Seconds of every step of a trajectory of n configurations."""
    if n < 1:
        raise InputError("trajectory: expected at least one configuration, found none")
    if (dt is None) == (times is None):
        raise InputError("filter needs either dt or times")
    if dt is not None:
        return np.full(n - 1, float(dt))
    found = np.asarray(times, dtype=np.float64)
    if found.shape != (n,) or not np.isfinite(found).all() or not (np.diff(found) > 0.0).all():
        raise InputError(f"times must be ({n},) finite and increasing, found {short(times)}")
    return np.diff(found)
