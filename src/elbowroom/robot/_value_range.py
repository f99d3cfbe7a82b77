"""How large joint values may be before poses lose their digits."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ._tree import KinematicTree

MAX_VALUE = 1e5
"""Radians up to which the kernels reduce angles without loss (`_kernels.sincos`); as many metres for slides."""
HALVINGS = 1100
"""More than any number can be halved."""


def largest_values(tree: KinematicTree) -> Float[np.ndarray, "dof"]:
    """Largest magnitude of each actuated joint at which it and all that follow it are within `MAX_VALUE`.

    At most that for joints that others follow; -1 where these are beyond it at any value.
    """
    most = np.full(len(tree.actuated), MAX_VALUE)
    bounds, owner = np.zeros(len(tree.moving)), np.zeros(len(tree.moving), dtype=np.int64)
    for _ in range(HALVINGS):
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
        if not len(beyond):
            break
        most[beyond] = np.where(most[beyond] > 0.0, 0.5 * most[beyond], -1.0)
        if (most[beyond] < 0.0).all():
            break
    return frozen(most)
