"""Questions of points to a world, in batches and threads.

Oriented boxes are tested against all obstacles: the batch behind `World.box_intersects`, and what it accepts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .. import _core
from .._parallel import cores, over_rows
from .._poses import ROTATION_TOLERANCE
from .._text import short
from ..errors import InputError, shape_text
from ._obstacles import MAX_SIZE

THREAD_ROWS = 4096
"""Points above which threads pay off."""


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


BOX_WIDTH = 15
"""Numbers of a box: its axes row by row, its centre, its half edges."""
THREADED = 2048
"""Boxes from which threads pay."""


def boxes_intersect(
    world: _core.World, center: Any, half_extents: Any, axes: Any
) -> Bool[np.ndarray, "*batch"]:
    """Which of a batch of boxes share a point with an obstacle; arguments as of `World.box_intersects`."""
    c = _floats("center", center, 1)
    h = _floats("half_extents", half_extents, 1)
    R = _floats("axes", axes, 2)
    if h.size and h.min() < 0.0:
        raise InputError(f"half_extents: must not be negative, found {h.min():g}")
    try:
        batch = np.broadcast_shapes(c.shape[:-1], h.shape[:-1], R.shape[:-2])
    except ValueError:
        raise InputError(
            f"boxes: center {c.shape}, half_extents {h.shape} and axes {R.shape} must agree in their leading axes"
        ) from None
    stack = np.empty((*batch, BOX_WIDTH))
    stack[..., :9], stack[..., 9:12], stack[..., 12:] = R.reshape(*R.shape[:-2], 9), c, h
    boxes = stack.reshape(-1, BOX_WIDTH)
    bad = _core.first_no_rotation(boxes, ROTATION_TOLERANCE)
    if bad >= 0:
        place = f"[{', '.join(map(str, np.unravel_index(bad, batch)))}]" if batch else ""
        raise InputError(
            f"axes{place}: expected a rotation, its columns the axes of the box, found "
            f"{boxes[bad, :9].reshape(3, 3).tolist()}"
        )
    out = np.empty(len(boxes), np.bool_)
    over_rows(
        lambda start, stop: world.boxes_meet(boxes[start:stop], None, out[start:stop]),
        len(boxes),
        threads=cores(),
        at_least=THREADED,
    )
    return out.reshape(batch)


def _floats(what: str, value: Any, axes: int) -> Float[np.ndarray, "..."]:
    """A finite array whose last axes are of length three."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what}: expected numbers, found {short(value)}") from error
    if array.shape[-axes:] != (3,) * axes:
        expected = "(..., 3)" if axes == 1 else "(..., 3, 3)"
        raise InputError(f"{what}: expected shape {expected}, found {shape_text(array)}")
    if not np.isfinite(array).all():
        raise InputError(f"{what}: has NaN or infinite entries")
    if array.size and max(array.max(), -array.min()) > MAX_SIZE:
        raise InputError(f"{what}: expected at most {MAX_SIZE:g} m, found {np.abs(array).max():.3g}")
    return array
