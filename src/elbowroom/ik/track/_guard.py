"""Guard: between any controller and the robot; what it lets through respects limits and touches nothing, proved.

A wanted step that is safe passes as it is. Another is replaced by the nearest one that is safe (`_step`). What cannot
be proved in time is not done: the robot slows down and stops.
"""

from __future__ import annotations

import copy
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from jaxtyping import Float

from ... import _core
from ..._brief import brief
from ..._frozen import frozen
from ..._text import short
from ...collision import CollisionModel, as_model
from ...errors import InputError
from ...typing import RobotLike
from ...world import World
from ._filtered import FilteredMotion
from ._step import ALTERED, BRAKED, PROVED, SafeOptions, SafeStep, drift_of


@brief
@dataclass(frozen=True, eq=False)
class GuardStep:
    """What the guard made of a wanted step."""

    cfg: Float[np.ndarray, "dof"]
    """Where to go."""
    altered: bool
    """Whether that is not what was wanted."""
    limited_by: tuple[str, ...]
    """What is in the way: "speed of joint x", "limit of joint x", "acceleration of joint x", "a and b" (links, or a
    link and an obstacle); empty when nothing was altered."""
    clearance: float
    """Lower bound where the step begins of the clearance of all that some joint moves, metres; no more than 0.1 m is
    looked for. A base close to its table does not count, as in `CollisionModel.varying_clearance`."""
    proved: bool
    """Whether the straight line from the old configuration to the new one, and the stop after it, were proved free; of
    a start in contact, that it is not left for a deeper one."""
    velocity: Float[np.ndarray, "dof"]
    """Rates of the step."""
    seconds: float
    why: str
    """A sentence."""

    def __str__(self) -> str:
        return self.why


class Guard:
    """Lets safe steps of one robot pass and replaces the others; see the module.

    With limits on acceleration it remembers the last step, to brake from it: one guard for one robot.
    """

    def __init__(
        self,
        model: CollisionModel | RobotLike,
        *,
        velocity_limits: Any = None,
        acceleration_limits: Any = None,
        clearance: float = 0.0,
        hold_on_bad: bool = False,
        budget: float | None = None,
    ) -> None:
        """Takes what must be kept.

        Args:
            model: the robot among its obstacles.
            velocity_limits: (dof,) or one number, rad/s or m/s; those of the robot when omitted.
            acceleration_limits: (dof,) or one number, rad/s^2 or m/s^2. Omitted, the robot is assumed to stop at once.
            clearance: clearance that everything must keep, metres; the buffer of the model counts where it is larger.
            hold_on_bad: whether a wanted configuration that is NaN, infinite or of the wrong shape stops the robot
                (see `why`) instead of being refused with an error.
            budget: seconds that a step may take to decide; what is not proved by then is not done. None for half of
                `dt`.

        Raises:
            InputError: limits, clearance or budget that make no sense.
        """
        model = as_model(model)
        if isinstance(clearance, bool) or not 0.0 <= float(clearance) < math.inf:
            raise InputError(f"clearance must be metres from 0 up, found {clearance!r:.40}")
        self.model, self.hold_on_bad, self.budget = model, hold_on_bad, checked_budget(budget)
        self._safe = SafeStep(
            model, velocity_limits, acceleration_limits, SafeOptions(clearance=float(clearance))
        )
        self._loop = _core.StepLoop()
        self._newest = Newest(self._among)

    @property
    def velocity_limits(self) -> Float[np.ndarray, "dof"]:
        """rad/s or m/s, infinite where there are none."""
        return self._safe.velocities

    @property
    def acceleration_limits(self) -> Float[np.ndarray, "dof"] | None:
        """rad/s^2 or m/s^2; None without."""
        return self._safe.accelerations

    def reset(self) -> None:
        """Forgets the last step: the robot is at rest."""
        self._loop.clear()

    def with_model(self, model: CollisionModel) -> Guard:
        """The same guard in the middle of its motion, among other obstacles (`model.with_world(...)`).

        Raises:
            InputError: a model of another robot.
        """
        if not isinstance(model, CollisionModel):
            raise InputError(f"with_model: expected a CollisionModel, found a {type(model).__name__}")
        if model.robot.joint_names != self.model.robot.joint_names:
            raise InputError("with_model: the model is of a robot with other joints")
        other = copy.copy(self)
        other.model = model
        safe = self._safe
        other._safe = SafeStep(model, safe.velocities, safe.accelerations, safe.options)
        other._loop = self._loop.copy()
        other._loop.forget_stop()
        other._newest = Newest(other._among)
        return other

    def update_world(self, world: World | None) -> None:
        """Other obstacles from now on, made in a thread of their own: steps use the newest world that is finished.

        For perception that is slower than the loop, such as a point cloud ten times a second. What makes no sense is
        raised by the step that would use it.
        """
        self._newest.put(world)

    def _among(self, world: World | None) -> tuple[CollisionModel, SafeStep]:
        model, safe = self.model.with_world(world), self._safe
        return model, SafeStep(model, safe.velocities, safe.accelerations, safe.options)

    def step(
        self, cfg: Any, wanted_cfg: Any, dt: float, *, world_velocity: Mapping[str, Any] | None = None
    ) -> GuardStep:
        """The step nearest to the wanted one that is safe.

        Args:
            cfg: (dof,) where the robot is. Not free, it may only leave contact; beyond joint limits, only come back.
            wanted_cfg: (dof,) where the controller wants it after `dt`; all joints move together on a straight line.
            dt: seconds.
            world_velocity: {obstacle: (3,) m/s in the world} of those that move. The proof then covers where they
                will be until the robot is at rest, and the robot gets out of their way as far as its limits let it.
                Where an obstacle is now, the model says (`with_model`).

        Raises:
            InputError: wrong shapes, NaN, infinite values, or `dt` not above zero.
            UnknownNameError: a velocity of an obstacle that the world does not have.
        """
        return self._step(cfg, wanted_cfg, dt, world_velocity, self.budget)

    def _step(
        self, cfg: Any, wanted_cfg: Any, dt: float, velocities: Mapping[str, Any] | None, budget: float | None
    ) -> GuardStep:
        start = time.perf_counter()
        found = self._newest.take()
        if found is not None:
            self.model, self._safe = found
            self._loop.forget_stop()
        now = self.model.robot.as_cfg(cfg)
        if isinstance(dt, bool) or not (
            isinstance(dt, (int, float, np.number)) and 0.0 < float(dt) < math.inf
        ):
            raise InputError(f"dt must be seconds above zero, found {short(dt)}")
        dt = float(dt)
        bad = ""
        try:
            wanted = self.model.robot.as_cfg(wanted_cfg)
        except InputError as error:
            if not self.hold_on_bad:
                raise InputError(f"wanted configuration refused: {error}") from error
            wanted, bad = now, str(error)
        self._loop.set_drift(drift_of(self.model, velocities))
        after, rate, held, clearance, marks = self._safe.core.guard(
            self._loop, now, wanted, dt, dt / 2.0 if budget is None else budget, not bad
        )
        limited_by, altered = self._safe.words(held), bool(marks & ALTERED)
        return GuardStep(
            frozen(after), altered, limited_by, clearance, bool(marks & PROVED), frozen(rate),
            time.perf_counter() - start, _said(limited_by, altered, marks, bad),
        )  # fmt: skip

    def filter(self, trajectory: Any, dt: float | None = None, *, times: Any = None) -> FilteredMotion:
        """Lets a whole recording pass, step by step, from rest at its first configuration; without a budget of time.

        Args:
            trajectory: (n, dof) configurations, the wanted ones.
            dt: seconds between them.
            times: (n,) seconds instead, increasing.

        Raises:
            InputError: wrong shapes, NaN, or neither or both of `dt` and `times`.
        """
        wanted = self.model.robot.as_cfgs(trajectory)
        spans = _spans(len(wanted), dt, times)
        kept, self._loop = self._loop, _core.StepLoop()
        try:
            cfg, steps = wanted[0], list[GuardStep]()
            for row, span in zip(wanted[1:], spans.tolist(), strict=True):
                steps.append(self._step(cfg, row, span, None, math.inf))
                cfg = steps[-1].cfg
        finally:
            self._loop = kept
        return FilteredMotion.of(self.model.robot.name, wanted, spans, steps)

    def __repr__(self) -> str:
        slow = "" if self._safe.accelerations is None else ", acceleration limits"
        return f"Guard({self.model.robot.name!r}: clearance {1000.0 * self._safe.buffer:g} mm{slow})"


