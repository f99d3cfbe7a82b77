"""Many questions to an `IkSolver` at once, answered by the JAX engine: for GPUs, and for costs of one's own.

Starts, tolerances, the choice among what is reached and the verdict are those of the solver; only the search itself is
`minimize`, over a fixed number of questions by sixteen starts at a time. That shape does not change with the question,
so a robot and kind of target compile once. Where few questions are left, each takes several rounds of starts at once.
Costs beside the targets shape the search; the targets alone then draw it in, so that tolerances mean the same.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ... import _core
from ...collision import CollisionModel
from ...errors import InputError
from ...robot import Robot
from .._problem import VALUES, Shape, shape_of
from .._targets import Target
from ..solve._batch import batch_of_seeds, batch_of_targets
from ..solve._result import IkResult
from ..solve._solver import IkSolver, Question
from ._costs import Cost, packed_costs
from ._solve import minimize

QUESTIONS = 64
"""Answered by one call at most; fewer are rounded up to a power of two."""
TO_THE_POINT = 15
"""Steps with the targets alone after a search with other costs."""
LANES = 16
"""Starts of a round."""


def solve_jax(
    solver: IkSolver | CollisionModel | Robot,
    targets: Any,
    seed_cfgs: Any = None,
    locked: Sequence[str] | str = (),
    *,
    costs: Sequence[Cost] = (),
) -> tuple[IkResult, ...]:
    """Answers many sets of targets; a success is what `IkSolver` calls one, the verdict included.

    Args:
        solver: whose options, joints, tables of starts and verdict count; of a model or a robot one is made, whose
            tables are lost after the call. `IkOptions.timeout` is not looked at.
        targets: as of `IkSolver.solve_batch`: {link: (n, 7)}, or a sequence of what `solve` takes.
        seed_cfgs: (n, dof), or (dof,) for all; None for none.
        locked: joints that stay where they are.
        costs: beside those of the targets, the same for all questions.

    Raises:
        InputError, UnknownLinkError, UnknownJointError: as `IkSolver.solve_batch`.
    """
    began = time.perf_counter()
    asked = solver if isinstance(solver, IkSolver) else IkSolver(solver)
    questions = batch_of_targets(targets)
    seeds = batch_of_seeds(asked, seed_cfgs, len(questions))
    names = (locked,) if isinstance(locked, str) else tuple(locked)
    extra = tuple(costs)
    wrong = next((cost for cost in extra if not isinstance(cost, Cost)), None)
    if wrong is not None:
        raise InputError(f"costs: expected Cost values, found a {type(wrong).__name__}")
    kinds: dict[Shape, list[int]] = {}
    for k, question in enumerate(questions):
        kinds.setdefault(shape_of(question), []).append(k)
    found: list[IkResult | None] = [None] * len(questions)
    for members in kinds.values():
        alike = [(questions[k], seeds[k]) for k in members]
        for k, result in zip(members, _solve_alike(asked, alike, names, extra, began), strict=True):
            found[k] = result
    return tuple(result for result in found if result is not None)


def _solve_alike(
    solver: IkSolver,
    questions: Sequence[tuple[tuple[Target, ...], Any]],
    locked: tuple[str, ...],
    costs: tuple[Cost, ...],
    began: float,
) -> list[IkResult]:
    """Answers questions of one shape."""
    setup = solver.setup_for(questions[0][0], locked)
    asked = [_Asked(solver, solver.question(setup, targets, seed)) for targets, seed in questions]
    rounds = -(-solver.options.seeds // LANES)
    size = 1 << min(len(asked) - 1, QUESTIONS - 1).bit_length()
    waiting, number = [one for one in asked if setup.parts], 0
    while waiting and number < rounds:
        at_once = min(max(1, size // len(waiting)), rounds - number)
        slots = [(one, number + turn) for turn in range(at_once) for one in waiting]
        for place in range(len(setup.parts)):
            for first in range(0, len(slots), size):
                _search_these(place, slots[first : first + size], size, costs)
        waiting = [one for one in waiting if not one.choose()]
        number += at_once
    return [solver.answer(one.question, one.found(), locked, began, began) for one in asked]


class _Asked:
    """A question, and where searches for its answer ended."""

    def __init__(self, solver: IkSolver, question: Question) -> None:
        self.solver, self.question = solver, question
        self.tables = question.setup.tables(solver.model, question.base, solver.options)
        self.ends: list[list[Float[np.ndarray, "n dof"]]] = [[] for _ in self.tables]
        """For each part."""
        self._found: Any = None

    def starts(self, place: int, turn: int) -> Float[np.ndarray, "n dof"]:
        """The starts of a round for a part."""
        question, table = self.question, self.tables[place]
        part = question.setup.parts[place]
        entries = table.nearest(self.values(place), question.base, question.seeded, LANES * (turn + 1))
        rows = np.tile(question.base, (LANES, 1))
        picked = entries[LANES * turn :]
        if len(picked):
            rows[:, part.joint_idx] = part.starts[0][picked[np.arange(LANES) % len(picked)]][
                :, part.joint_idx
            ]
        if question.seeded and turn == 0:
            rows[-1] = question.base
        return rows

    def values(self, place: int) -> Float[np.ndarray, "values"]:
        """Of the targets of a part."""
        rows = np.array(self.question.values).reshape(-1, VALUES)
        return rows[list(self.question.setup.parts[place].positions)].ravel()

    def choose(self) -> bool:
        """Whether what the searches reached has a free answer: the core measures it, chooses and judges."""
        parts = self.question.setup.parts
        tables = [
            _core.StartTable(part.problem.core, np.concatenate(ends))
            for part, ends in zip(parts, self.ends, strict=True)
        ]
        self._found = self.solver.search(self.question, tables, self.solver.settings(iterations=0))
        return bool(self._found[3])

    def found(self) -> Any:
        """What `IkSolver.search` gives."""
        return self.solver.search(self.question, []) if self._found is None else self._found


def _search_these(
    place: int, slots: Sequence[tuple[_Asked, int]], size: int, costs: tuple[Cost, ...]
) -> None:
    """Starts for some questions, one call of the engine; where they end is kept with the questions."""
    question, options = slots[0][0].question, slots[0][0].solver.options
    problem = question.setup.parts[place].problem
    robot = problem.robot
    filled = [slots[min(row, len(slots) - 1)] for row in range(size)]  # rows too many repeat the last
    values = np.stack([one.values(place) for one, _ in filled])
    starts = np.stack([one.starts(place, turn) for one, turn in filled])
    held = tuple(name for name in robot.joint_names if name not in problem.joints)
    ended, _ = jax.device_get(
        _minimize_all(robot, problem.shape, held, costs, values, starts, np.int32(options.iterations))
    )
    cfgs = np.where(
        np.isin(robot.joint_names, problem.joints),
        np.clip(ended.astype(np.float64), robot.lower, robot.upper),
        starts,  # what is held has not been through single precision
    )
    for row, (one, _) in enumerate(slots):
        one.ends[place].append(cfgs[row])


@partial(jax.jit, static_argnames=("shape", "held"))
def _minimize_all(
    robot: Robot,
    shape: Shape,
    held: tuple[str, ...],
    costs: tuple[Cost, ...],
    values: jax.Array,
    starts: jax.Array,
    iterations: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """Configurations (questions, starts, dof) where each start ended, and the steps that it took."""

    def one(values: jax.Array, starts: jax.Array) -> tuple[jax.Array, jax.Array]:
        aims = packed_costs(robot, shape, values)
        found = minimize([*aims, *costs], starts, robot, locked=held, iterations=iterations)
        if not costs:
            return found.cfg, found.iterations
        drawn = minimize(aims, found.cfg, robot, locked=held, iterations=TO_THE_POINT)
        return drawn.cfg, found.iterations + drawn.iterations

    return jax.vmap(one)(jnp.asarray(values), jnp.asarray(starts))
