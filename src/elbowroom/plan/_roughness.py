"""Roughness: the measure of how much a path turns, for every kind of path alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ._curve import Curve

STEPS = 64
"""Steps at which paths are compared."""


def roughness(path: Any, steps: int = STEPS) -> float:
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
