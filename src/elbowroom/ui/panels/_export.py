"""The Export panel: every format, as a download or at a path, and the command that writes the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._commands import file_name
from .._escape import escape
from .._exports import KINDS, export_bytes, export_command, export_to, typed_path
from .._jobs import Job, Report
from ..state import ChooseExport, Event, Exported
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from .._view import View
    from ._widgets import Desk

LABELS = {kind.label: name for name, kind in KINDS.items()}
MOST_NOTES = 12
"""Notes that are shown."""


class ExportPanel:
    """See the module."""

    title = "Export"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._desk = desk
        self._format = Bound[str](
            gui.add_dropdown("Format", tuple(LABELS)), desk, lambda label: self._choose(LABELS[label])
        )
        self._about = gui.add_markdown("")
        on_click(gui.add_button("Download"), self._download)
        self._path: Bound[str] | None = None
        if desk.local:
            text = gui.add_text("Path", "", hint="An existing folder, or a file in one")
            self._path = Bound(text, desk, lambda path: ChooseExport(self._kind, path))
            on_click(gui.add_button("Write to path"), self._write)
        else:
            gui.add_markdown("Downloads only, because other machines can reach this page.")
        self._result = gui.add_markdown("")
        self._command = gui.add_text("Command", "", multiline=True, hint="Writes the same file in a terminal")
        self._first = gui.add_markdown("")
        self._described = Shown[str](lambda kind: self._set(self._about, KINDS[kind].about))
        self._done = Shown[Exported | None](lambda done: self._set(self._result, report(done)))
        self._offered = Shown[tuple[str, str]](self._show_command)

    @property
    def _kind(self) -> str:
        return self._desk.view.state.export.kind

    def _choose(self, kind: str) -> Event:
        return ChooseExport(kind, self._desk.view.state.export.path)

    def _download(self) -> None:
        view, kind = self._desk.view, self._kind

        def work(_: Report) -> Event:
            files, notes = export_bytes(view, kind)
            for name, data in files.items():
                self._desk.download(name, data)
            name = next(iter(files))
            return Exported(kind, name, len(files[name]), notes, export_command(view, kind)[0])

        self._desk.run(Job("export", f"writing {KINDS[kind].label}", work))

    def _write(self) -> None:
        view, kind = self._desk.view, self._kind
        typed = "" if self._path is None else str(self._path.handle.value)

        def work(_: Report) -> Event:
            path = typed_path(view, kind, typed)
            notes = export_to(view, kind, path)
            words, _needs = export_command(view, kind, str(path))
            return Exported(kind, str(path), path.stat().st_size, notes, words)

        self._desk.run(Job("export", f"writing {KINDS[kind].label}", work))

    def show(self, view: View) -> None:
        """Brings the panel up to date."""
        export = view.state.export
        self._format.show(KINDS[export.kind].label, view)
        if self._path is not None:
            self._path.show(export.path, view)
        self._described(export.kind)
        self._done(export.done)
        words, needs = export_command(view, export.kind)
        if export.done is not None and export.done.words:
            words = export.done.words
        names = " and ".join(escape(file_name(view, KINDS[need].ending)) for need in needs)
        self._offered((words, names))

    def _show_command(self, offered: tuple[str, str]) -> None:
        words, names = offered
        self._command.value, self._command.visible = words, bool(words)
        self._first.content = f"It needs {names}: download that first, above." if words and names else ""

    @staticmethod
    def _set(handle: Any, text: str) -> None:
        handle.content = text


def report(done: Exported | None) -> str:
    """What was written and what is not in it, as Markdown."""
    if done is None:
        return ""
    lines = [f"**{escape(done.place, 300)}**: {done.size / 1000:,.1f} kB"]
    lines += [f"- {escape(note, 300)}" for note in done.notes[:MOST_NOTES]]
    if len(done.notes) > MOST_NOTES:
        lines.append(f"- ... and {len(done.notes) - MOST_NOTES} more")
    return "\n".join([lines[0], "", *lines[1:]])
