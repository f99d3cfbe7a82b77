"""Bounds on the rates of the joints in one tick: speed, acceleration, and limits with the way to rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ._brake import seconds_to_rest

HOLDS = 1e-9
"""Relative to a bound, and per second: what rounding may add to a rate."""
SPEED, ACCELERATION, LIMIT = range(3)
WORDS = ("speed of {}", "acceleration of {}", "limit of {}")


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower and upper bounds of the joints' rates, and why they are there."""

    lower: Float[np.ndarray, "dof"]
    upper: Float[np.ndarray, "dof"]
    why_lower: Int[np.ndarray, "dof"]
    why_upper: Int[np.ndarray, "dof"]
    joint_names: tuple[str, ...]

    def hold(self, velocity: Float[np.ndarray, "dof"]) -> bool:
        """Whether a velocity is within them, but for rounding."""
        slack = HOLDS * (1.0 + np.abs(velocity))
        return bool((velocity <= self.upper + slack).all() and (velocity >= self.lower - slack).all())

    def word(self, joint: int, above: bool) -> str:
        """What keeps a joint from being faster (`above`), or slower."""
        why = self.why_upper if above else self.why_lower
        return WORDS[int(why[joint])].format(f"joint {self.joint_names[joint]}")

    def least_of(self, A: Float[np.ndarray, "m dof"]) -> Float[np.ndarray, "m"]:
        """The least that each row can be within the bounds, minus infinity where they are infinite."""
        return np.minimum(A, 0.0) @ np.minimum(self.upper, 1e9) + np.maximum(A, 0.0) @ np.maximum(
            self.lower, -1e9
        )


def rate_bounds(
    safe: Any,
    cfg: Float[np.ndarray, "dof"],
    velocity: Float[np.ndarray, "dof"],
    brake: Float[np.ndarray, "dof"] | None,
    dt: float,
) -> Bounds:
    """Bounds for one tick.

    Args:
        safe: the `SafeStep` whose limits hold.
        cfg: where the tick begins; a joint beyond its limits may only come back.
        velocity: of the last tick.
        brake: a velocity that the bounds must not exclude; None leaves out the way to rest, which is then checked on
            its own.
        dt: seconds.
    """
    robot, accelerations = safe.model.robot, safe.accelerations
    upper, lower = safe.velocities.copy(), -safe.velocities
    why_upper, why_lower = np.full(robot.dof, SPEED), np.full(robot.dof, SPEED)
    if accelerations is not None:
        fastest, slowest = velocity + accelerations * dt, velocity - accelerations * dt
        why_upper[fastest < upper], why_lower[slowest > lower] = ACCELERATION, ACCELERATION
        upper, lower = np.minimum(upper, fastest), np.maximum(lower, slowest)
    # The tick may speed up, which adds one to the way to rest.
    more = 0.0 if brake is None or accelerations is None else dt + seconds_to_rest(velocity, accelerations)
    way = dt + 0.5 * more
    above, below = np.maximum(robot.upper - cfg, 0.0) / way, np.minimum(robot.lower - cfg, 0.0) / way
    why_upper[above < upper], why_lower[below > lower] = LIMIT, LIMIT
    upper, lower = np.minimum(upper, above), np.maximum(lower, below)
    if brake is not None:
        upper, lower = np.maximum(upper, brake), np.minimum(lower, brake)
    return Bounds(lower, upper, why_lower, why_upper, robot.joint_names)
