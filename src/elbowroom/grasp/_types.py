"""Values of the grasp folder: fingers that oppose the thumb or wrap a cylinder, and how they close."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .._brief import brief

Mode = Literal["line", "plane", "cylinder"]


@dataclass(frozen=True)
class Opposition:
    """Fingers that oppose the thumb, and the curve in control space along which the smooth method closes them.

    The curve leads from the open to the closed posture with u in [0, 1]:
    control = open + (closed - open) * e(u), where e(u) = u**k for k >= 1 (closes late) and
    1 - (1 - u)**(1 / k) for k < 1 (closes early).
    """

    fingers: tuple[str, ...]
    """Without the thumb."""
    open: Mapping[str, float] = field(default_factory=dict[str, float])
    """Open posture by actuator, moved to the nearest level one; actuators not named are at their lower bound."""
    closed: Mapping[str, float] = field(default_factory=dict[str, float])
    """Closed posture by actuator, moved to the nearest level one; actuators not named are half way."""
    shape: Mapping[str, float] = field(default_factory=dict[str, float])
    """Exponent k by actuator; 1 when not named."""
    closed_width: float = 0.005
    """Smallest width, m; 5 mm is the smallest the specified planner offers."""
    closed_tilt: float | None = 0.0
    """Tilt of the closed posture, rad; None leaves it open."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "fingers", tuple(self.fingers))


@brief
@dataclass(frozen=True)
class Wrap:
    """Fingers that close around a cylinder along the spread axis, each until it touches.

    Where the cylinder lies in the hand is given; the controls follow from contact. Every finger moves on the straight
    line in control space from its open to its closed posture.
    """

    fingers: tuple[str, ...]
    """Without the thumb."""
    places: tuple[tuple[float, float, float], ...]
    """Where the cylinder lies: rows of its diameter, the x of its palm side and the z of its axis in the base frame,
    m, by rising diameter; monotone cubics lead from row to row. First and last diameter are the range."""
    open: Mapping[str, float] = field(default_factory=dict[str, float])
    """Open posture by actuator, within the actuators' bounds; those not named are at their lower bound. Actuators of
    fingers that take no part have no effect."""
    closed: Mapping[str, float] = field(default_factory=dict[str, float])
    """Closed posture by actuator, within the bounds; those not named are at their upper bound. Actuators that move
    several of the fingers must be named in both postures with the same value."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "fingers", tuple(self.fingers))


@dataclass(frozen=True)
class ProportionalLaw:
    """Constants of the specified planner: one number s in [0, 1] closes thumb pitch and reference finger together."""

    pitch: str
    """Actuator of the thumb's pitch."""
    yaw: str
    """Actuator of the thumb's yaw."""
    pitch_range: tuple[float, float]
    """Thumb pitch at s = 0 and s = 1, rad."""
    finger_closed: float
    """Control of the reference finger at s = 1, rad; 0 at s = 0."""
    yaw_line: float
    yaw_plane: float
    """Thumb yaw of line grasps, and of plane grasps and wide cylinders, rad."""
    plane_reference: str
    """Finger whose distance to the thumb sets the width of a plane grasp."""
    cylinder_reference: str
    """Finger to whose height the others are brought in a cylinder grasp."""
