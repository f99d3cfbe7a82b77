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
from .._poses import matrix_from_wxyz_xyz
from ..robot import Robot
from ..robot.doors import adjacent_pairs
from ..typing import LinkPair
from ._inscribed import DistanceField, Neighbour, inscribed_cover
from ._mirror import Match
from ._options import FitOptions
from ._pipeline import place
from ._problem import surface_points
from ._quality import protrusion
from ._shape import Float64, LinkShape

Fits = dict[str, tuple[Float64, Float64]]
"""Centres (n, 3) and radii (n,) by link, link frame, metres."""

LEAST_GAP = 2e-3
"""Meshes closer than this are left to meshes: it would take too many spheres to part them, metres."""
POSES = 96
"""Configurations, besides the default one, in which two links are kept apart."""
POSE_GAP = 3e-3
"""Configurations count in which the meshes are at least this far apart, metres."""
GAP_SAMPLES = 3000
"""Surface samples, and vertices at most, that estimate the distance of two meshes."""
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
    return _poses(robot, robot.default_cfg[None])[0]


def part_at_rest(
    robot: Robot, shapes: dict[str, LinkShape], fits: Fits, matches: Sequence[Match], options: FitOptions
) -> Fits:
    """Covers links again where that parts pairs that overlap at rest.

    Args:
        robot: gives the poses. shapes: by link. fits: proved spheres of each, without margin.
        matches: for each link in the order of `shapes`, the link whose shape it has.
        options: seed, margin and workers; links with a count or a clip plane of their own stay as they are.

    Returns:
        Proved spheres of all links.
    """
    names = list(shapes)
    match = dict(zip(names, matches, strict=True))
    adjacent = adjacent_pairs(robot)
    meeting = _Meetings(robot, shapes, options.seed)

    def overlapping(fits: Fits) -> set[LinkPair]:
        """Pairs whose spheres overlap at rest, or in OFTEN of the configurations, while their meshes are apart."""
        return {
            (a, b)
            for i, a in enumerate(names)
            for b in names[i + 1 :]
            if not {(a, b), (b, a)} & adjacent and meeting.needless(a, fits[a], b, fits[b], options.margin)
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


class _Meetings:
    """Where pairs of links are to each other, and whether their meshes are apart there; estimated from samples."""

    def __init__(self, robot: Robot, shapes: dict[str, LinkShape], seed: int) -> None:
        # continuous joints: any turn
        low, high = (np.where(np.isfinite(v), v, s * np.pi) for v, s in ((robot.lower, -1), (robot.upper, 1)))
        drawn = np.random.default_rng([seed, 67]).uniform(low, high, (POSES, robot.dof))
        poses = _poses(robot, np.concatenate([robot.default_cfg[None], drawn]))
        self._at = {name: poses[:, robot.link_names.index(name)] for name in shapes}
        self._shapes = shapes
        self._points = {name: _surface(shape) for name, shape in shapes.items()}
        self._gaps: dict[LinkPair, Float64] = {}

    def needless(
        self, a: str, fit_a: tuple[Float64, Float64], b: str, fit_b: tuple[Float64, Float64], margin: float
    ) -> bool:
        """Whether spheres overlap at rest, or in OFTEN of the configurations, where the meshes are apart."""
        overlap = np.array(
            [
                _overlap(fit_a, at_a, fit_b, at_b, margin) > 0.0
                for at_a, at_b in zip(self._at[a], self._at[b], strict=True)
            ]
        )
        if not overlap[0] and overlap.mean() < OFTEN:
            return False
        apart = self.gaps(a, b) > POSE_GAP
        at_rest = bool(overlap[0] and self.apart_at_rest(a, b))
        return at_rest or bool((overlap & apart).sum() > OFTEN * max(apart.sum(), 1))

    def apart_at_rest(self, a: str, b: str) -> bool:
        """Whether the meshes are more than LEAST_GAP apart at the default configuration."""
        return bool(self.gaps(a, b)[0] > LEAST_GAP)

    def poses(self, a: str, b: str) -> Float64:
        """(n, 4, 4) from the frame of a to that of b, in configurations in which their meshes are apart."""
        b_from_a: Any = np.linalg.inv(self._at[b]) @ self._at[a]
        return b_from_a[self.gaps(a, b) > POSE_GAP]

    def gaps(self, a: str, b: str) -> Float64:
        """(n,) distances of the two surfaces, metres; the first at the default configuration."""
        if (a, b) not in self._gaps:
            b_from_a: Any = np.linalg.inv(self._at[b]) @ self._at[a]
            self._gaps[a, b] = np.array([self._gap(a, b, pose) for pose in b_from_a])
        return self._gaps[a, b]

    def _gap(self, a: str, b: str, b_from_a: Float64) -> float:
        """Distance of the two surfaces, metres."""
        there = self._points[a] @ b_from_a[:3, :3].T + b_from_a[:3, 3]
        a_from_b = np.linalg.inv(b_from_a)
        back = self._points[b] @ a_from_b[:3, :3].T + a_from_b[:3, 3]
        return min(float(self._shapes[b].distance(there).min()), float(self._shapes[a].distance(back).min()))


@dataclass(frozen=True)
class _Job:
    shape: LinkShape
    protrusion: float
    seed: int
    others: list[tuple[LinkShape, Float64]] = field(default_factory=list[tuple[LinkShape, Float64]])
    """Other shapes, and poses from the frame of this shape to theirs."""


def _cover(job: _Job) -> tuple[Float64, Float64] | None:
    neighbours = [
        Neighbour(DistanceField.build(other, 1.5 * job.protrusion, _spacing(other, job.protrusion)), poses)
        for other, poses in job.others
    ]
    spacing = _spacing(job.shape, job.protrusion)
    return inscribed_cover(job.shape, neighbours, job.protrusion, spacing, job.seed, most=MOST_BALLS)


def _spacing(shape: LinkShape, protrusion: float) -> float:
    return max(protrusion / NODES_PER_PROTRUSION, shape.size / NODES_PER_SIZE)


def _surface(shape: LinkShape) -> Float64:
    """(n, 3) points of a surface."""
    rng = np.random.default_rng(0)
    corners = shape.vertices[rng.permutation(len(shape.vertices))[:GAP_SAMPLES]]
    return np.concatenate([corners, surface_points(shape, GAP_SAMPLES, rng)])


def _poses(robot: Robot, cfgs: Float64) -> Float64:
    """(n, links, 4, 4)."""
    return matrix_from_wxyz_xyz(np.asarray(robot.link_poses(cfgs), dtype=np.float64))


def _matrix(match: Match) -> Float64:
    """(4, 4) from the frame of the fitted link to that of its copy."""
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = match.turn, match.shift
    return out


def _overlap(
    a: tuple[Float64, Float64], at_a: Any, b: tuple[Float64, Float64], at_b: Any, margin: float
) -> float:
    """How deep two sets of spheres overlap, metres; negative where they are apart."""
    ca, cb = a[0] @ at_a[:3, :3].T + at_a[:3, 3], b[0] @ at_b[:3, :3].T + at_b[:3, 3]
    away = np.linalg.norm(ca[:, None] - cb, axis=2) - a[1][:, None] - b[1]
    return 2.0 * margin - float(away.min(initial=np.inf))
