"""Smoothing: from a path with corners to a curve without, proved free all the way.

A smoothing spline follows the path and is drawn closer to it wherever a piece cannot be proved free; the method is in
`smooth.hpp` of the core.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._frozen import frozen
from ..collision import CollisionModel
from ._curve import Curve
from ._group import Group
from ._prove import PieceEvidence

COMPARED = 64
"""Steps at which paths are compared."""


def smooth(model: CollisionModel, group: Group, path: Any) -> Curve:
    """A curve along a path, as smooth as can be proved free; never rougher than the path.

    Its direction and curvature are continuous except where it has stops. Joints stay within their limits, and those
    that the group does not move where they are.

    Args:
        model: the verdict.
        group: joints that move.
        path: (n, dof) waypoints whose straight lines are free, n >= 2.

    Returns:
        `Curve.polyline(path)` where nothing better can be proved.
    """
    return smoothed(model, group, path)[0]


def smoothed(model: CollisionModel, group: Group, path: Any) -> tuple[Curve, PieceEvidence | None]:
    """As `smooth`, with what was proved of its pieces meanwhile; None for a curve that is the unchanged path."""
    rows = np.ascontiguousarray(path, dtype=np.float64)
    limits = np.array([model.robot.lower, model.robot.upper], dtype=np.float64)
    scene = model.scene_within(rows)
    pieces, knots, stops, spares, clearances = _core.smooth_path(scene, rows, group.moves, limits)
    if not len(pieces):
        return Curve.polyline(rows), None
    evidence = PieceEvidence(group.moves, frozen(spares), frozen(clearances + model.buffer), len(spares))
    return Curve(pieces, knots, stops), evidence


def roughness(path: Any, steps: int = COMPARED) -> float:
    """Sum of squared second differences of a path resampled at equally long steps (rad, m, Euclidean over all joints).

    This is the squared acceleration of a motion along the path at constant speed, up to a factor of its duration; a
    straight path has none.

    Args:
        path: (n, dof) configurations with straight lines between them, or a `Curve`.
        steps: how many; paths are compared at the same number.
    """
    if isinstance(path, Curve):
        return _core.curve_roughness(path.pieces, steps)
    return _core.roughness(np.ascontiguousarray(path, dtype=np.float64), steps)
