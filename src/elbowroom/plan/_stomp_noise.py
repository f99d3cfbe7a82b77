"""First trajectories of `Stomp` between two configurations, and timesteps at equal distances."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from .. import _core


def first_path(
    kind: str, start: Float[np.ndarray, "m"], goal: Float[np.ndarray, "m"], timesteps: int
) -> Float[np.ndarray, "t m"]:
    """A trajectory between two configurations.

    Args:
        kind: "linear" at constant speed; "cubic" from rest to rest; "minimum-control": the least sum of squared
            accelerations from rest to rest, the discrete counterpart of the cubic.
        start: the first configuration.
        goal: the last.
        timesteps: of the trajectory.
    """
    along = np.linspace(0.0, 1.0, timesteps)
    if kind == "cubic":
        along = along * along * (3.0 - 2.0 * along)
    elif kind == "minimum-control":
        n = timesteps - 2
        differences = np.zeros(
            (timesteps, n)
        )  # second differences at all timesteps, at rest before and after
        rows = np.arange(n)
        differences[rows, rows] = differences[rows + 2, rows] = 1.0
        differences[rows + 1, rows] = -2.0
        fixed = np.zeros(timesteps)  # those that the goal alone causes
        fixed[-2], fixed[-1] = 1.0, -1.0
        along[1:-1] = np.linalg.lstsq(differences, -fixed, rcond=None)[0]
    path = start + along[:, None] * (goal - start)
    path[-1] = goal  # exactly
    return path


def resampled(path: Float[np.ndarray, "w m"], timesteps: int) -> Float[np.ndarray, "t m"]:
    """A path of straight segments at so many timesteps, equally far apart along it."""
    return _core.resampled(path, timesteps)
