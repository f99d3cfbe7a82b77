"""Obstacles that were measured: point clouds and sampled distance fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from .. import _core
from .._frozen import frozen
from .._text import number, short
from ..errors import InputError, shape_text
from ._obstacles import MAX_SIZE, Obstacle

MAX_POINTS = 20_000_000
"""Largest cloud: its points and tree take about 1 GB."""
MAX_CELLS = 200_000_000
"""Largest distance field."""
SPACING_SAMPLES = 1000
"""Points that tell how dense a cloud is."""
NEIGHBOURS, DENSE = 4, 0.75
"""On a grid of points over a surface the four nearest are one step away; three quarters of all points must have them,
which leaves out rims and stray points."""


@dataclass(frozen=True, eq=False, repr=False)
class PointCloud(Obstacle):
    """Balls of one radius around points, as from a depth camera; where no ball is, is free."""

    kind: ClassVar[str] = "point_cloud"
    points: Float[np.ndarray, "points 3"]
    """Finite points in the frame of the cloud, metres, neighbours together; a copy. Images of points, such as (height,
    width, 3), are accepted."""
    radius: float
    """Metres around every point."""
    dropped: int = field(default=0, init=False)
    """Points given that were NaN or infinite and are left out."""
    spacing: float = field(default=0.0, init=False)
    """Metres within which three quarters of the points have four others: the step of a cloud sampled on a grid."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_lengths(radius=self.radius)
        kept = self._finite(self.points)
        self.__dict__["core_cloud"] = _core.PointCloud(kept)
        object.__setattr__(self, "points", frozen(self.core_cloud.points))
        object.__setattr__(self, "spacing", self._typical_spacing())
        if self.dropped:
            self._note(
                f"{self.dropped} of {self.dropped + len(kept)} points are NaN or infinite and were left out"
            )
        at_origin = int((~kept.any(axis=1)).sum())
        if at_origin > 1:
            self._note(
                f"{at_origin} of its points are at its origin exactly, as cameras mark missing depth; they are kept"
            )
        if self.spacing > 2.0 * self.radius:
            self._note(
                f"a quarter of its points are {number(1e3 * self.spacing)} mm and more from their neighbours, and its "
                f"balls {number(2e3 * self.radius)} mm wide: the robot may pass between them; a radius of "
                f"{number(1e3 * self.spacing)} mm would close most gaps"
            )

    @classmethod
    def read(
        cls,
        path: str | Path,
        radius: float | None = None,
        *,
        array: str | None = None,
        pose: Any = None,
        name: str = "",
    ) -> PointCloud:
        """Reads a cloud from a file: .npy, .npz, .ply, .pcd (ascii, binary), or text (.xyz, .txt, .csv).

        Text has a point a row, x, y and z first, separated by blanks, commas or semicolons; a row of titles and
        comments are left out. Of a PLY the vertices are taken. All in metres.

        Args:
            path: the file.
            radius: metres around every point. None takes the `spacing` of the cloud, within which three quarters of the
                points have four others: neighbouring balls then overlap, and a surface sampled on a grid has no gap.
            array: name of the array in an .npz file that holds several.
            pose: T_world_cloud, (7,) or (4, 4): of the camera, say; None for the identity.
            name: of the obstacle.

        Raises:
            FormatError: missing, broken, or of another kind. InputError: its numbers are no points, or they are all at
                one place and no radius is given.
        """
        from ._linked import read_points

        path = Path(path)
        points = read_points(path, array)
        try:
            if radius is not None:
                return cls(points, radius, pose=pose, name=name)
            cloud = cls(points, MAX_SIZE, pose=pose, name=name)  # no gaps yet to be warned about
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        if not cloud.spacing:
            raise InputError(
                f"{path}: its {len(cloud.points)} points have no spacing to take a radius from; give one"
            )
        object.__setattr__(cloud, "radius", cloud.spacing)
        cloud._forget_place()
        return cloud

    def _finite(self, points: Any) -> Float[np.ndarray, "kept 3"]:
        try:
            array = np.asarray(points)
            if array.dtype.kind not in "fiu":
                raise ValueError(f"found {array.dtype}")
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"{self.title}: points must be an (n, 3) array of numbers, found {short(points)}"
            ) from error
        if array.ndim < 2 or array.shape[-1] != 3:
            raise InputError(f"{self.title}: points must have shape (n, 3), found {shape_text(array)}")
        array = array.reshape(-1, 3)
        if len(array) > MAX_POINTS:
            raise InputError(
                f"{self.title}: at most {MAX_POINTS} points, found {len(array)}; thin it out, for example one point "
                "per voxel of half the radius"
            )
        good = np.isfinite(array).all(axis=1)
        kept = np.ascontiguousarray(array[good] if not good.all() else array, dtype=np.float64)
        object.__setattr__(self, "dropped", int(len(array) - len(kept)))
        if len(kept) == 0:
            raise InputError(
                f"{self.title}: expected at least one finite point, found {len(array)} points, "
                f"{self.dropped} of them NaN or infinite"
            )
        farthest = max(float(kept.max()), -float(kept.min()))
        if farthest > MAX_SIZE:
            raise InputError(f"{self.title}: expected points within {MAX_SIZE:g} m, found {farthest:.3g}")
        return kept

    def _typical_spacing(self) -> float:
        neighbours = min(NEIGHBOURS, len(self.points) - 1)
        if neighbours == 0:
            return 0.0
        picked = np.arange(0, len(self.points), max(1, len(self.points) // SPACING_SAMPLES))
        found = self.core_cloud.neighbour_distances(picked, neighbours)
        return float(np.quantile(found, DENSE))

    @cached_property
    def core_cloud(self) -> _core.PointCloud:
        """The points with their tree, shared by all obstacles that are this one elsewhere."""
        return _core.PointCloud(self.points)

    def _make_core(self, pose: np.ndarray) -> _core.Obstacle:
        return _core.Obstacle.cloud(self.core_cloud, self.radius, pose)

    def _shape(self) -> str:
        return f"{len(self.points)} points of radius {number(self.radius)} m"

    def _extent(self, R_world_obstacle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.core_cloud.bounds
        return 0.5 * (low + high), np.abs(R_world_obstacle) @ (0.5 * (high - low)) + self.radius


@dataclass(frozen=True, eq=False, repr=False)
class SdfGrid(Obstacle):
    """A signed distance field sampled on a grid, trilinear between samples: solid where it is not above zero.

    Nothing is known beyond the grid: the solid ends at its faces. At a point p beyond them, with q the nearest point of
    the grid, the distance is the root of `|p - q|^2 + value(q)^2` (value(q) taken as 0 where it is below), a lower
    bound. Inside the grid no point is deeper than the nearest face.
    """

    kind: ClassVar[str] = "sdf_grid"
    values: Float[np.ndarray, "nx ny nz"]
    """Signed distances in metres, float32, rounded down; a copy. Sample [i, j, k] is at origin + (i, j, k) * spacing,
    in the frame of the grid."""
    spacing: tuple[float, float, float]
    """Metres between samples along x, y, z; one number serves for all three."""
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Place of sample [0, 0, 0] in the frame of the grid, metres."""
    slope: float = field(default=1.0, init=False)
    """Bound on how fast the field changes outside the solid, at least 1. True distances change by at most 1 per metre;
    collision answers divide by it, so that they stay conservative for fields that are steeper."""

    def __post_init__(self) -> None:
        super().__post_init__()
        steps = (self.spacing,) * 3 if np.ndim(self.spacing) == 0 else self.spacing
        steps = tuple(self._length("spacing", float(s)) for s in self._vector("spacing", steps))
        object.__setattr__(self, "spacing", steps)
        object.__setattr__(self, "origin", tuple(self._vector("origin", self.origin).tolist()))
        object.__setattr__(self, "values", frozen(self._checked(self.values)))
        slope = self.core_field.steepest
        object.__setattr__(self, "slope", max(1.0, slope))
        if slope > 2.0:
            self._note(
                f"its values change by up to {number(slope)} m per metre, which distances do not: its clearances are "
                "divided by that"
            )

    def _checked(self, values: Any) -> Float[np.ndarray, "nx ny nz"]:
        try:
            array = np.asarray(values)
            if array.dtype.kind not in "fiu":
                raise ValueError(f"found {array.dtype}")
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"{self.title}: values must be an (nx, ny, nz) array of numbers, found {short(values)}"
            ) from error
        if array.ndim != 3 or min(array.shape) < 2 or array.size > MAX_CELLS:
            raise InputError(
                f"{self.title}: values must have shape (nx, ny, nz), at least 2 samples along each axis and at most "
                f"{MAX_CELLS} in all, found {shape_text(array)}"
            )
        if not np.isfinite(array).all():
            raise InputError(
                f"{self.title}: {int((~np.isfinite(array)).sum())} of {array.size} values are NaN or infinite"
            )
        farthest = max(float(array.max()), -float(array.min()))
        if farthest > MAX_SIZE:
            raise InputError(
                f"{self.title}: expected values within {MAX_SIZE:g} m, found {farthest:.3g}; clip what is not known"
            )
        low = np.ascontiguousarray(array, dtype=np.float32).copy()
        for rounded, given in zip(
            low, array, strict=True
        ):  # a layer at a time: fields may fill half the memory
            rounded[:] = np.where(rounded > given, np.nextafter(rounded, np.float32(-np.inf)), rounded)
        return low

    @cached_property
    def core_field(self) -> _core.DistanceField:
        """The samples in the compiled core, which refers to `values`."""
        return _core.DistanceField(self.values, np.array(self.spacing), np.array(self.origin))

    def _make_core(self, pose: np.ndarray) -> _core.Obstacle:
        return _core.Obstacle.field(self.core_field, pose)

    def _shape(self) -> str:
        return f"{' x '.join(map(str, self.values.shape))} samples"

    def _extent(self, R_world_obstacle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        half = 0.5 * np.array(self.spacing) * (np.array(self.values.shape) - 1)
        return np.array(self.origin) + half, np.abs(R_world_obstacle) @ half
