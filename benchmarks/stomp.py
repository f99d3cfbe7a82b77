"""STOMP on a public sample, and what an iteration costs: its growth with rollouts, timesteps, spheres and obstacles.

Times are CPU seconds of one thread in a warm process; those of iterations are the smallest of some repeats. Successes
are proved between their timesteps (`prove_path`).

    python -m benchmarks.stomp [--problems FILE] [--limit N] [--plot FILE]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import elbowroom as er
from benchmarks._plan_problems import Problem, bare, read_problems
from benchmarks._timing import cpu_seconds
from benchmarks.plan import SAMPLE
from elbowroom import _core
from elbowroom.plan import ObstacleCost, Stomp, StompOptions, prove_path
from elbowroom.plan.stomp._descent import SETTINGS
from elbowroom.world import Box, World

ARM = tuple(f"panda_joint{k}" for k in range(1, 8))
SPHERES = (30, 60, 100)
OBSTACLES = (4, 16, 64, 256)
ROLLOUTS = (8, 16, 32, 64, 128)
TIMESTEPS = (16, 32, 64, 128, 256)
BUDGET = 0.5
"""CPU seconds within which several starts are to succeed."""


def iteration(stomp: Stomp) -> tuple[float, float]:
    """CPU seconds of an iteration with all costs, and with obstacles alone."""
    found: list[float] = []
    for costs in (stomp.costs, stomp.costs[:1]):
        options = replace(stomp.options, iterations=12, improve=12, restarts=0)
        run = Stomp(stomp.model, stomp.start, stomp.goal, stomp.group.joints, costs, options)
        stamps: list[float] = []
        run.run(hook=lambda *_, to=stamps: to.append(time.process_time()))
        found.append(float(np.diff(stamps).min()) if len(stamps) > 1 else np.nan)
    return found[0], found[1]


def table(problems: Sequence[Problem]) -> None:
    """An iteration of 32 x 64 in one scene of each set, and what each cost takes of it."""
    print("\nAn iteration of 32 rollouts x 64 timesteps, ms of CPU")
    for kind in sorted({problem.kind for problem in problems}):
        problem = next(problem for problem in problems if problem.kind == kind)
        ends = problem.start, problem.goals[0], problem.joints
        stomp = Stomp(problem.model(), *ends, options=StompOptions(boxes_decide=True))
        rows, dt = shaken(stomp, 32, 64), stomp.dt
        took = {cost.name: 1e3 * cpu_seconds(partial(cost.cost, rows, dt)) for cost in stomp.costs}
        exact = Stomp(stomp.model, *ends).costs[0]
        took["obstacles by the verdict"] = 1e3 * cpu_seconds(partial(exact.cost, rows, dt))
        parts = ", ".join(f"{name} {ms:.2f}" for name, ms in took.items())
        every, obstacles = iteration(stomp)
        print(
            f"  {kind:18s} {1e3 * obstacles:5.2f} with obstacles alone, {1e3 * every:5.2f} with all ({parts})"
        )


def shaken(stomp: Stomp, rollouts: int, timesteps: int) -> np.ndarray:
    """(k, t, dof) noisy trajectories about the straight line, as in a first iteration."""
    group, rows = stomp.group, np.empty((rollouts, timesteps, len(stomp.start)))
    line = group.whole(np.linspace(*group.parts(np.stack([stomp.start, stomp.goal])), timesteps))
    settings = {name: getattr(stomp.options, name) for name in SETTINGS} | {"rollouts": rollouts}
    joints = np.stack([group.lower, group.upper, stomp.sigma])
    _core.Descent(line, group.moving, joints, settings, 0).shake(rows)
    return rows


def success(problems: Sequence[Problem]) -> None:
    """How many problems are solved by one start and by several."""
    for name, restarts in (
        ("one start from the straight line", 0),
        ("several starts", StompOptions().restarts),
    ):
        solved, seconds, kinds = 0, [], {}
        for problem in problems:
            model = problem.model()
            stomp = Stomp(
                model,
                problem.start,
                problem.goals[0],
                problem.joints,
                options=StompOptions(restarts=restarts),
            )
            begin = time.process_time()
            result = stomp.run()
            seconds.append(time.process_time() - begin)
            good = result.success and prove_path(model, result.path).free
            solved += good
            of = kinds.setdefault(problem.kind, [0, 0, 0])
            of[0], of[1], of[2] = of[0] + good, of[1] + (good and seconds[-1] <= BUDGET), of[2] + 1
        within, took = sum(of[1] for of in kinds.values()), np.array(seconds)
        print(
            f"\n{name}: {solved} of {len(problems)} proved ({100 * solved / len(problems):.1f} %), {within} within "
            f"{BUDGET:g} s of CPU; median {np.median(took):.3f} s, 95 % {np.quantile(took, 0.95):.2f} s"
        )
        print("  " + ", ".join(f"{kind} {of[0]}/{of[2]} ({of[1]})" for kind, of in kinds.items()))


def boxes_around(count: int) -> World:
    """Small boxes in the arm's reach, as many as wanted; they take the same part of the space together."""
    rng = np.random.default_rng(5)
    edge = 0.35 / count ** (1.0 / 3.0)
    poses = np.tile(np.eye(4), (count, 1, 1))
    angle, radius = rng.uniform(-np.pi, np.pi, count), rng.uniform(0.4, 0.8, count)
    poses[:, 0, 3], poses[:, 1, 3] = radius * np.cos(angle), radius * np.sin(angle)
    poses[:, 2, 3] = rng.uniform(0.1, 0.9, count)
    return World(Box((edge, edge, edge), pose=pose, name=f"box{k}") for k, pose in enumerate(poses))


