"""VAMP on the Panda: verdicts and plans side by side, and how many of each side's paths are free by an outside judge.

VAMP decides by 59 spheres that do not cover the meshes, and samples edges; we let the meshes decide, and prove edges.
These are other tasks; the judge (Pinocchio moves the robot, Coal collides the meshes of the description) says what the
difference is worth. Problems are those of the MotionBenchMaker sample (see `benchmarks.plan`), or generated ones among
boxes where there is no file. VAMP has no call for many configurations: ours one at a time is beside it too. Times are
CPU times of one thread, the smallest of several runs. What each side calls free is checked on random configurations in
the scenes of the problems. Fingers are where the sample holds them, 65 mm from the middle, as VAMP's spheres have them;
in generated problems they rest, nearer to each other than VAMP's.

    python -m benchmarks.vamp [--problems FILE] [--limit N]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import _vamp_peer, plan
from benchmarks._machine import version
from benchmarks._plan_problems import Problem, _ends, bare, read_problems
from benchmarks._table import Row
from benchmarks._timing import cpu_seconds
from benchmarks._vamp_peer import ARM, Vamp
from benchmarks.world import boxes
from tests.world_oracles import CoalWorld

CONFIGURATIONS = 2_000
JUDGED = 400
"""Configurations of each scene that the judge is asked about."""
SCENES = 3
REPEATS = 3
BOXES = 10
"""In generated scenes."""
SPHERES_LEAVE = "VAMP's spheres do not cover the meshes; ours do, and meshes decide unless it says spheres"


def problems(file: Path | None, limit: int) -> list[Problem]:
    """Spread over the file; without one, generated."""
    if file is not None and file.exists():
        found = read_problems(file)
        return found[:: max(1, len(found) // limit)][:limit]
    return [_generated(k) for k in range(limit)]


def _generated(number: int) -> Problem:
    alone, world = bare("panda"), boxes(BOXES, seed=number)
    joints = tuple(alone.robot.joint_names[:ARM])
    start, goal = _ends(alone.with_world(world), [joints], np.random.default_rng([15, number]))
    return Problem(f"boxes_{number}", "panda", "boxes", world, start, goal[None], joints)


@dataclass
class Verdicts:
    """Of random configurations in some scenes; microseconds a configuration."""

    theirs: list[float]
    one: list[float]
    batch: list[float]
    spheres: list[float]
    judged: int = 0
    our_misses: int = 0
    """Called free, colliding by the judge."""
    their_misses: int = 0
    our_alarms: int = 0
    """Called colliding, free by the judge."""
    their_alarms: int = 0


def verdicts(asked: Sequence[Problem]) -> Verdicts:
    found = Verdicts([], [], [], [])
    judge = plan.Bench(plan.QUICK).judge(asked[0])
    for problem in asked:
        model, peer = problem.model(), Vamp(problem.world, problem.start, problem.kind)
        cfgs = np.tile(problem.start, (CONFIGURATIONS, 1))
        cfgs[:, :ARM] = model.robot.random_cfgs(CONFIGURATIONS, seed=3)[:, :ARM]
        rows = peer.rows(cfgs)
        ours, theirs = model.free(cfgs), peer.free(rows)
        model.free(cfgs, by="spheres")
        for times, ask in (
            (found.theirs, lambda p=peer, r=rows: p.free(r)),
            (found.one, lambda m=model, c=cfgs: [m.free(cfg) for cfg in c]),
            (found.batch, lambda m=model, c=cfgs: m.free(c)),
            (found.spheres, lambda m=model, c=cfgs: m.free(c, by="spheres")),
        ):
            times.append(1e6 * cpu_seconds(ask, 5) / len(cfgs))
        some = cfgs[:JUDGED]
        truth = judge.bare.free(some, judge.own_pairs) & CoalWorld(judge.bare, problem.world).free(some)
        found.judged += JUDGED
        found.our_misses += int((ours[:JUDGED] & ~truth).sum())
        found.their_misses += int((theirs[:JUDGED] & ~truth).sum())
        found.our_alarms += int((~ours[:JUDGED] & truth).sum())
        found.their_alarms += int((~theirs[:JUDGED] & truth).sum())
    return found


@dataclass(frozen=True)
class Planned:
    """Both sides' answer to one problem."""

    ours: plan.Row
    theirs: _vamp_peer.Answer
    refused: bool
    """Whether the judge finds a collision on their path."""


