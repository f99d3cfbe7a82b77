"""The first path: a given seed, the straight line, a roadmap, the sampler, or STOMP; proved before it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..collision import CollisionModel
from ..errors import InputError
from ._goals import HELD, Goals
from ._group import Group
from ._options import PlanOptions
from ._path_constraints import Kept
from ._progress import SearchClock
from ._sampler import Sampler, free_lines
from ._why import NoMotion, no_path, nothing
from .stomp._stomp import Stomp

if TYPE_CHECKING:
    from ._roadmap import Roadmap

STEPS = 64
"""Iterations of the sampler between two questions whether to end: a millisecond or a few."""
REFUSED = 2
"""Iterations for each of `max_nodes` after which a search whose extensions are all but refused ends too."""


@dataclass(frozen=True, eq=False)
class Question:
    """The question, checked."""

    model: CollisionModel
    sampler: Sampler
    group: Group
    start: Float[np.ndarray, "dof"]
    goals: Goals
    options: PlanOptions
    watch: SearchClock
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


def by_stomp(
    question: Question, initial: Float[np.ndarray, "w dof"] | None, costs: Sequence[Any] | None
) -> Found | NoMotion:
    """A path that STOMP finds and that is proved, or why there is none.

    Args:
        question: what was asked.
        initial: path to begin with, from the start to one of the goals; None for `StompOptions.initial`.
        costs: what to keep low; None for STOMP's own.
    """
    options, watch, goals = question.options, question.watch, question.goals.cfgs
    settings = replace(options.stomp, seed=options.seed)
    order = np.abs(goals - question.start).max(axis=1).argsort(kind="stable").tolist()
    if initial is not None:
        order = [int(np.abs(goals - initial[-1]).max(axis=1).argmin())]
    history: list[Float[np.ndarray, "iterations"]] = []
    found = None

    def hook(_: int, cost: float, *rest: Any) -> None:
        watch.tell("stomp", cost=cost)

    for k, goal in enumerate(order):
        ended = watch.over()
        if ended:
            why = f"{'cancelled' if ended == 'cancelled' else 'time was up'} after {watch.searched():.3g} s of STOMP"
            return NoMotion(ended, why, cost_history=_joined(history))
        with watch.set_up():
            stomp = Stomp(
                question.model, question.start, goals[goal].copy(), question.group.joints, costs, settings
            )
            stomp.set_up()
        share = watch.left() / (len(order) - k)
        found = stomp.run(initial, hook=hook, cancel=watch.cancelled, timeout=share)
        history.append(found.cost_history)
        if found.success:
            return Found(found.path, "stomp", goal, 0, _joined(history), found.notes)
    assert found is not None
    return NoMotion(
        found.reason or "blocked",
        f"STOMP found no path that is proved free{_to(len(order))}: {found.why}",
        cost_history=_joined(history),
    )


def _to(goals: int) -> str:
    return "" if goals == 1 else f" to any of {goals} goals; of the last"


def _joined(history: Sequence[Float[np.ndarray, "iterations"]]) -> Float[np.ndarray, "iterations"]:
    return frozen(np.concatenate([np.zeros(0), *history]))


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
    seed_path: Any, start: Float[np.ndarray, "dof"], goals: Goals, group: Group, what: str = "seed_path"
) -> Float[np.ndarray, "w dof"]:
    """A given path with its ends exactly at start and goal, and held joints where the start has them.

    Raises:
        InputError: it does not lead from the start to a goal, or moves joints that are held.
    """
    try:
        rows = group.robot.as_cfgs(seed_path)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    if len(rows) < 2:
        raise InputError(f"{what}: expected at least two configurations, found {len(rows)}")
    ends = np.abs(goals.cfgs - rows[-1]).max(axis=1)
    if np.abs(rows[0] - start).max() > HELD or ends.min() > HELD:
        raise InputError(f"{what}: it must lead from the start to a goal, found other ends")
    off = np.abs(rows - start)
    off[:, group.moving] = 0.0
    if off.max() > HELD:
        name = group.robot.joint_names[int(off.max(axis=0).argmax())]
        raise InputError(f"{what}: it moves joint {name!r}, which is held: name it in `joints`")
    rows = group.whole(group.parts(rows))
    rows[0], rows[-1] = start, goals.cfgs[int(ends.argmin())]
    return rows


def _end_of(question: Question, path: Float[np.ndarray, "w dof"]) -> int:
    return int(np.abs(question.goals.cfgs - path[-1]).max(axis=1).argmin())
