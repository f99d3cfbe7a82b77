"""What a panel is, and what it may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .._jobs import Job
    from .._view import View
    from ..state import Event, RobotKey


class Desk(Protocol):
    """Where a panel turns to. All of it may be called from any thread and returns at once."""

    @property
    def view(self) -> View:
        """What is shown now."""
        ...

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the page: others may not write here, nor open ports."""
        ...

    def send(self, event: Event) -> None:
        """Something happened."""
        ...

    def ask(self, key: str, question: Callable[[], Event | None], lane: str = "") -> None:
        """Has something of some milliseconds computed; of questions of one key that wait, only the latest.

        Args:
            key: of the question. question: gives the event that brings in the answer. lane: those of one lane are
                answered one after the other; another lane does not wait for them.
        """
        ...

    def run(self, job: Job) -> None:
        """Starts long work, with progress and a button to cancel it."""
        ...

    def cancel(self, key: str | None = None) -> None:
        """Cancels long work of a key, or all."""
        ...

    def say(self, text: str, *, error: bool = False) -> None:
        """Shows a message."""
        ...

    def download(self, name: str, data: bytes) -> None:
        """Hands a file to the browser."""
        ...

    def open(self, key: RobotKey) -> None:
        """Loads a robot and shows it."""
        ...


class Panel(Protocol):
    """One tab of the page."""

    title: str
    """Of the tab, one word."""

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        """Adds widgets to `gui` (a `viser.GuiApi`, in the tab) and nodes to `scene` (a `viser.SceneApi`)."""
        ...

    def show(self, view: View) -> None:
        """Brings widgets and nodes up to date, changing only what differs; on the worker's thread, often."""
        ...
