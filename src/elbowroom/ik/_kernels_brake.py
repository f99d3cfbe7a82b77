"""Numba kernels of how a robot stops, and of the bounds that leaves on the rates of one tick; see `_brake`."""

# pyright: basic
from __future__ import annotations

import math

from .._jit import njit

SPEED, ACCELERATION, LIMIT = range(3)
"""Why a bound is there."""
UNBOUNDED = 1e30
"""What the solver takes for infinity."""
ROUNDING = 1e-9
"""Of a tick: a velocity that rounding puts just above n ticks of braking takes n."""


@njit(cache=True, nogil=True, error_model="numpy")
def seconds_to_rest(velocity, accelerations):
    """What the slowest joint to stop needs; accelerations (dof,) may be infinite."""
    longest = 0.0
    for j in range(len(velocity)):
        longest = max(longest, abs(velocity[j]) / accelerations[j])
    return longest


@njit(cache=True, nogil=True, error_model="numpy")
def rest_after(cfg, velocity, accelerations, lowest, highest, dt, after, end):
    """Fills after (dof,), where a tick of this velocity leads, and end (dof,), what braking from then on does not pass.

    Returns whether the way there leaves no joint's limits: one that is beyond them may come back.
    """
    way = dt + 0.5 * seconds_to_rest(velocity, accelerations)
    within = True
    for j in range(len(cfg)):
        after[j] = cfg[j] + velocity[j] * dt
        end[j] = cfg[j] + velocity[j] * way
        if end[j] > max(highest[j], cfg[j]) or end[j] < min(lowest[j], cfg[j]):
            within = False
    return within


@njit(cache=True, nogil=True, error_model="numpy")
def brake_rates(cfg, velocity, stop, accelerations, dt, brake):
    """Fills brake (dof,), the velocity of a tick of braking; stop is (0,) where it is not known. See `braking`."""
    dof = len(cfg)
    needed = seconds_to_rest(velocity, accelerations)
    share = 1.0 - dt / needed if needed > dt else 0.0
    fast = 0.0
    for j in range(dof):
        brake[j] = velocity[j] * share
        fast = max(fast, abs(brake[j]))
    if len(stop) == 0:
        return
    length = 0.0
    for j in range(dof):
        length = max(length, abs(stop[j] - cfg[j]))
    # Along the way that was proved, however the last velocity was rounded; and no farther than it.
    share = min(fast, length / dt) / length if length > 0.0 else 0.0
    for j in range(dof):
        brake[j] = (stop[j] - cfg[j]) * share


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
def begin_tick(
    cfg, velocity, stop, limited, speeds, accelerations, lowest, highest, dt, brake, bounds, why
):  # fmt: skip
    """Fills brake (dof,), bounds (2, dof) and why (2, dof) of a tick; returns in how many seconds it can be over.

    `limited` tells whether accelerations are; see `brake_rates` and `rate_limits` for the others.
    """
    brake_rates(cfg, velocity, stop, accelerations, dt, brake)
    needed = seconds_to_rest(velocity, accelerations)
    way, ticks = dt, max(1.0, math.ceil(needed / dt - ROUNDING))
    if limited:  # the tick may speed up, and takes longer to stop
        way += 0.5 * (dt + needed)
        ticks += 1.0
    rate_limits(cfg, velocity, brake, True, speeds, accelerations, lowest, highest, dt, way, bounds, why)
    return 0.5 * dt * (ticks + 1.0)
