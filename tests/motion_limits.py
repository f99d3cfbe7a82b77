"""Limits of speed, acceleration and jerk judged by differences of a motion's configurations."""

from __future__ import annotations

from typing import Any

import numpy as np


def beyond_limits(
    motion: Any, velocity: Any, acceleration: Any, jerk: Any = None, rate: float = 1000.0
) -> list[str]:
    """Limits (dof,) that differences of a motion's configurations at `rate` per second break; empty: none.

    A difference quotient is a mean of the derivative, so a motion that keeps its limits cannot break them here; what is
    allowed beyond is the rounding of the quotient.
    """
    count = int(np.floor(motion.duration * rate))
    rows = motion.at(np.append(np.arange(count + 1) / rate, motion.duration)[: count + 1])
    found = list[str]()
    for order, (word, limit) in enumerate(
        zip(("velocity", "acceleration", "jerk"), (velocity, acceleration, jerk), strict=True), start=1
    ):
        if limit is None:
            continue
        slope = np.abs(np.diff(rows, n=order, axis=0)) * rate**order
        rounding = 2.0**order * 1e-15 * np.maximum(1.0, np.abs(rows).max(axis=0)) * rate**order
        over = slope / (np.asarray(limit) + rounding)
        if len(over) and over.max() > 1.0 + 1e-9:
            row, joint = np.unravel_index(over.argmax(), over.shape)
            found.append(f"{word} of joint {joint}: {over.max():.6g} of its limit at {row / rate:.3f} s")
    ends = motion.at(np.array([0.0, motion.duration]), 1)
    if np.abs(ends).max() > 1e-6:
        found.append(f"not at rest at its ends: {np.abs(ends).max():.3g}")
    return found
