"""What is made once for a shape of question: the targets' kinds and links and the joints solved for, in the core.

Targets that share no joint are parts of their own: two arms on a fixed torso are two small problems instead of one
large one, and their answers are combined afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from ... import _core
from ..._frozen import frozen
from ..._text import number, short
from ...collision import CollisionModel
from ...errors import InputError, UnknownJointError, unknown
from ...robot import Robot
from ...robot.internal import coupling_law
from .._problem import IkProblem, Shape, groups, moved_by, shape_of
from .._targets import JointTarget, Target
from ._options import IkOptions

TABLES = 8
"""Seed tables kept for a part: one for every set of values that the other joints are held at."""


@dataclass(eq=False)
class Part:
    """Targets that share joints, and these joints."""

    positions: tuple[int, ...]
    """Of its targets among all."""
    joint_idx: Int[np.ndarray, "n"]
    problem: IkProblem
    carriers: Int[np.ndarray, "m"]
    """Joints that move its targets and are not solved for."""
    tables: dict[bytes, _core.StartTable]
    """By the values of the carriers."""
    starts: list[Float[np.ndarray, "n dof"]]
    """The configurations of the first table."""

    def table(
        self, model: CollisionModel | None, base: Float[np.ndarray, "dof"], options: IkOptions
    ) -> _core.StartTable:
        """Starts for this part, with the carriers where `base` has them.

        Those of the first table are free with the other joints at `base`. A table for other values of the carriers
        takes the same configurations: whether they are still free hardly matters, where their links are does.
        """
        key = base[self.carriers].tobytes()
        found = self.tables.get(key)
        if found is None:
            judge = self.problem.robot if model is None else model
            if not self.starts:
                self.starts.append(
                    free_configurations(judge, self.problem.joints, base, options.table, options.seed)
                )
            rows = np.array(self.starts[0])
            rows[:, self.carriers] = base[self.carriers]
            if len(self.tables) >= TABLES:
                self.tables.pop(list(self.tables)[0], None)  # noqa: RUF015 (safe while other threads add)
            found = self.tables[key] = _core.StartTable(self.problem.core, rows)
        return found


@dataclass(eq=False)
class Setup:
    """One shape of question, packed."""

    shape: Shape
    whole: IkProblem
    """All targets, to measure errors with."""
    parts: tuple[Part, ...]
    fixed: tuple[int, ...]
    """Positions of targets that no joint solved for can move."""
    joint_idx: Int[np.ndarray, "n"]
    """Joints solved for."""
    weights: Float[np.ndarray, "n"]
    """One over the range of each, so that a full turn of a wrist and of a shoulder count alike."""
    core: _core.Ik

    @classmethod
    def of(cls, robot: Robot, shape: Shape, joints: Sequence[str]) -> Setup:
        """Packs the problem of `joints` for targets of a shape."""
        parts: list[Part] = []
        fixed: list[int] = []
        movers = moved_by(robot, shape)
        for positions, names in groups(robot, shape, joints):
            if not names:
                fixed.extend(positions)
                continue
            carriers = set[str]().union(*(movers[k] for k in positions)) - set(names)
            problem = IkProblem.of(robot, tuple(shape[k] for k in positions), names)
            places = joint_places(robot, names), joint_places(robot, tuple(carriers))
            parts.append(Part(tuple(positions), places[0], problem, places[1], {}, []))
        idx = np.sort(np.concatenate([np.zeros(0, np.int64), *(part.joint_idx for part in parts)]))
        whole = IkProblem.of(robot, shape, robot.joint_names)
        return cls(
            shape,
            whole,
            tuple(parts),
            tuple(fixed),
            frozen(idx),
            _over_range(robot, idx),
            _core.Ik(
                whole.core,
                [(part.problem.core, list(part.positions)) for part in parts],
                robot.lower,
                robot.upper,
                _turning_freely(robot, shape),
            ),
        )

    def tables(
        self, model: CollisionModel | None, base: Float[np.ndarray, "dof"], options: IkOptions
    ) -> list[_core.StartTable]:
        """Starts for every part; see `Part.table`."""
        return [part.table(model, base, options) for part in self.parts]


def _turning_freely(robot: Robot, shape: Shape) -> Bool[np.ndarray, "dof"]:
    """Joints whose whole turns do not count: they turn without end, no other joint follows them, and none is asked."""
    tree = robot.tree
    followed = {coupling_law(tree, i)[0] for i in np.flatnonzero(tree.is_coupled).tolist()}
    named = {name for kind, name in shape if kind is JointTarget}
    return np.array(
        [
            joint.type == "continuous" and k not in followed and joint.name not in named
            for k, joint in enumerate(tree.actuated)
        ],
        dtype=np.bool_,
    )


def _over_range(robot: Robot, idx: Int[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    span = (robot.upper - robot.lower)[idx]
    return frozen(1.0 / np.where(np.isfinite(span) & (span > 0.0), span, 2.0 * np.pi))


def joint_places(robot: Robot, names: Sequence[str]) -> Int[np.ndarray, "n"]:
    """Places of actuated joints in a configuration, ascending."""
    places = {name: k for k, name in enumerate(robot.joint_names)}
    return frozen(np.sort(np.array([places[name] for name in names], dtype=np.int64)))


def check_joints(robot: Robot, names: Any, what: str) -> tuple[str, ...]:
    """Names of actuated joints, once each.

    Raises:
        UnknownJointError: no such joint. InputError: not names, or a joint that has no value of its own.
    """
    if isinstance(names, str):
        names = (names,)
    found = tuple(dict.fromkeys(names))
    for name in found:
        if not isinstance(name, str):
            raise InputError(f"{what}: expected names of joints, found {name!r:.60}")
        if name in robot.joint_names:
            continue
        if any(joint.name == name for joint in robot.tree.joints):
            coupling = robot.joint(name).coupling
            follows = f"it follows {coupling.driver!r}" if coupling is not None else "it is fixed"
            raise InputError(f"{what}: joint {name!r} has no value of its own: {follows}")
        raise UnknownJointError(f"{what}: {unknown('joint', name, robot.joint_names)}")
    return found


def check_shape(robot: Robot, targets: Sequence[Target]) -> Shape:
    """Kinds and links of targets that the robot has.

    Raises:
        UnknownLinkError, UnknownJointError: it does not have one.
    """
    for target in targets:
        if isinstance(target, JointTarget):
            check_joints(robot, target.joint, "target")
        else:
            robot.link_index(target.link)
    return shape_of(targets)


# Free configurations from which searches start ----------------------------------------------------

DRAWS = 6
"""Configurations drawn at most for each one wanted: a robot that is hardly ever free still gets a table."""
BOUNDLESS = np.pi
"""rad or m on either side of the default pose from which joints without finite limits are drawn."""


def free_configurations(
    model: CollisionModel | Robot,
    joints: Sequence[str],
    held: Float[np.ndarray, "dof"],
    n: int,
    seed: int = 0,
) -> Float[np.ndarray, "n dof"]:
    """Configurations with `joints` anywhere within their limits and the others held, free ones first.

    Args:
        model: who says what is free; a robot alone takes all.
        joints: names of those drawn.
        held: (dof,) values of the others.
        n: how many. Where not so many free ones are found, others fill the rest: a search may start from them as well.
        seed: of the draw.
    """
    robot = model if isinstance(model, Robot) else model.robot
    columns = [robot.joint_names.index(name) for name in joints]
    center = robot.default_cfg[columns]
    low, high = robot.lower[columns], robot.upper[columns]
    low = np.where(np.isfinite(low), low, np.minimum(center, high) - BOUNDLESS)
    high = np.where(np.isfinite(high), high, np.maximum(center, low) + BOUNDLESS)
    rng = np.random.default_rng(seed)
    kept: list[np.ndarray] = []
    refused: list[np.ndarray] = []
    count = 0
    for _ in range(DRAWS):
        cfgs = np.tile(held, (n, 1))
        cfgs[:, columns] = rng.uniform(low, high, (n, len(columns)))
        free = np.ones(n, dtype=bool) if isinstance(model, Robot) else model.free(cfgs)
        kept.append(cfgs[free])
        refused.append(cfgs[~free])
        count += len(kept[-1])
        if count >= n or not columns:
            break
    return frozen(np.concatenate([*kept, *refused])[:n])


# Joints that are not solved for, and the values they are held at ----------------------------------
# The joints solved for begin within limits. Those that are held stay where they are: a gripper that is
# measured a little beyond its limits is not moved in secret, nor does it make every question
# unanswerable; the answer says so.

ROUNDING = 1e-6
"""A joint beyond its limit by no more (rad, m) is at it: limits that went through 32 bits."""


def held_values(robot: Robot, held: Mapping[str, float]) -> dict[str, float]:
    """Finite values of joints, by name.

    Raises:
        UnknownJointError: no such joint. InputError: no joint with a value of its own, or no finite number.
    """
    found: dict[str, float] = {}
    for name in check_joints(robot, held, "held"):
        try:
            value = float(held[name])
        except (TypeError, ValueError):
            value = np.nan
        if not np.isfinite(value):
            raise InputError(f"held: joint {name!r}: expected a finite number, found {short(held[name])}")
        found[name] = value
    return found


def _beyond(robot: Robot, solved: Int[np.ndarray, "n"], base: Float[np.ndarray, "dof"]) -> tuple[str, ...]:
    """What to say of joints that are held beyond their limits."""
    out = (base < robot.lower) | (base > robot.upper)
    out[solved] = False
    return tuple(
        f"joint {robot.joint_names[k]!r} is held at {number(base[k])}, beyond its limits "
        f"{number(robot.lower[k])} to {number(robot.upper[k])}"
        for k in np.flatnonzero(out)
    )


def within(
    judge: CollisionModel | Robot, solved: Int[np.ndarray, "n"], base: Float[np.ndarray, "dof"]
) -> tuple[Float[np.ndarray, "dof"], tuple[str, ...]]:
    """The configuration with the joints solved for within limits, and what has to be said about it.

    Raises:
        InputError: a joint is held so far beyond its limits that the model gives no verdict.
    """
    robot = judge.robot if isinstance(judge, CollisionModel) else judge
    clipped = np.clip(base, robot.lower, robot.upper)
    moves = np.abs(clipped - base) <= ROUNDING
    moves[solved] = True
    moved = np.where(moves, clipped, base)
    names = [robot.joint_names[k] for k in np.flatnonzero(moved != base)]
    held = _beyond(robot, solved, moved)
    if held and isinstance(judge, CollisionModel):
        try:
            judge.free(moved)
        except InputError:
            raise InputError(f"seed_cfg or held: {'; '.join(held)}, too far for a verdict") from None
    return moved, (*held, f"seed_cfg: moved to the limits of {', '.join(names)}") if names else held
