"""ClearanceGrid: lower bounds of the distance to the obstacles, cell by cell; the broad phase of every query.

One look says for most points of a robot that no obstacle is near, whatever their kind and number. A cell holds the
distance of its centre less half its diagonal, rounded down, so the bound holds for every point of the cell. Half-spaces
are asked one by one, which is as cheap. A world that differs from another in a few obstacles keeps the grid: those
that came or moved are `loose` and asked one by one; those that left only make the bound lower than it need be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ..._frozen import freeze, frozen
from ..._parallel import cores, over_rows
from ...world import HalfSpace, Obstacle
from ._pack import PackedWorld

CELL = 0.025
"""Edge of a cell, metres: a ball of some centimetres is told apart from an obstacle about as far away."""
MAX_CELLS = 2_000_000
"""Cells grow beyond it; 8 MB of float32."""
SLACK = 1e-6
"""Metres taken off every bound: more than the rounding of places in the grid."""
TIGHT = 0.4
"""Metres beyond which bounds need not be tight: no ball around a part of a link is larger."""
MAX_LOOSE = 8
"""Obstacles asked one by one at most."""
BLOCK = 4
"""Cells along an edge of a block; far from obstacles one distance serves a whole block."""


class PackedGrid(NamedTuple):
    """What the kernels take."""

    frame: Float[np.ndarray, "12"]
    """Lower corner of the grid, 1 / cell, then the corners of the box around the obstacles in it, half the diagonal of
    a cell, and what must be added to a distance so that it is an upper bound: infinite once an obstacle has left."""
    shape: Int[np.ndarray, "3"]
    """Cells along x, y, z."""
    bounds: Float[np.ndarray, "cells"]
    """Metres, float32, z fastest; inside an obstacle anything that is not positive."""
    planes: Float[np.ndarray, "half_spaces 4"]
    """Normals and offsets of half-spaces in the world frame."""
    loose: Int[np.ndarray, "loose"]
    """Obstacles that are not in the grid."""


@dataclass(frozen=True, eq=False)
class ClearanceGrid:
    """A grid and what it was made of."""

    packed: PackedGrid
    made_of: frozenset[int]
    """Identities of the obstacles in it."""
    kept: tuple[Obstacle, ...]
    """They, so that their identities stay theirs."""

    def for_obstacles(self, obstacles: tuple[Obstacle, ...]) -> ClearanceGrid | None:
        """The same grid for other obstacles; None when too many of them are not in it, or it is mostly stale."""
        own = np.array([k for k, o in enumerate(obstacles) if id(o) not in self.made_of], dtype=np.int64)
        loose = np.array([k for k in own if np.isfinite(obstacles[int(k)].bounds).all()], dtype=np.int64)
        stale = len(self.kept) - (len(obstacles) - len(own))
        if len(loose) > MAX_LOOSE or stale > MAX_LOOSE:
            return None
        freeze(loose)
        frame = self.packed.frame.copy()
        frame[-1] = np.inf if stale else frame[-1]
        freeze(frame)
        changed = self.packed._replace(frame=frame, loose=loose, planes=_planes(obstacles))
        return ClearanceGrid(changed, self.made_of, self.kept)


def clearance_grid(
    obstacles: tuple[Obstacle, ...],
    packed: PackedWorld,
    region: Float[np.ndarray, "2 3"],
    threads: int | None = None,
) -> ClearanceGrid:
    """Fills a grid.

    Args:
        obstacles: of the world.
        packed: the world.
        region: lower and upper corner of the space that matters, metres; beyond it bounds come from the box around
            all obstacles alone.
        threads: None uses all cores this process may run on.
    """
    from ._kernels_grid import fill_grid

    root = packed.tree[0]
    low, high = np.maximum(root[:3] - TIGHT, region[0]), np.minimum(root[3:6] + TIGHT, region[1])
    extent = np.maximum(high - low, 0.0) if len(packed.members) else np.zeros(3)
    cell = max(CELL, float(np.prod(extent) / MAX_CELLS) ** (1 / 3))
    while True:  # a flat region has few cells along one axis: their number is not the volume's
        shape = np.ceil(extent / cell).astype(np.int64)
        if np.prod(shape, dtype=np.float64) <= MAX_CELLS:
            break
        cell *= 1.1
    bounds = np.zeros(int(np.prod(shape)), dtype=np.float32)
    corner = np.where(extent > 0.0, low, 0.0)
    half = 0.5 * np.sqrt(3.0) * cell
    frame = np.concatenate([corner, [1.0 / cell], root[:6], [half, 4.0 * SLACK]])
    loose = np.zeros(0, np.int64)
    if len(bounds):
        columns = -(-int(shape[0]) // BLOCK)

        def piece(first: int, last: int) -> None:
            fill_grid(packed, frame, shape, np.int64(first), np.int64(last), bounds)

        over_rows(piece, columns, threads=threads or cores(), at_least=2, align=1)
    freeze(frame, shape, bounds, loose)
    inside = tuple(obstacles[int(k)] for k in packed.members)
    filled = PackedGrid(frame, shape, bounds, _planes(obstacles), loose)
    return ClearanceGrid(filled, frozenset(map(id, inside)), inside)


def _planes(obstacles: tuple[Obstacle, ...]) -> Float[np.ndarray, "half_spaces 4"]:
    rows = [
        (*normal, o.offset + normal @ o.pose[:3, 3])
        for o in obstacles
        if isinstance(o, HalfSpace)
        for normal in (o.pose[:3, :3] @ np.array(o.normal),)
    ]
    return frozen(np.array(rows, dtype=np.float64).reshape(-1, 4))
