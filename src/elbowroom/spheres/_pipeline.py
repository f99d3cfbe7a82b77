"""The tight fit of a whole robot: one budget, distinct shapes, several threads.

Each distinct shape is fitted in three steps: a cost curve by number of spheres, the budget shared along the curves by
what limits motion (`_importance`), a careful fit at the shared counts; links of the same or mirrored shape take the
spheres over and are proved again.
Work is spread over threads by shape (the core releases the interpreter lock); every shape has its own random
numbers, so the number of workers changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._parallel import Progress, parallel_map
from ..errors import InputError
from ._budget import Claim, Rule, enough, pick_known, share_budget
from ._importance import Importance
from ._meetings import Meetings
from ._mirror import Match, match_shapes
from ._options import FitOptions
from ._problem import FitProblem, comparison_volume
from ._quality import loose_ratio
from ._shape import Float64, LinkShape, certify, check
from ._tight import VolumeCurve, flatten, grow_curve, refine, start_for

EXPECTED_PER_LINK = 6
"""Spheres per link with geometry that are expected when no budget is given; decides how far spheres may protrude."""
CURVE_MOST, MOST_PER_LINK = 24, 48
"""When no budget is given: counts that curves reach, and spheres that a link may get."""
LEAST_GAIN = 1e-3
"""When no budget is given: share of the volume of all links that a sphere more must save."""
DEEP_SHARE = 0.36
"""Protrusion that weighs double, as a share of the edge of the cube of mesh volume that one sphere stands for."""
LIMIT_SHARE = 0.42
"""Protrusion above which a link is fitted again with a steeper weight, as a share of the same edge."""
COARSE = 1.3
"""Links whose own edge is more than this times that of the robot have few spheres for their size: they may protrude
more."""
CURVE_REACH = 1.3
"""Curves reach this many times the count that the square root of a link's volume gives it, and LEAST_CURVE more."""
LEAST_CURVE = 8
"""Counts every curve reaches, so that small closed links can be lifted below the ratio cap."""
SETTLED = 1.05
"""When no budget is given: how many spheres it takes is estimated from the curves, and again by the first careful fits
if these ask for more than this many times as many."""
FEW_BALLS = 8
"""Links in the way with up to this many balls are fitted carefully before they are compared; those of curves with more
are good enough for that."""
REST_TRIES = 3
"""When no budget is given: spheres more for links whose spheres just overlap at the default configuration."""
TRIES, SURELY = 4, 0.95
"""How many counts are tried for one that keeps a link below the cap, and the share of the cap it must keep: another
budget is fitted a little differently."""
SHARE_ROUNDS = 4
"""How often the budget is shared again with what the careful fits have shown: twice, then for links above the cap."""


@dataclass(frozen=True)
class Planes:
    """Tells how far points are beyond some clip planes."""

    rows: Float64
    """(planes, 4) unit normals and offsets, link frame."""

    def __call__(self, points: Float64) -> Float64:
        """(n,) depth of points (n, 3) beyond the plane that they are farthest beyond, metres."""
        return (self.rows[:, 3] - points @ self.rows[:, :3].T).max(axis=1)


@dataclass(frozen=True)
class _Job:
    """Work on one distinct shape, sent to a worker."""

    shape: LinkShape
    deep: float
    limit: float
    beyond: Planes | None
    seed: int
    effort: float
    expected: int
    """Count that the size of the link gives it, before the budget is shared."""
    count: int = 1
    """Largest count of the curve, or the count to fit."""
    problem: FitProblem | None = None
    """The shape as prepared for the curve."""
    curve: VolumeCurve | None = None
    """Where the fit may start from."""

    def first_balls(self, count: int) -> tuple[Float64, Float64]:
        """Centres (n, 3) and radii (n,) of the curve at a count, or the next below; metres, not proved."""
        assert self.problem is not None
        assert self.curve is not None
        place = max(int(np.searchsorted(self.curve.counts, count, side="right")) - 1, 0)
        return self.problem.metric(self.curve.balls[place])


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

    @property
    def spheres(self) -> tuple[Float64, Float64]:
        """Centres (n, 3) and radii (n,), metres."""
        return self.centers, self.radii


