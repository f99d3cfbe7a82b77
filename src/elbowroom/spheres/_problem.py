"""One link prepared for the tight fit: samples to cover, signed distances, points outside, all scaled.

Coordinates are relative to the middle of the bounding box, in units of half its diagonal, so that step sizes and
penalties mean the same for a fingertip and for a torso. Sampling is seeded: the same shape gives the same problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._poses import matrix_from_wxyz_xyz
from . import _kernels_proof as proof_kernels
from . import _kernels_tight as kernels
from ._shape import Float64, LinkShape

SURFACE_SAMPLES = 1500
"""Samples spread over the triangles by area; the exact descent mends what falls between them."""
EDGE_SAMPLES = 900
"""Samples along sharp edges, where spheres meet the constraint first."""
VERTEX_SAMPLES = 500
"""Vertices taken at most, those of the convex hull first."""
INSIDE_SAMPLES = 400
"""Points inside a closed shape, so that no cavity opens during the fit."""
OUTSIDE_POINTS = 16_000
"""Quasi-random points in the box around the link; those outside the shape measure the outside volume."""
LATTICE = 34
"""Nodes of the signed distance lattice along the longest side."""
BORDER = 0.3
"""How far the lattice and the outside points reach beyond the bounding box, in half diagonals."""
SHARP = np.cos(np.deg2rad(20.0))
"""Edges whose faces turn by more than 20 degrees are sharp."""
LEAST_SCALE = 1e-6
"""Scale of a link that is a point, metres."""
LEAST_REFERENCE = 1e-5
"""Scaled volume that a flat link is taken to have."""
DIRECTIONS = 32
"""Directions per sphere and step; they turn from step to step."""
PLANE_WEIGHT = 100.0
"""Weight of volume beyond a clip plane against other outside volume."""


Range = tuple[float, float]
"""First and last value over the steps of a descent."""


@dataclass
class Problem:
    """Arrays of one link for the kernels, in scaled coordinates."""

    shape: LinkShape
    origin: Float64
    scale: float
    samples: Float64
    lanes: Any
    inside: Float64
    inside_lanes: Any
    triangles: Float64
    clusters: Float64
    grid: Float64
    low: Float64
    spacing: float
    reference: float
    deep: float
    outside: Float64
    outside_depth: Float64
    cell: float
    weights: Float64
    planes: Float64
    dirs: Float64
    turns: Float64

    @classmethod
    def build(cls, shape: LinkShape, deep: float, planes: Float64 | None = None, seed: int = 0) -> Problem:
        """Prepares a shape.

        Args:
            shape: the link. deep: protrusion whose outside volume weighs double, metres.
            planes: (n, 4) clip planes in the link frame: volume with normal . x < offset is to be avoided.
            seed: of the samples.
        """
        rng = np.random.default_rng(seed)
        origin, scale = (shape.low + shape.high) / 2, max(shape.size / 2, LEAST_SCALE)
        grid, low, spacing, inside = _lattice(shape, origin, scale, rng)
        spread = surface_points(shape, SURFACE_SAMPLES, rng)
        surface = np.concatenate([_vertices(shape, rng), _edge_points(shape, rng), spread])
        to_cover = np.ascontiguousarray((np.concatenate([surface, inside]) - origin) / scale)
        inside = np.ascontiguousarray((inside - origin) / scale)
        reference = comparison_volume(shape) / scale**3
        triangles = np.ascontiguousarray((shape.clusters[0] - origin) / scale)
        scaled_planes = (
            np.zeros((0, 4)) if planes is None else np.array(planes, dtype=np.float64).reshape(-1, 4)
        )
        if len(scaled_planes):
            scaled_planes[:, 3] = (scaled_planes[:, 3] - scaled_planes[:, :3] @ origin) / scale
        extent = spacing * (np.array(grid.shape) - 1)
        points = low + extent * np.modf((np.arange(OUTSIDE_POINTS)[:, None] + 1.0) * R3)[0]
        depth = kernels.signed_distances(points, grid, low, spacing)
        keep = depth > 0.0 if shape.closed else np.ones(len(points), dtype=bool)
        points, depth = np.ascontiguousarray(points[keep]), np.maximum(depth[keep], 0.0)
        cell = float(np.prod(extent)) / OUTSIDE_POINTS / reference
        problem = cls(
            shape=shape, origin=origin, scale=scale, samples=to_cover, lanes=_lanes(to_cover),
            inside=inside, inside_lanes=_lanes(inside), triangles=triangles,
            clusters=proof_kernels.cluster_bounds(triangles), grid=grid, low=low, spacing=spacing,
            reference=reference, deep=0.0, outside=points, outside_depth=depth, cell=cell, weights=np.zeros(0),
            planes=scaled_planes, dirs=fibonacci(DIRECTIONS), turns=_turns(64, rng),
        )  # fmt: skip
        problem.set_deep(deep)
        return problem

    def set_deep(self, deep: float) -> None:
        """Sets the protrusion whose outside volume weighs double, metres."""
        self.deep = deep / self.scale
        steep = np.minimum((self.outside_depth / self.deep) ** kernels.DEPTH_POWER, kernels.DEPTH_MOST)
        self.weights = self.cell * (1.0 + steep)
        for plane in self.planes:
            self.weights[self.outside @ plane[:3] < plane[3]] *= PLANE_WEIGHT

    @property
    def outside_volume(self) -> kernels.Outside:
        """What the kernels need to know of the outside volume."""
        return kernels.Outside(
            self.dirs, self.turns, self.grid, self.low, self.spacing, 1.0 / self.reference, self.deep, self.planes,
            PLANE_WEIGHT,
        )  # fmt: skip

    def descend(self, balls: Float64, steps: int, step_size: Range, penalty: Range) -> None:
        """Descent with sampled coverage, in place, followed by strict repair on the samples."""
        kernels.descend(balls, self.lanes, self.outside_volume, steps, step_size, penalty)
        kernels.repair(balls, self.samples)

    def descend_exact(self, balls: Float64, steps: int, step_size: Range, penalty: Range) -> None:
        """Descent with exact coverage, in place, followed by growth at the last witnesses."""
        kernels.descend_exact(
            balls,
            self.triangles,
            self.clusters,
            self.inside_lanes,
            self.outside_volume,
            steps,
            step_size,
            penalty,
        )
        kernels.grow_exact(balls, self.triangles, self.clusters, self.inside, 12)

    def cost(self, balls: Float64) -> tuple[float, Float64]:
        """Weighted outside volume over the reference volume, and the part each ball alone is to blame for."""
        return kernels.assess(balls, self.outside, self.weights)

    def ratio(self, balls: Float64) -> float:
        """Union volume over reference volume."""
        return self.shape.union_volume(*self.metric(balls)) / (self.reference * self.scale**3)

    def scaled(self, centers: Float64, radii: Float64) -> Float64:
        """(spheres, 4) balls in scaled coordinates from metres."""
        return np.ascontiguousarray(
            np.column_stack([(centers - self.origin) / self.scale, radii / self.scale])
        )

    def metric(self, balls: Float64) -> tuple[Float64, Float64]:
        """Centres (spheres, 3) and radii (spheres,) in metres in the link frame."""
        centers = np.ascontiguousarray(balls[:, :3] * self.scale + self.origin)
        return centers, np.ascontiguousarray(balls[:, 3] * self.scale)


R3 = np.array([0.8191725133961645, 0.6710436067037893, 0.5497004779019703])
"""Steps of the R3 sequence (Roberts): quasi-random points in a cube."""


def comparison_volume(shape: LinkShape) -> float:
    """Reference volume of a shape in cubic metres, not zero even for a flat one."""
    return max(shape.reference_volume, LEAST_REFERENCE * max(shape.size / 2, LEAST_SCALE) ** 3)


def fibonacci(n: int) -> Float64:
    """(n, 3) unit vectors spread evenly over the sphere."""
    i = np.arange(n) + 0.5
    z = 1.0 - 2.0 * i / n
    angle = np.pi * (1.0 + 5.0**0.5) * i
    s = np.sqrt(1.0 - z * z)
    return np.ascontiguousarray(np.stack([s * np.cos(angle), s * np.sin(angle), z], axis=1))


def _lanes(points: Float64) -> Any:
    """(3, n) float32 copy for kernels that run over lanes of points."""
    return np.ascontiguousarray(points.T, dtype=np.float32)


def surface_points(shape: LinkShape, n: int, rng: np.random.Generator) -> Float64:
    """(n, 3) points on the triangles, spread by area."""
    total = float(shape.area.sum())
    if total <= 0.0:
        return shape.vertices[rng.integers(len(shape.vertices), size=n)]
    tri = np.searchsorted(np.cumsum(shape.area) / total, (np.arange(n) + rng.random(n)) / n)
    corners = shape.corners[np.minimum(tri, len(shape.area) - 1)]
    u = rng.random((n, 2))
    u[u.sum(axis=1) > 1.0] = 1.0 - u[u.sum(axis=1) > 1.0]
    return (
        corners[:, 0]
        + u[:, :1] * (corners[:, 1] - corners[:, 0])
        + u[:, 1:] * (corners[:, 2] - corners[:, 0])
    )


def _vertices(shape: LinkShape, rng: np.random.Generator) -> Float64:
    from scipy.spatial import ConvexHull, QhullError

    if len(shape.vertices) <= VERTEX_SAMPLES:
        return shape.vertices
    try:
        hull = np.sort(ConvexHull(shape.vertices).vertices)
    except (QhullError, ValueError):
        hull = np.zeros(0, dtype=np.int64)
    if len(hull) > VERTEX_SAMPLES:
        hull = hull[np.linspace(0, len(hull) - 1, VERTEX_SAMPLES).astype(int)]
    rest = rng.choice(len(shape.vertices), VERTEX_SAMPLES - len(hull), replace=False)
    return shape.vertices[np.concatenate([hull, rest])]


def _edge_points(shape: LinkShape, rng: np.random.Generator) -> Float64:
    """Points along edges that are sharp or belong to one face only, spread by length."""
    faces = shape.faces
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    owner = np.tile(np.arange(len(faces)), 3)
    keys = edges[:, 0] * np.int64(len(shape.vertices)) + edges[:, 1]
    order = np.argsort(keys, kind="stable")
    keys, owner, edges = keys[order], owner[order], edges[order]
    c = shape.corners
    normals = np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    same = np.flatnonzero(keys[1:] == keys[:-1])
    flat = np.zeros(len(keys), dtype=bool)
    smooth = same[np.einsum("ij,ij->i", normals[owner[same]], normals[owner[same + 1]]) > SHARP]
    flat[smooth] = flat[smooth + 1] = True
    sharp = edges[~flat]
    if len(sharp) == 0:
        return np.zeros((0, 3))
    a, b = shape.vertices[sharp[:, 0]], shape.vertices[sharp[:, 1]]
    length = np.cumsum(np.linalg.norm(b - a, axis=1))
    if length[-1] <= 0.0:
        return np.zeros((0, 3))
    place = (np.arange(EDGE_SAMPLES) + rng.random(EDGE_SAMPLES)) / EDGE_SAMPLES * length[-1]
    pick = np.minimum(np.searchsorted(length, place), len(sharp) - 1)
    t = rng.random((EDGE_SAMPLES, 1))
    return a[pick] + t * (b[pick] - a[pick])


def _lattice(
    shape: LinkShape, origin: Float64, scale: float, rng: np.random.Generator
) -> tuple[Float64, Float64, float, Float64]:
    """Scaled signed distance lattice, its low corner and spacing, and points inside (metres)."""
    half = (shape.high - shape.low) / 2 + BORDER * scale
    spacing = 2.0 * float(half.max()) / (LATTICE - 1)
    counts = np.maximum(np.ceil(2.0 * half / spacing).astype(int) + 1, 2)
    # an odd shift keeps nodes off the round coordinates where faces of modelled parts lie
    low = origin - spacing * (counts - 1) / 2 + spacing * np.array([0.0137, 0.0091, 0.0053])
    shape_counts = (int(counts[0]), int(counts[1]), int(counts[2]))
    axes = [low[d] + spacing * np.arange(counts[d]) for d in range(3)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    distance = shape.distance(nodes)
    inside = shape.inside_lattice(low, spacing, shape_counts).reshape(-1)
    signed = np.where(inside, -distance, distance).reshape(shape_counts)
    deep = nodes[inside & (distance > 0.5 * spacing)]
    if len(deep) > INSIDE_SAMPLES:
        deep = deep[rng.choice(len(deep), INSIDE_SAMPLES, replace=False)]
    return np.ascontiguousarray(signed / scale), (low - origin) / scale, spacing / scale, deep


def _turns(n: int, rng: np.random.Generator) -> Float64:
    """(n, 3, 3) random rotations."""
    poses = np.concatenate([rng.normal(size=(n, 4)), np.zeros((n, 3))], axis=1)
    return np.ascontiguousarray(matrix_from_wxyz_xyz(poses)[:, :3, :3])
