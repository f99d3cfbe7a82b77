"""Spheres where they matter: links whose spheres overlap at the default pose while their meshes are apart.

Such a pair is for meshes alone to decide, and a cost on spheres cannot see it. Both links are fitted again with more
spheres, and volume nearer to the other link than to their own counts as where they should not reach. A new fit is taken
only where it parts a pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._parallel import parallel_map
from .._poses import matrix_from_wxyz_xyz
from ..robot import Robot
from ..robot.doors import adjacent_pairs
from ..typing import LinkPair
from ._options import FitOptions
from ._pipeline import MOST_PER_LINK
from ._problem import Problem, surface_points
from ._shape import Float64, LinkShape
from ._tight import finish, refine

Fits = dict[str, tuple[Float64, Float64]]
"""Centres (n, 3) and radii (n,) by link, link frame, metres."""

LEAST_GAP = 2e-3
"""Meshes closer than this at rest are left to meshes: it would take too many spheres to part them, metres."""
ROUNDS = 2
"""How often the spheres of a link may double."""
GAP_SAMPLES = 3000
"""Surface samples, besides the vertices, that estimate the distance of two meshes."""


@dataclass(frozen=True)
class Neighbours:
    """Tells how much nearer points are to other links at rest than to a link itself."""

    own: LinkShape
    others: tuple[tuple[LinkShape, Float64], ...]
    """Shapes and (4, 4) transforms from the frame of the link to theirs."""

    def __call__(self, points: Float64) -> Float64:
        """(n,) for points (n, 3) in the link frame, metres; positive where another link is nearer."""
        nearest = np.full(len(points), np.inf)
        for shape, there in self.others:
            nearest = np.minimum(nearest, shape.distance(points @ there[:3, :3].T + there[:3, 3]))
        return self.own.distance(points) - nearest


def rest_poses(robot: Robot) -> Float64:
    """(links, 4, 4) poses of the links at the default configuration."""
    return matrix_from_wxyz_xyz(np.asarray(robot.link_poses(robot.default_cfg[None])[0], dtype=np.float64))


def part_at_rest(robot: Robot, shapes: dict[str, LinkShape], fits: Fits, options: FitOptions) -> Fits:
    """Fits links again until fewer pairs overlap at rest.

    Args:
        robot: gives the default pose. shapes: by link. fits: proved spheres of each, without margin.
        options: seed, effort, margin and workers; links with a count or a clip plane of their own stay as they are.

    Returns:
        Proved spheres of all links.
    """
    poses = rest_poses(robot)
    at = {name: poses[robot.link_names.index(name)] for name in shapes}
    adjacent = adjacent_pairs(robot)
    apart: dict[LinkPair, bool] = {}
    names = list(shapes)

    def overlapping(fits: Fits) -> set[LinkPair]:
        """Pairs whose spheres overlap while their meshes are apart."""
        found: set[LinkPair] = set()
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                if (
                    _overlap(fits[a], at[a], fits[b], at[b], options.margin) <= 0.0
                    or {(a, b), (b, a)} & adjacent
                ):
                    continue
                if (a, b) not in apart:
                    apart[a, b] = _gap(shapes[a], shapes[b], np.linalg.inv(at[b]) @ at[a]) > LEAST_GAP
                if apart[a, b]:
                    found.add((a, b))
        return found

    fixed = {*(options.per_link or {}), *(plane.link for plane in options.clip_planes)}
    left, best, trial = overlapping(fits), dict(fits), dict(fits)
    for _ in range(ROUNDS):
        jobs: list[_Job] = []
        for name in names:
            others = sorted({b if a == name else a for a, b in left if name in (a, b)})
            if others and name not in fixed and 2 * len(trial[name][1]) <= MOST_PER_LINK:
                near = tuple((shapes[o], np.linalg.inv(at[o]) @ at[name]) for o in others)
                jobs.append(
                    _Job(name, shapes[name], Neighbours(shapes[name], near), 2 * len(trial[name][1]), options)
                )
        if not jobs:
            break
        made = parallel_map(_fit_again, jobs, workers=options.workers, prefer_threads=True)
        trial |= {job.name: fit for job, fit in zip(jobs, made, strict=True)}
        parted = left - overlapping(trial)
        # a link whose new spheres part nothing keeps its old ones; a parted pair needs those of both
        used = {name for pair in parted for name in pair}
        candidate = best | {name: trial[name] for name in used}
        now = overlapping(candidate)
        if len(now) < len(left):
            best, left = candidate, now
    return best


@dataclass(frozen=True)
class _Job:
    name: str
    shape: LinkShape
    beyond: Neighbours
    count: int
    options: FitOptions


def _fit_again(job: _Job) -> tuple[Float64, Float64]:
    edge = float(np.cbrt(max(job.shape.hull_volume, 1e-12) / job.count))
    problem = Problem.build(job.shape, edge, job.beyond, job.options.seed)
    fits = refine(problem, None, job.count, max(job.options.effort, 0.25), job.options.seed)
    return finish(problem, fits[0])


def _overlap(
    a: tuple[Float64, Float64], at_a: Any, b: tuple[Float64, Float64], at_b: Any, margin: float
) -> float:
    """How deep two sets of spheres overlap, metres; negative where they are apart."""
    ca, cb = a[0] @ at_a[:3, :3].T + at_a[:3, 3], b[0] @ at_b[:3, :3].T + at_b[:3, 3]
    away = np.linalg.norm(ca[:, None] - cb, axis=2) - a[1][:, None] - b[1]
    return 2.0 * margin - float(away.min(initial=np.inf))


def _gap(a: LinkShape, b: LinkShape, b_from_a: Float64) -> float:
    """Distance of two meshes, estimated from samples and vertices of each, metres."""
    rng = np.random.default_rng(0)
    there = np.concatenate([a.vertices, surface_points(a, GAP_SAMPLES, rng)])
    back = np.concatenate([b.vertices, surface_points(b, GAP_SAMPLES, rng)])
    a_from_b = np.linalg.inv(b_from_a)
    return min(
        float(b.distance(there @ b_from_a[:3, :3].T + b_from_a[:3, 3]).min()),
        float(a.distance(back @ a_from_b[:3, :3].T + a_from_b[:3, 3]).min()),
    )
