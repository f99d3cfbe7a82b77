"""Clutches: which targets move the robot, and what each asks for once clutches and lost hands are considered.

A clutch engages while its target is given and it is closed. A closed one asks for the target itself, or, of relative
targets, for the target's motion since the clutch closed, applied to where the link was then. An open one asks for the
link to stay: where it comes to rest, not where it was when the clutch opened, which it could only overshoot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from .._targets import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget, Target

Key = tuple[type, str]
"""Kind of target, and link or joint."""
Quaternion = tuple[float, float, float, float]


def key_of(target: Target) -> Key:
    """What makes a target of one tick and one of the next the same."""
    return type(target), target.joint if isinstance(target, JointTarget) else target.link


@dataclass
class Clutch:
    """The clutch of one target."""

    asked: Target
    """What the objective is made of."""
    closed: bool = False
    closed_for: float = 0.0
    """Seconds since the clutch closed."""
    settled: bool = False
    """Of an open clutch: the link has come to rest and stays where it is."""
    anchor: tuple[Target, Target] | None = None
    """Of a relative clutch: the target when the clutch closed, and the same as the robot met it then."""


class Clutches:
    """All clutches, by target; see the module."""

    def __init__(self, *, relative: bool) -> None:
        self.relative = relative
        self._clutches: dict[Key, Clutch] = {}

    def __len__(self) -> int:
        return len(self._clutches)

    def clear(self) -> None:
        """Forgets all targets."""
        self._clutches.clear()

    @property
    def asked(self) -> tuple[Target, ...]:
        """The request, target by target."""
        return tuple(one.asked for one in self._clutches.values())

    @property
    def closed(self) -> bool:
        """Whether any clutch is."""
        return any(one.closed for one in self._clutches.values())

    def closed_for(self) -> list[float]:
        """Seconds since each clutch closed; infinite for open ones."""
        return [one.closed_for if one.closed else np.inf for one in self._clutches.values()]

    def update(
        self,
        given: Sequence[Target],
        clutch: bool | Mapping[str, bool],
        met: Callable[[Target], Target],
        dt: float,
        *,
        moving: bool,
    ) -> None:
        """One tick.

        Args:
            given: the targets of this tick.
            clutch: whether it is closed, for all or by name of link (or joint); links not named have theirs closed.
            met: a target of the same kind that the robot meets as it stands.
            dt: seconds since the last tick.
            moving: whether the robot moves; an open clutch settles when it does not.
        """
        fresh = {key_of(target): target for target in given}
        for key, target in fresh.items():
            if key not in self._clutches:
                self._clutches[key] = Clutch(target)
            closed = clutch if isinstance(clutch, bool) else clutch.get(key[1], True)
            if closed:
                self._follow(self._clutches[key], target, met, dt)
            else:
                fresh = {other: item for other, item in fresh.items() if other != key}
        for key, one in self._clutches.items():
            if key not in fresh:
                self._stay(one, met, moving)

    def open(self, met: Callable[[Target], Target]) -> None:
        """Opens all clutches."""
        for one in self._clutches.values():
            self._stay(one, met, moving=True)

    def _follow(self, clutch: Clutch, target: Target, met: Callable[[Target], Target], dt: float) -> None:
        if not clutch.closed:
            clutch.closed, clutch.closed_for, clutch.settled = True, 0.0, False
            clutch.anchor = (target, met(target)) if self.relative else None
        clutch.closed_for += dt
        clutch.asked = target if clutch.anchor is None else moved_since(target, *clutch.anchor)

    def _stay(self, clutch: Clutch, met: Callable[[Target], Target], moving: bool) -> None:
        if clutch.closed or not clutch.settled:
            clutch.asked = met(clutch.asked)
        clutch.closed, clutch.settled, clutch.anchor = False, not moving, None


def as_met(target: Target, pose: Float[np.ndarray, "7"] | None, value: float) -> Target:
    """A target of the same kind and weights that a robot meets.

    Args:
        target: the kind.
        pose: of its link, wxyz_xyz; None for a `JointTarget`.
        value: of its joint.
    """
    if isinstance(target, JointTarget):
        return replace(target, value=value)
    assert pose is not None
    w, x, y, z, *place = pose.tolist()
    turn = (w, x, y, z)
    if isinstance(target, PoseTarget):
        return replace(target, pose=pose.copy())
    if isinstance(target, PositionTarget):
        return replace(target, position=np.add(_turned(turn, target.point), place))
    if isinstance(target, AxisTarget):
        return replace(target, direction=np.array(_turned(turn, target.axis)))
    far = max(float(np.linalg.norm(target.point - place)), 0.1)
    return replace(target, point=np.add(np.multiply(far, _turned(turn, target.axis)), place))


def moved_since(target: Target, then: Target, held: Target) -> Target:
    """The motion of a target since `then`, applied to `held`: shifts add up, turns are about world axes.

    Directions and points to look at are not moved but taken as they are: half of a turn means nothing there.
    """
    if isinstance(target, PoseTarget) and isinstance(then, PoseTarget) and isinstance(held, PoseTarget):
        turn = _times(_quaternion(target), _inverse(_quaternion(then)))
        pose = np.array(
            [*_times(turn, _quaternion(held)), *(target.pose[4:] - then.pose[4:] + held.pose[4:])]
        )
        return replace(target, pose=pose)
    if (
        isinstance(target, PositionTarget)
        and isinstance(then, PositionTarget)
        and isinstance(held, PositionTarget)
    ):
        return replace(target, position=target.position - then.position + held.position)
    if isinstance(target, JointTarget) and isinstance(then, JointTarget) and isinstance(held, JointTarget):
        return replace(target, value=target.value - then.value + held.value)
    assert isinstance(target, (AxisTarget, LookAt))
    return target


def _quaternion(target: PoseTarget) -> Quaternion:
    w, x, y, z = target.pose[:4].tolist()
    return w, x, y, z


def _inverse(a: Quaternion) -> Quaternion:
    return a[0], -a[1], -a[2], -a[3]


def _times(a: Quaternion, b: Quaternion) -> Quaternion:
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def _turned(a: Quaternion, point: Float[np.ndarray, "3"]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in point)
    _, *turned = _times(_times(a, (0.0, x, y, z)), _inverse(a))
    return turned[0], turned[1], turned[2]
