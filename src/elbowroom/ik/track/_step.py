"""SafeStep: steps that keep limits and touch nothing, proved with the stop after them; and linearised distances.

Method and guarantee are those of the compiled core (`core/include/elbowroom/track.hpp`); here it gets names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ... import _core
from ..._frozen import frozen
from ...collision import CollisionModel
from ...collision.internal import checked_for, core_scene
from ...errors import InputError
from ...typing import LinkPair
from ...world import World

PROVED, BRAKED, MET, LATE, ALTERED = 1, 2, 4, 8, 16
"""Marks of a step of the core."""
JOINT_WORDS = ("speed of joint {}", "acceleration of joint {}", "limit of joint {}")
PAIR, OBSTACLE = 3, 4
OTHER_WORDS = {5: "contact at the start", 6: "no step within all limits", 7: "the time budget of the tick"}
"""What the core says held a motion back."""


@dataclass(frozen=True)
class SafeOptions:
    """How steps are chosen; that they are proved does not depend on it."""

    clearance: float = 0.0
    """Clearance that everything must keep, metres, proved; the buffer of the model counts where it is larger."""
    skin: float = 1.8e-3
    """Metres above the clearance at which an approach ends: closer, proofs take longer than a tick. What is wanted and
    can be proved is never refused."""
    keep: float = 1.5e-3
    """Metres above the clearance that a chosen step and its stop leave, of what is closer a share."""
    share: float = 0.25
    """Share of a distance that a stop leaves, as far as linearised distances tell."""
    spare: float = 0.05
    """Share of the way of a step to rest that is kept besides: a robot that is not quite where it was sent can then
    still stop."""
    parts: bool = False
    """Whether what is within the skin is asked to part, as far as the limits let it."""
    reach: float = 0.1
    """Metres above the clearance within which things hold a motion back."""
    approach_time: float = 0.05
    """Seconds: nothing is approached faster than its distance divided by this."""
    cuts: int = 3
    """Programmes solved again after a proof that found a collision."""


class SafeStep:
    """The core's steps of one robot among its obstacles, with names; immutable, so any number of loops may share it."""

    def __init__(
        self,
        model: CollisionModel,
        velocity_limits: Any = None,
        acceleration_limits: Any = None,
        options: SafeOptions = SafeOptions(),  # noqa: B008 (frozen)
    ) -> None:
        """Takes the model and the limits.

        Args:
            model: the robot among its obstacles.
            velocity_limits: (dof,) or one number, rad/s or m/s; those of the robot when omitted, where a description's
                zero means none. Zero given here holds a joint.
            acceleration_limits: (dof,) or one number, rad/s^2 or m/s^2; unlimited when omitted.
            options: see there.
        """
        robot = model.robot
        self.model, self.options = model, options
        own = np.where(robot.velocity_limits > 0.0, robot.velocity_limits, np.inf)
        self.velocities = _limits(own if velocity_limits is None else velocity_limits, robot.dof, "velocity")
        """(dof,) limits, infinite where there are none."""
        self.accelerations = (
            None if acceleration_limits is None else _limits(acceleration_limits, robot.dof, "acceleration")
        )
        """(dof,) limits, or None."""
        self.buffer = max(model.buffer, options.clearance)
        """Clearance that everything must keep, metres."""
        # A pair that never collides may still come within the clearance asked for: then it counts.
        self._scene, self.pairs = core_scene(checked_for(model, self.buffer))
        push = np.full(robot.dof, np.inf) if self.accelerations is None else self.accelerations
        limits = np.stack([self.velocities, push, robot.lower, robot.upper])
        self.core = _core.SafeStep(self._scene, limits, vars(options))

    def words(self, held: Sequence[tuple[int, int, int]]) -> tuple[str, ...]:
        """What the core says held a motion back, in words."""
        return tuple(map(self._word, held))

    def _word(self, held: tuple[int, int, int]) -> str:
        why, first, second = held
        if why < PAIR:
            return JOINT_WORDS[why].format(self.model.robot.joint_names[first])
        return " and ".join(self.names(first, first, second)) if why <= OBSTACLE else OTHER_WORDS[why]

    def names(self, pair: int, link: int, obstacle: int) -> LinkPair:
        """Two links, or where an obstacle is meant, a link and it."""
        if obstacle < 0:
            return self.pairs[pair]
        assert self.model.world is not None
        return self.model.robot.link_names[link], self.model.world.names[obstacle]

    def rows(self, cfg: Float[np.ndarray, "dof"], reach: float) -> RowSet:
        """Linearised distances at a configuration, of what is within `reach` metres above the clearance."""
        A, distance, of, low = self.core.rows(np.ascontiguousarray(cfg, dtype=np.float64), reach)
        return RowSet(A, distance, of, low, self)

    def __getstate__(self) -> dict[str, Any]:
        return {"given": (self.model, self.velocities, self.accelerations, self.options)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["given"])


