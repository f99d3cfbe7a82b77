"""The specified closure: one number s closes thumb and reference finger in proportion.

After the planner that the RH56's specification describes (rh56_controller, commit 9f31485): width(s) of
thumb and reference finger is searched on 120 samples, then solved by Brent's method on [0, s_min]; other
fingers are brought to the reference finger's height in the base frame. It is kept exactly as specified, with
its defects: joint ranges are not applied; the width of a plane grasp holds for the reference finger only (the
mean of the fingers is 5 to 8 mm off); heights are equal in the base frame, not in the world (10 to 27 mm
apart there); where the tilt is clipped at 90 degrees thumb and fingers stay 7 to 10 mm apart in height;
cylinders jump by 1.308 rad of yaw and 83 degrees of tilt at the palm-mode limit, and their diameter, a distance
between joints, is not that of an object: a cylinder of that size between the knuckles would reach 14 to 36 mm
into thumb or palm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from ..errors import InputError
from ._grasp import Grasp, make_grasp, tilt_of, upright
from ._hand import Hand
from ._tables import Fingers
from ._types import Mode, ProportionalLaw

GRID = 120
"""Samples of s on [0, 1] in which the smallest width is looked for."""
CYLINDER_GRID = 60
TRANSITION_GRID = 100
"""Samples of the uniform finger control for the range of diameters and for the palm-mode limit."""
ROOT_S = 1e-5
ROOT_CTRL = 1e-6
"""Tolerances of Brent's method for s and for a finger's control."""
THUMB_CLEARANCE = 0.020
"""m; palm mode begins where the thumb tip is nearer than this to a fingertip."""


@dataclass(frozen=True)
class ClosureFigures:
    """What the closure of thumb and reference finger amounts to."""

    s_min: float
    width_min: float
    """Where the width is smallest."""
    s_level: float
    width_level: float
    """Where d_x first reaches zero and the tilt 90 degrees."""
    width_max: float
    """At s = 0, m."""


class Proportional:
    """The specified planner on a hand.

    Args:
        hand: a hand that has the constants of that planner.
        points: tables or exact kinematics.
        exact: refine the smallest width beyond the grid.

    Raises:
        InputError: the hand has no such constants.
    """

    def __init__(self, hand: Hand, points: Fingers, *, exact: bool = False) -> None:
        if hand.proportional is None:
            raise InputError(
                f"{hand.name}: the proportional method is the RH56's specified planner and this hand has no "
                "constants for it; use method='smooth'"
            )
        if any(finger.tip_radius for finger in hand.fingers):
            raise InputError(
                f"{hand.name}: the proportional method measures between points, found fingertips with a radius; "
                "use method='smooth'"
            )
        self.hand, self.points, self.exact = hand, points, exact
        self.law: ProportionalLaw = hand.proportional
        self._pitch, self._yaw = hand.actuator_index(self.law.pitch), hand.actuator_index(self.law.yaw)
        self._figures: dict[tuple[str, float], ClosureFigures] = {}

    # One pair -----------------------------------------------------------------------------------

    def ctrl(self, s: float, finger: str, yaw: float) -> np.ndarray:
        """Controls at s: thumb and one finger; the others are at 0."""
        ctrl = np.zeros(len(self.hand.actuators))
        low, high = self.law.pitch_range
        ctrl[self._pitch] = low + (high - low) * s
        ctrl[self._yaw] = yaw
        ctrl[self.hand.actuator_index(finger)] = self.law.finger_closed * s
        return ctrl

    def difference(self, s: float, finger: str, yaw: float) -> np.ndarray:
        """Thumb tip minus fingertip at s, base frame."""
        ctrl = self.ctrl(s, finger, yaw)
        return self.points.tip(self.hand.thumb, ctrl) - self.points.tip(finger, ctrl)

    def pair_width(self, s: float, finger: str, yaw: float) -> float:
        """hypot(d_x, d_z) at s."""
        d = self.difference(s, finger, yaw)
        return float(np.hypot(d[0], d[2]))

    def figures(self, finger: str, yaw: float | None = None, *, exact: bool | None = None) -> ClosureFigures:
        """Range of a pair: on the specified grid, or exact by minimisation and root finding."""
        refine = self.exact if exact is None else exact
        angle = self.law.yaw_plane if yaw is None else yaw
        key = (finger, angle + (1e3 if refine else 0.0))
        if key not in self._figures:
            self._figures[key] = self._closure_figures(finger, angle, refine)
        return self._figures[key]

    def _closure_figures(self, finger: str, yaw: float, exact: bool) -> ClosureFigures:
        grid = np.linspace(0.0, 1.0, GRID)
        d = np.array([self.difference(float(s), finger, yaw) for s in grid])
        widths = np.hypot(d[:, 0], d[:, 2])
        k = int(np.argmin(widths))
        j = int(np.argmax(d[:, 0] <= 0.0)) if (d[:, 0] <= 0.0).any() else len(grid) - 1
        s_min, s_level = float(grid[k]), float(grid[j])
        if exact:
            bounds = (float(grid[max(k - 1, 0)]), float(grid[min(k + 1, GRID - 1)]))
            found: Any = minimize_scalar(
                lambda s: self.pair_width(s, finger, yaw),
                bounds=bounds,
                method="bounded",
                options={"xatol": 1e-9},
            )
            s_min = float(found.x)
            if j > 0 and d[j, 0] <= 0.0:
                s_level = _root(
                    lambda s: self.difference(s, finger, yaw)[0], float(grid[j - 1]), float(grid[j]), 1e-12
                )
        return ClosureFigures(
            s_min=s_min,
            width_min=self.pair_width(s_min, finger, yaw),
            s_level=s_level,
            width_level=self.pair_width(s_level, finger, yaw),
            width_max=float(widths[0]),
        )

    def _solve_s(self, width: float, finger: str, yaw: float) -> float:
        top = self.figures(finger, yaw).s_min
        ends = self.pair_width(0.0, finger, yaw) - width, self.pair_width(top, finger, yaw) - width
        if ends[0] <= 0.0:
            return 0.0
        if ends[1] >= 0.0:
            return top
        return _root(lambda s: self.pair_width(s, finger, yaw) - width, 0.0, top, ROOT_S)

    # Grasps -------------------------------------------------------------------------------------

    def line_range(self, finger: str) -> tuple[float, float]:
        """Widths of a line grasp."""
        figures = self.figures(finger, self.law.yaw_line)
        return figures.width_min, figures.width_max

    def line(self, width: float, finger: str) -> Grasp:
        """Thumb and one finger."""
        s = self._solve_s(width, finger, self.law.yaw_line)
        tilt = clipped(tilt_of(self.difference(s, finger, self.law.yaw_line)))
        ctrl = self.ctrl(s, finger, self.law.yaw_line)
        return self._measured("line", (finger,), width, s, ctrl, tilt)

    def plane_range(self) -> tuple[float, float]:
        """Widths of a plane grasp: those of the reference finger."""
        figures = self.figures(self.law.plane_reference)
        return figures.width_min, figures.width_max

    def plane(self, width: float, fingers: tuple[str, ...]) -> Grasp:
        """Thumb and several fingers at the reference finger's height in the base frame."""
        reference = self.law.plane_reference
        s = self._solve_s(width, reference, self.law.yaw_plane)
        ctrl = self.ctrl(s, reference, self.law.yaw_plane)
        level = float(self.points.tip(reference, ctrl)[2])
        for finger in fingers:
            if finger != reference:
                ctrl[self.hand.actuator_index(finger)] = self.bring_to_height(finger, level)
        tilt = clipped(self._tilt(ctrl, fingers))
        return self._measured("plane", fingers, width, s, ctrl, tilt)

    def bring_to_height(self, finger: str, level: float) -> float:
        """Control at which a fingertip is at a height of the base frame.

        Out of reach, the end of the control range on the side of the height is taken (direction-aware).
        """
        column = self.hand.actuator_index(finger)
        actuator = self.hand.actuators[column]
        ctrl = np.zeros(len(self.hand.actuators))

        def above(value: float) -> float:
            ctrl[column] = value
            return float(self.points.tip(finger, ctrl)[2]) - level

        low, high = above(actuator.lower), above(actuator.upper)
        if low * high > 0.0:
            return actuator.lower if abs(low) < abs(high) else actuator.upper
        return _root(above, actuator.lower, actuator.upper, ROOT_CTRL)

    def _tilt(self, ctrl: np.ndarray, fingers: tuple[str, ...]) -> float:
        mean = np.mean([self.points.tip(finger, ctrl) for finger in fingers], axis=0)
        return tilt_of(self.points.tip(self.hand.thumb, ctrl) - mean)

    # Cylinders ----------------------------------------------------------------------------------

    @property
    def _wrapping(self) -> tuple[str, ...]:
        return self.hand.opposition("cylinder").fingers

    def _uniform(self, value: float, yaw: float) -> np.ndarray:
        ctrl = self.ctrl(value / self.law.finger_closed, self.law.cylinder_reference, yaw)
        for finger in self._wrapping:
            ctrl[self.hand.actuator_index(finger)] = value
        return ctrl

    def diameter(self, value: float, yaw: float | None = None) -> float:
        """Distance of the thumb's knuckle to the mean of the fingers' at a uniform control."""
        ctrl = self._uniform(value, self.law.yaw_plane if yaw is None else yaw)
        mean = np.mean([self.points.knuckle(finger, ctrl) for finger in self._wrapping], axis=0)
        return float(np.linalg.norm(self.points.knuckle(self.hand.thumb, ctrl) - mean))

    @cached_property
    def cylinder_range(self) -> tuple[float, float]:
        """Smallest and largest diameter."""
        sweep = [
            self.diameter(float(value)) for value in np.linspace(0.0, self.law.finger_closed, CYLINDER_GRID)
        ]
        return min(sweep), max(sweep)

    @cached_property
    def palm_limit(self) -> tuple[float, float]:
        """Uniform control and diameter at which palm mode begins; the smallest diameter if it never does."""
        for value in np.linspace(0.0, self.law.finger_closed, TRANSITION_GRID):
            ctrl = self._uniform(float(value), self.law.yaw_plane)
            thumb = self.points.tip(self.hand.thumb, ctrl)
            if (
                min(np.linalg.norm(thumb - self.points.tip(f, ctrl)) for f in self._wrapping)
                < THUMB_CLEARANCE
            ):
                return float(value), self.diameter(float(value))
        return self.law.finger_closed, self.cylinder_range[0]

    def cylinder(self, diameter: float) -> Grasp:
        """All fingers around a cylinder; below the palm-mode limit the thumb lies beside the palm."""
        top = self.law.finger_closed
        ends = self.diameter(0.0) - diameter, self.diameter(top) - diameter
        if ends[0] * ends[1] >= 0.0:
            value = 0.0 if abs(ends[0]) < abs(ends[1]) else top
        else:
            value = _root(lambda v: self.diameter(v) - diameter, 0.0, top, ROOT_S)
        palm = diameter < self.palm_limit[1]
        ctrl = self._uniform(value, 0.0 if palm else self.law.yaw_plane)
        level = float(self.points.tip(self.law.cylinder_reference, ctrl)[2])
        for finger in self._wrapping:
            ctrl[self.hand.actuator_index(finger)] = self.bring_to_height(finger, level)
        tilt = 0.0 if palm else upright(self._tilt(ctrl, self._wrapping))
        knuckles = self.hand.knuckles(ctrl)
        others = [self.hand.finger_index(name) for name in self._wrapping]
        apart = knuckles[self.hand.finger_index(self.hand.thumb)] - knuckles[others].mean(axis=0)
        measured = float(np.linalg.norm(apart))
        s = value / top
        return self._measured(
            "cylinder", self._wrapping, diameter, s, ctrl, tilt, measured=measured, palm_mode=palm
        )

    def _measured(
        self,
        mode: Mode,
        fingers: tuple[str, ...],
        width: float,
        s: float,
        ctrl: np.ndarray,
        tilt: float,
        **more: Any,
    ) -> Grasp:
        """The Grasp, its midpoint the mean of all active tips."""
        active = [self.hand.finger_index(name) for name in (self.hand.thumb, *fingers)]
        middle = self.hand.tips(ctrl)[active].mean(axis=0)
        return make_grasp(
            self.hand, mode, "proportional", fingers, width, s, ctrl, tilt, midpoint=middle, **more
        )


def _root(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Brent's method."""
    found: Any = brentq(function, low, high, xtol=tolerance)
    return float(found)


def clipped(angle: float) -> float:
    """Limits a tilt to +-90 degrees."""
    return float(np.clip(angle, -np.pi / 2, np.pi / 2))
