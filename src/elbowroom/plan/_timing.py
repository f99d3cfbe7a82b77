"""Speeds along a curve: as fast as limits of velocity, acceleration and jerk allow, from rest to rest.

The curve stays what it is, so what is proved of it stays proved; only the time at which each place is passed is chosen.
Without jerk limits the answer is the time-optimal one of a grid, its limits proved between the grid points too:
`_kernels_timing`. With them it is smoothed in time: `_jerk`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from .._frozen import frozen
from ..errors import InputError
from ..robot.doors import per_joint
from ._curve import Curve
from ._motion import Limits, Motion

DENSITY = (5.0, 8.0, 60.0)
"""Of the grid: intervals of a piece, more where it turns by all its slope, and of a section between two stops. 45
pieces of 7 joints that swing widely are within 1.1 % of the fastest, a straight line within 0.1 %."""
ROUNDING = 1e-9
"""Relative: limits are aimed at from this far below."""


def time_curve(
    curve: Curve, velocity: Any, acceleration: Any, jerk: Any = None, *, joint_names: Sequence[str] = ()
) -> Motion:
    """The fastest motion along a curve within limits, at rest at both ends and at its stops.

    Also where the direction jumps at a knot that is no stop, and under jerk limits where the curvature does, the robot
    stops: there is no other way past it. Joints that never move do not count.

    Args:
        curve: from where to where; its parameter may run as it likes.
        velocity, acceleration: (dof,) or one number, above zero; rad/s or m/s, rad/s^2 or m/s^2. Infinity is no limit,
            of one of the two.
        jerk: the same, rad/s^3 or m/s^3; None limits no jerk.
        joint_names: of the robot, for export.

    Raises:
        InputError: limits of another shape, not above zero, or none for a joint that moves.
    """
    dof = curve.pieces.shape[2]
    fast = per_joint(velocity, dof, "velocity")
    quick = per_joint(acceleration, dof, "acceleration")
    smooth = None if jerk is None else per_joint(jerk, dof, "jerk")
    names = tuple(joint_names)
    if names and len(names) != dof:
        raise InputError(f"joint_names must be {dof} names, one for each joint, found {len(names)}")
    moving = np.flatnonzero((curve.pieces != curve.pieces[0, 0]).any(axis=(0, 1)))
    if not len(moving):
        return Motion.standing(curve, Limits(frozen(fast), frozen(quick), smooth), names)
    free = moving[np.isinf(fast[moving]) & np.isinf(quick[moving])]
    if len(free):
        named = repr(names[free[0]]) if names else str(int(free[0]))
        raise InputError(f"joint {named} moves: its velocity or its acceleration must have a finite limit")
    limits = Limits(frozen(fast), frozen(quick), None if smooth is None else frozen(smooth))
    ways = np.abs(np.diff(curve.pieces[:, :, moving], axis=1)).sum(axis=(0, 1))
    if smooth is not None and np.isfinite(smooth[moving]).any():
        from ._jerk import time_smoothly

        return time_smoothly(curve, limits, frozen(moving), ways, names, DENSITY)
    # What a joint can reach over all its way, from rest, bounds its speed where nothing else does.
    reached = np.minimum(fast[moving], np.sqrt(2.0 * quick[moving] * ways))
    grid, piece_of, times, rates, pushes, found = _fastest(
        curve, frozen(moving), reached * (1.0 - ROUNDING), quick[moving] * (1.0 - ROUNDING)
    )
    peaks = np.zeros((2, dof))
    peaks[:, moving] = found
    return Motion.of(
        curve, times, grid, rates, pushes, np.zeros(len(piece_of)), piece_of, limits,
        peaks, names,
    )  # fmt: skip


def _fastest(curve: Curve, moving: Any, velocity: Any, acceleration: Any) -> tuple[np.ndarray, ...]:
    """Parameters at the ends of intervals, pieces these are in, times, rates and pushes there, and peaks (2, m).

    Kernels are called one by one: one that called them all would be compiled with all of them in it once more.
    """
    kernels = _kernels()
    stops = np.empty(len(curve.knots), dtype=np.bool_)
    kernels.find_stops(curve.pieces, curve.knots, curve.stops, np.int64(1), stops)
    grid, at_rest, piece_of = kernels.make_grid(curve.pieces, curve.knots, stops, *DENSITY)
    n, m = len(piece_of), len(moving)
    slopes, near, far = np.empty((n, 2, m)), np.empty((n, 3 * m)), np.empty((n, 3 * m))
    kernels.fill_rows(curve.pieces, curve.knots, grid, piece_of, moving, slopes, near, far)
    squared, peaks = np.empty(n + 1), np.empty((2, m))
    kernels.fastest(
        grid, at_rest, slopes, near, far, velocity, acceleration, np.full(n + 1, np.inf), squared, peaks
    )
    times, rates, pushes = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    kernels.fill_times(grid, squared, times, rates, pushes)
    return grid, piece_of, times, rates, pushes, peaks


@cache
def _kernels() -> Any:
    """The kernels; numba loads when they are first needed."""
    from . import _kernels_timing

    return _kernels_timing
