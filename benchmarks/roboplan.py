"""RoboPlan on the Panda: verdicts and plans side by side, and whose paths an outside judge finds free.

Both decide by the same meshes and pairs; RoboPlan samples edges at steps of 0.02 rad, we prove them. Problems, judge
and clocks are those of `benchmarks.vamp`: the MotionBenchMaker sample, or generated problems among boxes where there is
no file; Pinocchio and Coal; CPU time of one thread, the smallest of several runs. RoboPlan has no call for many
configurations: ours one at a time is beside it too.

    python -m benchmarks.roboplan [--problems FILE] [--limit N]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks import _roboplan_peer, plan
from benchmarks._machine import version
from benchmarks._plan_problems import Problem
from benchmarks._roboplan_peer import RoboPlan
from benchmarks._table import Row
from benchmarks._timing import cpu_seconds
from benchmarks.vamp import ARM, CONFIGURATIONS, JUDGED, REPEATS, SCENES, problems, source
from tests.world_oracles import CoalWorld

QUICK = 42
"""Problems."""
EDGES = (
    "Ours ends proved between its rows, rounded and timed; theirs is shortened, its edges sampled at 0.02 rad"
)


def peer_of(problem: Problem) -> RoboPlan:
    """RoboPlan with the pairs of our model."""
    return RoboPlan(problem.model(), problem.world, problem.joints, problem.start)


def verdicts(asked: Sequence[Problem], peer: tuple[str, str]) -> Iterator[Row]:
    """Random configurations in some scenes: times, and who is wrong by the judge."""
    judge = plan.Bench(plan.QUICK).judge(asked[0])
    theirs_us, one_us, batch_us = list[float](), list[float](), list[float]()
    misses, alarms = np.zeros(2, dtype=int), np.zeros(2, dtype=int)
    for problem in asked:
        model, their = problem.model(), peer_of(problem)
        cfgs = np.tile(problem.start, (CONFIGURATIONS, 1))
        cfgs[:, :ARM] = model.robot.random_cfgs(CONFIGURATIONS, seed=3)[:, :ARM]
        rows = [their.q(cfg) for cfg in cfgs]
        found = np.stack([model.free(cfgs), their.free(rows)])[:, :JUDGED]
        for times, ask in (
            (theirs_us, lambda p=their, r=rows: p.free(r)),
            (one_us, lambda m=model, c=cfgs: [m.free(cfg) for cfg in c]),
            (batch_us, lambda m=model, c=cfgs: m.free(c)),
        ):
            times.append(1e6 * cpu_seconds(ask, 5) / len(cfgs))
        some = cfgs[:JUDGED]
        truth = judge.bare.free(some, judge.own_pairs) & CoalWorld(judge.bare, problem.world).free(some)
        misses += (found & ~truth).sum(axis=1)
        alarms += (~found & truth).sum(axis=1)
    case = f"panda, random configurations in {len(asked)} scenes, {source(plan.SAMPLE)}"
    for what, times in (("one at a time", one_us), ("batch", batch_us)):
        pair = float(np.mean(times)), "us", float(np.mean(theirs_us))
        yield Row("roboplan", case, f"verdict by meshes, {what}, CPU time", *pair, *peer)
    of = f"of {JUDGED * len(asked)} configurations"
    for what, (ours, theirs) in (
        ("called free that the judge finds colliding", misses.tolist()),
        ("called colliding that the judge finds free", alarms.tolist()),
    ):
        yield Row("roboplan", case, f"{what}, {of}", ours, "", theirs, *peer, gated=False)


def plans(asked: Sequence[Problem], case: str, peer: tuple[str, str]) -> Iterator[Row]:
    """Both sides' answers to the same problems."""
    bench = plan.Bench(argparse.Namespace(**{**vars(plan.QUICK), "ompl": 0.0, "repeats": REPEATS}))
    ours, theirs, refused = list[plan.Row](), list[_roboplan_peer.Answer](), 0
    for problem in asked:
        answer = peer_of(problem).solve(problem.start, problem.goals, REPEATS)
        refused += answer.path is not None and not bench.judge(problem).free(answer.path)
        theirs.append(answer)
        ours.append(bench.run(problem))
    solved = sum(answer.path is not None for answer in theirs)
    counts = sum(row.success for row in ours), "", solved
    yield Row("roboplan", case, "problems solved", *counts, *peer, more_is_better=True)
    counts = sum(row.success and not row.judged for row in ours), "", solved - refused
    what = "final paths that the judge finds free"
    yield Row("roboplan", case, what, *counts, *peer, more_is_better=True, gated=False)
    both = [(a, b) for a, b in zip(ours, theirs, strict=True) if a.success and b.path is not None]
    if not both:
        return
    for what, name in (("first path, median CPU time", "first"), ("final path, median CPU time", "total")):
        mine, other = (1e3 * float(np.median([getattr(pair[k], name) for pair in both])) for k in (0, 1))
        yield Row("roboplan", case, what, mine, "ms", other, *peer, note=EDGES)
    mine = float(np.median([a.length for a, _ in both]))
    other = float(np.median([plan.length(b.path) for _, b in both if b.path is not None]))
    yield Row("roboplan", case, "length of the final path, median", mine, "rad", other, *peer)


def table(asked: Sequence[Problem], case: str) -> Iterator[Row]:
    """Rows of both comparisons."""
    if not _roboplan_peer.available():
        yield Row("roboplan", "panda", "not measured", None, "", peer="RoboPlan", note=_roboplan_peer.HOW)
        return
    peer = ("RoboPlan", version("RoboPlan"))
    yield from verdicts(asked[:: max(1, len(asked) // SCENES)][:SCENES], peer)
    yield from plans(asked, case, peer)


def rows() -> Iterator[Row]:
    """Of the table."""
    asked = problems(plan.SAMPLE, QUICK)
    yield from table(asked, f"panda, {len(asked)} problems, {source(plan.SAMPLE)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problems", type=Path, default=plan.SAMPLE)
    parser.add_argument("--limit", type=int, default=140, help="problems at most")
    options = parser.parse_args()
    asked = problems(options.problems, options.limit)
    for row in table(asked, f"panda, {len(asked)} problems, {source(options.problems)}"):
        print(row, flush=True)


if __name__ == "__main__":
    main()
