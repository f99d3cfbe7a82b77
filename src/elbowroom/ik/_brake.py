"""How a robot stops: all joints slow down in proportion, so that the way to rest is a straight line in joint space.

A tick moves from cfg to cfg + v dt. From then on the velocity shrinks by v / n a tick, n being the fewest ticks such
that no joint exceeds its acceleration; the robot comes to rest at cfg + v dt (n + 1) / 2, on the ray of the tick. One
proof of the segment from cfg to there covers the tick and the stop after it. Without limits on acceleration n is 1 and
the segment is the tick.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

ROUNDING = 1e-9
"""Of a tick: a velocity that rounding puts just above n ticks of braking takes n."""


def ticks_to_rest(
    velocity: Float[np.ndarray, "dof"], accelerations: Float[np.ndarray, "dof"] | None, dt: float
) -> int:
    """The fewest ticks in which the joints come to rest in proportion, the last one at rest; at least 1."""
    if accelerations is None:
        return 1
    return max(1, math.ceil(float((np.abs(velocity) / accelerations).max(initial=0.0)) / dt - ROUNDING))


def rest(
    cfg: Float[np.ndarray, "dof"],
    velocity: Float[np.ndarray, "dof"],
    accelerations: Float[np.ndarray, "dof"] | None,
    dt: float,
) -> Float[np.ndarray, "dof"]:
    """Where the robot stands after a tick of this velocity and the braking that may follow it."""
    return cfg + velocity * (0.5 * dt * (ticks_to_rest(velocity, accelerations, dt) + 1))


def braking(
    cfg: Float[np.ndarray, "dof"],
    velocity: Float[np.ndarray, "dof"],
    stop: Float[np.ndarray, "dof"] | None,
    accelerations: Float[np.ndarray, "dof"] | None,
    dt: float,
) -> Float[np.ndarray, "dof"]:
    """The velocity of a tick of braking.

    Args:
        cfg: where the robot is.
        velocity: of the last tick.
        stop: where it comes to rest if it brakes, if that is known; it is not passed.
        accelerations: limits, or None.
        dt: seconds of the tick.
    """
    n = ticks_to_rest(velocity, accelerations, dt)
    slower = velocity * (1.0 - 1.0 / n)
    if stop is None:
        return slower
    way, fast = stop - cfg, float(np.abs(velocity).max(initial=0.0))
    length = float(np.abs(way).max(initial=0.0))
    if length == 0.0 or fast == 0.0:
        return np.zeros_like(velocity)
    # Along the way that was proved, however the last velocity was rounded; and no farther than it.
    speed = min(float(np.abs(slower).max()), 2.0 * length / (dt * n))
    return way * (speed / length)
