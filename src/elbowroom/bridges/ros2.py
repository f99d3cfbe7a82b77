"""ROS 2: commands of a controller behind the guard, and an answer to `moveit_msgs/GetStateValidity`.

The package in `ros2/elbowroom_guard` is a thin node around `CommandFilter`, which knows no ROS: it takes names, numbers
and seconds, as they are in `JointState`, `Float64MultiArray` and `JointTrajectory`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from .._text import short
from ..collision import Clash, CollisionModel, as_model
from ..errors import InputError, unknown
from ..ik import Guard
from ..typing import RobotLike
from ..world import World

MAX_AGE = 0.5
"""Seconds that a joint state stays valid, and after which a stream of commands is assumed to have ended."""
MAX_LAG = 0.3
"""Radians (metres) between the robot and its last command, or the first point of a trajectory, beyond which they do not
belong together."""

__all__ = ["CommandFilter", "FilteredPoints", "Validity"]


@dataclass(frozen=True)
class FilteredPoints:
    """A trajectory as the guard lets it pass, for the joints that it names."""

    positions: tuple[tuple[float, ...], ...]
    """As many points as were given, at the same times. Velocities are left out: between points, a controller then moves
    in straight lines, which are what was proved."""
    altered: bool
    why: str
    """A sentence."""


@dataclass(frozen=True)
class Validity:
    """What `GetStateValidity` is answered with."""

    valid: bool
    """Free, and within the joint limits."""
    contacts: tuple[Clash, ...]
    obstacles: frozenset[str]
    """Those names in the contacts that are obstacles."""
    why: str
    """A sentence."""


class CommandFilter:
    """Makes commands of a ROS 2 controller safe. Times are seconds of one clock, such as the node's."""

    def __init__(
        self,
        model: CollisionModel | RobotLike,
        *,
        rate: float,
        world: World | str | Path | None = None,
        max_age: float = MAX_AGE,
        max_lag: float = MAX_LAG,
        **options: Any,
    ) -> None:
        """Takes what is to be kept.

        Args:
            model: the robot among its obstacles.
            rate: position commands per second; limits each step to the joints' speed.
            world: obstacles, or a file with them, instead of those of the model.
            max_age: seconds that a joint state counts.
            max_lag: radians (metres) that the robot may be behind its last command; farther off, the next one starts
                where the robot is.
            options: of `Guard`: `clearance`, `velocity_limits`, `budget` ...

        Raises:
            InputError: values that make no sense.
        """
        numbers = {"rate": rate, "max_age": max_age, "max_lag": max_lag}
        for name, value in numbers.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < math.inf:
                raise InputError(f"{name} must be a number above 0, found {short(value)}")
        model = as_model(model)
        if world is not None:
            model = model.with_world(world if isinstance(world, World) else World.read(world))
        self.guard, self.robot = Guard(model, **options), model.robot
        self._dt, self._age, self._lag = 1.0 / rate, float(max_age), float(max_lag)
        self._seen: dict[str, tuple[float, float]] = {}
        self._sent: tuple[Float[np.ndarray, "dof"], float] | None = None

    def state(self, names: Sequence[str], positions: Sequence[float], now: float) -> None:
        """Takes a `JointState` of the robot, or of a part of it; joints of other machines are skipped.

        Raises:
            InputError: names and positions differ in number, or a position is not finite.
        """
        for name, value in _paired(names, positions, "joint state").items():
            if name in self.robot.joint_names:
                self._seen[name] = value, now

    def measured(self, now: float) -> Float[np.ndarray, "dof"]:
        """Where the robot is.

        Raises:
            InputError: joints that no recent state told of.
        """
        late = [
            name
            for name in self.robot.joint_names
            if now - self._seen.get(name, (0.0, -math.inf))[1] > self._age
        ]
        if late:
            raise InputError(
                f"no joint state of {', '.join(late)} within {self._age:g} s; a joint_state_broadcaster has to publish "
                f"all of: {', '.join(self.robot.joint_names)}"
            )
        return np.array([self._seen[name][0] for name in self.robot.joint_names])

    def positions(
        self, names: Sequence[str], wanted: Sequence[float], now: float
    ) -> tuple[tuple[float, ...], str]:
        """Positions to send instead of the wanted ones, and a sentence; joints that are not named stay.

        Raises:
            InputError: unknown joints, sizes, NaN, or no recent joint state. Nothing must be sent then.
        """
        here = self.measured(now)
        start = here if self._sent is None or now - self._sent[1] > self._age else self._sent[0]
        if start is here or np.abs(here - start).max() > self._lag:
            self.guard.reset()
            start = here
        step = self.guard.step(start, self._cfg(names, wanted, start, "command"), self._dt)
        self._sent = step.cfg, now
        return self._of(names, step.cfg), step.why

    def trajectory(
        self, names: Sequence[str], points: Sequence[Sequence[float]], times: Sequence[float], now: float
    ) -> FilteredPoints:
        """A `JointTrajectory` from where the robot is; joints that are not named stay.

        Args:
            names: joints of the trajectory.
            points: positions, point by point.
            times: `time_from_start` of each, seconds; a first point at 0 has to be where the robot is.
            now: seconds.

        Raises:
            InputError: unknown joints, sizes, NaN, times that do not increase, a start elsewhere, or no recent state.
        """
        here = self.measured(now)
        if len(points) != len(times) or not len(points):
            raise InputError(
                f"trajectory: {len(points)} points and {len(times)} times; send one time for each point"
            )
        spans = np.asarray([0.0, *times], dtype=np.float64)
        if not np.isfinite(spans).all() or spans[1] < 0.0 or not (np.diff(spans[1:]) > 0.0).all():
            raise InputError(
                f"trajectory: time_from_start must be finite and increase from 0 on, found {short(times)}"
            )
        rows = [
            self._cfg(names, row, here, f"point {k} of the trajectory") for k, row in enumerate(points, 1)
        ]
        at_start = bool(spans[1] == 0.0)
        if at_start and np.abs(rows[0] - here).max() > self._lag:
            off = np.abs(rows[0] - here)
            raise InputError(
                f"trajectory: its first point has time 0, but {self.robot.joint_names[int(off.argmax())]} is "
                f"{off.max():.3f} rad (m) away from it; plan from the current state"
            )
        wanted, seconds = [here, *rows[at_start:]], spans[1:] if at_start else spans
        found = self.guard.filter(np.array(wanted), times=seconds)
        self._sent = None
        if not found.proved.all():
            raise InputError(
                f"trajectory: {self.guard.model.explain(here)}; no proved way leads out of there"
            )
        kept = found.cfgs if at_start else found.cfgs[1:]
        return FilteredPoints(
            tuple(self._of(names, cfg) for cfg in kept), bool(found.altered.any()), str(found)
        )

    def validity(self, names: Sequence[str], positions: Sequence[float], now: float) -> Validity:
        """Whether a state is free; joints that are not named are where the robot is.

        Raises:
            InputError: sizes, NaN, unknown joints, or joints neither named nor told by a recent joint state.
        """
        missing = set(self.robot.joint_names) - set(names)
        here = self.measured(now) if missing else np.zeros(self.robot.dof)
        verdict = self.guard.model.explain(self._cfg(names, positions, here, "state"))
        beyond = "; ".join(map(str, verdict.out_of_limits))
        why = f"{verdict}; {beyond}" if beyond else str(verdict)
        return Validity(verdict.free and not beyond, verdict.clashes, verdict.obstacles, why)

    def _cfg(
        self, names: Sequence[str], values: Sequence[float], others: Float[np.ndarray, "dof"], what: str
    ) -> Float[np.ndarray, "dof"]:
        """Configuration with some joints given and the others as they are."""
        cfg = others.copy()
        for name, value in _paired(names, values, what).items():
            if name not in self.robot.joint_names:
                raise InputError(f"{what}: {unknown('joint', name, self.robot.joint_names)}")
            cfg[self.robot.joint_names.index(name)] = value
        return cfg

    def _of(self, names: Sequence[str], cfg: Float[np.ndarray, "dof"]) -> tuple[float, ...]:
        return tuple(float(cfg[self.robot.joint_names.index(name)]) for name in names)


def _paired(names: Sequence[str], values: Sequence[float], what: str) -> Mapping[str, float]:
    if not len(names) or len(names) != len(values):
        raise InputError(
            f"{what}: {len(names)} joint names ({', '.join(names)}) and {len(values)} positions; send one for each"
        )
    if len(set(names)) != len(names):
        raise InputError(f"{what}: a joint is named twice: {', '.join(names)}")
    for name, value in zip(names, values, strict=True):
        if not math.isfinite(value):
            raise InputError(f"{what}: position of {name} is {value}; send finite numbers")
    return dict(zip(names, map(float, values), strict=True))
