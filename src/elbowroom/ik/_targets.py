"""What an arm is asked to do: poses and parts of poses of links, and values of joints.

A target says what should hold, in world coordinates, and how much an error of it weighs while the solver trades errors
against each other. Whether an answer is a success is decided by tolerances, never by weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._frozen import frozen
from .._poses import as_wxyz_xyz
from .._text import number, short
from ..errors import InputError

POSITION_WEIGHT = 1.0
"""Per metre."""
ORIENTATION_WEIGHT = 0.3
"""Per radian: the distance at which a turn and a shift of an arm's hand look alike."""
UNIT = 1e-15
"""What the length of a quaternion may be off one by rounding."""
FAR = 1e6
"""Metres: coordinates beyond it are mistakes, and their squares would drown what an arm can do."""
NOT_UNIT = 1e-3
"""How far a quaternion may be from length one before a note says that it was normalised: rounding to four decimals."""


@brief
@dataclass(frozen=True, eq=False)
class PoseTarget:
    """A link at a pose."""

    link: str
    pose: Float[np.ndarray, "7"]
    """T_world_link, wxyz_xyz; given as (7,), (4, 4) or a jaxlie SE3."""
    position_weight: float = POSITION_WEIGHT
    orientation_weight: float = ORIENTATION_WEIGHT
    quaternion_length: float = field(default=1.0, init=False)
    """Length of the quaternion as it was given; `pose` has length one."""

    def __post_init__(self) -> None:
        pose, length = _pose_and_length(self.pose, "target of ", self.link)
        object.__setattr__(self, "pose", pose)
        object.__setattr__(self, "quaternion_length", length)
        if not (0.0 < self.position_weight < math.inf and 0.0 < self.orientation_weight < math.inf):
            _check_weights(self)


@brief
@dataclass(frozen=True, eq=False)
class PositionTarget:
    """A point of a link at a place; the link may turn as it likes."""

    link: str
    position: Float[np.ndarray, "3"]
    """In the world, metres."""
    point: Float[np.ndarray, "3"] = (0.0, 0.0, 0.0)  # type: ignore[assignment]
    """In the link frame, metres."""
    position_weight: float = POSITION_WEIGHT

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", _vector(self.position, f"position of {self.link!r}"))
        object.__setattr__(self, "point", _vector(self.point, f"point of {self.link!r}"))
        _check_weights(self)


@brief
@dataclass(frozen=True, eq=False)
class AxisTarget:
    """An axis of a link along a direction: a cup upright, a drill square to a wall."""

    link: str
    direction: Float[np.ndarray, "3"]
    """In the world; need not have length one."""
    axis: Float[np.ndarray, "3"] = (0.0, 0.0, 1.0)  # type: ignore[assignment]
    """In the link frame."""
    orientation_weight: float = ORIENTATION_WEIGHT

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", _unit(self.direction, f"direction of {self.link!r}"))
        object.__setattr__(self, "axis", _unit(self.axis, f"axis of {self.link!r}"))
        _check_weights(self)


@brief
@dataclass(frozen=True, eq=False)
class LookAt:
    """An axis of a link through a point, ahead of the link: a camera that keeps a thing in sight."""

    link: str
    point: Float[np.ndarray, "3"]
    """In the world, metres."""
    axis: Float[np.ndarray, "3"] = (0.0, 0.0, 1.0)  # type: ignore[assignment]
    """In the link frame."""
    orientation_weight: float = ORIENTATION_WEIGHT

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", _vector(self.point, f"point of {self.link!r}"))
        object.__setattr__(self, "axis", _unit(self.axis, f"axis of {self.link!r}"))
        _check_weights(self)


@dataclass(frozen=True, eq=False)
class JointTarget:
    """A joint at a value."""

    joint: str
    value: float
    """rad or m."""
    weight: float = ORIENTATION_WEIGHT

    def __post_init__(self) -> None:
        if not np.isfinite(self.value):
            raise InputError(
                f"target of joint {self.joint!r}: expected a finite number, found {self.value!r}"
            )
        _check_weights(self)


Target = PoseTarget | PositionTarget | AxisTarget | LookAt | JointTarget
"""What the solver can be asked for, alone or several together."""


