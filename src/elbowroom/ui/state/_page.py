"""PageState: all that a page knows, in one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from ._event import Event, Part
from ._export import ExportState
from ._grasp import GraspLive, GraspState
from ._ik import IkState
from ._live import LiveState
from ._look import LookState
from ._model import ModelParts
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
