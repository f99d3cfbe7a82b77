"""The tight fit of a whole robot: one budget, distinct shapes, several processes.

Each distinct shape is fitted in three steps: a cost curve by number of spheres, the budget shared along the curves,
a careful fit at the shared counts; links of the same or mirrored shape take the spheres over and are proved again.
Work is spread over processes by shape; every shape has its own random numbers, so the number of workers changes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._parallel import Progress, parallel_map
from ..errors import InputError
from ._budget import Claim, pick_known, share_budget
from ._certify import certify, check
from ._mirror import Match, match_shapes
from ._options import FitOptions
from ._problem import Problem, comparison_volume
from ._shape import Float64, LinkShape
from ._tight import Curve, flatten, grow_curve, refine, start_for

DEFAULT_PER_LINK = 6
"""Spheres per link with geometry when no budget is given."""
DEEP_SHARE = 0.36
"""Protrusion that weighs double, as a share of the edge of the cube of mesh volume that one sphere stands for."""
LIMIT_SHARE = 0.42
"""Protrusion above which a link is fitted again with a steeper weight, as a share of the same edge."""
COARSE = 1.3
"""Links whose own edge is more than this times that of the robot have few spheres for their size: they may protrude
more."""
CURVE_MOVES = 4
"""Improving moves at each count of a cost curve."""
CURVE_REACH = 1.3
"""Curves reach this many times the count that the square root of a link's volume gives it, and LEAST_CURVE more."""
LEAST_CURVE = 8
"""Counts every curve reaches, so that small closed links can be lifted below the ratio cap."""
SHARE_ROUNDS = 3
"""How often the budget is shared again with what the careful fits have shown."""


@dataclass(frozen=True)
class _Job:
    """Work on one distinct shape, sent to a worker."""

    vertices: Float64
    faces: Any
    deep: float
    limit: float
    planes: Float64
    seed: int
    effort: float
    expected: int
    """Count that the size of the link gives it, before the budget is shared."""
    count: int = 1
    """Largest count of the curve, or the count to fit."""
    curve: Curve | None = None
    """Where the fit may start from."""

    def problem(self) -> Problem:
        shape = LinkShape.from_arrays(self.vertices, self.faces)
        return Problem.build(shape, self.deep, self.planes, self.seed)


@dataclass(frozen=True)
class _Fit:
    """Proved spheres of one distinct shape."""

    centers: Float64
    radii: Float64
    ratio: float
    """Union over reference volume."""

    @property
    def count(self) -> int:
        """Number of spheres: one that turned out to hold nothing is left out, so it may be fewer than asked for."""
        return len(self.radii)


def _curve_job(job: _Job) -> Curve:
    return grow_curve(job.problem(), job.count, CURVE_MOVES, job.seed)


def _refine_job(job: _Job) -> _Fit:
    problem = job.problem()
    start = None if job.curve is None else start_for(problem, job.curve, job.count)
    candidates = refine(problem, start, job.count, job.effort, job.seed)
    centers, radii = flatten(problem, candidates, job.limit, job.seed)
    return _Fit(centers, radii, problem.ratio(problem.scaled(centers, radii)))


def fit_tight(
    shapes: dict[str, LinkShape], options: FitOptions, progress: Progress | None
) -> dict[str, tuple[Float64, Float64]]:
    """Fits the links of a robot within one budget.

    Args:
        shapes: by link. options: see `FitOptions`. progress: called with (done, total) jobs; the total may rise.

    Returns:
        Centres (n, 3) and radii (n,) of every link, metres, link frame, proved before the margin is added.

    Raises:
        InputError: the budget is too small.
    """
    names, parts = list(shapes), list(shapes.values())
    if not names:
        return {}
    per_link = {name: n for name, n in (options.per_link or {}).items() if name in shapes}
    budget = options.n_spheres if options.n_spheres is not None else _default_budget(names, per_link)
    free = [name for name in names if name not in per_link]
    if budget < sum(per_link.values()) + len(free):
        raise InputError(
            f"n_spheres={budget} is too small: {len(free)} links need one sphere each"
            + (f" and per_link asks for {sum(per_link.values())}" if per_link else "")
        )
    planes = {
        name: np.array([p.row() for p in options.clip_planes if p.link == name]).reshape(-1, 4)
        for name in names
    }
    own = [name in per_link or len(planes[name]) > 0 or not options.share_mirrored for name in names]
    matches = match_shapes(parts, own)
    models = sorted({match.model for match in matches})
    copies = {k: sum(match.model == k for match in matches) for k in models}
    sizes = {k: max(parts[k].hull_volume, 1e-9) ** 0.5 for k in models}
    whole = sum(sizes[k] * copies[k] for k in models)
    edge = float(np.cbrt(max(sum(shape.hull_volume for shape in parts), 1e-12) / budget))
    jobs: dict[int, _Job] = {}
    for k in models:
        share = float(per_link[names[k]]) if names[k] in per_link else max(budget * sizes[k] / whole, 1.0)
        local = float(np.cbrt(parts[k].hull_volume / share))
        local = local if local > COARSE * edge else edge
        jobs[k] = _Job(
            parts[k].vertices, parts[k].faces, DEEP_SHARE * local, LIMIT_SHARE * local, planes[names[k]],
            options.seed, options.effort, expected=round(share),
        )  # fmt: skip
    fitter = _Fitter(jobs, options, progress)
    fits = _fit_shared(names, parts, copies, per_link, budget, fitter)
    return {
        name: _place(parts[k], matches[k], fits[matches[k].model], options.margin)
        for k, name in enumerate(names)
    }


