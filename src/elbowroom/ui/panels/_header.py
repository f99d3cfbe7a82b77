"""The head of the page: what is being done, undo and redo, light and dark, the command of the last action."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._commands import needed_files
from .._escape import escape
from ..state import Redo, SetDark, Undo
from ._widgets import Shown, on_click

if TYPE_CHECKING:
    from .._view import Busy, View
    from ._desk import Desk

BRAND = (0, 114, 178)


class Header:
    """Above the tabs."""

    def __init__(self, gui: Any, client: Any, desk: Desk) -> None:
        self._status = gui.add_markdown("Starting ...")
        self._bar = gui.add_progress_bar(0.0, visible=False)
        self._cancel = gui.add_button("Cancel", visible=False)
        on_click(self._cancel, desk.cancel)
        steps = gui.add_button_group("Edit", ("Undo", "Redo", "Dark"))
        on_click(steps, lambda: self._press(steps.value, desk))
        self._command = gui.add_text(
            "Command", "", hint="Repeats the last action in a terminal", visible=False
        )
        self._needs = gui.add_markdown("", visible=False)
        self._line = Shown[str](self._show_status)
        self._share = Shown[float | None](self._show_share)
        self._busy = Shown[bool](self._show_busy)
        self._words = Shown[tuple[str, str]](self._show_command)
        self._dark = Shown[bool](
            lambda dark: gui.configure_theme(
                dark_mode=dark, show_logo=False, show_share_button=False, brand_color=BRAND
            )
        )
        for label, key, modifier in (
            ("Undo", "Z", "cmd/ctrl"),
            ("Redo", "Y", "cmd/ctrl"),
            ("Dark", "D", "shift"),
        ):
            self._hotkey(gui, desk, label, key, modifier)

    def _hotkey(self, gui: Any, desk: Desk, label: str, key: str, modifier: str) -> None:
        async def triggered(_: Any) -> None:
            self._press(label, desk)

        gui.add_command(label, hotkey=key, modifier=modifier).on_trigger(triggered)

    def _press(self, label: str, desk: Desk) -> None:
        if label == "Dark":
            desk.send(SetDark(not desk.view.state.look.dark))
        else:
            desk.send(Undo() if label == "Undo" else Redo())

    def show(self, view: View) -> None:
        """Brings it up to date."""
        self._dark(view.state.look.dark)
        self._line(status(view))
        self._busy(bool(view.busy))
        self._share(view.busy[0].share if view.busy else None)
        self._words((view.command, needs(view)))

    def _show_status(self, text: str) -> None:
        self._status.content = text

    def _show_busy(self, busy: bool) -> None:
        self._cancel.visible = busy

    def _show_share(self, share: float | None) -> None:
        self._bar.visible = share is not None
        if share is not None:
            self._bar.value = 100.0 * share

    def _show_command(self, shown: tuple[str, str]) -> None:
        command, first = shown
        self._command.value, self._command.visible = command, bool(command)
        self._needs.content, self._needs.visible = first, bool(first)


def needs(view: View) -> str:
    """Files without which the command cannot be run, as Markdown; "" for none."""
    words = view.command.split()
    names = [escape(name) for name in needed_files(view) if name in words]
    return f"It needs {' and '.join(names)}, from Export." if names else ""


def status(view: View) -> str:
    """The line that says what is going on, as Markdown."""
    if view.busy:
        return "; ".join(map(_doing, view.busy)) + " ..."
    if view.robot is None:
        return "No robot is loaded."
    verdict = {None: "", True: ", free", False: ", **⚠ not free**"}[view.free]
    return (
        f"**{escape(view.robot.name)}**: {view.robot.dof} joints, {len(view.robot.link_names)} links{verdict}"
    )


def _doing(busy: Busy) -> str:
    text = escape(busy.title)
    return text[:1].upper() + text[1:]
