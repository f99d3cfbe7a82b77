"""Speeds along a curve within limits of jerk as well: the time-optimal ones, averaged over a window of time.

Every section between two stops is timed by itself. Averaging adds the window to its duration and rounds off what
jumped, so joints may exceed a limit where the path bends; there the speeds are lowered and averaged again, a few times,
and what is left is stretched in time. Several windows are tried, the shortest motion is kept. Limits are looked at five
times on every interval, which is no proof; `MARGIN` is for what lies between.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from .._frozen import frozen
from ._curve import Curve
from ._motion import Limits, Motion

WINDOWS = frozen(np.array([0.25, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0]))
"""Times what it takes to build up the accelerations that occur."""
ROUNDS = 6
"""In which speeds are lowered where limits are exceeded."""
MARGIN = 1e-3
"""Of the limits: what is not used."""
SHORTEST = 1e-4
"""Seconds of a window, at least."""


def time_smoothly(
    curve: Curve,
    limits: Limits,
    moving: Int[np.ndarray, "m"],
    ways: Float[np.ndarray, "m"],
    joint_names: tuple[str, ...],
    density: tuple[float, float, float],
) -> Motion:
    """A motion within all three limits.

    Args:
        moving: entries of joints that move, with `ways`, how far each goes in all.
        density: of the grid, as in `time_curve`.
    """
    from . import _kernels_jerk, _kernels_timing

    assert limits.jerk is not None
    velocity, acceleration, jerk = (
        limit[moving] * (1.0 - MARGIN) for limit in (limits.velocity, limits.acceleration, limits.jerk)
    )
    # More than this a joint cannot reach: speed over its way, acceleration while it keeps its speed.
    velocity = np.minimum(velocity, np.sqrt(2.0 * acceleration * ways))
    acceleration = np.minimum(acceleration, np.sqrt(2.0 * jerk * velocity))
    stops = np.empty(len(curve.knots), dtype=np.bool_)
    _kernels_timing.find_stops(curve.pieces, curve.knots, curve.stops, np.int64(2), stops)
    ends = np.flatnonzero(stops)
    parts: list[np.ndarray] = []
    peaks, begun = np.zeros((3, len(moving))), 0.0
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        pieces, knots = curve.pieces[first:last], curve.knots[first : last + 1]
        grid, at_rest, piece_of = _kernels_timing.make_grid(pieces, knots, stops[first : last + 1], *density)
        n, m = len(piece_of), len(moving)
        slopes, near, far = np.empty((n, 2, m)), np.empty((n, 3 * m)), np.empty((n, 3 * m))
        _kernels_timing.fill_rows(pieces, knots, grid, piece_of, moving, slopes, near, far)
        rows, found = _kernels_jerk.time_section(
            pieces, knots, grid, at_rest, slopes, near, far, moving, velocity, acceleration, jerk, WINDOWS,
            SHORTEST, np.int64(ROUNDS),
        )  # fmt: skip
        rows[0] += begun
        begun = float(rows[0, -1])
        parts.append(rows if last == ends[-1] else rows[:, :-1])
        peaks = np.maximum(peaks, found)
    times, places, rates, pushes, jerks = (np.ascontiguousarray(row) for row in np.concatenate(parts, axis=1))
    middles = 0.5 * (places[:-1] + places[1:])
    piece_of = np.clip(np.searchsorted(curve.knots, middles, side="right") - 1, 0, len(curve.pieces) - 1)
    all_peaks = np.zeros((3, curve.pieces.shape[2]))
    all_peaks[:, moving] = peaks
    return Motion.of(
        curve, times, places, rates, pushes, jerks[:-1].copy(), piece_of, limits, all_peaks, joint_names
    )
