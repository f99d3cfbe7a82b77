"""Bounds on the rates of the joints in one tick: speed, acceleration, and limits with the way to rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ..robot import Robot
from ._brake import seconds_to_rest

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


class Limits:
    """Limits of the joints of a robot."""

    def __init__(
        self,
        robot: Robot,
        velocities: Float[np.ndarray, "dof"],
        accelerations: Float[np.ndarray, "dof"] | None,
    ) -> None:
        self.robot, self.velocities, self.accelerations = robot, velocities, accelerations
        unlimited = np.full(robot.dof, np.inf)
        unlimited.setflags(write=False)
        self._arrays = velocities, unlimited if accelerations is None else accelerations
        self._ends = robot.lower, robot.upper

    def bounds(
        self,
        cfg: Float[np.ndarray, "dof"],
        velocity: Float[np.ndarray, "dof"],
        brake: Float[np.ndarray, "dof"] | None,
        dt: float,
    ) -> Bounds:
        """Bounds for one tick.

        Args:
            cfg: where the tick begins; a joint beyond its limits may only come back.
            velocity: of the last tick.
            brake: a velocity that the bounds must not exclude; None leaves out the way to rest, which is then checked
                on its own.
            dt: seconds.
        """
        from ._kernels_programme import rate_limits

        dof, way = self.robot.dof, dt
        if (
            self.accelerations is not None and brake is not None
        ):  # the tick may speed up, and takes longer to stop
            way += 0.5 * (dt + seconds_to_rest(velocity, self.accelerations))
        rates, why = np.empty((2, dof)), np.empty((2, dof), np.int64)
        rate_limits(
            _plain(cfg), _plain(velocity), _plain(velocity if brake is None else brake), brake is not None,
            *self._arrays, *self._ends, dt, way, rates, why,
        )  # fmt: skip
        return Bounds(rates, why, self.robot.joint_names)


def _plain(values: Float[np.ndarray, "dof"]) -> Float[np.ndarray, "dof"]:
    """The same numbers as the kernels know them: contiguous and writable."""
    return np.array(values, dtype=np.float64)
