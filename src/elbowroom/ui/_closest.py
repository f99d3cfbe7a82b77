"""The configuration at which two links are closest, as far as a search finds it."""

from __future__ import annotations

from collections.abc import Callable
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


def closest_cfg(
    robot: Robot, spheres: SphereModel, pair: LinkPair, cfg: np.ndarray, check: Callable[[], None]
) -> np.ndarray:
    """A configuration at which two links are as close, or overlap as deeply, as was found.

    By spheres first, which are quick; the last steps by meshes. Only joints between the two links are moved.

    Args:
        robot: the robot. spheres: that cover both links. pair: the links.
        cfg: (dof,) where the other joints stay.
        check: called now and then; what it raises ends the search.
    """
    from ..distance import SelfCollisionChecker
    from ..robot import Chains

    moved = Chains(robot.tree).between(*(robot.link_index(name) for name in pair)).cfg_idx
    if not len(moved):
        return cfg
    low = np.where(np.isfinite(robot.lower), robot.lower, -FREE_SPAN)[moved]
    high = np.where(np.isfinite(robot.upper), robot.upper, FREE_SPAN)[moved]
    checker = SelfCollisionChecker(robot, spheres, [pair], threads=1)
    rng = np.random.default_rng(0)

    def placed(values: np.ndarray) -> np.ndarray:
        rows = np.tile(cfg, (len(values), 1))
        rows[:, moved] = values
        return rows

    values = np.vstack([cfg[moved], rng.uniform(low, high, (SAMPLES, len(moved)))])
    starts = values[np.argsort(checker.min_distance(placed(values)), kind="stable")[:EXACT_STARTS]]
    spread = (high - low) / 4
    for k in range(ROUNDS):
        check()
        best = values[np.argsort(checker.min_distance(placed(values)), kind="stable")[:BEST]]
        tries = np.repeat(best, TRIES, axis=0)
        tries += rng.normal(size=tries.shape) * spread * 0.85**k
        values = np.clip(np.vstack([best, tries]), low, high)
    best = values[np.argmin(checker.min_distance(placed(values)))]
    starts = np.vstack([best, starts])
    return placed(_by_meshes(robot, pair, placed, starts, low, high, check))[0]


def _by_meshes(
    robot: Robot,
    pair: LinkPair,
    placed: Callable[[np.ndarray], np.ndarray],
    starts: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    check: Callable[[], None],
) -> np.ndarray:
    """Joint values (1, vars) at which the meshes of a pair are closer than at any of (n, vars), until they touch."""
    from ..mesh import ExactCollision

    exact, rng = ExactCollision(robot, [pair]), np.random.default_rng(1)
    if not exact.pairs:
        return starts[:1]
    found, nearest = starts[:1], np.inf
    for start in starts:
        check()
        distance = exact.distances(placed(start[None])[0])[0].distance
        if distance < nearest:
            found, nearest = start[None], distance
        if nearest <= 0.0:
            break
    spread = (high - low) / 10
    for _ in range(EXACT_TRIES):
        if nearest <= 0.0:
            break
        check()
        trial = np.clip(found + rng.normal(size=found.shape) * spread, low, high)
        distance = exact.distances(placed(trial)[0])[0].distance
        better = distance < nearest
        if better:
            found, nearest = trial, distance
        spread = spread * (1.5 if better else 0.9)
    return found
