"""Why a question has no answer: found by asking easier ones, on request.

A longer search tells a local minimum from the rest, each target alone tells which one is to blame, the position alone
tells reach from orientation, and the same robot without the limits of its joints tells what the limits forbid. Nothing
here is proved: "out of reach" means that long searches end no nearer than stated.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from ..._poses import matrix_from_wxyz_xyz
from ..._text import counted, number
from ...robot import Robot
from .._targets import ORIENTATION_WEIGHT, AxisTarget, JointTarget, PoseTarget, PositionTarget, Target
from ._result import Failure, IkResult, NearestFree, Reason

if TYPE_CHECKING:
    from ._solver import IkSolver

LONGER = 3
"""The longer search has so many times the starts."""
QUICK = 16
"""Starts of a quick search: one round."""
AT_LIMIT = 1e-3
"""A joint so near its limit, as a share of its range, is at it."""


@dataclass(eq=False)
class Explainer:
    """Says why a question of a solver has no answer, when asked."""

    solver: Any
    """The IkSolver; left out while a result travels between processes."""
    base: Float[np.ndarray, "dof"]
    """Values of the joints that were held, and what the search began with."""
    locked: tuple[str, ...]

    def failure(self, result: IkResult) -> Failure:
        """The reason and a sentence."""
        return _Diagnosis(self.solver, result, self.base, self.locked).failure()

    def nearest_free(self, result: IkResult) -> NearestFree | None:
        """The target moved until an answer is free."""

        return nearest_free(self.solver, result, self.locked)


@dataclass(eq=False)
class _Diagnosis:
    solver: IkSolver
    result: IkResult
    base: Float[np.ndarray, "dof"]
    locked: tuple[str, ...]

    def failure(self) -> Failure:
        """Asks the easier questions in the order of what they cost."""
        found = self._locked() or self._against_each_other() or self._beyond_limits()
        if found is not None:
            return found
        if self.result.free is False and _met(self.solver, self.result):
            return self._collision(self.result)
        if self.result.timed_out:
            return self._miss("timeout", f"time was up after {self.result.seeds_tried} starts")
        longer = self._ask(helper(self.solver, "longer"), self.result.targets)
        if longer.success:
            text = (
                f"none of {counted(self.result.seeds_tried, 'start')} arrived; a longer search (IkOptions.seeds) found "
                f"an answer after {longer.seeds_tried}"
            )
            return self._miss("local minimum", text)
        if longer.free is False and _met(self.solver, longer):
            return self._collision(longer)
        return self._out_of_reach(longer)

    # One reason each ----------------------------------------------------------------------------

    def _locked(self) -> Failure | None:
        """Targets that no joint solved for can change, and that are not met."""
        setup = self.solver.setup_for(self.result.targets, self.locked)
        for k in setup.fixed:
            if _target_met(self.solver, self.result, k):
                continue
            name = _name(self.result.targets[k])
            off = _off(self.result.position_error[k], self.result.orientation_error[k])
            held = tuple(
                j for j in self.solver.robot.joint_names if j in self.locked or j in self.solver.held
            )
            which = f" (held: {', '.join(held)})" if held else ""
            return Failure(
                "locked",
                f"No joint that is solved for moves {name!r}, which is {off}{which}.",
                name,
                float(self.result.position_error[k]),
                float(self.result.orientation_error[k]),
                held,
            )
        return None

    def _against_each_other(self) -> Failure | None:
        """Two targets of one link or joint that exclude each other, whatever the robot does."""
        options = self.solver.options
        for a, b in combinations(self.result.targets, 2):
            shift, turn = _conflict(a, b)
            if shift > 2.0 * options.position_tolerance or turn > 2.0 * options.orientation_tolerance:
                text = f"Two targets of {_name(a)!r} exclude each other: they are {_apart(shift, turn)}."
                return Failure("contradictory", text, _name(a), shift, turn)
        return None

    def _beyond_limits(self) -> Failure | None:
        """Joints that are asked to be beyond their own limits."""
        robot, tolerance = self.solver.robot, self.solver.options.orientation_tolerance
        for target in self.result.targets:
            if not isinstance(target, JointTarget):
                continue
            k = robot.joint_names.index(target.joint)
            low, high = float(robot.lower[k]), float(robot.upper[k])
            if not low - tolerance <= target.value <= high + tolerance:
                text = (
                    f"Joint {target.joint!r} is asked to be at {number(target.value)}, beyond its limits "
                    f"{number(low)} to {number(high)}."
                )
                off = max(low - target.value, target.value - high)
                return Failure("limits", text, target.joint, 0.0, off, (target.joint,))
        return None

    def _collision(self, result: IkResult) -> Failure:
        verdict = result.verdict
        clashes = () if verdict is None else verdict.clashes
        buffer = 0.0 if verdict is None else verdict.buffer
        named = "; ".join(clash.refused(buffer) for clash in clashes[:3])
        more = f" and {len(clashes) - 3} more" if len(clashes) > 3 else ""
        count = f"of {counted(result.refused, 'configuration')} judged that meet the targets, none is free"
        text = f"Collision: {count}; at the nearest: {named}{more}."
        return Failure("collision", text, clashes[0].a if clashes else "")

    def _out_of_reach(self, longer: IkResult) -> Failure:
        """Nothing meets all targets, within limits, free or not."""
        robot_alone = helper(self.solver, "robot alone")
        alone = [self._ask(robot_alone, (target,)) for target in self.result.targets]
        bad = [one for one in alone if not one.success]
        if not bad:
            k = int(np.argmax(longer.position_error + longer.orientation_error))
            text = "each target can be met alone, but no configuration found meets them together"
            return self._miss("contradictory", text, longer, k)
        worst = max(bad, key=lambda one: float(one.position_error[0] + one.orientation_error[0]))
        target = worst.targets[0]
        wide = self._ask(helper(self.solver, "without limits"), worst.targets)
        if wide.success:
            beyond, at = self._outside(wide.cfg), self._at_limits(worst.cfg)
            if not beyond:
                text = f"none of {counted(worst.seeds_tried, 'start')} arrived, yet something within limits meets it"
                return self._miss("local minimum", text, worst, 0)
            held = f" ({', '.join(at)} at the limit at the nearest)" if at else ""
            text = f"nothing found within limits meets it{held}; something beyond those of {', '.join(beyond)} does"
            return self._miss("limits", text, worst, 0, at or beyond)
        if isinstance(target, PoseTarget):
            place = PositionTarget(target.link, target.pose[4:])
            position = self._ask(robot_alone, (place,))
            if position.success:
                text = "its position can be reached; nothing found, within limits or not, has its orientation too"
                return self._miss("out of reach", text, worst, 0)
            worst = replace(position, targets=worst.targets)
        joints = self._at_limits(worst.cfg)
        at = f", {', '.join(joints)} at the limit at the nearest" if joints else ""
        turned = "its position, however it is turned," if isinstance(target, PoseTarget) else "it"
        text = f"{turned} is out of reach of all {counted(worst.seeds_tried, 'start')}{at}"
        return self._miss("out of reach", text, worst, 0, joints)

    # Parts --------------------------------------------------------------------------------------

    def _ask(self, solver: IkSolver, targets: Sequence[Target]) -> IkResult:
        return solver.solve(tuple(targets), self.base, self.locked)

    def _miss(
        self,
        reason: Reason,
        because: str,
        result: IkResult | None = None,
        k: int | None = None,
        joints: tuple[str, ...] = (),
    ) -> Failure:
        """A failure of one target, with how far off the nearest is."""
        shown = self.result if result is None else result
        if k is None:
            k = int(np.argmax(shown.position_error + shown.orientation_error))
        position, orientation = float(shown.position_error[k]), float(shown.orientation_error[k])
        name = _name(shown.targets[k])
        off = _off(position, orientation)
        text = f"{name!r} is not where it is asked to be: {because}. The nearest found is {off}."
        return Failure(reason, text, name, position, orientation, joints)

    def _at_limits(self, cfg: Float[np.ndarray, "dof"]) -> tuple[str, ...]:
        """Joints solved for that are at a limit."""
        robot = self.solver.robot
        near = AT_LIMIT * (robot.upper - robot.lower)
        at = (cfg <= robot.lower + near) | (cfg >= robot.upper - near)
        solved = self.solver.setup_for(self.result.targets, self.locked).joint_idx
        return tuple(robot.joint_names[k] for k in solved if at[k])

    def _outside(self, cfg: Float[np.ndarray, "dof"]) -> tuple[str, ...]:
        robot = self.solver.robot
        out = (cfg < robot.lower) | (cfg > robot.upper)
        return tuple(name for name, beyond in zip(robot.joint_names, out, strict=True) if beyond)


def helper(solver: IkSolver, kind: str) -> IkSolver:
    """A solver of other questions, made once.

    "longer" has more starts, "quick" few, "robot alone" no verdict, "without limits" neither verdict nor limits. They
    share the tables of starts, which cost more than the questions, as far as these are large enough.
    """
    from ._solver import IkSolver

    found = solver.helpers.get(kind)
    if found is None:
        seeds = QUICK if kind == "quick" else solver.options.seeds * LONGER
        options = replace(
            solver.options,
            seeds=seeds,
            table=max(solver.options.table, seeds),
            rest_weight=0.0,
            manipulability_weight=0.0,
            clearance_weight=0.0,
        )
        judge = solver.model if kind in ("longer", "quick") and solver.model is not None else solver.robot
        if kind == "without limits":
            judge = unlimited(solver.robot)
        found = IkSolver(judge, options=options, joints=solver.joints, held=solver.held)
        if kind != "without limits" and options.table == solver.options.table:
            found.share_tables(solver)
        solver.helpers[kind] = found
    return found


def unlimited(robot: Robot) -> Robot:
    """The robot with turning joints that turn all the way round."""
    actuated = tuple(
        joint
        if joint.type == "prismatic"
        else replace(joint, lower=min(joint.lower, -np.pi), upper=max(joint.upper, np.pi))
        for joint in robot.tree.actuated
    )
    return replace(robot, tree=replace(robot.tree, actuated=actuated))


def _met(solver: IkSolver, result: IkResult) -> bool:
    return all(_target_met(solver, result, k) for k in range(len(result.targets)))


def _target_met(solver: IkSolver, result: IkResult, k: int) -> bool:
    options = solver.options
    return bool(
        result.position_error[k] <= options.position_tolerance
        and result.orientation_error[k] <= options.orientation_tolerance
    )


def _name(target: Target) -> str:
    return target.joint if isinstance(target, JointTarget) else target.link


def _apart(shift: float, turn: float) -> str:
    parts = [f"{number(1e3 * shift, 3)} mm"] if shift > 0.0 else []
    return " and ".join([*parts, *([f"{number(turn, 3)} rad"] if turn > 0.0 else [])]) + " apart"


def _off(position: float, orientation: float) -> str:
    parts = [f"{number(position, 4)} m"] if position > 1e-6 else []
    parts += [f"{number(orientation, 3)} rad"] if orientation > 1e-6 else []
    return (" and ".join(parts) or "0 m") + " off"


def _conflict(a: Target, b: Target) -> tuple[float, float]:
    """By how much (m, rad) two targets differ that speak of the same thing; zeros where they can both hold."""
    if type(a) is not type(b) and isinstance(b, PoseTarget):
        a, b = b, a
    if _name(a) != _name(b) or isinstance(a, JointTarget) != isinstance(b, JointTarget):
        return 0.0, 0.0
    if isinstance(a, JointTarget) and isinstance(b, JointTarget):
        return 0.0, abs(a.value - b.value)
    if isinstance(a, PositionTarget) and isinstance(b, PositionTarget):
        lengths = np.linalg.norm(a.position - b.position), np.linalg.norm(a.point - b.point)
        return abs(float(lengths[0] - lengths[1])), 0.0
    if not isinstance(a, PoseTarget):
        return 0.0, 0.0
    T = matrix_from_wxyz_xyz(a.pose)
    if isinstance(b, PoseTarget):
        cosine = min(1.0, abs(float(a.pose[:4] @ b.pose[:4])))
        return float(np.linalg.norm(a.pose[4:] - b.pose[4:])), 2.0 * float(np.arccos(cosine))
    if isinstance(b, PositionTarget):
        return float(np.linalg.norm(T[:3, :3] @ b.point + T[:3, 3] - b.position)), 0.0
    if isinstance(b, JointTarget):
        return 0.0, 0.0
    wanted = b.direction if isinstance(b, AxisTarget) else b.point - T[:3, 3]
    axis = T[:3, :3] @ b.axis
    return 0.0, float(np.arctan2(np.linalg.norm(np.cross(axis, wanted)), axis @ wanted))


# The nearest pose that would be free: the target shifted and turned, a little at first and then further ---

SHELLS = (0.01, 0.04, 0.16, 0.32)
"""Metres by which a target is shifted; turned by as much as weighs the same (0.3 m a radian)."""
HALVINGS = 6
"""Steps that shorten a way that was found."""
SECONDS = 1.0
"""After which the search ends with what it has: a guard, some hundred questions take far less on a quiet machine."""


def nearest_free(solver: IkSolver, result: IkResult, locked: tuple[str, ...]) -> NearestFree | None:
    """One target moved until an answer is free; None when no way was found."""
    if solver.model is None:
        return None
    quick = helper(solver, "quick")
    deadline = time.perf_counter() + SECONDS
    seed = result.cfg

    def ask(k: int, way: _Way, scale: float) -> IkResult | None:
        targets = list(result.targets)
        targets[k] = way.moved(targets[k], scale)
        found = quick.solve(tuple(targets), seed, locked)
        return found if found.success else None

    best: NearestFree | None = None
    inner = 0.0
    for shell in SHELLS:
        reach = shell
        for k, way in _ways(result.targets):
            found = ask(k, way, reach)  # no further than the best so far
            if time.perf_counter() > deadline:
                return best
            if found is None:
                continue
            low, high = inner, reach
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                nearer = ask(k, way, middle)
                low, high, found = (middle, high, found) if nearer is None else (low, middle, nearer)
            best, reach = NearestFree(found.targets[k], found.cfg, *way.length(high)), high
        if best is not None:
            return best
        inner = shell
    return None


class _Way:
    """A direction to shift a target in, or an axis to turn it about."""

    def __init__(self, direction: Float[np.ndarray, "3"], turns: bool) -> None:
        self.direction, self.turns = direction, turns

    def length(self, scale: float) -> tuple[float, float]:
        """Metres and radians that it moves by."""
        return (0.0, scale / ORIENTATION_WEIGHT) if self.turns else (scale, 0.0)

    def moved(self, target: Target, scale: float) -> Target:
        """The target moved by this distance."""
        if isinstance(target, PositionTarget):
            return replace(target, position=target.position + scale * self.direction)
        if not isinstance(target, PoseTarget):
            return target
        pose = np.array(target.pose)
        if not self.turns:
            pose[4:] += scale * self.direction
            return replace(target, pose=pose)
        half = 0.5 * scale / ORIENTATION_WEIGHT
        pose[:4] = _product((np.cos(half), *(np.sin(half) * self.direction)), pose[:4])
        return replace(target, pose=pose)


def _ways(targets: tuple[Target, ...]) -> Iterator[tuple[int, _Way]]:
    """Shifts along axes and diagonals of space, and turns about axes, of every target that says a place."""
    axes = [sign * row for row in np.eye(3) for sign in (1.0, -1.0)]
    diagonals = [(2.0 * np.array(row) - 1.0) / np.sqrt(3.0) for row in np.ndindex(2, 2, 2)]
    directions = [*axes, *diagonals]
    for k, target in enumerate(targets):
        if isinstance(target, (PoseTarget, PositionTarget)):
            yield from ((k, _Way(direction, False)) for direction in directions)
    for k, target in enumerate(targets):
        if isinstance(target, PoseTarget):
            yield from ((k, _Way(direction, True)) for direction in axes)


def _product(a: tuple[float, ...], b: Float[np.ndarray, "4"]) -> Float[np.ndarray, "4"]:
    """Quaternion product, wxyz."""
    w, x, y, z = a
    return np.array(
        [
            w * b[0] - x * b[1] - y * b[2] - z * b[3],
            w * b[1] + x * b[0] + y * b[3] - z * b[2],
            w * b[2] - x * b[3] + y * b[0] + z * b[1],
            w * b[3] + x * b[2] - y * b[1] + z * b[0],
        ]
    )
