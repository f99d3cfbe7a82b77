"""Spheres where they matter: links whose spheres overlap at the default pose, or often, while their meshes are apart.

A pair that overlaps at rest is for meshes alone to decide, and a cost on spheres cannot see it; one that overlaps often
makes spheres refuse most configurations. Both links are covered again by balls
that leave each other room, at the default pose and at sampled ones in which their meshes are apart.
Links of one shape share the new spheres, so mirrored links keep mirrored spheres; what one link of a shape needs holds
for all of them. The new spheres of a shape are taken only where they part a pair.

These balls are inscribed in the space that other links leave to a link. Where two links face each other at a few
millimetres, balls that are tight on average protrude too far. Here every ball lies inside an allowed region: points
within a given distance of the link, and nearer to it than to the other links in any of their given poses. On a
lattice, the largest ball about a node that stays in the region is the node's distance to the outside of it (the
Euclidean distance transform). Greedy set cover then picks balls until all samples of the link are covered, and the
exact check grows what the lattice and the samples missed, so the result is proved to cover; that it stays in the
region holds up to the lattice spacing and this growth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._parallel import parallel_map
from ..robot import Robot
from ..typing import LinkPair
from ._meetings import POSE_GAP, Fits, Meetings, link_matrices
from ._mirror import Match
from ._options import FitOptions
from ._pipeline import place
from ._problem import edge_points, surface_points
from ._quality import protrusion
from ._shape import Float64, LinkShape, bounding_sphere, certify, check

OFTEN = 0.25
"""Share of configurations in which spheres may overlap needlessly before the links are covered again."""
TIGHTER, LEAST_SHARE = 0.5, 0.03
"""Largest protrusion of the new spheres: a share of that of the spheres they replace, and no less than a share of the
size of the link."""
MOST_BALLS = 128
"""A link that would need more keeps its spheres: its pairs stay with meshes."""
NODES_PER_PROTRUSION, NODES_PER_SIZE = 6.0, 100.0
"""Lattice nodes along the largest protrusion, and at most along a link; the coarser of the two holds."""


def rest_poses(robot: Robot) -> Float64:
    """(links, 4, 4) poses of the links at the default configuration."""
    return link_matrices(robot, robot.default_cfg[None])[0]


def part_at_rest(
    meeting: Meetings,
    shapes: dict[str, LinkShape],
    fits: dict[str, tuple[Float64, Float64]],
    matches: Sequence[Match],
    options: FitOptions,
) -> dict[str, tuple[Float64, Float64]]:
    """Covers links again where that parts pairs that overlap at rest.

    Args:
        meeting: where the links are to each other. shapes: by link. fits: proved spheres of each, without margin.
        matches: for each link in the order of `shapes`, the link whose shape it has.
        options: seed, margin and workers; links with a count or a clip plane of their own stay as they are.

    Returns:
        Proved spheres of all links.
    """
    names = list(shapes)
    match = dict(zip(names, matches, strict=True))
    adjacent = meeting.adjacent

    def overlapping(fits: Fits) -> set[LinkPair]:
        """Pairs whose spheres overlap at rest, or in OFTEN of the configurations, while their meshes are apart."""
        return {
            (a, b)
            for i, a in enumerate(names)
            for b in names[i + 1 :]
            if not {(a, b), (b, a)} & adjacent and _needless(meeting, fits, a, b, options.margin)
        }

    before = overlapping(fits)
    kinds = {frozenset((match[a].model, match[b].model)) for a, b in before}
    jobs: dict[int, _Job] = {}
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            kind = frozenset((match[a].model, match[b].model))
            if kind not in kinds or {(a, b), (b, a)} & adjacent:
                continue
            b_from_a: Any = np.linalg.inv(_matrix(match[b])) @ meeting.poses(a, b) @ _matrix(match[a])
            for first, second, poses in ((a, b, b_from_a), (b, a, np.linalg.inv(b_from_a))):
                model, other = match[first].model, match[second].model
                if names[model] in options.fitted_alone:
                    continue
                if model not in jobs:
                    shape = shapes[names[model]]
                    most = TIGHTER * protrusion(shape, *fits[names[model]])[1]
                    jobs[model] = _Job(shape, max(most, LEAST_SHARE * shape.size), options.seed)
                jobs[model].others.append((shapes[names[other]], poses))
    made = parallel_map(_cover, list(jobs.values()), workers=options.workers, prefer_threads=True)
    covers = {model: balls for model, balls in zip(jobs, made, strict=True) if balls is not None}
    trial = fits | {
        name: place(shapes[name], match[name], *covers[match[name].model])
        for name in names
        if match[name].model in covers
    }
    parted = {match[name].model for pair in before - overlapping(trial) for name in pair}
    return fits | {name: trial[name] for name in names if match[name].model in parted}


@dataclass(frozen=True)
class _Job:
    shape: LinkShape
    protrusion: float
    seed: int
    others: list[tuple[LinkShape, Float64]] = field(default_factory=list[tuple[LinkShape, Float64]])
    """Other shapes, and poses from the frame of this shape to theirs."""


def _needless(meeting: Meetings, fits: Fits, a: str, b: str, margin: float) -> bool:
    """Whether spheres overlap at rest, or in OFTEN of the configurations, where the meshes are apart."""
    overlap = meeting.overlaps(a, fits[a], b, fits[b], margin)
    if not overlap[0] and overlap.mean() < OFTEN:
        return False
    apart = meeting.gaps(a, b) > POSE_GAP
    at_rest = bool(overlap[0] and meeting.apart_at_rest(a, b))
    return at_rest or bool((overlap & apart).sum() > OFTEN * max(apart.sum(), 1))


def _cover(job: _Job) -> tuple[Float64, Float64] | None:
    neighbours = [
        Neighbour(DistanceField.build(other, 1.5 * job.protrusion, _spacing(other, job.protrusion)), poses)
        for other, poses in job.others
    ]
    spacing = _spacing(job.shape, job.protrusion)
    return inscribed_cover(job.shape, neighbours, job.protrusion, spacing, job.seed, most=MOST_BALLS)


def _spacing(shape: LinkShape, protrusion: float) -> float:
    return max(protrusion / NODES_PER_PROTRUSION, shape.size / NODES_PER_SIZE)


def _matrix(match: Match) -> Float64:
    """(4, 4) from the frame of the fitted link to that of its copy."""
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = match.turn, match.shift
    return out


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
