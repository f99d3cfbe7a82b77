"""Whether a pair of links can meet at all: a proof or a search, by their spheres or by their meshes.

By spheres, for a pair that no sample brought together: a short attempt at a proof decides most. The others are
searched: low-discrepancy points in the joints between the two links only, then a pattern search downhill from the best
of them. Only if that finds nothing is the full budget spent on the proof.

By meshes, for a pair that came near: first a search for a collision:
low-discrepancy points in the joints between the two links, then a pattern search downhill in the distance of the
meshes from the best of them. What it finds is a configuration: one in which they collide, or the closest one. For a
pair that keeps apart, a proof is tried that it always keeps the buffer or, where it comes too near for that, half of
the clearance found; in two ways, and with a small budget first.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from .. import _core
from .._frozen import Frozen
from ..mesh import TriangleMesh
from ..robot.internal import Chain
from ._chain import PairChain
from ._options import BUFFER
from ._sample import sobol

QUICK_BOXES = 500
"""Budget of the first attempt: below a millisecond."""
SEARCH_POINTS = 1024
"""Points in the joints between the links from which the best are starts of the search."""
SEARCH_ROUNDS = 60
"""Sweeps over the joints; steps halve when nothing helps, so the last are below 1e-9 of the range."""


@dataclass(frozen=True)
class SphereTask:
    """One pair to decide by its spheres."""

    chain: PairChain
    pad: float
    boxes: int
    starts: int
    seed: int


@dataclass(frozen=True)
class SphereAnswer:
    """The outcome."""

    proved: bool
    meets: bool
    clearance: float
    """Proved lower bound, or the smallest clearance seen; without padding."""
    boxes: int
    cfg: Float[np.ndarray, "vars"] | None
    """Values of the pair's joints where it meets."""
    how: str
    seconds: float


def decide_by_spheres(task: SphereTask) -> SphereAnswer:
    """Proof, search, proof."""
    start = time.perf_counter()
    joints, pair = task.chain.joints, task.chain.core

    def attempt(boxes: int) -> SphereAnswer | None:
        status, bound, used, cfg = pair.prove(joints.lower, joints.upper, task.pad, boxes)
        spent = time.perf_counter() - start
        if status == _core.PROVED:
            return SphereAnswer(True, False, bound + task.pad, used, None, "proof", spent)
        if status == _core.HIT:
            return SphereAnswer(False, True, bound + task.pad, used, cfg, "proof attempt", spent)
        return None

    quick = attempt(min(QUICK_BOXES, task.boxes))
    if quick is not None:
        return quick
    points = sobol(task.seed, 0, SEARCH_POINTS, joints.lower, joints.upper)
    values = pair.clearances(points)
    starts = points[np.argsort(values, kind="stable")[: task.starts]]
    best, cfg = float(values.min()), points[int(values.argmin())]
    if len(starts) and best > task.pad:
        found, at = pair.search(starts, joints.lower, joints.upper, task.pad, SEARCH_ROUNDS)
        if found < best:
            best, cfg = found, at
    if best <= task.pad:
        return SphereAnswer(False, True, best, 0, cfg, "local search", time.perf_counter() - start)
    full = attempt(task.boxes) if task.boxes > QUICK_BOXES else None
    if full is not None:
        return full
    return SphereAnswer(False, False, best, task.boxes, None, "", time.perf_counter() - start)


POINTS = 512
"""Points in the joints between the links; the best are starts of the search."""
ROUNDS = 40
"""Sweeps over the joints; steps halve when nothing helps, so the last are below 1e-9 of the range."""
MESH_QUICK_BOXES = 200
"""Budget of the first attempts: some tenths of a second."""
SPHERE_BOXES = 16
"""A box of a proof by meshes counts as so many of one by spheres."""
KEPT = 0.5
"""Share of the smallest clearance found that is to be proved: half makes proofs of few boxes, and a figure to use."""
MOST_KEPT = 0.75
"""Share of it up to which it is proved instead that the pair keeps the buffer."""
ABOVE = 1e-6
"""Metres above the buffer that are proved then."""
MOST_JOINTS = 5
"""Joints between two links beyond which no proof is tried: boxes in more dimensions are too many for any budget."""
PAIRS_IN_FULL = 16
"""Pairs for which the budget is meant; more share what so many have, or a humanoid would take a minute."""
WORTH_A_PROOF = 2e-4
"""Metres of clearance below which no proof is tried: it would take more boxes than there are."""
FULL_TURN = 2.0 * np.pi


