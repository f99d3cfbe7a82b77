"""What the Spheres and Pairs panels have computed, apart from viser; `fit` and `decide` run in another process."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .state import LinkProof

if TYPE_CHECKING:
    from ..pairs import PairMatrix, PairOptions
    from ..robot import Robot
    from ..spheres import FitOptions, SphereModel
    from ..typing import LinkPair
    from ._jobs import Progress

LONGEST = 0.1
"""Seconds after which a round of proofs ends with the link that it is at."""


def fit(robot: Robot, options: FitOptions, progress: Progress) -> SphereModel:
    """`fit_spheres`, told how far it is."""
    from ..spheres import fit_spheres

    progress.say(f"fitting spheres to {robot.name}")
    return fit_spheres(robot, options, progress=progress)


def decide(
    robot: Robot, spheres: SphereModel | None, options: PairOptions, progress: Progress
) -> tuple[PairMatrix, tuple[str, ...]]:
    """Pairs decided for the spheres that a model would take of these, and the links that those do not cover.

    Args:
        robot: the robot.
        spheres: any; None for the default fit. A link that they do not cover gets one ball, as in the model.
        options: how. progress: told how far it is.
    """
    from ..collision.internal import cached_pairs, covering
    from ..spheres import fit_spheres

    if spheres is None:
        progress.say(f"fitting spheres to {robot.name}")
        spheres = fit_spheres(robot, progress=progress)
    covered, uncovered = covering(robot, spheres)
    progress.say(f"deciding which pairs of links can meet on {robot.name}")
    return cached_pairs(robot, covered, options, progress=progress), uncovered


def prove_links(robot: Robot, spheres: SphereModel, links: Sequence[str]) -> dict[str, LinkProof]:
    """Coverage and tightness of the first of some links: as many as take no longer than `LONGEST`, at least one."""
    from ..spheres.internal import prove_mesh_coverage

    found: dict[str, LinkProof] = {}
    start = time.monotonic()
    for link in links:
        centers, radii = spheres.link(link, attached=False)
        result = prove_mesh_coverage(robot.link_mesh(link), centers, radii, name=link)
        found[link] = LinkProof(centers, radii, result)
        if time.monotonic() - start > LONGEST:
            break
    return found


def mirrored(robot: Robot, link: str, rows: np.ndarray, axis: int) -> np.ndarray:
    """Spheres (n, 4) of a link on the other side of the plane through the middle of its mesh, across an axis."""
    mesh = robot.link_mesh(link)
    out = np.array(rows, dtype=np.float64)
    if mesh is not None:
        out[:, axis] = np.asarray(mesh.bounds)[:, axis].sum() - out[:, axis]
    return out


def file_bytes(name: str, **parts: Any) -> bytes:
    """What `formats.write` writes to a file of that name.

    Args:
        name: its ending says the format. parts: `robot`, `spheres`, `pairs`.
    """
    from .. import formats

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        formats.write(path, **parts)
        return path.read_bytes()


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
    from ..robot.internal import Chains

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
