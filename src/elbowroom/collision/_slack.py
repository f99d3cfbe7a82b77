"""Slack: how far joints may be off the segments of a proof."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..errors import InputError


def as_slacks(slack: Any, n: int, dof: int) -> Float[np.ndarray, "#n dof"]:
    """Slack of `n` segments as rows; one row stands for all of them.

    Raises:
        InputError: not a number, (dof,) or (n, dof), or an entry that is negative or not finite.
    """
    given = np.zeros(1) if slack is None else np.asarray(slack, dtype=np.float64)
    if given.shape not in ((), (1,), (dof,), (1, dof), (n, dof)):
        raise InputError(f"slack must be a number, ({dof},) or ({n}, {dof}), found the shape {given.shape}")
    if not bool(np.all((given >= 0.0) & (given < np.inf))):
        raise InputError("slack must be rad or m from 0 up, found an entry that is negative or not finite")
    rows = given if given.ndim == 2 else np.broadcast_to(given, dof)[None]
    return frozen(np.array(rows, order="C"))
