"""Numba kernels of the constraints of one tick: bounds on rates, and the rows that can matter within them."""

# pyright: basic
from __future__ import annotations

from .._jit import njit

SPEED, ACCELERATION, LIMIT = range(3)
"""Why a bound is there."""
UNBOUNDED = 1e30
"""What the solver takes for infinity."""


@njit(cache=True, nogil=True, error_model="numpy")
def rate_limits(cfg, velocity, brake, relax, speeds, accelerations, lowest, highest, dt, way, bounds, why):
    """Bounds of the joints' rates in one tick.

    Args:
        cfg: (dof,) where the tick begins; a joint beyond its limits may only come back.
        velocity: (dof,) of the last tick.
        brake: (dof,) a velocity that the bounds must not exclude, if `relax`.
        speeds: (dof,) limits, maybe infinite.
        accelerations: (dof,) limits, maybe infinite.
        lowest: (dof,) limits of the joints.
        highest: (dof,) limits of the joints.
        way: seconds at the rate of the tick that lead to rest, the tick included.
        bounds: (2, dof) receives lower and upper bounds.
        why: (2, dof) receives why they are there.
    """
    for j in range(len(cfg)):
        low, high = -speeds[j], speeds[j]
        why[0, j], why[1, j] = SPEED, SPEED
        room = velocity[j] + accelerations[j] * dt
        if room < high:
            high, why[1, j] = room, ACCELERATION
        room = velocity[j] - accelerations[j] * dt
        if room > low:
            low, why[0, j] = room, ACCELERATION
        room = max(highest[j] - cfg[j], 0.0) / way
        if room < high:
            high, why[1, j] = room, LIMIT
        room = min(lowest[j] - cfg[j], 0.0) / way
        if room > low:
            low, why[0, j] = room, LIMIT
        if relax:
            low, high = min(low, brake[j]), max(high, brake[j])
        bounds[0, j], bounds[1, j] = max(low, -UNBOUNDED), min(high, UNBOUNDED)


@njit(cache=True, nogil=True, error_model="numpy")
def room_of(distance, skin, part):
    """What of a distance may be used up: all but the skin; below zero what is asked for."""
    return max(distance - skin, 0.0) + min(distance - part, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def rows_that_matter(rows, distances, bounds, brake, horizon, skin, part, kept, least, braking, numbers):
    """Copies the rows that can fall below their least value within the bounds; returns how many.

    Args:
        rows: (m, dof).
        distances: (m,).
        bounds: (2, dof) of the rates.
        brake: (dof,) the velocity of braking.
        horizon: seconds in which no more than the room of a distance may be used up.
        skin: metres; see `SafeOptions`, as for `part`.
        kept: (m, dof) receives the rows.
        least: (m,) receives what each must at least be.
        braking: (m,) receives what braking makes of each.
        numbers: (m,) receives which they are.
    """
    n = 0
    for k in range(len(rows)):
        slowest, stopping = 0.0, 0.0
        for j in range(rows.shape[1]):
            value = rows[k, j]
            slowest += value * (bounds[0, j] if value > 0.0 else bounds[1, j])
            stopping += value * brake[j]
        limit = -room_of(distances[k], skin, part) / horizon
        if slowest < limit:
            kept[n] = rows[k]
            least[n], braking[n], numbers[n] = limit, stopping, k
            n += 1
    return n
