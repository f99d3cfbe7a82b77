"""Balls around balls: bounding volumes of links and of groups of their spheres."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from .. import _core


def enclosing_ball(balls: Float[np.ndarray, "n 4"]) -> Float[np.ndarray, "4"]:
    """A ball (x, y, z, radius) that holds all given balls; near the smallest (Badoiu and Clarkson's iteration)."""
    return _core.enclosing_ball(balls)


def split_balls(balls: Float[np.ndarray, "n 4"]) -> list[Int[np.ndarray, "members"]]:
    """Up to four groups of neighbouring balls, as index arrays: the widest group is halved until there are enough."""
    return [np.array(group, dtype=np.int64) for group in _core.group_balls(balls)]
