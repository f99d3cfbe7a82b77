"""plan_motion on a public sample and on generated problems, judged by Pinocchio and Coal, beside OMPL on our verdict.

Problems are those of a MotionBenchMaker file (`--problems`; see `benchmarks._plan_problems`) and generated ones for
robots with two arms (`--robots`), where wished with an object in the left hand (`--held`). Times are CPU seconds of one
thread, each the smallest of some repeats in a warm process; what a new scene costs and the first call of all are told
apart. OMPL's time limit is wall time.

    python -m benchmarks.plan [--problems FILE] [--robots NAME ...] [--count N] [--held] [--limit N] [--judge]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks import _plan_ompl, _table
from benchmarks._machine import version
from benchmarks._plan_problems import Problem, bare, generated, read_problems
from elbowroom.plan import PlanOptions, PlanResult, plan_motion
from tests.motion_limits import beyond_limits
from tests.plan_oracles import PathJudge
from tests.timing_oracle import toppra_duration

BESIDE = Path(__file__).parents[2] / "shared" / "data" / "mbm_panda_sample.json.gz"
SAMPLE = Path(os.environ.get("ELBOWROOM_PROBLEMS", BESIDE))
"""Where the sample is looked for when no file is named: beside the repository."""
ROBOTS = ("teaarm", "baxter")
ROUGH = 128
"""Equally long steps at which roughness is measured."""
OTHER_TASKS = (
    "Not comparable: cuRobo reports 35 ms for pose goals and timed motions on a GPU; VAMP reports 35 us for paths "
    "whose edges are sampled on spheres that leave part of the links outside. Both are other tasks than a proved path "
    "between configurations on one CPU thread."
)


@dataclass
class Row:
    """What became of one problem; times in CPU seconds, lengths in radians (joint space, Euclidean)."""

    robot: str
    kind: str
    name: str
    set_up: float
    """Scene into a model, and the first question to it."""
    first_call: float
    """The first plan in that scene: tables of the scene are made."""
    success: bool = False
    why: str = ""
    method: str = ""
    first: float = np.nan
    """A path as it was found: no shortcuts, no smoothing, no timing."""
    own_first: float = np.nan
    """Of that the search with its proof, by the result's own clock (wall time, as VAMP's own)."""
    total: float = np.nan
    """Smoothed, timed and proved."""
    length: float = np.nan
    raw_length: float = np.nan
    rough: float = np.nan
    """Squared second differences against those of the path as it was found."""
    duration: float = np.nan
    toppra: float = np.nan
    """That duration against toppra's on the same curve, where it has no stops in between."""
    proved: bool = False
    margin: float = np.nan
    proof: float = np.nan
    judged: list[str] | None = None
    """Faults by Pinocchio and Coal; None where they were not asked."""
    notes: list[str] = field(default_factory=list)
    ompl: bool | None = None
    ompl_first: float = np.nan
    ompl_total: float = np.nan
    ompl_length: float = np.nan
    ompl_judged: list[str] | None = None


def resampled(path: np.ndarray, count: int = ROUGH) -> np.ndarray:
    """A path (n, dof) at equally long steps, (count + 1, dof)."""
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0.0, along[-1], count + 1)
    return np.stack([np.interp(wanted, along, column) for column in path.T], axis=1)


def roughness(path: np.ndarray) -> float:
    """Sum of squared second differences at equally long steps: the squared acceleration at even speed."""
    return float((np.diff(resampled(path), n=2, axis=0) ** 2).sum())


