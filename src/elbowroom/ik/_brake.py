"""How a robot stops: all joints slow down in proportion, so that the way to rest is a straight line in joint space.

A tick moves from cfg to cfg + v dt. From then on every tick slows the joints down as fast as the one that needs longest
can, in T = max |v| / a seconds at most whatever the length of the ticks, so the robot comes to rest before
cfg + v (dt + T / 2), on the ray of the tick. One proof of the segment from cfg to there covers the tick and the stop
after it, and ticks that come late or early change nothing. Without limits on acceleration T is zero and the segment is
the tick.
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


def seconds_to_rest(
    velocity: Float[np.ndarray, "dof"], accelerations: Float[np.ndarray, "dof"] | None
) -> float:
    """What the slowest joint to stop needs."""
    return 0.0 if accelerations is None else float((np.abs(velocity) / accelerations).max(initial=0.0))


def rest(
    cfg: Float[np.ndarray, "dof"],
    velocity: Float[np.ndarray, "dof"],
    accelerations: Float[np.ndarray, "dof"] | None,
    dt: float,
) -> Float[np.ndarray, "dof"]:
    """What the robot does not pass after a tick of this velocity if it brakes from then on."""
    return cfg + velocity * (dt + 0.5 * seconds_to_rest(velocity, accelerations))


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
        stop: `rest` of the last tick, if that is known; it is not passed.
        accelerations: limits, or None.
        dt: seconds of the tick.
    """
    needed = seconds_to_rest(velocity, accelerations)
    slower = velocity * (1.0 - dt / needed) if needed > dt else np.zeros_like(velocity)
    if stop is None:
        return slower
    way, fast = stop - cfg, float(np.abs(slower).max(initial=0.0))
    length = float(np.abs(way).max(initial=0.0))
    if length == 0.0 or fast == 0.0:
        return np.zeros_like(velocity)
    # Along the way that was proved, however the last velocity was rounded; and no farther than it.
    return way * (min(fast, length / dt) / length)
