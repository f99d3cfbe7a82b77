"""What the CollisionModel is made of, besides the robot. Spheres, pairs and obstacles of all panels meet here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...errors import InputError
from ...typing import sorted_pair
from ._event import Event, Part

if TYPE_CHECKING:
    from ...pairs import PairMatrix
    from ...spheres import SphereModel
    from ...typing import LinkPair
    from ...world import World
    from ._page import PageState


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
    """Other spheres; None for the default fit. Pairs are decided anew, for they hold for the spheres they came from."""

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


@dataclass(frozen=True)
class SetAllow(Event):
    """Which pairs (link, obstacle) may touch."""

    allow: tuple[tuple[str, str], ...]

    def apply(self, state: PageState) -> PageState:
        """Instead of those before."""
        return _with(state, replace(state.model, allow=self.allow))


@dataclass(frozen=True)
class SetBuffer(Event):
    """Clearance that every pair must keep, metres."""

    buffer: float

    @property
    def gesture(self) -> str:
        """A slider's moves belong together."""
        return "buffer"

    def apply(self, state: PageState) -> PageState:
        """From 0 up."""
        if not 0.0 <= self.buffer < 1.0:
            raise InputError(f"the buffer must be between 0 and 1 m, found {self.buffer!r}")
        return _with(state, replace(state.model, buffer=float(self.buffer)))


@dataclass(frozen=True, eq=False)
class Attach(Event):
    """An object is fixed to a link."""

    item: Held

    def apply(self, state: PageState) -> PageState:
        """Names are taken once."""
        if any(item.name == self.item.name for item in state.model.attached):
            raise InputError(f"an object {self.item.name!r} is attached already")
        return _with(state, replace(state.model, attached=(*state.model.attached, self.item)))


@dataclass(frozen=True)
class Detach(Event):
    """An attached object is gone."""

    name: str

    def apply(self, state: PageState) -> PageState:
        """The others stay."""
        left = tuple(item for item in state.model.attached if item.name != self.name)
        return _with(state, replace(state.model, attached=left))
