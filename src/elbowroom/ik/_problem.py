"""Problem: targets of given kinds and links in the compiled core, which measures configurations against them.

Residuals, in world axes, for a link pose (R, p):

- `PoseTarget`: position_weight (p_target - p), then orientation_weight log(R_target R^T), a rotation vector;
- `PositionTarget`: position_weight (position - (R point + p));
- `AxisTarget`: orientation_weight times the rotation vector that takes R axis to the direction on the shortest way;
- `LookAt`: the same with the direction from p to the point;
- `JointTarget`: weight (value - q).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .. import _core
from .._frozen import frozen
from ..errors import InputError, UnknownJointError, unknown
from ..robot import Robot
from ._targets import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget, Target

KINDS: tuple[type[Target], ...] = (PoseTarget, PositionTarget, AxisTarget, LookAt, JointTarget)
"""In the order of the core's numbers."""
VALUES = 9
"""Numbers of a target, in the order of its kind: pose wxyz_xyz, weights of position and orientation; position, point,
weight; direction or point, axis, weight; value, weight."""

Shape = tuple[tuple[type[Target], str], ...]
"""Of each target its kind and its link or joint: what a `IkProblem` is made for."""


class Linearised(NamedTuple):
    """What targets are at configurations, to first order."""

    residuals: Float[np.ndarray, "n rows"]
    jacobians: Float[np.ndarray, "n rows dof"]
    off: Float[np.ndarray, "n targets"]
    """Metres."""
    turn: Float[np.ndarray, "n targets"]
    """Radians."""


def shape_of(targets: Sequence[Target]) -> Shape:
    """What a `IkProblem` for these targets is made for."""
    return tuple([(type(t), t.joint if isinstance(t, JointTarget) else t.link) for t in targets])


@dataclass(frozen=True, eq=False)
class IkProblem:
    """A robot, targets without their values, and the joints solved for."""

    robot: Robot
    shape: Shape
    joints: tuple[str, ...]
    """Joints solved for that move some target."""

    @classmethod
    def of(cls, robot: Robot, shape: Shape, joints: Sequence[str]) -> IkProblem:
        """Checks names.

        Args:
            robot: the robot.
            shape: of each target its kind and its link (joint); see `shape_of`.
            joints: names of the actuated joints that may move; others are held.

        Raises:
            UnknownLinkError, UnknownJointError: the robot has no such link, no such actuated joint.
            InputError: there is no target.
        """
        if not shape:
            raise InputError("targets: none given; expected at least one, such as {link: pose}")
        named = [name for kind, name in shape if kind is JointTarget]
        for name in (*joints, *named):
            if name not in robot.joint_names:
                robot.joint(name)  # raises where there is none at all
                raise UnknownJointError(unknown("actuated joint", name, robot.joint_names))
        moving = {joint for part in moved_by(robot, shape) for joint in part}
        return cls(robot, tuple(shape), tuple(j for j in joints if j in moving))

    @cached_property
    def core(self) -> _core.Targets:
        """The same in the compiled core."""
        robot = self.robot
        places = [
            robot.joint_names.index(name) if kind is JointTarget else robot.link_index(name)
            for kind, name in self.shape
        ]
        solved = [robot.joint_names.index(name) for name in self.joints]
        return _core.Targets(robot.tree.core, [KINDS.index(kind) for kind, _ in self.shape], places, solved)

    @property
    def rows(self) -> int:
        """Rows of the residual."""
        return self.core.rows

    def targets_row(self, targets: Sequence[Target]) -> Float[np.ndarray, "values"]:
        """The values of targets of this shape, as the core takes them."""
        if len(targets) != len(self.shape):
            raise InputError(f"expected {len(self.shape)} targets, found {len(targets)}")
        return frozen(np.array(numbers_of(targets)))

    def linearised(
        self, values: Float[np.ndarray, "values"], cfgs: Float[np.ndarray, "n dof"], *, slope: bool = True
    ) -> Linearised:
        """Residuals, Jacobians and errors at configurations; Jacobians, zero for joints held, only with `slope`."""
        return Linearised(*self.core.linearise(values, np.asarray(cfgs, dtype=np.float64), slope))

    def residuals(
        self, values: Float[np.ndarray, "values"], cfgs: Float[np.ndarray, "n dof"]
    ) -> Float[np.ndarray, "n rows"]:
        """Weighted residuals, targets one after the other."""
        return self.linearised(values, cfgs, slope=False).residuals

    def jacobians(
        self, values: Float[np.ndarray, "values"], cfgs: Float[np.ndarray, "n dof"]
    ) -> Float[np.ndarray, "n rows dof"]:
        """Derivatives of the residuals by the configuration; zero for joints that are not solved for."""
        return self.linearised(values, cfgs).jacobians

    def errors(
        self, values: Float[np.ndarray, "values"], cfgs: Float[np.ndarray, "n dof"]
    ) -> tuple[Float[np.ndarray, "n targets"], Float[np.ndarray, "n targets"]]:
        """Position errors in metres and orientation errors in radians."""
        found = self.linearised(values, cfgs, slope=False)
        return found.off, found.turn

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "core"}


def moved_by(robot: Robot, shape: Shape) -> list[set[str]]:
    """Names of the actuated joints that move each target."""
    from ..robot.internal import coupling_law, find_bodies

    bodies = find_bodies(robot.tree)
    found: list[set[str]] = []
    for kind, name in shape:
        if kind is JointTarget:
            found.append({name})
            continue
        body = bodies.of_frame[int(robot.tree.link_frame[robot.link_index(name)])]
        drivers = [coupling_law(robot.tree, bodies.q_idx[b])[0] for b in bodies.ancestors(body)[:-1]]
        found.append({robot.joint_names[k] for k in drivers})
    return found


def groups(
    robot: Robot, shape: Shape, joints: Sequence[str]
) -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
    """Targets that share no joint apart: of each group the positions of its targets and the names of its joints.

    A joint that moves no target is in no group. A target that no joint moves is a group of its own.
    """
    moved = [part & set(joints) for part in moved_by(robot, shape)]
    apart: list[tuple[list[int], set[str]]] = []
    for k, part in enumerate(moved):
        joined = [group for group in apart if group[1] & part]
        for group in joined:
            apart.remove(group)
        members = sorted([k, *(t for group in joined for t in group[0])])
        apart.append((members, part.union(*(group[1] for group in joined))))
    apart.sort(key=lambda group: group[0])
    return [(tuple(members), tuple(j for j in joints if j in names)) for members, names in apart]


def numbers_of(targets: Sequence[Target]) -> list[float]:
    """VALUES numbers for each; see there."""
    found: list[float] = []
    for target in targets:
        if isinstance(target, PoseTarget):
            found += target.pose.tolist()
            found += (target.position_weight, target.orientation_weight)
        elif isinstance(target, JointTarget):
            found += (target.value, target.weight, *[0.0] * (VALUES - 2))
        else:
            place, local, weight = _vectors(target)
            found += (*place.tolist(), *local.tolist(), weight, 0.0, 0.0)
    return found


def _vectors(target: PositionTarget | AxisTarget | LookAt) -> tuple[np.ndarray, np.ndarray, float]:
    if isinstance(target, PositionTarget):
        return target.position, target.point, target.position_weight
    if isinstance(target, AxisTarget):
        return target.direction, target.axis, target.orientation_weight
    return target.point, target.axis, target.orientation_weight
