"""The Grasp: one planned grasp with its evidence, and its place in the world.

World from base is R = Ry(tilt) Rx(pi): the fingers hang down, the thumb closes along -X, the fingers along +X.
The object's middle is at (0, 0, height).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .._frozen import frozen
from ..errors import InputError
from ..typing import Matrix4
from ._hand import Hand
from ._types import Mode


class WorldGrasp(NamedTuple):
    """A grasp placed in the world."""

    T_world_base: Matrix4
    tips_world: Mapping[str, Float[np.ndarray, "3"]]
    """Active fingertips, thumb first."""


@dataclass(frozen=True, eq=False)
class Grasp:
    """One grasp: controls, tilt and fingertips, with what was measured on them."""

    hand: Hand
    mode: Mode
    method: str
    """ "smooth" or "proportional"."""
    fingers: tuple[str, ...]
    """Active fingers that oppose the thumb."""
    width: float
    """As asked for: width or diameter, m. A diameter is that of the object, in the proportional method the distance of
    the thumb's knuckle to the mean of the fingers'."""
    s: float
    """How far closed: 0 open, 1 closed."""
    ctrl: Float[np.ndarray, "actuators"]
    """Controls in actuator order, rad."""
    tilt_y: float
    """Rotation of the hand about the world's Y axis, rad."""
    tips: Mapping[str, Float[np.ndarray, "3"]]
    """Active fingertips in the base frame, thumb first, m; exact kinematics at `ctrl`."""
    midpoint: Float[np.ndarray, "3"]
    """The point that is placed at the object's middle, base frame, m."""
    width_error: float
    """Measured width minus the width asked for, m."""
    height_error: float
    """World height of the thumb tip minus that of the fingertips' mean, m."""
    height_spread: float
    """Largest difference in world height between any two active fingertips, m."""
    side_offset: float
    """Thumb tip minus fingers' mean along the spread axis, m."""
    range_violation: float
    """How far a joint leaves its range, rad; zero or less when all are inside."""
    palm_mode: bool = False
    """Cylinder of the proportional method with the thumb beside the palm."""
    touching: Mapping[str, Float[np.ndarray, "3"]] = field(default_factory=dict[str, np.ndarray])
    """Links that touch a wrapped cylinder, with the point in the base frame, m; empty for grasps by fingertips."""
    opposition: str = ""
    """Name of the opposition set."""

    @property
    def actuators(self) -> dict[str, float]:
        """Controls by actuator name."""
        return dict(zip(self.hand.actuator_names, self.ctrl.tolist(), strict=True))

    @property
    def joints(self) -> dict[str, float]:
        """Positions of all joints by name, coupled ones included."""
        return dict(zip(self.hand.joint_names, self.hand.joints(self.ctrl).tolist(), strict=True))

    @property
    def wrapped(self) -> float:
        """Angle of a wrapped cylinder's outline between its outermost contacts, rad; 0 for grasps by fingertips.

        Below pi the hand reaches less than half around: squeezing pushes the object out and only friction holds it.
        """
        if len(self.touching) < 2:
            return 0.0
        arms = np.array(list(self.touching.values())) - self.midpoint
        angles = np.sort(np.arctan2(arms[:, 2], arms[:, 0]))
        openings = np.diff(angles, append=angles[0] + 2.0 * np.pi)
        return float(2.0 * np.pi - openings.max())

    def to_world(self, height: float = 0.1) -> WorldGrasp:
        """Places the hand so that the grasp's middle is at (0, 0, height).

        Args:
            height: world height of the grasp, m.

        Returns:
            `T_world_base` (4, 4) and the active fingertips in the world.
        """
        value = as_number(height, "height")
        T = np.eye(4)
        T[:3, :3] = rotation(self.tilt_y)
        T[:3, 3] = np.array([0.0, 0.0, value]) - T[:3, :3] @ self.midpoint
        tips = {name: frozen(T[:3, :3] @ tip + T[:3, 3]) for name, tip in self.tips.items()}
        return WorldGrasp(frozen(T), tips)

    def to_registers(self) -> tuple[int, ...]:
        """The hand's own angle commands for this grasp, 1000 open to 0 closed, as `Hand.to_registers` gives them.

        Raises:
            InputError: the hand has no such registers.
        """
        return self.hand.to_registers(self.ctrl)

    def from_registers(self, values: Iterable[int]) -> Float[np.ndarray, "actuators"]:
        """The control for angle commands or readings of this grasp's hand, the same as `Hand.from_registers`.

        Of this grasp's own commands it is `ctrl` to half a count; of angles that the hand reports, how far it got.

        Raises:
            InputError: the hand has no such registers, or the values are not whole numbers from 0 to 1000.
        """
        return self.hand.from_registers(values)

    def sides(self, height: float = 0.1) -> tuple[float, float]:
        """World X of the two sides of the object: where the fingertips' mean touches, and the thumb tip.

        Raises:
            InputError: the grasp is of a cylinder.
        """
        if self.mode == "cylinder":
            raise InputError(f"{self!r} is of a cylinder, which has no flat sides")
        tips = self.to_world(height).tips_world
        radius_thumb, radius_others = self.hand.tip_radii(self.fingers)
        mean = float(np.mean([tips[name][0] for name in self.fingers]))
        return mean + radius_others, float(tips[self.hand.thumb][0]) - radius_thumb

    def to_dict(self, height: float = 0.1) -> dict[str, Any]:
        """Plain values for JSON: SI units, angles in rad."""
        T_world_base, tips_world = self.to_world(height)
        return {
            "hand": self.hand.name,
            "revision": self.hand.revision,
            "mode": self.mode,
            "method": self.method,
            "opposition": self.opposition,
            "fingers": [self.hand.thumb, *self.fingers],
            "width": self.width,
            "s": self.s,
            "ctrl": self.actuators,
            "joints": self.joints,
            "tilt_y": self.tilt_y,
            "tip_radii": {name: self.hand.finger(name).tip_radius for name in self.tips},
            "tips_base": {name: tip.tolist() for name, tip in self.tips.items()},
            "midpoint_base": self.midpoint.tolist(),
            "height": float(height),
            "T_world_base": T_world_base.tolist(),
            "tips_world": {name: tip.tolist() for name, tip in tips_world.items()},
            "width_error": self.width_error,
            "height_error": self.height_error,
            "height_spread": self.height_spread,
            "side_offset": self.side_offset,
            "range_violation": self.range_violation,
            "palm_mode": self.palm_mode,
            "wrapped": self.wrapped,
            "touching_base": {link: point.tolist() for link, point in self.touching.items()},
        }

    def __repr__(self) -> str:
        return (
            f"Grasp({self.mode} {1e3 * self.width:.1f} mm, {self.method}, s {self.s:.3f}, "
            f"tilt {np.degrees(self.tilt_y):.1f} deg, ctrl {np.array2string(self.ctrl, precision=3)})"
        )


