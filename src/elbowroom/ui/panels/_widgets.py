"""Widgets tied to the state.

viser runs plain callbacks on many threads in no order, and calls them also when a program sets a value. These run in
order (they are coroutines on viser's loop, which only queue an event), and only when a person did it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from .._view import View
    from ..state import Event
    from ._desk import Desk

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
