"""Oriented boxes against all obstacles: the batch behind `World.box_intersects`, and what it accepts."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from .. import _core
from .._parallel import cores, over_rows
from .._poses import ROTATION_TOLERANCE
from .._text import short
from ..errors import InputError, shape_text
from ._obstacles import MAX_SIZE

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
