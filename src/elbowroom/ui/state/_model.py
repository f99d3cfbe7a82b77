"""What the CollisionModel is made of, besides the robot. Spheres, pairs and obstacles of all panels meet here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ...typing import sorted_pair
from ._event import Event, Part

if TYPE_CHECKING:
    from ...collision import CollisionModel, Verdict
    from ...pairs import PairMatrix
    from ...spheres import SphereModel
    from ...typing import LinkPair
    from ...world import World
    from ._page import PageState
    from ._robot import Cfg, RobotKey


@dataclass(frozen=True, eq=False)
class Held:
    """An object fixed to a link: the arguments of `CollisionModel.attach`."""

    name: str
    link: str
    shape: Any
    pose: Any = None
    """In the link frame."""
    touch_links: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ModelParts(Part):
    """Arguments of `CollisionModel`; None takes its defaults. Whenever one changes, the page makes a new model."""

    spheres: SphereModel | None = None
    pairs: PairMatrix | None = None
    overrides: tuple[tuple[LinkPair, bool], ...] = ()
    """Pairs that the user decided: whether each is checked. They hold over `pairs`."""
    world: World | None = None
    allow: tuple[tuple[str, str], ...] = ()
    """Pairs (link, obstacle) that may touch."""
    attached: tuple[Held, ...] = ()
    buffer: float = 0.0
    """Metres."""

    def same_robot(self, other: ModelParts) -> bool:
        """Whether only obstacles differ, which a model changes in no time."""
        return (
            self.spheres is other.spheres
            and self.pairs is other.pairs
            and self.overrides == other.overrides
            and self.attached == other.attached
            and self.buffer == other.buffer
        )


def _with(state: PageState, parts: ModelParts) -> PageState:
    return replace(state, model=parts)


@dataclass(frozen=True, eq=False)
class SetSpheres(Event):
    """Other spheres; None for the default fit. Pairs are decided again, since they hold for the spheres they came
    from."""

    spheres: SphereModel | None
    by: str = ""
    """The gesture it is part of, such as dragging a sphere; "" for none."""

    @property
    def gesture(self) -> str:
        """As given."""
        return self.by

    def apply(self, state: PageState) -> PageState:
        """What the user decided of pairs stays."""
        return _with(state, replace(state.model, spheres=self.spheres, pairs=None))


@dataclass(frozen=True, eq=False)
class SetPairs(Event):
    """Other pairs; None for those computed by default. What the user decided before is forgotten."""

    pairs: PairMatrix | None

    def apply(self, state: PageState) -> PageState:
        """The rest stays."""
        return _with(state, replace(state.model, pairs=self.pairs, overrides=()))


@dataclass(frozen=True)
class OverridePair(Event):
    """The user's word on a pair of links: checked, not checked, or None for no word."""

    a: str
    b: str
    checked: bool | None

    def apply(self, state: PageState) -> PageState:
        """The last word on a pair counts."""
        pair = sorted_pair(self.a, self.b)
        others = tuple(entry for entry in state.model.overrides if entry[0] != pair)
        own = () if self.checked is None else ((pair, self.checked),)
        return _with(state, replace(state.model, overrides=(*others, *own)))


@dataclass(frozen=True, eq=False)
class SetWorld(Event):
    """Other obstacles; None for none."""

    world: World | None
    by: str = ""
    """The gesture it is part of, such as dragging one of them; "" for none."""

    @property
    def gesture(self) -> str:
        """As given."""
        return self.by

    def apply(self, state: PageState) -> PageState:
        """What may touch an obstacle that is gone is forgotten."""
        names = () if self.world is None else self.world.names
        allow = tuple(pair for pair in state.model.allow if pair[1] in names)
        return _with(state, replace(state.model, world=self.world, allow=allow))


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
