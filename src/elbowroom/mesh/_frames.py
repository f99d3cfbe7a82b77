"""Poses at this folder's boundary, packed for the core: rows of rotation (by rows) and translation.

The core checks and packs thousands of poses at once, because a query costs less than a microsecond; what it refuses
goes to `elbowroom._poses`, which says what is wrong. Rotations that are only nearly orthonormal (float32 input) are
made so, since the core inverts by transposing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from .. import _core
from .._poses import as_matrix
from ..errors import InputError

MAX_TRANSLATION = 1e9
"""Metres; beyond this float64 cannot tell micrometres apart and products may overflow."""

Rows = Float[np.ndarray, "batch 12"]


def pose_rows(pose: Any, what: str) -> tuple[Rows, bool]:
    """Packs a pose or a stack of poses.

    Args:
        pose: None for the identity, `(7,)` wxyz_xyz, `(4, 4)`, `(n, 7)` or `(n, 4, 4)`.
        what: name of the argument, for messages.

    Returns:
        Rows `(n, 12)` (n is 1 for a single pose), and whether a stack was given.

    Raises:
        InputError: wrong shape, NaN, not a rigid motion, or absurdly far away.
    """
    if pose is None:
        return IDENTITY.copy(), False
    try:
        array = np.ascontiguousarray(pose, dtype=np.float64)
    except (TypeError, ValueError):
        array = as_matrix(pose, what)
    matrix = array.ndim in (2, 3) and array.shape[-2:] == (4, 4)
    vector = array.ndim in (1, 2) and array.shape[-1:] == (7,)
    if not matrix and not vector:
        as_matrix(array, what)
        raise InputError(
            f"{what}: expected one pose, (7,) or (4, 4), or a stack, (n, 7) or (n, 4, 4), found shape {array.shape}"
        )
    stacked = array.ndim == (3 if matrix else 2)
    rows: Any = _core.pack_poses(array.reshape(-1, 4, 4) if matrix else array.reshape(-1, 7))
    if rows is None:
        rows = np.empty((array.shape[0] if stacked else 1, 12))
        fixed = np.ascontiguousarray(as_matrix(array, what)).reshape(-1, 4, 4)
        u, _, vt = np.linalg.svd(fixed[:, :3, :3])
        rows[:, :9] = (u @ vt).reshape(-1, 9)
        rows[:, 9:] = fixed[:, :3, 3]
        if np.abs(rows[:, 9:]).max(initial=0.0) > MAX_TRANSLATION:
            raise InputError(f"{what}: a translation is beyond {MAX_TRANSLATION:g} m")
    return rows, stacked


def broadcast_rows(
    T_a: Any, T_b: Any, what_a: str = "Ts_a", what_b: str = "Ts_b"
) -> tuple[Rows, Rows, int, bool]:
    """Packs two stacks of poses of the same length; a single pose goes with every pose of the other stack.

    Returns:
        Rows of A, rows of B, the number of poses, and whether any argument was a stack.
    """
    rows_a, stack_a = pose_rows(T_a, what_a)
    rows_b, stack_b = pose_rows(T_b, what_b)
    n_a, n_b = len(rows_a), len(rows_b)
    if stack_a and stack_b and n_a != n_b and 1 not in (n_a, n_b):
        raise InputError(f"{what_a} and {what_b}: expected equally many poses, found {n_a} and {n_b}")
    n = 0 if 0 in (n_a, n_b) else max(n_a, n_b)
    return rows_a, rows_b, n, stack_a or stack_b


def one_row(T: Any, what: str) -> np.ndarray:
    """Packs a single pose, `(1, 12)`; a stack is refused."""
    rows, stacked = pose_rows(T, what)
    if stacked:
        raise InputError(f"{what}: expected one pose, (7,) or (4, 4), found a stack of {len(rows)}")
    return rows


def row_matrix(row: np.ndarray) -> np.ndarray:
    """The `(4, 4)` matrix of a packed pose."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = row[:9].reshape(3, 3), row[9:]
    return T


def _identity() -> Rows:
    rows = np.concatenate([np.eye(3).reshape(9), np.zeros(3)])[None]
    rows.setflags(write=False)
    return rows


IDENTITY = _identity()
"""The identity, packed."""
