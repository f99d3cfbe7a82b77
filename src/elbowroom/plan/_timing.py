"""Speeds along a curve: as fast as limits of velocity, acceleration and jerk allow, from rest to rest.

The curve stays what it is, so what is proved of it stays proved; only the time at which each place is passed is chosen.
Without jerk limits the answer is the time-optimal one of a grid, its limits proved between the grid points too. With
them it is averaged over a window of time, and limits are checked in many places; the method is in `timing.hpp` of the
core.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from .._frozen import frozen
from ..errors import InputError
from ..robot.internal import per_joint
from ._curve import Curve
from ._motion import Limits, Motion


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
    rows = [per_joint(velocity, dof, "velocity"), per_joint(acceleration, dof, "acceleration")]
    if jerk is not None:
        rows.append(per_joint(jerk, dof, "jerk"))
    names = tuple(joint_names)
    if names and len(names) != dof:
        raise InputError(f"joint_names must be {dof} names, one for each joint, found {len(names)}")
    all_limits = frozen(np.array(rows))
    try:
        timed = _core.time_curve(curve.pieces, curve.knots, curve.stops, all_limits)
    except ValueError as error:  # numbers that float64 cannot compute with
        raise InputError(str(error)) from error
    limits = Limits(all_limits[0], all_limits[1], None if jerk is None else all_limits[2])
    return motion_of(curve, limits, timed, names)


def motion_of(curve: Curve, limits: Limits, timed: tuple[Any, ...], names: tuple[str, ...]) -> Motion:
    """A motion of what the core answers: see `_core.time_curve`.

    Raises:
        InputError: there is none for a joint that moves without a limit, or for numbers that cannot be computed with.
    """
    unlimited, found, pieces, peaks = timed
    if unlimited >= 0:
        named = repr(names[unlimited]) if names else str(unlimited)
        raise InputError(f"joint {named} moves: its velocity or its acceleration must have a finite limit")
    if found is None:
        raise InputError("limits: too large or too small for this curve to be timed")
    return Motion.of(curve, found, pieces, limits, peaks, names)