def _curve_job(job: _Job) -> tuple[FitProblem, VolumeCurve | None]:
    problem = FitProblem.build(job.shape, job.deep, job.beyond, job.seed)
    return problem, grow_curve(problem, job.count, job.effort, job.seed) if job.count > 0 else None


def _refine_job(job: _Job) -> _Fit:
    problem = job.problem
    assert problem is not None
    start = None if job.curve is None else start_for(problem, job.curve, job.count)
    fits = refine(problem, start, job.count, job.effort, job.seed)
    centers, radii = flatten(problem, fits, job.limit, job.effort, job.seed)
    return _Fit(centers, radii, problem.ratio(problem.scaled(centers, radii)))


def shared_shapes(shapes: dict[str, LinkShape], options: FitOptions, frames: Float64) -> list[Match]:
    """For each link, the link whose spheres it takes over, or itself.

    Args:
        shapes: by link. options: links with a count or a clip plane of their own share nothing.
        frames: (links, 3, 3) orientations at the zero configuration.
    """
    own = [name in options.fitted_alone or not options.share_mirrored for name in shapes]
    return match_shapes(list(shapes.values()), own, frames)


def fit_tight(
    shapes: dict[str, LinkShape],
    matches: list[Match],
    meetings: Meetings | None,
    options: FitOptions,
    progress: Progress | None,
) -> tuple[dict[str, tuple[Float64, Float64]], dict[str, int]]:
    """Fits the links of a robot within one budget.

    Args:
        shapes: by link. matches: see `shared_shapes`.
        meetings: where links are to each other as the robot moves; None if it does not.
        options: see `FitOptions`, of which the margin is left out.
        progress: called with (done, total) jobs; the total may rise.

    Returns:
        Centres (n, 3) and radii (n,) of every link, metres, link frame, proved; and the count that keeps each
        below the ratio cap to its hull, 0 where none does or the count is given.

    Raises:
        InputError: the budget is too small.
    """
    names, parts = list(shapes), list(shapes.values())
    if not names:
        return {}, {}
    per_link = {name: n for name, n in (options.per_link or {}).items() if name in shapes}
    _check_budget(names, per_link, options.n_spheres)
    planes = {name: [p.row() for p in options.clip_planes if p.link == name] for name in names}
    models = sorted({match.model for match in matches})
    copies = {k: sum(match.model == k for match in matches) for k in models}
    sizes = {k: max(parts[k].hull_volume, 1e-9) ** 0.5 for k in models}
    whole = sum(sizes[k] * copies[k] for k in models)
    budget = options.n_spheres or sum(per_link.get(name, EXPECTED_PER_LINK) for name in names)
    edge = float(np.cbrt(max(sum(shape.hull_volume for shape in parts), 1e-12) / budget))
    jobs: dict[int, _Job] = {}
    for k in models:
        share = float(per_link[names[k]]) if names[k] in per_link else max(budget * sizes[k] / whole, 1.0)
        local = float(np.cbrt(parts[k].hull_volume / share))
        local = local if local > COARSE * edge else edge
        beyond = Planes(np.array(planes[names[k]])) if planes[names[k]] else None
        jobs[k] = _Job(
            parts[k],
            DEEP_SHARE * local,
            LIMIT_SHARE * local,
            beyond,
            options.seed,
            options.effort,
            round(share),
        )
    fitter = _Fitter(jobs, options, progress)
    importance = None if meetings is None else Importance(meetings, names, parts, matches)
    fixed = {k: per_link[names[k]] for k in models if names[k] in per_link}
    fits, enough_each = _fit_shared(copies, fixed, fitter, importance)
    placed = {name: fits[match.model] for name, match in zip(names, matches, strict=True)}
    return {
        name: place(shapes[name], match, placed[name].centers, placed[name].radii)
        for name, match in zip(names, matches, strict=True)
    }, {name: enough_each.get(match.model, 0) for name, match in zip(names, matches, strict=True)}


