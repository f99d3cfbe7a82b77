"""Roughness: the measure of how much a path turns, for every kind of path alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._curve import Curve

STEPS = 64
"""Steps at which paths are compared."""
FINE = 8
"""Places of a curve's piece at which it is measured."""


def roughness(path: Any, steps: int = STEPS) -> float:
    """Sum of squared second differences of a path resampled at equally long steps (rad, m, Euclidean over all joints).

    This is the squared acceleration of a motion along the path at constant speed, up to a factor of its duration; a
    straight path has none.

    Args:
        path: (n, dof) configurations with straight lines between them, or a `Curve`.
        steps: how many; paths are compared at the same number.
    """
    from ._kernels_smooth import second_differences

    if isinstance(path, Curve):
        path = dense_rows(path)
    return float(second_differences(np.ascontiguousarray(path, dtype=np.float64), steps))


def dense_rows(curve: Curve) -> np.ndarray:
    """Configurations (n, dof) along a curve, some on every piece."""
    shares = np.arange(FINE) / FINE
    s = (curve.knots[:-1, None] + shares * np.diff(curve.knots)[:, None]).ravel()
    return curve.at(np.append(s, curve.end))
