"""Planning: from where to where and how, the motion that was found, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ...errors import InputError
from .._commands import plan_command
from ._event import Event, Part
from ._model import ModelParts
from ._robot import Cfg, RobotKey

if TYPE_CHECKING:
    from ...collision import ConstantClearance
    from ...plan import PlanResult
    from .._view import View
    from ._page import PageState

HERE = "current pose"
"""Name of the place where the robot stands when planning begins."""
TAKEN = "as taken"
"""Name of a place that was taken from where the robot stood."""
PLAN_METHODS = ("auto", "sampler", "stomp")
PLAN_KINDS = ("csv", "json")
"""What a motion is written as."""
LONGEST = 600.0
"""Seconds that a search may take."""


@dataclass(frozen=True)
class Place:
    """Where a motion begins or ends."""

    name: str = HERE
    cfg: Cfg | None = None
    """(dof,) rad or m; None for where the robot stands when planning begins."""
    key: RobotKey | None = None
    """The robot that it is of."""

    def at(self, state: PageState) -> Cfg:
        """The configuration; where the robot stands if this one is of another robot."""
        return state.robot.cfg if self.cfg is None or self.key != state.robot.key else self.cfg


@dataclass(frozen=True)
class Asked:
    """A question to `plan_motion`."""

    key: RobotKey
    parts: ModelParts
    start: Cfg
    goal: Cfg
    method: str
    timeout: float
    seed: int


@dataclass(frozen=True, eq=False)
class Planned:
    """An answer, and of what."""

    asked: Asked
    result: PlanResult


@dataclass(frozen=True, eq=False)
class PlanState(Part):
    """The question, and the latest answer."""

    start: Place = Place()
    goal: Place = Place()
    method: str = "auto"
    timeout: float = 5.0
    """Seconds."""
    seed: int = 0
    kind: str = "csv"
    """What the motion is downloaded as."""
    found: Planned | None = None
    time: float = 0.0
    """Seconds of the motion at which the robot is shown."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What was measured and proved along a motion."""

    result: PlanResult
    times: np.ndarray
    """(m,) seconds."""
    measured: np.ndarray
    """(m,) measured clearances at these times of what the motion can change, metres; infinite where nothing varies."""
    proved: np.ndarray
    """(n - 1,) proved lower bounds of the clearance between the n rows of the path, metres; NaN where nothing is."""
    ways: np.ndarray
    """(links, n, 3) where the ends of the robot that move are at each row, in the world."""
    constant: tuple[ConstantClearance, ...] = ()
    """Clearances that the motion cannot change and that are closer."""


@dataclass(frozen=True)
class Goes:
    """How a search goes."""

    doing: str = ""
    """In words; nothing before it begins."""
    seconds: float = 0.0
    nodes: int = 0
    costs: tuple[float, ...] = ()
    """Of STOMP, by iteration."""


@dataclass(frozen=True, eq=False)
class PlanLive(Part):
    """What is shown of planning; undo leaves it alone."""

    kept: ClassVar[bool] = True
    goes: Goes = field(default_factory=Goes)
    evidence: Evidence | None = None
    """May be of an earlier result."""
    line: bool = True
    """Whether the ways of the hands are drawn."""
    ghosts: bool = True
    """Whether the robot is drawn at several moments."""
    speed: float = 1.0
    """Of playing."""


@dataclass(frozen=True)
class SetPlace(Event):
    """Start or goal is another."""

    which: Literal["start", "goal"]
    place: Place

    def apply(self, state: PageState) -> PageState:
        """It belongs to the current robot."""
        place = replace(self.place, key=state.robot.key)
        if place.cfg is not None:
            place = replace(place, cfg=state.robot.within(place.cfg))
        plan = replace(state.plan, start=place) if self.which == "start" else replace(state.plan, goal=place)
        return replace(state, plan=plan)


