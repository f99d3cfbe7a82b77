"""The JAX engine of inverse kinematics: a batch of targets, compile time, throughput, and successes judged by others.

Targets are poses of random configurations that Coal calls free, no seed is given. A success that the engine claims is
checked by Pinocchio (1 mm, 0.01 rad, limits of the file) and Coal (all pairs that count). Compile time is the first
call less a later one; times are the smallest wall time of several calls on all cores, verdict included. The compiled
core answers the same targets in one thread. "TeaArmRobot": one start at the default pose with all its costs, which is
what a JAX solver with collision as a cost does; its answers pass the same verdict.

    python -m benchmarks.ik_jax [--robots NAME ...] [--count N]

Leaves with 1 when there is a false success or fewer than 98 % of the targets are reached.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings

import jax
import numpy as np

import elbowroom as er
from benchmarks._timing import cpu_seconds, wall_seconds
from elbowroom import ik
from tests.ik_oracles import Drawn, IkJudge, draw_targets

LINKS = {"panda": ("panda_hand",), "teaarm": ("frame_left_arm_ee", "frame_right_arm_ee")}
NEEDED = 0.98
REPEATS = 3


def judged(judge: IkJudge, drawn: Drawn, results: tuple[ik.IkResult, ...]) -> tuple[int, int]:
    """Successes claimed, and those of them that the judge refuses."""
    claimed = [(result, targets) for result, targets in zip(results, drawn, strict=True) if result.success]
    return len(claimed), sum(bool(judge.faults(result.cfg, targets)) for result, targets in claimed)


def batch(name: str, count: int) -> bool:
    """Prints the rows of a robot; whether everything is as it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = er.CollisionModel(er.load_robot(name))
    judge = IkJudge(model.robot, model.pairs.checked)
    drawn = draw_targets(judge, LINKS[name], count)
    targets = {link: drawn.poses[:, k] for k, link in enumerate(drawn.links)}
    solver = ik.IkSolver(model, LINKS[name])
    solver.solve_batch(targets, workers=1)  # tables
    began = time.perf_counter()
    results = ik.solve_jax(solver, targets)
    first = time.perf_counter() - began
    took = wall_seconds(lambda: ik.solve_jax(solver, targets), REPEATS)
    claimed, false = judged(judge, drawn, results)
    row(name, "jax", count, claimed, false, first - took, took)
    took = cpu_seconds(lambda: solver.solve_batch(targets, workers=1), REPEATS)
    row(name, "core", count, *judged(judge, drawn, solver.solve_batch(targets, workers=1)), 0.0, took)
    return false == 0 and claimed >= NEEDED * count


def teaarm_costs(count: int) -> bool:
    """One start with the costs of `TeaArmRobot`; whether no success is false."""
    tea = er.TeaArmRobot()
    judge = IkJudge(tea.robot, tea.model.pairs.checked)
    drawn = draw_targets(judge, (tea.left, tea.right), count)

    def solve(targets: dict[str, np.ndarray]) -> np.ndarray:
        costs = tea.build_costs(targets[tea.left], targets[tea.right], None)
        found = ik.minimize(costs, tea.default_cfg, tea.robot)
        return np.clip(np.asarray(found.cfg, dtype=np.float64), tea.robot.lower, tea.robot.upper)

    began = time.perf_counter()
    solve(next(iter(drawn)))
    first = time.perf_counter() - began
    began = time.perf_counter()
    cfgs = [solve(targets) for targets in drawn]
    took = time.perf_counter() - began
    claimed = false = 0
    for cfg, targets in zip(cfgs, drawn, strict=True):
        near = all(p <= 1e-3 and o <= 1e-2 for _, p, o in judge.errors(cfg, targets))
        if near and tea.model.free(cfg):
            claimed += 1
            false += bool(judge.faults(cfg, targets))
    row("teaarm", "TeaArmRobot", count, claimed, false, first - took / count, took)
    return false == 0


def price_of_the_cost(count: int = 50) -> None:
    """15 iterations of `minimize` with and without the self-collision cost, CPU time a target."""
    tea = er.TeaArmRobot()
    poses = tea.robot.link_poses(tea.robot.random_cfgs(count, seed=4))
    left, right = (poses[:, tea.robot.link_index(link)] for link in (tea.left, tea.right))
    start = tea.default_cfg.astype(np.float32)
    problems = [tea.build_costs(a, b, None) for a, b in zip(left, right, strict=True)]
    took: list[float] = []
    for leave_out in ("", "self-collision"):
        kept = [[cost for cost in costs if cost.name != leave_out] for costs in problems]

        def solve(costs: list[ik.Cost]) -> None:
            jax.block_until_ready(ik.minimize(costs, start, tea.robot, iterations=15).cfg)

        times = [cpu_seconds(lambda costs=costs: solve(costs), REPEATS) for costs in kept]
        took.append(float(np.median(times)))
    print(
        f"teaarm, 15 iterations: {1e3 * took[0]:.1f} ms with the self-collision cost of "
        f"{len(tea.model.spheres)} spheres, {1e3 * took[1]:.1f} ms without: {took[0] / took[1]:.2f} times"
    )


def row(robot: str, by: str, count: int, claimed: int, false: int, compiling: float, took: float) -> None:
    print(
        f"{robot:8} {by:12} {count:6} {100.0 * claimed / count:8.1f} % {false:6} {compiling:9.1f} s "
        f"{1e3 * took / count:10.3f} ms {count / took:10.0f} /s",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robots", nargs="+", default=list(LINKS), choices=list(LINKS))
    parser.add_argument("--count", type=int, default=256)
    options = parser.parse_args()
    print(f"{jax.devices()[0].device_kind}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'robot':8} {'by':12} {'count':>6} {'reached':>10} {'false':>6} {'compile':>11} {'a target':>13}")
    fine = [batch(name, options.count) for name in options.robots]
    if "teaarm" in options.robots:
        fine.append(teaarm_costs(min(options.count, 64)))
        price_of_the_cost()
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
