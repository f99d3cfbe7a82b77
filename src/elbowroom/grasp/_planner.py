"""GraspPlanner: line, plane and cylinder grasps of a hand by either method."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from .._brief import brief
from .._frozen import frozen
from ..errors import InputError, UnknownNameError, unknown
from ._grasp import Grasp, as_number, make_grasp
from ._hand import Hand, UnknownFingerError
from ._proportional import Proportional
from ._smooth import SmoothClosure
from ._tables import ExactFingers, TableFingers
from ._types import Mode, Opposition, Wrap
from ._wrap import WrapClosure

Method = Literal["smooth", "proportional"]
METHODS: tuple[Method, ...] = ("smooth", "proportional")
RANGE_SLACK = 1e-9
"""m; a width this far outside its range is taken as its end (rounding of printed limits)."""


class GraspRangeError(InputError):
    """A width or diameter out of the range that the hand can do; the message names the range."""


@brief
@dataclass(frozen=True)
class Sweep:
    """Grasps at equally spaced widths over a whole range."""

    grasps: tuple[Grasp, ...]

    @property
    def widths(self) -> Float[np.ndarray, "n"]:
        """Widths, m."""
        return np.array([grasp.width for grasp in self.grasps])

    @property
    def ctrl(self) -> Float[np.ndarray, "n actuators"]:
        """Controls, rad."""
        return np.array([grasp.ctrl for grasp in self.grasps])

    @property
    def tilt(self) -> Float[np.ndarray, "n"]:
        """Tilts, rad."""
        return np.array([grasp.tilt_y for grasp in self.grasps])

    @property
    def s(self) -> Float[np.ndarray, "n"]:
        """How far closed."""
        return np.array([grasp.s for grasp in self.grasps])

    @property
    def largest_jump(self) -> float:
        """Largest change of a control between neighbouring widths, rad."""
        return float(np.abs(np.diff(self.ctrl, axis=0)).max())

    @property
    def largest_slope(self) -> float:
        """Largest change of a control per width, rad/m."""
        return float((np.abs(np.diff(self.ctrl, axis=0)) / np.diff(self.widths)[:, None]).max())

    @property
    def largest_tilt_jump(self) -> float:
        """Largest change of the tilt between neighbouring widths, rad."""
        return float(np.abs(np.diff(self.tilt)).max())


def rebuild_tables(hand: Hand, progress: Callable[[int, int], None] | None = None) -> tuple[str, ...]:
    """Recomputes all cached tables and branches of a hand.

    Args:
        hand: any hand.
        progress: called with (done, total).

    Returns:
        What was made: "finger tables", and the opposition sets with a smooth branch.
    """
    pinches = {name: entry for name, entry in hand.oppositions.items() if isinstance(entry, Opposition)}
    steps: dict[str, Callable[[], object]] = {
        name: partial(SmoothClosure, hand, name, entry, rebuild=True) for name, entry in pinches.items()
    }
    if hand.proportional is not None:
        steps = {"finger tables": partial(TableFingers, hand, rebuild=True), **steps}
    for i, step in enumerate(steps.values()):
        step()
        if progress is not None:
            progress(i + 1, len(steps))
    return tuple(steps)


class GraspPlanner:
    """Plans grasps of a hand.

    Args:
        hand: the hand, from `load_hand`.
        method: "smooth" (continuous, level in the world, within joint ranges) or "proportional" (as specified).
        exact: proportional method without tables, with its limits refined beyond its grid. The smooth method is
            always exact; its branch is cached.
        rebuild: recompute cached tables and branches.
        unused: control of fingers that take no part, rad, within their bounds; by default they are as in the robot's
            default configuration. Curled, they do not reach below the grasp.

    Raises:
        InputError: unknown method, or a hand that the method cannot serve.
    """

    def __init__(
        self,
        hand: Hand,
        method: Method | str = "smooth",
        *,
        exact: bool = False,
        rebuild: bool = False,
        unused: float | None = None,
    ) -> None:
        if not isinstance(hand, Hand):
            raise InputError(f"expected a Hand from load_hand, found a {type(hand).__name__}")
        if method not in METHODS:
            raise UnknownNameError(unknown("method", str(method), METHODS))
        self.hand, self.method, self.exact, self._rebuild = hand, method, exact, rebuild
        self._unused = None if unused is None else as_number(unused, "unused")
        self._branches: dict[str, SmoothClosure] = {}
        self._wraps: dict[str, WrapClosure] = {}
        if method == "proportional":
            _ = self.proportional

    @cached_property
    def proportional(self) -> Proportional:
        """The specified planner behind this one, whatever the method."""
        points = ExactFingers(self.hand) if self.exact else TableFingers(self.hand, rebuild=self._rebuild)
        return Proportional(self.hand, points, exact=self.exact)

    def branch(self, opposition: str) -> SmoothClosure:
        """The smooth closure of an opposition set, built at first use and cached."""
        if opposition not in self._branches:
            chosen = self.hand.opposition(opposition)
            if isinstance(chosen, Wrap):
                raise InputError(f"{self.hand.name}: {opposition!r} wraps a cylinder; see `wrap`")
            self._branches[opposition] = SmoothClosure(self.hand, opposition, chosen, rebuild=self._rebuild)
        return self._branches[opposition]

    def wrap(self, name: str) -> WrapClosure:
        """The closure around cylinders of a `Wrap`, made at first use."""
        if name not in self._wraps:
            chosen = self.hand.opposition(name)
            if not isinstance(chosen, Wrap):
                raise InputError(f"{self.hand.name}: {name!r} does not wrap a cylinder; see `branch`")
            self._wraps[name] = WrapClosure(self.hand, name, chosen, idle=self._idle)
        return self._wraps[name]

    # Grasps -------------------------------------------------------------------------------------

    def line(self, width: float, finger: str = "index") -> Grasp:
        """Thumb and one finger pinch a width.

        Args:
            width: m.
            finger: the finger that opposes the thumb.

        Raises:
            GraspRangeError: the width is out of range; the message names the range.
            UnknownFingerError: no such finger, or one that does not oppose the thumb.
        """
        return self.oppose(self._line_set(finger), width)

    def plane(self, width: float, fingers: int = 4) -> Grasp:
        """Thumb and several fingers press two parallel sides.

        Args:
            width: m.
            fingers: how many take part, thumb included: 3, 4 or 5 on a five-finger hand.
        """
        return self.oppose(self._plane_set(fingers), width)

    def cylinder(self, diameter: float) -> Grasp:
        """All fingers close around a cylinder along the spread axis.

        Args:
            diameter: m. By the smooth method that of the object, which every finger touches; by the proportional
                method the distance of the thumb's knuckle to the mean of the fingers', as it was specified.
        """
        return self.oppose(self._wrap_set(), diameter)

    def oppose(self, opposition: str, width: float) -> Grasp:
        """A grasp with an opposition set by its name.

        Of sets that the user made, the proportional method takes the fingers and leaves the postures; a `Wrap` of the
        user's needs the smooth method.
        """
        value = self._checked(opposition, width)
        make = self._specified if self.method == "proportional" else self._smooth
        grasp = make(opposition, value)
        return replace(grasp, opposition=opposition, ctrl=self._with_unused(grasp))

    def grasp(self, mode: Mode | str, width: float, *, finger: str = "index", fingers: int = 4) -> Grasp:
        """A grasp by the name of its mode."""
        return self.oppose(self._set_of(mode, finger, fingers), width)

    def range(self, mode: Mode | str, *, finger: str = "index", fingers: int = 4) -> tuple[float, float]:
        """Smallest and largest width (diameter) of a mode, m."""
        return self._range(self._set_of(mode, finger, fingers))

    def sweep(
        self,
        mode: Mode | str,
        n: int = 400,
        *,
        finger: str = "index",
        fingers: int = 4,
        widths: Iterable[float] | None = None,
    ) -> Sweep:
        """Grasps at n equally spaced widths over the range, or at the given widths."""
        low, high = self.range(mode, finger=finger, fingers=fingers)
        values = np.linspace(low, high, n) if widths is None else widths
        return Sweep(tuple(self.grasp(mode, float(w), finger=finger, fingers=fingers) for w in values))

    # Helpers ------------------------------------------------------------------------------------

    def _specified(self, name: str, width: float) -> Grasp:
        """By the proportional method."""
        mode, fingers = self._mode_of(name), self.hand.opposition(name).fingers
        if mode == "line":
            return self.proportional.line(width, fingers[0])
        return (
            self.proportional.plane(width, fingers) if mode == "plane" else self.proportional.cylinder(width)
        )

    def _smooth(self, name: str, width: float) -> Grasp:
        mode, opposition = self._mode_of(name), self.hand.opposition(name)
        if isinstance(opposition, Wrap):
            found = self.wrap(name).solve(width)
            s, ctrl, tilt = found.s, found.ctrl, found.tilt
            more: dict[str, Any] = {
                "measured": found.measured,
                "midpoint": found.axis,
                "touching": found.touching,
            }
        else:
            branch = self.branch(name)
            state, s = branch.solve(width)
            ctrl, tilt, more = branch.closure.ctrl(state.x), state.tilt, {}
        return make_grasp(self.hand, mode, "smooth", opposition.fingers, width, s, ctrl, tilt, **more)

    @cached_property
    def _idle(self) -> Float[np.ndarray, "actuators"]:
        """Controls of fingers that take no part."""
        if self._unused is None:
            return self.hand.ctrl_rest
        return np.clip(self._unused, self.hand.ctrl_lower, self.hand.ctrl_upper)

    def _with_unused(self, grasp: Grasp) -> np.ndarray:
        """Controls with the fingers that take no part where they should be."""
        if self._unused is None:
            return grasp.ctrl
        active = {i for name in (self.hand.thumb, *grasp.fingers) for i in self.hand.finger_actuators(name)}
        ctrl = self._idle.copy()
        ctrl[sorted(active)] = grasp.ctrl[sorted(active)]
        return frozen(ctrl)

    def _checked(self, name: str, width: Any) -> float:
        what = "diameter" if self._mode_of(name) == "cylinder" else "width"
        low, high = self._range(name)
        label = f"{self.hand.name}, {name}, {self.method}"
        limits = f"{1e3 * low:.2f} to {1e3 * high:.2f} mm"
        try:
            value = as_number(width, what)
        except InputError as error:
            raise GraspRangeError(f"{label}: {error}; the range is {limits}") from error
        if not low - RANGE_SLACK <= value <= high + RANGE_SLACK:
            asked = f"{label}: {what} {1e3 * value:.2f} mm is out of range"
            raise GraspRangeError(f"{asked}; it can do {limits}{self._elsewhere(name, value)}")
        return min(max(value, low), high)

    def _elsewhere(self, name: str, value: float) -> str:
        """What the other method says to a width that this one cannot do; empty when it cannot either."""
        other = next(method for method in METHODS if method != self.method)
        try:
            low, high = GraspPlanner(self.hand, other, exact=self.exact)._range(name)
        except InputError:  # a hand that the other method cannot serve
            return ""
        if not low <= value <= high:
            return ""
        knuckles = (
            " between knuckles" if self._mode_of(name) == "cylinder" and other == "proportional" else ""
        )
        return f"; method='{other}' (--method {other}) can: {1e3 * low:.2f} to {1e3 * high:.2f} mm{knuckles}"

    def _range(self, name: str) -> tuple[float, float]:
        mode = self._mode_of(name)
        if self.method == "smooth":
            return self.wrap(name).range if mode == "cylinder" else self.branch(name).range
        if mode == "line":
            return self.proportional.line_range(self.hand.opposition(name).fingers[0])
        if mode == "cylinder" and name != "cylinder":
            raise InputError(f"{self.hand.name}: {name!r} wraps a cylinder and needs method='smooth'")
        return self.proportional.plane_range() if mode == "plane" else self.proportional.cylinder_range

    def _mode_of(self, name: str) -> Mode:
        opposition = self.hand.opposition(name)
        if isinstance(opposition, Wrap):
            return "cylinder"
        return "line" if len(opposition.fingers) == 1 else "plane"

    def _set_of(self, mode: str, finger: str, fingers: int) -> str:
        if mode == "line":
            return self._line_set(finger)
        if mode == "plane":
            return self._plane_set(fingers)
        if mode == "cylinder":
            return self._wrap_set()
        if mode in self.hand.oppositions:
            return mode
        raise UnknownNameError(
            unknown("mode", str(mode), ("line", "plane", "cylinder", *self.hand.oppositions))
        )

    def _line_set(self, finger: str) -> str:
        self.hand.finger_index(finger)
        pinches = {n: o for n, o in self.hand.oppositions.items() if isinstance(o, Opposition)}
        found = [name for name, opposition in pinches.items() if opposition.fingers == (finger,)]
        if not found:
            able = [o.fingers[0] for o in pinches.values() if len(o.fingers) == 1]
            raise UnknownFingerError(
                f"{self.hand.name}: {finger!r} does not oppose the thumb in a line grasp; there are: {', '.join(able)}"
            )
        return found[0]

    def _wrap_set(self) -> str:
        """The set that wraps cylinders: the one named "cylinder", or the only one."""
        wraps = [name for name, entry in self.hand.oppositions.items() if isinstance(entry, Wrap)]
        if "cylinder" in wraps or len(wraps) == 1:
            return "cylinder" if "cylinder" in wraps else wraps[0]
        raise UnknownFingerError(
            f"{self.hand.name}: no one set named 'cylinder' says how to wrap one; there are: "
            f"{', '.join(wraps) or 'none'}"
        )

    def _plane_set(self, fingers: int) -> str:
        sets = {
            len(o.fingers) + 1: n
            for n, o in self.hand.oppositions.items()
            if len(o.fingers) > 1 and isinstance(o, Opposition)
        }
        if isinstance(fingers, bool) or fingers not in sets:
            raise UnknownFingerError(
                f"{self.hand.name}: no plane grasp with {fingers!r} fingers (thumb included); "
                f"there are: {', '.join(map(str, sorted(sets))) or 'none'}"
            )
        return sets[fingers]
