"""What the next fit is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._escape import escape
from ..state import Event, FitForm, SetFit
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from ...robot import Robot
    from .._view import View
    from ._desk import Desk

METHODS, COUNTS = ("tight", "centerline"), ("automatic", "in all", "per link")
NONE = "-"


class FitWidgets:
    """The folder "Fit".

    Args:
        gui: of viser. desk: where events go. press: told "Fit" or "Default".
    """

    def __init__(self, gui: Any, desk: Desk, press: Callable[[str], None]) -> None:
        self._desk, self._robot = desk, None
        with gui.add_folder("Fit"):
            self._method = self._bound(gui.add_dropdown("Method", METHODS), "method")
            self._count = self._bound(gui.add_dropdown("Count", COUNTS), "count")
            number = gui.add_number("In all", 120, min=1, max=5000, step=1)
            self._number = self._bound(number, "n_spheres")
            self._link = gui.add_dropdown("Of link", (NONE,))
            own = gui.add_number("At most", 0, min=0, max=500, step=1, hint="0: as many as it takes")
            self._own = Bound[int](own, desk, self._counted)
            Bound[str](self._link, desk, lambda _: self._picked())
            self._list = gui.add_markdown("")
            mirrored = gui.add_checkbox(
                "Twins together", True, hint="Links of one shape, also mirrored, get the same spheres"
            )
            self._mirrored = self._bound(mirrored, "share_mirrored")
            effort = gui.add_number("Effort", 1.0, min=0.0, max=5.0, step=0.5, hint="0: no search, quick")
            self._effort = self._bound(effort, "effort")
            margin = gui.add_number("Margin mm", 0.0, min=0.0, max=500.0, step=1.0)
            self._margin: Bound[Any] = Bound(
                margin, desk, lambda mm: SetFit(replace(self._form, margin=mm / 1000))
            )
            acts = gui.add_button_group("Spheres", ("Fit", "Default"))
        on_click(acts, lambda: press(acts.value))
        self._listed = Shown[Any](self._list_links)
        self._layout = Shown[FitForm](self._lay_out)

    @property
    def _form(self) -> FitForm:
        return self._desk.view.state.spheres.form

    def _bound(self, handle: Any, name: str) -> Bound[Any]:
        return Bound(handle, self._desk, lambda value: SetFit(replace(self._form, **{name: value})))

    def _counted(self, count: int) -> Event | None:
        link = self._link.value
        if link == NONE:
            return None
        others = tuple(entry for entry in self._form.per_link if entry[0] != link)
        return SetFit(replace(self._form, per_link=(*others, (link, int(count))) if count else others))

    def _picked(self) -> None:
        self._own.handle.value = dict(self._form.per_link).get(self._link.value, 0)

    def show(self, view: View) -> None:
        """Follows the state."""
        form = view.state.spheres.form
        self._listed(view.robot)
        self._layout(form)
        values: tuple[tuple[Bound[Any], Any], ...] = (
            (self._method, form.method),
            (self._count, form.count),
            (self._number, form.n_spheres),
            (self._mirrored, form.share_mirrored),
            (self._effort, form.effort),
            (self._margin, round(1000 * form.margin, 6)),
        )
        for widget, value in values:
            widget.show(value, view)

    def _list_links(self, robot: Robot | None) -> None:
        self._link.options = (NONE, *(() if robot is None else robot.mesh_links))

    def _lay_out(self, form: FitForm) -> None:
        tight, apiece = form.method == "tight", form.count == "per link"
        self._number.handle.visible = tight and form.count == "in all"
        self._link.visible = self._own.handle.visible = apiece
        self._mirrored.handle.visible = self._effort.handle.visible = tight
        said = ", ".join(f"{escape(link)}: {count}" for link, count in form.per_link)
        note = "" if tight or form.count != "in all" else "Centerline fits have no budget in all."
        self._list.content = (said or "No link has a number of its own yet.") if apiece else note
        self._list.visible = bool(self._list.content)
