"""Problem: the kinematics of a set of targets, packed for the kernels, and the searches on it.

Residuals, in world axes, for a link pose (R, p):

- `PoseTarget`: position_weight (p_target - p), then orientation_weight log(R_target R^T), a rotation vector;
- `PositionTarget`: position_weight (position - (R point + p));
- `AxisTarget`: orientation_weight times the rotation vector that takes R axis to the direction on the shortest way;
- `LookAt`: the same with the direction from p to the point;
- `JointTarget`: weight (value - q).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import freeze, frozen
from ..errors import InputError, UnknownJointError, unknown
from ..robot import Robot
from ._layout import N_ROWS, N_TARGETS, VALUES, WIDTH, WORK
from ._pack import pack
from ._targets import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget, Target

QUICK, CAREFUL = (False, 0.9, 3.0), (True, 0.999, 12.0)
"""Whether steps that do not help are taken back; and when a search is given up: after so many steps in a row that left
more than this share of the squared error."""
NO_TABLE = frozen(np.zeros((0, 0), dtype=np.float32))
NO_SCRATCH = np.empty(0, np.float32), np.empty(0, np.int64)
KINDS: tuple[type[Target], ...] = (PoseTarget, PositionTarget, AxisTarget, LookAt, JointTarget)
"""In the order of the kernels' numbers."""

Shape = tuple[tuple[type[Target], str], ...]
"""Of each target its kind and its link or joint: what a `Problem` is made for."""


class Lanes:
    """Where searches ended: a row per start that was begun, in order."""

    __slots__ = ("_dof", "_targets", "rows")

    def __init__(self, rows: Float[np.ndarray, "starts columns"], dof: int, targets: int) -> None:
        self.rows, self._dof, self._targets = rows, dof, targets

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def cfgs(self) -> Float[np.ndarray, "starts dof"]:
        """Where each ended, within limits."""
        return self.rows[:, : self._dof]

    @property
    def reached(self) -> Bool[np.ndarray, "starts"]:
        """Every target within its tolerance."""
        return self.rows[:, -2] > 0.0

    @property
    def position_error(self) -> Float[np.ndarray, "starts targets"]:
        """Metres; zero for targets that ask for no position."""
        return self.rows[:, self._dof : self._dof + self._targets]

    @property
    def orientation_error(self) -> Float[np.ndarray, "starts targets"]:
        """Radians; for a `JointTarget` the error of the joint; zero for targets that ask for no orientation."""
        return self.rows[:, self._dof + self._targets : -2]

    @property
    def iterations(self) -> Int[np.ndarray, "starts"]:
        """Steps of each."""
        return self.rows[:, -1].astype(np.int64)


class Linearised(NamedTuple):
    """What targets are at configurations, to first order."""

    residuals: Float[np.ndarray, "n rows"]
    jacobians: Float[np.ndarray, "n rows dof"]
    off: Float[np.ndarray, "n targets"]
    """Metres."""
    turn: Float[np.ndarray, "n targets"]
    """Radians."""


def shape_of(targets: Sequence[Target]) -> Shape:
    """What a `Problem` for these targets is made for."""
    return tuple((type(t), t.joint if isinstance(t, JointTarget) else t.link) for t in targets)


