"""A world as the kernels take it: packed when first needed, kept with the world, handed on to worlds made from it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from ...world import World
from ._grid import ClearanceGrid, clearance_grid
from ._grid import PackedGrid as PackedGrid
from ._pack import Geometry, lay_geometry, pack_world
from ._pack import PackedWorld as PackedWorld

PACKED, GEOMETRY, GRIDS = "packed", "geometry", "grids"
"""Places in `World.derived`."""


def packed_world(world: World) -> PackedWorld:
    """All obstacles of a world; meshes, clouds and fields are shared with the world it was made from."""
    if PACKED not in world.derived:
        laid: Geometry | None = world.derived.get(GEOMETRY, world.inherited.get(GEOMETRY))
        if laid is None or not laid.serves(world.obstacles):
            laid = lay_geometry(world.obstacles)
        world.derived[GEOMETRY] = laid
        world.derived[PACKED] = pack_world(world.obstacles, laid)
    return world.derived[PACKED]


def packed_grid(world: World, region: Float[np.ndarray, "2 3"], threads: int | None = None) -> PackedGrid:
    """Lower bounds of the distance to the obstacles, with cells in a region (`ClearanceGrid`); kept for next time.

    Args:
        world: whose obstacles.
        region: lower and upper corner, metres.
        threads: None uses all cores this process may run on.
    """
    if GRIDS not in world.derived:
        before: dict[bytes, ClearanceGrid] = world.inherited.get(GRIDS, {})
        kept = {key: grid.for_obstacles(world.obstacles) for key, grid in before.items()}
        world.derived[GRIDS] = {key: grid for key, grid in kept.items() if grid is not None}
    grids: dict[bytes, ClearanceGrid] = world.derived[GRIDS]
    key = np.ascontiguousarray(region, dtype=np.float64).tobytes()
    if key not in grids:
        grids[key] = clearance_grid(world.obstacles, packed_world(world), region, threads)
    return grids[key].packed