def planned(asked: Sequence[Problem], repeats: int = REPEATS) -> Iterator[Planned]:
    options = argparse.Namespace(**{**vars(plan.QUICK), "ompl": 0.0, "repeats": repeats})
    bench = plan.Bench(options)
    for problem in asked:
        theirs = Vamp(problem.world, problem.start, problem.kind).solve(problem.start, problem.goals, repeats)
        refused = theirs.path is not None and not bench.judge(problem).free(theirs.path)
        yield Planned(bench.run(problem), theirs, refused)


def table(asked: Sequence[Problem], source: str) -> Iterator[Row]:
    """Rows of both comparisons."""
    peer = ("VAMP", version("VAMP"))
    if not _vamp_peer.available():
        yield Row("vamp", "panda", "not measured", None, "", peer="VAMP", note=_vamp_peer.HOW)
        return
    scenes = asked[:: max(1, len(asked) // SCENES)][:SCENES]
    found, case = verdicts(scenes), f"panda, random configurations in {len(scenes)} scenes, {source}"
    theirs = float(np.mean(found.theirs))
    for what, times in (
        ("verdict by meshes, one at a time, CPU time", found.one),
        ("verdict by meshes, batch, CPU time", found.batch),
        ("verdict by spheres, batch, CPU time", found.spheres),
    ):
        yield Row("vamp", case, what, float(np.mean(times)), "us", theirs, *peer, note=SPHERES_LEAVE)
    of = f"of {found.judged} configurations"
    counts = found.our_misses, "", found.their_misses
    yield Row("vamp", case, f"called free that the judge finds colliding, {of}", *counts, *peer, gated=False)
    counts = found.our_alarms, "", found.their_alarms
    yield Row("vamp", case, f"called colliding that the judge finds free, {of}", *counts, *peer, gated=False)
    yield from _plans(list(planned(asked)), f"panda, {len(asked)} problems, {source}", peer)


def _plans(found: Sequence[Planned], case: str, peer: tuple[str, str]) -> Iterator[Row]:
    solved = [item for item in found if item.theirs.path is not None]
    both = [item for item in solved if item.ours.success]
    counts = sum(item.ours.success for item in found), "", len(solved)
    yield Row("vamp", case, "problems solved", *counts, *peer, more_is_better=True)
    clean = sum(item.ours.success and not item.ours.judged for item in found)
    counts = clean, "", sum(not item.refused for item in solved)
    yield Row(
        "vamp",
        case,
        "final paths that the judge finds free",
        *counts,
        *peer,
        more_is_better=True,
        gated=False,
    )
    if not both:
        return
    note = "Ours ends proved between its rows, rounded and timed; theirs is simplified, its edges sampled"
    clocks = f"{note}; ours for the first path is PlanResult.seconds, a clock that starts with the search too"
    own = "their own clock, without setting up memory"
    for what, ours, theirs in (
        ("first path, median CPU time of the call", "first", "first"),
        (f"first path, median; {own}", "own_first", "own_first"),
        ("final path, median CPU time of the calls", "total", "total"),
        (f"final path, median; {own}", "total", "own_total"),
    ):
        mine = 1e3 * float(np.median([getattr(item.ours, ours) for item in both]))
        other = 1e3 * float(np.median([getattr(item.theirs, theirs) for item in both]))
        yield Row("vamp", case, what, mine, "ms", other, *peer, note=clocks if ours == "own_first" else note)
    pair = (
        float(np.median([item.ours.length for item in both])), "rad",
        float(np.median([plan.length(item.theirs.path) for item in both if item.theirs.path is not None])),
    )  # fmt: skip
    yield Row("vamp", case, "length of the final path, median", *pair, *peer)


QUICK = 42
"""Problems."""


def rows() -> Iterator[Row]:
    """Of the table."""
    yield from table(problems(plan.SAMPLE, QUICK), source(plan.SAMPLE))


def source(file: Path | None) -> str:
    return "MotionBenchMaker" if file is not None and file.exists() else "generated boxes"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--problems", type=Path, default=plan.SAMPLE, help="a file; without one, generated problems"
    )
    parser.add_argument("--limit", type=int, default=140, help="problems at most")
    options = parser.parse_args()
    for row in table(problems(options.problems, options.limit), source(options.problems)):
        print(row, flush=True)


if __name__ == "__main__":
    main()
