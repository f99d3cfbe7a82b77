"""Group: the joints that a plan may move, and the values at which the others are held."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import Frozen, frozen
from .._text import beyond as beyond_text
from ..collision.doors import joints_between
from ..errors import InputError, UnknownJointError, unknown
from ..robot import Robot

UNBOUNDED = np.pi
"""A joint without limits is sampled this far to both sides of where the plan begins and ends (rad, m)."""


class _Named(NamedTuple):
    """What does not depend on where a plan begins."""

    joints: tuple[str, ...]
    moving: Int[np.ndarray, "m"]
    lower: Float[np.ndarray, "m"]
    upper: Float[np.ndarray, "m"]
    held: Bool[np.ndarray, "dof"] | None
    """The joints that do not move; None where all do."""


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
    held = np.ones(len(names), dtype=np.bool_)
    held[moving] = False
    lower, upper = (frozen(np.asarray(v, dtype=np.float64)[moving]) for v in (robot.lower, robot.upper))
    return _Named(
        tuple(names[k] for k in moving.tolist()), moving, lower, upper, frozen(held) if held.any() else None
    )


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
        known = _of_robot.setdefault(robot, {})
        key = joints if joints is None or type(joints) is tuple else None
        named = known.get(key) if joints is None or key is not None else None
        if named is None:
            named = _named(robot, joints)
            if joints is None or key is not None:
                known[key] = named
        notes = ()
        if named.held is not None:
            beyond = ((start < robot.lower) | (start > robot.upper)) & named.held
            notes = tuple(
                f"joint {robot.joint_names[k]!r} is held at "
                + beyond_text(float(start[k]), float(robot.lower[k]), float(robot.upper[k]))
                for k in np.flatnonzero(beyond).tolist()
            )
        held = frozen(np.array(start, dtype=np.float64))
        return cls(robot, named.joints, named.moving, held, named.lower, named.upper, notes)

    def changes(self, pair: tuple[str, str]) -> bool:
        """Whether a joint that moves is between two links, or between the root and a link (and an obstacle)."""
        return bool(set(joints_between(self.robot, pair)).intersection(self.joints))

    @cached_property
    def moves(self) -> Bool[np.ndarray, "dof"]:
        """Whether each entry of a configuration moves."""
        out = np.zeros(len(self.held), dtype=np.bool_)
        out[self.moving] = True
        return frozen(out)

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
        if self._bounded is not None:
            return self._bounded
        rows = self.parts(np.atleast_2d(np.concatenate([np.atleast_2d(c) for c in cfgs])))
        low = np.where(np.isfinite(self.lower), self.lower, rows.min(axis=0) - UNBOUNDED)
        high = np.where(np.isfinite(self.upper), self.upper, rows.max(axis=0) + UNBOUNDED)
        return np.stack([low, high])

    @cached_property
    def _bounded(self) -> Float[np.ndarray, "2 m"] | None:
        """The limits where every joint has them."""
        limits = np.stack([self.lower, self.upper])
        return frozen(limits) if np.isfinite(limits).all() else None
