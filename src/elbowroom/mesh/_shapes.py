"""Contact between any two of sphere, capsule, box, half-space and triangle mesh.

A sphere is a point with a radius, a capsule a segment with a radius: their contacts are those of the cores, moved by
the radii. Boxes are meshes of 12 triangles. All pairs are in one table, `DISPATCH`.

Depths are exact (the least separating translation) between spheres, capsules and boxes, and for anything against a
half-space. Against a mesh they are those of `mesh_mesh_separation` plus the radius; where a rounded shape meets a
non-convex mesh in several places this is a lower bound of the separating translation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .._frozen import freeze
from ..errors import InputError
from ._depth import Separation, flipped, mesh_mesh_separation
from ._distance import distance_batch
from ._frames import one_row, row_matrix
from ._mesh import TriangleMesh


def _positive(what: str, value: Any) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.number))
        or not 0 < float(value) < 1e9
    ):
        raise InputError(f"{what}: expected a positive length in metres, found {value!r}")


@dataclass(frozen=True)
class Sphere:
    """A ball around the origin of its frame."""

    radius: float
    """Metres."""

    def __post_init__(self) -> None:
        _positive("radius", self.radius)


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


@dataclass(frozen=True)
class Box:
    """A box centred at the origin of its frame."""

    size: tuple[float, float, float]
    """Edge lengths in metres."""

    def __post_init__(self) -> None:
        if len(self.size) != 3:
            raise InputError(f"size: expected three lengths, found {self.size!r:.80}")
        for length in self.size:
            _positive("size", length)


@dataclass(frozen=True)
class HalfSpace:
    """All points with normal . x <= offset, in its frame."""

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Outward normal; need not be a unit vector."""
    offset: float = 0.0
    """Distance of the plane from the origin along the unit normal, metres."""

    def __post_init__(self) -> None:
        n = np.asarray(self.normal, dtype=np.float64)
        if n.shape != (3,) or not np.all(np.isfinite(n)) or not np.linalg.norm(n) > 1e-12:
            raise InputError(f"normal: expected a vector that is not zero, found {self.normal!r:.80}")
        if not np.isfinite(self.offset):
            raise InputError(f"offset: expected a finite length, found {self.offset!r}")


ContactShape: TypeAlias = Sphere | Capsule | Box | HalfSpace | TriangleMesh
"""What `detect_contact` takes."""


def detect_contact(
    shape_a: ContactShape, T_a: Any, shape_b: ContactShape, T_b: Any, *, contain: bool = True
) -> Separation | None:
    """Contact of two shapes, or None when they are apart.

    Args:
        shape_a: first shape.
        T_a: its pose in the world, `(7,)` or `(4, 4)`; None for the identity.
        shape_b: second shape.
        T_b: its pose.
        contain: closed meshes are solids; see `collide`.

    Raises:
        InputError: a shape of another type, or a bad pose.
    """
    handler = DISPATCH.get((type(shape_a), type(shape_b)))
    if handler is None:
        names = ", ".join(sorted({t.__name__ for t, _ in DISPATCH}))
        found = f"{type(shape_a).__name__} and {type(shape_b).__name__}"
        raise InputError(f"shapes: expected two of {names}, found {found}")
    return handler(
        shape_a, row_matrix(one_row(T_a, "T_a")[0]), shape_b, row_matrix(one_row(T_b, "T_b")[0]), contain
    )


def _segments(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray, contain: bool) -> Separation | None:
    """Spheres and capsules: closest points of two segments."""
    p, u, radius_a = _segment(a, T_a)
    q, v, radius_b = _segment(b, T_b)
    s, t = _closest_parameters(p, u, q, v)
    point_a, point_b = p + s * u, q + t * v
    gap = point_b - point_a
    length = float(np.linalg.norm(gap))
    if length > radius_a + radius_b:
        return None
    if length > 1e-12 * (1.0 + float(np.abs(p).max())):
        normal = gap / length
    else:
        normal, length = _perpendicular(u, v), 0.0
    return _contact(point_a + radius_a * normal, normal, radius_a + radius_b - length, "surfaces")