def checked_budget(budget: float | None) -> float | None:
    """Seconds, or None.

    Raises:
        InputError: neither.
    """
    if budget is None:
        return None
    if isinstance(budget, bool) or not (isinstance(budget, (int, float, np.number)) and float(budget) > 0.0):
        raise InputError(f"budget must be seconds above zero, found {short(budget)}")
    return float(budget)


def _said(held: tuple[str, ...], altered: bool, marks: int, bad: str) -> str:
    if bad:
        return f"held: the wanted configuration is refused ({bad})"
    if not altered:
        return "as wanted"
    if not marks & PROVED:
        return f"braking, not proved free: {', '.join(held) or 'nothing known'}"
    if marks & BRAKED:
        return f"stopping: {', '.join(held) or 'no step could be proved'}"
    return f"altered: {', '.join(held) or 'not proved as wanted'}"


def _spans(n: int, dt: float | None, times: Any) -> Float[np.ndarray, "steps"]:
    """Seconds of every step of a trajectory of n configurations."""
    if n < 1:
        raise InputError("trajectory: expected at least one configuration, found none")
    if (dt is None) == (times is None):
        raise InputError("filter needs either dt or times")
    if dt is not None:
        return np.full(n - 1, float(dt))
    found = np.asarray(times, dtype=np.float64)
    if found.shape != (n,) or not np.isfinite(found).all() or not (np.diff(found) > 0.0).all():
        raise InputError(f"times must be ({n},) finite and increasing, found {short(times)}")
    return np.diff(found)


# Newest: makes things of worlds in a thread of its own, and hands out the newest one that is finished ---

Made = TypeVar("Made")


class Newest(Generic[Made]):
    """Worlds come as perception finds them; a loop takes what is finished and never waits.

    A world that comes while another is being made waits; one that waits is dropped when a newer one comes.
    """

    def __init__(self, make: Callable[[World | None], Made]) -> None:
        """Takes what makes a model, a guard's steps, of a world; it runs in the thread."""
        self._make = make
        self._lock = threading.Lock()
        self._waiting: list[World | None] = []
        self._busy = False
        self._done: list[Made | BaseException] = []

    def put(self, world: World | None) -> None:
        """A newer world."""
        with self._lock:
            self._waiting = [world]
            if self._busy:
                return
            self._busy = True
        threading.Thread(target=self._work, name="elbowroom-worlds", daemon=True).start()

    def take(self) -> Made | None:
        """The newest that was finished since the last call; None when there is none.

        Raises:
            what making it raised, in the caller's thread.
        """
        with self._lock:
            found = self._done.pop() if self._done else None
        if isinstance(found, BaseException):
            raise found
        return found

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._busy = False
                    return
                world = self._waiting.pop()
            try:
                made: Made | BaseException = self._make(world)
            except Exception as error:  # said where the loop takes it
                made = error
            with self._lock:
                self._done = [made]
