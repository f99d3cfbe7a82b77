"""LeRobot: `send_action` behind the guard, or a step of its action pipeline that does the same.

`GuardedRobot` wraps any LeRobot robot whose actions are `<motor>.pos`; `GuardActionStep`, registered as
`elbowroom_guard`, is a `RobotActionProcessorStep`. Both are subclasses of LeRobot's classes, so they are made when
first asked for. What they do is in `ActionGuard`, which needs no LeRobot. A `MotorMap` says which joint a motor turns,
and in which unit.

    python -m elbowroom.bridges.lerobot --help     makes a map, and checks it; `record_poses` records what it is made of
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..collision import CollisionModel
from ..errors import InputError, MissingExtraError
from ..ik import Guard, GuardStep
from ..robot import load_robot
from ..world import World
from ._motor_fit import record_poses as record_poses
from ._motor_map import UNITS, as_number
from ._motor_map import Motor as Motor
from ._motor_map import MotorMap as MotorMap

INSTALL = "pip install lerobot"
MAX_LAG = 0.35
"""Radians (metres) between where a motor is and where it was sent, beyond which it is assumed to be blocked."""

GuardedRobot: type[Any]
GuardActionStep: type[Any]

__all__ = ["ActionGuard", "GuardActionStep", "GuardedRobot", "Motor", "MotorMap", "record_poses"]


class ActionGuard:
    """Makes actions of a LeRobot robot safe: `<motor>.pos` in, `<motor>.pos` out, in the units of the motors."""

    def __init__(
        self,
        motors: MotorMap | str | Path,
        model: CollisionModel | str | Path | None = None,
        *,
        world: World | str | Path | None = None,
        fps: float = 30.0,
        max_lag: float = MAX_LAG,
        **options: Any,
    ) -> None:
        """Takes the map, the robot and what `Guard` takes.

        Args:
            motors: the map, its YAML file, or the name of a shipped one: `so100`, `so101`.
            model: the robot among its obstacles, or a description as `load_robot` takes it; that of the map if omitted.
                Links of a description that have no collision geometry are checked by what is visible of them.
            world: obstacles, or a file with them, instead of those of the model.
            fps: actions per second; the step of a joint is limited to its speed over this time.
            max_lag: radians (metres) that a motor may be behind its last command. Beyond, the step starts where the
                motor is. Motors in `range_0_100` are exempt: a gripper that holds something stays behind.
            options: of `Guard`: `clearance`, `velocity_limits`, `budget` ...

        Raises:
            InputError: motors and joints do not match, or values that make no sense. FormatError: a broken map.
        """
        self.motors = MotorMap.read(motors)
        found = model if model is not None else self.motors.robot
        if found == "":
            raise InputError(f"{self.motors.source} names no robot: write 'robot:' in it, or give model")
        if not isinstance(found, CollisionModel):
            found = CollisionModel(load_robot(found, use_visual=True))
        if world is not None:
            found = found.with_world(world if isinstance(world, World) else World.read(world))
        self.robot = found.robot
        self.motors.match(self.robot)
        fps, lag = as_number(fps, "fps", "actions per second"), as_number(max_lag, "max_lag", "radians")
        if fps <= 0.0 or lag < 0.0:
            raise InputError(f"fps must be above 0 and max_lag from 0 up, found {fps:g} and {lag:g}")
        self.guard, self.dt = Guard(found, **options), 1.0 / fps
        joints = {motor.joint: motor for motor in self.motors.motors.values()}
        ordered = [joints[name] for name in self.robot.joint_names]
        self._lag = np.array([np.inf if motor.unit == "range_0_100" else lag for motor in ordered])
        ends = np.sort([[motor.joint_at(value) for value in UNITS[motor.unit]] for motor in ordered], axis=1)
        self._lower, self._upper = ends.T
        self._sent: np.ndarray | None = None
        self.step: GuardStep | None = None
        """What the guard said of the last action."""

    def reset(self) -> None:
        """Forgets the last action: the next one starts where the robot is."""
        self.guard.reset()
        self._sent = self.step = None

    def __call__(self, action: Mapping[str, Any], observation: Mapping[str, Any] | None) -> dict[str, Any]:
        """The action to send; keys that are no `<motor>.pos` pass as they are.

        The step starts at the last action sent, which was proved; the first one, and one whose motors are more than
        `max_lag` behind it, at the observed positions.

        Raises:
            InputError: motors missing, unknown or not finite; the last action was sent, this one must not be.
        """
        asked = self.motors.cfg_of(action, self.robot, "action")
        wanted = np.clip(asked, self._lower, self._upper)  # as LeRobot does
        start = self._sent
        if start is None or observation is not None:
            here = (
                {}
                if observation is None
                else {k: v for k, v in observation.items() if str(k).endswith(".pos")}
            )
            measured = self.motors.cfg_of(here, self.robot, "observation")
            behind = np.full(self.robot.dof, True) if start is None else np.abs(measured - start) > self._lag
            if behind.any():  # stopped or moved by something else
                self.guard.reset()
                start = np.where(behind, measured, measured if start is None else start)
        step = self.guard.step(start, wanted, self.dt)
        if step.altered and not (np.clip(step.cfg, self._lower, self._upper) == step.cfg).all():
            step = self.guard.step(start, start, self.dt)  # LeRobot would clip it off the proved line
        self._sent, self.step = step.cfg, step
        if np.array_equal(step.cfg, asked):
            return dict(action)
        return {**action, **self.motors.action_of(step.cfg, self.robot)}


class _GuardedRobot:
    """A LeRobot robot whose `send_action` sends what the guard makes of an action; all else is the robot's own.

    Args:
        robot: the robot behind the guard. Its `max_relative_target` must be None: it would clip motors one by one,
            off the path that was proved.
        motors: as of `ActionGuard`, like `model` and `options`.

    Raises:
        InputError: motors, joints or units do not match; says what to change.
    """

    def __init__(self, robot: Any, motors: Any, model: Any = None, **options: Any) -> None:
        self._robot, self.config = robot, robot.config
        self.action_guard = ActionGuard(motors, model, **options)
        self._seen: Mapping[str, Any] | None = None
        self.name, self.robot_type, self.id = robot.name, robot.robot_type, robot.id
        if getattr(robot.config, "max_relative_target", None) is not None:
            raise InputError("set max_relative_target of the robot to None: the guard limits its steps")
        _same_units(robot, self.action_guard.motors)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # before __init__ has run, and what Python asks for by itself
            raise AttributeError(name)
        return getattr(self._robot, name)

    observation_features = property(lambda self: self._robot.observation_features)
    action_features = property(lambda self: self._robot.action_features)
    is_connected = property(lambda self: self._robot.is_connected)
    is_calibrated = property(lambda self: self._robot.is_calibrated)

    def connect(self, calibrate: bool = True) -> None:
        self._robot.connect(calibrate)
        self._seen = None
        self.action_guard.reset()

    def calibrate(self) -> None:
        self._robot.calibrate()
        self._seen = None
        self.action_guard.reset()

    def configure(self) -> None:
        self._robot.configure()

    def get_observation(self) -> Any:
        self._seen = self._robot.get_observation()
        return self._seen

    def send_action(self, action: Mapping[str, Any]) -> Any:
        """Sends the nearest safe action; returns what the robot says was sent."""
        seen = self._robot.get_observation() if self._seen is None else self._seen
        self._seen = None  # an observation serves one action; without a new one the robot is asked
        return self._robot.send_action(self.action_guard(action, seen))

    def disconnect(self) -> None:
        self._robot.disconnect()


class _GuardActionStep:
    """Step of LeRobot's action pipeline; takes what `ActionGuard` takes. The observation is that of the transition.

    To be the last step: what follows it is not guarded. It is saved with a pipeline if its arguments are names and
    numbers.
    """

    def __init__(self, motors: Any, model: Any = None, **options: Any) -> None:
        self.action_guard = ActionGuard(motors, model, **options)
        self._config = {"motors": motors, "model": model, **options}

    def action(self, action: Mapping[str, Any]) -> dict[str, Any]:
        return self.action_guard(action, self.transition.get("observation"))  # type: ignore[attr-defined]

    def reset(self) -> None:
        self.action_guard.reset()

    def get_config(self) -> dict[str, Any]:
        """Arguments, to be saved.

        Raises:
            InputError: one of them is an object; a name or a path can be saved.
        """
        found = {key: str(value) if isinstance(value, Path) else value for key, value in self._config.items()}
        for key, value in found.items():
            if not isinstance(value, (str, int, float, list, type(None))):
                raise InputError(f"{key}: a {type(value).__name__} cannot be saved; give a name or a path")
        return found

    def transform_features(self, features: Any) -> Any:
        return features


def _same_units(robot: Any, motors: MotorMap) -> None:
    """Compares names and units with those of the robot's motors, where it tells."""
    bus = getattr(getattr(robot, "bus", None), "motors", None)
    named = {key.removesuffix(".pos") for key in robot.action_features if key.endswith(".pos")}
    if named != set(motors.motors):
        raise InputError(
            f"{motors.source} does not fit {robot.name}: its motors are {', '.join(motors.motors)}, those of the "
            f"robot {', '.join(sorted(named))}"
        )
    for name, motor in motors.motors.items():
        mode = getattr(getattr((bus or {}).get(name), "norm_mode", None), "value", motor.unit)
        if mode != motor.unit:
            raise InputError(
                f"{motors.source}: motor {name} is mapped in {motor.unit}, the robot commands it in {mode}. Set "
                f"use_degrees of the robot, or make a map for {mode} (build --calibration)"
            )


_CLASSES: dict[str, tuple[type, str, str]] = {
    "GuardedRobot": (_GuardedRobot, "lerobot.robots", "Robot"),
    "GuardActionStep": (_GuardActionStep, "lerobot.processor", "RobotActionProcessorStep"),
}


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    ours, module, base_name = _CLASSES[name]
    try:
        home = importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{name} needs LeRobot: {INSTALL} ({error})") from error
    base = getattr(home, base_name)
    made = type(base)(name, (ours, base), {"__doc__": ours.__doc__, "__module__": __name__})
    if name == "GuardActionStep":
        home.ProcessorStepRegistry.register("elbowroom_guard")(made)
    globals()[name] = made
    return made


if __name__ == "__main__":
    from ._motor_cli import main

    raise SystemExit(main())
