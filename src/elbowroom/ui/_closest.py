"""The configuration at which two links are closest, as far as a search finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..robot import Robot
    from ..spheres import SphereModel
    from ..typing import LinkPair

SAMPLES, ROUNDS, BEST, TRIES = 4096, 40, 8, 32
"""Random configurations at first; then rounds of tries around each of the best."""
EXACT_STARTS, EXACT_TRIES = 40, 200
"""By meshes: random configurations that are near by spheres, for balls say little of how a link is turned; and tries
around the nearest."""
FREE_SPAN = np.pi
"""Either way, of joints without limits: rad or m."""
MOTION = 1e-3
"""Metres that a joint's way through its whole range counts: of places where the two touch, the nearest to reach."""


def closest_cfg(
    robot: Robot, spheres: SphereModel, pair: LinkPair, cfg: np.ndarray, check: Callable[[], None]
) -> np.ndarray:
    """A configuration at which two links touch, not far from here, or else are as close as was found.

    By spheres first, which are quick; the last steps by meshes. Only joints between the two links are moved.

    Args:
        robot: the robot. spheres: that cover both links. pair: the links.
        cfg: (dof,) where the robot is; the other joints stay.
        check: called now and then; what it raises ends the search.
    """
    from ..distance import SelfCollisionChecker
    from ..robot.doors import Chains

    moved = Chains(robot.tree).between(*(robot.link_index(name) for name in pair)).cfg_idx
    if not len(moved):
        return cfg
    low = np.where(np.isfinite(robot.lower), robot.lower, -FREE_SPAN)[moved]
    high = np.where(np.isfinite(robot.upper), robot.upper, FREE_SPAN)[moved]
    room = _Room(cfg, moved, low, high)
    checker, rng = SelfCollisionChecker(robot, spheres, [pair], threads=1), np.random.default_rng(0)

    def best_of(values: np.ndarray, count: int) -> np.ndarray:
        cost = room.cost(values, checker.min_distance(room.placed(values)))
        return values[np.argsort(cost, kind="stable")[:count]]

    values = np.vstack([cfg[moved], rng.uniform(low, high, (SAMPLES, len(moved)))])
    starts = best_of(values, EXACT_STARTS)
    for k in range(ROUNDS):
        check()
        best = best_of(values, BEST)
        tries = np.repeat(best, TRIES, axis=0)
        tries += rng.normal(size=tries.shape) * (high - low) / 4 * 0.85**k
        values = np.clip(np.vstack([best, tries]), low, high)
    starts = np.vstack([cfg[moved], best_of(values, BEST), starts])
    return room.placed(_by_meshes(robot, pair, room, starts, check)[None])[0]


@dataclass(frozen=True, eq=False)
class _Room:
    """The joints that are moved, and what a place in their room costs."""

    cfg: np.ndarray
    moved: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def placed(self, values: np.ndarray) -> np.ndarray:
        """Configurations (n, dof) of values (n, vars)."""
        rows = np.tile(self.cfg, (len(values), 1))
        rows[:, self.moved] = values
        return rows

    def cost(self, values: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """(n,) distance until they touch, and a little for the way."""
        way = (values - self.cfg[self.moved]) / np.maximum(self.high - self.low, 1e-9)
        return np.maximum(distances, 0.0) + MOTION * np.linalg.norm(way, axis=1)


def _by_meshes(
    robot: Robot, pair: LinkPair, room: _Room, starts: np.ndarray, check: Callable[[], None]
) -> np.ndarray:
    """Values (vars,) that cost less than any of (n, vars), with the distance between meshes."""
    from ..mesh import ExactCollision

    exact, rng = ExactCollision(robot, [pair]), np.random.default_rng(1)
    if not exact.pairs:
        return starts[0]

    def cost(values: np.ndarray) -> float:
        check()
        distance = exact.distances(room.placed(values[None])[0])[0].distance
        return float(room.cost(values[None], np.array([distance]))[0])

    costs = [cost(start) for start in starts]
    found, least = starts[int(np.argmin(costs))], min(costs)
    spread = (room.high - room.low) / 10
    for _ in range(EXACT_TRIES):
        trial = np.clip(found + rng.normal(size=found.shape) * spread, room.low, room.high)
        new = cost(trial)
        spread = spread * (1.5 if new < least else 0.9)
        if new < least:
            found, least = trial, new
    return found
