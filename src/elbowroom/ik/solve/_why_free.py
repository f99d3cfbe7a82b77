"""The nearest pose that would be free: the target shifted and turned, a little at first and then further."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from .._targets import ORIENTATION_WEIGHT, PoseTarget, PositionTarget, Target
from ._result import IkResult, NearestFree
from ._why import helper

if TYPE_CHECKING:
    from ._solver import IkSolver

SHELLS = (0.01, 0.04, 0.16, 0.32)
"""Metres by which a target is shifted; turned by as much as weighs the same (0.3 m a radian)."""
HALVINGS = 6
"""Steps that shorten a way that was found."""
SECONDS = 1.0
"""After which the search ends with what it has: a guard, some hundred questions take far less on a quiet machine."""


def nearest_free(solver: IkSolver, result: IkResult, locked: tuple[str, ...]) -> NearestFree | None:
    """One target moved until an answer is free; None when no way was found."""
    if solver.model is None:
        return None
    quick = helper(solver, "quick")
    deadline = time.perf_counter() + SECONDS
    seed = result.cfg

    def ask(k: int, way: _Way, scale: float) -> IkResult | None:
        targets = list(result.targets)
        targets[k] = way.moved(targets[k], scale)
        found = quick.solve(tuple(targets), seed, locked)
        return found if found.success else None

    best: NearestFree | None = None
    inner = 0.0
    for shell in SHELLS:
        reach = shell
        for k, way in _ways(result.targets):
            found = ask(k, way, reach)  # no further than the best so far
            if time.perf_counter() > deadline:
                return best
            if found is None:
                continue
            low, high = inner, reach
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                nearer = ask(k, way, middle)
                low, high, found = (middle, high, found) if nearer is None else (low, middle, nearer)
            best, reach = NearestFree(found.targets[k], found.cfg, *way.length(high)), high
        if best is not None:
            return best
        inner = shell
    return None


class _Way:
    """A direction to shift a target in, or an axis to turn it about."""

    def __init__(self, direction: Float[np.ndarray, "3"], turns: bool) -> None:
        self.direction, self.turns = direction, turns

    def length(self, scale: float) -> tuple[float, float]:
        """Metres and radians that it moves by."""
        return (0.0, scale / ORIENTATION_WEIGHT) if self.turns else (scale, 0.0)

    def moved(self, target: Target, scale: float) -> Target:
        """The target moved by so much."""
        if isinstance(target, PositionTarget):
            return replace(target, position=target.position + scale * self.direction)
        if not isinstance(target, PoseTarget):
            return target
        pose = np.array(target.pose)
        if not self.turns:
            pose[4:] += scale * self.direction
            return replace(target, pose=pose)
        half = 0.5 * scale / ORIENTATION_WEIGHT
        pose[:4] = _product((np.cos(half), *(np.sin(half) * self.direction)), pose[:4])
        return replace(target, pose=pose)


def _ways(targets: tuple[Target, ...]) -> Iterator[tuple[int, _Way]]:
    """Shifts along axes and diagonals of space, and turns about axes, of every target that says a place."""
    axes = [sign * row for row in np.eye(3) for sign in (1.0, -1.0)]
    diagonals = [(2.0 * np.array(row) - 1.0) / np.sqrt(3.0) for row in np.ndindex(2, 2, 2)]
    directions = [*axes, *diagonals]
    for k, target in enumerate(targets):
        if isinstance(target, (PoseTarget, PositionTarget)):
            yield from ((k, _Way(direction, False)) for direction in directions)
    for k, target in enumerate(targets):
        if isinstance(target, PoseTarget):
            yield from ((k, _Way(direction, True)) for direction in axes)


def _product(a: tuple[float, ...], b: Float[np.ndarray, "4"]) -> Float[np.ndarray, "4"]:
    """Quaternion product, wxyz."""
    w, x, y, z = a
    return np.array(
        [
            w * b[0] - x * b[1] - y * b[2] - z * b[3],
            w * b[1] + x * b[0] + y * b[3] - z * b[2],
            w * b[2] - x * b[3] + y * b[0] + z * b[1],
            w * b[3] + x * b[2] - y * b[1] + z * b[0],
        ]
    )
