"""What was exported. Undo leaves it alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ...errors import InputError
from ._event import Event, Part

if TYPE_CHECKING:
    from .._view import View
    from ._page import PageState


@dataclass(frozen=True)
class ExportState(Part):
    """The format that is chosen, and what was written last."""

    kept: ClassVar[bool] = True
    kind: str = "model"
    """Of `_exports.KINDS`."""
    path: str = ""
    """As it was typed."""
    done: Exported | None = None


@dataclass(frozen=True)
class ChooseExport(Event):
    """A format is chosen, or a path typed."""

    undoable: ClassVar[bool] = False
    kind: str
    path: str

    def apply(self, state: PageState) -> PageState:
        """What was written before is not spoken of any more."""
        from .._exports import KINDS, MAX_PATH

        if self.kind not in KINDS:
            raise InputError(f"there is no format {self.kind!r:.40}")
        done = state.export.done if self.kind == state.export.kind else None
        return replace(state, export=ExportState(self.kind, self.path[:MAX_PATH], done))


@dataclass(frozen=True)
class Exported(Event):
    """A file was written or downloaded."""

    undoable: ClassVar[bool] = False
    kind: str
    place: str
    """Path, or name of the download."""
    size: int
    """Bytes."""
    notes: tuple[str, ...]
    """What the format cannot hold, and what to keep in mind."""
    words: str
    """The command that repeats it; "" for none."""

    def apply(self, state: PageState) -> PageState:
        """It is the last."""
        return replace(state, export=replace(state.export, done=self))

    def command(self, view: View) -> str:
        """As it was when it was written."""
        return self.words
