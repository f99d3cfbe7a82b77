"""Robots with their collision models and judges: real ones, made once a process, and random ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import elbowroom as er
from benchmarks.truth import judged_pairs
from elbowroom.pairs import PairReason
from tests.oracles import CoalOracle, LinkPair, PinocchioCoal, oracle_of

from .random_robots import Manner, random_urdf

QUICK = er.FitOptions(method="centerline")
"""A fit of a second; verdicts must not depend on the spheres."""
REAL = ("teaarm", "panda", "ur5", "xarm7", "kinova", "baxter")


@dataclass(frozen=True)
class Judged:
    """A robot, its model without a world, and its judge."""

    model: er.CollisionModel
    oracle: CoalOracle
    pairs: tuple[LinkPair, ...]
    """Links that the judge is asked about: what a user means by self-collision."""
    sampled: tuple[LinkPair, ...]
    """Of these, pairs that were found never to meet in samples alone: a miss of theirs is no broken promise."""

    @classmethod
    def of(cls, model: er.CollisionModel, oracle: CoalOracle) -> Judged:
        meant = judged_pairs(model, oracle)
        found = model.ignored
        sampled = {pair for pair in meant if pair in found and found[pair].reason is PairReason.NEVER_SAMPLED}
        return cls(
            model, oracle, tuple(pair for pair in meant if pair not in sampled), tuple(sorted(sampled))
        )

    @property
    def robot(self) -> er.Robot:
        return self.model.robot

    def cfgs(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Random configurations, half of them near the default pose."""
        low, high = self.robot.lower, self.robot.upper
        rows = rng.uniform(low, high, (count, self.robot.dof))
        near = self.model.default_cfg + 0.15 * np.minimum(high - low, np.pi) * rng.normal(size=rows.shape)
        rows[::2] = np.clip(near, low, high)[::2]
        return rows


@cache
def installed() -> tuple[str, ...]:
    known = {entry.name for entry in er.catalogue()}
    return tuple(name for name in REAL if name in known)


@cache
def real(name: str) -> Judged:
    robot = er.load_robot(name)
    model = er.CollisionModel(robot, er.fit_spheres(robot, QUICK), threads=1)
    return Judged.of(model, oracle_of(robot))


def random_judged(rng: np.random.Generator, folder: Path, manner: Manner) -> Judged:
    """A random robot that has joints and geometry.

    Raises:
        ElbowroomError: it has none, or what a draw has is refused.
    """
    path = random_urdf(rng, folder, manner)
    robot = er.load_robot(path)
    spheres = er.fit_spheres(robot, QUICK)
    options = er.PairOptions(samples=3000, seed=int(rng.integers(1 << 30)))
    model = er.CollisionModel(robot, spheres, er.compute_pairs(robot, spheres, options), threads=1)
    return Judged.of(model, PinocchioCoal(path))
