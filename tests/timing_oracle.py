"""toppra's duration of a curve: what our own speeds along it are measured against."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from elbowroom.plan import Curve

GRID = 300
"""Points at which toppra keeps the limits, besides the knots."""


class _Path:
    """Some joints of a curve as toppra asks for them."""

    def __init__(self, curve: Curve, joints: Sequence[int]) -> None:
        self._curve, self._joints = curve, joints
        self.dof, self.path_interval = len(joints), np.array([0.0, curve.end])

    def __call__(self, s, order=0):
        return self._curve.at(s, order)[..., self._joints]


def toppra_duration(
    curve: Curve, velocity: np.ndarray, acceleration: np.ndarray, joints: Sequence[int] | None = None
) -> float:
    """Seconds, from rest to rest, without stops in between; of the joints (entries of a configuration) that move."""
    import toppra

    logging.getLogger("toppra").setLevel(logging.ERROR)
    moving = list(range(curve.pieces.shape[2])) if joints is None else list(joints)
    limits = [
        kind(np.stack([-row[moving], row[moving]], 1))
        for kind, row in (
            (toppra.constraint.JointVelocityConstraint, np.asarray(velocity)),
            (toppra.constraint.JointAccelerationConstraint, np.asarray(acceleration)),
        )
    ]
    grid = np.unique(np.concatenate([curve.knots, np.linspace(0.0, curve.end, GRID)]))
    peer = toppra.algorithm.TOPPRA(
        limits, _Path(curve, moving), gridpoints=grid, parametrizer="ParametrizeConstAccel"
    )
    return float(peer.compute_trajectory(0.0, 0.0).duration)
