"""SafeStep: the best velocity of one tick that keeps limits and touches nothing, with a stop after it that is proved.

A quadratic programme chooses among the velocities within limits whose linearised distances (`_rows`) stay positive
until the robot has come to rest; the allowed approach shrinks with the distance, so motions slow down before they
meet. Braking is always among the choices, so the programme always has an answer, and no row asks things to part. The
answer is then proved: the straight line through the tick to rest (`_brake`) is free, all of it (`_proof`). Where it is
not, the pair in the way gets half the room and the programme is solved again; then the answer is drawn towards
braking; and at last the robot brakes on the line that was proved a tick before. So a robot that starts free and
follows the steps stays free, whatever is wanted of it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..collision import CollisionModel
from ..collision.doors import checked_for
from ..errors import InputError
from ._bounds import Limits, Way
from ._programme import Programme, pair_words
from ._proof import HAIR, StepProof
from ._rows import CollisionRows, RowSet, as_row
from ._safe_options import SafeOptions

AGAIN = 2
"""Programmes solved at most: a pair in the way of the proof gets half the room in the next one."""
DRAWN = (0.3, 0.05)
"""Shares of an answer that could not be proved that are tried then, the rest being braking."""
KEPT = 0.25
"""Share of the skin that is left where a stop ends."""


@dataclass(frozen=True, eq=False)
class Step:
    """One tick."""

    cfg: Float[np.ndarray, "dof"]
    """Where it leads."""
    velocity: Float[np.ndarray, "dof"]
    """At which rates; `cfg` is the old one plus this times dt."""
    stop: Float[np.ndarray, "dof"] | None
    """Where the robot comes to rest if it brakes from then on: proved free up to there, for the next tick. None where
    that is not proved."""
    proved: bool
    """Whether tick and stop are proved."""
    limited_by: tuple[str, ...]
    """What held the motion back: "speed of joint x", "limit of joint x", "acceleration of joint x", "a and b"."""
    clearance: float
    """Lower bound of the clearance where the tick began, metres; no more than the reach is looked for."""
    braked: bool
    """Whether nothing better than braking was found."""
    seconds: float
    met: bool = False
    """Whether links or obstacles in the way held the motion back, not limits of joints alone."""


class SafeStep:
    """Steps of one robot; keeps nothing from tick to tick, so one instance serves any number of loops."""

    def __init__(
        self,
        model: CollisionModel,
        velocity_limits: Any = None,
        acceleration_limits: Any = None,
        options: SafeOptions | None = None,
    ) -> None:
        """Takes the model and the limits.

        Args:
            model: the robot among its obstacles.
            velocity_limits: (dof,) or one number, rad/s or m/s; those of the robot when omitted, where a description's
                zero means none.
            acceleration_limits: (dof,) or one number, rad/s^2 or m/s^2; unlimited when omitted.
            options: see there.
        """
        robot = model.robot
        self.model, self.options = model, options or SafeOptions()
        own = np.where(robot.velocity_limits > 0.0, robot.velocity_limits, np.inf)
        self.velocities = as_limits(own if velocity_limits is None else velocity_limits, robot.dof)
        """(dof,) limits, infinite where there are none."""
        self.accelerations = (
            None if acceleration_limits is None else as_limits(acceleration_limits, robot.dof, "acceleration")
        )
        """(dof,) limits, or None."""
        self.limits = Limits(robot, self.velocities, self.accelerations)
        # A pair that never collides may still come within the clearance asked for: then it counts.
        kept = max(model.buffer, self.options.clearance)
        self.rows = CollisionRows(checked_for(model, kept), self.options.clearance)
        self.proof = StepProof(self.rows)

    def step(
        self,
        cfg: Float[np.ndarray, "dof"],
        velocity: Float[np.ndarray, "dof"],
        H: Float[np.ndarray, "dof dof"],
        f: Float[np.ndarray, "dof"],
        dt: float,
        stop: Float[np.ndarray, "dof"] | None = None,
    ) -> Step:
        """The velocity that minimises 1/2 v'Hv + f'v among those that are safe.

        Args:
            cfg: where the robot is, finite.
            velocity: of the last tick, zero for a robot at rest.
            H: symmetric, positive definite.
            f: gradient at zero velocity.
            dt: seconds, above zero.
            stop: `Step.stop` of the last tick, if `cfg` is where that tick led.
        """
        start = time.perf_counter()
        at = self.rows.at(cfg, self.options.reach)
        return self.choose(cfg, velocity, H, f, dt, stop, at, start)

    def try_exactly(
        self,
        cfg: Float[np.ndarray, "dof"],
        velocity: Float[np.ndarray, "dof"],
        wanted: Float[np.ndarray, "dof"],
        dt: float,
        at: RowSet,
    ) -> Float[np.ndarray, "dof"] | None:
        """Where the robot comes to rest after a tick of the wanted velocity, if that is safe as it is; else None."""
        cfg = as_row(cfg)
        if not self.limits.bounds(cfg, as_row(velocity), dt).hold(wanted):
            return None
        way, _ = self._proved(cfg, as_row(wanted), dt, at, HAIR)
        return None if way is None else way.end

    def _proved(
        self,
        cfg: Float[np.ndarray, "dof"],
        velocity: Float[np.ndarray, "dof"],
        dt: float,
        at: RowSet,
        keep: float = 0.0,
    ) -> tuple[Way | None, tuple[str, str] | None]:
        """The way of a tick if it passes no limit and touches nothing; else None, and the pair in the way, if any."""
        way = self.limits.way(cfg, velocity, dt)
        if not way.within:
            return None, None
        blocked = self.proof.blocked(cfg, way.end, at, keep)
        return (way, None) if blocked is None else (None, blocked)

    def choose(
        self,
        cfg: Float[np.ndarray, "dof"],
        velocity: Float[np.ndarray, "dof"],
        H: Float[np.ndarray, "dof dof"],
        f: Float[np.ndarray, "dof"],
        dt: float,
        stop: Float[np.ndarray, "dof"] | None,
        at: RowSet,
        start: float | None = None,
    ) -> Step:
        """`step`, with the rows at `cfg`; `start` is when the clock was read first."""
        start = time.perf_counter() if start is None else start
        cfg, keep = as_row(cfg), KEPT * self.options.skin
        begun = self.limits.start(cfg, as_row(velocity), stop, dt)
        brake = chosen = begun.brake
        programme = Programme(self.rows, cfg, at, begun, self.options)
        held, met = dict[str, None](), False
        for _ in range(AGAIN):
            found = programme.solve(H, f)
            if not found.found:
                held["no step within all limits"] = None
                break
            chosen = found.velocity
            held.update(dict.fromkeys(programme.words(found)))
            met = met or bool(found.active_rows)
            way, blocked = self._proved(cfg, chosen, dt, at, keep)
            if way is not None:
                return self._made(chosen, way.after, way.end, held, met, at, False, start)
            if blocked is None:
                break
            held[pair_words(blocked)], met = None, True
            if not programme.tighten(blocked):
                break
        return self._drawn(cfg, chosen, brake, stop, held, met, at, dt, start)

    def _drawn(
        self,
        cfg: Float[np.ndarray, "dof"],
        chosen: Float[np.ndarray, "dof"],
        brake: Float[np.ndarray, "dof"],
        stop: Float[np.ndarray, "dof"] | None,
        held: dict[str, None],
        met: bool,
        at: RowSet,
        dt: float,
        start: float,
    ) -> Step:
        """A step between one that could not be proved and braking."""
        for share in DRAWN:
            drawn = frozen(brake + share * (chosen - brake))
            way, _ = self._proved(cfg, drawn, dt, at, KEPT * self.options.skin)
            if way is not None:
                return self._made(drawn, way.after, way.end, held, met, at, False, start)
        way = self.limits.way(cfg, brake, dt)
        if stop is None and ((way.end == cfg).all() or self.proof.blocked(cfg, way.end, at) is None):
            stop = way.end
        return self._made(brake, way.after, stop, held, met, at, True, start)

    def _made(
        self,
        velocity: Float[np.ndarray, "dof"],
        after: Float[np.ndarray, "dof"],
        stop: Float[np.ndarray, "dof"] | None,
        held: dict[str, None],
        met: bool,
        at: RowSet,
        braked: bool,
        start: float,
    ) -> Step:
        return Step(
            cfg=after,
            velocity=velocity,
            stop=stop,
            proved=stop is not None,
            limited_by=tuple(held),
            clearance=at.clearance + self.rows.buffer,
            braked=braked,
            seconds=time.perf_counter() - start,
            met=met,
        )


def as_limits(limits: Any, dof: int, what: str = "velocity") -> Float[np.ndarray, "dof"]:
    """Limits of every joint from one number or (dof,), infinite for none; a velocity limit of zero holds a joint.

    Raises:
        InputError: another shape, not numbers, NaN, or not above zero (velocity limits: negative).
    """
    try:
        found = np.broadcast_to(np.asarray(limits, dtype=np.float64), (dof,)).copy()
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} limits: expected one number or ({dof},), found {limits!r:.60}") from error
    if not (found >= 0.0 if what == "velocity" else found > 0.0).all():
        least = "not be negative" if what == "velocity" else "be above zero"
        raise InputError(f"{what} limits must {least}, found {found.tolist()}")
    return frozen(found)