@dataclass(frozen=True)
class SetPlan(Event):
    """A setting of the search, or of the download: "method", "timeout", "seed" or "kind"."""

    name: Literal["method", "timeout", "seed", "kind"]
    value: Any

    @property
    def gesture(self) -> str:
        """One widget's changes belong together."""
        return f"plan {self.name}"

    def apply(self, state: PageState) -> PageState:
        """Only what `PlanOptions` takes."""
        value = self.value
        if self.name == "timeout":
            if not (isfinite(value) and 0.0 < value <= LONGEST):
                raise InputError(
                    f"the timeout must be above 0 and at most {LONGEST:g} s, found {value!r:.40}"
                )
            value = float(value)
        elif self.name == "seed":
            if not (isfinite(value) and 0 <= value < 2**32 and int(value) == value):
                raise InputError(f"the seed must be a whole number from 0 up, found {value!r:.40}")
            value = int(value)
        elif value not in (PLAN_METHODS if self.name == "method" else PLAN_KINDS):
            raise InputError(f"{self.name}: there is no {value!r:.40}")
        return replace(state, plan=replace(state.plan, **{self.name: value}))

    def command(self, view: View) -> str:
        """How the motion is written, if there is one."""
        return plan_command(view) if self.name == "kind" else ""


@dataclass(frozen=True, eq=False)
class PlanFound(Event):
    """A motion was found, or why there is none."""

    planned: Planned

    def apply(self, state: PageState) -> PageState:
        """It is shown from its beginning; an answer for a robot that is gone is dropped.

        Places where the robot stood are kept as such, so that planning again asks the same whatever was played.
        """
        asked, plan = self.planned.asked, state.plan
        if asked.key != state.robot.key:
            return state
        start, goal = (
            Place(TAKEN, cfg, asked.key) if place.cfg is None else place
            for place, cfg in ((plan.start, asked.start), (plan.goal, asked.goal))
        )
        after = replace(state, plan=replace(plan, start=start, goal=goal, found=self.planned, time=0.0))
        return after if self.planned.result.motion is None else Seek(0.0).apply(after)

    def command(self, view: View) -> str:
        """The same motion as a file."""
        return plan_command(view)


@dataclass(frozen=True)
class Seek(Event):
    """The robot is shown at a time of the motion, seconds; beyond its ends means at them."""

    time: float

    @property
    def gesture(self) -> str:
        """Of dragging, and of playing."""
        return "seek"

    def apply(self, state: PageState) -> PageState:
        """The robot moves there."""
        found = state.plan.found
        motion = None if found is None else found.result.motion
        if found is None or motion is None or found.asked.key != state.robot.key:
            raise InputError("there is no motion of this robot to show; plan one")
        if not isfinite(self.time):
            raise InputError(f"a time is a number of seconds, found {self.time!r}")
        time = min(max(float(self.time), 0.0), motion.duration)
        cfg = state.robot.within(tuple(motion.at(time).tolist()))
        return replace(state, plan=replace(state.plan, time=time), robot=replace(state.robot, cfg=cfg))

    def command(self, view: View) -> str:
        """The motion as a file."""
        return plan_command(view)


@dataclass(frozen=True)
class PlanGoes(Event):
    """A search goes on."""

    undoable: ClassVar[bool] = False
    goes: Goes

    @property
    def gesture(self) -> str:
        """Only the latest counts."""
        return "plan goes"

    def apply(self, state: PageState) -> PageState:
        """It is the latest."""
        return replace(state, plan_live=replace(state.plan_live, goes=self.goes))


@dataclass(frozen=True, eq=False)
class PlanMeasured(Event):
    """A motion has been looked at along its way."""

    undoable: ClassVar[bool] = False
    evidence: Evidence

    def apply(self, state: PageState) -> PageState:
        """It is the latest."""
        return replace(state, plan_live=replace(state.plan_live, evidence=self.evidence))


@dataclass(frozen=True)
class ShowPlan(Event):
    """What of a motion is drawn, and how fast it plays: "line", "ghosts" or "speed"."""

    undoable: ClassVar[bool] = False
    name: Literal["line", "ghosts", "speed"]
    value: Any

    def apply(self, state: PageState) -> PageState:
        """The others stay."""
        return replace(state, plan_live=replace(state.plan_live, **{self.name: self.value}))
