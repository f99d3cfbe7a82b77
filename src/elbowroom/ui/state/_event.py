"""The bases of events and of parts of the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from .._view import View
    from ._page import PageState


@dataclass(frozen=True)
class Part:
    """One panel's part of the state."""

    kept: ClassVar[bool] = False
    """Whether undo and redo leave it as it is: how things are shown, and what was computed."""


@dataclass(frozen=True)
class Event:
    """Something that happened on a page. Subclasses are frozen dataclasses and define `apply`."""

    undoable: ClassVar[bool] = True
    """Whether it is a step of undo; what only changes `kept` parts is not."""

    @property
    def gesture(self) -> str:
        """Events of one gesture in a row, such as the moves of one slider, are one step of undo, and of those that
        wait only the latest is applied; "" for an event that stands alone."""
        return ""

    @property
    def repeatable(self) -> bool:
        """Whether the command line that is shown is of this event: of steps of undo, and of others that have one."""
        return self.undoable or type(self).command is not Event.command

    def apply(self, state: PageState) -> PageState:
        """The state after it; pure.

        Raises:
            ElbowroomError: it makes no sense here; the page reports it and keeps its state.
        """
        raise NotImplementedError

    def command(self, view: View) -> str:
        """The command line that repeats it, asked after it was applied; "" where there is none."""
        return ""


@dataclass(frozen=True)
class Refresh(Event):
    """Nothing that is known has changed: progress is to be shown, or the camera stands elsewhere."""

    undoable: ClassVar[bool] = False

    @property
    def gesture(self) -> str:
        """Of those that wait, one is enough."""
        return "refresh"

    def apply(self, state: PageState) -> PageState:
        """As it was."""
        return state