def as_targets(targets: Any) -> tuple[Target, ...]:
    """Targets from what a caller has: {link: pose}, one target, or several.

    In a mapping a value may be a pose (7,) or (4, 4), a jaxlie SE3, a position (3,), or a target of that link.

    Raises:
        InputError: none of these, nothing at all, or a value that is not finite.
    """
    if isinstance(targets, Mapping):
        found = tuple([_of_link(link, value) for link, value in targets.items()])
    elif isinstance(targets, Target):
        return (targets,)
    elif isinstance(targets, Iterable) and not isinstance(targets, (str, bytes)):
        found = tuple(targets)
        wrong = next((item for item in found if not isinstance(item, Target)), None)
        if wrong is not None:
            raise InputError(f"targets: expected {{link: pose}} or targets, found {short(wrong)} among them")
    else:
        raise InputError(f"targets: expected {{link: pose}} or targets, found {short(targets)}")
    if not found:
        raise InputError("targets: none given; expected at least one, such as {link: pose}")
    return found


def normalised(targets: Iterable[Target]) -> tuple[str, ...]:
    """A sentence for each target whose quaternion was not of length one."""
    return tuple(
        f"target of {target.link!r}: its quaternion of length {number(target.quaternion_length)} was normalised"
        for target in targets
        if isinstance(target, PoseTarget) and abs(target.quaternion_length - 1.0) > NOT_UNIT
    )


def _of_link(link: Any, value: Any) -> Target:
    if not isinstance(link, str):
        raise InputError(f"targets: expected names of links, found {short(link)}")
    if type(value) is np.ndarray and value.shape == (7,):
        return PoseTarget(link, value)
    if isinstance(value, Target):
        if not isinstance(value, JointTarget) and value.link != link:
            raise InputError(f"targets: the target under {link!r} is one of {value.link!r}")
        return value
    if not hasattr(value, "wxyz_xyz") and np.shape(value) == (3,):
        return PositionTarget(link, value)
    return PoseTarget(link, value)


def as_pose(pose: Any, what: str) -> Float[np.ndarray, "7"]:
    """One pose wxyz_xyz, unit quaternion with w >= 0, from (7,), (4, 4) or what has `wxyz_xyz` (a jaxlie SE3)."""
    return _pose_and_length(pose, what)[0]


def _pose_and_length(pose: Any, what: str, link: str | None = None) -> tuple[Float[np.ndarray, "7"], float]:
    """As `as_pose`, and the length that the quaternion had; `link` is added to `what` in messages."""
    given = pose if type(pose) is np.ndarray else getattr(pose, "wxyz_xyz", pose)
    if (given.shape if type(given) is np.ndarray else np.shape(given)) == (
        7,
    ):  # the way of control loops: as few operations as possible
        try:
            found = np.array(given, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            found = np.full(7, np.nan)  # what is wrong with it is said below
        w, x, y, z, px, py, pz = found.tolist()
        far = math.hypot(px, py, pz)  # NaN and infinity stay what they are
        length = math.sqrt(w * w + x * x + y * y + z * z)
        if 1e-8 <= length < FAR and far < FAR:
            if abs(length - 1.0) > UNIT or w < 0.0:
                found[:4] *= math.copysign(1.0 / length, w)
            return frozen(found), length
        if np.isfinite(found).all() and length >= 1e-8:
            raise InputError(f"{_named(what, link)}: has entries of {FAR:g} and more")
    found = as_wxyz_xyz(given, _named(what, link))
    if found.shape != (7,):
        raise InputError(
            f"{_named(what, link)}: expected one pose, (7,) wxyz_xyz or (4, 4), found {found.shape[:-1]} of them"
        )
    if np.abs(found).max() >= FAR:
        raise InputError(f"{_named(what, link)}: has entries of {FAR:g} and more")
    return frozen(found), 1.0


def _named(what: str, link: str | None) -> str:
    return what if link is None else f"{what}{link!r}"


def _vector(value: Any, what: str) -> Float[np.ndarray, "3"]:
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected three numbers, found {short(value)}") from error
    if found.shape != (3,):
        raise InputError(f"{what}: expected three numbers, found {short(value)}")
    if not np.isfinite(found).all():
        raise InputError(f"{what}: has NaN or infinite entries")
    if np.abs(found).max() >= FAR:
        raise InputError(f"{what}: has entries of {FAR:g} and more")
    return frozen(found)


def _unit(value: Any, what: str) -> Float[np.ndarray, "3"]:
    found = _vector(value, what)
    length = float(np.linalg.norm(found))
    if length < 1e-9:
        raise InputError(f"{what}: expected a direction, found {short(value)}, which has length zero")
    return frozen(found / length)


def _check_weights(target: Any) -> None:
    for name in ("position_weight", "orientation_weight", "weight"):
        value = getattr(target, name, 1.0)
        if not 0.0 < value < math.inf:
            raise InputError(f"{type(target).__name__}: {name} must be above zero, found {value!r:.40}")
