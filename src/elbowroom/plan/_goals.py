"""Where a motion begins and may end: configurations, several, or poses of links turned into configurations.

Of several goals those that are blocked or beyond limits are left out with a note; the plan aims at the others together.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from .. import _core
from .._frozen import frozen
from .._text import number
from ..collision import CollisionModel
from ..errors import InputError
from ..ik import IkSolver, Target
from ._group import Group
from ._path_constraints import Kept
from ._why import NoMotion, beyond_limits, blocked, named_clashes, not_kept, unreachable

HELD = 1e-6
"""What a joint that is held may differ between start and goal (rad, m): the rounding of files."""

SAME = 1e-9
"""Start and goal that differ by no more (rad, m) are one place."""
BEYOND, HELD_BEYOND, DIFFERENT, NEAR = 1, 2, 4, 8
"""See `_core.ends_marks`."""

_solvers: weakref.WeakKeyDictionary[CollisionModel, dict[tuple[str, ...], IkSolver]] = (
    weakref.WeakKeyDictionary()
)
"""Of each model, by the joints that move; each holds a copy of the model, so that the model itself can go."""


@dataclass(frozen=True, eq=False)
class Goals:
    """Configurations to end at."""

    given: int
    """Goals that were given; 0 for one that says where links should be."""

    cfgs: Float[np.ndarray, "g dof"]
    """Free and within limits."""
    idx: tuple[int, ...]
    """Their places among the goals that were given, or among the answers of inverse kinematics."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Ends:
    """A start and goals of which nothing needs to be said but what is held beyond its limits."""

    start: Float[np.ndarray, "dof"]
    group: Group
    goals: Goals
    near: bool
    """Whether some goal may be the start."""
    scene: _core.Scene
    """Which decides."""


def good_ends(model: CollisionModel, start: Any, goal: Any, joints: Sequence[str] | None) -> Ends | None:
    """Start and goals, given as configurations, that are all free and within limits; None where that is not so.

    What is wrong, and whatever else can be given, is for `start_of` and `goals_of`: this is the short way.

    Raises:
        UnknownJointError, InputError: the joints are wrong.
    """
    if is_pose_goal(goal):
        return None
    robot = model.robot
    named = Group.naming(robot, joints)
    try:
        first, last = np.asarray(start, dtype=np.float64), np.asarray(goal, dtype=np.float64)
        rows = np.concatenate([first[None], last if last.ndim == 2 else last[None]])
        marks = _core.ends_marks(rows, named.moves, named.limits, SAME)
    except (TypeError, ValueError):
        return None
    if first.ndim != 1 or len(rows) < 2 or marks & (BEYOND | DIFFERENT) or not np.isfinite(rows).all():
        return None
    scene, free = model.scene_within(rows), np.empty(len(rows), dtype=np.bool_)
    if scene.free(rows, True, free) >= 0 or not free.all():
        return None
    at = frozen(rows)[0]
    group = Group.of(robot, at, joints) if marks & HELD_BEYOND else Group(robot, named, at, ())
    goals = Goals(len(rows) - 1, rows[1:], tuple(range(len(rows) - 1)))
    return Ends(at, group, goals, bool(marks & NEAR), scene)


def start_of(model: CollisionModel, start: Any) -> Float[np.ndarray, "dof"]:
    """One finite configuration.

    Raises:
        InputError: it is not, with what is.
    """
    try:
        return frozen(np.array(model.robot.as_cfg(start)))
    except InputError as error:
        raise InputError(f"start: {error}") from None


def is_pose_goal(goal: Any) -> bool:
    """Whether a goal says where links should be, not what joints should be."""
    if isinstance(goal, (Mapping, Target)):
        return True
    return isinstance(goal, Sequence) and len(goal) > 0 and isinstance(goal[0], Target)


