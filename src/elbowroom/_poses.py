"""Poses at the public boundary: (..., 7) `wxyz_xyz` and (..., 4, 4) are both accepted.

Only this module knows how the two are told apart and converted. Numpy, float64. Inputs are checked:
finite, right shape, a rotation that is a rotation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from ._text import short
from .errors import InputError, shape_text

ROTATION_TOLERANCE = 1e-4
"""How far R^T R may be from the identity; loose enough for float32 input, strict enough to catch a scale."""


def as_matrix(pose: Any, what: str = "pose") -> Float[np.ndarray, "*batch 4 4"]:
    """Converts a pose or a stack of poses to homogeneous matrices.

    Args:
        pose: `(..., 7)` wxyz_xyz (the quaternion need not be normalised) or `(..., 4, 4)`.
        what: name of the argument, for messages.

    Raises:
        InputError: wrong shape, NaN, zero quaternion, or a matrix that is not a rigid motion.
    """
    try:
        array = np.asarray(pose, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{what}: expected numbers of shape (..., 7) or (..., 4, 4), found {short(pose)}"
        ) from error
    if not np.all(np.isfinite(array)):
        raise InputError(f"{what}: has NaN or infinite entries")
    if array.shape[-2:] == (4, 4):
        return _checked_matrix(array, what)
    if array.shape[-1:] == (7,):
        return matrix_from_wxyz_xyz(array, what)
    raise InputError(f"{what}: expected shape (..., 7) wxyz_xyz or (..., 4, 4), found {shape_text(array)}")


def as_wxyz_xyz(pose: Any, what: str = "pose") -> Float[np.ndarray, "*batch 7"]:
    """Converts a pose or a stack of poses to unit quaternion and translation, w >= 0."""
    T = as_matrix(pose, what)
    return np.concatenate([quaternion_from_rotation(T[..., :3, :3]), T[..., :3, 3]], axis=-1)


def matrix_from_wxyz_xyz(
    pose: Float[np.ndarray, "*batch 7"], what: str = "pose"
) -> Float[np.ndarray, "*batch 4 4"]:
    """Homogeneous matrices of `wxyz_xyz` poses; quaternions are normalised."""
    norm = np.linalg.norm(pose[..., :4], axis=-1, keepdims=True)
    if np.any(norm < 1e-8):
        raise InputError(f"{what}: a quaternion has length zero")
    w, x, y, z = np.moveaxis(pose[..., :4] / norm, -1, 0)
    T = np.zeros((*pose.shape[:-1], 4, 4))
    T[..., 0, 0], T[..., 0, 1], T[..., 0, 2] = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
    )
    T[..., 1, 0], T[..., 1, 1], T[..., 1, 2] = (
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
    )
    T[..., 2, 0], T[..., 2, 1], T[..., 2, 2] = (
        2 * (x * z - w * y),
        2 * (y * z + w * x),
        1 - 2 * (x * x + y * y),
    )
    T[..., :3, 3] = pose[..., 4:]
    T[..., 3, 3] = 1.0
    return T


def quaternion_from_rotation(R: Float[np.ndarray, "*batch 3 3"]) -> Float[np.ndarray, "*batch 4"]:
    """Unit quaternions (w >= 0) of rotation matrices, by Bar-Itzhack's symmetric eigenvector.

    Accurate to machine precision at every angle, half turns included; input that is a rotation only
    to float32 is projected to the nearest one.
    """
    m = np.moveaxis(R, (-2, -1), (0, 1))
    K = np.zeros((*R.shape[:-2], 4, 4))  # order w x y z
    K[..., 0, 0] = m[0, 0] + m[1, 1] + m[2, 2]
    K[..., 1, 1] = m[0, 0] - m[1, 1] - m[2, 2]
    K[..., 2, 2] = m[1, 1] - m[0, 0] - m[2, 2]
    K[..., 3, 3] = m[2, 2] - m[0, 0] - m[1, 1]
    K[..., 0, 1] = K[..., 1, 0] = m[2, 1] - m[1, 2]
    K[..., 0, 2] = K[..., 2, 0] = m[0, 2] - m[2, 0]
    K[..., 0, 3] = K[..., 3, 0] = m[1, 0] - m[0, 1]
    K[..., 1, 2] = K[..., 2, 1] = m[0, 1] + m[1, 0]
    K[..., 1, 3] = K[..., 3, 1] = m[0, 2] + m[2, 0]
    K[..., 2, 3] = K[..., 3, 2] = m[1, 2] + m[2, 1]
    quaternion = np.linalg.eigh(K)[1][..., :, -1]
    return np.where(quaternion[..., :1] < 0, -quaternion, quaternion)


def _checked_matrix(T: Float[np.ndarray, "*batch 4 4"], what: str) -> Float[np.ndarray, "*batch 4 4"]:
    R = T[..., :3, :3]
    error = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
    if error > ROTATION_TOLERANCE or np.any(np.linalg.det(R) < 0):
        raise InputError(
            f"{what}: the 3x3 part is not a rotation (R^T R differs from identity by {error:.3g})"
        )
    if np.abs(T[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(initial=0.0) > ROTATION_TOLERANCE:
        raise InputError(f"{what}: the last row of a (4, 4) pose must be 0 0 0 1")
    return T
