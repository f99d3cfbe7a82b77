"""PageState: all that a page knows, in one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import ClassVar

from ._event import Event, Part
from ._export import ExportState
from ._grasp import GraspLive, GraspState
from ._ik import IkState
from ._look import LookState
from ._model import LiveState, ModelParts
from ._pairs import PairsState
from ._plan import PlanLive, PlanState
from ._robot import RobotState
from ._spheres import SpheresState
from ._teleop import TeleopState
from ._world import WorldState


@dataclass(frozen=True, eq=False)
class PageState:
    """A part per panel; a new panel adds its own as one more field here."""

    robot: RobotState = field(default_factory=RobotState)
    model: ModelParts = field(default_factory=ModelParts)
    look: LookState = field(default_factory=LookState)
    live: LiveState = field(default_factory=LiveState)
    spheres: SpheresState = field(default_factory=SpheresState)
    pairs: PairsState = field(default_factory=PairsState)
    world: WorldState = field(default_factory=WorldState)
    ik: IkState = field(default_factory=IkState)
    plan: PlanState = field(default_factory=PlanState)
    plan_live: PlanLive = field(default_factory=PlanLive)
    grasp: GraspState = field(default_factory=GraspState)
    grasp_live: GraspLive = field(default_factory=GraspLive)
    export: ExportState = field(default_factory=ExportState)
    teleop: TeleopState = field(default_factory=TeleopState)

    def keeping(self, current: PageState) -> PageState:
        """This state with those parts of another that undo leaves alone."""
        parts: dict[str, Part] = {entry.name: getattr(current, entry.name) for entry in fields(current)}
        return replace(self, **{name: part for name, part in parts.items() if part.kept})


def update(state: PageState, event: Event) -> PageState:
    """The state after an event; pure.

    Raises:
        ElbowroomError: the event makes no sense in this state.
    """
    return event.apply(state)


LONGEST = 200
"""Steps that can be undone."""
PAUSE = 1.0
"""Seconds after which the same slider's next move is a step of its own."""


@dataclass(frozen=True)
class Undo(Event):
    """Back to the state before the last step."""

    undoable: ClassVar[bool] = False


@dataclass(frozen=True)
class Redo(Event):
    """Forward again."""

    undoable: ClassVar[bool] = False


@dataclass(frozen=True, eq=False)
class History:
    """The state as it is, those before it and those undone."""

    state: PageState = field(default_factory=PageState)
    past: tuple[PageState, ...] = ()
    """The oldest first."""
    future: tuple[PageState, ...] = ()
    """The next one first."""
    gesture: str = ""
    """Of the last step."""
    time: float = float("-inf")
    """Of the last event of that gesture, seconds."""

    def after(self, event: Event, now: float) -> History:
        """The history after an event.

        Args:
            event: what happened.
            now: seconds on a clock that never goes back.

        Raises:
            ElbowroomError: the event makes no sense in this state.
        """
        if isinstance(event, Undo):
            return self._back()
        if isinstance(event, Redo):
            return self._forward()
        state = update(self.state, event)
        if state is self.state:
            return self
        if not event.undoable or self.state.robot.key is None:  # there is nothing before the first robot
            return replace(self, state=state)
        same = event.gesture != "" and event.gesture == self.gesture and now - self.time < PAUSE
        past = self.past if same else (*self.past, self.state)[-LONGEST:]
        return History(state, past, (), event.gesture, now)

    def _back(self) -> History:
        if not self.past:
            return self
        state = self.past[-1].keeping(self.state)
        return History(state, self.past[:-1], (self.state, *self.future))

    def _forward(self) -> History:
        if not self.future:
            return self
        state = self.future[0].keeping(self.state)
        return History(state, (*self.past, self.state), self.future[1:])
