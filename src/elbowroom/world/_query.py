"""Questions of points to a world, in batches and threads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .. import _core
from .._parallel import cores, over_rows
from .._text import short
from ..errors import InputError, shape_text

THREAD_ROWS = 4096
"""Points from which on threads pay."""


def is_jax(points: Any) -> bool:
    """Whether points are a JAX array or a tracer; JAX is not loaded to find out."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(points, jax.Array)


def point_rows(points: Any) -> tuple[Float[np.ndarray, "rows 3"], tuple[int, ...]]:
    """Points as rows, and the shape of the answer.

    Raises:
        InputError: not of shape (..., 3), NaN or infinite.
    """
    try:
        array = np.asarray(points)
        if array.dtype.kind not in "fiu":
            raise ValueError(f"found {array.dtype}")
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"points: expected numbers of shape (..., 3), found {short(points)}") from error
    if array.ndim == 0 or array.shape[-1] != 3:
        raise InputError(f"points: expected shape (..., 3), found {shape_text(array)}")
    rows = np.ascontiguousarray(array.reshape(-1, 3), dtype=np.float64)
    bad = ~np.isfinite(rows).all(axis=1)
    if bad.any():
        raise InputError(f"points: {int(bad.sum())} of {len(rows)} are NaN or infinite")
    return rows, array.shape[:-1]


def nearest_rows(
    world: _core.World, rows: Float[np.ndarray, "rows 3"]
) -> tuple[Float[np.ndarray, "rows"], Int[np.ndarray, "rows"]]:
    """Distance to the nearest obstacle and its index; infinity and -1 in an empty world."""
    distances, found = np.empty(len(rows)), np.empty(len(rows), np.int64)
    _over(lambda part: world.nearest(rows[part], distances[part], found[part]), len(rows))
    return distances, found


def gradient_rows(
    world: _core.World, rows: Float[np.ndarray, "rows 3"]
) -> tuple[Float[np.ndarray, "rows"], Float[np.ndarray, "rows 3"]]:
    """Distance to the nearest obstacle and its gradient; infinity and zero in an empty world."""
    distances, gradients = np.empty(len(rows)), np.empty((len(rows), 3))
    _over(lambda part: world.gradients(rows[part], distances[part], gradients[part]), len(rows))
    return distances, gradients


def _over(piece: Callable[[slice], Any], rows: int) -> None:
    over_rows(lambda start, stop: piece(slice(start, stop)), rows, threads=cores(), at_least=THREAD_ROWS)
