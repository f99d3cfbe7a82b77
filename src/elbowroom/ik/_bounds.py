"""Bounds on the rates of the joints in one tick: speed, acceleration, and limits with the way to rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from .._frozen import frozen
from ..robot import Robot
from ._brake import NO_STOP, unlimited
from ._rows import as_row

HOLDS = 1e-9
"""Relative to a bound, and per second: what rounding may add to a rate."""
WORDS = ("speed of joint {}", "acceleration of joint {}", "limit of joint {}")


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower and upper bounds of the joints' rates, and why they are there."""

    rates: Float[np.ndarray, "2 dof"]
    """Lower, then upper."""
    why: Int[np.ndarray, "2 dof"]
    """Entries of `WORDS`."""
    joint_names: tuple[str, ...]

    def hold(self, velocity: Float[np.ndarray, "dof"]) -> bool:
        """Whether a velocity is within them, but for rounding."""
        slack = HOLDS * (1.0 + np.abs(velocity))
        return bool((velocity <= self.rates[1] + slack).all() and (velocity >= self.rates[0] - slack).all())

    def word(self, joint: int, above: bool) -> str:
        """What keeps a joint from being faster (`above`), or slower."""
        return WORDS[int(self.why[int(above), joint])].format(self.joint_names[joint])


class Start(NamedTuple):
    """What is known of a tick before it is chosen."""

    brake: Float[np.ndarray, "dof"]
    """The velocity of braking, always among the choices."""
    bounds: Bounds
    seconds: float
    """In which it can be over, the way to rest included."""


class Way(NamedTuple):
    """Where a tick leads, and the stop after it."""

    after: Float[np.ndarray, "dof"]
    """The end of the tick."""
    end: Float[np.ndarray, "dof"]
    """At rest: see `_brake.rest`."""
    within: bool
    """Whether no joint's limit is passed on the way: a joint beyond it may come back."""


class Limits:
    """Limits of the joints of a robot."""

    def __init__(
        self,
        robot: Robot,
        velocities: Float[np.ndarray, "dof"],
        accelerations: Float[np.ndarray, "dof"] | None,
    ) -> None:
        self.robot = robot
        self._limited = accelerations is not None
        self._accelerations = unlimited(robot.dof) if accelerations is None else as_row(accelerations)
        self._arrays = as_row(velocities), self._accelerations, as_row(robot.lower), as_row(robot.upper)

    def start(
        self,
        cfg: Float[np.ndarray, "dof"],
        velocity: Float[np.ndarray, "dof"],
        stop: Float[np.ndarray, "dof"] | None,
        dt: float,
    ) -> Start:
        """Braking and bounds of one tick.

        Args:
            cfg: where the tick begins, made by `as_row`; a joint beyond its limits may only come back.
            velocity: of the last tick, made by `as_row`.
            stop: where braking from it ends, if that is proved.
            dt: seconds.
        """
        dof = self.robot.dof
        brake, rates, why = np.empty(dof), np.empty((2, dof)), np.empty((2, dof), np.int64)
        seconds = _kernels().begin_tick(
            cfg, velocity, NO_STOP if stop is None else as_row(stop), self._limited, *self._arrays, dt, brake, rates,
            why,
        )  # fmt: skip
        return Start(frozen(brake), Bounds(rates, why, self.robot.joint_names), seconds)

    def bounds(self, cfg: Float[np.ndarray, "dof"], velocity: Float[np.ndarray, "dof"], dt: float) -> Bounds:
        """Bounds of one tick that leave out the way to rest; see `start`."""
        dof = self.robot.dof
        rates, why = np.empty((2, dof)), np.empty((2, dof), np.int64)
        _kernels().rate_limits(cfg, velocity, np.zeros(dof), False, *self._arrays, dt, dt, rates, why)
        return Bounds(rates, why, self.robot.joint_names)

    def way(self, cfg: Float[np.ndarray, "dof"], velocity: Float[np.ndarray, "dof"], dt: float) -> Way:
        """Where a tick of this velocity leads; both arrays read-only."""
        dof = self.robot.dof
        after, end = np.empty(dof), np.empty(dof)
        within = _kernels().rest_after(cfg, velocity, *self._arrays[1:], dt, after, end)
        return Way(frozen(after), frozen(end), within)


@cache
def _kernels() -> Any:
    """The kernels; numba loads when they are first needed."""
    from . import _kernels_brake

    return _kernels_brake