def _cores(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray, contain: bool) -> Separation | None:
    """Anything but half-spaces: contact of the cores, widened by the radii."""
    (core_a, radius_a), (core_b, radius_b) = _core(a), _core(b)
    radius = radius_a + radius_b
    found = distance_batch(core_a, T_a, core_b, T_b, contain=contain, signed=False)
    tri_a, tri_b = _face(a, int(found.tri_a[0])), _face(b, int(found.tri_b[0]))
    if found.tri_a[0] >= 0:
        gap = float(found.distances[0])
        if gap > radius or radius == 0.0:
            return None
        normal = found.normals[0]
        if gap <= 1e-13:
            normal = _outward(a, T_a, b, T_b, int(found.tri_a[0]), int(found.tri_b[0]))
        point_a = found.points_a[0] + radius_a * normal
        return _contact(point_a, normal, radius - gap, "surfaces", 0.0, tri_a, tri_b)
    deep = mesh_mesh_separation(core_a, T_a, core_b, T_b, contain=contain)
    if deep is None:
        return None
    point_a = deep.point_a + radius_a * deep.normal
    tri_a, tri_b = _face(a, deep.tri_a), _face(b, deep.tri_b)
    return _contact(point_a, deep.normal, deep.depth + radius, deep.state, deep.triangle_depth, tri_a, tri_b)


def _with_half_space(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray, contain: bool) -> Separation | None:
    """A shape against a half-space: its deepest point."""
    outward, offset = _plane(b, T_b)
    core, radius = _core(a)
    points = core.vertices[np.unique(core.faces)] @ T_a[:3, :3].T + T_a[:3, 3]
    heights = points @ outward - offset
    lowest = float(heights.min())
    if lowest > radius:
        return None
    low = points[heights <= lowest + 1e-9 * (1.0 + abs(lowest))].mean(axis=0) - radius * outward
    return _contact(low, -outward, radius - lowest, "surfaces")


def _half_spaces(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray, contain: bool) -> Separation | None:
    """Two half-spaces: they meet without end unless they face away from each other."""
    normal_a, offset_a = _plane(a, T_a)
    normal_b, offset_b = _plane(b, T_b)
    if float(normal_a @ normal_b) > -1.0 + 1e-14:
        return _contact(normal_a * offset_a, normal_a, float("inf"), "surfaces")
    depth = offset_a + offset_b
    return _contact(normal_a * offset_a, normal_a, depth, "surfaces") if depth >= 0.0 else None


def _swapped(handler: Handler) -> Handler:
    """The same contact seen from the other side."""

    def swapped(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray, contain: bool) -> Separation | None:
        c = handler(b, T_b, a, T_a, contain)
        return None if c is None else flipped(c)

    return swapped


def _contact(
    point_a: np.ndarray,
    normal: np.ndarray,
    depth: float,
    state: str,
    triangle_depth: float = 0.0,
    tri_a: int = -1,
    tri_b: int = -1,
) -> Separation:
    depth = max(0.0, float(depth))
    point_b = point_a - depth * normal if np.isfinite(depth) else point_a.copy()
    point, normal = 0.5 * (point_a + point_b), np.array(normal)
    freeze(point, normal, point_a, point_b)
    return Separation(point, normal, depth, tri_a, tri_b, point_a, point_b, triangle_depth, state)


def _core(shape: Any) -> tuple[TriangleMesh, float]:
    if isinstance(shape, Sphere):
        return TriangleMesh.core(np.zeros((1, 3))), float(shape.radius)
    if isinstance(shape, Capsule):
        half = 0.5 * float(shape.length)
        return TriangleMesh.core(np.array([[0.0, 0.0, -half], [0.0, 0.0, half]])), float(shape.radius)
    if isinstance(shape, Box):
        return TriangleMesh.box(shape.size), 0.0
    return shape, 0.0


def _face(shape: Any, triangle: int) -> int:
    return triangle if isinstance(shape, TriangleMesh) else -1


