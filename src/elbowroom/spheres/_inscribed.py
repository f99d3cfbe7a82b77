"""Covers a link with balls inscribed in the space that other links leave to it.

Where two links face each other at a few millimetres, balls that are tight on average protrude too far. Here every ball
lies inside an allowed region: points within a given distance of the link, and nearer to it than to the other links in
any of their given poses. On a lattice, the largest ball about a node that stays in the region is the node's distance to
the outside of it (the Euclidean distance transform). Greedy set cover then picks balls until all samples of the link
are covered, and the exact check grows what the lattice and the samples missed, so the result is proved to cover; that
it stays in the region holds up to the lattice spacing and this growth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._certify import certify, check
from ._problem import edge_points, surface_points
from ._shape import Float64, LinkShape, bounding_sphere

SURFACE_SAMPLES = 6000
"""Surface samples to cover, besides vertices and samples along sharp edges."""
INSIDE_SAMPLES = 3000
"""Samples to cover inside a closed shape."""
CANDIDATES = 12_000
"""Balls that the cover chooses from: as many about nodes drawn at random, as many about local maxima of the radius."""
ROUNDS = 4
"""How often balls are added for points that the exact check found uncovered."""
SLACK = 1.0
"""Lattice spacings that balls stay nearer to their own link than to others."""
OVERLAP = 0.3
"""Candidates count as covering what lies this many lattice spacings below their surface: neighbouring samples are
covered with them."""


@dataclass(frozen=True, eq=False)
class DistanceField:
    """Signed distances to a shape on a lattice; negative inside a closed shape."""

    low: Float64
    """(3,) first node, link frame, metres."""
    spacing: float
    values: Float64
    """(nx, ny, nz) metres."""

    @classmethod
    def build(cls, shape: LinkShape, border: float, spacing: float) -> DistanceField:
        """Samples a shape.

        Args:
            shape: the link. border: how far the lattice reaches beyond its bounding box, metres. spacing: metres.
        """
        low = shape.low - border
        counts = np.ceil((shape.high + border - low) / spacing).astype(int) + 1
        return cls(low, spacing, shape.signed_distances(low, spacing, counts))

    @property
    def nodes(self) -> Float64:
        """(n, 3) nodes in the order of `values.ravel()`, link frame, metres."""
        axes = [self.low[d] + self.spacing * np.arange(self.values.shape[d]) for d in range(3)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)

    def at(self, points: Float64) -> Float64:
        """(n,) distances at points (n, 3) by linear interpolation; infinite outside the lattice."""
        from scipy.ndimage import map_coordinates

        places = (points - self.low) / self.spacing
        inside = ((places >= 0.0) & (places <= np.array(self.values.shape) - 1)).all(axis=1)
        out = np.full(len(points), np.inf)
        if inside.any():
            out[inside] = map_coordinates(self.values, places[inside].T, order=1, mode="nearest")
        return out


@dataclass(frozen=True, eq=False)
class Neighbour:
    """Another link, and the poses in which the balls must leave it room."""

    field: DistanceField
    """Of the other link; its border must be at least the largest protrusion."""
    poses: Float64
    """(n, 4, 4) from the frame of the covered link to the frame of the field; mirrorings are fine."""


def inscribed_cover(
    shape: LinkShape,
    neighbours: Sequence[Neighbour],
    protrusion: float,
    spacing: float,
    seed: int,
    most: int = 1000,
) -> tuple[Float64, Float64] | None:
    """Proved centres (n, 3) and radii (n,) of balls that keep off the neighbours, link frame, metres.

    Args:
        shape: the link to cover. neighbours: other links and their poses.
        protrusion: how far balls may protrude anywhere, metres. spacing: of the lattice, metres.
        seed: of samples and candidates. most: balls; None is returned where more would be needed.
    """
    from scipy.ndimage import distance_transform_edt, maximum_filter

    rng = np.random.default_rng([seed, 61])
    own = DistanceField.build(shape, protrusion + 2.0 * spacing, spacing)
    nodes, distance = own.nodes, own.values.ravel()
    allowed = distance < protrusion
    band = np.flatnonzero(allowed & (distance > 0.0))
    nearest = np.full(len(band), np.inf)
    points = nodes[band]
    for neighbour in neighbours:
        half = 0.5 * neighbour.field.spacing * (np.array(neighbour.field.values.shape) - 1)
        for pose in neighbour.poses:
            middle = np.linalg.solve(pose[:3, :3], neighbour.field.low + half - pose[:3, 3])
            close = np.flatnonzero(((points - middle) ** 2).sum(axis=1) < half @ half)
            if len(close):
                there = points[close] @ pose[:3, :3].T + pose[:3, 3]
                nearest[close] = np.minimum(nearest[close], neighbour.field.at(there))
    allowed[band[distance[band] + SLACK * spacing > nearest]] = False
    inscribed: Any = distance_transform_edt(allowed.reshape(own.values.shape))
    radii = (spacing * (inscribed - 0.5)).ravel()
    useful = radii > 0.5 * spacing
    peaks = np.flatnonzero(useful & (inscribed >= maximum_filter(inscribed, size=3)).ravel())
    picked = [rng.permutation(places)[:CANDIDATES] for places in (np.flatnonzero(useful), peaks)]
    candidates = np.union1d(*picked)
    inside = nodes[distance < -spacing]
    samples = np.concatenate(
        [
            shape.vertices,
            edge_points(shape, rng),
            surface_points(shape, SURFACE_SAMPLES, rng),
            inside[rng.permutation(len(inside))[:INSIDE_SAMPLES]],
        ]
    )
    centers, radii = nodes[candidates], radii[candidates]
    chosen = _greedy_cover(samples, centers, radii - OVERLAP * spacing)
    for _ in range(ROUNDS):
        if len(chosen) > most:
            return None
        missed = check(shape, centers[chosen], radii[chosen]).witnesses
        if len(missed) == 0:
            break
        chosen = np.union1d(chosen, _greedy_cover(missed, centers, radii))
    if len(chosen) == 0:  # thinner than the lattice: the exact check grows one ball around everything
        return _one_ball(shape)
    if len(chosen) > most:
        return None
    return centers[chosen], certify(shape, centers[chosen], radii[chosen])


def _greedy_cover(samples: Float64, centers: Float64, radii: Float64) -> np.ndarray:
    """Places of balls that together hold every sample any of them holds: the largest gain first, then without those
    whose samples the others hold."""
    from scipy.sparse import csr_matrix
    from scipy.spatial import KDTree

    lists = KDTree(samples).query_ball_point(centers, np.maximum(radii, 0.0), return_sorted=True)
    sizes = np.array([len(found) for found in lists], dtype=np.int64)
    if sizes.sum() == 0:
        return np.zeros(0, dtype=np.int64)
    held = np.concatenate([np.asarray(found, dtype=np.int64) for found in lists])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    holders = csr_matrix(
        (np.ones(len(held), dtype=np.int8), held, starts), shape=(len(centers), len(samples))
    ).T.tocsr()
    left, gains = np.ones(len(samples), dtype=bool), sizes.copy()
    chosen: list[int] = []
    while gains.max() > 0:
        best = int(np.argmax(gains))
        chosen.append(best)
        new = held[starts[best] : starts[best + 1]]
        new = new[left[new]]
        left[new] = False
        np.subtract.at(gains, holders[new].indices, 1)
    times = np.bincount(
        np.concatenate([held[starts[k] : starts[k + 1]] for k in chosen]), minlength=len(samples)
    )
    kept: list[int] = []
    for k in sorted(chosen, key=lambda k: (radii[k], k)):
        mine = held[starts[k] : starts[k + 1]]
        if (times[mine] >= 2).all():
            times[mine] -= 1
        else:
            kept.append(k)
    return np.array(kept)


def _one_ball(shape: LinkShape) -> tuple[Float64, Float64]:
    center, radius = bounding_sphere(shape.vertices)
    return center[None], certify(shape, center[None], np.array([radius]))
