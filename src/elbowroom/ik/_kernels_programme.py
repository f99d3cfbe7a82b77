"""Numba kernels of the constraints of one tick: the rows that can matter within the bounds on rates."""

# pyright: basic
from __future__ import annotations

from .._jit import njit


@njit(cache=True, nogil=True, error_model="numpy")
def room_of(distance, skin, part):
    """What of a distance may be used up: all but the skin; below zero what is asked for, where it is below `part`."""
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
        skin: metres at which an approach ends.
        part: metres below which things are asked to part.
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
