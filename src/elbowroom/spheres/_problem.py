"""One link prepared for the tight fit: samples to cover, signed distances, directions of the descent.

Balls are scaled: relative to the middle of the bounding box, in units of half its diagonal, so that step sizes and
penalties mean the same for a fingertip and for a torso. Sampling is seeded: the same shape gives the same problem.
Descents and moves are computed by the core's FitProblem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._poses import matrix_from_wxyz_xyz
from ._shape import Float64, LinkShape, ball_rows, bounding_sphere, union_volume

SURFACE_SAMPLES = 1500
"""Samples spread over the triangles by area; the exact descent covers what falls between them."""
EDGE_SAMPLES = 900
"""Samples along sharp edges, where spheres meet the constraint first."""
VERTEX_SAMPLES = 500
"""Vertices taken at most, those of the convex hull first."""
INSIDE_SAMPLES = 400
"""Points inside a closed shape, so that no cavity opens during the fit."""
LATTICE = 34
"""Nodes of the signed distance lattice along the longest side."""
BORDER = 0.3
"""How far the lattice and the outside points reach beyond the bounding box, in half diagonals."""
SHARP = np.cos(np.deg2rad(20.0))
"""Edges whose faces turn by more than 20 degrees are sharp."""
LEAST_SCALE = 1e-6
"""Scale of a link that is a point, metres."""
LEAST_REFERENCE = 1e-5
"""Scaled volume that is assumed for a flat link."""
TURNS, DIRECTIONS = 64, 32
"""Sets of directions that the descents take in turn, and how many the core takes at once."""
LLOYD_ROUNDS = 7
"""Rounds of clustering for a start."""

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


@dataclass(frozen=True)
class FitProblem:
    """One link for the core: balls (spheres, 4) are in scaled coordinates."""

    shape: LinkShape
    deep: float
    """Protrusion whose outside volume weighs double, metres."""
    input: dict[str, Any]
    """What the core's FitProblem takes besides."""

    @classmethod
    def build(cls, shape: LinkShape, deep: float, beyond: Beyond | None = None, seed: int = 0) -> FitProblem:
        """Prepares a shape.

        Args:
            shape: the link. deep: protrusion whose outside volume weighs double, metres.
            beyond: for points (n, 3) in the link frame, a number (n,) each that is positive where the link should not
                reach, metres.
            seed: of the samples.
        """
        rng = np.random.default_rng(seed)
        origin, scale = (shape.low + shape.high) / 2, max(shape.size / 2, LEAST_SCALE)
        low, spacing, counts = _lattice(shape, origin, scale)
        signed = shape.signed_distances(low, spacing, counts)
        inside = low + spacing * np.argwhere(signed < -0.5 * spacing)
        if len(inside) > INSIDE_SAMPLES:
            inside = inside[rng.choice(len(inside), INSIDE_SAMPLES, replace=False)]
        spread = surface_points(shape, SURFACE_SAMPLES, rng)
        surface = np.concatenate([_vertices(shape, rng), edge_points(shape, rng), spread])
        past = None
        if beyond is not None:
            nodes = low + spacing * np.indices(counts).reshape(3, -1).T
            past = beyond(nodes).reshape(counts).astype(np.float32)
        return cls(
            shape,
            deep,
            {
                "origin": tuple(origin.tolist()),
                "scale": scale,
                "samples": np.concatenate([surface, inside]),
                "inside": inside,
                "low": tuple(low.tolist()),
                "spacing": spacing,
                "signed_distances": signed.astype(np.float32),
                "beyond": past,
                "directions": _directions(rng),
                "reference_volume": comparison_volume(shape),
                "closed": shape.closed,
            },
        )

    @cached_property
    def core(self) -> Any:
        """The problem in the core."""
        return _core.FitProblem(self.shape.core, self.input, self.deep)

    def __getstate__(self) -> dict[str, Any]:
        return {"shape": self.shape, "deep": self.deep, "input": self.input}

    def with_depth(self, deep: float) -> FitProblem:
        """The same with another protrusion whose outside volume weighs double, metres."""
        other = replace(self, deep=deep)
        other.__dict__["core"] = self.core.with_depth(deep)
        return other

    def one_ball(self) -> Float64:
        """(1, 4) the ball around everything: for one ball there is nothing to search."""
        center, radius = bounding_sphere(self.shape.vertices)
        return self.scaled(center[None], np.array([radius]))

    def clustered(self, count: int, rng: np.random.Generator) -> Float64:
        """(count, 4) balls about clusters of the samples."""
        n = self.core.n_samples
        picks = rng.choice(n, count, replace=count > n)
        return self.core.clustered(picks, rng.integers(n, size=(LLOYD_ROUNDS, count)))

    def split_worst(self, balls: Float64) -> Float64:
        """(n + 1, 4) balls, the one to blame for most outside volume cut in two."""
        return self.core.split_worst(balls)

    def descend(self, balls: Float64, how: Schedule) -> Float64:
        """Balls after a descent with sampled coverage and strict repair on the samples."""
        return self.core.descend(balls, *how)

    def improve(
        self, balls: Float64, trials: int, rng: np.random.Generator, how: Schedule
    ) -> tuple[Float64, float]:
        """Better balls by moves, each followed by a descent, and their cost."""
        return self.core.improve(balls, rng.random((trials, 2)), *how)

    def polish(self, balls: Float64, steps: int, step_size: tuple[float, float]) -> Float64:
        """Balls after a descent with exact coverage, grown at the last witnesses."""
        return self.core.polish(balls, steps, step_size)

    def cost(self, balls: Float64) -> float:
        """Weighted outside volume over the reference volume."""
        return self.core.cost(balls)

    def ratio(self, balls: Float64) -> float:
        """Union volume over reference volume."""
        return union_volume(*self.metric(balls)) / comparison_volume(self.shape)

    @property
    def _frame(self) -> tuple[Float64, float]:
        return np.array(self.input["origin"]), self.input["scale"]

    def scaled(self, centers: Float64, radii: Float64) -> Float64:
        """(spheres, 4) balls in scaled coordinates from metres."""
        origin, scale = self._frame
        return ball_rows((centers - origin) / scale, radii / scale)

    def metric(self, balls: Float64) -> tuple[Float64, Float64]:
        """Centres (spheres, 3) and radii (spheres,) in metres in the link frame."""
        origin, scale = self._frame
        return np.ascontiguousarray(balls[:, :3] * scale + origin), np.ascontiguousarray(balls[:, 3] * scale)


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


def _lattice(shape: LinkShape, origin: Float64, scale: float) -> tuple[Float64, float, tuple[int, int, int]]:
    """Low corner, spacing and counts of a lattice about a shape, metres."""
    half = (shape.high - shape.low) / 2 + BORDER * scale
    spacing = 2.0 * float(half.max()) / (LATTICE - 1)
    counts = np.maximum(np.ceil(2.0 * half / spacing).astype(int) + 1, 2)
    # an odd shift keeps nodes off the round coordinates where faces of modelled parts lie
    low = origin - spacing * (counts - 1) / 2 + spacing * np.array([0.0137, 0.0091, 0.0053])
    nx, ny, nz = counts.tolist()
    return low, spacing, (nx, ny, nz)


def _directions(rng: np.random.Generator) -> Float64:
    """(TURNS * DIRECTIONS, 3) evenly spread unit vectors in sets, each set turned at random."""
    poses = np.concatenate([rng.normal(size=(TURNS, 4)), np.zeros((TURNS, 3))], axis=1)
    turns = matrix_from_wxyz_xyz(poses)[:, :3, :3]
    return (fibonacci(DIRECTIONS) @ np.swapaxes(turns, 1, 2)).reshape(-1, 3)
