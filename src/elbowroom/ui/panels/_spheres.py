"""The Spheres panel: fitting, the proof that they cover the robot, and how tight they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ElbowroomError
from .._commands import spheres_file
from .._escape import escape
from .._jobs import Job, Report
from .._sphere_work import file_bytes, fit, prove_links
from ..scene import SphereNodes
from ..state import (
    Event,
    LinksProved,
    MoveSphere,
    ShowCoverage,
    ShowLayer,
    SpheresFitted,
    coverage,
    spheres_of,
)
from ._robot import SENTENCE, shapes_lines
from ._sphere_edit import SphereEdits
from ._sphere_form import FitWidgets
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from ...robot import Robot
    from ...spheres import LinkCoverage, SphereModel
    from .._view import View
    from ._desk import Desk

LEGEND = "Blue: tight. Yellow: spheres of 3 times the volume or more. Vermillion: not covered."


class SpheresPanel:
    """See the module."""

    title = "Spheres"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._desk = desk
        self._nodes = SphereNodes(scene, self._moved)
        self._head = gui.add_markdown("")
        self._prove = gui.add_button(
            "Prove and measure", hint="Decides for every link whether spheres hold it"
        )
        on_click(self._prove, lambda: desk.send(ShowCoverage(desk.view.state.spheres.tint)))
        self._seen = Bound[bool](
            gui.add_checkbox("Show spheres", False), desk, lambda shown: ShowLayer("spheres", shown)
        )
        self._tint = Bound[bool](
            gui.add_checkbox("Colour by tightness", False, hint=LEGEND), desk, lambda tint: ShowCoverage(tint)
        )
        self._legend = gui.add_markdown(LEGEND, visible=False)
        self._form = FitWidgets(gui, desk, self._press)
        self._edits = SphereEdits(gui, desk)
        self._table = gui.add_markdown("")
        save = gui.add_button("Download spheres", hint="The file that the command writes")
        on_click(save, self._download)
        self._asked: tuple[Any, Any] = (None, None)
        self._headline, self._rows = Shown[str](self._show_head), Shown[str](self._show_table)
        self._flags = Shown[tuple[bool, bool]](self._show_flags)

    def show(self, view: View) -> None:
        """Brings widgets and scene up to date, and has proved what has changed."""
        found = {} if view.robot is None else coverage(view.robot, view.state)
        spheres = spheres_of(view.state)
        self._ask(view, spheres, found)
        self._nodes.show(view)
        self._headline(headline(view.robot, spheres, found, view.state.spheres.wanted))
        self._rows(proof_table(found) if view.state.spheres.wanted else "")
        self._seen.show(view.state.look.spheres.shown, view)
        self._tint.show(view.state.spheres.tint, view)
        self._flags((view.state.spheres.wanted, view.state.spheres.tint))
        self._form.show(view)
        self._edits.show(view)

    def _ask(self, view: View, spheres: SphereModel | None, found: dict[str, LinkCoverage | None]) -> None:
        """Some links at a time, so that what else is asked meanwhile does not wait for all of them."""
        robot = view.robot
        missing = [link for link, proof in found.items() if proof is None]
        if not view.state.spheres.wanted or robot is None or spheres is None or not missing:
            return
        known = view.state.spheres.proved
        if self._asked[0] is spheres and self._asked[1] is known:
            return
        self._asked = spheres, known

        def question() -> Event:
            return LinksProved(robot, prove_links(robot, spheres, missing))

        self._desk.ask("coverage", question)

    def _moved(self, link: str, number: int, center: Any) -> None:
        x, y, z = map(float, center)
        self._desk.send(MoveSphere(link, number, (x, y, z)))

    def _press(self, label: str) -> None:
        view = self._desk.view
        robot = view.robot
        if robot is None:
            return
        if label == "Default":
            self._desk.send(SpheresFitted(None))
            return
        try:
            options = view.state.spheres.form.options(robot.link_names)
        except ElbowroomError as error:
            self._desk.say(str(error), error=True)
            return

        def work(report: Report) -> Event:
            return SpheresFitted(report.child(fit, robot, options), options=options)

        self._desk.run(Job("spheres", f"fitting spheres to {robot.name}", work))

    def _download(self) -> None:
        view = self._desk.view
        robot, spheres = view.robot, spheres_of(view.state)
        if robot is None or spheres is None:
            self._desk.say("There are no spheres yet: the model is being made.", error=True)
            return

        def write() -> None:
            name = spheres_file(robot)
            self._desk.download(name, file_bytes(name, robot=robot, spheres=spheres))

        self._desk.ask("download spheres", write)

    def _show_head(self, text: str) -> None:
        self._head.content = text

    def _show_table(self, text: str) -> None:
        self._table.content = text

    def _show_flags(self, flags: tuple[bool, bool]) -> None:
        self._prove.visible, self._legend.visible = not flags[0], flags[1]


def headline(
    robot: Robot | None, spheres: SphereModel | None, found: dict[str, LinkCoverage | None], wanted: bool
) -> str:
    """Whether the spheres cover the robot, as Markdown; where not, which link sticks out and how far."""
    from ...spheres.doors import coverage_of

    if robot is None:
        return ""
    if not found:
        return "The robot has no collision geometry: there is nothing to cover."
    if spheres is None:
        return "The spheres come when the model is made."
    gaps = sorted(
        (proof for proof in found.values() if proof is not None and not proof.proved),
        key=lambda proof: -proof.worst_gap,
    )
    count = f"{len(spheres)} spheres on {len(spheres.counts)} links"
    if gaps:
        words = "; ".join(f"**{escape(proof.name)}** {gap_words(proof)}" for proof in gaps[:3])
        more = f"; and {len(gaps) - 3} more" if len(gaps) > 3 else ""
        return f"### ⚠ Not covered\n\n{words}{more}. {count}."
    waiting = sum(proof is None for proof in found.values())
    if not wanted:
        return f"{count}, {escape(spheres.evidence.get('method', 'from elsewhere'))}."
    if waiting:
        return f"{count}; proving coverage, {waiting} links to go ..."
    proof = coverage_of(robot, {name: link for name, link in found.items() if link is not None})
    title = "Covered: proved" if proof.complete else "⚠ Covered: proved, but not of every link"
    proved = f"### {title}\n\n{count}, {escape(proof.headline, SENTENCE)}."
    return "\n\n".join([proved, *shapes_lines(robot)])


def gap_words(proof: LinkCoverage) -> str:
    """How far a link sticks out of its spheres."""
    if not np.isfinite(proof.worst_gap):
        return "has **no sphere**"
    return f"sticks out by **{1000 * proof.worst_gap:.1f} mm**"


def proof_table(found: dict[str, LinkCoverage | None]) -> str:
    """Proof and tightness per link, as a Markdown table; what is not covered comes first."""
    rows = sorted(
        (proof for proof in found.values() if proof is not None), key=lambda proof: (proof.proved, proof.name)
    )
    lines = [
        f"| {'' if proof.proved else '⚠ '}{escape(proof.name)} | {proof.n_spheres} "
        f"| {'✓' if proof.proved else f'**{1000 * proof.worst_gap:.1f}**' if proof.n_spheres else '**all**'} "
        f"| {proof.volume_ratio:.2f} | {1000 * proof.max_protrusion:.0f} |"
        for proof in rows
    ]
    if not lines:
        return ""
    head = "| link | n | gap | vol | off |\n|---|--:|--:|--:|--:|"
    note = (
        "Gap: how far the link sticks out, mm. Vol: volume of the spheres over that of the link. "
        "Off: largest distance of the spheres' surface from the link, mm."
    )
    return "\n".join([head, *lines, "", note])