def goals_of(
    model: CollisionModel,
    group: Group,
    start: Float[np.ndarray, "dof"],
    goal: Any,
    count: int,
    *,
    start_free: bool,
) -> Goals | NoMotion:
    """The goals that will do, or why there is none.

    Args:
        model: who judges.
        group: the joints that move.
        start: where the others are held, and what answers of inverse kinematics should be near to.
        goal: (dof,) or (g, dof) configurations, or targets of `IkSolver` such as {link: pose}.
        count: configurations of a pose goal to search for.
        start_free: whether the start is free and within limits, so that there is a free configuration.

    Raises:
        InputError: wrong shape, NaN, or a joint that is held elsewhere than the start has it. UnknownLinkError: a pose
            of a link that the robot does not have.
    """
    if is_pose_goal(goal):
        return _from_poses(model, group, start, goal, count)
    rows = _rows(model, group, start, goal)
    bounds = [beyond_limits(group, _name(k, len(rows)), row) for k, row in enumerate(rows)]
    free = model.free(rows) if len(rows) > 1 else [model.free(rows[0])]  # one alone is answered quicker
    good = [k for k, bound in enumerate(bounds) if bound is None and free[k]]
    if good:
        lost = [] if len(good) == len(rows) else [k for k in range(len(rows)) if k not in good]
        return Goals(
            len(rows),
            frozen(rows[good]),
            tuple(good),
            tuple(_left_out(model, k, rows[k], bounds[k]) for k in lost),
        )
    known = start if start_free else None
    first = bounds[0] or blocked(model, group, _name(0, len(rows)), rows[0], known)
    if len(rows) == 1:
        return first
    return replace(first, why=f"none of {len(rows)} goals will do; the first: {first.why}")


def that_keep(goals: Goals, kept: Kept) -> Goals | NoMotion:
    """The goals at which constraints hold, or why there is none."""
    lost = [kept.lost(row) for row in goals.cfgs]
    good = [k for k, text in enumerate(lost) if not text]
    if not good:
        what = "the goal" if len(lost) == 1 else f"none of {len(lost)} goals keeps the constraints; the first"
        return not_kept("goal", what, lost[0]) or NoMotion("goal", what)
    notes = tuple(
        f"left out: goal {goals.idx[k]} does not keep the constraints: {text}"
        for k, text in enumerate(lost)
        if text
    )
    return Goals(
        goals.given, frozen(goals.cfgs[good]), tuple(goals.idx[k] for k in good), (*goals.notes, *notes)
    )


def _rows(
    model: CollisionModel, group: Group, start: Float[np.ndarray, "dof"], goal: Any
) -> Float[np.ndarray, "g dof"]:
    """Given configurations, with the joints that are held exactly where the start has them."""
    try:
        rows = np.array(model.robot.as_cfgs(goal))
    except InputError as error:
        raise InputError(f"goal: {error}, or poses {{link: pose}}") from None
    if not len(rows):
        raise InputError("goal: none given; expected at least one configuration")
    off = np.abs(rows - start)
    off[:, group.moving] = 0.0
    if off.max(initial=0.0) > HELD:
        k, joint = np.unravel_index(int(off.argmax()), off.shape)
        name = model.robot.joint_names[joint]
        raise InputError(
            f"goal: joint {name!r} is held at {number(float(start[joint]))} but the goal has "
            f"{number(float(rows[k, joint]))}: name it in `joints` to let it move, or give the goal the same value"
        )
    return group.whole(group.parts(rows))


def _from_poses(
    model: CollisionModel, group: Group, start: Float[np.ndarray, "dof"], goal: Any, count: int
) -> Goals | NoMotion:
    solver = _solver(model, group.joints)
    seed = group.whole(np.clip(group.parts(start), group.lower, group.upper))
    found = solver.solve(goal, seed_cfg=seed)
    if not found.success:
        return unreachable(found)
    rows = found.cfg[None]
    if count > 1:
        more = solver.solutions(goal, seed_cfg=seed, count=count)
        others = more[np.abs(more - found.cfg).max(axis=1) > 1e-9]
        rows = np.concatenate([rows, others])[:count]
    rows = group.whole(group.parts(rows))
    notes = tuple(note for note in found.notes if note not in group.notes)
    return Goals(0, frozen(rows), tuple(range(len(rows))), notes)


def _solver(model: CollisionModel, joints: tuple[str, ...]) -> IkSolver:
    """The solver of these joints; tables are made when it is first asked."""
    known = _solvers.setdefault(model, {})
    if joints not in known:
        judge = copy.copy(model)
        kin = (made.get(joints) for other, made in list(_solvers.items()) if other.robot is model.robot)
        akin = next(
            (solver for solver in kin if solver is not None), None
        )  # the same robot among other obstacles
        known[joints] = IkSolver(judge, joints=joints) if akin is None else akin.with_model(judge)
    return known[joints]


def _name(k: int, of: int) -> str:
    return "the goal" if of == 1 else f"goal {k}"


def _left_out(model: CollisionModel, k: int, cfg: Float[np.ndarray, "dof"], bound: NoMotion | None) -> str:
    """The note on one of several goals that cannot be used."""
    if bound is not None:
        return f"left out: {bound.why}"
    return f"left out: goal {k} is not free: {named_clashes(model.clashes(cfg), model.buffer)}"
