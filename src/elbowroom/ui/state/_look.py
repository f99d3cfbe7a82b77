"""How things are shown: which layers, which link is picked, light or dark. Undo leaves it alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, ClassVar, Literal

from ...errors import InputError
from ._event import Event, Part

if TYPE_CHECKING:
    from ._page import PageState

LayerName = Literal["visual", "collision", "spheres"]
HINTS = 3
"""First steps that a new visitor is shown."""


@dataclass(frozen=True)
class Layer:
    """One of the models of a robot."""

    shown: bool
    opacity: float = 1.0
    """From 0 to 1."""


@dataclass(frozen=True)
class LookState(Part):
    """How things are shown."""

    kept: ClassVar[bool] = True
    visual: Layer = Layer(True)
    collision: Layer = Layer(False, 0.5)
    spheres: Layer = Layer(False, 0.4)
    link: str | None = None
    """The link that is picked."""
    dark: bool = False
    hint: int = 0
    """Which of the first steps is shown, from 1; 0 for none."""


@dataclass(frozen=True)
class ShowLayer(Event):
    """A model is shown or hidden."""

    undoable: ClassVar[bool] = False
    layer: LayerName
    shown: bool

    def apply(self, state: PageState) -> PageState:
        """Its opacity stays."""
        layer: Layer = getattr(state.look, self.layer)
        changed = {self.layer: replace(layer, shown=self.shown)}
        return replace(state, look=replace(state.look, **changed))


@dataclass(frozen=True)
class Fade(Event):
    """A model becomes more or less transparent."""

    undoable: ClassVar[bool] = False
    layer: LayerName
    opacity: float

    @property
    def gesture(self) -> str:
        """One slider's moves belong together."""
        return f"fade {self.layer}"

    def apply(self, state: PageState) -> PageState:
        """From 0 to 1."""
        if not isfinite(self.opacity):
            raise InputError(f"an opacity is between 0 and 1, found {self.opacity!r}")
        layer: Layer = getattr(state.look, self.layer)
        changed = {self.layer: replace(layer, opacity=min(max(self.opacity, 0.0), 1.0))}
        return replace(state, look=replace(state.look, **changed))


@dataclass(frozen=True)
class PickLink(Event):
    """A link is picked; None for none."""

    undoable: ClassVar[bool] = False
    link: str | None

    def apply(self, state: PageState) -> PageState:
        """Picking the picked one lets it go."""
        link = None if self.link == state.look.link else self.link
        return replace(state, look=replace(state.look, link=link))


@dataclass(frozen=True)
class SetDark(Event):
    """Light or dark."""

    undoable: ClassVar[bool] = False
    dark: bool

    def apply(self, state: PageState) -> PageState:
        """Of the page."""
        return replace(state, look=replace(state.look, dark=self.dark))


@dataclass(frozen=True)
class NextHint(Event):
    """The next of the first steps is to be shown, or none any more."""

    undoable: ClassVar[bool] = False
    dismissed: bool = False

    def apply(self, state: PageState) -> PageState:
        """After the last there is none."""
        hint = 0 if self.dismissed or state.look.hint == 0 else (state.look.hint + 1) % (HINTS + 1)
        return replace(state, look=replace(state.look, hint=hint))
