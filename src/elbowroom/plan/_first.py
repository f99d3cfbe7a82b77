"""The first path: a given seed, the straight line, a roadmap, the sampler, or STOMP; proved before it counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from ..collision import CollisionModel
from ..errors import InputError
from ._edges import Edges
from ._goals import HELD, Goals
from ._group import Group
from ._options import PlanOptions
from ._sampler import Sampler
from ._watch import Watch
from ._why import NoMotion, no_path, nothing

if TYPE_CHECKING:
    from ._roadmap import Roadmap

STEPS = 64
"""Iterations of the sampler between two looks at the clock: a few milliseconds."""
REFUSED = 2
"""Iterations for each of `max_nodes` after which a search whose extensions are all but refused ends too."""


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked, checked."""

    model: CollisionModel
    edges: Edges
    group: Group
    start: Float[np.ndarray, "dof"]
    goals: Goals
    options: PlanOptions
    watch: Watch


@dataclass(frozen=True, eq=False)
class Found:
    """A path whose edges are proved free."""

    path: Float[np.ndarray, "w dof"]
    method: str
    """As of `PlanResult`."""
    goal: int
    """Row of `Goals.cfgs` at which it ends."""
    nodes: int = 0
    cost_history: Float[np.ndarray, "iterations"] = field(default_factory=nothing)
    notes: tuple[str, ...] = ()


def first_path(
    question: Question, seed_path: Float[np.ndarray, "w dof"] | None, roadmap: Roadmap | None, costs: Any
) -> Found | NoMotion:
    """The first of the ways that finds one, in the order of what they cost."""
    method, notes = question.options.method, ()
    ended = question.watch.over()
    if ended:
        return no_path(ended, question.watch.searched(), 0, 0, ())
    if seed_path is not None:
        if question.edges.chain(seed_path):
            return Found(seed_path, "seed", _end_of(question, seed_path))
        used = "STOMP began with it" if method == "stomp" else "it was not used"
        notes = (f"the seed path was not proved free all the way: {used}",)
    if method == "stomp":
        from ._first_stomp import by_stomp

        found = by_stomp(question, seed_path, costs)
    else:
        found = None if method == "sampler" else straight_line(question)
        found = found or (None if roadmap is None else roadmap.path(question))
        found = found or by_sampler(question, roadmap)
    return replace(found, notes=(*found.notes, *notes)) if isinstance(found, Found) and notes else found


def straight_line(question: Question) -> Found | None:
    """The straight line to the nearest goal that it reaches by spheres, or by the exact proof to the nearest at all."""
    goals, start, edges = question.goals.cfgs, question.start, question.edges
    ways = np.abs(goals - start).max(axis=1)
    free, met_at = edges.first_level(np.broadcast_to(start, goals.shape), goals)
    reached = np.flatnonzero(free)
    if len(reached):
        best = int(reached[ways[reached].argmin()])
    else:
        best = int(ways.argmin())
        met = start + met_at[best] * (goals[best] - start)  # not a number where spheres did not meet
        if (met_at[best] >= 0.0 and not question.model.free(met)) or not edges.exact(start, goals[best]):
            return None
    return Found(np.stack([start, goals[best]]), "straight line", best)


def by_sampler(question: Question, roadmap: Roadmap | None) -> Found | NoMotion:
    """RRT-Connect, a few iterations at a time; a roadmap keeps what it finds."""
    options, watch = question.options, question.watch
    goals = question.goals.cfgs
    sampler = Sampler(question.edges, question.group, question.start, goals, options.seed, watch.over)
    ended: str = ""
    while not sampler.grow(STEPS):
        watch.tell("search", nodes=sampler.nodes)
        full = sampler.nodes >= options.max_nodes or sampler.iterations >= REFUSED * options.max_nodes
        ended = watch.over() or ("blocked" if full else "")
        if ended:
            break
    if roadmap is not None:
        roadmap.add(sampler)
    if sampler.path is None:
        return no_path(ended, watch.searched(), sampler.iterations, sampler.nodes, sampler.blockers)
    return Found(sampler.path, "sampler", int(sampler.goal_idx or 0), sampler.nodes)


def checked_seed(
    seed_path: Any, start: Float[np.ndarray, "dof"], goals: Goals, group: Group
) -> Float[np.ndarray, "w dof"]:
    """A seed path with its ends exactly at start and goal, and held joints where the start has them.

    Raises:
        InputError: it does not lead from the start to a goal, or moves joints that are held.
    """
    try:
        rows = group.robot.as_cfgs(seed_path)
    except InputError as error:
        raise InputError(f"seed_path: {error}") from None
    if len(rows) < 2:
        raise InputError(f"seed_path: expected at least two configurations, found {len(rows)}")
    ends = np.abs(goals.cfgs - rows[-1]).max(axis=1)
    if np.abs(rows[0] - start).max() > HELD or ends.min() > HELD:
        raise InputError("seed_path: it must lead from the start to a goal, found other ends")
    off = np.abs(rows - start)
    off[:, group.moving] = 0.0
    if off.max() > HELD:
        name = group.robot.joint_names[int(off.max(axis=0).argmax())]
        raise InputError(f"seed_path: it moves joint {name!r}, which is held: name it in `joints`")
    rows = group.whole(group.parts(rows))
    rows[0], rows[-1] = start, goals.cfgs[int(ends.argmin())]
    return rows


def _end_of(question: Question, path: Float[np.ndarray, "w dof"]) -> int:
    return int(np.abs(question.goals.cfgs - path[-1]).max(axis=1).argmin())
