"""Many plans at once: in threads of this process, or wherever joblib is configured to work.

Every problem has its own seed, so the answers do not depend on how many work at a time (unless time runs out).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .._brief import brief
from .._parallel import parallel_map
from .._text import short
from ..collision import CollisionModel, as_model
from ..errors import ElbowroomError, InputError
from ..typing import RobotLike
from ..world import World
from ._options import PlanOptions
from ._plan import plan_motion
from ._result import PlanResult


@brief
@dataclass(frozen=True, eq=False)
class PlanProblem:
    """One question of a batch; as the arguments of `plan_motion`."""

    start: Any
    goal: Any
    joints: Sequence[str] | None = None
    world: World | None = None
    """Obstacles of this problem; None for those of the model."""

    @classmethod
    def of(cls, problem: Any) -> PlanProblem:
        """From a problem, a pair (start, goal), or a mapping with these names.

        Raises:
            InputError: none of these.
        """
        if isinstance(problem, PlanProblem):
            return problem
        if isinstance(problem, Mapping):
            known = {field.name for field in fields(cls)}
            if {"start", "goal"} <= set(problem) <= known:
                return cls(**problem)
        elif isinstance(problem, Sequence) and not isinstance(problem, str) and len(problem) == 2:
            return cls(*problem)
        raise InputError(
            f"expected a PlanProblem, (start, goal) or a mapping of both, found {short(problem)}"
        )


def plan_batch(
    model: CollisionModel | RobotLike,
    problems: Iterable[Any],
    options: PlanOptions | None = None,
    *,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[PlanResult, ...]:
    """`plan_motion` for many problems, on all cores; results in their order, the same for any number of workers.

    Args:
        model: robot and obstacles.
        problems: each a `PlanProblem`, a pair (start, goal), or a mapping with its fields.
        options: of all of them.
        workers: how many work at a time; None for one per core, or what joblib is configured for: within
            `joblib.parallel_config(backend="loky")`, or a cluster's backend, they are processes, else threads.
        progress: called with (done, total).

    Raises:
        InputError: a problem that makes no sense; it says which.
    """
    model = as_model(model)
    asked: list[tuple[int, PlanProblem]] = []
    for k, problem in enumerate(problems):
        try:
            asked.append((k, PlanProblem.of(problem)))
        except InputError as error:
            raise InputError(f"problems[{k}]: {error}") from None
    work = _PlanThese(model, PlanOptions() if options is None else options)
    return tuple(parallel_map(work, asked, workers=workers, progress=progress, prefer_threads=True))


@dataclass(frozen=True)
class _PlanThese:
    """Answers one problem; runs in other processes if joblib is configured for it."""

    model: CollisionModel
    options: PlanOptions

    def __call__(self, item: tuple[int, PlanProblem]) -> PlanResult:
        k, problem = item
        model = self.model if problem.world is None else self.model.with_world(problem.world)
        try:
            return plan_motion(model, problem.start, problem.goal, problem.joints, self.options)
        except ElbowroomError as error:
            raise type(error)(f"problems[{k}]: {error}") from error
