"""Smoothness of a trajectory: the acceleration matrix, the noise that it asks for, and first trajectories.

The matrix of finite differences A gives the accelerations of a trajectory that rests at both ends; R = A^T A weighs
them. Noise with covariance R^-1 bends a trajectory without shaking it and leaves both ends where they are, and R^-1
with scaled columns smooths an update (Kalakrishnan et al., STOMP, ICRA 2011, sections III and IV).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from .._frozen import Frozen, frozen


@dataclass(frozen=True, eq=False)
class Smoothness(Frozen):
    """Matrices for trajectories of some number of timesteps; the first and the last are fixed, n are free."""

    differences: Float[np.ndarray, "n+2 n"]
    """A: second differences at all timesteps, before the first and after the last of which the robot rests."""
    precision: Float[np.ndarray, "n n"]
    """R = A^T A."""
    covariance: Float[np.ndarray, "n n"]
    """R^-1, scaled so that its largest variance is 1."""
    factor: Float[np.ndarray, "n n"]
    """L with L L^T = covariance: times standard normal numbers it is noise."""
    smoother: Float[np.ndarray, "n n"]
    """M: R^-1 with every column scaled to the largest entry 1/n."""

    @staticmethod
    @lru_cache(maxsize=16)
    def of(timesteps: int) -> Smoothness:
        """The matrices; kept for next time."""
        n = timesteps - 2
        differences = np.zeros((n + 2, n))
        rows = np.arange(n)
        differences[rows, rows] = 1.0
        differences[rows + 1, rows] = -2.0
        differences[rows + 2, rows] = 1.0
        precision = differences.T @ differences
        inverse = np.linalg.inv(precision)
        inverse = 0.5 * (inverse + inverse.T)
        covariance = inverse / inverse.diagonal().max()
        return Smoothness(
            differences=frozen(differences),
            precision=frozen(precision),
            covariance=frozen(covariance),
            factor=frozen(np.linalg.cholesky(covariance)),
            smoother=frozen(inverse / (inverse.max(axis=0) * n)),
        )


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
        smoothness = Smoothness.of(timesteps)
        fixed = np.zeros(timesteps)  # second differences that the goal alone causes
        fixed[-2], fixed[-1] = 1.0, -1.0
        along[1:-1] = np.linalg.solve(smoothness.precision, -smoothness.differences.T @ fixed)
    path = start + along[:, None] * (goal - start)
    path[-1] = goal  # exactly
    return path


def resampled(path: Float[np.ndarray, "w m"], timesteps: int) -> Float[np.ndarray, "t m"]:
    """A path of straight segments at so many timesteps, equally far apart along it."""
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    if along[-1] == 0.0:
        return np.repeat(path[:1], timesteps, axis=0)
    places = np.linspace(0.0, along[-1], timesteps)
    out = np.stack([np.interp(places, along, column) for column in path.T], axis=1)
    out[0], out[-1] = path[0], path[-1]
    return out
