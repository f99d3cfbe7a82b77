"""A guard around a robot of GELLO: `GuardedRobot(robot, model, joints=[...], hz=100)` in place of the robot.

GELLO's robots have `num_dofs`, `get_joint_state`, `command_joint_state` and `get_observations`; this is one more, and
passes commands on only as they are proved free. Nothing of GELLO is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float

from .._text import short
from ..collision import CollisionModel, as_model
from ..errors import InputError
from ..ik import GuardStep
from ..typing import RobotLike
from ._common import RESYNC, CommandGuard, JointMap

__all__ = ["GuardedRobot"]

METHODS = ("num_dofs", "get_joint_state", "command_joint_state", "get_observations")


class GelloRobot(Protocol):
    """GELLO's protocol of a robot."""

    def num_dofs(self) -> int:
        """Number of entries of states and commands, a gripper included."""
        ...

    def get_joint_state(self) -> Any:
        """Where it is."""
        ...

    def command_joint_state(self, joint_state: Any) -> None:
        """Goes there."""
        ...

    def get_observations(self) -> dict[str, Any]:
        """What GELLO records."""
        ...


class GuardedRobot:
    """A robot of GELLO whose commands are proved free; it is one itself.

    GELLO does not name joints: say the model's joint of each entry. An entry that is None, the gripper for example,
    passes as it is; its fingers are best held open in the model (`load_robot(..., hold=...)`).
    """

    def __init__(
        self,
        robot: GelloRobot,
        model: CollisionModel | RobotLike,
        *,
        joints: Sequence[str | None],
        hz: float,
        units: Any = "rad",
        clearance: float = 0.0,
        velocity_limits: Any = None,
        acceleration_limits: Any = None,
        resync: float = RESYNC,
    ) -> None:
        """Takes the robot, and what must stay apart.

        Args:
            robot: a robot of GELLO.
            model: the robot among its obstacles.
            joints: the model's joint of each entry of a command; None for an entry that is no joint.
            hz: commands a second, GELLO's `--hz`.
            units: of states and commands; GELLO's are "rad".
            clearance: metres to keep, of which the lag of the robot uses some.
            velocity_limits: as of `Guard`. `acceleration_limits` too.
            resync: rad or m of lag beyond which commands start again from where the robot is.

        Raises:
            InputError: not a robot of GELLO, another number of joints, or names that the model does not have.
        """
        missing = [name for name in METHODS if not callable(getattr(robot, name, None))]
        if missing:
            raise InputError(
                f"robot: expected one of GELLO's, with {', '.join(METHODS)}; this one lacks {', '.join(missing)}"
            )
        if isinstance(hz, bool) or not isinstance(hz, (int, float)) or not 0.0 < hz < np.inf:
            raise InputError(f"hz must be commands a second above zero, found {short(hz)}: GELLO's --hz")
        self.robot, self.model, self._dt = robot, as_model(model), 1.0 / hz
        if isinstance(joints, str) or len(joints) != robot.num_dofs():
            raise InputError(
                f"joints: the robot has {robot.num_dofs()} entries, a gripper included, found {short(joints)}: give "
                "the model's joint of each, None for the gripper"
            )
        self._map = JointMap.of(self.model.robot, joints, "the entries of the robot", units=units)
        self._commands = CommandGuard(
            self.model,
            resync,
            clearance=clearance,
            velocity_limits=velocity_limits,
            acceleration_limits=acceleration_limits,
        )
        self.last: GuardStep | None = None
        """What became of the last command; `last.altered`, `last.limited_by`."""

    def num_dofs(self) -> int:
        """Number of entries of states and commands."""
        return self.robot.num_dofs()

    def get_joint_state(self) -> Float[np.ndarray, "n"]:
        """Where the robot is."""
        return self.robot.get_joint_state()

    def command_joint_state(self, joint_state: Any) -> None:
        """Sends the nearest command that is proved free.

        Raises:
            InputError: a command or a state of the wrong size, NaN or infinite; nothing is sent then.
        """
        wanted = self._map.values(joint_state)
        measured = self._map.ours(self._map.values(self.robot.get_joint_state()))
        step = self._commands.step(measured, self._map.ours(wanted), self._dt)
        self.last = step
        self.robot.command_joint_state(self._map.theirs(step.cfg, wanted) if step.altered else wanted)

    def get_observations(self) -> dict[str, Any]:
        """What GELLO records, of the robot itself."""
        return self.robot.get_observations()

    def reset(self) -> None:
        """Forgets the last command: the robot is at rest, wherever it is."""
        self._commands.reset()
