"""A guard between a policy and the arms of a robosuite environment, whatever composite controller they have.

    env = GuardedEnv(env, model, names={"robot0_joint1": "joint1", ...})

Each policy step, the goals of the joint-position controllers of all robots are computed together, replaced by the
nearest ones that are proved free, and handed to the environment's own controllers. They are impedances that lag behind
their goals: `clearance` is what the lag may use up.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from types import MethodType
from typing import Any

import numpy as np
from jaxtyping import Float

from ..collision import CollisionModel, as_model
from ..errors import InputError
from ..robot import Robot, load_robot
from ..typing import RobotLike
from ._common import RESYNC, CommandGuard, JointMap, checked_dt, needs
from .mujoco import CLEARANCE, joint_names

try:
    Wrapper: Any = importlib.import_module("robosuite.wrappers").Wrapper  # publishes no types
except ImportError as missing:
    raise needs("robosuite", "pip install robosuite h5py 'mujoco>=3.3.4,<4'", missing) from missing

__all__ = ["GuardedEnv"]

GUARDED = ("JOINT_POSITION",)
"""Controllers whose goal is a configuration."""


class GuardedEnv(Wrapper):
    """A robosuite environment whose arms are sent only what is proved free; `info["guard"]` says what was done.

    `info["guard"]` has `altered`, `limited_by` (joints and pairs in the way), `clearance` (metres, where the step
    began) and `proved`. Grippers, and joints that the model holds or does not have, pass as they are.
    """

    def __init__(
        self,
        env: Any,
        model: CollisionModel | RobotLike | None = None,
        *,
        names: Mapping[str, str] | None = None,
        clearance: float = CLEARANCE,
        resync: float = RESYNC,
        velocity_limits: Any = None,
        acceleration_limits: Any = None,
    ) -> None:
        """Finds the joints of all robots by name.

        Args:
            env: an environment made by `robosuite.make`, or a wrapper of one.
            model: what must stay apart; None for the whole `MjModel`, with grippers held as they are now and loose
                objects where the `MjModel` has them, which nothing may then touch.
            names: {joint in robosuite: joint of the model}, where they differ; those of the first robot are called
                `robot0_joint1` and so on.
            clearance: metres that goals keep; the controllers' lag uses it up.
            resync: rad or m of lag beyond which goals start again from where the robot is.
            velocity_limits: as of `Guard`. `acceleration_limits` too.

        Raises:
            InputError: joints that cannot be mapped, or arms that are not controlled by joint positions.
        """
        super().__init__(env)
        self._bare = getattr(env, "unwrapped", env)
        if not hasattr(self._bare, "robots") or not hasattr(self._bare, "control_timestep"):
            raise InputError(
                f"env: expected an environment of robosuite.make(), found a {type(env).__name__}"
            )
        self.model = as_model(whole(self._bare) if model is None else model)
        self._names = dict(names or {})
        dt = checked_dt(float(self._bare.control_timestep), "give robosuite.make(control_freq=)")
        self._dt, self._wanted = dt, dict[int, np.ndarray]()
        self.commands = CommandGuard(
            self.model,
            resync,
            clearance=clearance,
            velocity_limits=velocity_limits,
            acceleration_limits=acceleration_limits,
            budget=math.inf,  # a simulation waits
        )
        self._attach()

    def reset(self) -> Any:
        """Resets the environment, which creates new controllers, and the guard with it."""
        found = super().reset()
        self._attach()
        self.commands.reset()
        return found

    def step(self, action: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """One policy step with what the guard makes of an action.

        Raises:
            InputError: an action of the wrong size, NaN or infinite.
        """
        values = self._checked(action)
        measured = self.cfg()
        step = self.commands.step(measured, self._goal(values), self._dt)
        sent = self._map.theirs(step.cfg, self._map.theirs(measured, np.zeros(len(self._map.at))))
        self._wanted = {id(part): sent[rows] for part, rows in self._parts}
        try:
            observation, reward, done, info = super().step(values)
        finally:
            self._wanted = {}
        said = {"altered": step.altered, "limited_by": step.limited_by, "clearance": step.clearance}
        return observation, reward, done, {**info, "guard": {**said, "proved": step.proved}}

    def cfg(self) -> Float[np.ndarray, "dof"]:
        """Where the robots are."""
        return self._map.ours(np.array(self._bare.sim.data.qpos[self._qpos]))

    def _checked(self, action: Any) -> np.ndarray:
        """An action, checked here: robosuite asserts its size and lets NaN pass."""
        low = np.asarray(self._bare.action_spec[0])
        values = np.asarray(action, dtype=np.float64)
        if values.shape != low.shape or not np.isfinite(values).all():
            fault = f"shape {values.shape}" if values.shape != low.shape else "NaN or infinite entries"
            raise InputError(
                f"action: expected {len(low)} finite numbers, as env.action_spec has, found {fault}"
            )
        return values

    def _goal(self, action: np.ndarray) -> Float[np.ndarray, "dof"]:
        """The configuration that an action asks for, from the controllers themselves."""
        at = 0
        for robot in self._bare.robots:
            robot.composite_controller.update_state()
            robot.composite_controller.set_goal(action[at : at + robot.action_dim])
            at += robot.action_dim
        return self._map.ours(np.concatenate([np.asarray(part.goal_qpos) for part, _ in self._parts]))

    def _attach(self) -> None:
        """Finds controllers and joints, and has each controller end up at the guard's goal."""
        joints, addresses, refused = list[str | None](), list[int](), list[str]()
        self._parts: list[tuple[Any, slice]] = []
        mj, known = self._bare.sim.model._model, self.model.robot.joint_names
        for robot in self._bare.robots:
            for name, part in robot.composite_controller.part_controllers.items():
                theirs = [mj.joint(int(k)).name for k in part.joint_index]
                ours = [self._names.get(joint, joint) in known for joint in theirs]
                if name in robot.composite_controller.grippers or not (any(ours) or name in robot.arms):
                    continue
                if getattr(part, "name", "") not in GUARDED:
                    refused.append(f"{name} of {robot.robot_model.naming_prefix}: {part.name}")
                    continue
                self._parts.append((part, slice(len(joints), len(joints) + len(theirs))))
                joints += theirs
                addresses += [int(k) for k in part.qpos_index]
                part.set_goal = MethodType(self._guarded(type(part).set_goal), part)
        if refused or not self._parts:
            raise InputError(
                f"controllers without a goal in joints ({', '.join(refused) or 'no arm was found'}): give their parts "
                "'type': 'JOINT_POSITION', as load_part_controller_config(default_controller='JOINT_POSITION') has"
            )
        self._qpos = np.array(addresses)
        self._map = JointMap.of(self.model.robot, joints, "the joints of robosuite", names=self._names)

    def _guarded(self, inner: Any) -> Any:
        def set_goal(part: Any, *args: Any, **kwargs: Any) -> None:
            inner(part, *args, **kwargs)
            if id(part) in self._wanted:
                part.goal_qpos = np.array(self._wanted[id(part)])
                if part.interpolator is not None:
                    part.interpolator.set_goal(part.goal_qpos)

        return set_goal


def whole(bare: Any) -> Robot:
    """The whole simulation of an environment; joints that no arm drives are held where they are."""
    mj, data = bare.sim.model._model, bare.sim.data
    driven = {name for robot in bare.robots for name in robot.robot_joints}
    places = {name: float(data.qpos[mj.jnt_qposadr[k]]) for name, k in joint_names(mj).items()}
    return load_robot(mj, hold={name: value for name, value in places.items() if name not in driven})
