"""Stomp: a trajectory is shaken by smooth noise and follows what costs least, until it is free all the way.

What the costs call a collision and what ends the search is one question (`ObstacleCost.collides`); what is returned as
a success is besides proved between its timesteps by the same proof as every other path. Noise, update and filters are
in `stomp.hpp` of the core; several starts are several descents, the first proved path wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float

from ...collision import CollisionModel, as_model
from ...errors import InputError
from ...robot.internal import stated_speeds
from ...typing import RobotLike
from .._group import Group
from .._path_proof import PathProof
from .._prove import prove_path
from ._cost import Cost
from ._default_costs import default_costs, total_cost
from ._options import StompOptions
from ._result import Evidence, StompResult
from ._search import Cancel, Hook, StompSearch

EASY = 20.0
"""Costs count speeds as if the straight line took this many times as long as at the velocity limits: trajectories are
long before they are good, and limits that bind early keep them from getting around things. The path is timed
afterwards."""
END_TOLERANCE = 1e-6
"""How far the ends of a given path may be from start and goal (rad, m)."""


@runtime_checkable
class Collides(Protocol):
    """A cost that knows collisions, and asks the same question for its penalty."""

    def collides(self, cfgs: Any) -> Bool[np.ndarray, "n"]:
        """At which configurations (n, dof) there is one."""
        ...


class Stomp:
    """Stochastic trajectory optimisation between two configurations of a robot among obstacles."""

    def __init__(
        self,
        model: CollisionModel | RobotLike,
        start: Any,
        goal: Any,
        joints: Sequence[str] | None = None,
        costs: Sequence[Cost] | None = None,
        options: StompOptions | None = None,
    ) -> None:
        """Checks the problem.

        Args:
            model: the robot among its obstacles.
            start: (dof,) configuration.
            goal: (dof,) configuration; joints that do not move are at their start values there.
            joints: names of those that may move; all when omitted.
            costs: what to keep low (`Cost`); None takes obstacles, the robot itself, and its velocity and
                acceleration limits.
            options: see `StompOptions`.

        Raises:
            InputError: start, goal, sigma or joints that make no sense. UnknownJointError: no such joint.
        """
        model = as_model(model)
        self.model = model
        self.options = options or StompOptions()
        robot = model.robot
        # Copies: what the caller has may be read-only, and is not ours to change.
        self.start, self.goal = robot.as_cfg(start).copy(), robot.as_cfg(goal).copy()
        self.group = Group.of(robot, self.start, joints)
        held = np.setdiff1d(np.arange(robot.dof), self.group.moving)
        off = np.abs(self.goal[held] - self.start[held])
        if off.max(initial=0.0) > END_TOLERANCE:
            name = robot.joint_names[held[int(off.argmax())]]
            raise InputError(
                f"goal: joint {name!r} is not among the joints that move, but differs from the start"
            )
        self.goal[held] = self.start[held]
        self.sigma = self._sigma()
        """(m,) size of the noise at first."""
        self.dt = self._duration() / (self.options.timesteps - 1)
        """Seconds between timesteps, as the costs count speeds."""
        self._given_costs = None if costs is None else tuple(costs)

    @cached_property
    def costs(self) -> tuple[Cost, ...]:
        """What is kept low; made when first needed, so that a blocked start or goal is reported before boxes are
        omitted."""
        if self._given_costs is not None:
            return self._given_costs
        ends = np.stack([self.start, self.goal])
        return default_costs(self.model, ends, self.group.joints, boxes_decide=self.options.boxes_decide)

    def set_up(self) -> None:
        """Makes the costs: `run` does so before its time limit counts."""
        _ = self.costs

    # What it begins with --------------------------------------------------------------------------

    def _sigma(self) -> Float[np.ndarray, "m"]:
        lower, upper = self.group.lower, self.group.upper
        width = np.where(np.isfinite(upper - lower), upper - lower, 2.0 * np.pi)
        try:
            part = np.broadcast_to(np.asarray(self.options.sigma, dtype=np.float64), width.shape)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"StompOptions: sigma must be a number or one for each of {len(width)} joints that move, found "
                f"{self.options.sigma!r:.60}"
            ) from error
        if not (np.isfinite(part).all() and (part >= 0.0).all() and part.max() > 0.0):
            raise InputError(f"StompOptions: sigma must be above zero, found {self.options.sigma!r:.60}")
        return part * np.minimum(width, 2.0 * np.pi)

    def _duration(self) -> float:
        if self.options.duration is not None:
            return self.options.duration
        away = self.group.parts(np.abs(self.goal - self.start) / stated_speeds(self.model.robot))
        return max(1.0, EASY * float(away.max()))

    def cost(self, trajectories: Float[np.ndarray, "k t dof"]) -> Float[np.ndarray, "k t"]:
        """Sum of all costs and of the control cost, per trajectory and timestep."""
        dt = self.dt * (self.options.timesteps - 1) / (trajectories.shape[1] - 1)
        total = total_cost(self.costs, trajectories, dt)
        if self.options.control_weight:
            rows = trajectories[..., self.group.moving]
            bends = np.diff(np.concatenate([rows[:, :1], rows, rows[:, -1:]], axis=1), 2, axis=1)
            total += self.options.control_weight / dt**4 * (bends**2).sum(axis=2)
        return total

    # The search -----------------------------------------------------------------------------------

    def run(
        self,
        initial: Any = None,
        *,
        hook: Hook | None = None,
        cancel: Cancel | None = None,
        timeout: float | None = None,
    ) -> StompResult:
        """Optimises until a path is proved free, or `iterations`, `patience`, restarts or time run out.

        Args:
            initial: (w, dof) path to begin with, from start to goal; None for `StompOptions.initial`. One that is
                proved free is never returned worse.
            hook: called after every iteration with its number, the cost and the trajectory.
            cancel: an Event that is set, or a function that returns True, to stop after the iteration under way.
            timeout: seconds of search, set-up not counted, after which it ends; None for none.

        Raises:
            InputError: a bad path or timeout.
        """
        return StompSearch(self, hook, cancel, timeout).run(self._given(initial))

    def _given(self, initial: Any) -> Float[np.ndarray, "w dof"] | None:
        if initial is None:
            return None
        rows = self.model.robot.as_cfgs(initial)
        if len(rows) < 2:
            raise InputError(f"initial: a path needs two configurations or more, found {len(rows)}")
        for row, end, name in ((rows[0], self.start, "start"), (rows[-1], self.goal, "goal")):
            if np.abs(row - end).max() > END_TOLERANCE:
                raise InputError(f"initial: the path must lead from start to goal; its {name} is another")
        return rows

    def evidence(
        self, path: Float[np.ndarray, "t dof"], *, given: bool = False
    ) -> tuple[Evidence, PathProof | None]:
        """What is known of a path: limits and collisions (those of the costs) at its timesteps, then the proof between.

        A look at the middle between timesteps spares the proof of a path that jumps through something thin. A path that
        was given counts by its proof alone: it may lead where boxes do not fit.
        """
        parts = self.group.parts(path)
        if (parts < self.group.lower).any() or (parts > self.group.upper).any():
            return "", None
        if not given and self.collides(path).any():
            return "", None
        if not given and self.collides(0.5 * (path[1:] + path[:-1])).any():
            return "sampled", None
        proof = prove_path(self.model, path)
        return ("proved" if proof.free else "sampled"), proof

    def collides(self, cfgs: Float[np.ndarray, "n dof"]) -> Bool[np.ndarray, "n"]:
        """At which configurations any cost sees a collision: the test that its penalty goes by."""
        found = np.zeros(len(cfgs), dtype=np.bool_)
        for part in self._colliding:
            found |= part.collides(cfgs)
        return found

    @cached_property
    def _colliding(self) -> tuple[Collides, ...]:
        """The costs that know collisions."""
        return tuple(part for part in self.costs if isinstance(part, Collides))
