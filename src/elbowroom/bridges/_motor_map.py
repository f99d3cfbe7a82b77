"""Motor values of LeRobot and the joints of a description: the map between them and its file.

A motor called `elbow_flex` is commanded by the key `elbow_flex.pos`, in degrees or as a percentage of its calibrated
range. The joint that it turns is at `sign * scale * value + offset`, in radians (metres for a prismatic joint).
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from .._files import write_bytes
from .._text import read_text, short
from .._yaml import load_yaml
from ..errors import FormatError, InputError, unknown
from ..robot import Robot

UNITS = {"degrees": (-math.inf, math.inf), "range_m100_100": (-100.0, 100.0), "range_0_100": (0.0, 100.0)}
"""Units of a motor, by the names that LeRobot gives them -> values that it accepts; it clips others."""
TICKS = 4095
"""Steps of one turn by which LeRobot converts to degrees: STS3215, XL330 and XL430 have 4,096 positions."""
SUFFIX = ".pos"


@dataclass(frozen=True)
class Motor:
    """One motor and the joint that it turns: `joint = sign * scale * value + offset`."""

    joint: str
    unit: str
    """`degrees`, `range_m100_100` (-100..100) or `range_0_100` (0..100)."""
    sign: int = 1
    scale: float = math.radians(1.0)
    """Radians (metres) of the joint per unit of the motor; in degrees it may be left out."""
    offset: float = 0.0
    """Radians (metres) of the joint where the motor's value is 0."""

    def joint_at(self, value: float) -> float:
        """Position of the joint, rad or m, where the motor has a value."""
        return self.sign * self.scale * value + self.offset

    def value_at(self, joint: float) -> float:
        """Value of the motor that puts the joint there."""
        return self.sign * (joint - self.offset) / self.scale


@dataclass(frozen=True)
class MotorMap:
    """The motors of a LeRobot robot by name, each with its joint."""

    motors: Mapping[str, Motor]
    robot: str = ""
    """Description that the joints are of, as `load_robot` takes it; empty if the file does not say."""
    source: str = "motor map"
    """Where it was read from, for messages."""

    @classmethod
    def read(cls, source: str | Path | MotorMap) -> MotorMap:
        """Reads a YAML file, or a shipped map: `so100`, `so101`.

        Raises:
            FormatError: no such file or name, or a motor without joint, unit or scale; says what to write.
        """
        if isinstance(source, MotorMap):
            return source
        shipped = resources.files("elbowroom.assets") / "motor_maps" / f"{source}.yaml"
        path = Path(str(shipped)) if shipped.is_file() else Path(source)
        if not path.is_file():
            raise FormatError(f"no motor map {str(source)!r}: give a YAML file, or so100 or so101")
        data = load_yaml(path)[0]
        return cls(read_motors(path, data), str(data.get("robot", "")), str(source))

    def write(self, path: str | Path) -> None:
        """Writes the YAML file that `read` reads."""
        motors = {name: asdict(motor) for name, motor in self.motors.items()}
        dump_plain(Path(path), {"robot": self.robot, "motors": motors})

    def match(self, robot: Robot) -> None:
        """Checks that motors and joints are the same, one to one.

        Raises:
            InputError: joints without a motor or the other way round; lists both sides.
        """
        named = [motor.joint for motor in self.motors.values()]
        strange, left = sorted(set(named) - set(robot.joint_names)), set(robot.joint_names) - set(named)
        twice = sorted({joint for joint in named if named.count(joint) > 1})
        faults = [f"joints that {robot.name} does not have: {', '.join(strange)}"] if strange else []
        faults += [
            f"joints without a motor (map them, or load_robot(hold=)): {', '.join(sorted(left))}"
        ] * bool(left)
        faults += [f"joints with two motors: {', '.join(twice)}"] if twice else []
        if faults:
            raise InputError(
                f"{self.source} does not fit {robot.name}: {'; '.join(faults)}. Motors: {', '.join(self.motors)}; "
                f"joints: {', '.join(robot.joint_names)}"
            )

    def cfg_of(self, values: Mapping[str, Any], robot: Robot, what: str) -> Float[np.ndarray, "dof"]:
        """Configuration of the robot for `<motor>.pos` values; `what` they are is for messages.

        Raises:
            InputError: a motor is missing, unknown, or has no finite number; says what to change.
        """
        if not isinstance(values, Mapping):
            raise InputError(f"{what}: expected a map from '<motor>.pos' to numbers, found {short(values)}")
        keys = [key for key in values if isinstance(key, str) and key.endswith(SUFFIX)]
        for key in keys:
            if key.removesuffix(SUFFIX) not in self.motors:
                known = unknown("motor", key.removesuffix(SUFFIX), self.motors)
                raise InputError(f"{what}: {known}; rename the key or add the motor to {self.source}")
        missing = [name + SUFFIX for name in self.motors if name + SUFFIX not in values]
        if missing:
            raise InputError(
                f"{what} lacks {', '.join(missing)}; it has {', '.join(map(str, values)) or 'no keys'}. "
                f"Give all motors of {self.source}"
            )
        cfg = np.empty(robot.dof)
        for name, motor in self.motors.items():
            value = as_number(values[name + SUFFIX], f"{what}: {name + SUFFIX}", motor.unit)
            cfg[robot.joint_names.index(motor.joint)] = motor.joint_at(value)
        return cfg

    def action_of(self, cfg: Float[np.ndarray, "dof"], robot: Robot) -> dict[str, float]:
        """`<motor>.pos` values of a configuration."""
        return {
            name + SUFFIX: motor.value_at(float(cfg[robot.joint_names.index(motor.joint)]))
            for name, motor in self.motors.items()
        }

    def calibrated(self, calibration: str | Path | Mapping[str, Any], units: Mapping[str, str]) -> MotorMap:
        """The same motors in other units, by the ranges of a LeRobot calibration; motors of the map are in degrees.

        LeRobot's 0 degrees are the middle of the calibrated range, 0 and 100 (or -100 and 100) its ends.

        Args:
            calibration: LeRobot's file of the robot, or its content.
            units: motor -> its new unit; a motor that is not named keeps its unit and gets the scale of its range.

        Raises:
            InputError: a motor without a range, or in drive mode 1. FormatError: not such a file.
        """
        ranges = _ranges(calibration, self.motors)
        return replace(
            self,
            motors={
                name: _in_range(m, ranges[name], units.get(name, m.unit)) for name, m in self.motors.items()
            },
        )


