"""Signed distance and contact of any two shapes.

A sphere is a point with a radius, a capsule a segment with a radius: their distances are those of the cores, less the
radii. Boxes and convex meshes are closed triangle meshes. Cylinders and ellipsoids are known to the core by their
farthest points (`ConvexSolid`). All pairs are in one table, `DISPATCH`.

Distances of shapes apart are exact to rounding; those of cylinders and ellipsoids to 1e-9 of the size of both (measured
above plates, where the gap is known). Depths are exact, the least separating translation, between convex shapes and for
anything against a half-space. Against a triangle mesh they are those of `mesh_mesh_separation`, plus the radius: where
a rounded shape meets a non-convex mesh in several places this is a lower bound of the separating translation. A
cylinder or an ellipsoid in a triangle mesh is as deep as the polyhedron around it, at most 1 % of its radius larger;
whether they meet at all is decided by its own shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from .. import _core
from .._frozen import freeze
from ..errors import InputError
from ..robot.internal import primitive
from ._depth import Separation, mesh_mesh_separation
from ._distance import MeshDistance, distance, distance_batch
from ._frames import one_row, row_matrix
from ._geometry import closest_points_on_segments
from ._mesh import TriangleMesh
from ._shapes import Box, Capsule, ContactShape, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Sphere

ON_SURFACE = 1e-13
"""Metres; the core of a rounded shape that is this close to a surface lies on it, and the face gives the normal."""


@dataclass(frozen=True, eq=False)
class Gap:
    """What is between two shapes in the world: the fields of `Separation`, the distance signed."""

    distance: float
    point_a: np.ndarray
    normal: np.ndarray
    tri_a: int = -1
    tri_b: int = -1
    triangle_depth: float = 0.0
    state: str = "surfaces"

    @property
    def point_b(self) -> np.ndarray:
        """On B; where two half-spaces overlap without end, as good as any."""
        if not np.isfinite(self.distance):
            return self.point_a.copy()
        return self.point_a + self.distance * self.normal

    def flipped(self) -> Gap:
        """The same seen from the other side."""
        state = {"a inside b": "b inside a", "b inside a": "a inside b"}.get(self.state, self.state)
        return Gap(
            self.distance, self.point_b, -self.normal, self.tri_b, self.tri_a, self.triangle_depth, state
        )


def detect_contact(
    shape_a: ContactShape, T_a: Any, shape_b: ContactShape, T_b: Any, *, contain: bool = True
) -> Separation | None:
    """Contact of two shapes as wholes, or None when they are apart; touching counts.

    Args:
        shape_a: first shape.
        T_a: its pose in the world, `(7,)` or `(4, 4)`; None for the identity.
        shape_b: second shape.
        T_b: its pose.
        contain: closed triangle meshes are solids; see `collide`. All other shapes always are.

    Raises:
        InputError: a shape of another type, or a bad pose.
    """
    gap = shape_gap(shape_a, T_a, shape_b, T_b, contain)
    if gap.distance > 0.0:
        return None
    depth, point_a, point_b, normal = -gap.distance + 0.0, gap.point_a, gap.point_b, gap.normal
    point = 0.5 * (point_a + point_b)
    freeze(point, normal, point_a, point_b)
    return Separation(
        point, normal, depth, gap.tri_a, gap.tri_b, point_a, point_b, gap.triangle_depth, gap.state
    )


def shape_distance(
    shape_a: ContactShape, T_a: Any, shape_b: ContactShape, T_b: Any, *, contain: bool = True
) -> MeshDistance:
    """Signed distance of two shapes: positive apart, negative (minus the depth of `detect_contact`) overlapping.

    Two half-spaces that are not parallel overlap without end: their distance is minus infinity.

    Args:
        shape_a: first shape.
        T_a: its pose in the world, `(7,)` or `(4, 4)`; None for the identity.
        shape_b: second shape.
        T_b: its pose.
        contain: as of `detect_contact`.

    Raises:
        InputError: a shape of another type, or a bad pose.
    """
    gap = shape_gap(shape_a, T_a, shape_b, T_b, contain)
    point_a, point_b, normal = gap.point_a, gap.point_b, gap.normal
    freeze(point_a, point_b, normal)
    return MeshDistance(gap.distance, point_a, point_b, normal, gap.tri_a, gap.tri_b)


def shape_gap(shape_a: Any, T_a: Any, shape_b: Any, T_b: Any, contain: bool) -> Gap:
    """What is between two posed shapes; without `contain` triangle meshes are surfaces, other shapes solids as ever."""
    handler = DISPATCH.get((type(shape_a), type(shape_b)))
    if handler is None:
        names = ", ".join(sorted({t.__name__ for t, _ in DISPATCH}))
        found = f"{type(shape_a).__name__} and {type(shape_b).__name__}"
        raise InputError(f"shapes: expected two of {names}, found {found}")
    T_a, T_b = row_matrix(one_row(T_a, "T_a")[0]), row_matrix(one_row(T_b, "T_b")[0])
    if not contain:
        shape_a, shape_b = (s.surface if isinstance(s, TriangleMesh) else s for s in (shape_a, shape_b))
    return handler(shape_a, T_a, shape_b, T_b)


def _segments(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray) -> Gap:
    """Spheres and capsules: closest points of two segments."""
    p, p_end, radius_a = _segment(a, T_a)
    q, q_end, radius_b = _segment(b, T_b)
    point_a, point_b, length = closest_points_on_segments(p, p_end, q, q_end)
    length = float(length)
    if length > 1e-12 * (1.0 + float(np.abs(p).max())):
        normal = (point_b - point_a) / length
    else:
        normal, length = _perpendicular(p_end - p, q_end - q), 0.0
    return Gap(length - radius_a - radius_b, point_a + radius_a * normal, normal)


def _cores(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray) -> Gap:
    """Polyhedra and rounded shapes: the cores as meshes, widened by the radii."""
    (core_a, radius_a), (core_b, radius_b) = _mesh_core(a), _mesh_core(b)
    radius = radius_a + radius_b
    found = distance_batch(core_a, T_a, core_b, T_b, signed=False)
    if found.tri_a[0] >= 0:
        gap, normal = float(found.distances[0]), found.normals[0].copy()
        if gap <= ON_SURFACE and radius > 0.0:
            normal = _outward(a, T_a, b, T_b, int(found.tri_a[0]), int(found.tri_b[0]))
        point_a = found.points_a[0] + radius_a * normal
        return Gap(
            gap - radius, point_a, normal, _face(a, int(found.tri_a[0])), _face(b, int(found.tri_b[0]))
        )
    deep = mesh_mesh_separation(core_a, T_a, core_b, T_b)
    if deep is None:  # they touch to rounding only
        near = distance(core_a, T_a, core_b, T_b)
        point_a = near.point_a + radius_a * near.normal
        return Gap(
            near.distance - radius, point_a, near.normal.copy(), _face(a, near.tri_a), _face(b, near.tri_b)
        )
    point_a, normal = deep.point_a + radius_a * deep.normal, deep.normal.copy()
    tri_a, tri_b = _face(a, deep.tri_a), _face(b, deep.tri_b)
    return Gap(-deep.depth - radius, point_a, normal, tri_a, tri_b, deep.triangle_depth, deep.state)


def _solids(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray) -> Gap:
    """Convex shapes of which at least one is a cylinder or an ellipsoid."""
    distance, normal, point_a = _core.solid_distance(_solid(a), _solid(b), _relative(T_a, T_b))
    return Gap(distance, T_a[:3, :3] @ point_a + T_a[:3, 3], T_a[:3, :3] @ normal)


def _mesh_solid(a: TriangleMesh, T_a: np.ndarray, b: Any, T_b: np.ndarray) -> Gap:
    """A triangle mesh and a cylinder or an ellipsoid."""
    d, normal, point_a, face, inside = _core.mesh_solid_distance(a.tree, _solid(b), _relative(T_a, T_b))
    normal, point_a = T_a[:3, :3] @ normal, T_a[:3, :3] @ point_a + T_a[:3, 3]
    if d > 0.0 and not inside:
        return Gap(d, point_a, normal, face)
    deep = mesh_mesh_separation(a, T_a, _around(b), T_b)
    if deep is None:  # they touch to rounding only
        return Gap(0.0, point_a, normal, face)
    return Gap(-deep.depth, deep.point_a.copy(), deep.normal.copy(), deep.tri_a, -1, 0.0, deep.state)


def _with_half_space(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray) -> Gap:
    """A shape against a half-space: its lowest point."""
    outward, offset = _plane(b, T_b)
    low = _lowest(a, T_a, outward)
    return Gap(float(outward @ low) - offset, low, -outward)


def _half_spaces(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray) -> Gap:
    """Two half-spaces: they meet without end unless they face away from each other."""
    normal_a, offset_a = _plane(a, T_a)
    normal_b, offset_b = _plane(b, T_b)
    parallel = float(normal_a @ normal_b) <= -1.0 + 1e-14
    return Gap(-(offset_a + offset_b) if parallel else -np.inf, normal_a * offset_a, normal_a)


def _swapped(handler: Handler) -> Handler:
    """The same handler for the shapes in the other order."""

    def swapped(a: Any, T_a: np.ndarray, b: Any, T_b: np.ndarray) -> Gap:
        return handler(b, T_b, a, T_a).flipped()

    return swapped


def _relative(T_a: np.ndarray, T_b: np.ndarray) -> np.ndarray:
    """Pose of B in the frame of A, packed."""
    R = T_a[:3, :3].T
    return np.concatenate([(R @ T_b[:3, :3]).reshape(9), R @ (T_b[:3, 3] - T_a[:3, 3])])


def _mesh_core(shape: Any) -> tuple[TriangleMesh, float]:
    """A polyhedron, a segment or a point as a mesh, and the radius around it."""
    if isinstance(shape, TriangleMesh):
        return shape, 0.0
    return (shape.mesh, 0.0) if isinstance(shape, ConvexMesh) else _made_core(shape)


@lru_cache(maxsize=256)
def _made_core(shape: Sphere | Capsule | Box) -> tuple[TriangleMesh, float]:
    if isinstance(shape, Box):
        return TriangleMesh.box(shape.size), 0.0
    half = 0.5 * float(shape.length) if isinstance(shape, Capsule) else 0.0
    ends = np.array([[0.0, 0.0, -half], [0.0, 0.0, half]][: 2 if half else 1])
    return TriangleMesh.core(ends), float(shape.radius)


def _solid(shape: Any) -> Any:
    """A convex shape as the core's `ConvexSolid`."""
    return _core.ConvexSolid.hull(shape.points, 0.0) if isinstance(shape, ConvexMesh) else _made_solid(shape)


