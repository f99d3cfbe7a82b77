"""Tracker: follows moving targets tick by tick, within all limits, never into contact, and stops safely.

Each tick is one call of the compiled core (`core/include/elbowroom/aim.hpp` and `track.hpp`): hand velocities that
remove the errors as fast as the joints can brake, under joint, velocity, acceleration and collision constraints, and a
step is taken only if it is proved free together with the way it takes to stop from it. Which targets count is decided
before (`TargetHistory`, `_clutch`).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from ... import _core
from ..._brief import brief
from ..._frozen import frozen
from ..._text import short
from ...collision import CollisionModel, as_model
from ...errors import InputError
from ...robot import Robot
from ...robot.internal import speed_limits
from ...typing import RobotLike
from .._problem import IkProblem, numbers_of, shape_of
from .._targets import JointTarget, PoseTarget, Target, as_targets, normalised
from ._clutch import Clutches, as_met, key_of
from ._options import TrackOptions
from ._step import PROVED, SafeOptions, SafeStep, drift_of

AT_REST = 1e-3
"""rad/s or m/s: slower is standing still."""
MISREAD = 2e-3
"""rad or m that a robot at a limit may be measured beyond it; commands begin at the limit then."""
SAFETY = SafeOptions(clearance=0.0015, skin=0.001, keep=0.0, share=0.0, spare=0.0, parts=True)
"""What is proved to stay apart, and the millimetre above it at which approaches end and below which things part."""

AIMS = (
    "gain",
    "feedforward",
    "smoothing",
    "max_linear_speed",
    "max_angular_speed",
    "posture_gain",
    "damping",
)
"""Options of which the objective is made."""

State = Literal["tracking", "holding", "stopping", "stopped"]


@brief
@dataclass(frozen=True, eq=False)
class TrackStep:
    """One tick: where the robot is to be at its end. Errors and clearance are computed when they are first read."""

    cfg: Float[np.ndarray, "dof"]
    """The command."""
    velocity: Float[np.ndarray, "dof"]
    """Mean joint velocities of the tick."""
    state: State
    """tracking; holding (the clutch is open, or targets are late and the last ones are kept); stopping and stopped
    (targets are lost)."""
    limited_by: tuple[str, ...]
    """What kept the robot from moving as the targets ask, in words; empty when nothing did."""
    proved: bool
    """The step, and the motion to rest after it, are proved free."""
    why: str
    """Why targets are not followed, or from where else than the last command, a sentence; mostly empty."""
    seconds: float
    targets: tuple[Target, ...]
    """What was asked for, after clutches: empty when the robot just comes to rest."""
    model: CollisionModel = field(repr=False)
    problem: IkProblem | None = field(default=None, repr=False)
    values: Float[np.ndarray, "values"] | None = field(default=None, repr=False)
    given: tuple[Target, ...] = field(default=(), repr=False)
    """The targets of this tick."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was changed in the targets of this tick: quaternions that were normalised."""
        return normalised(self.given)

    @cached_property
    def _errors(self) -> tuple[np.ndarray, np.ndarray]:
        if self.problem is None or self.values is None:
            return np.zeros(0), np.zeros(0)
        position, orientation = self.problem.errors(self.values, self.cfg[None])
        return frozen(position[0]), frozen(orientation[0])

    @property
    def position_error(self) -> Float[np.ndarray, "targets"]:
        """Metres from each of `targets` at `cfg`; zero for targets that ask for no position."""
        return self._errors[0]

    @property
    def orientation_error(self) -> Float[np.ndarray, "targets"]:
        """Radians from each of `targets` at `cfg`; zero for targets that ask for no orientation."""
        return self._errors[1]

    @cached_property
    def clearance_bound(self) -> float:
        """Proved lower bound of the clearance at `cfg`, metres."""
        return float(self.model.clearance(self.cfg))  # type: ignore[arg-type]


