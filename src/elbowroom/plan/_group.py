"""Group: the joints that a plan may move, and the values at which the others are held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import Frozen, frozen
from .._text import beyond as beyond_text
from ..collision.doors import joints_between
from ..errors import InputError, UnknownJointError, unknown
from ..robot import Robot

UNBOUNDED = np.pi
"""A joint without limits is sampled this far to both sides of where the plan begins and ends (rad, m)."""


@dataclass(frozen=True, eq=False)
class Group(Frozen):
    """Joints that move; limits are enforced on them alone."""

    robot: Robot
    joints: tuple[str, ...]
    """In the order of `robot.joint_names`."""
    moving: Int[np.ndarray, "m"]
    """Their entries of a configuration."""
    held: Float[np.ndarray, "dof"]
    """A configuration with the values of the joints that do not move; entries of moving joints mean nothing."""
    lower: Float[np.ndarray, "m"]
    upper: Float[np.ndarray, "m"]
    """Limits of the moving joints; infinite where there are none."""
    notes: tuple[str, ...]
    """What has to be said: joints that are held beyond their limits."""

    @classmethod
    def of(cls, robot: Robot, start: Float[np.ndarray, "dof"], joints: Sequence[str] | None = None) -> Group:
        """The joints named, or all; the others are held where they are at the start.

        Raises:
            UnknownJointError: no such joint. InputError: none, one twice, or one that another joint moves.
        """
        names = robot.joint_names
        if joints is None:
            joints = names
        if isinstance(joints, str):
            raise InputError(f"joints must be names of joints, found the text {joints!r:.60}")
        if not isinstance(joints, Iterable):
            raise InputError(f"joints must be names of joints, found {joints!r:.60}")
        asked = tuple(joints)
        for name in asked:
            if name not in names:
                raise UnknownJointError(unknown("joint", str(name), names))
        if len(set(asked)) < len(asked):
            raise InputError(f"joints: {max(asked, key=asked.count)!r} is named twice")
        if not asked:
            raise InputError("joints: at least one joint must move, found none")
        moving = frozen(np.array(sorted(names.index(name) for name in asked), dtype=np.int64))
        beyond = (start < robot.lower) | (start > robot.upper)
        beyond[moving] = False
        notes = tuple(
            f"joint {names[k]!r} is held at "
            + beyond_text(float(start[k]), float(robot.lower[k]), float(robot.upper[k]))
            for k in np.flatnonzero(beyond).tolist()
        )
        return cls(
            robot=robot,
            joints=tuple(names[k] for k in moving.tolist()),
            moving=moving,
            held=frozen(np.array(start, dtype=np.float64)),
            lower=frozen(np.asarray(robot.lower, dtype=np.float64)[moving]),
            upper=frozen(np.asarray(robot.upper, dtype=np.float64)[moving]),
            notes=notes,
        )

    def changes(self, pair: tuple[str, str]) -> bool:
        """Whether a joint that moves is between two links, or between the root and a link (and an obstacle)."""
        return bool(set(joints_between(self.robot, pair)).intersection(self.joints))

    @cached_property
    def moves(self) -> Bool[np.ndarray, "dof"]:
        """Whether each entry of a configuration moves."""
        return frozen(np.isin(np.arange(len(self.held)), self.moving))

    def parts(self, cfgs: Float[np.ndarray, "*n dof"]) -> Float[np.ndarray, "*n m"]:
        """The moving joints of configurations."""
        return np.ascontiguousarray(cfgs[..., self.moving])

    def whole(self, parts: Float[np.ndarray, "*n m"]) -> Float[np.ndarray, "*n dof"]:
        """Configurations with these values of the moving joints."""
        out = np.broadcast_to(self.held, (*parts.shape[:-1], len(self.held))).copy()
        out[..., self.moving] = parts
        return out

    def span(self, *cfgs: Any) -> tuple[Float[np.ndarray, "m"], Float[np.ndarray, "m"]]:
        """Bounds to sample from: the limits, and around the given configurations where a joint has none."""
        rows = self.parts(np.atleast_2d(np.concatenate([np.atleast_2d(c) for c in cfgs])))
        low = np.where(np.isfinite(self.lower), self.lower, rows.min(axis=0) - UNBOUNDED)
        high = np.where(np.isfinite(self.upper), self.upper, rows.max(axis=0) + UNBOUNDED)
        return low, high
