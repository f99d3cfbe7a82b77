"""The guard tried by 1,000 motions a robot, judged by Pinocchio and Coal; and what a step costs.

A third of the motions wander, a third make for colliding configurations, a third go down the gradient of the clearance.
Coal judges every step and places between, for all pairs that count. Harmless motions, free by the same judge,
should pass unaltered.

    python -m benchmarks.guard [ROBOT ...] [--motions N] [--steps N] [--accelerations]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

import numpy as np

import elbowroom as er
from tests.ik.motions import (
    down_the_gradient,
    free_between,
    free_starts,
    guarded,
    harmless_motions,
    into_colliding,
    random_walk,
)
from tests.oracles import oracle_of

ROBOTS = ("panda", "teaarm", "g1")
DT, SPEED = 0.005, 2.0
ACCELERATION = 15.0
"""rad/s^2, where the guard is given limits on it."""


def suite(name: str, motions: int, steps: int, accelerations: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = er.CollisionModel(er.load_robot(name))
    judge, rng = oracle_of(model.robot), np.random.default_rng(0)
    guard = er.Guard(
        model, velocity_limits=SPEED, acceleration_limits=ACCELERATION if accelerations else None
    )
    kinds = {
        "random walk": lambda: random_walk(model.robot, rng, DT, SPEED),
        "into colliding": lambda: into_colliding(model, rng, DT, SPEED),
        "down the gradient": lambda: down_the_gradient(model, rng, DT, SPEED),
    }
    starts = free_starts(model, rng, motions)
    for number, (kind, make) in enumerate(kinds.items()):
        begun, hit, altered, unproved, seconds = time.perf_counter(), 0, 0, 0, list[float]()
        mine = starts[number :: len(kinds)]
        for start in mine:
            guard.reset()
            path, made = guarded(guard, make(), start, steps, DT)
            hit += not free_between(model, judge, path)
            altered += sum(step.altered for step in made)
            unproved += sum(not step.proved for step in made)
            seconds += [step.seconds for step in made]
        us = 1e6 * np.percentile(seconds, [50, 99, 99.9])
        print(
            f"  {kind}: {len(mine)} motions, {hit} with penetrations, {unproved} steps not proved, "
            f"{100 * altered / len(seconds):.1f} % of steps altered, step {us[0]:.0f} us median, {us[1]:.0f} at 99 %, "
            f"{us[2]:.0f} at 99.9 % ({time.perf_counter() - begun:.0f} s)",
            flush=True,
        )
    count = max(1, motions // 10)
    recordings = harmless_motions(model, judge, rng, count, steps, DT, 0.9 * SPEED)
    if accelerations:
        return  # recordings that begin at speed are not harmless to a robot at rest
    changed = sum(bool(guard.filter(path, DT).altered.any()) for path in recordings)
    print(f"  harmless: {changed} of {count} motions altered")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--motions", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--accelerations", action="store_true")
    args = parser.parse_args()
    for name in args.robots:
        print(f"{name} (load {os.getloadavg()[0]:.1f})", flush=True)
        suite(name, args.motions, args.steps, args.accelerations)


if __name__ == "__main__":
    main()
