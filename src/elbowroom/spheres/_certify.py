"""Exact checks of balls against one shape, and the growth that makes a set of balls pass them.

`check` bounds the gap over every triangle and, for a closed shape, looks for cavities of the union inside it;
`certify` grows balls at the witnesses until nothing is left uncovered: until `check` passes, or one ball holds all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import _kernels_proof as kernels
from ._shape import Float64, LinkShape

WITNESS_CAPACITY = 20_000
"""Witness points stored per check; more are counted, and found again after the next growth."""
INSIDE_WINDING = 0.1
"""A point counts as inside from this winding number on: well below 1, so doubt counts as inside."""
ROUND_NM = 1e-9
"""Power vertices within a nanometre of each other are one point, metres."""


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
    centers = np.ascontiguousarray(centers, dtype=np.float64).reshape(-1, 3)
    grown = np.ascontiguousarray(radii, dtype=np.float64) + tolerance
    keep = grown > 0.0
    centers, grown = np.ascontiguousarray(centers[keep]), np.ascontiguousarray(grown[keep])
    if len(grown) == 0:
        gaps = np.full(len(shape.vertices), np.inf)
        return Check(np.inf, shape.vertices.copy(), gaps, 0)
    points, gaps = np.empty((WITNESS_CAPACITY, 3)), np.empty(WITNESS_CAPACITY)
    triangles, clusters = shape.clusters
    owners, holders = np.empty(WITNESS_CAPACITY, dtype=np.int64), np.zeros(len(clusters), dtype=np.int64)
    bound, found = kernels.prove_triangles(triangles, clusters, centers, grown, holders, points, gaps, owners)
    stored = min(found, WITNESS_CAPACITY)
    points, gaps = points[:stored], gaps[:stored]
    holes, hole_gaps = _cavities(shape, centers, grown)
    return Check(
        float(bound),
        np.concatenate([points, holes]),
        np.concatenate([gaps, hole_gaps]) + tolerance,
        len(holes),
    )


def _cavities(shape: LinkShape, centers: Float64, radii: Float64) -> tuple[Float64, Float64]:
    """Uncovered power vertices inside a closed shape.

    When the surface is covered, an uncovered region inside is bounded by balls alone, and the distance function of
    the power diagram peaks in it at a power vertex: no uncovered power vertex inside, no uncovered region inside.
    A vertex between planes parallel to within rounding may be computed far from its place; but along the edge that
    such planes share the function is convex up to rounding, so the region reaches on to a vertex that is not.
    """
    if len(shape.solid) == 0 or len(radii) < 4:
        return np.zeros((0, 3)), np.zeros(0)
    middle, half = (shape.low + shape.high) / 2, (shape.high - shape.low) / 2
    capacity = 4096
    while True:
        points, gaps = np.empty((capacity, 3)), np.empty(capacity)
        found = kernels.power_vertices(centers, radii, middle, half, points, gaps)
        if found <= capacity:
            break
        capacity = found
    points, gaps = points[:found], gaps[:found]
    if found == 0:
        return points, gaps
    _, index = np.unique(np.round(points / ROUND_NM), axis=0, return_index=True)
    points, gaps = points[index], gaps[index]
    inside = (
        np.abs(kernels.winding_numbers(points, np.ascontiguousarray(shape.vertices[shape.solid])))
        > INSIDE_WINDING
    )
    return points[inside], gaps[inside]


def certify(shape: LinkShape, centers: Float64, radii: Float64, rounds: int = 200) -> Float64:
    """Grows balls until they are proved to cover the shape.

    Each witness grows the ball nearest to it; the overshoot rises from round to round, and in the
    last rounds all balls grow by the largest gap. Should that not be enough, the first one grows around everything.

    Returns:
        (spheres,) radii, never below the given ones.
    """
    grown = np.array(radii, dtype=np.float64)
    for turn in range(rounds):
        result = check(shape, centers, grown)
        if result.covered:
            return grown
        extra = 1e-10 * shape.size * 1.3**turn
        if len(result.witnesses) == 0:  # no true witness: the bound is positive by rounding alone
            grown += max(result.surface_bound, 0.0) + extra
            continue
        factor = 1.0 + 0.02 * turn
        for index in np.argsort(-result.gaps, kind="stable"):
            away = np.linalg.norm(centers - result.witnesses[index], axis=1) - grown
            ball = int(np.argmin(away))
            if away[ball] > -extra:
                grown[ball] += max(float(away[ball]), 0.0) * factor + extra
        if turn > 0.8 * rounds:
            grown += float(result.gaps.max())
    if not check(shape, centers, grown).covered:  # a ball around everything always covers
        grown[0] = float(np.linalg.norm(shape.vertices - centers[0], axis=1).max()) * (1.0 + 1e-9) + 1e-12
    return grown
