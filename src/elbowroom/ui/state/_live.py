"""What was computed of the robot as it stands: the model and its verdict. Undo leaves it alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ._event import Event, Part
from ._key import RobotKey
from ._model import ModelParts
from ._robot import Cfg

if TYPE_CHECKING:
    from ...collision import CollisionModel, Verdict
    from ._page import PageState


@dataclass(frozen=True, eq=False)
class Verdicts:
    """A verdict, and of what."""

    verdict: Verdict
    cfg: Cfg
    model: CollisionModel


@dataclass(frozen=True, eq=False)
class LiveState(Part):
    """The latest model and verdict, which may be of a moment ago."""

    kept: ClassVar[bool] = True
    model: CollisionModel | None = None
    made_of: tuple[RobotKey, ModelParts] | None = None
    found: Verdicts | None = None
    segment: bool = True
    """Whether the shortest segment is drawn."""
    contacts: bool = True
    """Whether contacts and their normals are drawn."""
    names: bool = True
    """Whether what touches is named in the picture."""


@dataclass(frozen=True, eq=False)
class ModelMade(Event):
    """A model has been made of a robot and parts."""

    undoable: ClassVar[bool] = False
    model: CollisionModel
    key: RobotKey
    parts: ModelParts

    def apply(self, state: PageState) -> PageState:
        """It is the latest. A robot that still stands where it was opened goes to the model's default pose, which is
        free where the robot's own is a guess that collides."""
        before, robot, own = state.live.made_of, state.robot, self.model.robot.default_cfg
        first = robot.key == self.key and (before is None or before[0] != self.key)
        if first and robot.cfg == robot.within(tuple(own.tolist())):
            robot = replace(robot, cfg=robot.within(tuple(self.model.default_cfg.tolist())))
        live = replace(state.live, model=self.model, made_of=(self.key, self.parts))
        return replace(state, robot=robot, live=live)


@dataclass(frozen=True, eq=False)
class VerdictFound(Event):
    """The verdict on a configuration has been found."""

    undoable: ClassVar[bool] = False
    found: Verdicts

    @property
    def gesture(self) -> str:
        """Only the latest counts."""
        return "verdict"

    def apply(self, state: PageState) -> PageState:
        """It is the latest."""
        return replace(state, live=replace(state.live, found=self.found))


@dataclass(frozen=True)
class ShowLive(Event):
    """What of a verdict is drawn."""

    undoable: ClassVar[bool] = False
    segment: bool
    contacts: bool
    names: bool

    def apply(self, state: PageState) -> PageState:
        """All three at once."""
        live = replace(state.live, segment=self.segment, contacts=self.contacts, names=self.names)
        return replace(state, live=live)
