"""Many questions to an `IkSolver` at once, answered by the JAX engine: for GPUs, and for costs of one's own.

Starts, tolerances, the choice among what is reached and the verdict are those of the solver; only the search itself is
`minimize`, over a fixed number of questions by sixteen starts at a time. That shape does not change with what is asked,
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

from ..collision import CollisionModel
from ..errors import InputError
from ..robot import Robot
from ._batch import batch_of_seeds, batch_of_targets
from ._jax_costs import Cost, packed_costs
from ._jax_solve import minimize
from ._problem import Lanes, Shape, shape_of
from ._result import IkResult
from ._search import LANES, Search
from ._setup import Part
from ._solver import IkSolver
from ._targets import Target

QUESTIONS = 64
"""Answered by one call at most; fewer are rounded up to a power of two."""
TO_THE_POINT = 15
"""Steps with the targets alone after a search with other costs."""
Slot = tuple[int, int]
"""A question, and which sixteen of its starts."""


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
    begun = [solver.begin(setup, targets, seed, began) for targets, seed in questions]
    searches = [search for search, _ in begun]
    size = 1 << min(len(searches) - 1, QUESTIONS - 1).bit_length()
    waiting = [k for k, search in enumerate(searches) if search.tries]
    number = 0
    while waiting and number < searches[0].rounds:
        at_once = min(max(1, size // len(waiting)), searches[0].rounds - number)
        for place, part in enumerate(setup.parts):
            slots = [
                (k, number + turn)
                for turn in range(at_once)
                for k in waiting
                if searches[k].tries[place] in searches[k].waiting()
            ]
            for first in range(0, len(slots), size):
                _search_these(searches, place, part, slots[first : first + size], size, costs)
        waiting = [k for k in waiting if not searches[k].choose()]
        number += at_once
    return [solver.answer(search, search.end(), notes, locked, began) for search, notes in begun]


def _search_these(
    searches: Sequence[Search],
    place: int,
    part: Part,
    slots: Sequence[Slot],
    size: int,
    costs: tuple[Cost, ...],
) -> None:
    """Starts for some questions, one call of the engine; what they reach is kept by their searches."""
    problem, robot = part.problem, part.problem.robot
    values = np.empty((size, len(searches[0].tries[place].values)))
    starts = np.empty((size, LANES, robot.dof))
    for row in range(size):
        k, turn = slots[min(row, len(slots) - 1)]  # rows too many repeat the last
        search = searches[k]
        values[row] = search.tries[place].values
        table = part.table(search.model, search.base, search.options)
        near = table.nearest(values[row], LANES, search.base if search.seeded else None, skip=turn * LANES)
        starts[row] = near[np.arange(LANES) % len(near)] if len(near) else search.base
    options = searches[0].options
    held = tuple(name for name in robot.joint_names if name not in problem.joints)
    ended, steps = jax.device_get(
        _minimize_all(robot, problem.shape, held, costs, values, starts, np.int32(options.iterations))
    )
    cfgs = np.where(
        np.isin(robot.joint_names, problem.joints),
        np.clip(ended.astype(np.float64), robot.lower, robot.upper),
        starts,  # what is held has not been through single precision
    )
    for row, (k, _) in enumerate(slots):
        searches[k].tries[place].tried += LANES
        searches[k].tries[place].take(_lanes(part, values[row], cfgs[row], steps[row], options))


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


def _lanes(
    part: Part,
    values: Float[np.ndarray, "values"],
    cfgs: Float[np.ndarray, "n dof"],
    steps: Any,
    options: Any,
) -> Lanes:
    """Where starts ended, measured by the numba engine in double precision."""
    position, orientation = part.problem.errors(values, cfgs)
    reached = (position <= options.position_tolerance).all(axis=1)
    reached &= (orientation <= options.orientation_tolerance).all(axis=1)
    rows = np.concatenate([cfgs, position, orientation, reached[:, None], steps[:, None]], axis=1)
    return Lanes(rows, cfgs.shape[1], position.shape[1])
