"""Numba kernels of the constraints of one tick: the rows that can matter within the bounds on rates."""

# pyright: basic
from __future__ import annotations

from .._jit import njit

UNBOUNDED = 1e30
"""What the solver takes for infinity."""
ACTIVE = 1e-9
"""Multipliers above this are of constraints that hold the answer back."""


@njit(cache=True, nogil=True, error_model="numpy")
def room_of(distance, skin, part):
    """What of a distance may be used up: all but the skin; below zero what is asked for, where it is below `part`."""
    return max(distance - skin, 0.0) + min(distance - part, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def rows_that_matter(rows, distances, bounds, brake, horizon, skin, part, kept, limits, braking, numbers):
    """Copies the rows that can fall below their least value within the bounds; returns how many.

    Args:
        rows: (m, dof).
        distances: (m,).
        bounds: (2, dof) of the rates.
        brake: (dof,) the velocity of braking.
        horizon: seconds in which no more than the room of a distance may be used up.
        skin: metres at which an approach ends.
        part: metres below which things are asked to part.
        kept: (m, dof) receives the rows.
        limits: (2, dof + m) receives the bounds, then what each row must at least and may at most be.
        braking: (m,) receives what braking makes of each.
        numbers: (m,) receives which they are.
    """
    n, dof = 0, rows.shape[1]
    for j in range(dof):
        limits[0, j], limits[1, j] = bounds[0, j], bounds[1, j]
    for k in range(len(rows)):
        slowest, stopping = 0.0, 0.0
        for j in range(dof):
            value = rows[k, j]
            slowest += value * (bounds[0, j] if value > 0.0 else bounds[1, j])
            stopping += value * brake[j]
        limit = -room_of(distances[k], skin, part) / horizon
        if slowest < limit:
            kept[n] = rows[k]
            limits[0, dof + n], limits[1, dof + n] = limit, UNBOUNDED
            braking[n], numbers[n] = stopping, k
            n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def settle(found, multipliers, limits, velocity, active):
    """Fills velocity (dof,) with what the solver found, put within its bounds, where rounding left them.

    Fills active with the constraints that hold it back: of constraint k, 2 k + 1 for the upper limit, 2 k for the
    lower one. Returns how many, or -1 where what was found is not finite.
    """
    n = 0
    for j in range(len(velocity)):
        velocity[j] = min(max(found[j], limits[0, j]), limits[1, j])
        if not abs(found[j]) < UNBOUNDED:
            return -1
    for k in range(len(multipliers)):
        if abs(multipliers[k]) > ACTIVE:
            active[n] = 2 * k + (1 if multipliers[k] > 0.0 else 0)
            n += 1
    return n