@dataclass(frozen=True, eq=False)
class RowSet:
    """Constraints at one configuration: to first order, `distance + A @ change` is the distance after a change."""

    A: Float[np.ndarray, "m dof"]
    """How each distance changes with the joints, m per rad or m."""
    distance: Float[np.ndarray, "m"]
    """Metres above the clearance, zero for contacts."""
    of: Int[np.ndarray, "m 4"]
    """Pair of links, or link and obstacle, or -1; 1 for spheres with meshes behind them, 2 for things that overlap."""
    low: Float[np.ndarray, "pairs"]
    """Lower bound of the distance of every checked pair above the clearance; minus infinity where meshes overlap."""
    safe: SafeStep

    @cached_property
    def names(self) -> tuple[LinkPair, ...]:
        """Of each row: two links, or a link and an obstacle."""
        return tuple(self.safe.names(*row[:3]) for row in self.of.tolist())

    @property
    def in_contact(self) -> tuple[LinkPair, ...]:
        """Who is not farther apart than the clearance."""
        return tuple(
            dict.fromkeys(
                name
                for name, kind, distance in zip(self.names, self.of[:, 3], self.distance, strict=True)
                if kind == 2 or distance <= 0.0
            )
        )


class CollisionRows:
    """Linearised distances of a collision model, for optimisers: `at` gives them at a configuration."""

    def __init__(self, model: CollisionModel, buffer: float = 0.0) -> None:
        """Takes the model.

        Args:
            model: the robot, and its obstacles.
            buffer: clearance that pairs must keep, metres; that of the model where it is larger.
        """
        self.safe = SafeStep(model, options=SafeOptions(clearance=buffer))

    def at(self, cfg: Float[np.ndarray, "dof"], reach: float) -> RowSet:
        """The rows at a configuration (dof,), of what is within `reach` metres above the buffer."""
        return self.safe.rows(cfg, reach)


NO_DRIFT = frozen(np.zeros((0, 3)))


def drift_of(model: CollisionModel, velocities: Mapping[str, Any] | None) -> Float[np.ndarray, "obstacles 3"]:
    """Velocities of the obstacles of a model, in their order; (0, 3) where all stand still.

    Raises:
        UnknownNameError: no such obstacle. InputError: not three finite numbers below 1000 m/s.
    """
    if not velocities:
        return NO_DRIFT
    world = model.world or World()
    out = np.zeros((len(world), 3))
    for name, velocity in velocities.items():
        found = np.asarray(velocity, dtype=np.float64)
        if found.shape != (3,) or not (np.abs(found) < 1e3).all():
            raise InputError(f"world_velocity: expected (3,) m/s of {name!r}, found {velocity!r:.60}")
        out[world.index(name)] = found
    return out


def _limits(limits: Any, dof: int, what: str) -> Float[np.ndarray, "dof"]:
    """Limits of every joint from one number or (dof,), infinite for none.

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