@dataclass(frozen=True, eq=False)
class Problem:
    """A robot, targets without their values, and the joints solved for."""

    robot: Robot
    shape: Shape
    joints: tuple[str, ...]
    """Joints solved for that move some target."""
    ints: Int[np.ndarray, "ints"]
    floats: Float[np.ndarray, "floats"]
    """See `_layout`."""

    @classmethod
    def of(cls, robot: Robot, shape: Shape, joints: Sequence[str]) -> Problem:
        """Packs the bodies that lead to the links of targets.

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
        ints, floats = pack(robot, [(KINDS.index(kind), name) for kind, name in shape], joints)
        freeze(ints, floats)
        moving = {joint for part in moved_by(robot, shape) for joint in part}
        return cls(robot, tuple(shape), tuple(j for j in joints if j in moving), ints, floats)

    @property
    def rows(self) -> int:
        """Rows of the residual."""
        return int(self.ints[N_ROWS])

    def targets_row(self, targets: Sequence[Target]) -> Float[np.ndarray, "values"]:
        """The values of targets of this shape, as the kernels take them."""
        if len(targets) != len(self.shape):
            raise InputError(f"expected {len(self.shape)} targets, found {len(targets)}")
        return frozen(np.array([value for target in targets for value in _numbers(target)]))

    def solve(
        self,
        values: Float[np.ndarray, "values"],
        starts: Float[np.ndarray, "starts dof"],
        *,
        iterations: int,
        position_tolerance: float,
        orientation_tolerance: float,
        stop_at: int = 0,
        careful: bool = False,
    ) -> Lanes:
        """Searches from every start.

        Args:
            values: of the targets, from `targets_row`.
            starts: (s, dof), tried in order; joints not solved for keep their values, others are put within limits.
            iterations: steps that one start may take.
            position_tolerance: metres.
            orientation_tolerance: radians, also of joint targets.
            stop_at: return when so many have reached; 0: when all are done. Starts that were not done by then count
                as not reached, those that were not begun have no row in the answer.
            careful: go all the way down to the nearest configuration where the targets cannot be reached, instead of
                giving up early; takes some 50 iterations.
        """
        rows = np.array(starts, dtype=np.float64, order="C", ndmin=2)
        when = CAREFUL if careful else QUICK
        limits = (*when, float(iterations), float(position_tolerance), float(orientation_tolerance))
        return self.run(values, rows, len(rows), (NO_TABLE, 0, 0.0), limits, stop_at, NO_SCRATCH)

    def run(
        self,
        values: Float[np.ndarray, "values"],
        starts: Float[np.ndarray, "starts dof"],
        given: int,
        table: tuple[np.ndarray, int, float],
        limits: tuple[bool, float, float, float, float, float],
        stop_at: int,
        scratch: tuple[np.ndarray, np.ndarray],
    ) -> Lanes:
        """The call of the kernel; see there. Starts from `given` on are chosen from the table and written."""
        dof, targets = self.robot.dof, len(self.shape)
        out = np.empty((len(starts), dof + 2 * targets + 2))
        begun = _kernels().solve(
            values, starts, given, *table, *limits, stop_at, self.ints, self.floats, self._work(), *scratch, out
        )  # fmt: skip
        return Lanes(out[:begun], dof, targets)

    def residuals(
        self, values: Float[np.ndarray, "values"], cfgs: Float[np.ndarray, "n dof"]
    ) -> Float[np.ndarray, "n rows"]:
        """Weighted residuals, targets one after the other."""
        return self._linearised(values, cfgs, slope=False).residuals

    def jacobians(
        self, values: Float[np.ndarray, "values"], cfgs: Float[np.ndarray, "n dof"]
    ) -> Float[np.ndarray, "n rows dof"]:
        """Derivatives of the residuals by the configuration; zero for joints that are not solved for."""
        return self._linearised(values, cfgs, slope=True).jacobians

    def linearise_into(
        self, values: Float[np.ndarray, "values"], cfgs: Float[np.ndarray, "n dof"], space: Linearised
    ) -> None:
        """Residuals, Jacobians and errors in one call, for loops: `cfgs` contiguous and read-only, as are `values`."""
        _kernels().linearise(values, cfgs, self.ints, self.floats, self._work(), *space)

    def space(self, n: int = 1, *, slope: bool = True) -> Linearised:
        """What `linearise_into` fills for n configurations; Jacobians only with `slope`."""
        rows, targets = self.rows, int(self.ints[N_TARGETS])
        rates = np.zeros((n if slope else 0, rows, self.robot.dof))
        return Linearised(np.empty((n, rows)), rates, np.empty((n, targets)), np.empty((n, targets)))

    def errors(
        self, values: Float[np.ndarray, "values"], cfgs: Float[np.ndarray, "n dof"]
    ) -> tuple[Float[np.ndarray, "n targets"], Float[np.ndarray, "n targets"]]:
        """Position errors in metres and orientation errors in radians."""
        found = self._linearised(values, cfgs, slope=False)
        return found.off, found.turn

    def _linearised(self, values: np.ndarray, cfgs: np.ndarray, *, slope: bool) -> Linearised:
        space = self.space(len(cfgs), slope=slope)
        self.linearise_into(values, _rows(cfgs), space)
        return space

    @cached_property
    def _local(self) -> threading.local:
        return threading.local()

    def _work(self) -> np.ndarray:
        """Scratch memory of the calling thread."""
        try:
            return self._local.work
        except AttributeError:
            self._local.work = np.zeros(WIDTH * int(self.ints[WORK]))
            return self._local.work

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_local"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        freeze(self.ints, self.floats)  # as the kernels know them: pickling makes arrays writable


def moved_by(robot: Robot, shape: Shape) -> list[set[str]]:
    """Names of the actuated joints that move each target."""
    from ..robot.doors import coupling_law, find_bodies

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


def _numbers(target: Target) -> list[float]:
    """VALUES numbers; see there."""
    if isinstance(target, PoseTarget):
        return [*target.pose.tolist(), target.position_weight, target.orientation_weight]
    if isinstance(target, PositionTarget):
        return [*target.position.tolist(), *target.point.tolist(), target.position_weight, 0.0, 0.0]
    if isinstance(target, AxisTarget):
        return [*target.direction.tolist(), *target.axis.tolist(), target.orientation_weight, 0.0, 0.0]
    if isinstance(target, LookAt):
        return [*target.point.tolist(), *target.axis.tolist(), target.orientation_weight, 0.0, 0.0]
    return [target.value, target.weight, *[0.0] * (VALUES - 2)]


def _rows(cfgs: np.ndarray) -> np.ndarray:
    """Configurations as the kernels were compiled for: contiguous float64, read-only."""
    return frozen(np.ascontiguousarray(cfgs, dtype=np.float64).view())


@cache
def _kernels() -> Any:
    """The kernels; numba loads when they are first needed."""
    from . import _kernels_lm

    return _kernels_lm
