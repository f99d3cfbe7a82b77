"""A guard between a policy and `mujoco.mj_step`: position actuators are sent only what is proved free.

    guard = ActuatorGuard(mj_model)
    data.ctrl[:] = policy(data)
    guard.apply(data)
    mujoco.mj_step(mj_model, data)

Joints and actuators are found by name. MuJoCo collides the convex hull of a mesh, Elbowroom its triangles: where bodies
are not convex, MuJoCo may report a contact of hulls between bodies that are apart.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from ..collision import CollisionModel, as_model
from ..errors import InputError
from ..ik import GuardStep
from ..robot import Robot
from ..typing import RobotLike
from ._common import RESYNC, CommandGuard, JointMap, checked_dt

__all__ = ["ActuatorGuard"]

mj: Any = importlib.import_module("mujoco")  # publishes no types

CLEARANCE = 0.01
"""Metres: what the lag of a servo behind its command may use up."""
MOVABLE = (int(mj.mjtJoint.mjJNT_HINGE), int(mj.mjtJoint.mjJNT_SLIDE))
BY_JOINT = (int(mj.mjtTrn.mjTRN_JOINT), int(mj.mjtTrn.mjTRN_JOINTINPARENT))


class ActuatorGuard:
    """Guards the position actuators of a running `MjModel` and `MjData`; see the module.

    Actuators of joints that the model does not have pass as they are: a gripper that is held in the model, for example.
    """

    def __init__(
        self,
        mj_model: Any,
        model: CollisionModel | RobotLike | None = None,
        *,
        names: Mapping[str, str] | None = None,
        dt: float | None = None,
        clearance: float = CLEARANCE,
        resync: float = RESYNC,
        velocity_limits: Any = None,
        acceleration_limits: Any = None,
    ) -> None:
        """Finds joints and actuators.

        Args:
            mj_model: the simulation, a `mujoco.MjModel`.
            model: what must stay apart; None for that of `mj_model`. Its robot may hold joints.
            names: {joint in MuJoCo: joint of the model}, where they differ.
            dt: seconds between two calls of `apply`; None for the timestep of the simulation.
            clearance: metres that commands keep; the servos' lag uses it up.
            resync: rad or m of lag beyond which commands start again from where the robot is.
            velocity_limits: as of `Guard`. `acceleration_limits` too.

        Raises:
            InputError: joints without a position actuator, or that cannot be mapped by name.
        """
        if not isinstance(mj_model, mj.MjModel):
            raise InputError(f"mj_model: expected a mujoco.MjModel, found a {type(mj_model).__name__}")
        found = as_model(mj_model if model is None else model)
        self.dt = checked_dt(float(mj_model.opt.timestep) if dt is None else dt, "the time between two calls")
        self.model, self._size = found, (mj_model.nq, mj_model.nu)
        self._qpos = qpos_addresses(mj_model, found.robot, names)
        self._actuators, self._map = actuator_map(mj_model, found.robot, names)
        limited = mj_model.actuator_ctrllimited[self._actuators] != 0
        low, high = mj_model.actuator_ctrlrange[self._actuators].T
        self._range = np.where(limited, low, -np.inf), np.where(limited, high, np.inf)
        self.commands = CommandGuard(
            found,
            resync,
            clearance=clearance,
            velocity_limits=velocity_limits,
            acceleration_limits=acceleration_limits,
            budget=math.inf,  # a simulation waits
        )

    def cfg(self, data: Any) -> Float[np.ndarray, "dof"]:
        """Where the robot is."""
        if not isinstance(data, mj.MjData) or (len(data.qpos), len(data.ctrl)) != self._size:
            raise InputError("data: expected the mujoco.MjData of the MjModel that the guard was made for")
        return np.array(data.qpos[self._qpos])

    def apply(self, data: Any) -> GuardStep:
        """Replaces the controls in `data.ctrl` by the nearest ones that are proved, and says what it did.

        Raises:
            InputError: controls that are NaN or infinite, or data of another model.
        """
        measured = self.cfg(data)
        wanted = np.clip(self._map.values(data.ctrl[self._actuators]), *self._range)  # as MuJoCo does
        step = self.commands.step(measured, self._map.ours(wanted), self.dt)
        data.ctrl[self._actuators] = self._map.theirs(step.cfg, wanted) if step.altered else wanted
        return step

    def reset(self) -> None:
        """Forgets the last command; call it after `mj_resetData` or a jump of `qpos`."""
        self.commands.reset()


def joint_names(mj_model: Any) -> dict[str, int]:
    """Hinges and slides of a simulation by name, with their numbers."""
    return {mj_model.joint(k).name: k for k in range(mj_model.njnt) if mj_model.jnt_type[k] in MOVABLE}


def qpos_addresses(mj_model: Any, robot: Robot, names: Mapping[str, str] | None = None) -> list[int]:
    """Where `data.qpos` holds each joint of a robot; see `joint_numbers`."""
    return [int(mj_model.jnt_qposadr[k]) for k in joint_numbers(mj_model, robot, names)]


def joint_numbers(mj_model: Any, robot: Robot, names: Mapping[str, str] | None = None) -> list[int]:
    """Number in a simulation of each joint of a robot.

    Raises:
        InputError: joints that cannot be mapped, with both sides.
    """
    known, renamed = joint_names(mj_model), names or {}
    used = [name for name in known if name in renamed or name in robot.joint_names]
    complete = {renamed.get(name, name) for name in used} >= set(robot.joint_names)
    found = JointMap.of(robot, used if complete else list(known), "the joints of the simulation", names=names)
    by_joint = dict(zip(found.at.tolist(), used, strict=True))
    return [known[by_joint[k]] for k in range(robot.dof)]


def actuator_map(
    mj_model: Any, robot: Robot, names: Mapping[str, str] | None = None
) -> tuple[list[int], JointMap]:
    """Position actuators of a robot's joints, and the map from their controls to configurations.

    Raises:
        InputError: a joint without a position actuator, or with several.
    """
    which, joints, others = list[int](), list[str](), list[str]()
    for k in range(mj_model.nu):
        joint = (
            mj_model.joint(int(mj_model.actuator_trnid[k, 0])).name
            if mj_model.actuator_trntype[k] in BY_JOINT
            else ""
        )
        ours = (names or {}).get(joint, joint)
        if ours not in robot.joint_names:
            continue
        if not is_position(mj_model, k):
            others.append(f"{mj_model.actuator(k).name or k} (of {joint})")
            continue
        which.append(k)
        joints.append(ours)
    if others:
        raise InputError(
            f"not position actuators: {', '.join(others)}. A guard of positions needs <position> actuators, whose "
            "control is the angle to go to; of others guard the commands that they are computed from (elbowroom.Guard)"
        )
    gears = np.array([mj_model.actuator_gear[k, 0] for k in which])
    units = 1.0 / gears if len(gears) and (gears != 0.0).all() else 1.0
    return which, JointMap.of(robot, joints, "the position actuators", units=units)


def is_position(mj_model: Any, actuator: int) -> bool:
    """Whether an actuator's control is the position of its joint: force = kp (ctrl - q) - kd v."""
    gain, bias = mj_model.actuator_gainprm[actuator], mj_model.actuator_biasprm[actuator]
    return bool(
        mj_model.actuator_gaintype[actuator] == int(mj.mjtGain.mjGAIN_FIXED)
        and mj_model.actuator_biastype[actuator] == int(mj.mjtBias.mjBIAS_AFFINE)
        and mj_model.actuator_dyntype[actuator] == int(mj.mjtDyn.mjDYN_NONE)
        and gain[0] > 0.0
        and np.isclose(bias[1], -gain[0])
        and bias[0] == 0.0
    )