class Tracker:
    """Follows targets tick by tick; see the module. Keeps the last command, its velocity and the state of clutches.

    Joints that move none of the targets' links stay where they are.
    """

    def __init__(
        self,
        model: CollisionModel | RobotLike,
        links: Sequence[str] | None = None,
        options: TrackOptions = TrackOptions(),  # noqa: B008 (frozen)
        *,
        joints: Sequence[str] | None = None,
    ) -> None:
        """Prepares the tick.

        Args:
            model: robot and obstacles.
            links: those that targets will name: a link of them that a tick does not name stays where it is. None takes
                those that are named.
            options: see there.
            joints: names of those that may move; None for all that move a link of a target.

        Raises:
            UnknownLinkError, UnknownNameError: no such link or joint. InputError: limits that make no sense.
        """
        model = as_model(model)
        self.model = model
        self.options = options
        self._links = tuple(links or ())
        for link in self._links:
            model.robot.link_index(link)
        self._joints = None if joints is None else tuple(joints)
        self._limits = speed_limits(
            model.robot, options.velocity_limits, options.acceleration_limits, "TrackOptions"
        )
        self._rest = None if options.rest_cfg is None else model.robot.as_cfg(options.rest_cfg)
        self._still = frozen(np.zeros(model.robot.dof))
        self._followers: dict[Any, tuple[_core.Follower, SafeStep, IkProblem]] = {}
        self._steps: dict[bytes, SafeStep] = {}
        self.reset()

    def reset(self) -> None:
        """Forgets targets, clutches, velocity and command: the next tick is the first."""
        self._clutches, self._watch = Clutches(relative=self.options.relative), TargetHistory(self.options)
        self._cfg: np.ndarray | None = None
        self._restarted = ""
        self._velocity = self._still
        self._loop = _core.StepLoop()
        self._given: tuple[Target, ...] = ()
        self._now: _core.Follower | None = None

    @property
    def robot(self) -> Robot:
        """The model's robot."""
        return self.model.robot

    def with_model(self, model: CollisionModel) -> Tracker:
        """The same tracker in the middle of its motion, among other obstacles (`model.with_world(...)`).

        Raises:
            InputError: a model of another robot.
        """
        if not isinstance(model, CollisionModel):
            raise InputError(f"with_model: expected a CollisionModel, found a {type(model).__name__}")
        if model.robot.joint_names != self.robot.joint_names:
            raise InputError("with_model: the model is of a robot with other joints")
        other = copy.copy(self)
        other.model = model
        other._clutches, other._watch = copy.deepcopy(self._clutches), copy.copy(self._watch)
        other._followers, other._steps, other._now = {}, {}, None
        other._loop = self._loop.copy()
        other._loop.forget_stop()
        return other

    def tick(
        self,
        targets: Any,
        cfg: Any = None,
        dt: float = 0.005,
        *,
        clutch: bool | Mapping[str, bool] = True,
        stamp: float | None = None,
        now: float | None = None,
        world_velocity: Mapping[str, Any] | None = None,
    ) -> TrackStep:
        """One tick.

        Args:
            targets: {link: pose} or targets (`as_targets`), in world coordinates; None when there are none.
            cfg: (dof,) where the robot is, measured or the last command; None for the last command. The motion goes on
                from the last command, so that noise and lag of what is measured do not shake the robot and all limits
                hold for the commands; a configuration farther off than `options.resync` is a new start, at rest.
            dt: seconds until the next tick.
            clutch: whether targets have hold of the robot; {link: bool} for each on its own.
            stamp: when the targets were made, seconds of any clock; a stamp that stays the same is one that ages.
            now: the same clock now, where it can be read.
            world_velocity: {obstacle: (3,) m/s} of those that move; see `Guard.step`.

        Raises:
            InputError: no configuration at the first tick; dt that is not above zero; a configuration or a target
                that makes no sense (targets: unless `on_bad_target` is "hold").
            UnknownLinkError, UnknownNameError: a target of a link or joint that the robot does not have.
        """
        start = time.perf_counter()
        if not (isinstance(dt, (int, float, np.number)) and 0.0 < dt < np.inf):
            raise InputError(f"tick: dt must be seconds above zero, found {short(dt)}")
        self._restarted = bad = ""
        cfg = self._place(cfg)
        try:
            given = () if targets is None else as_targets(targets)
        except InputError as error:
            if self.options.on_bad_target == "raise":
                raise
            given, bad = (), f"{error}; "
        clutch_open = not clutch if isinstance(clutch, bool) else not any(clutch.values())
        phase, why = self._watch.see(bool(given), clutch_open, stamp, now, dt)
        if phase == "follow" and not self._watch.outdated:
            self._given = given
        if phase == "brake":
            self._clutches.open(self._met)
        else:
            absent = self._absent(self._given)
            named = dict.fromkeys(absent, False)
            by_name = {**({} if isinstance(clutch, bool) else clutch), **named}
            self._clutches.update(
                [*self._given, *absent.values()],
                by_name if named or not isinstance(clutch, bool) else clutch,
                self._met,
                dt,
                moving=self._moving,
            )
        following = phase != "brake" and self._clutches.closed
        asked = self._clutches.asked if following else ()
        problem, values, limited_by, proved = None, None, (), True
        self._loop.set_drift(drift_of(self.model, world_velocity))
        if asked:
            follower, safe, problem = self._prepared(asked)
            assert self._rest is not None
            values = frozen(np.array(numbers_of(asked)))
            ramp = max(self.options.engage_time, 1e-9)
            shares = np.array([min(1.0, seconds / ramp) for seconds in self._clutches.closed_for()])
            answer = follower.tick(self._loop, values, shares, self._rest, dt, self._budget(dt))
        elif self._velocity.any() or world_velocity:
            safe = self._prepared(self._clutches.asked or list(self._absent(()).values()))[1]
            answer = safe.core.step(self._loop, np.eye(len(cfg)), self._still, dt, self._budget(dt))
        else:  # at rest, and nothing is asked: a robot that stands still stays where it is
            safe = answer = None
        if safe is not None and answer is not None:
            after, velocity, held, _, marks = answer
            self._cfg, self._velocity = frozen(after), frozen(velocity)
            limited_by, proved = safe.words(held), bool(marks & PROVED)
        state: State = "tracking" if phase == "follow" and following else "holding"
        if self._watch.given_up:
            state = "stopping" if self._moving else "stopped"
        return TrackStep(
            cfg if self._cfg is None else self._cfg, self._velocity, state, limited_by, proved,
            self._restarted + bad + why, time.perf_counter() - start, asked, self.model, problem, values, given,
        )  # fmt: skip

    # What the robot does ------------------------------------------------------------------------

    @property
    def _moving(self) -> bool:
        return max(map(abs, self._velocity.tolist()), default=0.0) > AT_REST

    def _place(self, cfg: Any) -> np.ndarray:
        """Where the tick begins."""
        if cfg is None:
            if self._cfg is None:
                raise InputError("tick: the first tick needs the configuration of the robot")
            return self._cfg
        last = self._cfg
        if last is not None and cfg is last:
            return last
        found = self.robot.as_cfg(cfg)
        if last is not None:
            off = np.abs(found - last)
            if off.max(initial=0.0) <= self.options.resync:
                return last
            joint = int(off.argmax())
            name = self.robot.joint_names[joint]
            self._restarted = f"joint {name} is {off[joint]:.3g} off its command: restarted from there; "
            self._clutches.clear()
        self._velocity = self._still
        within = np.minimum(np.maximum(found, self.robot.lower), self.robot.upper)
        self._cfg = frozen(np.where(np.abs(within - found) <= MISREAD, within, found))
        self._loop.place(self._cfg, self._still)
        if self._rest is None:
            self._rest = self._cfg
        return self._cfg

    def _met(self, target: Target) -> Target:
        assert self._cfg is not None
        if isinstance(target, JointTarget):
            return as_met(target, None, float(self._cfg[self.robot.joint_names.index(target.joint)]))
        poses = self.robot.link_poses(self._cfg[None])[0]
        return as_met(target, poses[self.robot.link_index(target.link)], 0.0)

    def _absent(self, given: Sequence[Target]) -> dict[str, Target]:
        """Targets that keep links without a target where they are."""
        named = {key_of(target)[1] for target in given}
        missing = [link for link in self._links if link not in named]
        return {link: PoseTarget(link, np.array([1.0, 0, 0, 0, 0, 0, 0])) for link in missing}

    def _budget(self, dt: float) -> float:
        return 0.5 * dt if self.options.budget is None else self.options.budget

    def _prepared(self, targets: Sequence[Target]) -> tuple[_core.Follower, SafeStep, IkProblem]:
        """What a tick for targets of these kinds and links needs; made once."""
        key = tuple(map(key_of, targets))
        if key not in self._followers:
            self._followers[key] = self._made(targets)
        found = self._followers[key]
        if found[0] is not self._now:
            found[0].forget()
            self._now = found[0]
        return found

    def _made(self, targets: Sequence[Target]) -> tuple[_core.Follower, SafeStep, IkProblem]:
        robot = self.robot
        problem = IkProblem.of(
            robot, shape_of(targets), robot.joint_names if self._joints is None else self._joints
        )
        moves = np.isin(robot.joint_names, problem.joints)
        key = moves.tobytes()
        if key not in self._steps:
            speeds = frozen(np.where(moves, self._limits[0], 0.0))  # the others are held
            self._steps[key] = SafeStep(self.model, speeds, self._limits[1], SAFETY)
        options = {name: float(getattr(self.options, name)) for name in AIMS}
        return _core.Follower(self._steps[key].core, problem.core, options), self._steps[key], problem