def _default_budget(names: list[str], per_link: dict[str, int]) -> int:
    return sum(per_link.get(name, DEFAULT_PER_LINK) for name in names)


@dataclass
class _Fitter:
    """Runs jobs on distinct shapes and counts them for the progress callback."""

    jobs: dict[int, _Job]
    options: FitOptions
    progress: Progress | None
    done: int = 0

    def curves(self, most: dict[int, int]) -> dict[int, Curve]:
        """Cost curves up to the given counts."""
        work = [replace(self.jobs[k], count=n) for k, n in most.items()]
        return dict(zip(most, self._map(_curve_job, work), strict=True))

    def fits(self, counts: dict[int, int], curves: dict[int, Curve]) -> dict[int, _Fit]:
        """Careful fits at the given counts; the largest first, so that no worker is left with a long one."""
        order = sorted(counts, key=lambda k: (-counts[k] * len(self.jobs[k].faces) ** 0.5, k))
        work = [replace(self.jobs[k], count=counts[k], curve=curves.get(k)) for k in order]
        return dict(zip(order, self._map(_refine_job, work), strict=True))

    def _map(self, function: Callable[[_Job], Any], work: list[_Job]) -> list[Any]:
        start = self.done

        def report(done: int, _total: int) -> None:
            self.done = start + done
            if self.progress is not None:
                # later rounds mend a few links: the total is an estimate until the end
                self.progress(self.done, max(2 * len(self.jobs), self.done) + 1)

        return parallel_map(function, work, workers=self.options.workers, progress=report)


def _fit_shared(
    names: list[str],
    parts: list[LinkShape],
    copies: dict[int, int],
    per_link: dict[str, int],
    budget: int,
    fitter: _Fitter,
) -> dict[int, _Fit]:
    """Fits all distinct shapes: fixed counts as asked, the others by sharing what is left of the budget."""
    models = list(fitter.jobs)
    fixed = {k: per_link[names[k]] for k in models if names[k] in per_link}
    sharing = [k for k in models if k not in fixed]
    left = budget - sum(fixed.values())
    spare = left - sum(copies[k] for k in sharing)
    most = {
        k: int(min(1 + spare // copies[k], LEAST_CURVE + CURVE_REACH * fitter.jobs[k].expected))
        for k in sharing
    }
    curves = fitter.curves(most)
    claims = {k: Claim(curves[k], comparison_volume(parts[k]), copies[k], parts[k].closed) for k in sharing}
    cap = fitter.options.ratio_cap
    asked: dict[int, set[int]] = {k: set() for k in models}
    fits: dict[int, dict[int, _Fit]] = {k: {} for k in models}
    for turn in range(1 + SHARE_ROUNDS):
        counts = dict(zip(sharing, share_budget(list(claims.values()), left, cap), strict=True))
        if turn == 0:
            counts |= fixed
        missing = {k: n for k, n in counts.items() if n not in asked[k]}
        if not missing:
            break
        for k, fit in fitter.fits(missing, curves).items():
            asked[k].add(missing[k])
            if fit.count not in fits[k] or fit.ratio < fits[k][fit.count].ratio:
                fits[k][fit.count] = fit
                if k in claims:
                    claims[k] = claims[k].seen(fit.count, fit.ratio)
    chosen = dict(zip(sharing, pick_known(list(claims.values()), left, cap), strict=True))
    return {k: fits[k][chosen[k]] if k in chosen else next(iter(fits[k].values())) for k in models}


def _place(shape: LinkShape, match: Match, fit: _Fit, margin: float) -> tuple[Float64, Float64]:
    """Spheres of a fitted shape on one of its copies, proved there."""
    centers, radii = match.carry(fit.centers), fit.radii
    if not check(shape, centers, radii).covered:
        radii = certify(shape, centers, radii)
    return centers, radii + margin
