"""Finds and checks a `MotorMap` from recorded poses: motor values beside the joint positions that they belong to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from .._text import number, short
from .._yaml import load_yaml
from ..errors import FormatError, InputError, unknown
from ..robot import Robot, load_robot
from ._motor_map import SUFFIX, UNITS, Motor, MotorMap, as_number, dump_plain, read_motors

TOLERANCE = math.radians(5.0)
"""Radians (metres) that a map may be off at a pose: poses are set by hand and eye."""
MIDDLE = math.radians(15.0)
"""Radians (metres) between the middle of a motor's range and that of its joint's limits, and between their ends."""
SPREAD = math.radians(20.0)
"""Radians (metres) that poses must move a joint to tell its sign and scale."""


@dataclass(frozen=True)
class Poses:
    """Recorded poses: row by row the values of the motors and the joint positions."""

    motors: Mapping[str, Motor]
    """Joint and unit of each; sign, scale and offset are not known yet."""
    values: Mapping[str, Float[np.ndarray, "poses"]]
    joints: Mapping[str, Float[np.ndarray, "poses"]]
    """By motor: where its joint was, rad or m."""
    robot: str = ""

    @classmethod
    def read(cls, path: str | Path) -> Poses:
        """Reads a YAML file: `robot`, `motors` with `joint` and `unit`, `poses` with `joints` and `action`.

        Raises:
            FormatError: something is missing. InputError: a value is not a finite number. Both say what to write.
        """
        data = load_yaml(Path(path))[0]
        motors, rows = read_motors(Path(path), data, fitted=False), data.get("poses")
        if not isinstance(rows, Sequence) or isinstance(rows, str) or not rows:
            raise FormatError(
                f"{path}: expected 'poses:', a list with 'joints' and 'action', found {short(rows)}"
            )
        values: dict[str, list[float]] = {name: [] for name in motors}
        joints: dict[str, list[float]] = {name: [] for name in motors}
        for k, row in enumerate(rows, 1):
            where = f"{path}: pose {k}"
            parts: list[Any] = [
                row.get(key) if isinstance(row, Mapping) else None for key in ("action", "joints")
            ]
            if not all(isinstance(part, Mapping) for part in parts):
                raise FormatError(f"{where}: expected 'joints' and 'action', found {short(row)}")
            for name, motor in motors.items():
                for part, key, kept in zip(
                    parts, (name + SUFFIX, motor.joint), (values, joints), strict=True
                ):
                    if key not in part:
                        raise FormatError(f"{where}: {unknown('value', key, map(str, part))}")
                    unit = motor.unit if kept is values else "rad or m"
                    kept[name].append(as_number(part[key], f"{where}: {key}", unit))
        arrays = ({name: np.array(row) for name, row in kept.items()} for kept in (values, joints))
        return cls(motors, *arrays, robot=str(data.get("robot", "")))

    def line(self, name: str) -> tuple[float, float] | None:
        """Slope and intercept of joint over value by least squares; None where the poses do not move the joint."""
        if np.ptp(self.joints[name]) < SPREAD or np.ptp(self.values[name]) == 0.0:
            return None
        slope, intercept = np.polyfit(self.values[name], self.joints[name], 1)
        return (float(slope), float(intercept)) if slope != 0.0 else None


def record_poses(
    robot: Any,
    description: Any,
    path: str | Path,
    cfgs: Any = None,
    *,
    joints: Mapping[str, str] | None = None,
    ask: Callable[[str], Any] = input,
) -> None:
    """Asks for poses one by one, reads the motors of a LeRobot robot at each, and writes the file for `build`.

    Args:
        robot: connected, its motors free to be moved by hand. They tell their units (`robot.bus.motors`).
        description: what `load_robot` takes.
        path: YAML file to write.
        cfgs: (n, dof) poses to be taken; if omitted the middle of all joints, then one joint after the other a quarter
            of its range further.
        joints: motor -> joint, where their names differ.
        ask: is told what to do and returns when it is done.

    Raises:
        InputError: motors that are no joints, or whose unit is not told.
    """
    model = load_robot(description, use_visual=True)
    motors: dict[str, Motor] = {}
    for key in robot.action_features:
        name = str(key).removesuffix(SUFFIX)
        mode = getattr(getattr(robot.bus.motors.get(name), "norm_mode", None), "value", None)
        if mode not in UNITS:
            raise InputError(f"motor {name} does not state its unit ({short(mode)}); write the file by hand")
        motors[name] = Motor((joints or {}).get(name, name), mode)
    MotorMap(motors, source="the robot").match(model)
    if cfgs is None:
        quarters = np.diag(0.25 * (model.upper - model.lower))
        cfgs = 0.5 * (model.lower + model.upper) + np.vstack([np.zeros(model.dof), quarters])
    rows = list[dict[str, Any]]()
    for k, cfg in enumerate(model.as_cfgs(cfgs), 1):
        wanted = {name: float(value) for name, value in zip(model.joint_names, cfg, strict=True)}
        texts = ", ".join(f"{name} {number(math.degrees(value), 3)}" for name, value in wanted.items())
        ask(f"pose {k} of {len(cfgs)}: move the arm to (degrees) {texts}; then press Enter ")
        seen = robot.get_observation()
        action = {
            name + SUFFIX: as_number(seen.get(name + SUFFIX), name, m.unit) for name, m in motors.items()
        }
        rows.append({"joints": wanted, "action": action})
    named = {name: {"joint": m.joint, "unit": m.unit} for name, m in motors.items()}
    dump_plain(Path(path), {"robot": str(description), "motors": named, "poses": rows})


def fit_map(poses: Poses, robot: Robot) -> MotorMap:
    """The map that fits the poses best, per motor by least squares; in degrees, the scale is one degree a degree.

    Raises:
        InputError: a joint that is not moved enough, or motors that no line fits; says which pose or unit to look at.
    """
    found: dict[str, Motor] = {}
    for name, motor in poses.motors.items():
        line = poses.line(name)
        if line is None:
            least = number(math.degrees(SPREAD))
            raise InputError(
                f"motor {name}: the poses move {motor.joint} by less than {least} degrees; record more"
            )
        off, moved = (
            np.abs(poses.joints[name] - line[0] * poses.values[name] - line[1]),
            np.ptp(poses.joints[name]),
        )
        if off.max() > max(TOLERANCE, 0.1 * moved):
            raise InputError(
                f"motor {name}: the poses do not agree with each other, by {_amount('', float(off.max()))} at pose "
                f"{int(off.argmax()) + 1}; record them again"
            )
        sign, scale = int(math.copysign(1, line[0])), abs(line[0])
        if motor.unit == "degrees":
            if _scale_off(math.radians(1.0), line[0], poses.values[name]):
                raise InputError(
                    f"motor {name}: {motor.joint} turns {number(math.degrees(scale), 3)} degrees per degree of the "
                    "motor; is its unit degrees, and are the joints in radians?"
                )
            scale = math.radians(1.0)
        offset = float(np.mean(poses.joints[name] - sign * scale * poses.values[name]))
        found[name] = replace(motor, sign=sign, scale=scale, offset=offset)
    made = MotorMap(found, poses.robot, "the map of these poses")
    made.match(robot)
    return made


@dataclass(frozen=True)
class MotorCheck:
    """What was found about one motor of a map."""

    name: str
    motor: Motor
    worst: float | None
    """Largest error at the poses, rad or m; None without poses."""
    confirmed: bool
    """Whether poses that move the joint agree."""
    faults: tuple[str, ...]


@dataclass(frozen=True)
class MapCheck:
    """What was found about a map: a row per motor. Prints as a table."""

    rows: tuple[MotorCheck, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the map."""
        return not any(row.faults for row in self.rows)

    def __str__(self) -> str:
        heads = ("motor", "joint", "unit", "per unit", "at 0", "off at poses", "verdict")
        lines = [heads, *(_texts(row) for row in self.rows)]
        widths = [max(len(line[k]) for line in lines) for k in range(len(heads))]
        table = [
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        open_ = [row.name for row in self.rows if not row.confirmed and not row.faults]
        if open_:
            table.append(
                f"not confirmed by a recorded pose, so a reversed sign would not be seen: {', '.join(open_)}"
            )
        return "\n".join(table)


def check_map(motors: MotorMap, robot: Robot, poses: Poses | None = None) -> MapCheck:
    """Compares a map with the robot's limits and with recorded poses, which have the last word.

    Without poses: the middle of LeRobot's range of a motor must be near the middle of the joint's limits, and the ends
    of a range near them. That finds wrong offsets and scales, not a reversed sign.

    Raises:
        InputError: names of motors, joints or units do not match.
    """
    motors.match(robot)
    if poses is not None and set(poses.motors) != set(motors.motors):
        raise InputError(
            f"motors of the poses ({', '.join(poses.motors)}) are not those of the map ({', '.join(motors.motors)})"
        )
    return MapCheck(tuple(_check(name, motor, robot, poses) for name, motor in motors.motors.items()))


def _check(name: str, motor: Motor, robot: Robot, poses: Poses | None) -> MotorCheck:
    if poses is None:
        return MotorCheck(name, motor, None, False, tuple(_beside_limits(motor, robot)))
    recorded = poses.motors[name]
    if (recorded.joint, recorded.unit) != (motor.joint, motor.unit):
        raise InputError(
            f"motor {name}: the poses have {recorded.joint} in {recorded.unit}, the map {motor.joint} in {motor.unit}"
        )
    line = poses.line(name)
    off = poses.joints[name] - np.array([motor.joint_at(value) for value in poses.values[name]])
    worst = float(np.abs(off).max())
    if line is None:
        faults = (
            [_amount("offset is off by", float(off.mean()))]
            if worst > TOLERANCE
            else _beside_limits(motor, robot)
        )
        return MotorCheck(name, motor, worst, False, tuple(faults))
    faults: list[str] = []
    if worst > TOLERANCE or line[0] * motor.sign < 0.0:
        if line[0] * motor.sign < 0.0:
            faults.append("sign is reversed")
        elif _scale_off(motor.scale, line[0], poses.values[name]):
            faults.append(f"scale should be about {number(abs(line[0]))}, is {number(motor.scale)}")
        elif np.ptp(off) <= 2.0 * TOLERANCE:
            faults.append(_amount("offset is off by", float(off.mean())))
        else:
            faults.append(f"pose {int(np.abs(off).argmax()) + 1} is not on a line with the others")
    return MotorCheck(name, motor, worst, not faults, tuple(faults))


def _scale_off(scale: float, slope: float, values: Float[np.ndarray, "poses"]) -> bool:
    """Whether a scale differs from the slope of the poses by more than they can be off at their ends."""
    return abs(abs(slope) - scale) * float(np.ptp(values)) > 2.0 * TOLERANCE


def _beside_limits(motor: Motor, robot: Robot) -> list[str]:
    """What speaks against a motor when its range is laid beside the limits of its joint."""
    k = robot.joint_names.index(motor.joint)
    lower, upper = float(robot.lower[k]), float(robot.upper[k])
    if not math.isfinite(upper - lower):
        return []
    low, high = (motor.joint_at(value) for value in UNITS[motor.unit])
    middle = motor.offset if math.isinf(low) else 0.5 * (low + high)
    if abs(middle - 0.5 * (lower + upper)) > MIDDLE:
        return [
            _amount(
                "middle of its range is off that of the joint's limits by", middle - 0.5 * (lower + upper)
            )
        ]
    if math.isfinite(low) and abs(abs(high - low) - (upper - lower)) > 2.0 * MIDDLE:
        return [_amount(f"its range is {_amount('', abs(high - low))}, that of the joint", upper - lower)]
    return []


def _amount(text: str, radians: float) -> str:
    return f"{text} {number(math.degrees(radians), 3)} deg".strip()


def _texts(row: MotorCheck) -> tuple[str, ...]:
    motor = row.motor
    worst = "-" if row.worst is None else _amount("", row.worst)
    verdict = (
        f"WRONG: {'; '.join(row.faults)}" if row.faults else "confirmed" if row.confirmed else "plausible"
    )
    slope = _amount("", motor.sign * motor.scale)
    return (row.name, motor.joint, motor.unit, slope, _amount("", motor.offset), worst, verdict)
