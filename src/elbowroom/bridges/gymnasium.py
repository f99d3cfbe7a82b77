"""The guard as a wrapper of gymnasium environments: actions of a policy become actions that are proved free.

    env = GuardWrapper(env, model, units="rad")

Actions are joint positions, changes of them, or velocities. Where an environment runs MuJoCo (`env.unwrapped.model` and
`.data`), joints are found by name; for others say how to read the configuration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

try:
    import gymnasium
except ImportError as missing:
    from ._common import needs

    raise needs("gymnasium", "pip install gymnasium", missing) from missing

from .._text import short
from ..collision import CollisionModel, as_model
from ..errors import InputError
from ..ik import Guard, GuardStep
from ..typing import RobotLike
from ._common import RESYNC, CommandGuard, JointMap, checked_dt

__all__ = ["ClearanceObservation", "GuardWrapper"]

KINDS = ("position", "delta", "velocity")
UNSAFE = ("alter", "end", "penalty")
ReadCfg = Callable[[Any], Any]
"""Takes the innermost environment and returns (dof,) in the order of the robot's joints."""


class GuardWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Guards the actions of an environment; `info["guard"]` says what was done.

    `info["guard"]` has `altered`, `limited_by` (joints and pairs in the way), `clearance` (metres, where the step
    began), `proved` and `action` (what the environment was given).
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        model: CollisionModel | RobotLike,
        *,
        units: Any = None,
        action: Literal["position", "delta", "velocity"] = "position",
        cfg: ReadCfg | None = None,
        joints: Sequence[str | None] | None = None,
        dt: float | None = None,
        unsafe: Literal["alter", "end", "penalty"] = "alter",
        penalty: float = 1.0,
        clearance: float = 0.0,
        velocity_limits: Any = None,
        acceleration_limits: Any = None,
        resync: float = RESYNC,
    ) -> None:
        """Takes what must stay apart, and what an action means.

        Args:
            env: an environment whose actions are a vector.
            model: the robot among its obstacles.
            units: of actions: "rad" (rad and m), "deg" (degrees and m), rad (m) per unit, or of positions
                "normalized": the span of the action space is that of the joint limits. With velocities, all per second.
            action: what an action is: a position, a change of the position that `cfg` reads, or a velocity.
            cfg: reads the configuration from `env.unwrapped`; None for environments that run MuJoCo.
            joints: the robot's joint of each entry of an action, None for an entry that is no joint, such as a gripper.
                Omitted: those of the actuators of MuJoCo, or the robot's joints in their order.
            dt: seconds of a step; None for `env.unwrapped.dt`.
            unsafe: what to do with an action that is not free: "alter" it; "end" the episode without doing it; or do it
                and take the "penalty" off the reward. The last two count collisions and joint limits, not speeds.
            penalty: what "end" and "penalty" take off the reward.
            clearance: metres to keep. Simulated servos lag behind: give them 0.01.
            velocity_limits: as of `Guard`; without, those of the robot, or what bounded actions can do. So too
                `acceleration_limits`.
            resync: rad or m of lag beyond which commands start again from where the robot is.

        Raises:
            InputError: sizes, names, units or options that do not fit; the message says what to change.
        """
        super().__init__(env)
        self.model, robot = (found := as_model(model)), found.robot
        if action not in KINDS:
            raise InputError(f"action must be one of {', '.join(KINDS)}, found {short(action)}")
        if unsafe not in UNSAFE:
            raise InputError(f"unsafe must be one of {', '.join(UNSAFE)}, found {short(unsafe)}")
        if isinstance(penalty, bool) or not math.isfinite(penalty):
            raise InputError(f"penalty must be a number, found {short(penalty)}")
        box = env.action_space
        if not isinstance(box, gymnasium.spaces.Box) or len(box.shape) != 1:
            raise InputError(f"the guard takes actions that are a vector (a Box of one axis), found {box}")
        self._kind, self._unsafe, self._penalty, self._box = action, unsafe, float(penalty), box
        self._read = reader(env, found, cfg)
        self._map = _map_of(env, found, joints, box, units, action)
        how = "give GuardWrapper(dt=seconds of a step)"
        self._dt = checked_dt(getattr(env.unwrapped, "dt", None) if dt is None else dt, how)
        self._last: Any = None
        if unsafe != "alter" and velocity_limits is None:
            velocity_limits = np.inf
        elif velocity_limits is None and action != "position":
            velocity_limits = self._reachable(robot.velocity_limits)
        self._commands = CommandGuard(
            found,
            resync if action != "velocity" and unsafe == "alter" else 0.0,
            clearance=clearance,
            velocity_limits=velocity_limits,
            acceleration_limits=acceleration_limits,
            budget=math.inf,  # runs can be repeated
        )

    @property
    def guard(self) -> Guard:
        """The guard itself."""
        return self._commands.guard

    def _reachable(self, own: np.ndarray) -> np.ndarray:
        """Speeds that bounded changes or velocities can ask for, within the robot's own."""
        per_second = self._dt if self._kind == "delta" else 1.0
        most = np.minimum(-self._box.low, self._box.high).astype(np.float64)
        limits, joints = np.where(own > 0.0, own, np.inf), self._map.at >= 0
        speeds = np.where(most > 0.0, most * np.abs(self._map.scale) / per_second, np.inf)
        limits[self._map.at[joints]] = np.minimum(limits[self._map.at[joints]], speeds[joints])
        return limits

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Resets the environment, and the guard with it."""
        self._last, info = self.env.reset(**options)
        self._commands.reset()
        return self._last, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """One step with what the guard makes of an action.

        Raises:
            InputError: an action of the wrong size, NaN or infinite.
        """
        values = self._map.values(action)
        measured = self.cfg()
        step = self._commands.step(measured, self._wanted(measured, values), self._dt)
        if step.altered and self._unsafe == "alter":
            values = self._altered(measured, step, values)
        told = np.asarray(values, dtype=self._box.dtype)
        said = {"altered": step.altered, "limited_by": step.limited_by, "clearance": step.clearance}
        said |= {"proved": step.proved, "action": told}
        if step.altered and self._unsafe == "end":
            return self._last, -self._penalty, True, False, {"guard": said}
        self._last, reward, terminated, truncated, info = self.env.step(told)
        if step.altered and self._unsafe == "penalty":
            reward = float(reward) - self._penalty
        return self._last, reward, terminated, truncated, {**info, "guard": said}

    def cfg(self) -> Float[np.ndarray, "dof"]:
        """Where the robot is."""
        return self._read()

    def _wanted(self, measured: np.ndarray, values: np.ndarray) -> np.ndarray:
        ours = self._map.ours(values)
        if self._kind == "position":
            return ours
        return measured + (ours if self._kind == "delta" else self._dt * ours)

    def _altered(self, measured: np.ndarray, step: GuardStep, values: np.ndarray) -> np.ndarray:
        ours = {"position": step.cfg, "delta": step.cfg - measured, "velocity": step.velocity}[self._kind]
        return self._map.theirs(ours, values)


class ClearanceObservation(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Adds the clearance to observations: a key "clearance" of a dictionary, or a last entry of a vector.

    It is a lower bound in metres, at most `far`; zero in contact.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        model: CollisionModel | RobotLike,
        *,
        cfg: ReadCfg | None = None,
        far: float = 0.1,
    ) -> None:
        """Takes the model, and how to read the configuration, as `GuardWrapper` does; `far` is in metres."""
        super().__init__(env)
        if isinstance(far, bool) or not 0.0 < far < math.inf:
            raise InputError(f"far must be metres above zero, found {short(far)}")
        self.model, self._far = as_model(model), float(far)
        self._read = reader(env, self.model, cfg)
        inner: Any = env.observation_space
        spaces: Any = gymnasium.spaces
        if isinstance(inner, spaces.Dict):
            more = spaces.Box(0.0, self._far, (1,), np.float64)
            self.observation_space = spaces.Dict({**inner.spaces, "clearance": more})
        elif isinstance(inner, spaces.Box) and len(inner.shape) == 1:
            low, high = np.append(inner.low, 0.0), np.append(inner.high, self._far)
            low, high = low.astype(inner.dtype), high.astype(inner.dtype)
            self.observation_space = spaces.Box(low, high, dtype=inner.dtype.type)
        else:
            raise InputError(
                f"clearance can be added to a dictionary or a vector of observations, found {inner}"
            )

    def observation(self, observation: Any) -> Any:
        """An observation with the clearance."""
        found = min(max(float(self.model.clearance(self._read())), 0.0), self._far)
        if isinstance(observation, dict):
            return {**observation, "clearance": np.array([found])}
        return np.append(observation, found).astype(self.observation_space.dtype)


def reader(env: Any, model: CollisionModel, cfg: ReadCfg | None) -> Callable[[], Float[np.ndarray, "dof"]]:
    """A function that reads the configuration of an environment.

    Raises:
        InputError: nothing says how, or joints of MuJoCo that cannot be mapped.
    """
    bare = env.unwrapped
    if cfg is not None:
        if not callable(cfg):
            raise InputError(f"cfg: expected a function of the innermost environment, found {short(cfg)}")
        return lambda: model.robot.as_cfg(cfg(bare))
    if type(getattr(bare, "model", None)).__name__ != "MjModel":
        raise InputError(
            "the environment does not run MuJoCo: give cfg=, a function that takes env.unwrapped and returns the "
            f"joints of {model.robot.name} in this order: {', '.join(model.robot.joint_names)}"
        )
    from .mujoco import qpos_addresses

    addresses = qpos_addresses(bare.model, model.robot)
    return lambda: np.array(bare.data.qpos[addresses])


def _map_of(
    env: Any, model: CollisionModel, joints: Any, box: gymnasium.spaces.Box, units: Any, action: str
) -> JointMap:
    """The map from actions to joints."""
    if joints is None and type(getattr(env.unwrapped, "model", None)).__name__ == "MjModel":
        from .mujoco import BY_JOINT

        mj = env.unwrapped.model
        driven = [
            mj.joint(int(mj.actuator_trnid[k, 0])).name if mj.actuator_trntype[k] in BY_JOINT else None
            for k in range(mj.nu)
        ]
        joints = [name if name in model.robot.joint_names else None for name in driven]
    names = list(model.robot.joint_names if joints is None else joints)
    size = box.shape[0]
    if len(names) != size:
        raise InputError(
            f"actions have {size} entries, and {len(names)} joints are known ({', '.join(map(str, names))}): give "
            "joints=, the robot's joint of each entry, None for an entry that is no joint"
        )
    normalized = isinstance(units, str) and units == "normalized"
    if normalized and action != "position":
        raise InputError(f"units='normalized' is of positions; of a {action} give rad (m) per unit")
    found = JointMap.of(model.robot, names, "actions", units="rad" if normalized else units)
    return found.normalized(box.low.astype(np.float64), box.high.astype(np.float64)) if normalized else found
