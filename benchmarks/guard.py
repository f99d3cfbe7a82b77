"""The guard tried by 1,000 motions a robot, judged by Pinocchio and Coal; and what a step costs.

A third of the motions wander, a third make for the nearest colliding configuration, a third go down the gradient of the
clearance; most begin within 0.5 rad of contact. Coal judges all of every motion, between the steps too (see
`tests.ik.motions.touches`), for all pairs that count. The same steering without the guard shows that it would collide.
Harmless motions, free by the same judge, should pass unaltered.

    python -m benchmarks.guard [ROBOT ...] [--motions N] [--steps N] [--accelerations] [--seconds S] [--seed K]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

import elbowroom as er
from elbowroom.ik.internal import CollisionRows
from tests.ik.motions import (
    Steer,
    Touches,
    down_the_gradient,
    gentle_motions,
    guarded,
    harmless_motions,
    into_colliding,
    random_walk,
    starts_near,
    touches,
)
from tests.oracles import CoalOracle, oracle_of

ROBOTS = ("panda", "teaarm", "g1")
KINDS = ("random walk", "into colliding", "down the gradient")
DT, SPEED = 0.005, 2.0
ACCELERATION = 15.0
"""rad/s^2, where the guard is given limits on it."""
UNGUARDED = 10
"""Every so many motions are made without the guard as well."""
BLOCK = 30
"""Motions begun at once; progress is told after each."""


@dataclass
class Tally:
    """What happened to the motions of one kind."""

    motions: int = 0
    collide: int = 0
    overlap: int = 0
    unproved: int = 0
    altered: int = 0
    met: int = 0
    broken: int = 0
    looks: int = 0
    bare: int = 0
    bare_hit: int = 0
    seconds: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        us = 1e6 * np.percentile(self.seconds, [50, 99, 99.9])
        share = 100 * self.altered / len(self.seconds)
        return (
            f"{self.motions} motions, {len(self.seconds)} steps: {self.overlap} steps in penetration "
            f"({self.collide} by Coal's collide alone), {self.unproved} not proved, {self.broken} beyond a limit; "
            f"{self.met} motions met the guard, {share:.1f} % of steps altered; without the guard {self.bare_hit} of "
            f"{self.bare} motions collide; {self.looks} questions to Coal; step {us[0]:.0f} us median, {us[1]:.0f} at "
            f"99 %, {us[2]:.0f} at 99.9 %"
        )


class Trial:
    """One robot, its guard and its judge."""

    def __init__(self, name: str, accelerations: bool, seed: int) -> None:
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model = er.CollisionModel(er.load_robot(name))
        self.judge: CoalOracle = oracle_of(self.model.robot)
        self.limit = ACCELERATION if accelerations else None
        self.guard = er.Guard(self.model, velocity_limits=SPEED, acceleration_limits=self.limit)
        self.rows, self.rng = CollisionRows(self.model), np.random.default_rng(seed)
        print(
            f"{name}: {len(self.model.pairs.checked)} pairs, model and judge ready after "
            f"{time.perf_counter() - begun:.0f} s; acceleration limits: {self.limit}; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )

    def judged(self, path: np.ndarray, first: bool = False) -> Touches:
        return touches(self.judge, self.model.pairs.checked, path, self.model.robot, first=first)

    def steer(self, kind: str) -> Steer:
        if kind == "random walk":
            return random_walk(self.model.robot, self.rng, DT, SPEED)
        if kind == "into colliding":
            return into_colliding(self.model, self.rng, DT, SPEED)
        return down_the_gradient(self.model, self.rng, DT, SPEED, self.rows)

    def adversaries(self, motions: int, steps: int, seconds: float) -> None:
        tallies = {kind: Tally() for kind in KINDS}
        begun, number = time.perf_counter(), 0
        while number < motions and time.perf_counter() - begun < seconds:
            for start in starts_near(self.model, self.rng, min(BLOCK, motions - number)):
                kind = KINDS[number % len(KINDS)]
                self._one(kind, start, steps, tallies[kind], bare=number // len(KINDS) % UNGUARDED == 0)
                number += 1
            hit, all_looks = (
                sum(getattr(t, what) for t in tallies.values()) for what in ("overlap", "looks")
            )
            print(
                f"    {number} motions, {hit} steps in penetration, {all_looks} questions, "
                f"{time.perf_counter() - begun:.0f} s",
                flush=True,
            )
        for kind, tally in tallies.items():
            print(f"  {kind}: {tally}", flush=True)

    def _one(self, kind: str, start: np.ndarray, steps: int, tally: Tally, bare: bool) -> None:
        self.guard.reset()
        path, made = guarded(self.guard, self.steer(kind), start, steps, DT)
        found = self.judged(path)
        tally.motions += 1
        tally.collide += int(found.collide.sum())
        tally.overlap += int(found.overlap.sum())
        for step, links, gap in found.where:
            print(
                f"    {kind}, step {step}: {links[0]} and {links[1]}, meshes {gap:.3g} m apart, {path[step].tolist()}"
            )
        tally.altered += sum(step.altered for step in made)
        tally.met += any(step.altered for step in made)
        tally.unproved += sum(not step.proved for step in made)
        tally.broken += self._broken(path)
        tally.looks += found.looks
        tally.seconds += [step.seconds for step in made]
        if bare:
            steer, free = self.steer(kind), [start]
            for _ in range(steps):
                free.append(steer(free[-1]))
            tally.bare += 1
            tally.bare_hit += bool(self.judged(np.array(free), first=True).overlap.any())

    def _broken(self, path: np.ndarray) -> int:
        """Steps that break a joint limit, the speed limit or the acceleration limit."""
        robot, rates = self.model.robot, np.diff(path, axis=0) / DT
        change = np.abs(np.diff(rates, axis=0, prepend=np.zeros((1, robot.dof)))) / DT
        bad = ((path[1:] > robot.upper + 1e-9) | (path[1:] < robot.lower - 1e-9)).any(axis=1)
        bad |= (np.abs(rates) > SPEED * (1 + 1e-9)).any(axis=1)
        if self.limit is not None:
            bad |= (change > self.limit * (1 + 1e-6)).any(axis=1)
        return int(bad.sum())

    def harmless(self, motions: int, steps: int, seconds: float) -> None:
        begun, count, changed, late, words = time.perf_counter(), 0, 0, 0, list[str]()
        while count < motions and time.perf_counter() - begun < seconds:
            more = min(BLOCK, motions - count)
            if self.limit is None:
                paths = harmless_motions(self.model, self.judge, self.rng, more, steps, DT, 0.9 * SPEED)
            else:
                paths = gentle_motions(self.model, self.judge, self.rng, more, steps, DT, 0.9 * SPEED, 0.15)
            count += more
            for path in paths:
                found = self.guard.filter(path, DT)
                changed += bool(found.altered.any())
                if found.altered.any():
                    words.append(", ".join(found.limited_by[int(found.altered.argmax())]))
                self.guard.reset()
                late += any(self.guard.step(*ends, DT).altered for ends in pairwise(path))
        print(
            f"  harmless: {changed} of {count} motions altered {sorted(set(words))}; {late} where every step has its "
            f"budget of {1e3 * DT / 2:g} ms of wall time, load {os.getloadavg()[0]:.1f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--motions", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--accelerations", action="store_true")
    parser.add_argument("--seed", type=int, default=0, help="other motions")
    parser.add_argument(
        "--seconds", type=float, default=np.inf, help="for each robot; begins no motion after that"
    )
    args = parser.parse_args()
    for name in args.robots:
        trial = Trial(name, args.accelerations, args.seed)
        trial.adversaries(args.motions, args.steps, 0.75 * args.seconds)
        trial.harmless(args.motions, args.steps, 0.25 * args.seconds)


if __name__ == "__main__":
    main()
