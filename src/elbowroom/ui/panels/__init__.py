"""The panels of the page, a file each, and what they are given.

A panel is a class with `title`, made of `(gui, scene, desk)`: it adds its widgets to `gui` and its nodes to `scene`
when made, and `show(view)` brings them up to date, changing only what differs. It never changes the state itself: it
sends events to the desk, asks it for answers, and has it run jobs. To add one, write its file and name it in `PLACES`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._view import View
from ._export import ExportPanel as ExportPanel
from ._grasp import GraspPanel as GraspPanel
from ._header import Header as Header
from ._ik import IkPanel as IkPanel
from ._live import LivePanel as LivePanel
from ._pairs import PairsPanel as PairsPanel
from ._plan import PlanPanel as PlanPanel
from ._robot import RobotPanel as RobotPanel
from ._spheres import SpheresPanel as SpheresPanel
from ._teleop import TeleopPanel as TeleopPanel
from ._widgets import Bound as Bound
from ._widgets import Desk as Desk
from ._widgets import Panel as Panel
from ._widgets import Shown as Shown
from ._widgets import on_click as on_click
from ._world import WorldPanel as WorldPanel

PLACES: dict[str, tuple[type[Panel], ...]] = {
    "Robot": (RobotPanel, LivePanel),
    "Model": (SpheresPanel, PairsPanel),
    "World": (WorldPanel,),
    "Move": (IkPanel, PlanPanel, TeleopPanel),
    "Grasp": (GraspPanel,),
    "Export": (ExportPanel,),
}
"""Tabs in their order, and the panels of each, in tabs of their own where there are several. All panels are shown all
the time, whichever tab is open."""
PANELS: tuple[type[Panel], ...] = tuple(kind for kinds in PLACES.values() for kind in kinds)
WIDTH = 400
"""Pixels."""


class Panels:
    """The panels of one page."""

    def __init__(self, parts: tuple[Header | Panel, ...]) -> None:
        self.parts = parts

    def show(self, view: View) -> Iterator[Exception]:
        """Shows a view; what a panel raises is handed back, and the others go on."""
        for part in self.parts:
            try:
                part.show(view)
            except Exception as error:
                yield error


def build_panels(client: Any, desk: Desk) -> Panels:
    """Makes all panels for a client.

    Args:
        client: has `gui` and `scene`. desk: where panels send events.
    """
    gui, scene = client.gui, client.scene
    gui.main_panel.dock_right()
    gui.main_panel.set_width(WIDTH)
    parts: list[Header | Panel] = [Header(gui, client, desk)]
    tabs = gui.add_tab_group()
    for place, kinds in PLACES.items():
        with tabs.add_tab(place):
            if len(kinds) == 1:
                parts.append(kinds[0](gui, scene, desk))
                continue
            inner = gui.add_tab_group()
            for kind in kinds:
                with inner.add_tab(kind.title):
                    parts.append(kind(gui, scene, desk))
    return Panels(tuple(parts))
