"""OMPL's RRT-Connect and path simplifier on our verdict, for comparison in the same run.

States and edges are answered by `CollisionModel.free`: an edge by all its looks in one compiled call, so Python costs
little per look. Edges are sampled, not proved.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from benchmarks._plan_problems import Problem
from elbowroom import CollisionModel
from elbowroom.plan.internal import Group

RESOLUTION = 0.02
"""Largest joint motion (rad, m) between two looks at an edge: two centimetres at the hand of an arm of 0.8 m, where
proofs leave nothing out and judges look at every millimetre."""
FIRST_LOOKS = 8
"""Looks at an edge that are asked first: most blocked edges are refused by these."""


@dataclass(frozen=True)
class Answer:
    """What OMPL found."""

    solved: bool
    raw: np.ndarray | None
    """(n, dof) as it was found."""
    path: np.ndarray | None
    """(n, dof) after OMPL simplified it."""
    first: float
    """CPU seconds to the first path."""
    total: float
    """CPU seconds with simplification."""
    looks: int


def available() -> bool:
    try:
        import ompl.geometric  # noqa: F401
    except ImportError:
        return False
    return True


def solve(model: CollisionModel, problem: Problem, *, timeout: float = 30.0, seed: int = 1) -> Answer:
    """RRT-Connect with its default range, then `simplifySolution` with its default of no time limit.

    OMPL's random numbers are seeded once in a process: before the first problem.
    """
    from ompl import base, geometric, util

    util.setLogLevel(util.LOG_ERROR)
    _seed_once(seed)
    group = Group.of(model.robot, problem.start, problem.joints)
    low, high = group.span(problem.start, problem.goals)
    dimension, looks = len(group.moving), 0
    space = base.RealVectorStateSpace(dimension)
    bounds = base.RealVectorBounds(dimension)
    for k in range(dimension):
        bounds.setLow(k, float(low[k]))
        bounds.setHigh(k, float(high[k]))
    space.setBounds(bounds)
    setup = geometric.SimpleSetup(space)
    information = setup.getSpaceInformation()

    def row(state: object) -> np.ndarray:
        return np.array([state[k] for k in range(dimension)])  # pyright: ignore[reportIndexIssue]

    def free(rows: np.ndarray) -> bool:
        nonlocal looks
        looks += len(rows)
        return bool(np.all(model.free(group.whole(rows))))

    class Edges(base.MotionValidator):
        def checkMotion(self, begin: object, end: object) -> bool:
            """The begin is valid already, as everywhere in OMPL."""
            a, b = row(begin), row(end)
            count = max(1, int(np.ceil(np.abs(b - a).max() / RESOLUTION)))
            shares = np.arange(1, count + 1) / count
            early = np.zeros(count, dtype=bool)
            early[:: max(1, count // FIRST_LOOKS)] = True
            return all(
                free(a + part[:, None] * (b - a)) for part in (shares[early], shares[~early]) if len(part)
            )

    edges = Edges(information)  # kept alive here: OMPL holds no reference that Python sees
    setup.setStateValidityChecker(lambda state: free(row(state)[None]))
    information.setMotionValidator(edges)
    start, goal = space.allocState(), space.allocState()
    for k in range(dimension):
        start[k], goal[k] = float(group.parts(problem.start)[k]), float(group.parts(problem.goals[0])[k])
    setup.setStartAndGoalStates(start, goal)
    setup.setPlanner(geometric.RRTConnect(information))
    begun = time.process_time()
    setup.solve(timeout)
    first = time.process_time() - begun
    if not setup.haveExactSolutionPath():
        return Answer(False, None, None, first, first, looks)
    raw = _rows(setup.getSolutionPath(), group, dimension)
    setup.simplifySolution()
    total = time.process_time() - begun
    return Answer(True, raw, _rows(setup.getSolutionPath(), group, dimension), first, total, looks)


def _rows(path: object, group: Group, dimension: int) -> np.ndarray:
    states = path.getStates()  # pyright: ignore[reportAttributeAccessIssue]
    return group.whole(np.array([[state[k] for k in range(dimension)] for state in states]))


_SEEDED: list[int] = []


def _seed_once(seed: int) -> None:
    if not _SEEDED:
        from ompl import util

        util.RNG.setSeed(seed)
        _SEEDED.append(seed)