@dataclass(frozen=True)
class MeshTask(Frozen):
    """One pair."""

    chain: Chain
    mesh_a: TriangleMesh
    mesh_b: TriangleMesh
    side: int
    """Joints on the path from a that count as moving a."""
    lower: Float[np.ndarray, "vars"]
    upper: Float[np.ndarray, "vars"]
    """Range of the joints; of one that turns farther than once, one turn."""
    pad: float
    boxes: int
    starts: int
    seed: int

    @staticmethod
    def of(
        chain: Chain,
        mesh_a: TriangleMesh,
        mesh_b: TriangleMesh,
        *,
        pad: float,
        boxes: int,
        starts: int,
        seed: int,
    ) -> MeshTask:
        """The task of two meshes with a chain between their links; `boxes` as of `PairOptions.proof_boxes`."""
        middles = [
            T[:3, :3] @ mesh.vertices.mean(axis=0) + T[:3, 3]
            for T, mesh in ((chain.T_body_a, mesh_a), (chain.T_body_b, mesh_b))
        ]
        upper = np.where(_turns(chain), np.minimum(chain.upper, chain.lower + FULL_TURN), chain.upper)
        side = chain.best_side(middles[0], middles[1])
        return MeshTask(
            chain, mesh_a, mesh_b, side, chain.lower, upper, pad, boxes // SPHERE_BOXES, starts, seed
        )

    @cached_property
    def core(self) -> _core.MeshPair:
        """The two meshes and the joints between them in the compiled core."""
        chain = self.chain
        return _core.MeshPair(
            chain.core, self.side, self.mesh_a.tree, chain.T_body_a, self.mesh_b.tree, chain.T_body_b
        )

    def clearances(self, cfgs: Float[np.ndarray, "n vars"]) -> Float[np.ndarray, "n"]:
        """Distance of the meshes at values of the joints between them; 0 where they collide."""
        return self.core.clearances(cfgs)


@dataclass(frozen=True)
class MeshAnswer:
    """The outcome."""

    closest: float
    """Smallest clearance found, metres; 0 when the meshes collide."""
    cfg: Float[np.ndarray, "vars"]
    """Values of the pair's joints there."""
    proved: float | None
    """Clearance that the meshes are proved to keep everywhere, metres; None without a proof."""
    boxes: int
    """Boxes that the proof took, or all that were tried."""
    seconds: float


def share_boxes(tasks: Sequence[MeshTask]) -> list[MeshTask]:
    """The tasks of one robot, with fewer boxes each where there are more than `PAIRS_IN_FULL` to prove."""
    hopeful = sum(len(task.lower) <= MOST_JOINTS for task in tasks)
    share = min(1.0, PAIRS_IN_FULL / max(hopeful, 1))
    return [
        replace(task, boxes=min(task.boxes, max(MESH_QUICK_BOXES, int(share * task.boxes)))) for task in tasks
    ]


def decide_by_meshes(task: MeshTask) -> MeshAnswer:
    """Search, then proof."""
    start = time.perf_counter()
    closest, cfg = _search(task)
    target = max(task.pad, BUFFER) + ABOVE
    if target > MOST_KEPT * closest:
        target = KEPT * closest
    if len(task.lower) == 0 and closest > 0.0:  # nothing moves: one look is a proof
        return MeshAnswer(closest, cfg, target, 1, time.perf_counter() - start)
    spent = 0
    budgets = sorted({min(MESH_QUICK_BOXES, task.boxes), task.boxes})
    hopeful = closest > WORTH_A_PROOF and len(task.lower) <= MOST_JOINTS
    for boxes in budgets if hopeful else ():
        for by_axes in (True, False):
            status, used, at = task.core.prove(task.lower, task.upper, target, boxes, by_axes)
            spent += used
            if status == _core.PROVED:
                seconds = time.perf_counter() - start
                return MeshAnswer(closest, cfg, target, used, seconds)
            if status == _core.HIT:  # closer than the search found
                near = float(task.clearances(at[None])[0])
                return MeshAnswer(near, at, None, spent, time.perf_counter() - start)
    return MeshAnswer(closest, cfg, None, spent, time.perf_counter() - start)


def _search(task: MeshTask) -> tuple[float, Float[np.ndarray, "vars"]]:
    """The smallest clearance found, and where; it ends at the first collision."""
    points = sobol(task.seed, 0, POINTS, task.lower, task.upper)
    values = task.clearances(points)
    best = np.argsort(values, kind="stable")[: max(1, task.starts // 2)]
    at, value = points[best], values[best]
    steps = np.tile((task.upper - task.lower) / 8.0, (len(at), 1))
    rows = np.arange(len(at))
    for _ in range(ROUNDS if task.starts else 0):
        for v in range(at.shape[1]):
            if value.min() <= 0.0:
                break
            trial = np.stack([at, at])
            trial[0, :, v] -= steps[:, v]
            trial[1, :, v] += steps[:, v]
            trial = np.clip(trial, task.lower, task.upper)
            found = task.clearances(trial.reshape(-1, at.shape[1])).reshape(2, -1)
            way = found.argmin(axis=0)
            better = found[way, rows] < value
            at = np.where(better[:, None], trial[way, rows], at)
            value = np.where(better, found[way, rows], value)
            steps[:, v] *= np.where(better, 1.6, 0.5)
    least = int(value.argmin())
    return float(value[least]), at[least]


def _turns(chain: Chain) -> np.ndarray:
    """(vars,) whether a whole turn of the variable brings all its joints back: they turn, at whole rates."""
    whole = np.ones(len(chain.lower), dtype=bool)
    for kind, poly, v in zip(chain.kind, chain.poly, chain.var, strict=True):
        rates = poly[1:]
        whole[v] &= kind == 1 and not rates[1:].any() and bool((rates == np.round(rates)).all())
    return whole