def _check_budget(names: list[str], per_link: dict[str, int], budget: int | None) -> None:
    free = [name for name in names if name not in per_link]
    if budget is not None and budget < sum(per_link.values()) + len(free):
        raise InputError(
            f"n_spheres={budget} is too small: {len(free)} links need one sphere each"
            + (f" and per_link asks for {sum(per_link.values())}" if per_link else "")
        )


@dataclass
class _Fitter:
    """Runs jobs on distinct shapes and counts them for the progress callback."""

    jobs: dict[int, _Job]
    options: FitOptions
    progress: Progress | None
    done: int = 0

    def curves(self, most: dict[int, int]) -> dict[int, VolumeCurve]:
        """Prepares the shapes; cost curves of some up to the given counts."""
        work = [replace(job, count=most.get(k, 0)) for k, job in self.jobs.items()]
        curves: dict[int, VolumeCurve] = {}
        for k, (problem, curve) in zip(list(self.jobs), self._map(_curve_job, work), strict=True):
            self.jobs[k] = replace(self.jobs[k], problem=problem, curve=curve)
            if curve is not None:
                curves[k] = curve
        return curves

    def fits(self, counts: dict[int, int]) -> dict[int, _Fit]:
        """Careful fits at the given counts; the largest first, so that no worker is left with a long one."""
        order = sorted(counts, key=lambda k: (-counts[k] * len(self.jobs[k].shape.faces) ** 0.5, k))
        work = [replace(self.jobs[k], count=counts[k]) for k in order]
        return dict(zip(order, self._map(_refine_job, work), strict=True))

    def _map(self, function: Callable[[_Job], Any], work: list[_Job]) -> list[Any]:
        start = self.done

        def report(done: int, _total: int) -> None:
            self.done = start + done
            if self.progress is not None:
                # later rounds mend a few links: the total is an estimate until the end
                self.progress(self.done, max(2 * len(self.jobs), self.done) + 1)

        return parallel_map(
            function, work, workers=self.options.workers, progress=report, prefer_threads=True
        )


