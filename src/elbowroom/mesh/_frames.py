"""Poses at this folder's boundary, packed for the kernels: rows of rotation (by rows) and translation.

Thousands of poses are checked and packed by one kernel, because a query costs less than a microsecond; whatever
the kernel refuses goes to `elbowroom._poses`, which says what is wrong. Rotations that are only nearly orthonormal
(float32 input) are made so, since the kernels invert by transposing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from .._jit import njit
from .._poses import as_matrix
from ..errors import InputError

ORTHONORMAL = 1e-5
"""Error of R^T R up to which the kernel repairs a rotation by itself."""
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
    if (
        type(pose) is np.ndarray
        and pose.shape == (4, 4)
        and pose.dtype == np.float64
        and pose.flags.c_contiguous
    ):
        rows = np.empty((1, 12))  # the usual case, quickly
        if pack_matrices(pose[None], rows):
            return rows, False
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
    rows = np.empty((array.shape[0] if stacked else 1, 12))
    sound = (
        pack_matrices(array.reshape(-1, 4, 4), rows) if matrix else pack_vectors(array.reshape(-1, 7), rows)
    )
    if not sound:
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


@njit(cache=True, error_model="numpy")
def _finish(rows: Any, i: int) -> bool:
    """Orthonormalise row `i`; False when it is not nearly a rotation or not finite."""
    r = rows[i]
    x = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    y = r[3] * r[3] + r[4] * r[4] + r[5] * r[5]
    z = r[6] * r[6] + r[7] * r[7] + r[8] * r[8]
    xy = r[0] * r[3] + r[1] * r[4] + r[2] * r[5]
    xz = r[0] * r[6] + r[1] * r[7] + r[2] * r[8]
    yz = r[3] * r[6] + r[4] * r[7] + r[5] * r[8]
    error = max(max(abs(x - 1.0), abs(y - 1.0), abs(z - 1.0)), max(abs(xy), abs(xz), abs(yz)))
    if not error < ORTHONORMAL:
        return False
    far = max(abs(r[9]), abs(r[10]), abs(r[11]))
    if not far <= MAX_TRANSLATION:
        return False
    c0 = r[1] * r[5] - r[2] * r[4]
    c1 = r[2] * r[3] - r[0] * r[5]
    c2 = r[0] * r[4] - r[1] * r[3]
    if c0 * r[6] + c1 * r[7] + c2 * r[8] < 0.0:
        return False
    if error > 1e-14:
        scale = 1.0 / np.sqrt(x)
        for k in range(3):
            r[k] *= scale
        xy = r[0] * r[3] + r[1] * r[4] + r[2] * r[5]
        for k in range(3):
            r[3 + k] -= xy * r[k]
        scale = 1.0 / np.sqrt(r[3] * r[3] + r[4] * r[4] + r[5] * r[5])
        for k in range(3):
            r[3 + k] *= scale
        r[6] = r[1] * r[5] - r[2] * r[4]
        r[7] = r[2] * r[3] - r[0] * r[5]
        r[8] = r[0] * r[4] - r[1] * r[3]
    return True


@njit(cache=True, error_model="numpy")
def pack_matrices(matrices: Any, rows: Any) -> bool:
    """Pack `(n, 4, 4)`; False as soon as one is not a rigid motion within the kernel's tolerance."""
    for i in range(matrices.shape[0]):
        for r in range(3):
            for c in range(3):
                rows[i, 3 * r + c] = matrices[i, r, c]
            rows[i, 9 + r] = matrices[i, r, 3]
            if matrices[i, 3, r] != 0.0:
                return False
        if matrices[i, 3, 3] != 1.0 or not _finish(rows, i):
            return False
    return True


@njit(cache=True, error_model="numpy")
def pack_vectors(vectors: Any, rows: Any) -> bool:
    """Pack `(n, 7)` wxyz_xyz; False as soon as one is not usable."""
    for i in range(vectors.shape[0]):
        w, x, y, z = vectors[i, 0], vectors[i, 1], vectors[i, 2], vectors[i, 3]
        norm = w * w + x * x + y * y + z * z
        if not (norm > 1e-16 and norm < 1e16):
            return False
        s = 2.0 / norm
        rows[i, 0], rows[i, 1], rows[i, 2] = (
            1.0 - s * (y * y + z * z),
            s * (x * y - w * z),
            s * (x * z + w * y),
        )
        rows[i, 3], rows[i, 4], rows[i, 5] = (
            s * (x * y + w * z),
            1.0 - s * (x * x + z * z),
            s * (y * z - w * x),
        )
        rows[i, 6], rows[i, 7], rows[i, 8] = (
            s * (x * z - w * y),
            s * (y * z + w * x),
            1.0 - s * (x * x + y * y),
        )
        for k in range(3):
            rows[i, 9 + k] = vectors[i, 4 + k]
        if not _finish(rows, i):
            return False
    return True


def _identity() -> Rows:
    rows = np.concatenate([np.eye(3).reshape(9), np.zeros(3)])[None]
    rows.setflags(write=False)
    return rows


IDENTITY = _identity()
"""The identity, packed."""