@lru_cache(maxsize=256)
def _made_solid(shape: Sphere | Capsule | Box | Cylinder | Ellipsoid) -> Any:
    if isinstance(shape, Cylinder):
        return _core.ConvexSolid.cylinder(shape.radius, 0.5 * shape.length)
    if isinstance(shape, Ellipsoid):
        return _core.ConvexSolid.ellipsoid(*shape.semi_axes)
    core, radius = _made_core(shape)
    return _core.ConvexSolid.hull(core.vertices, radius)


@lru_cache(maxsize=64)
def _around(shape: Cylinder | Ellipsoid) -> TriangleMesh:
    """A polyhedron around a cylinder or an ellipsoid."""
    if isinstance(shape, Cylinder):
        data = primitive("cylinder", np.eye(4), (shape.radius, shape.length)).load()
    else:
        data = primitive("ellipsoid", np.eye(4), shape.semi_axes).load()
    return TriangleMesh(data.vertices, data.faces)


def _lowest(shape: Any, T: np.ndarray, up: np.ndarray) -> np.ndarray:
    """The point of a shape that is lowest against `up`, in the world; the middle of those that are equally low."""
    local = T[:3, :3].T @ up
    if isinstance(shape, Cylinder):
        across = np.array([local[0], local[1], 0.0])
        length = float(np.linalg.norm(across))
        low = -shape.radius * across / length if length > 1e-9 else np.zeros(3)
        low[2] = -np.copysign(0.5 * shape.length, local[2]) if abs(local[2]) > 1e-9 else 0.0
    elif isinstance(shape, Ellipsoid):
        size = np.array(shape.semi_axes)
        low = -size * size * local / float(np.linalg.norm(size * local))
    else:
        core, radius = _mesh_core(shape)
        points = core.vertices[np.unique(core.faces)]
        heights = points @ local
        lowest = float(heights.min())
        low = points[heights <= lowest + 1e-9 * (1.0 + abs(lowest))].mean(axis=0) - radius * local
    return T[:3, :3] @ low + T[:3, 3]


