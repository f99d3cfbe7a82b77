"""plan_motion: from a configuration to a goal, free all the way, timed, and proved; or why not.

The straight line first, then RRT-Connect; what is found is shortened, rounded as far as that can be proved, given
speeds within limits, and proved as it is returned: rows a fixed time apart with straight lines between them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._frozen import FrozenMap, frozen
from .._text import short
from ..collision import CollisionModel, as_model
from ..errors import InputError
from ..typing import RobotLike
from ._curve import Curve
from ._finish import Finished, finished
from ._first_path import Found, Question, checked_seed, first_path
from ._goals import SAME, goals_of, good_ends, start_of, that_keep
from ._group import Group
from ._limits import limits_of
from ._options import PlanOptions
from ._path_constraints import Kept
from ._progress import PlanProgress, SearchClock
from ._prove import prove_path
from ._result import PlanResult
from ._sampler import Sampler
from ._timing import time_curve
from ._why import NoMotion, beyond_limits, blocked, not_kept, nothing

if TYPE_CHECKING:
    from ._roadmap import Roadmap

Search = Callable[[np.ndarray, np.ndarray], Any]
"""Another planner: from a start (dof,) and goals (g, dof) to waypoints (w, dof), or None."""


def plan_motion(
    model: CollisionModel | RobotLike,
    start: Any,
    goal: Any,
    joints: Sequence[str] | None = None,
    options: PlanOptions | None = None,
    *,
    seed_path: Any = None,
    roadmap: Roadmap | None = None,
    costs: Any = None,
    keep: Any = (),
    search: Search | None = None,
    progress: Callable[[PlanProgress], None] | None = None,
    cancel: Any = None,
) -> PlanResult:
    """A motion from start to goal that touches nothing, with its proof; or why there is none.

    Args:
        model: robot, obstacles and who judges.
        start: (dof,) configuration.
        goal: (dof,) configuration, several (g, dof), or where links should be: {link: pose} or what `IkSolver` takes.
            Of several, the first that is reached wins (`goal_idx`).
        joints: names of those that may move; None for all. The others are held where the start has them. Limits are
            enforced on what moves; a joint held beyond its limits is noted.
        options: effort, limits, rate, seed; see `PlanOptions`.
        seed_path: (w, dof) waypoints from start to goal to improve; one that is free is never made worse.
        roadmap: proved edges of this model from earlier questions, used and extended.
        costs: of method "stomp": what it minimises instead of its default costs.
        keep: what the motion keeps all the way within its tolerance: `UprightCost`, `PlaneCost`, `TubeCost`, or
            several. Start and goals must keep it too. Not of method "stomp", which has costs.
        search: any other planner: called with the start (dof,) and the goals (g, dof), it returns waypoints (w, dof)
            from the start to one of them, or None. What it proposes is proved, shortened, smoothed and timed like our
            own; if it proposes nothing, or a path that is not proved free, our own search continues, with an entry in
            `notes`.
        progress: called with a `PlanProgress` now and then.
        cancel: a function or `threading.Event` that is asked now and then whether to give up.

    Raises:
        InputError: wrong shapes, NaN, a held joint that differs between start and goal, or a roadmap of another scene.
        UnknownLinkError, UnknownJointError: the robot does not have it.
    """
    model = as_model(model)
    began = time.perf_counter()
    options = PlanOptions() if options is None else options
    if not isinstance(options, PlanOptions):
        raise InputError(f"options must be PlanOptions, found {short(options)}")
    if costs is not None and options.method != "stomp":
        raise InputError(
            "costs: only PlanOptions(method='stomp') minimises costs; the sampler would break them"
        )
    kept = Kept(model, keep) if not isinstance(keep, Sequence) or len(keep) else None
    if kept is not None and (options.method == "stomp" or roadmap is not None):
        raise InputError(
            "keep: only the sampler keeps constraints; STOMP takes them as `costs`, a roadmap knows none"
        )
    watch = SearchClock(options.timeout, cancel, progress, began)
    refused, near = None, True
    ends = good_ends(model, start, goal, joints)
    if ends is not None:
        at, group, goals, near = ends.start, ends.group, ends.goals, ends.near
    else:  # there is something to be said, or poses to be found
        at = start_of(model, start)
        group = Group.of(model.robot, at, joints)
        refused = beyond_limits(group, "the start", at)
        if refused is None and not model.free(at):
            refused = blocked(model, group, "the start", at)
        # Wrong input is told even where the start is blocked.
        goals = goals_of(model, group, at, goal, options.goals, start_free=refused is None)
    if roadmap is not None:
        roadmap.check(model, group)
    if kept is not None:
        refused = refused or not_kept("start", "the start", kept.lost(at))
        goals = goals if isinstance(goals, NoMotion) else that_keep(goals, kept)
    watch.lap("goals")
    if refused is not None:
        return _failed(refused, watch, group.notes)
    if isinstance(goals, NoMotion):
        return _failed(goals, watch, group.notes)
    if search is not None and seed_path is not None:
        raise InputError("give seed_path or search, not both: each is a path to begin with")
    given = None if seed_path is None else checked_seed(seed_path, at, goals, group)
    if search is not None:
        if not callable(search):
            raise InputError(f"search: expected a function of start and goals, found {short(search)}")
        proposed = search(at.copy(), goals.cfgs.copy())
        given = None if proposed is None else checked_seed(proposed, at, goals, group, "search")
        watch.lap("proposal")
    scene = None if ends is None else ends.scene
    sampler = Sampler(model, group, at, goals.cfgs, options.seed, None if kept is None else kept.core, scene)
    watch.start_search()
    question = Question(model, sampler, group, at, goals, options, watch, kept)
    if near and len(here := np.flatnonzero(np.abs(goals.cfgs - at).max(axis=1) <= SAME)):
        return _already_there(question, int(here[0]))
    found = first_path(question, given, roadmap, costs)
    if search is not None and isinstance(found, Found):
        used = found.method == "seed"
        unused = () if used or given is not None else ("search proposed no path",)
        found = replace(found, method="given search" if used else found.method, notes=(*found.notes, *unused))
    watch.lap("first")
    if isinstance(found, NoMotion):
        return _failed(found, watch, (*group.notes, *goals.notes))
    made = finished(question, found)
    if (
        made is None
    ):  # edges are proved one by one with another budget: what is not proved as a whole is no success
        return _failed(
            NoMotion(
                "blocked",
                "a path was found whose edges are proved free one by one, but no proof of the whole",
            ),
            watch,
            (*group.notes, *goals.notes),
        )
    return _succeeded(question, found, made)


def _failed(found: NoMotion, watch: SearchClock, notes: tuple[str, ...]) -> PlanResult:
    return PlanResult(
        success=False,
        path=None,
        times=None,
        proof=None,
        cost_history=found.cost_history,
        refused=found.why,
        reason=found.reason,
        seconds=_seconds(watch),
        notes=notes,
        nodes=found.nodes,
        clashes=found.clashes,
        nearest_free=found.nearest_free,
    )


def _succeeded(question: Question, found: Found, made: Finished) -> PlanResult:
    goals, watch = question.goals, question.watch
    goal = goals.idx[found.goal]
    return PlanResult(
        success=True,
        path=frozen(made.path),
        times=None if made.times is None else frozen(made.times),
        proof=made.proof,
        cost_history=found.cost_history,
        waypoints=frozen(made.waypoints),
        curve=made.curve,
        motion=made.motion,
        method=found.method,
        goal_idx=goal,
        goals=goals.given,
        seconds=_seconds(watch),
        notes=(*question.group.notes, *goals.notes, *found.notes, *made.notes, *_said(question)),
        nodes=found.nodes,
    )


def _already_there(question: Question, goal: int) -> PlanResult:
    """The start is a goal: one place, no time."""
    at, options = question.start, question.options
    curve = Curve.polyline(np.stack([at, at]))
    proof = prove_path(question.model, curve)
    motion = None
    if options.timed:
        limits, names = limits_of(question.model.robot, options), question.model.robot.joint_names
        motion = time_curve(curve, *limits.speeds, joint_names=names)
    question.watch.lap("proof")
    return PlanResult(
        success=proof.free,
        path=frozen(at[None].copy()),
        times=frozen(np.zeros(1)) if options.timed else None,
        proof=proof,
        cost_history=nothing(),
        refused="" if proof.free else f"the start is a goal: {proof.why}",
        reason="" if proof.free else "start",
        waypoints=frozen(at[None].copy()),
        curve=curve,
        motion=motion,
        method="straight line",
        goal_idx=question.goals.idx[goal],
        seconds=_seconds(question.watch),
        notes=(*question.group.notes, *question.goals.notes),
    )


def _said(question: Question) -> tuple[str, ...]:
    """What is kept, and how that is known."""
    return (
        () if question.kept is None else (f"kept on the whole path, between its rows too: {question.kept}",)
    )


def _seconds(watch: SearchClock) -> FrozenMap[str, float]:
    return FrozenMap({**watch.stages, "total": watch.seconds()})