def _fit_shared(
    copies: dict[int, int], fixed: dict[int, int], fitter: _Fitter, importance: Importance | None
) -> tuple[dict[int, _Fit], dict[int, int]]:
    """Fits all distinct shapes: fixed counts as asked, the others by sharing what is left of the budget.

    Also returns the counts that keep the others below the ratio cap to their hull, 0 where none does.

    Args:
        copies: links of each shape. fixed: counts that are not shared. fitter: has the jobs and the options.
        importance: says which links limit motion; None if nothing moves.
    """
    options, models = fitter.options, list(fitter.jobs)
    sharing = [k for k in models if k not in fixed]
    if options.n_spheres is None:
        left, most = None, dict.fromkeys(sharing, CURVE_MOST)
    else:
        left = options.n_spheres - sum(fixed.values())
        spare = left - sum(copies[k] for k in sharing)
        reach = {k: LEAST_CURVE + CURVE_REACH * fitter.jobs[k].expected for k in sharing}
        most = {k: int(min(1 + spare // copies[k], reach[k])) for k in sharing}
    curves = fitter.curves(most)
    shapes = {k: fitter.jobs[k].shape for k in sharing}
    claims = {
        k: Claim(
            curves[k],
            comparison_volume(shape),
            copies[k],
            shape.closed,
            shape.hull_volume / comparison_volume(shape),
        )
        for k, shape in shapes.items()
    }
    rule = Rule(
        left,
        options.ratio_cap,
        options.target_ratio,
        LEAST_GAIN,
        most=None if left is not None else MOST_PER_LINK,
    )
    made = _Made(fitter, claims, {k: {} for k in models}, {k: {} for k in models})

    def shared() -> dict[int, int]:
        return dict(zip(sharing, share_budget(list(made.claims.values()), rule), strict=True))

    if importance is not None:
        counts = shared()
        spheres = {k: fitter.jobs[k].first_balls(n) for k, n in counts.items()}
        blamed = importance.blamed(spheres)
        suspects = {k: n for k, n in counts.items() if n <= FEW_BALLS and k in blamed}
        made.fit(suspects)
        spheres |= {k: made.asked[k][n].spheres for k, n in suspects.items()}
        made.claims.update(importance.weigh(made.claims, counts, spheres))
    if left is None:
        rule = replace(rule, total=enough(list(made.claims.values()), rule))
    for turn in range(1 + SHARE_ROUNDS):
        counts = shared() | fixed
        if turn > 2:  # from now on, what is below the cap is well enough where it is
            lifts = dict(zip(sharing, rule.lifts(list(made.claims.values())), strict=True))
            counts = {k: n for k, n in counts.items() if n == lifts.get(k)}
        if not made.fit(counts):
            break
        if turn == 0 and rule.total is not None:
            more = enough(list(made.claims.values()), rule)
            rule = replace(rule, total=more if more > SETTLED * rule.total else rule.total)
    picked = dict(zip(sharing, pick_known(list(made.claims.values()), rule), strict=True))
    chosen = {k: made.asked[k][n] for k, n in fixed.items()} | {k: made.best[k][n] for k, n in picked.items()}
    if importance is not None and left is None:
        picked |= _parted_at_rest(picked, chosen, made, importance)
        chosen |= {k: made.best[k][n] for k, n in picked.items()}
    return chosen, {k: made.enough_for_hull(k, n, rule.cap) for k, n in picked.items()}


def _parted_at_rest(
    picked: dict[int, int], chosen: dict[int, _Fit], made: _Made, importance: Importance
) -> dict[int, int]:
    """Counts, a little larger, of shapes that touch at the default configuration and then do not.

    Pairs that touch there would be for meshes alone to decide.
    """
    counts, fits = dict(picked), dict(chosen)
    for _ in range(1 + REST_TRIES):
        touching = importance.touching_at_rest({k: fit.spheres for k, fit in fits.items()})
        more = {k: counts[k] + 1 for k in touching if k in picked and counts[k] < picked[k] + REST_TRIES}
        if not more:
            return {k: n for k, n in counts.items() if k not in touching}
        made.fit(more)
        counts |= more
        fits |= {k: made.best[k][n] for k, n in more.items()}
    return {}


@dataclass(frozen=True)
class _Made:
    """Careful fits so far, and what they have shown."""

    fitter: _Fitter
    claims: dict[int, Claim]
    """Of the shapes that share the budget."""
    asked: dict[int, dict[int, _Fit]]
    """By shape and the count that was asked for."""
    best: dict[int, dict[int, _Fit]]
    """By shape and the count that came out."""

    def fit(self, counts: dict[int, int]) -> bool:
        """Fits shapes at counts at which they have not been fitted; whether there were any."""
        missing = {k: n for k, n in counts.items() if n not in self.asked[k]}
        for k, fit in self.fitter.fits(missing).items():
            self.asked[k][missing[k]] = fit
            # what it came out with, and that asking for more gave no more
            for count in {fit.count, missing[k]}:
                if count not in self.best[k] or fit.ratio < self.best[k][count].ratio:
                    self.best[k][count] = fit
                    if k in self.claims:
                        self.claims[k] = self.claims[k].seen(count, fit.ratio)
        return bool(missing)

    def enough_for_hull(self, k: int, count: int, cap: float) -> int:
        """Spheres that keep a shape below the cap on its ratio to the hull, as a fit shows; 0 if none is found.

        Args:
            k: the shape. count: spheres that it has. cap: of the ratio.
        """
        shape, enough = self.fitter.jobs[k].shape, count
        if loose_ratio(shape, *self.best[k][count].spheres, cap) == 0.0:
            return count
        for _ in range(TRIES):
            expected = self.claims[k].near_hull(SURELY * cap, MOST_PER_LINK)
            enough = min(max(expected or 2 * enough, enough + 1), MOST_PER_LINK)
            self.fit({k: enough})
            if loose_ratio(shape, *self.asked[k][enough].spheres, SURELY * cap) == 0.0:
                return enough
        return 0


def place(shape: LinkShape, match: Match, centers: Float64, radii: Float64) -> tuple[Float64, Float64]:
    """Spheres of a fitted shape on one of its copies, proved there."""
    centers = match.carry(centers)
    if not check(shape, centers, radii).covered:
        radii = certify(shape, centers, radii)
    return centers, radii
