"""Grasping: which hand closes how on what, and what was computed of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ...errors import InputError
from .._commands import grasp_command
from ._event import Event, Part

if TYPE_CHECKING:
    from ...grasp import Grasp, GraspPlanner
    from .._view import View
    from ._page import PageState

GRASP_MODES = ("line", "plane", "cylinder")
GRASP_METHODS = ("smooth", "proportional")
GRASP_KINDS = ("png", "csv", "json")
"""Pictures of the grasp, or its timed approach."""
STEP = 0.1
"""Millimetres, of the sliders."""
HIGHEST = 1000.0
"""Millimetres over the table."""


@dataclass(frozen=True)
class Closure:
    """How a hand closes: all that the range of widths depends on."""

    hand: str
    method: str
    mode: str
    finger: str
    """Of line grasps, else ""."""
    fingers: int
    """Of plane grasps, thumb included, else 0."""


@dataclass(frozen=True)
class GraspState(Part):
    """The question."""

    shown: bool = False
    """Whether the hand is in the scene; nothing is computed before."""
    hand: str = "rh56"
    mode: str = "line"
    method: str = "smooth"
    finger: str = "index"
    fingers: int = 4
    width_mm: float = 30.0
    """Or diameter."""
    height_mm: float = 100.0
    """Over the table."""
    kind: str = "png"
    """What is downloaded."""

    @property
    def closure(self) -> Closure:
        """How it closes."""
        finger = self.finger if self.mode == "line" else ""
        return Closure(self.hand, self.method, self.mode, finger, self.fingers if self.mode == "plane" else 0)

    @property
    def asked(self) -> tuple[Closure, float, float]:
        """What pictures depend on: closure, width and height in mm."""
        return self.closure, self.width_mm, self.height_mm


@dataclass(frozen=True, eq=False)
class Ready:
    """A planner for a closure."""

    closure: Closure
    planner: GraspPlanner
    low_mm: float
    high_mm: float
    """Range of widths, rounded inwards to the slider's steps."""
    able: tuple[str, ...]
    """Fingers of line grasps."""
    counts: tuple[int, ...]
    """Fingers of plane grasps, thumb included."""
    methods: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SweepRows:
    """Grasps over the whole range."""

    closure: Closure
    widths_mm: np.ndarray
    """(n,)"""
    tilts_deg: np.ndarray
    """(n,)"""
    controls: np.ndarray
    """(n, actuators) rad."""


@dataclass(frozen=True, eq=False)
class Views:
    """Pictures of a grasp."""

    pictures: dict[str, np.ndarray]
    """"side", "front" and their "legend", (h, w, 3) bytes each."""
    of: tuple[Any, ...]
    """`GraspState.asked`."""


@dataclass(frozen=True, eq=False)
class GraspLive(Part):
    """What was computed, which may be of a moment ago; undo leaves it alone."""

    kept: ClassVar[bool] = True
    ready: Ready | None = None
    grasp: Grasp | None = None
    grasp_of: tuple[Any, ...] = ()
    """`GraspState.asked` of it."""
    sweep: SweepRows | None = None
    views: Views | None = None


def _number(value: Any, what: str, low: float, high: float) -> float:
    if not (isinstance(value, (int, float)) and isfinite(value) and low <= value <= high):
        raise InputError(f"the {what} must be between {low:g} and {high:g} mm, found {value!r:.40}")
    return round(float(value), 6)


@dataclass(frozen=True)
class SetGrasp(Event):
    """One of the settings of a grasp is another."""

    name: Literal["shown", "hand", "mode", "method", "finger", "fingers", "width_mm", "height_mm", "kind"]
    value: Any

    @property
    def gesture(self) -> str:
        """One widget's changes belong together."""
        return f"grasp {self.name}"

    def apply(self, state: PageState) -> PageState:
        """Another hand begins with what every hand can do; a width out of a known range means its end."""
        value = self.value
        if self.name == "width_mm":
            value = _number(value, "width", 0.0, HIGHEST)
        elif self.name == "height_mm":
            value = _number(value, "height", 0.0, HIGHEST)
        known = {"mode": GRASP_MODES, "method": GRASP_METHODS, "kind": GRASP_KINDS}.get(self.name)
        if known is not None and value not in known:
            raise InputError(f"{self.name}: there is no {value!r:.40}")
        grasp = replace(state.grasp, **{self.name: value})
        if self.name == "hand":
            grasp = replace(grasp, method="smooth", finger="index", fingers=4)
        return replace(state, grasp=_within(grasp, state.grasp_live.ready))

    def command(self, view: View) -> str:
        """The grasp as a file."""
        return grasp_command(view) if view.state.grasp.shown else ""


def _within(grasp: GraspState, ready: Ready | None) -> GraspState:
    """With a width that the hand can do, if that is known."""
    if ready is None or ready.closure != grasp.closure:
        return grasp
    return replace(grasp, width_mm=min(max(grasp.width_mm, ready.low_mm), ready.high_mm))


@dataclass(frozen=True, eq=False)
class GraspReady(Event):
    """A planner has been made."""

    undoable: ClassVar[bool] = False
    ready: Ready

    def apply(self, state: PageState) -> PageState:
        """The width comes into its range."""
        live = replace(state.grasp_live, ready=self.ready)
        return replace(state, grasp=_within(state.grasp, self.ready), grasp_live=live)


@dataclass(frozen=True, eq=False)
class GraspMade(Event):
    """A grasp has been planned."""

    undoable: ClassVar[bool] = False
    grasp: Grasp
    of: tuple[Any, ...]

    @property
    def gesture(self) -> str:
        """Only the latest counts."""
        return "grasp made"

    def apply(self, state: PageState) -> PageState:
        """It is the latest."""
        return replace(state, grasp_live=replace(state.grasp_live, grasp=self.grasp, grasp_of=self.of))


@dataclass(frozen=True, eq=False)
class GraspSwept(Event):
    """Grasps over a whole range have been planned."""

    undoable: ClassVar[bool] = False
    sweep: SweepRows

    def apply(self, state: PageState) -> PageState:
        """They are the latest."""
        return replace(state, grasp_live=replace(state.grasp_live, sweep=self.sweep))


@dataclass(frozen=True, eq=False)
class GraspDrawn(Event):
    """Pictures of a grasp have been drawn."""

    undoable: ClassVar[bool] = False
    views: Views

    def apply(self, state: PageState) -> PageState:
        """They are the latest."""
        return replace(state, grasp_live=replace(state.grasp_live, views=self.views))


def inwards(low: float, high: float) -> tuple[float, float]:
    """A range in metres as millimetres, rounded inwards to the slider's steps."""
    first, last = ceil(low * 1e3 / STEP - 1e-6), floor(high * 1e3 / STEP + 1e-6)
    return round(first * STEP, 6), round(last * STEP, 6)
