"""The shape of one link, prepared for fitting and proving: cleaned triangles, closedness, volume, distance.

Vertices at the same place are merged; `elbowroom._closed` says which pieces are closed and turns their faces
consistently. No triangle is ever dropped, not even one without area: all of them must be covered. Distances, volumes
and proofs are computed by the core's LinkShape.

Balls are checked against a shape exactly, and grown until they pass, by the core (`coverage.hpp` says how, and why
rounding is no part of the answer). `check` bounds the gap over every triangle and, for a closed shape, looks for
cavities of the union inside it; `certify` grows balls at the witnesses until nothing is left uncovered: until `check`
passes, or one ball holds all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._closed import closed_pieces, merge_vertices
from .._frozen import frozen
from ..errors import MeshError
from ..robot import Robot

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LinkShape:
    """Triangles of one link in the link frame."""

    vertices: Float64
    """(verts, 3) metres, merged."""
    faces: Int64
    """(tris, 3) indices, turned consistently where the shape is closed."""
    solid: Int64
    """(m, 3) those of the faces that belong to closed pieces; they bound the solid."""

    @property
    def closed(self) -> bool:
        """Whether every piece is closed, so that the shape bounds a volume and nothing else."""
        return len(self.solid) == len(self.faces)

    @classmethod
    def from_arrays(cls, vertices: Any, faces: Any, name: str = "mesh") -> LinkShape:
        """Prepares a triangle soup.

        Args:
            vertices: (verts, 3) metres; faces: (tris, 3) indices.
            name: used in error messages.

        Raises:
            MeshError: no triangle, wrong shapes, indices out of range, or numbers that are not finite.
        """
        v = np.asarray(vertices, dtype=np.float64)
        f = np.asarray(faces, dtype=np.int64)
        if v.ndim != 2 or v.shape[1:] != (3,) or f.ndim != 2 or f.shape[1:] != (3,):
            raise MeshError(
                f"{name}: expected vertices (n, 3) and faces (m, 3), found {v.shape} and {f.shape}"
            )
        if len(f) == 0:
            raise MeshError(f"{name}: the mesh has no triangle")
        if f.min() < 0 or f.max() >= len(v):
            raise MeshError(f"{name}: face indices must be in 0..{len(v) - 1}, found {f.min()}..{f.max()}")
        used = np.unique(f)
        if not np.isfinite(v[used]).all():
            bad = int(used[~np.isfinite(v[used]).all(axis=1)][0])
            raise MeshError(f"{name}: vertex {bad} is not finite: {v[bad].tolist()}")
        merged, f = _sorted_places(v[f].reshape(-1, 3))
        pieces = closed_pieces(merged, f)
        return cls(frozen(merged), frozen(pieces.faces), frozen(pieces.faces[pieces.closed]))

    @classmethod
    def from_mesh(cls, mesh: Any, name: str = "mesh") -> LinkShape:
        """Prepares a trimesh.Trimesh."""
        return cls.from_arrays(mesh.vertices, mesh.faces, name)

    @cached_property
    def corners(self) -> Float64:
        """(tris, 3, 3) corner points."""
        return np.ascontiguousarray(self.vertices[self.faces])

    @cached_property
    def low(self) -> Float64:
        """(3,) lower corner of the bounding box."""
        return self.vertices.min(axis=0)

    @cached_property
    def high(self) -> Float64:
        """(3,) upper corner of the bounding box."""
        return self.vertices.max(axis=0)

    @cached_property
    def size(self) -> float:
        """Diagonal of the bounding box, metres."""
        return float(np.linalg.norm(self.high - self.low))

    @cached_property
    def area(self) -> Float64:
        """(tris,) areas."""
        c = self.corners
        return 0.5 * np.linalg.norm(np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]), axis=1)

    @cached_property
    def hull_volume(self) -> float:
        """Volume of the convex hull, zero for a flat shape."""
        from scipy.spatial import ConvexHull, QhullError

        try:
            return float(ConvexHull(self.vertices).volume)
        except (QhullError, ValueError):
            return 0.0

    @cached_property
    def solid_volume(self) -> float:
        """Volume inside the closed pieces, overlaps counted once."""
        if len(self.solid) == 0:
            return 0.0
        by_rays = self.ray_volumes(np.zeros((0, 3)), np.zeros(0))[:, 0]
        c = self.vertices[self.solid]
        signed = abs(float(np.einsum("ij,ij->", c[:, 0], np.cross(c[:, 1], c[:, 2]))) / 6.0)
        # without overlaps the two agree, and the sum over triangles is exact
        doubt = 4.0 * float(by_rays.std(ddof=1)) / np.sqrt(len(by_rays)) + 1e-3 * signed
        return signed if abs(signed - by_rays.mean()) < doubt else float(by_rays.mean())

    @cached_property
    def reference_volume(self) -> float:
        """What union volumes are compared with: the solid where closed, otherwise the convex hull."""
        return self.solid_volume if self.reference_is_solid else self.hull_volume

    @property
    def reference_is_solid(self) -> bool:
        """Whether the shape encloses a volume and nothing else, so that union volumes are compared with that."""
        return self.closed and self.solid_volume > 0.0

    @cached_property
    def wall(self) -> float:
        """Mean thickness of the solid, metres: twice its volume over its area; zero without closed piece."""
        c = self.vertices[self.solid]
        area = 0.5 * float(np.linalg.norm(np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]), axis=1).sum())
        return 2.0 * self.solid_volume / area if area > 0.0 else 0.0

    @cached_property
    def core(self) -> Any:
        """The same shape in the core."""
        return _core.LinkShape(self.vertices, self.faces, self.solid)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("vertices", "faces", "solid")}

    def distance(self, points: Float64) -> Float64:
        """Unsigned distance of points (n, 3) to the surface, metres."""
        return self.core.distances(np.asarray(points, dtype=np.float64))

    def ray_volumes(self, centers: Float64, radii: Float64) -> Float64:
        """(8, 3) volumes of solid, union of balls and both, by shifted lattices of rays along z, cubic metres."""
        return self.core.volumes(ball_rows(centers, radii))

    def signed_distances(self, low: Float64, spacing: float, counts: Any) -> Float64:
        """(nx, ny, nz) distances at the nodes of a regular lattice, metres, negative inside closed pieces."""
        nx, ny, nz = (int(n) for n in counts)
        return self.core.signed_distances(tuple(low.tolist()), float(spacing), (nx, ny, nz))


def ball_rows(centers: Any, radii: Any) -> Float64:
    """(n, 4) rows of centre and radius, as the core takes balls."""
    return np.column_stack(
        [
            np.asarray(centers, dtype=np.float64).reshape(-1, 3),
            np.asarray(radii, dtype=np.float64).reshape(-1),
        ]
    )


def union_volume(centers: Float64, radii: Float64) -> float:
    """Volume of a union of balls by one lattice of rays, cubic metres: quick, for comparing fits."""
    return _core.union_volume(ball_rows(centers, radii))


def link_shapes(robot: Robot) -> Iterator[tuple[str, LinkShape]]:
    """Names and shapes of the links of a Robot that have collision geometry, in its order."""
    for name in robot.link_names:
        mesh = robot.link_triangles(name)
        if mesh is not None:
            yield name, LinkShape.from_mesh(mesh, f"link {name!r}")


def bounding_sphere(points: Float64) -> tuple[Float64, float]:
    """The smallest sphere around points (n, 3): centre and radius, rounded up.

    Keeps the few points that hold the sphere, adds the farthest one outside, and solves for these again; the radius
    rises each time, so the loop ends.
    """
    first = int(np.argmax(np.linalg.norm(points - points[0], axis=1)))
    support = points[[0, first]]
    center, radius = points.mean(axis=0), 0.0
    for _ in range(200):
        center, radius, support = _smallest(support)
        distance = np.linalg.norm(points - center, axis=1)
        far = int(np.argmax(distance))
        if distance[far] <= radius * (1.0 + 1e-10):
            break
        support = np.concatenate([support, points[far : far + 1]])
    radius = float(np.linalg.norm(points - center, axis=1).max())
    return center, radius * (1.0 + 1e-9)


def _smallest(points: Float64) -> tuple[Float64, float, Float64]:
    """Smallest sphere around at most five points, and those of them on it, by trying all subsets."""
    best: tuple[Float64, float, Float64] = (points[0], np.inf, points)
    for size in range(2, min(len(points), 4) + 1):
        for subset in combinations(range(len(points)), size):
            chosen = points[list(subset)]
            edges = chosen[1:] - chosen[0]
            offset = np.linalg.lstsq(2.0 * edges, (edges**2).sum(axis=1), rcond=None)[0]
            center, radius = chosen[0] + offset, float(np.linalg.norm(offset))
            holds = np.linalg.norm(points - center, axis=1).max() <= radius * (1.0 + 1e-10)
            if holds and radius < best[1]:
                best = center, radius, chosen
    return best


def _sorted_places(corners: Float64) -> tuple[Float64, Int64]:
    """The places of triangle corners (3 * tris, 3), sorted by coordinates, and faces (tris, 3) that number them."""
    label, first = merge_vertices(corners)
    places = corners[first] + 0.0
    order = np.lexsort(places.T[::-1])
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return places[order], rank[label].reshape(-1, 3)


@dataclass(frozen=True)
class Check:
    """Outcome of an exact check of balls against one shape."""

    surface_bound: float
    """Upper bound of the distance from any surface point to the union, metres; <= 0 when covered."""
    witnesses: Float64
    """(n, 3) points of the surface, or inside a closed shape, outside every ball."""
    gaps: Float64
    """(n,) distance of each witness to the union, metres."""
    cavities: int
    """How many witnesses are inside the solid, off its surface."""

    @property
    def covered(self) -> bool:
        """Whether everything is proved to be inside the union."""
        return self.surface_bound <= 0.0 and self.cavities == 0


def check(shape: LinkShape, centers: Float64, radii: Float64, tolerance: float = 0.0) -> Check:
    """Decides whether balls cover a shape: its surface, and its inside where it is closed.

    Args:
        shape: the link. centers: (spheres, 3) and radii: (spheres,) in the link frame, metres.
        tolerance: how much the balls are grown for the check, metres.
    """
    balls = ball_rows(centers, np.asarray(radii) + tolerance)
    balls = balls[balls[:, 3] > 0.0]
    if len(balls) == 0:
        gaps = np.full(len(shape.vertices), np.inf)
        return Check(np.inf, shape.vertices.copy(), gaps, 0)
    bound, witnesses, gaps, cavities = shape.core.prove_coverage(balls)
    return Check(bound, witnesses, gaps + tolerance, cavities)


def certify(shape: LinkShape, centers: Float64, radii: Float64, rounds: int = 200) -> Float64:
    """Grows balls until they are proved to cover the shape.

    Each witness grows the ball nearest to it; the overshoot rises from round to round, and in the
    last rounds all balls grow by the largest gap. Should that not be enough, the first one grows around everything.

    Returns:
        (spheres,) radii, never below the given ones.
    """
    return np.ascontiguousarray(shape.core.grow_to_cover(ball_rows(centers, radii), rounds)[:, 3])
