"""Group: the joints that a plan may move, and the values at which the others are held."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import Frozen, frozen
from .._text import beyond as beyond_text
from ..collision.internal import joints_between
from ..errors import InputError, UnknownJointError, unknown
from ..robot import Robot

UNBOUNDED = np.pi
"""A joint without limits is sampled this far to both sides of where the plan begins and ends (rad, m)."""


class _Named(NamedTuple):
    """What does not depend on where a plan begins."""

    joints: tuple[str, ...]
    moving: Int[np.ndarray, "m"]
    span: Float[np.ndarray, "2 m"]
    """Their limits."""
    moves: Bool[np.ndarray, "dof"]
    """Whether each entry of a configuration moves."""
    limits: Float[np.ndarray, "2 dof"]
    """Of all joints."""
    bounded: bool
    """Whether every joint that moves has limits."""


_of_robot: weakref.WeakKeyDictionary[Robot, dict[tuple[str, ...] | None, _Named]] = (
    weakref.WeakKeyDictionary()
)
"""By the joints that were named."""


def _named(robot: Robot, joints: Any) -> _Named:
    """The joints named, or all.

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
    moves = np.zeros(len(names), dtype=np.bool_)
    moves[moving] = True
    limits = frozen(np.array([robot.lower, robot.upper], dtype=np.float64))
    span = frozen(limits[:, moving])
    return _Named(
        tuple(names[k] for k in moving.tolist()),
        moving,
        span,
        frozen(moves),
        limits,
        bool(np.isfinite(span).all()),
    )


@lru_cache(64)
def _held_beyond(joint: str, value: float, lower: float, upper: float) -> str:
    return f"joint {joint!r} is held at {beyond_text(value, lower, upper)}"


@dataclass(frozen=True, eq=False)
class Group(Frozen):
    """Joints that move; limits are enforced on them alone."""

    robot: Robot
    named: _Named
    held: Float[np.ndarray, "dof"]
    """A configuration with the values of the joints that do not move; entries of moving joints mean nothing."""
    notes: tuple[str, ...]
    """What has to be said: joints that are held beyond their limits."""

    @classmethod
    def of(cls, robot: Robot, start: Float[np.ndarray, "dof"], joints: Sequence[str] | None = None) -> Group:
        """The joints named, or all; the others are held where they are at the start.

        Raises:
            UnknownJointError: no such joint. InputError: none, one twice, or one that another joint moves.
        """
        named = cls.naming(robot, joints)
        low, high = named.limits
        beyond = ((start < low) | (start > high)) & ~named.moves
        notes = tuple(
            _held_beyond(robot.joint_names[k], float(start[k]), float(low[k]), float(high[k]))
            for k in beyond.nonzero()[0].tolist()
        )
        return cls(robot, named, frozen(np.array(start, dtype=np.float64)), notes)

    @staticmethod
    def naming(robot: Robot, joints: Sequence[str] | None) -> _Named:
        """What does not depend on the start; of joints named in a tuple it is made once.

        Raises:
            UnknownJointError: no such joint. InputError: none, one twice, or one that another joint moves.
        """
        if joints is not None and type(joints) is not tuple:
            return _named(robot, joints)
        known = _of_robot.setdefault(robot, {})
        found = known.get(joints)
        if found is None:
            found = known[joints] = _named(robot, joints)
        return found

    @property
    def joints(self) -> tuple[str, ...]:
        """In the order of `robot.joint_names`."""
        return self.named.joints

    @property
    def moving(self) -> Int[np.ndarray, "m"]:
        """Their entries of a configuration."""
        return self.named.moving

    @property
    def moves(self) -> Bool[np.ndarray, "dof"]:
        """Whether each entry of a configuration moves."""
        return self.named.moves

    @property
    def lower(self) -> Float[np.ndarray, "m"]:
        """Limits of the moving joints; infinite where there are none."""
        return self.named.span[0]

    @property
    def upper(self) -> Float[np.ndarray, "m"]:
        """Upper ones."""
        return self.named.span[1]

    def changes(self, pair: tuple[str, str]) -> bool:
        """Whether a joint that moves is between two links, or between the root and a link (and an obstacle)."""
        return bool(set(joints_between(self.robot, pair)).intersection(self.joints))

    def parts(self, cfgs: Float[np.ndarray, "*n dof"]) -> Float[np.ndarray, "*n m"]:
        """The moving joints of configurations."""
        return np.ascontiguousarray(cfgs[..., self.moving])

    def whole(self, parts: Float[np.ndarray, "*n m"]) -> Float[np.ndarray, "*n dof"]:
        """Configurations with these values of the moving joints."""
        out = np.broadcast_to(self.held, (*parts.shape[:-1], len(self.held))).copy()
        out[..., self.moving] = parts
        return out

    def span(self, *cfgs: Any) -> Float[np.ndarray, "2 m"]:
        """Bounds to sample from: the limits, and around the given configurations where a joint has none."""
        if self.named.bounded:
            return self.named.span
        rows = self.parts(np.atleast_2d(np.concatenate([np.atleast_2d(c) for c in cfgs])))
        low = np.where(np.isfinite(self.lower), self.lower, rows.min(axis=0) - UNBOUNDED)
        high = np.where(np.isfinite(self.upper), self.upper, rows.max(axis=0) + UNBOUNDED)
        return np.stack([low, high])