def _segment(shape: Any, T: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Start, span and radius of a sphere's or capsule's segment in the world."""
    if isinstance(shape, Sphere):
        return T[:3, 3], np.zeros(3), float(shape.radius)
    span = float(shape.length) * T[:3, 2]
    return T[:3, 3] - 0.5 * span, span, float(shape.radius)


def _plane(shape: HalfSpace, T: np.ndarray) -> tuple[np.ndarray, float]:
    n = np.asarray(shape.normal, dtype=np.float64)
    outward = T[:3, :3] @ (n / np.linalg.norm(n))
    return outward, float(shape.offset + outward @ T[:3, 3])


def _closest_parameters(p: np.ndarray, u: np.ndarray, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Parameters of the closest points of the segments p + s u and q + t v, s and t in [0, 1]."""
    r = p - q
    uu, vv, uv, ur, vr = float(u @ u), float(v @ v), float(u @ v), float(u @ r), float(v @ r)
    den = uu * vv - uv * uv
    s = min(1.0, max(0.0, (uv * vr - ur * vv) / den)) if den > 1e-14 * uu * vv else 0.0
    t = (uv * s + vr) / vv if vv > 0 else 0.0
    if vv == 0 or t < 0 or t > 1:
        t = min(1.0, max(0.0, t))
        s = min(1.0, max(0.0, (t * uv - ur) / uu)) if uu > 0 else 0.0
    return s, t


def _perpendicular(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """A unit vector perpendicular to both, or to the longer when they are parallel."""
    n = np.cross(u, v)
    if np.linalg.norm(n) <= 1e-9 * np.linalg.norm(u) * np.linalg.norm(v):
        w = u if u @ u >= v @ v else v
        n = np.cross(w, np.eye(3)[int(np.argmin(np.abs(w)))])
    length = np.linalg.norm(n)
    return n / length if length > 0 else np.array([0.0, 0.0, 1.0])


def _outward(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray, tri_a: int, tri_b: int) -> np.ndarray:
    """Normal from A to B when a core lies on the other's surface: that of the face it lies on."""
    for shape, T, triangle, sign in ((a, T_a, tri_a, 1.0), (b, T_b, tri_b, -1.0)):
        if isinstance(shape, (TriangleMesh, Box)):
            core = _core(shape)[0]
            p, q, r = core.vertices[core.faces[triangle]]
            n = np.cross(q - p, r - p)
            return sign * (T[:3, :3] @ (n / np.linalg.norm(n)))
    return np.array([0.0, 0.0, 1.0])


Handler: TypeAlias = Callable[[Any, np.ndarray, Any, np.ndarray, bool], Separation | None]

DISPATCH: dict[tuple[type, type], Handler] = {
    (Sphere, Sphere): _segments,
    (Sphere, Capsule): _segments,
    (Sphere, Box): _cores,
    (Sphere, HalfSpace): _with_half_space,
    (Sphere, TriangleMesh): _cores,
    (Capsule, Sphere): _segments,
    (Capsule, Capsule): _segments,
    (Capsule, Box): _cores,
    (Capsule, HalfSpace): _with_half_space,
    (Capsule, TriangleMesh): _cores,
    (Box, Sphere): _cores,
    (Box, Capsule): _cores,
    (Box, Box): _cores,
    (Box, HalfSpace): _with_half_space,
    (Box, TriangleMesh): _cores,
    (HalfSpace, Sphere): _swapped(_with_half_space),
    (HalfSpace, Capsule): _swapped(_with_half_space),
    (HalfSpace, Box): _swapped(_with_half_space),
    (HalfSpace, HalfSpace): _half_spaces,
    (HalfSpace, TriangleMesh): _swapped(_with_half_space),
    (TriangleMesh, Sphere): _cores,
    (TriangleMesh, Capsule): _cores,
    (TriangleMesh, Box): _cores,
    (TriangleMesh, HalfSpace): _with_half_space,
    (TriangleMesh, TriangleMesh): _cores,
}
"""Which function answers for which pair of types."""