def dump_plain(path: Path, data: dict[str, Any]) -> None:
    """Writes a YAML file, keys in their order."""
    from ruamel.yaml import YAML

    text, yaml = io.StringIO(), YAML()
    yaml.default_flow_style = None  # the innermost maps on one line
    yaml.width = 200
    yaml.dump(data, text)
    write_bytes(path, text.getvalue().encode())


def as_number(value: Any, what: str, unit: str) -> float:
    """One finite number, also of an array or tensor with one entry.

    Raises:
        InputError: something else.
    """
    try:
        found = math.nan if isinstance(value, (bool, str)) else float(value)
    except (TypeError, ValueError, RuntimeError):  # what numpy and torch say of several entries
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{what}: expected one finite number ({unit}), found {short(value)}")
    return found


def read_motors(path: Path, data: Mapping[str, Any], *, fitted: bool = True) -> dict[str, Motor]:
    """Motors of a file; without `fitted` only joint and unit are asked for.

    Raises:
        FormatError: says what is missing or wrong.
    """
    motors = data.get("motors")
    if not isinstance(motors, Mapping) or not motors:
        raise FormatError(
            f"{path}: expected 'motors:', a map from motors to their joints, found {short(motors)}"
        )
    return {str(name): _read_motor(f"{path}: motor {name}", entry, fitted) for name, entry in motors.items()}


def _read_motor(where: str, entry: Any, fitted: bool) -> Motor:
    if not isinstance(entry, Mapping):
        raise FormatError(f"{where}: expected joint, unit, sign, scale and offset, found {short(entry)}")
    allowed = [field.name for field in fields(Motor)]
    for key in entry:
        if key not in allowed:
            raise FormatError(f"{where}: {unknown('field', str(key), allowed)}")
    joint, unit = entry.get("joint"), entry.get("unit")
    if not isinstance(joint, str) or not joint:
        raise FormatError(
            f"{where}: write the joint that it turns, such as joint: elbow_flex; found {short(joint)}"
        )
    if unit not in UNITS:
        hint = "degrees where the robot's use_degrees is true, else range_m100_100; grippers are range_0_100"
        raise FormatError(f"{where}: write its unit ({hint}); found {short(unit)}")
    if fitted and unit != "degrees" and "scale" not in entry:
        raise FormatError(
            f"{where}: write its scale, radians of the joint per unit; `build` finds it from poses"
        )
    numbers = {"sign": 1, "scale": math.radians(1.0), "offset": 0.0} | dict(entry)
    for key in ("sign", "scale", "offset"):
        value = numbers[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise FormatError(f"{where}: {key} must be a finite number, found {short(value)}")
    if numbers["sign"] not in (1, -1) or numbers["scale"] <= 0.0:
        raise FormatError(
            f"{where}: sign must be 1 or -1 and scale above 0; found {numbers['sign']!r}, {numbers['scale']!r}"
        )
    return Motor(joint, str(unit), int(numbers["sign"]), float(numbers["scale"]), float(numbers["offset"]))


def _ranges(calibration: str | Path | Mapping[str, Any], motors: Mapping[str, Motor]) -> dict[str, float]:
    """Motor -> half of its calibrated range, degrees."""
    if isinstance(calibration, (str, Path)):
        try:
            calibration = json.loads(read_text(Path(calibration)))
        except json.JSONDecodeError as error:
            raise FormatError(f"{calibration}: this is not a calibration file of LeRobot: {error}") from error
    found: dict[str, float] = {}
    for name in motors:
        entry = calibration.get(name) if isinstance(calibration, Mapping) else None
        entry = entry if isinstance(entry, Mapping) else getattr(entry, "__dict__", {})
        low, high = (entry.get(key) for key in ("range_min", "range_max"))
        if not isinstance(low, int) or not isinstance(high, int) or high <= low:
            raise InputError(
                f"calibration: motor {name} has no range_min below its range_max; calibrate the robot"
            )
        if entry.get("drive_mode"):
            raise InputError(
                f"calibration: motor {name} is in drive mode 1; use `build` with recorded poses instead"
            )
        found[name] = 0.5 * (high - low) * 360.0 / TICKS
    return found


def _in_range(motor: Motor, half: float, unit: str) -> Motor:
    """A motor in another unit; in degrees, its 0 is the middle of its range."""
    if unit not in UNITS:
        raise InputError(f"units: {unknown('unit', str(unit), UNITS)}")
    middle = motor.joint_at(50.0 if motor.unit == "range_0_100" else 0.0)
    if unit == "degrees":
        return replace(motor, unit=unit, scale=math.radians(1.0), offset=middle)
    if unit == "range_m100_100":
        return replace(motor, unit=unit, scale=math.radians(half) / 100.0, offset=middle)
    scale = math.radians(half) / 50.0
    if motor.unit == unit:  # a gripper: closed stays where it was
        return replace(motor, scale=scale)
    return replace(motor, unit=unit, scale=scale, offset=middle - 50.0 * motor.sign * scale)
