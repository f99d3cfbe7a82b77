"""Spheres where they matter: links whose spheres overlap at the default pose, or often, while their meshes are apart.

A pair that overlaps at rest is for meshes alone to decide, and a cost on spheres cannot see it; one that overlaps often
makes spheres refuse most configurations. Both links are covered again by balls
that leave each other room, at the default pose and at sampled ones in which their meshes are apart (`_inscribed`).
Links of one shape share the new spheres, so mirrored links keep mirrored spheres; what one link of a shape needs holds
for all of them. The new spheres of a shape are taken only where they part a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._parallel import parallel_map
from ..robot import Robot
from ..typing import LinkPair
from ._inscribed import DistanceField, Neighbour, inscribed_cover
from ._meetings import POSE_GAP, Fits, Meetings, link_matrices
from ._mirror import Match
from ._options import FitOptions
from ._pipeline import place
from ._quality import protrusion
from ._shape import Float64, LinkShape

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