def length(path: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def beside_toppra(result: PlanResult) -> float:
    """Our duration against toppra's; NaN where toppra is not there or the curve has stops that toppra would pass."""
    motion = result.motion
    if find_spec("toppra") is None or motion.curve.stops[1:-1].any():
        return np.nan
    moving = np.flatnonzero(np.ptp(motion.curve.pieces, axis=(0, 1)) > 0.0)
    limits = motion.limits
    return motion.duration / toppra_duration(motion.curve, limits.velocity, limits.acceleration, moving)


class Bench:
    """Plans one problem after the other and asks the judges."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.options = PlanOptions(timeout=args.timeout, seed=args.seed)
        self.quick = PlanOptions(timeout=args.timeout, seed=args.seed, shortcuts=0, smooth=False, timed=False)
        self._oracles: dict[str, PathJudge] = {}

    def judge(self, problem: Problem) -> PathJudge:
        if problem.robot not in self._oracles:
            self._oracles[problem.robot] = PathJudge(bare(problem.robot))
        own = self._oracles[problem.robot]
        return PathJudge(
            bare(problem.robot), problem.world, problem.held, oracle=own.bare, pairs=own.own_pairs
        )

    def run(self, problem: Problem) -> Row:
        begun = time.process_time()
        model = problem.model()
        model.free(problem.start)
        set_up = time.process_time() - begun
        goal = problem.goals if len(problem.goals) > 1 else problem.goals[0]

        def plan(options: PlanOptions) -> tuple[float, PlanResult]:
            begun = time.process_time()
            result = plan_motion(model, problem.start, goal, problem.joints, options)
            return time.process_time() - begun, result

        first_call, _ = plan(self.options)
        found = Row(problem.robot, problem.kind, problem.name, set_up, first_call)
        whole = [plan(self.options) for _ in range(self.args.repeats)]
        quick = [plan(self.quick) for _ in range(self.args.repeats)]
        result, raw = whole[0][1], quick[0][1]
        found.success, found.why, found.method = result.success, result.why, result.method
        found.first, found.total = min(t for t, _ in quick), min(t for t, _ in whole)
        found.own_first = min(made.seconds.get("first", np.nan) for _, made in quick)
        found.notes = [note for note in result.notes if "beyond its limits" not in note]
        if result.success and raw.success:
            self._measure(found, result, raw)
        if self.args.judge and result.success:
            found.judged = self._judged(problem, result)
        if self.args.ompl > 0.0 and _plan_ompl.available():
            self._beside(found, problem, model)
        return found

    def _measure(self, found: Row, result: PlanResult, raw: PlanResult) -> None:
        assert result.path is not None
        assert raw.path is not None
        path = result.path
        found.length, found.raw_length = length(path), length(raw.path)
        rough = roughness(raw.path)
        found.rough = roughness(path) / rough if rough > 1e-9 else np.nan  # a straight line has none
        found.proved = result.proof is not None and result.proof.free
        if result.proof is not None:
            found.margin, found.proof = result.proof.margin, result.proof.seconds
        if result.times is not None:
            found.duration = float(result.times[-1])
            found.toppra = beside_toppra(result)

    def _judged(self, problem: Problem, result: PlanResult) -> list[str]:
        judge = self.judge(problem)
        which = 0 if result.goal_idx is None else result.goal_idx
        ends = problem.start, problem.goals[which]
        faults = judge.faults(result.path, problem.joints, ends)
        if result.curve is not None:
            faults += [f"curve: {text}" for text in judge.faults(result.curve, problem.joints, ends)]
        if result.motion is not None:
            limits = result.motion.limits
            faults += beyond_limits(result.motion, limits.velocity, limits.acceleration, limits.jerk)
        return faults

    def _beside(self, found: Row, problem: Problem, model: object) -> None:
        peer = _plan_ompl.solve(model, problem, timeout=self.args.ompl)
        found.ompl, found.ompl_first, found.ompl_total = peer.solved, peer.first, peer.total
        if peer.path is not None:
            found.ompl_length = length(peer.path)
            if self.args.judge:
                ends = problem.start, problem.goals[0]
                found.ompl_judged = self.judge(problem).faults(peer.path, problem.joints, ends)


# Tables -----------------------------------------------------------------------------------------


def both(values: Sequence[float], unit: float = 1e3, digits: int = 2) -> str:
    """Median and 95 %, milliseconds by default."""
    known = np.array([v for v in values if np.isfinite(v)]) * unit
    if not len(known):
        return "-"
    return f"{np.median(known):.{digits}f} / {np.percentile(known, 95):.{digits}f}"


def span(values: Sequence[float]) -> str:
    """The least and the most of those that are known, and how many these are."""
    known = [v for v in values if np.isfinite(v)]
    return f"{min(known):.3f} to {max(known):.3f} ({len(known)})" if known else "-"


def table(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each kind of problem of each robot, and one for all of the robot."""
    head = (
        "robot", "problems", "solved", "OMPL solved", "first, ms", "smoothed, timed, proved, ms", "OMPL first, ms",
        "OMPL simplified, ms", "length / raw", "OMPL length / ours", "roughness / raw", "proved", "judge's faults",
        "OMPL's", "duration / toppra's, least, most", "set-up, ms", "first call there, ms",
    )  # fmt: skip
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for robot in dict.fromkeys(row.robot for row in rows):
        own = [row for row in rows if row.robot == robot]
        for kind in (*dict.fromkeys(row.kind for row in own), "all"):
            part = [row for row in own if kind in (row.kind, "all")]
            yield "| " + " | ".join([f"{robot} {kind}", *_cells(part)]) + " |"


def _cells(rows: Sequence[Row]) -> list[str]:
    good, peers = [row for row in rows if row.success], [row for row in rows if row.ompl is not None]
    judged = [row for row in rows if row.judged is not None]
    peers_judged = [row for row in rows if row.ompl_judged is not None]
    return [
        str(len(rows)),
        str(len(good)),
        str(sum(bool(row.ompl) for row in peers)) if peers else "-",
        both([row.first for row in good]),
        both([row.total for row in good]),
        both([row.ompl_first for row in peers if row.ompl]),
        both([row.ompl_total for row in peers if row.ompl]),
        both([row.length / row.raw_length for row in good], 1.0),
        both([row.ompl_length / row.length for row in good], 1.0),
        both([row.rough for row in good], 1.0, 3),
        str(sum(row.proved for row in good)),
        f"{sum(bool(row.judged) for row in judged)} of {len(judged)}" if judged else "-",
        f"{sum(bool(row.ompl_judged) for row in peers_judged)} of {len(peers_judged)}"
        if peers_judged
        else "-",
        span([row.toppra for row in good]),
        both([row.set_up for row in rows]),
        both([row.first_call for row in rows]),
    ]


def words(rows: Sequence[Row]) -> Iterator[str]:
    """What went wrong, and what must be said."""
    for row in rows:
        label = f"{row.robot} {row.name}"
        if not row.success:
            yield f"  {label}: not solved{', though OMPL solves it' if row.ompl else ''}: {row.why}"
        elif not row.proved:
            yield f"  {label}: NOT PROVED: {row.why}"
        for text in row.judged or ():
            yield f"  {label}: the judge finds: {text}"
        for text in row.notes:
            yield f"  {label}: note: {text}"


def problems(args: argparse.Namespace) -> Iterator[Problem]:
    """In the order in which they are run."""
    if args.problems is not None:
        found = read_problems(args.problems)
        yield from found[:: max(1, len(found) // args.limit)][: args.limit] if args.limit else found
    count = min(args.count, args.limit or args.count)
    for robot in args.robots:
        yield from generated(robot, count, held=args.held)


def quick_problems(limit: int) -> dict[str, list[Problem]]:
    """Some problems of the sample, spread over the file, where it is there; and some generated ones."""
    found = {f"generated {robot}": list(generated(robot, limit // 3)) for robot in ("teaarm",)}
    if SAMPLE.exists():
        every = read_problems(SAMPLE)
        found = {"panda, MotionBenchMaker": every[:: max(1, len(every) // limit)][:limit], **found}
    return found


QUICK = argparse.Namespace(timeout=PlanOptions().timeout, seed=0, repeats=2, judge=True, ompl=10.0)
"""As the command's options."""


def rows() -> Iterator[_table.Row]:
    """Of the table: beside OMPL on our verdict, and durations beside toppra's."""
    bench = Bench(QUICK)
    for case, asked in quick_problems(42).items():
        yield from beside(f"{case}, {len(asked)} problems", [bench.run(problem) for problem in asked])
    if not SAMPLE.exists():
        note = "no sample of MotionBenchMaker problems here; python -m benchmarks.plan --problems FILE"
        yield _table.Row("plan", "panda, MotionBenchMaker", "not measured", None, "", peer="OMPL", note=note)


def beside(case: str, found: Sequence[Row]) -> Iterator[_table.Row]:
    """Figures of some problems; times are medians over what both solved."""

    def row(what: str, ours: float, unit: str = "", *peer: object, **more: object) -> _table.Row:
        return _table.Row("plan", case, what, ours, unit, *peer, **more)  # pyright: ignore[reportArgumentType]

    good = [item for item in found if item.success]
    yield row("paths proved free of those found", sum(item.proved for item in good))
    yield row("paths in which Pinocchio with Coal finds a fault", sum(bool(item.judged) for item in good))
    if not _plan_ompl.available():
        yield _table.Row("plan", case, "not measured", None, "", peer="OMPL", note="ompl is not installed")
    else:
        both = [item for item in good if item.ompl]
        by = ("OMPL RRT-Connect on our verdict", version("OMPL"))
        counts = len(good), "", sum(bool(item.ompl) for item in found)
        yield row("problems solved", *counts, *by, more_is_better=True)
        for what, ours, theirs in (
            ("first path, CPU time, median", "first", "ompl_first"),
            ("final path (ours proved and timed), CPU time, median", "total", "ompl_total"),
            ("length of the final path, median", "length", "ompl_length"),
        ):
            unit, scale = ("rad", 1.0) if "length" in what else ("ms", 1e3)
            pair = [scale * float(np.median([getattr(item, key) for item in both])) for key in (ours, theirs)]
            yield row(what, pair[0], unit, pair[1], *by, note="Of OMPL's paths edges are sampled, not proved")
        refused = sum(bool(item.ompl_judged) for item in found)
        yield row("OMPL's paths in which the judge finds a fault", refused)
    timed = [item for item in good if np.isfinite(item.toppra)]
    if timed:
        ours = float(np.median([item.duration for item in timed]))
        theirs = float(np.median([item.duration / item.toppra for item in timed]))
        yield row(
            "duration of the motion on the same curve, median", ours, "s", theirs, "toppra", version("toppra")
        )
    elif find_spec("toppra") is None:
        yield _table.Row(
            "plan", case, "not measured", None, "", peer="toppra", note="toppra is not installed"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--problems", type=Path, nargs="?", default=SAMPLE if SAMPLE.exists() else None,
        help="a file; without one, generated problems alone",
    )  # fmt: skip
    parser.add_argument("--robots", nargs="*", default=ROBOTS, help="of generated problems")
    parser.add_argument("--count", type=int, default=200, help="generated problems for each robot")
    parser.add_argument("--held", action="store_true", help="generated problems with an object in the hand")
    parser.add_argument("--limit", type=int, default=0, help="problems of the file and of each robot at most")
    parser.add_argument("--judge", action="store_true", help="every path by Pinocchio and Coal")
    parser.add_argument("--ompl", type=float, default=30.0, help="seconds that OMPL gets; 0: not asked")
    parser.add_argument("--timeout", type=float, default=PlanOptions().timeout)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="every problem's figures")
    args = parser.parse_args()
    bench, found, begun = Bench(args), list[Row](), time.perf_counter()
    for problem in problems(args):
        found.append(bench.run(problem))
        if len(found) == 1:
            print(f"First call of all: {found[0].first_call:.2f} s", flush=True)
        if len(found) % 20 == 0:
            solved = sum(row.success for row in found)
            print(
                f"  {len(found)} problems, {solved} solved, {time.perf_counter() - begun:.0f} s", flush=True
            )
    print("\n".join(words(found)))
    print(f"\nMedian / 95 %, CPU time of one thread; load {os.getloadavg()[0]:.1f}\n")
    print("\n".join(table(found)))
    print(f"\n{OTHER_TASKS}")
    if args.json is not None:
        known = [
            {k: None if v != v else v for k, v in asdict(row).items()} for row in found
        ]  # NaN is no JSON
        args.json.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