def growth(plot: Path | None) -> None:
    """CPU time of the obstacle cost of an iteration against its sizes, as a table and a picture."""
    model = bare("panda")
    robot, rest = model.robot, np.array(model.robot.default_cfg)
    goal = rest.copy()
    goal[:7] += np.array([1.2, 0.5, -0.4, 0.6, 0.3, 0.4, 0.5]) * np.where(rest[:7] > 0.0, -1.0, 1.0)
    goal[:7] = np.clip(goal[:7], robot.lower[:7], robot.upper[:7])

    def took(cost: ObstacleCost, rollouts: int, timesteps: int) -> float:
        stomp = Stomp(cost.model, rest, goal, ARM, [cost], StompOptions(timesteps=timesteps))
        rows = shaken(stomp, rollouts, timesteps)
        return 1e3 * cpu_seconds(lambda: cost.cost(rows, stomp.dt))

    plain = ObstacleCost(model.with_world(boxes_around(16)))
    curves: dict[str, tuple[list[float], list[float]]] = {
        "rollouts (64 timesteps)": (list(ROLLOUTS), [took(plain, k, 64) for k in ROLLOUTS]),
        "timesteps (32 rollouts)": (list(TIMESTEPS), [took(plain, 32, t) for t in TIMESTEPS]),
        "obstacles (60 spheres)": (
            list(OBSTACLES),
            [took(ObstacleCost(model.with_world(boxes_around(n))), 32, 64) for n in OBSTACLES],
        ),
    }
    sizes: list[float] = []
    times: list[float] = []
    for n in SPHERES:
        spheres = er.fit_spheres(robot, er.FitOptions(method="tight", n_spheres=n))
        other = er.CollisionModel(robot, spheres, world=boxes_around(16), threads=1)
        sizes.append(len(spheres))
        times.append(took(ObstacleCost(other), 32, 64))
    curves["spheres (16 obstacles)"] = sizes, times
    print(
        "\nObstacle cost of an iteration, ms of CPU (32 x 64, 60 spheres, 16 obstacles where not said otherwise)"
    )
    for name, (xs, ys) in curves.items():
        print(f"  {name:26s} " + ", ".join(f"{x:g}: {y:.2f}" for x, y in zip(xs, ys, strict=True)))
    if plot is not None:
        _draw(curves, plot)
        print(f"  written: {plot}")


def _draw(curves: dict[str, tuple[list[float], list[float]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained")
    for axis, (name, (xs, ys)) in zip(axes, curves.items(), strict=True):
        axis.plot(xs, ys, "o-")
        axis.set(xlabel=name, ylim=(0.0, None), xlim=(0.0, None))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("obstacle cost, ms of CPU")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=Path, default=SAMPLE if SAMPLE.exists() else None)
    parser.add_argument("--limit", type=int, default=None, help="so many problems, spread over the file")
    parser.add_argument("--plot", type=Path, default=None, help="picture of the growth (.png)")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", er.errors.ApproximationWarning)
    print(f"one thread; load of the machine {os.getloadavg()[0]:.1f}")
    growth(arguments.plot)
    if arguments.problems is None:
        print("no sample problems: name a file with --problems")
        return
    problems = read_problems(arguments.problems)
    if arguments.limit is not None:
        problems = problems[:: max(1, len(problems) // arguments.limit)]
    table(problems)
    success(problems)


if __name__ == "__main__":
    main()
