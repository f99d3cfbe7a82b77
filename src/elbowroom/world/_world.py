"""World: obstacles by name, and the questions about them.

Immutable: `add`, `remove` and `move` give new worlds, which share with the old one what did not change (trees of
meshes and clouds, fields).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float

from .. import _core
from .._text import counted, short
from ..errors import FormatError, InputError, UnknownNameError, unknown
from ._obstacles import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, Obstacle, Sphere
from ._query import boxes_intersect, gradient_rows, is_jax, nearest_rows, point_rows
from ._sampled import PointCloud, SdfGrid

if TYPE_CHECKING:
    from ._jax import JaxWorld

MAX_OBSTACLES = 100_000
"""More are a point cloud or a mesh."""
KINDS = (Box, Sphere, Cylinder, Capsule, HalfSpace, MeshObstacle, PointCloud, SdfGrid)
"""Obstacles that a world takes."""


class World:
    """Obstacles in one frame, the robot's world frame."""

    def __init__(self, obstacles: Iterable[Obstacle] = (), *, notes: Iterable[str] = ()) -> None:
        """Takes obstacles; those without a name get one from their kind ("box", "box_2", ...).

        Args:
            obstacles: in any order.
            notes: what is to be known of where they came from, such as a file.

        Raises:
            InputError: two obstacles of one name, or something that is not an obstacle.
        """
        self._obstacles = _named(obstacles)
        self._notes = tuple(notes)
        self._index = {obstacle.name: k for k, obstacle in enumerate(self.obstacles)}
        self._grids: dict[bytes, _core.ClearanceGrid] = {}
        self._grids_before: dict[bytes, _core.ClearanceGrid] = {}

    # Parts --------------------------------------------------------------------------------------

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """In the order given."""
        return self._obstacles

    @property
    def names(self) -> tuple[str, ...]:
        """Of the obstacles, in their order."""
        return tuple(self._index)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was changed, left out or is doubtful: of the file, and of the obstacles by name."""
        own = (f"{o.title}: {note}" for o in self.obstacles for note in o.notes)
        return tuple(dict.fromkeys((*self._notes, *own)))

    def index(self, name: str) -> int:
        """Place of an obstacle in `obstacles`.

        Raises:
            UnknownNameError: there is none of that name.
        """
        if not isinstance(name, str):
            raise InputError(f"expected the name of an obstacle, found {short(name)}")
        if name not in self._index:
            raise UnknownNameError(unknown("obstacle", name, self._index))
        return self._index[name]

    def __getitem__(self, name: str) -> Obstacle:
        return self.obstacles[self.index(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._index

    def __iter__(self) -> Iterator[Obstacle]:
        return iter(self.obstacles)

    def __len__(self) -> int:
        return len(self.obstacles)

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + (", ..." if len(self) > 6 else "")
        return f"World({counted(len(self), 'obstacle')}{': ' if shown else ''}{shown})"

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

    def replace(self, name: str, obstacle: Obstacle) -> World:
        """A world with one obstacle replaced by another, such as a larger one.

        Args:
            name: of the obstacle that goes.
            obstacle: the one that comes; its name may differ.

        Raises:
            UnknownNameError: there is none of that name. InputError: the new name is taken.
        """
        at = self.index(name)
        return self._changed(obstacle if k == at else o for k, o in enumerate(self.obstacles))

    def _changed(self, obstacles: Iterable[Obstacle]) -> World:
        other = World(obstacles, notes=self._notes)
        other._grids_before = {**self._grids_before, **self._grids}
        return other

    # Points -------------------------------------------------------------------------------------

    def distance(self, points: Any) -> Any:
        """Signed distance of points to the nearest obstacle, metres: positive outside, negative inside solids.

        Exact for primitives, meshes and clouds. Inside several obstacles the deepest counts; inside a mesh, the
        distance to its nearest triangle. Infinite in an empty world.

        Args:
            points: (..., 3) in the world frame.

        Returns:
            (...) distances; a float for one point. A JAX array gives a JAX array: under jit, vmap and grad.

        Raises:
            InputError: another shape, NaN or infinity.
        """
        if is_jax(points):
            return self._in_jax.distance(points)
        rows, shape = point_rows(points)
        distances, _ = nearest_rows(self.core, rows)
        return distances.reshape(shape) if shape else float(distances[0])

    def distance_and_gradient(self, points: Any) -> tuple[Any, Any]:
        """`distance` (positive outside, negative inside solids) and its gradient, a unit vector away from the obstacle.

        Where it has no gradient (a surface, the middle of a sphere, as near to two obstacles), one of its one-sided
        gradients. Gradients of an `SdfGrid` are those of the field, not of length one; zero in an empty world.

        Args:
            points: (..., 3) in the world frame.

        Returns:
            (...) distances, a float for one point, and (..., 3) gradients in the world frame. JAX arrays for a JAX
            array.
        """
        if is_jax(points):
            return self._in_jax.distance_and_gradient(points)
        rows, shape = point_rows(points)
        distances, gradients = gradient_rows(self.core, rows)
        return distances.reshape(shape) if shape else float(distances[0]), gradients.reshape(*shape, 3)

    def nearest(self, points: Any) -> Any:
        """Names of the obstacles nearest to points.

        Args:
            points: (..., 3) in the world frame.

        Returns:
            A name for one point, else (...) names; None in an empty world.
        """
        rows, shape = point_rows(points)
        _, found = nearest_rows(self.core, rows)
        names = np.array([*self.names, None], dtype=object)[found]
        return names.reshape(shape) if shape else names[0]

    # Boxes --------------------------------------------------------------------------------------

    def box_intersects(self, center: Any, half_extents: Any, axes: Any) -> bool | Bool[np.ndarray, "*batch"]:
        """Which oriented boxes share a point with an obstacle; touching and being inside count.

        Exact to rounding, except for distance fields, which are conservative: boxes nearer to one than a fiftieth of
        its spacing may count as touching it. Leading axes broadcast as in numpy; thousands of boxes in one call are
        quick.

        Args:
            center: (..., 3) centres in the world, metres.
            half_extents: (..., 3) half edges along the axes of each box, metres; zero makes a plate, a stick, a point.
            axes: (..., 3, 3) axes of each box as columns, unit vectors in the world: its rotation R_world_box.

        Returns:
            bool for one box, else (...,) bool.

        Raises:
            InputError: wrong shapes, NaN, negative half edges, axes that are no rotation.
        """
        found = boxes_intersect(self.core, center, half_extents, axes)
        return found if found.ndim else bool(found)

    # Files --------------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | Path, *, package_dirs: Iterable[str | os.PathLike[str]] = ()) -> World:
        """Reads a scene: our own JSON, or the YAML of MoveIt and MotionBenchMaker; told by content.

        Args:
            path: the file.
            package_dirs: folders that are searched for package:// files, and that may be read from; other files
                that a scene names must be beside it or in its package.

        Returns:
            The world; its `notes` say what of the file was changed or is not kept.

        Raises:
            FormatError: the file is missing, broken or of another kind; the message names the place.
            DescriptionError: a file that it names is missing, broken or may not be read.
        """
        from ._file import read_obstacles

        path = Path(path)
        try:
            obstacles, notes = read_obstacles(path, package_dirs)
            return cls(obstacles, notes=notes)
        except InputError as error:
            raise FormatError(f"{path}: {error}") from error

    def write(self, path: str | Path, format: str | None = None) -> tuple[str, ...]:
        """Writes a scene by extension: .json keeps everything, .yaml and .yml are for MoveIt.

        Args:
            path: the file. Beside a JSON, large arrays go to an .npz of the same name.
            format: "json" or "moveit", if the extension does not tell.

        Returns:
            What the format cannot hold, and what to keep in mind; empty when nothing was lost.

        Raises:
            InputError: another extension, or the place cannot be written or holds something of another kind.
        """
        from ._file import write_world

        return write_world(Path(path), self, format)

    # Compiled -----------------------------------------------------------------------------------

    @cached_property
    def core(self) -> _core.World:
        """The obstacles in the compiled core; made when first needed. Meshes, clouds and fields are not copied."""
        return _core.World([obstacle.core for obstacle in self.obstacles])

    def clearance_grid(self, region: Float[np.ndarray, "2 3"]) -> _core.ClearanceGrid:
        """Lower bounds of the distance to all obstacles, with cells in a region, filled where they are asked for; kept
        for next time and for worlds made from this one.

        Args:
            region: lower and upper corner, metres.
        """
        corners = np.ascontiguousarray(region, dtype=np.float64)
        key = corners.tobytes()
        if key not in self._grids:
            before = self._grids_before.get(key)
            grid = before.for_world(self.core) if before is not None else None
            self._grids[key] = grid or _core.ClearanceGrid(self.core, corners)
        return self._grids[key]

    @cached_property
    def _in_jax(self) -> JaxWorld:
        from ._jax import JaxWorld

        return JaxWorld(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"obstacles": self.obstacles, "notes": self._notes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["obstacles"], notes=state["notes"])


def refuse_too_many(count: int) -> None:
    """Raises an InputError where there are more obstacles than a world takes; to be asked before they are made."""
    if count > MAX_OBSTACLES:
        raise InputError(
            f"at most {MAX_OBSTACLES} obstacles, found {count}; a PointCloud or MeshObstacle holds more"
        )


def _named(obstacles: Iterable[Obstacle]) -> tuple[Obstacle, ...]:
    """Obstacles with unique names."""
    if not isinstance(obstacles, Iterable) or isinstance(obstacles, str):
        raise InputError(f"expected a list of obstacles, found a {type(obstacles).__name__}")
    given = list(obstacles)
    refuse_too_many(len(given))
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
