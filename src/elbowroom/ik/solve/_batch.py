"""Many questions at once: in threads of this process, or wherever joblib is configured to work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._parallel import parallel_map
from ..._text import short
from ...errors import InputError
from .._targets import Target, as_targets
from ._result import IkResult

if TYPE_CHECKING:
    from ._solver import IkSolver

CHUNK = 64
"""Questions of a piece of work: about ten milliseconds."""
FEW = 32
"""Below so many, starting threads costs more than it saves."""


def solve_all(
    solver: IkSolver, targets: Any, seed_cfgs: Any, locked: Sequence[str] | str, workers: int | None
) -> tuple[IkResult, ...]:
    """As `IkSolver.solve_batch`."""
    questions = batch_of_targets(targets)
    seeds = batch_of_seeds(solver, seed_cfgs, len(questions))
    pieces = [
        (questions[start : start + CHUNK], seeds[start : start + CHUNK])
        for start in range(0, len(questions), CHUNK)
    ]
    work = _SolveThese(solver, locked)
    if workers is None and len(questions) < FEW:
        workers = 1
    found = parallel_map(work, pieces, workers=workers, prefer_threads=True)
    return tuple(_attached(result, solver) for piece in found for result in piece)


@dataclass(frozen=True)
class _SolveThese:
    """Answers a piece; runs in other processes if joblib is configured for it."""

    solver: IkSolver
    locked: Sequence[str] | str

    def __call__(self, piece: tuple[Sequence[Any], Sequence[Any]]) -> list[IkResult]:
        return [
            _detached(self.solver.solve(targets, seed, self.locked))
            for targets, seed in zip(*piece, strict=True)
        ]


def _detached(result: IkResult) -> IkResult:
    """A result without the model, so that it is small on its way between processes."""
    object.__setattr__(result, "model", None)
    if result.explainer is not None:
        result.explainer.solver = None
    return result


def _attached(result: IkResult, solver: IkSolver) -> IkResult:
    object.__setattr__(result, "model", solver.model)
    if result.explainer is not None:
        result.explainer.solver = solver
    return result


def batch_of_targets(targets: Any) -> list[tuple[Target, ...]]:
    """Sets of targets from a sequence of them, or from {link: (n, 7)}.

    Raises:
        InputError: neither, none at all, links with different numbers of poses, or a bad target; it says which.
    """
    if isinstance(targets, Mapping):
        sets = _of_stacks(targets)
    elif isinstance(targets, Iterable) and not isinstance(targets, (str, bytes, Target)):
        sets = list(targets)
    else:
        raise InputError(
            f"targets: expected a sequence of targets or {{link: (n, 7)}}, found {short(targets)}"
        )
    found: list[tuple[Target, ...]] = []
    for k, one in enumerate(sets):
        try:
            found.append(as_targets(one))
        except InputError as error:
            raise InputError(f"targets[{k}]: {error}") from error
    return found


def _of_stacks(targets: Mapping[Any, Any]) -> list[dict[str, Any]]:
    stacks: dict[str, np.ndarray] = {}
    for link, value in targets.items():
        try:
            stack = np.asarray(getattr(value, "wxyz_xyz", value), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"targets of {link!r}: expected poses (n, 7), found {short(value)}") from error
        if not (
            (stack.ndim == 2 and stack.shape[1] in (3, 7)) or (stack.ndim == 3 and stack.shape[1:] == (4, 4))
        ):
            raise InputError(
                f"targets of {link!r}: expected poses (n, 7) or (n, 4, 4), or positions (n, 3), "
                f"found shape {stack.shape}"
            )
        stacks[link] = stack
    counts = {link: len(stack) for link, stack in stacks.items()}
    if len(set(counts.values())) != 1:
        raise InputError(f"targets: expected as many poses for every link, found {short(counts)}")
    return [dict(zip(stacks, row, strict=True)) for row in zip(*stacks.values(), strict=True)]


def batch_of_seeds(solver: IkSolver, seed_cfgs: Any, n: int) -> Sequence[Any]:
    """A seed configuration, or None, for each of n questions."""
    if seed_cfgs is None:
        return [None] * n
    rows = solver.robot.as_cfgs(seed_cfgs)
    if np.ndim(seed_cfgs) == 1:
        return np.broadcast_to(rows[0], (n, rows.shape[1]))  # type: ignore[return-value]
    if len(rows) != n:
        raise InputError(f"seed_cfgs: expected one per set of targets, {n}, found {len(rows)}")
    return rows  # type: ignore[return-value]