def _face(shape: Any, triangle: int) -> int:
    return triangle if isinstance(shape, TriangleMesh) else -1


def _segment(shape: Any, T: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Ends and radius of a sphere's or capsule's segment in the world."""
    if isinstance(shape, Sphere):
        return T[:3, 3], T[:3, 3], float(shape.radius)
    half = 0.5 * float(shape.length) * T[:3, 2]
    return T[:3, 3] - half, T[:3, 3] + half, float(shape.radius)


def _plane(shape: HalfSpace, T: np.ndarray) -> tuple[np.ndarray, float]:
    n = np.asarray(shape.normal, dtype=np.float64)
    outward = T[:3, :3] @ (n / np.linalg.norm(n))
    return outward, float(shape.offset + outward @ T[:3, 3])


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
        if isinstance(shape, (TriangleMesh, ConvexMesh, Box)):
            core = _mesh_core(shape)[0]
            p, q, r = core.vertices[core.faces[triangle]]
            n = np.cross(q - p, r - p)
            return sign * (T[:3, :3] @ (n / np.linalg.norm(n)))
    return np.array([0.0, 0.0, 1.0])


Handler: TypeAlias = Callable[[Any, np.ndarray, Any, np.ndarray], Gap]

ROUNDED, POLYHEDRA, SMOOTH = (Sphere, Capsule), (Box, ConvexMesh), (Cylinder, Ellipsoid)


def _handlers() -> dict[tuple[type, type], Handler]:
    """Which function answers for which pair of types."""
    table: dict[tuple[type, type], Handler] = {}
    convex = (*ROUNDED, *POLYHEDRA, *SMOOTH)
    for p in convex:
        for q in convex:
            smooth = p in SMOOTH or q in SMOOTH
            table[p, q] = _solids if smooth else _segments if {p, q} <= set(ROUNDED) else _cores
        table[p, TriangleMesh] = _swapped(_mesh_solid) if p in SMOOTH else _cores
        table[TriangleMesh, p] = _mesh_solid if p in SMOOTH else _cores
    table[TriangleMesh, TriangleMesh] = _cores
    for p in (*convex, TriangleMesh):
        table[p, HalfSpace], table[HalfSpace, p] = _with_half_space, _swapped(_with_half_space)
    table[HalfSpace, HalfSpace] = _half_spaces
    return table


DISPATCH = _handlers()
"""Which function answers for which pair of types."""
