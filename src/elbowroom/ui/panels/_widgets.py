"""Widgets tied to the state.

viser runs plain callbacks on many threads in no order, and calls them also when a program sets a value. These run in
order (they are coroutines on viser's loop, which only queue an event), and only when a person did it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from .._jobs import Job
    from .._view import View
    from ..state import Event, RobotKey

Value = TypeVar("Value")


class Bound(Generic[Value]):
    """An input widget that sends an event when a person changes it, and follows the state otherwise.

    Args:
        handle: of viser: a slider, checkbox, dropdown, number or text.
        desk: where events go.
        event: makes one of the widget's new value; None sends nothing.
    """

    def __init__(self, handle: Any, desk: Desk, event: Callable[[Value], Event | None]) -> None:
        self.handle = handle

        async def changed(happened: Any) -> None:
            if happened.client_id is not None:
                made = event(handle.value)
                if made is not None:
                    desk.send(made)

        handle.on_update(changed)

    def show(self, value: Value, view: View) -> None:
        """Follows the state; not while events wait, or it would pull at the hand that drags it."""
        if view.settled and self.handle.value != value:
            self.handle.value = value


class Shown(Generic[Value]):
    """Something that is brought up to date only when what it shows has changed: `shown(value)` calls `act(value)`.

    Args:
        act: shows a value.
    """

    def __init__(self, act: Callable[[Value], None]) -> None:
        self._act = act
        self._value: Any = self  # no value is this

    def __call__(self, value: Value) -> None:
        """Shows a value if it differs from the last one."""
        if self._value is self or self._value != value:
            self._act(value)
            self._value = value


def on_click(handle: Any, act: Callable[[], object]) -> None:
    """Calls `act` when a person clicks a button, or a node of the scene; it must return at once."""

    async def clicked(happened: Any) -> None:
        if happened.client_id is not None:
            act()

    handle.on_click(clicked)


COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")
"""Okabe and Ito; further lines begin again, dashed."""
HEIGHT = 170
"""Pixels."""


class Plot:
    """Lines over one axis; hidden until there is something to draw.

    Args:
        gui: a `viser.GuiApi`.
        title: above it.
        x: name of the horizontal axis, with its unit.
    """

    def __init__(self, gui: Any, title: str, x: str) -> None:
        self._x = x
        self._handle = gui.add_uplot(
            (np.array([0.0, 1.0]), np.array([0.0, 0.0])),
            _series(x, ("",)),
            title=title,
            scales={"x": {"time": False}},
            height=HEIGHT,
            visible=False,
        )
        self._names: tuple[str, ...] = ("",)

    def show(self, xs: Any, lines: dict[str, Any]) -> None:
        """Draws lines (n,) each over xs (n,); fewer than two points hide the plot."""
        names, at = tuple(lines), np.asarray(xs, dtype=np.float64)
        shown = len(at) > 1 and bool(names)
        if shown:
            if names != self._names:
                self._handle.series = _series(self._x, names)
                self._names = names
            self._handle.data = (at, *(np.asarray(line, dtype=np.float64) for line in lines.values()))
        if self._handle.visible != shown:
            self._handle.visible = shown


def _series(x: str, names: Sequence[str]) -> tuple[Any, ...]:
    lines: list[dict[str, Any]] = [{"label": x}]
    for k, name in enumerate(names):
        line: dict[str, Any] = {"label": name, "stroke": COLOURS[k % len(COLOURS)], "width": 2}
        if k >= len(COLOURS):
            line["dash"] = (6.0, 4.0)
        lines.append({**line, "points": {"show": False}})
    return tuple(lines)


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
