"""Inverse kinematics, judged and timed: `IkSolver` on targets that have an answer, and peers on the same targets.

Targets are poses of random configurations that Coal calls free. An answer is a success when Pinocchio puts the links
within 1 mm and 0.01 rad of them, joints are within the limits of the file, and Coal finds no contact of the whole robot
on the pairs that count for `CollisionModel`, nor with the obstacles. Only what the solver claims and the judge confirms
counts as a success; a false success is one that the solver claims and the judge refuses. No seed is given.

Times are CPU times of one `solve` each, after the first calls; wall times are beside them. Each target is asked in
several passes over all of them and its smallest time counts, the one that was disturbed least, for peers as for us;
every pass of our solver is checked to give the same answers. "spheres overlap": targets taken from configurations that
spheres refuse and meshes allow.

    python -m benchmarks.ik [--robots NAME ...] [--kinds KIND ...] [--count N] [--passes N] [--peers N] [--failures]
                            [--json]

Leaves with 1 when there is a false success or a share of successes is below the required one.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import elbowroom as er
from benchmarks import _table
from tests.ik_oracles import Drawn, IkJudge, draw_targets, obstacles_around

FREE, OVERLAP, OBSTACLES = "free", "spheres overlap", "10 obstacles"
SCENES = 5
"""Among which the targets with obstacles are shared out."""
WARM_UP = 5
"""Solves that are not counted: tables are made."""
PASSES = 3
WITH_PEERS = ("panda", "teaarm")


@dataclass(frozen=True)
class Suite:
    """The questions on a robot."""

    robot: str
    links: tuple[str, ...]
    count: int
    needed: float
    """Share of successes."""
    median_us: float
    p99_us: float | None
    obstacles: float | None = None
    """Share of successes with obstacles."""


SUITES = {
    suite.robot: suite
    for suite in (
        Suite("panda", ("panda_hand",), 1000, 0.999, 60.0, 300.0, obstacles=0.99),
        Suite("baxter", ("left_gripper", "right_gripper"), 500, 0.996, 150.0, 1000.0, obstacles=0.99),
        Suite("teaarm", ("frame_left_arm_ee", "frame_right_arm_ee"), 500, 0.996, 150.0, 1000.0),
        Suite("g1", ("left_rubber_hand", "right_rubber_hand"), 300, 0.99, 200.0, None),
    )
}
OVERLAPPING = 300
AMONG_OBSTACLES = 300


@dataclass
class Row:
    """One line of the table."""

    robot: str
    kind: str
    by: str
    targets: int = 0
    successes: int = 0
    false: int = 0
    needed: float | None = None
    cpu_us: list[float] = field(default_factory=list)
    wall_us: list[float] = field(default_factory=list)
    made_seconds: float = 0.0
    """To make the solver and answer the first target."""
    failures: list[dict[str, Any]] = field(default_factory=list)

    def add(self, faults: list[str], claimed: bool, cpu: float, wall: float, said: dict[str, Any]) -> None:
        self.targets += 1
        self.successes += claimed and not faults
        self.false += claimed and bool(faults)
        self.cpu_us.append(1e6 * cpu)
        self.wall_us.append(1e6 * wall)
        if faults or not claimed:
            self.failures.append({"faults": faults, "claimed": claimed, **said})

    def facts(self) -> dict[str, Any]:
        times = {
            f"{name}_{clock}_us": float(np.percentile(values, share))
            for clock, values in (("cpu", self.cpu_us), ("wall", self.wall_us))
            for name, share in (("median", 50), ("p99", 99), ("max", 100))
        }
        share = self.successes / max(self.targets, 1)
        return {
            "robot": self.robot, "kind": self.kind, "by": self.by, "targets": self.targets, "success": share,
            "needed": self.needed, "false_successes": self.false, **times, "made_s": self.made_seconds,
            "load": os.getloadavg()[0],
        }  # fmt: skip

    @property
    def passed(self) -> bool:
        return not self.false and self.successes >= (self.needed or 0.0) * self.targets


class Bench:
    """A robot, its model and its judge."""

    def __init__(
        self, suite: Suite, count: int | None = None, keep_failures: bool = False, passes: int = PASSES
    ) -> None:
        self.suite, self.count, self.keep_failures, self.passes = suite, count, keep_failures, passes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model = er.CollisionModel(er.load_robot(suite.robot), threads=1)
        self.judge = IkJudge(self.model.robot, self.model.pairs.checked)

    def rows(self, kinds: list[str], peers: int) -> Iterator[Row]:
        """Lines of the table, as they are found."""
        suite = self.suite
        if FREE in kinds:
            drawn = draw_targets(self.judge, suite.links, self._n(suite.count))
            yield self._ours(
                Row(suite.robot, FREE, "elbowroom", needed=suite.needed), self.model, self.judge, drawn
            )
            if peers and suite.robot in WITH_PEERS:
                yield from self._peers(drawn, peers)
        if OVERLAP in kinds:
            drawn = draw_targets(
                self.judge,
                suite.links,
                self._n(OVERLAPPING),
                seed=1,
                keep=lambda cfgs: ~self.model.free(cfgs, by="spheres"),
            )
            row = Row(suite.robot, OVERLAP, "elbowroom", needed=suite.needed)
            yield self._ours(row, self.model, self.judge, drawn)
        if OBSTACLES in kinds and suite.obstacles is not None:
            row = Row(suite.robot, OBSTACLES, "elbowroom", needed=suite.obstacles)
            for scene in range(SCENES):
                world = obstacles_around(self.judge, suite.links, seed=scene)
                judge = self.judge.among(world)
                drawn = draw_targets(
                    judge, suite.links, -(-self._n(AMONG_OBSTACLES) // SCENES), seed=10 + scene
                )
                self._ours(row, self.model.with_world(world), judge, drawn)
            yield row

    def _n(self, count: int) -> int:
        return count if self.count is None else min(count, self.count)

    def _ours(self, row: Row, model: er.CollisionModel, judge: IkJudge, drawn: Drawn) -> Row:
        begin = time.perf_counter()
        solver = er.IkSolver(model, self.suite.links)
        warm = draw_targets(judge, self.suite.links, WARM_UP, seed=99)
        for k, targets in enumerate(warm):
            solver.solve(targets)
            if k == 0:
                row.made_seconds = max(row.made_seconds, time.perf_counter() - begin)
        times, answers = np.empty((self.passes, len(drawn), 2)), np.empty((self.passes, *drawn.cfgs.shape))
        results: list[er.IkResult] = []
        for k in range(self.passes):
            results = []
            for n, targets in enumerate(drawn):
                wall, cpu = time.perf_counter(), time.process_time()
                found = solver.solve(targets)
                times[k, n] = time.process_time() - cpu, time.perf_counter() - wall
                results.append(found)
                answers[k, n] = found.cfg
        assert (answers == answers[0]).all(), "the same question had different answers"
        for targets, found, (cpu, wall) in zip(drawn, results, times.min(axis=0), strict=True):
            faults = judge.faults(found.cfg, targets)
            said: dict[str, Any] = {}
            if self.keep_failures and (faults or not found.success):
                said = {
                    "why": found.why,
                    "candidates": found.candidates,
                    "seeds": found.seeds_tried,
                    "targets": {link: pose.tolist() for link, pose in targets.items()},
                }
            row.add(faults, found.success, cpu, wall, said)
        return row

    def _peers(self, drawn: Drawn, count: int) -> Iterator[Row]:
        from benchmarks._ik_peers import PEERS, PeerSolver

        for make in PEERS:
            try:
                loop = make(self.judge, self.suite.links)
            except ModuleNotFoundError as error:
                yield Row(self.suite.robot, FREE, f"{make.__name__.lower()}: {error.name} is not installed")
                continue
            peer = PeerSolver(loop, self.judge, self.suite.links)
            row = Row(self.suite.robot, FREE, loop.name)
            asked = list(drawn)[:count]
            peer.solve(asked[0])
            times = np.empty((self.passes, len(asked), 2))
            found: list[tuple[np.ndarray, bool]] = []
            for k in range(self.passes):
                found = []
                for n, targets in enumerate(asked):
                    wall, cpu = time.perf_counter(), time.process_time()
                    found.append(peer.solve(targets))
                    times[k, n] = time.process_time() - cpu, time.perf_counter() - wall
            for targets, (cfg, claimed), (cpu, wall) in zip(asked, found, times.min(axis=0), strict=True):
                row.add(self.judge.faults(cfg, targets), claimed, cpu, wall, {})
            yield row


QUICK = 60, 2
"""Targets of everybody, and passes."""


def rows() -> Iterator[_table.Row]:
    """Of the table: time and successes beside loops of peers, on targets that have an answer."""
    for name in WITH_PEERS:
        count, passes = QUICK
        ours, *peers = Bench(SUITES[name], count, passes=passes).rows([FREE], count)
        mine, case = ours.facts(), f"{name}, free targets"
        shown = {"false successes": ours.false, f"successes of {ours.targets} by the judge": ours.successes}
        for what, count in shown.items():
            yield _table.Row("ik", case, what, count, "")
        for row in peers:
            if not row.targets:
                peer, note = row.by.split(": ")
                yield _table.Row("ik", case, "not measured", None, "", peer=peer, note=note)
                continue
            theirs = row.facts()
            peer, version = row.by.replace(" CLIK", "").rsplit(" ", 1)
            peer = f"loop of {peer} with restarts"
            for key, what in (
                ("median", "median CPU time of a target"),
                ("p99", "CPU time of a target, 99 %"),
            ):
                both = mine[f"{key}_cpu_us"], "us", theirs[f"{key}_cpu_us"]
                yield _table.Row("ik", case, what, *both, peer, version, gated=key == "median")
            both = 100 * mine["success"], "%", 100 * theirs["success"]
            yield _table.Row("ik", case, "successes by the judge", *both, peer, version, more_is_better=True)


HEAD = (
    "robot", "targets", "by", "n", "success", "asked", "false", "median", "99 %", "max", "wall median", "wall 99 %",
    "first answer",
)  # fmt: skip


def line(facts: dict[str, Any]) -> str:
    def us(name: str) -> str:
        value = facts[name]
        return f"{value:.0f} us" if value < 1000 else f"{1e-3 * value:.2f} ms"

    cells = (
        facts["robot"], facts["kind"], facts["by"], str(facts["targets"]), f"{facts['success']:.2%}",
        "" if facts["needed"] is None else f"{facts['needed']:.1%}", str(facts["false_successes"]),
        us("median_cpu_us"), us("p99_cpu_us"), us("max_cpu_us"), us("median_wall_us"), us("p99_wall_us"),
        f"{facts['made_s']:.2f} s" if facts["made_s"] else "",
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robots", nargs="*", default=list(SUITES), choices=SUITES)
    parser.add_argument(
        "--kinds", nargs="*", default=[FREE, OVERLAP, OBSTACLES], choices=[FREE, OVERLAP, OBSTACLES]
    )
    parser.add_argument("--count", type=int, help="targets of each kind at most; for a quick run")
    parser.add_argument(
        "--passes", type=int, default=PASSES, help="over all targets; the smallest times count"
    )
    parser.add_argument("--peers", type=int, default=100, help="targets for each peer; 0 for none")
    parser.add_argument("--failures", action="store_true", help="say what failed and why, as JSON lines")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    if not options.json:
        print(f"load of the machine {os.getloadavg()[0]:.1f}\n")
        print("| " + " | ".join(HEAD) + " |\n" + "|" + "---|" * len(HEAD), flush=True)
    found: list[Row] = []
    for name in options.robots:
        bench = Bench(SUITES[name], options.count, options.failures, options.passes)
        for row in bench.rows(options.kinds, options.peers):
            found.append(row)
            if not options.json:
                print(
                    line(row.facts()) if row.targets else f"| {row.robot} | {row.kind} | {row.by} |",
                    flush=True,
                )
            if options.failures:
                for failure in row.failures:
                    print(
                        json.dumps({"robot": row.robot, "kind": row.kind, "by": row.by, **failure}),
                        flush=True,
                    )
    if options.json:
        print(json.dumps([row.facts() for row in found if row.targets], indent=2))
    return 0 if all(row.passed for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
