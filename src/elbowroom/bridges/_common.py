"""What the bridges share: joints and units mapped by name, and a guard for a stream of commands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .. import _core
from .._text import short
from ..collision import CollisionModel
from ..errors import InputError, MissingExtraError
from ..ik import Guard, GuardStep
from ..ik.internal import CollisionRows
from ..robot import Robot

RESYNC = 0.3
"""rad or m that a joint may lag behind its command; farther off, the next command starts from where the robot is."""
KEPT, KEPT_FOR, KEPT_WITHIN = 8, 0.05, 0.03
"""Ticks whose rows count, while no joint is farther than so many rad or m, and metres within which rows are kept."""
CALM = 0.2
"""rad/s or m/s, at most half the limit of a joint, with which things within the buffer are asked to part."""
MOVED = 1e-7
"""rad or m from one tick to the next by which a joint shows that it is not held by another limit."""
ANGLES = ("revolute", "continuous")


def needs(package: str, install: str, error: ImportError) -> MissingExtraError:
    """The error of a bridge whose package is missing."""
    return MissingExtraError(f"this bridge needs {package}: {install} ({error})")


@dataclass(frozen=True, eq=False)
class JointMap:
    """Values of another library, entry by entry, and the joints of a robot: `ours = scale * theirs + offset`."""

    robot: Robot
    what: str
    """Whose values they are, for messages."""
    at: Int[np.ndarray, "n"]
    """Joint of the robot of each entry; -1 for an entry that is no joint of the robot and passes as it is."""
    scale: Float[np.ndarray, "n"]
    """rad or m for each unit of theirs."""
    offset: Float[np.ndarray, "n"]
    """rad or m."""

    @classmethod
    def of(
        cls,
        robot: Robot,
        theirs: Sequence[str | None],
        what: str,
        *,
        names: Mapping[str, str] | None = None,
        units: Any = "rad",
    ) -> JointMap:
        """Maps entries to joints by name.

        Args:
            robot: the robot; every joint must have an entry.
            theirs: name of each entry; None for one that is no joint of the robot.
            what: whose names they are, such as "the actuators".
            names: {their name: the robot's}, where they differ.
            units: "rad" (rad and m), "deg" (degrees, and m of sliding joints), or rad or m per unit: one number, or
                one for each entry.

        Raises:
            InputError: entries or joints that cannot be mapped, with both sides, or units that make no sense.
        """
        renamed = {None: None, **(names or {})}
        wanted = [renamed.get(name, name) for name in theirs]
        known, given = robot.joint_names, [name for name in wanted if name is not None]
        strange = [str(a) for a, b in zip(theirs, wanted, strict=True) if b is not None and b not in known]
        missing = [name for name in known if name not in given]
        twice = sorted({name for name in given if given.count(name) > 1})
        stray = [name for name in (names or {}) if name not in theirs]
        if strange or missing or twice or stray:
            faults = [
                f"not a joint of {robot.name}: {', '.join(strange)}" if strange else "",
                f"joints of {robot.name} that {what} lack: {', '.join(missing)}" if missing else "",
                f"mapped more than once: {', '.join(twice)}" if twice else "",
                f"names of nothing in {what}: {', '.join(map(str, stray))}" if stray else "",
            ]
            raise InputError(
                f"joints cannot be mapped; {'; '.join(filter(None, faults))}. {what}: "
                f"{', '.join(map(str, theirs)) or 'none'}. {robot.name}: {', '.join(known)}. Say which is which by "
                "name, and hold joints that are not driven: load_robot(..., hold={joint: value})"
            )
        at = np.array([-1 if name is None else known.index(name) for name in wanted], dtype=np.int64)
        return cls(robot, what, at, _scale(robot, at, units), np.zeros(len(at)))

    def normalized(self, low: np.ndarray, high: np.ndarray) -> JointMap:
        """The map from a span of numbers of theirs to the joint limits.

        Raises:
            InputError: spans or limits that are infinite or empty.
        """
        joints = self.at >= 0
        lower, upper = self.robot.lower[self.at], self.robot.upper[self.at]
        span = np.where(joints, upper - lower, high - low)
        if not (np.isfinite(span).all() and np.isfinite(high - low).all() and (high > low).all()):
            raise InputError(
                f"units='normalized' needs finite bounds of {self.what} and finite joint limits; give units='rad' or "
                "rad (m) per unit instead"
            )
        scale = np.where(joints, span / (high - low), 1.0)
        offset = np.where(joints, lower - scale * low, 0.0)
        return JointMap(self.robot, self.what, self.at, scale, offset)

    def values(self, given: Any) -> Float[np.ndarray, "n"]:
        """Values of theirs, checked.

        Raises:
            InputError: another size, not numbers, NaN or infinite.
        """
        try:
            found = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.what}: expected {len(self.at)} numbers, found {short(given)}") from error
        if found.shape != self.at.shape:
            raise InputError(
                f"{self.what}: expected {len(self.at)} numbers, one for each of {self.names()}; found shape "
                f"{found.shape}"
            )
        bad = np.flatnonzero(~np.isfinite(found))
        if len(bad):
            raise InputError(
                f"{self.what}: entry {bad[0]} of {self.names()} is {found[bad[0]]}; send finite numbers, or the last "
                "good command again"
            )
        return found

    def names(self) -> str:
        """The joints, in the order of the entries."""
        return ", ".join("(not a joint)" if k < 0 else self.robot.joint_names[k] for k in self.at.tolist())

    def ours(self, values: Float[np.ndarray, "n"]) -> Float[np.ndarray, "dof"]:
        """Configuration that checked values stand for."""
        joints, out = self.at >= 0, np.empty(self.robot.dof)
        out[self.at[joints]] = (self.scale * values + self.offset)[joints]
        return out

    def theirs(self, cfg: Float[np.ndarray, "dof"], values: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
        """Values that stand for a configuration; entries that are no joints are those given."""
        return np.where(self.at >= 0, (cfg[self.at] - self.offset) / self.scale, values)


def _scale(robot: Robot, at: np.ndarray, units: Any) -> np.ndarray:
    if isinstance(units, str) and units in ("rad", "deg"):
        angle = [k >= 0 and robot.joint(robot.joint_names[k]).type in ANGLES for k in at.tolist()]
        return np.where(np.array(angle, dtype=bool) & (units == "deg"), math.pi / 180.0, 1.0)
    try:
        if units is None or isinstance(units, (str, bool)):
            raise TypeError
        found = np.broadcast_to(np.asarray(units, dtype=np.float64), at.shape).copy()
        if not (np.isfinite(found) & (found != 0.0)).all():
            raise ValueError
    except (TypeError, ValueError) as error:
        raise InputError(
            "units: say what one unit is: 'rad' (rad and m), 'deg' (degrees and m), or rad (m) per unit, one number or "
            f"{len(at)}; found {short(units)}"
        ) from error
    return found


class CommandGuard:
    """A guard for a stream of position commands: each is proved from the last one that was sent.

    A servo lags behind its commands, and a command that starts where the robot is would let it sag: so commands follow
    commands, and `clearance` is what the lag may use. A robot farther than `resync` from its command was stopped or
    moved by something else: commands then start again from where it is, at rest.
    """

    def __init__(self, model: CollisionModel, resync: float = RESYNC, **options: Any) -> None:
        if isinstance(resync, bool) or not 0.0 <= float(resync) < math.inf:
            raise InputError(f"resync must be rad or m from 0 up, found {short(resync)}")
        self.guard, self._resync = Guard(model, **options), float(resync)
        self._sent: np.ndarray | None = None

    def reset(self) -> None:
        """Forgets the last command: the robot is at rest, wherever it is."""
        self.guard.reset()
        self._sent = None

    def base(self, measured: Float[np.ndarray, "dof"]) -> Float[np.ndarray, "dof"]:
        """Where the next command starts from."""
        if self._sent is None or np.abs(measured - self._sent).max() > self._resync:
            self.reset()
            return measured
        return self._sent

    def step(
        self, measured: Float[np.ndarray, "dof"], wanted: Float[np.ndarray, "dof"], dt: float
    ) -> GuardStep:
        """The command nearest to the wanted one that is proved."""
        step = self.guard.step(self.base(measured), wanted, dt)
        self._sent = step.cfg
        return step


class LimitRows:
    """Linearised distances as limits of a differential inverse kinematics: `-A @ change <= room`.

    Distances are those of the exact meshes, where spheres do not show that things are far apart, of the pairs that the
    model checks and of its obstacles. What is closer than the buffer is asked to part, if the joints that moved in the
    last tick can do so calmly and for all of them at once; if not, it comes no closer.
    """

    def __init__(self, model: CollisionModel, buffer: float, reach: float, approach_time: float) -> None:
        for name, value in (("buffer", buffer), ("reach", reach), ("approach_time", approach_time)):
            if (
                isinstance(value, bool)
                or not 0.0 <= float(value) < math.inf
                or (value == 0.0 and name != "buffer")
            ):
                raise InputError(
                    f"{name} must be {'0 or more' if name == 'buffer' else 'above 0'}, found {short(value)}"
                )
        self._rows, self._reach, self._time = (
            CollisionRows(model, float(buffer)),
            float(reach),
            float(approach_time),
        )
        self._model = model
        self._recent: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._before: np.ndarray | None = None

    def refuse_free_base(self) -> None:
        """Obstacles do not move with the base: their rows would be wrong.

        Raises:
            InputError: there are obstacles.
        """
        if self._model.world is not None and len(self._model.world):
            raise InputError(
                "the base is free and the model has obstacles, whose place relative to the base is then not known: "
                "leave the world out (links still keep apart from each other), or hold the base"
            )

    def at(
        self, cfg: Float[np.ndarray, "dof"], dt: float
    ) -> tuple[Float[np.ndarray, "m dof"], Float[np.ndarray, "m"]]:
        """Rows at a configuration, and what each distance may lose in `dt` seconds, metres.

        Raises:
            InputError: a configuration that is not finite, or `dt` not above zero.
        """
        seconds = checked_dt(dt, "the time that the velocity is integrated over")
        found = self._rows.at(self._model.robot.as_cfg(cfg), self._reach)
        now, before = np.array(cfg, dtype=np.float64), self._before
        A, distance = self._with_recent(now, found.A, found.distance)
        self._before = now
        room = seconds / max(self._time, seconds) * distance
        if before is None or (room >= 0.0).all():
            return A, np.maximum(room, 0.0)
        return A, self._parting(now, np.abs(now - before) > MOVED, A, room, seconds)

    def _parting(
        self, cfg: np.ndarray, moves: np.ndarray, A: np.ndarray, room: np.ndarray, seconds: float
    ) -> Float[np.ndarray, "m"]:
        """Room that asks things to part, as far as a calm motion does: with it, the programme stays solvable."""
        robot = self._model.robot
        limits = np.where(robot.velocity_limits > 0.0, robot.velocity_limits, np.inf)
        calm = np.where(moves, seconds * np.minimum(CALM, 0.5 * limits), 0.0)
        bounds = np.array([np.clip(robot.lower - cfg, -calm, 0.0), np.clip(robot.upper - cfg, 0.0, calm)])
        n = len(cfg)
        within_reach = np.maximum(room, -np.maximum(A * bounds[0], A * bounds[1]).sum(axis=1))
        for share in (0.9, 0.3, 0.1):
            asked = np.where(room < 0.0, share * within_reach, room)
            status, *_ = _core.solve_qp(np.eye(n), np.zeros(n), bounds, np.ascontiguousarray(A), -asked)
            if status == 0:
                return asked
        return np.maximum(room, 0.0)

    def _with_recent(
        self, cfg: np.ndarray, A: np.ndarray, distance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows of this tick and of the last ones: links that are nearly parallel meet in other points in turn."""
        near = distance < KEPT_WITHIN
        recent = [row for row in self._recent if np.abs(cfg - row[0]).max() < KEPT_FOR]
        self._recent = [*recent, (cfg.copy(), A[near], distance[near])][-KEPT:]
        more = [(rows, apart + rows @ (cfg - at)) for at, rows, apart in recent]
        return np.concatenate([A, *(rows for rows, _ in more)]), np.concatenate(
            [distance, *(d for _, d in more)]
        )


def checked_dt(dt: Any, how: str) -> float:
    """Seconds.

    Raises:
        InputError: not above zero; `how` says what to give.
    """
    if isinstance(dt, bool) or not isinstance(dt, (int, float, np.number)) or not 0.0 < float(dt) < math.inf:
        raise InputError(f"dt must be seconds above zero, found {short(dt)}: {how}")
    return float(dt)