def rotation(tilt: float) -> Float[np.ndarray, "3 3"]:
    """World from base, Ry(tilt) Rx(pi)."""
    s, c = np.sin(tilt), np.cos(tilt)
    return np.array([[c, 0.0, -s], [0.0, -1.0, 0.0], [-s, 0.0, -c]])


def tilt_of(direction: Float[np.ndarray, "3"]) -> float:
    """Tilt that makes a thumb-from-fingers direction level in the world: atan2(-d_z, d_x), not clipped."""
    return float(np.arctan2(-direction[2], direction[0]))


def upright(tilt: float) -> float:
    """Brings a tilt into (-90, 90] degrees by half turns: the same line is level, and the base above it."""
    return float(np.pi / 2 - (np.pi / 2 - tilt) % np.pi)


def make_grasp(
    hand: Hand,
    mode: Mode,
    method: str,
    fingers: tuple[str, ...],
    width: float,
    s: float,
    ctrl: Float[np.ndarray, "actuators"],
    tilt: float,
    *,
    measured: float | None = None,
    midpoint: Float[np.ndarray, "3"] | None = None,
    touching: Mapping[str, Float[np.ndarray, "3"]] | None = None,
    palm_mode: bool = False,
) -> Grasp:
    """Measures a control and makes the Grasp.

    Args:
        measured: width or diameter found; by default between the thumb tip and the fingertips' mean, along the
            world's X and between the balls around them.
        midpoint: base frame; by default half way between where the thumb and the fingertips' mean touch.
    """
    points, _ = hand.points_unchecked(ctrl, False)
    tips = points[: len(hand.fingers)]
    thumb, others = hand.finger_index(hand.thumb), [hand.finger_index(name) for name in fingers]
    gap = tips[thumb] - tips[others].mean(axis=0)
    turned = tips @ rotation(tilt).T
    radius_thumb, radius_others = hand.tip_radii(fingers)
    if measured is None:
        measured = float(turned[thumb, 0] - turned[others, 0].mean() - radius_thumb - radius_others)
    if midpoint is None:
        along = rotation(tilt)[0]  # the world's X in the base frame
        middle = 0.5 * (tips[thumb] + tips[others].mean(axis=0) + (radius_others - radius_thumb) * along)
    else:
        middle = midpoint
    return Grasp(
        hand=hand,
        mode=mode,
        method=method,
        fingers=fingers,
        width=width,
        s=s,
        ctrl=frozen(ctrl.copy()),
        tilt_y=tilt,
        tips={name: frozen(tips[hand.finger_index(name)].copy()) for name in (hand.thumb, *fingers)},
        midpoint=frozen(middle),
        width_error=measured - width,
        height_error=float(turned[thumb, 2] - turned[others, 2].mean()),
        height_spread=float(np.ptp(turned[[thumb, *others], 2])),
        side_offset=float(gap[1]),
        range_violation=float(hand.range_violation(ctrl)),
        palm_mode=palm_mode,
        touching=touching or {},
    )


def as_number(value: Any, what: str) -> float:
    """Checks a finite number.

    Raises:
        InputError: not a number, NaN or infinite.
    """
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be a number in metres, found {value!r:.60}") from error
    if not np.isfinite(number):
        raise InputError(f"{what} must be finite, found {number}")
    return number
