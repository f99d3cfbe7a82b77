"""One link prepared for the tight fit: samples to cover, signed distances, points outside, all scaled.

Coordinates are relative to the middle of the bounding box, in units of half its diagonal, so that step sizes and
penalties mean the same for a fingertip and for a torso. Sampling is seeded: the same shape gives the same problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._poses import matrix_from_wxyz_xyz
from . import _kernels_descent as descent
from . import _kernels_moves as moves
from . import _kernels_polish as polishing
from . import _kernels_proof as proof_kernels
from ._shape import Float64, LinkShape, bounding_sphere

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
TURNS = 64
"""Sets of directions that the descents take in turn."""
LLOYD_ROUNDS = 7
"""Rounds of clustering for a start."""

Float32 = npt.NDArray[np.float32]
Beyond = Callable[[Float64], Float64]
"""For points (n, 3) in a link frame, (n,) numbers that are positive where the link should not reach, metres."""


class Schedule(NamedTuple):
    """How a descent runs."""

    steps: int
    """Iterations."""
    step_size: tuple[float, float]
    """First and last step, scaled."""
    penalty: tuple[float, float]
    """First and last weight of what is not covered."""


@dataclass
class Problem:
    """Arrays of one link for the kernels, in scaled coordinates; points are (3, n) float32 lanes."""

    shape: LinkShape
    origin: Float64
    scale: float
    samples: tuple[Float32, Float64]
    """To cover, with bounds of blocks of them: of the surface, and inside a closed shape."""
    inside: tuple[Float32, Float64]
    """Those of the samples that are inside."""
    triangles: Float64
    clusters: Float64
    field: descent.Outside
    outside: Float32
    """Points outside the shape that measure the outside volume."""
    outside_depth: Float64
    """(n,) their distances to the shape."""
    unit: Float64
    """(n,) volume over reference volume that each stands for, with the weight of where the link should not reach."""
    weights: Float32
    """(n,) the same times the weight of their depth."""

    @classmethod
    def build(cls, shape: LinkShape, deep: float, beyond: Beyond | None = None, seed: int = 0) -> Problem:
        """Prepares a shape.

        Args:
            shape: the link. deep: protrusion whose outside volume weighs double, metres.
            beyond: for points (n, 3) in the link frame, a number (n,) each that is positive where the link should not
                reach, metres.
            seed: of the samples.
        """
        rng = np.random.default_rng(seed)
        origin, scale = (shape.low + shape.high) / 2, max(shape.size / 2, LEAST_SCALE)
        nodes, low, spacing = _lattice(shape, origin, scale)
        signed, inside = _signed_distances(shape, nodes, low, spacing, rng)
        spread = surface_points(shape, SURFACE_SAMPLES, rng)
        surface = np.concatenate([_vertices(shape, rng), edge_points(shape, rng), spread])
        past = (
            np.zeros((0, 0, 0)) if beyond is None else beyond(nodes.reshape(-1, 3)).reshape(nodes.shape[:3])
        )
        volume = comparison_volume(shape) / scale**3
        field = descent.Outside(
            _directions(rng), _float32(signed / scale), _float32(past / scale), (low - origin) / scale,
            spacing / scale, 1.0 / volume, 1.0,
        )  # fmt: skip
        extent = field.spacing * (np.array(signed.shape) - 1)
        points = field.low + extent * np.modf((np.arange(OUTSIDE_POINTS)[:, None] + 1.0) * R3)[0]
        depth = descent.lattice_values(points, field.grid, field.low, field.spacing)
        keep = depth > 0.0 if shape.closed else np.ones(len(points), dtype=bool)
        points, depth = np.ascontiguousarray(points[keep]), np.maximum(depth[keep], 0.0)
        unit = np.full(len(points), float(np.prod(extent)) / OUTSIDE_POINTS / volume)
        if beyond is not None:
            there = descent.lattice_values(points, field.beyond, field.low, field.spacing) > 0.0
            unit[there] *= descent.BEYOND_WEIGHT
        triangles = np.ascontiguousarray((shape.clusters[0] - origin) / scale)
        problem = cls(
            shape=shape, origin=origin, scale=scale,
            samples=_blocks((np.concatenate([surface, inside]) - origin) / scale),
            inside=_blocks((inside - origin) / scale), triangles=triangles,
            clusters=proof_kernels.cluster_bounds(triangles), field=field, outside=_lanes(points),
            outside_depth=depth, unit=unit, weights=_float32(unit),
        )  # fmt: skip
        problem.set_deep(deep)
        return problem

    @property
    def deep(self) -> float:
        """Protrusion whose outside volume weighs double, metres."""
        return self.field.deep * self.scale

    def set_deep(self, deep: float) -> None:
        """Sets the protrusion whose outside volume weighs double, metres."""
        self.field = self.field._replace(deep=deep / self.scale)
        share = self.outside_depth / self.field.deep
        self.weights = _float32(
            self.unit * (1.0 + np.minimum(share**descent.DEPTH_POWER, descent.DEPTH_MOST))
        )

    def one_ball(self) -> Float64:
        """(1, 4) the ball around everything: for one ball there is nothing to search."""
        center, radius = bounding_sphere(self.shape.vertices)
        return self.scaled(center[None], np.array([radius]))

    def clustered(self, count: int, rng: np.random.Generator) -> Float64:
        """(count, 4) balls about clusters of the samples."""
        n = self.samples[0].shape[1]
        picks = rng.choice(n, count, replace=count > n)
        return moves.clustered(self.samples[0], picks, rng.integers(n, size=(LLOYD_ROUNDS, count)))

    def split_worst(self, balls: Float64) -> Float64:
        """(n + 1, 4) balls, the one to blame for most outside volume cut in two."""
        return moves.split(balls, int(np.argmax(self.cost(balls)[1])), self.samples[0])

    def descend(self, balls: Float64, how: Schedule) -> None:
        """Descent with sampled coverage, in place, followed by strict repair on the samples."""
        descent.descend(balls, *self.samples, self.field, *how)
        moves.repair(balls, *self.samples)

    def improve(
        self, balls: Float64, trials: int, rng: np.random.Generator, how: Schedule
    ) -> tuple[Float64, float]:
        """Better balls by moves, each followed by a descent, and their cost."""
        draws = rng.random((trials, 2))
        best, cost, _ = moves.improve(
            balls, *self.samples, self.field, self.outside, self.weights, draws, *how
        )
        return best, cost

    def polish(self, balls: Float64, steps: int, step_size: tuple[float, float]) -> None:
        """Descent with exact coverage, in place, followed by growth at the last witnesses."""
        polishing.polish(balls, self.triangles, self.clusters, *self.inside, self.field, steps, step_size)
        polishing.grow_exact(balls, self.triangles, self.clusters, self.inside[0], 12)

    def cost(self, balls: Float64) -> tuple[float, Float64]:
        """Weighted outside volume over the reference volume, and the part each ball alone is to blame for."""
        return moves.assess(balls, self.outside, self.weights)

    def ratio(self, balls: Float64) -> float:
        """Union volume over reference volume."""
        return self.shape.union_volume(*self.metric(balls)) * self.field.weight / self.scale**3

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


def _float32(values: Float64) -> Float32:
    return np.ascontiguousarray(values, dtype=np.float32)


def _lanes(points: Float64) -> Float32:
    """(3, n) float32 copy for kernels that run over lanes of points."""
    return _float32(points.T)


def _blocks(points: Float64) -> tuple[Float32, Float64]:
    """Lanes of points (n, 3) ordered in space, the last repeated to fill its block, and the bounds of the blocks."""
    cells = np.clip((points + 1.0) * 512.0, 0, 1023).astype(np.int64)
    code = np.zeros(len(points), dtype=np.int64)
    for bit in range(10):  # the Morton order: bits of the three coordinates in turn
        for d in range(3):
            code |= ((cells[:, d] >> bit) & 1) << (3 * bit + d)
    order = np.argsort(code, kind="stable")
    order = np.append(order, np.repeat(order[-1:], -len(order) % descent.BLOCK))
    lanes = _lanes(points[order])
    return lanes, descent.block_bounds(lanes)


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


def edge_points(shape: LinkShape, rng: np.random.Generator) -> Float64:
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


def _lattice(shape: LinkShape, origin: Float64, scale: float) -> tuple[Float64, Float64, float]:
    """Nodes (nx, ny, nz, 3) of a lattice about a shape, its low corner and its spacing, metres."""
    half = (shape.high - shape.low) / 2 + BORDER * scale
    spacing = 2.0 * float(half.max()) / (LATTICE - 1)
    counts = np.maximum(np.ceil(2.0 * half / spacing).astype(int) + 1, 2)
    # an odd shift keeps nodes off the round coordinates where faces of modelled parts lie
    low = origin - spacing * (counts - 1) / 2 + spacing * np.array([0.0137, 0.0091, 0.0053])
    axes = [low[d] + spacing * np.arange(counts[d]) for d in range(3)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1), low, spacing


def _signed_distances(
    shape: LinkShape, nodes: Float64, low: Float64, spacing: float, rng: np.random.Generator
) -> tuple[Float64, Float64]:
    """Signed distances at the nodes of a lattice, and points inside, metres."""
    nx, ny, nz, _ = nodes.shape
    distance = shape.distance(nodes.reshape(-1, 3)).reshape(nx, ny, nz)
    inside = shape.inside_lattice(low, spacing, (nx, ny, nz))
    deep = nodes[inside & (distance > 0.5 * spacing)]
    if len(deep) > INSIDE_SAMPLES:
        deep = deep[rng.choice(len(deep), INSIDE_SAMPLES, replace=False)]
    return np.where(inside, -distance, distance), deep


def _directions(rng: np.random.Generator) -> Float32:
    """(TURNS, 3, DIRECTIONS) evenly spread unit vectors, each set turned at random."""
    poses = np.concatenate([rng.normal(size=(TURNS, 4)), np.zeros((TURNS, 3))], axis=1)
    turns = matrix_from_wxyz_xyz(poses)[:, :3, :3]
    return _float32(turns @ fibonacci(descent.DIRECTIONS).T)
