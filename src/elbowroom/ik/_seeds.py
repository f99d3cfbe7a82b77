"""SeedTable: free configurations from which searches start, and the nearest of them to a set of targets."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import freeze, frozen
from ..collision import CollisionModel
from ..robot import Robot
from ._pack import AT_VARS, N_SOLVED, VAR_CFG, VAR_WIDTH
from ._problem import QUICK, Lanes, Problem
from ._targets import JointTarget

DRAWS = 6
"""Configurations drawn at most for each one wanted: a robot that is hardly ever free gets a table all the same."""
BOUNDLESS = np.pi
"""rad or m on either side of the default pose from which joints without finite limits are drawn."""
NEAR = 0.01
"""Weight of a squared joint angle beside squared metres, where answers near a given configuration are asked for."""


def free_configurations(
    model: CollisionModel | Robot,
    joints: Sequence[str],
    held: Float[np.ndarray, "dof"],
    n: int,
    seed: int = 0,
) -> Float[np.ndarray, "n dof"]:
    """Configurations with `joints` anywhere within their limits and the others held, free ones first.

    Args:
        model: who says what is free; a robot alone takes all.
        joints: names of those drawn.
        held: (dof,) values of the others.
        n: how many. Where not so many free ones are found, others fill the rest: a search may start from them as well.
        seed: of the draw.
    """
    robot = model if isinstance(model, Robot) else model.robot
    columns = [robot.joint_names.index(name) for name in joints]
    center = robot.default_cfg[columns]
    low, high = robot.lower[columns], robot.upper[columns]
    low = np.where(np.isfinite(low), low, np.minimum(center, high) - BOUNDLESS)
    high = np.where(np.isfinite(high), high, np.maximum(center, low) + BOUNDLESS)
    rng = np.random.default_rng(seed)
    kept: list[np.ndarray] = []
    refused: list[np.ndarray] = []
    count = 0
    for _ in range(DRAWS):
        cfgs = np.tile(held, (n, 1))
        cfgs[:, columns] = rng.uniform(low, high, (n, len(columns)))
        free = np.ones(n, dtype=bool) if isinstance(model, Robot) else model.free(cfgs)
        kept.append(cfgs[free])
        refused.append(cfgs[~free])
        count += len(kept[-1])
        if count >= n or not columns:
            break
    return frozen(np.concatenate([*kept, *refused])[:n])


class SeedTable:
    """Configurations with the poses of the links of a problem's targets."""

    def __init__(self, problem: Problem, cfgs: Float[np.ndarray, "n dof"]) -> None:
        """Computes the poses.

        Args:
            problem: whose targets count.
            cfgs: (n, dof), free ones; joints not solved for at the values at which they will be held.
        """
        self.problem = problem
        robot = problem.robot
        poses = robot.link_poses(cfgs)
        parts: list[np.ndarray] = []
        for kind, name in problem.shape:
            rows = np.zeros((len(cfgs), 7)) if kind is JointTarget else poses[:, robot.link_index(name)]
            parts.append(rows.T)
        solved, first = int(problem.ints[N_SOLVED]), int(problem.ints[AT_VARS]) + VAR_CFG
        entries = problem.ints[first : first + VAR_WIDTH * solved : VAR_WIDTH]
        parts.append(cfgs[:, entries].T)
        self.rows: Float[np.ndarray, "rows n"] = np.ascontiguousarray(np.concatenate(parts), dtype=np.float32)
        """For the kernels: a column per configuration."""
        self.held: Float[np.ndarray, "dof"] = np.array(cfgs[0])
        """Where joints not solved for are held."""
        freeze(self.rows, self.held)
        self._local = threading.local()

    def __len__(self) -> int:
        return self.rows.shape[1]

    def nearest(
        self, values: Float[np.ndarray, "values"], k: int, seed_cfg: Any = None, *, skip: int = 0
    ) -> Float[np.ndarray, "k dof"]:
        """The entries nearest to targets, nearest first.

        Args:
            values: from `Problem.targets_row`.
            k: how many, or as many as there are.
            seed_cfg: (dof,) configuration that comes first, unless entries are skipped; the others are rather near it,
                and joints not solved for are held as in it. None: they are held as in the table.
            skip: leave out so many of the nearest, which have been tried.
        """
        starts, given, near = self._begin(k, seed_cfg, skip)
        count = _kernels().pick_starts(
            values, self.rows, given, skip, near, self.problem.ints, *self._scratch(k + skip), starts
        )  # fmt: skip
        return starts[:count]

    def search(
        self,
        values: Float[np.ndarray, "values"],
        k: int,
        seed_cfg: Any = None,
        *,
        iterations: int,
        position_tolerance: float,
        orientation_tolerance: float,
        skip: int = 0,
        stop_at: int = 0,
    ) -> Lanes:
        """`Problem.solve` from the starts that `nearest` gives, in one call of a kernel."""
        starts, given, near = self._begin(k, seed_cfg, skip)
        limits = (*QUICK, float(iterations), float(position_tolerance), float(orientation_tolerance))
        table = self.rows, skip, near
        return self.problem.run(values, starts, given, table, limits, stop_at, self._scratch(k + skip))

    def _begin(self, k: int, seed_cfg: Any, skip: int) -> tuple[np.ndarray, int, float]:
        """Starts with joints held, how many of them are ready, and the weight of the distance to the first."""
        starts = np.empty((k, len(self.held)))
        starts[:] = self.held if seed_cfg is None else seed_cfg
        return starts, int(seed_cfg is not None and skip == 0), 0.0 if seed_cfg is None else NEAR

    def _scratch(self, picks: int) -> tuple[np.ndarray, np.ndarray]:
        """Memory of the calling thread for the kernels: scores of all entries and the numbers of those picked."""
        try:
            scores, numbers = self._local.scratch
        except AttributeError:
            scores, numbers = self._local.scratch = np.empty(len(self), np.float32), np.empty(0, np.int64)
        if len(numbers) < picks:
            numbers = np.empty(picks, np.int64)
            self._local.scratch = scores, numbers
        return scores, numbers

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_local"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        freeze(self.rows, self.held)
        self._local = threading.local()


@cache
def _kernels() -> Any:
    """The kernels; numba loads when they are first needed."""
    from . import _kernels_seeds

    return _kernels_seeds
