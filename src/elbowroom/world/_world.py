"""World: obstacles by name, and the questions about them.

Immutable: `add`, `remove` and `move` give new worlds, which share with the old one what did not change (trees of
meshes and clouds, fields).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from ..errors import InputError, UnknownNameError, unknown
from ._boxes import boxes_intersect
from ._grid import ClearanceGrid, PackedGrid, clearance_grid
from ._obstacles import Obstacle
from ._pack import KINDS, Geometry, PackedWorld, lay_geometry, pack_world

MAX_OBSTACLES = 100_000
"""More are a point cloud or a mesh."""


class World:
    """Obstacles in one frame, the robot's world frame."""

    def __init__(self, obstacles: Iterable[Obstacle] = ()) -> None:
        """Takes obstacles; those without a name get one from their kind ("box", "box_2", ...).

        Raises:
            InputError: two obstacles of one name, or something that is not an obstacle.
        """
        self.obstacles: tuple[Obstacle, ...] = _named(obstacles)
        """In the order given."""
        self._index = {obstacle.name: k for k, obstacle in enumerate(self.obstacles)}
        self._grids: dict[bytes, ClearanceGrid] = {}

    # Parts --------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Of the obstacles, in their order."""
        return tuple(self._index)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was changed or is doubtful in the obstacles, with their names."""
        return tuple(f"{o.title}: {note}" for o in self.obstacles for note in o.notes)

    def index(self, name: str) -> int:
        """Place of an obstacle in `obstacles`.

        Raises:
            UnknownNameError: there is none of that name.
        """
        if name not in self._index:
            raise UnknownNameError(unknown("obstacle", name, self._index))
        return self._index[name]

    def __getitem__(self, name: str) -> Obstacle:
        return self.obstacles[self.index(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[Obstacle]:
        return iter(self.obstacles)

    def __len__(self) -> int:
        return len(self.obstacles)

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + (", ..." if len(self) > 6 else "")
        return f"World({len(self)} obstacles{': ' if shown else ''}{shown})"

    # Changes ------------------------------------------------------------------------------------

    def add(self, *obstacles: Obstacle) -> World:
        """A world with more obstacles.

        Raises:
            InputError: a name is taken.
        """
        return self._changed((*self.obstacles, *obstacles))

    def remove(self, *names: str) -> World:
        """A world without some obstacles.

        Raises:
            UnknownNameError: there is none of that name.
        """
        gone = {self.index(name) for name in names}
        return self._changed(o for k, o in enumerate(self.obstacles) if k not in gone)

    def move(self, name: str, pose: Any) -> World:
        """A world in which one obstacle is elsewhere.

        Args:
            name: of the obstacle.
            pose: its new pose, (7,) wxyz_xyz or (4, 4).
        """
        at = self.index(name)
        return self._changed(o.at(pose) if k == at else o for k, o in enumerate(self.obstacles))

    def _changed(self, obstacles: Iterable[Obstacle]) -> World:
        other = World(obstacles)
        laid: Geometry | None = self.__dict__.get("geometry")
        if laid is not None and laid.fits(other.obstacles):
            other.__dict__["geometry"] = laid
        for region, grid in self._grids.items():
            kept = grid.for_obstacles(other.obstacles)
            if kept is not None:
                other._grids[region] = kept
        return other

    # Questions ----------------------------------------------------------------------------------

    def box_intersects(self, center: Any, half_extents: Any, axes: Any) -> bool | Bool[np.ndarray, "*batch"]:
        """Which oriented boxes share a point with an obstacle; touching and being inside count.

        Exact to rounding, but for distance fields, which are conservative: boxes nearer to one than a fiftieth of its
        spacing may count as touching it. Leading axes broadcast as in numpy; thousands of boxes in one call are quick.

        Args:
            center: (..., 3) centres in the world, metres.
            half_extents: (..., 3) half edges along the axes of each box, metres; zero makes a plate, a stick, a point.
            axes: (..., 3, 3) axes of each box as columns, unit vectors in the world: its rotation R_world_box.

        Returns:
            bool for one box, else (...,) bool.

        Raises:
            InputError: wrong shapes, NaN, negative half edges, axes that are no rotation.
        """
        found = boxes_intersect(self.packed, center, half_extents, axes)
        return found if found.ndim else bool(found)

    # Packed -------------------------------------------------------------------------------------

    @cached_property
    def geometry(self) -> Geometry:
        """Meshes, clouds and fields as the kernels take them; made when first needed."""
        return lay_geometry(self.obstacles)

    @cached_property
    def packed(self) -> PackedWorld:
        """All obstacles as the kernels take them; made when first needed."""
        return pack_world(self.obstacles, self.geometry)

    def grid(self, region: Float[np.ndarray, "2 3"], threads: int | None = None) -> PackedGrid:
        """Lower bounds of the distance to the obstacles, with cells in a region (`ClearanceGrid`); kept for next time.

        Args:
            region: lower and upper corner, metres.
            threads: None uses all cores this process may run on.
        """
        key = np.ascontiguousarray(region, dtype=np.float64).tobytes()
        if key not in self._grids:
            self._grids[key] = clearance_grid(self.obstacles, self.packed, region, threads)
        return self._grids[key].packed

    def __getstate__(self) -> dict[str, Any]:
        return {"obstacles": self.obstacles}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["obstacles"])


def _named(obstacles: Iterable[Obstacle]) -> tuple[Obstacle, ...]:
    """Obstacles with unique names."""
    given = list(obstacles)
    if len(given) > MAX_OBSTACLES:
        raise InputError(
            f"at most {MAX_OBSTACLES} obstacles, found {len(given)}; a PointCloud or MeshObstacle holds more"
        )
    taken: set[str] = set()
    for obstacle in given:
        if type(obstacle) not in KINDS:
            known = ", ".join(kind.__name__ for kind in KINDS)
            raise InputError(f"obstacles: expected {known}, found a {type(obstacle).__name__}")
        if obstacle.name and obstacle.name in taken:
            raise InputError(f"two obstacles have the name {obstacle.name!r}; names must be unique")
        taken.add(obstacle.name)
    counts: dict[str, int] = {}
    for k, obstacle in enumerate(given):
        if obstacle.name:
            continue
        while True:
            counts[obstacle.kind] = n = counts.get(obstacle.kind, 0) + 1
            name = obstacle.kind if n == 1 else f"{obstacle.kind}_{n}"
            if name not in taken:
                break
        taken.add(name)
        given[k] = obstacle.named(name)
    return tuple(given)
