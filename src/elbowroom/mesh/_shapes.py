"""Shapes that bodies are made of: sphere, capsule, box, cylinder, ellipsoid, half-space, convex and triangle mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._frozen import frozen
from ..errors import InputError, shape_text
from ._geometry import transform_aabb
from ._mesh import TriangleMesh


def _positive(what: str, value: Any) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.number))
        or not 0 < float(value) < 1e9
    ):
        raise InputError(f"{what}: expected a positive length in metres, found {value!r}")


def _three(what: str, values: Any) -> tuple[float, float, float]:
    if not isinstance(values, (tuple, list, np.ndarray)) or np.shape(values) != (3,):
        raise InputError(f"{what}: expected three lengths, found {values!r:.80}")
    for length in values:
        _positive(what, length)
    return float(values[0]), float(values[1]), float(values[2])


@brief
@dataclass(frozen=True)
class Sphere:
    """A ball around the origin of its frame."""

    radius: float
    """Metres."""

    def __post_init__(self) -> None:
        _positive("radius", self.radius)


@brief
@dataclass(frozen=True)
class Capsule:
    """All points within `radius` of a segment along z, centred at the origin of its frame."""

    radius: float
    """Metres."""
    length: float
    """Length of the segment, metres; the capsule is longer by two radii."""

    def __post_init__(self) -> None:
        _positive("radius", self.radius)
        _positive("length", self.length)


@brief
@dataclass(frozen=True)
class Cylinder:
    """A cylinder about z with flat ends, centred at the origin of its frame."""

    radius: float
    """Metres."""
    length: float
    """Metres, from end to end."""

    def __post_init__(self) -> None:
        _positive("radius", self.radius)
        _positive("length", self.length)


@brief
@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid centred at the origin of its frame."""

    semi_axes: tuple[float, float, float]
    """Half the lengths along x, y and z, metres."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "semi_axes", _three("semi_axes", self.semi_axes))


@brief
@dataclass(frozen=True)
class Box:
    """A box centred at the origin of its frame."""

    size: tuple[float, float, float]
    """Edge lengths in metres."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _three("size", self.size))


@brief
@dataclass(frozen=True)
class HalfSpace:
    """All points with normal . x <= offset, in its frame."""

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Outward normal; need not be a unit vector."""
    offset: float = 0.0
    """Distance of the plane from the origin along the unit normal, metres."""

    def __post_init__(self) -> None:
        try:
            n = np.asarray(self.normal, dtype=np.float64)
        except (TypeError, ValueError):
            n = np.empty(0)
        if n.shape != (3,) or not np.all(np.isfinite(n)) or not np.linalg.norm(n) > 1e-12:
            raise InputError(f"normal: expected a vector that is not zero, found {self.normal!r:.80}")
        if not isinstance(self.offset, (int, float, np.number)) or not np.isfinite(self.offset):
            raise InputError(f"offset: expected a finite length, found {self.offset!r:.80}")
        object.__setattr__(self, "normal", (float(n[0]), float(n[1]), float(n[2])))


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ConvexMesh:
    """The convex hull of points as a solid: whatever is inside it collides with it."""

    mesh: TriangleMesh
    """Triangles of the hull, wound outward."""
    points: Float[np.ndarray, "corners 3"]
    """Corners of the hull, metres, read-only."""

    def __init__(self, points: Any) -> None:
        """Makes the hull.

        Args:
            points: `(n, 3)` points in metres, in any order; or a `TriangleMesh`, whose corners are taken.

        Raises:
            InputError: wrong shape, NaN, or points on one plane.
        """
        from scipy.spatial import ConvexHull, QhullError  # slow to import, and no verdict needs it

        if isinstance(points, TriangleMesh):
            points = points.vertices[np.unique(points.faces)]
        try:
            array = np.array(points, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"points: expected shape (n, 3), found {shape_text(points)}") from error
        if array.ndim != 2 or array.shape[1] != 3 or not np.all(np.isfinite(array)):
            raise InputError(f"points: expected finite coordinates of shape (n, 3), found {array.shape}")
        try:
            hull = ConvexHull(array)
        except (QhullError, ValueError) as error:
            raise InputError(
                f"points: {len(array)} of them on one plane have no hull with a volume"
            ) from error
        u, v = (array[hull.simplices[:, k]] - array[hull.simplices[:, 0]] for k in (1, 2))
        inward = np.einsum("ij,ij->i", np.cross(u, v), hull.equations[:, :3]) < 0.0
        faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
        number = np.full(len(array), -1)
        number[hull.vertices] = np.arange(len(hull.vertices))
        object.__setattr__(self, "points", frozen(array[hull.vertices]))
        object.__setattr__(self, "mesh", TriangleMesh(self.points, number[faces]))

    def __repr__(self) -> str:
        return f"ConvexMesh({len(self.points)} corners)"


ContactShape: TypeAlias = (
    Sphere | Capsule | Box | Cylinder | Ellipsoid | HalfSpace | ConvexMesh | TriangleMesh
)
"""What bodies are made of, and `detect_contact` takes."""


def check_shape(shape: Any) -> None:
    """Refuses anything that is not a `ContactShape`."""
    kinds = ContactShape.__args__
    if not isinstance(shape, kinds):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(f"shape: expected one of {names}, found {shape!r:.80}")


def shape_bounds(shape: ContactShape, T: Float[np.ndarray, "4 4"]) -> Float[np.ndarray, "2 3"]:
    """Lowest and highest coordinates of a posed shape; infinite for half-spaces."""
    R, t = T[:3, :3], T[:3, 3]
    match shape:
        case Sphere():
            reach = np.full(3, shape.radius)
        case Capsule():
            reach = 0.5 * shape.length * np.abs(R[:, 2]) + shape.radius
        case Cylinder():
            across = np.sqrt(np.maximum(0.0, 1.0 - R[:, 2] ** 2))
            reach = 0.5 * shape.length * np.abs(R[:, 2]) + shape.radius * across
        case Ellipsoid():
            reach = np.linalg.norm(R * np.array(shape.semi_axes), axis=1)
        case HalfSpace():
            reach = np.full(3, np.inf)
        case Box():
            reach = 0.5 * np.abs(R) @ np.array(shape.size)
        case ConvexMesh() | TriangleMesh():
            mesh = shape.mesh if isinstance(shape, ConvexMesh) else shape
            return np.stack(
                transform_aabb(mesh.center - mesh.half_extents, mesh.center + mesh.half_extents, T)
            )
    return np.stack([t - reach, t + reach])
