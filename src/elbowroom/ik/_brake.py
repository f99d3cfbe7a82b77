"""How a robot stops: all joints slow down in proportion, so that the way to rest is a straight line in joint space.

A tick moves from cfg to cfg + v dt. From then on every tick slows the joints down as fast as the one that needs longest
can, in T = max |v| / a seconds at most whatever the length of the ticks, so the robot comes to rest before
cfg + v (dt + T / 2), on the ray of the tick. One proof of the segment from cfg to there covers the tick and the stop
after it, and ticks that come late or early change nothing. Without limits on acceleration T is zero and the segment is
the tick.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ._rows import as_row

NO_STOP = frozen(np.zeros(0))
"""What stands for a stop that is not known."""


def unlimited(dof: int) -> Float[np.ndarray, "dof"]:
    """Limits where there are none."""
    return frozen(np.full(dof, np.inf))


def rest(
    cfg: Float[np.ndarray, "dof"],
    velocity: Float[np.ndarray, "dof"],
    accelerations: Float[np.ndarray, "dof"] | None,
    dt: float,
) -> Float[np.ndarray, "dof"]:
    """What the robot does not pass after a tick of this velocity if it brakes from then on."""
    from ._kernels_brake import rest_after

    most, after, end = unlimited(len(cfg)), np.empty(len(cfg)), np.empty(len(cfg))
    limits = most if accelerations is None else as_row(accelerations)
    rest_after(as_row(cfg), as_row(velocity), limits, most, most, dt, after, end)
    return end


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
    from ._kernels_brake import brake_rates

    limits = unlimited(len(cfg)) if accelerations is None else as_row(accelerations)
    brake = np.empty(len(cfg))
    brake_rates(as_row(cfg), as_row(velocity), NO_STOP if stop is None else as_row(stop), limits, dt, brake)
    return brake
