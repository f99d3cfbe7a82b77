"""How large joint values may be before poses lose their digits."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ._tree import KinematicTree

MAX_VALUE = 1e5
"""Radians up to which the core reduces angles without loss (`lanes.hpp`, `sincos`); as many metres for slides."""


def safe_values(tree: KinematicTree) -> Float[np.ndarray, "dof"]:
    """Magnitudes of actuated joints up to which these and all that follow them are within `MAX_VALUE` for sure.

    By the sum of the terms of each law, so followers may be within it even then; -1 where they may be beyond at once.
    """
    most = np.full(len(tree.actuated), MAX_VALUE)
    bounds, owner = np.zeros(len(tree.moving)), np.zeros(len(tree.moving), dtype=np.int64)
    while True:
        for i in tree.order:
            if tree.is_coupled[i]:
                owner[i] = owner[tree.driver[i]]
                with np.errstate(over="ignore"):
                    bounds[i] = np.polynomial.polynomial.polyval(
                        bounds[tree.driver[i]], np.abs(tree.polycoef[i])
                    )
            else:
                owner[i], bounds[i] = tree.driver[i], most[tree.driver[i]]
        beyond = np.unique(owner[~(bounds <= MAX_VALUE)])
        beyond = beyond[most[beyond] >= 0.0]
        if not len(beyond):
            return frozen(most)
        most[beyond] = np.where(most[beyond] > 1e-3, 0.5 * most[beyond], -1.0)
