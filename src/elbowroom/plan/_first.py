"""The first path: a given seed, the straight line, a roadmap, the sampler, or STOMP; proved before it counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from ..collision import CollisionModel
from ..errors import InputError
from ._goals import HELD, Goals
from ._group import Group
from ._options import PlanOptions
from ._path_constraints import Kept
from ._sampler import Sampler, free_lines
from ._watch import Watch
from ._why import NoMotion, no_path, nothing

if TYPE_CHECKING:
    from ._roadmap import Roadmap

STEPS = 64
"""Iterations of the sampler between two questions whether to end: a millisecond or a few."""
REFUSED = 2
"""Iterations for each of `max_nodes` after which a search whose extensions are all but refused ends too."""


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked, checked."""

    model: CollisionModel
    sampler: Sampler
    group: Group
    start: Float[np.ndarray, "dof"]
    goals: Goals
    options: PlanOptions
    watch: Watch
    kept: Kept | None = None
    """What the motion must keep; None for nothing."""


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
        kept = question.kept is None or question.kept.on_path(seed_path)
        if kept and free_lines(question.model, seed_path):
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
    """The straight line to the nearest goal that it reaches."""
    sampler = question.sampler
    if not sampler.straight():
        return None
    return Found(_path_of(sampler), "straight line", sampler.goal_idx or 0)


def by_sampler(question: Question, roadmap: Roadmap | None) -> Found | NoMotion:
    """RRT-Connect, a few iterations at a time; a roadmap keeps what it finds."""
    options, watch, sampler = question.options, question.watch, question.sampler
    ended: str = ""
    while not sampler.grow(STEPS, watch.left()):
        watch.tell("search", nodes=sampler.nodes)
        full = sampler.nodes >= options.max_nodes or sampler.iterations >= REFUSED * options.max_nodes
        ended = watch.over() or ("blocked" if full or not sampler.possible else "")
        if ended:
            break
    if roadmap is not None:
        roadmap.add(sampler)
    if sampler.goal_idx is None:
        return no_path(ended, watch.searched(), sampler.iterations, sampler.nodes, sampler.blockers)
    return Found(_path_of(sampler), "sampler", sampler.goal_idx, sampler.nodes)


def _path_of(sampler: Sampler) -> Float[np.ndarray, "w dof"]:
    path = sampler.path
    assert path is not None  # it was just found
    return path


def shorter(
    question: Question, path: Float[np.ndarray, "w dof"], attempts: int
) -> Float[np.ndarray, "v dof"]:
    """A path with its corners cut, or the shortest of those that searches with other seeds find while time is left."""
    options, watch = question.options, question.watch
    best = question.sampler.shorten(path, attempts, options.seed, watch.left())
    end, seed = min(watch.searched() + options.improve, options.timeout), options.seed
    while watch.searched() < end and not watch.cancelled() and len(best) > 2:
        seed += 1
        other = question.sampler.another(seed)
        if not other.grow(STEPS, end - watch.searched()):
            continue
        found = other.shorten(_path_of(other), attempts, seed, end - watch.searched())
        same_goal = bool((found[-1] == best[-1]).all())
        if same_goal and length_of(found) < length_of(best):
            best = found
    return best


def length_of(path: Float[np.ndarray, "w dof"]) -> float:
    """Of a path in joint space, rad (m)."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


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
