"""The shape of one link, prepared for fitting and proving: cleaned triangles, closedness, volume, distance.

Vertices at the same place are merged; `elbowroom._closed` says which pieces are closed and turns their faces
consistently. No triangle is ever dropped, not even one without area: all of them must be covered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from .._closed import closed_pieces, merge_vertices
from .._frozen import frozen
from ..errors import MeshError
from ..robot import Robot
from . import _kernels_field as field
from . import _kernels_proof as proof

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

RAYS = 40
"""Rays along the longer side of the lattice that measures a volume; eight shifted lattices are averaged."""
SHIFTS = 8
"""Shifted lattices per volume: their spread gives the standard error."""


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
        by_rays = np.array([row[0] for row in self.ray_volumes(np.zeros((0, 3)), np.zeros(0))])
        c = self.vertices[self.solid]
        signed = abs(float(np.einsum("ij,ij->", c[:, 0], np.cross(c[:, 1], c[:, 2]))) / 6.0)
        # without overlaps the two agree, and the sum over triangles is exact
        doubt = 4.0 * float(by_rays.std(ddof=1)) / np.sqrt(SHIFTS) + 1e-3 * signed
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
    def _tree(self) -> tuple[Any, Any, Any]:
        return field.build_tree(self.corners)

    @cached_property
    def clusters(self) -> tuple[Float64, Float64]:
        """Triangles (tris, 3, 3) ordered in space, and the bounding balls (clusters, 4) of runs of them."""
        ordered = np.ascontiguousarray(self.corners[self._tree[2]])
        return ordered, proof.cluster_bounds(ordered)

    def distance(self, points: Float64) -> Float64:
        """Unsigned distance of points (n, 3) to the surface, metres."""
        return field.distances(np.ascontiguousarray(points), self.corners, *self._tree)

    def ray_volumes(self, centers: Float64, radii: Float64) -> list[tuple[float, float, float]]:
        """Volumes of (solid, union of balls, both) by shifted lattices of rays along z."""
        low, high = self.low[:2].copy(), self.high[:2].copy()
        if len(radii):
            low = np.minimum(low, (centers[:, :2] - radii[:, None]).min(axis=0))
            high = np.maximum(high, (centers[:, :2] + radii[:, None]).max(axis=0))
        extent = np.maximum(high - low, 1e-9 * max(self.size, 1e-9))
        step = float(extent.max()) / RAYS
        n = np.maximum(np.ceil(extent / step).astype(int), 8)
        spacing = extent / n
        out: list[tuple[float, float, float]] = []
        for shift in range(SHIFTS):
            # the R2 sequence (Roberts): well spread shifts, never on a mesh's round coordinates
            first = (
                low
                + spacing * np.modf(np.array([0.7548776662466927, 0.5698402909980532]) * (shift + 1.37))[0]
            )
            lattice = (first[0], first[1], spacing[0], spacing[1], int(n[0]), int(n[1]))
            crossings = field.ray_crossings(self.vertices, self.solid, *lattice)
            out.append(field.ray_volumes(*crossings, centers, radii, *lattice))
        return out

    def union_volume(self, centers: Float64, radii: Float64) -> float:
        """Volume of a union of balls by one lattice of rays: quick, for comparing fits."""
        low, high = (centers - radii[:, None]).min(axis=0), (centers + radii[:, None]).max(axis=0)
        spacing = (high - low)[:2] / RAYS
        lattice = (low[0] + 0.43 * spacing[0], low[1] + 0.57 * spacing[1], spacing[0], spacing[1], RAYS, RAYS)
        nothing = np.zeros(RAYS * RAYS + 1, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64)
        return float(field.ray_volumes(*nothing, centers, radii, *lattice)[1])

    def inside_lattice(
        self, low: Float64, spacing: float, counts: tuple[int, int, int]
    ) -> npt.NDArray[np.bool_]:
        """Which nodes of a regular lattice are inside the closed pieces."""
        nx, ny, nz = counts
        out = np.zeros((nx * ny, nz), dtype=bool)
        if len(self.solid):
            start, z, sign = field.ray_crossings(
                self.vertices, self.solid, low[0], low[1], spacing, spacing, nx, ny
            )
            levels = low[2] + spacing * np.arange(nz)
            for ray in np.flatnonzero(np.diff(start)):
                lo, hi = start[ray], start[ray + 1]
                winding = np.concatenate([[0], np.cumsum(sign[lo:hi])])
                out[ray] = winding[np.searchsorted(z[lo:hi], levels)] != 0
        return out.reshape(nx, ny, nz)


def link_shapes(robot: Robot) -> Iterator[tuple[str, LinkShape]]:
    """Names and shapes of the links of a Robot that have collision geometry, in its order."""
    for name in robot.link_names:
        mesh = robot.link_mesh(name)
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