# Watch: whether targets still come, and what a robot does when they do not: hold the last ones, then stop ---

Phase = Literal["follow", "keep", "brake"]
"""Follow new targets; keep the last ones; come to rest."""

ROUNDING = 1e-9
"""Seconds that a sum of ticks may be off."""


class TargetHistory:
    """What is known of where the targets come from. Time is counted in ticks: the sum of their dt."""

    def __init__(self, options: TrackOptions) -> None:
        self._options = options
        self._stamp: float | None = None
        self.age = 0.0
        """Seconds since there was a new target."""
        self.outdated = False
        """Whether the targets of this tick are older than some that were seen before: not to be followed."""
        self.given_up = False
        """Whether targets were lost for so long that the robot stopped."""

    def see(
        self, given: bool, clutch_open: bool, stamp: float | None, now: float | None, dt: float
    ) -> tuple[Phase, str]:
        """One tick: what to do, and why when it is not to follow.

        Args:
            given: whether there are targets.
            clutch_open: whether all clutches are.
            stamp: when the targets were made, seconds of any clock; None when they are made for this tick.
            now: the same clock now; None: a target is as old as its stamp has stayed the same.
            dt: seconds since the last tick.

        Raises:
            InputError: `now` without `stamp`.
        """
        if stamp is None and now is not None:
            raise InputError("tick: `now` is given, but not the `stamp` of the targets")
        known = self._stamp
        self.outdated = False
        if given and stamp is not None:
            # a sender that starts again may count from zero, which must not look outdated for ever
            renewed = known is None or stamp > known or (self.given_up and stamp != known)
            self.outdated = known is not None and stamp < known and not renewed
            self._stamp = stamp if renewed else known
            self.age = 0.0 if renewed else self.age + dt
            if now is not None and self._stamp is not None:
                self.age = max(0.0, now - self._stamp)
        else:
            self.age = 0.0 if given else self.age + dt
        late = self.age > self._options.stale_after + ROUNDING
        if clutch_open:
            self.given_up = False
            return "brake", "the clutch is open"
        if given and not late:
            if not self.given_up or self._options.resume:
                self.given_up = False
                return "follow", ""
            return "brake", "targets were lost; open and close the clutch to follow again"
        lost = f"no target for {self.age:.2f} s" if not given else f"the target is {self.age:.2f} s old"
        if (
            self.given_up
            or self.age > self._options.hold_for + (self._options.stale_after if given else 0.0) + ROUNDING
        ):
            self.given_up = True
            return "brake", f"{lost}: stopped"
        return "keep", f"{lost}: the last one is held"
