"""Speeds along a curve: as fast as limits of velocity, acceleration and jerk allow, from rest to rest.

The curve stays what it is, so what is proved of it stays proved; only the time at which each place is passed is chosen.
Without jerk limits the answer is the time-optimal one of a grid, its limits proved between the grid points too. With
them it is averaged over a window of time, and limits are looked at in many places; the method is in `timing.hpp` of the
core.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from .._frozen import frozen
from ..errors import InputError
from ..robot.doors import per_joint
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
        unlimited, found, pieces, peaks = _core.time_curve(curve.pieces, curve.knots, curve.stops, all_limits)
    except ValueError as error:  # numbers that float64 cannot compute with
        raise InputError(str(error)) from error
    if unlimited >= 0:
        named = repr(names[unlimited]) if names else str(unlimited)
        raise InputError(f"joint {named} moves: its velocity or its acceleration must have a finite limit")
    limits = Limits(all_limits[0], all_limits[1], None if jerk is None else all_limits[2])
    times, places, rates, pushes, jerks = found
    return Motion.of(curve, times, places, rates, pushes, jerks[:-1], pieces, limits, peaks, names)
