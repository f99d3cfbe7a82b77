"""The Spheres panel: fitting, the proof that they cover the robot, and how tight they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ElbowroomError
from .._commands import spheres_file
from .._escape import escape
from .._jobs import Job, Report
from .._sphere_work import file_bytes, fit, mirrored, prove_links
from ..scene import SphereNodes
from ..state import (
    AddSphere,
    CarrySpheres,
    ChooseSphere,
    DeleteSphere,
    Event,
    FitForm,
    LinksProved,
    MoveSphere,
    ScaleSphere,
    SetFit,
    ShowCoverage,
    ShowLayer,
    SpheresFitted,
    chosen_sphere,
    coverage,
    spheres_of,
)
from ._robot import SENTENCE, shapes_lines
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from ...robot import Robot
    from ...spheres import LinkCoverage, SphereModel
    from ...spheres.internal import Twin
    from .._view import View
    from ._widgets import Desk

LEGEND = "Blue: tight. Yellow: spheres of 3 times the volume or more. Vermillion: not covered."


class SpheresPanel:
    """See the module."""

    title = "Spheres"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._desk = desk
        self._nodes = SphereNodes(scene, self._moved)
        self._head = gui.add_markdown("")
        self._prove = gui.add_button(
            "Prove and measure", hint="Proves for every link whether its spheres contain it"
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
            self._desk.say("There are no spheres yet: the model is still being built.", error=True)
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
    from ...spheres.internal import coverage_of

    if robot is None:
        return ""
    if not found:
        return "The robot has no collision geometry: there is nothing to cover."
    if spheres is None:
        return "Spheres appear when the model is ready."
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
        "Off: how far the spheres' surface stands off the link at most, mm."
    )
    return "\n".join([head, *lines, "", note])


METHODS, COUNTS = ("tight", "centerline"), ("automatic", "in total", "per link")
ANY_LINK = "-"


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
            number = gui.add_number("In total", 120, min=1, max=5000, step=1)
            self._number = self._bound(number, "n_spheres")
            self._link = gui.add_dropdown("Of link", (ANY_LINK,))
            own = gui.add_number("At most", 0, min=0, max=500, step=1, hint="0: as many as it takes")
            self._own = Bound[int](own, desk, self._counted)
            Bound[str](self._link, desk, lambda _: self._picked())
            self._list = gui.add_markdown("")
            mirrored = gui.add_checkbox(
                "Match twins", True, hint="Links of the same or mirrored shape get the same spheres"
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
        if link == ANY_LINK:
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
        self._link.options = (ANY_LINK, *(() if robot is None else robot.mesh_links))

    def _lay_out(self, form: FitForm) -> None:
        tight, apiece = form.method == "tight", form.count == "per link"
        self._number.handle.visible = tight and form.count == "in total"
        self._link.visible = self._own.handle.visible = apiece
        self._mirrored.handle.visible = self._effort.handle.visible = tight
        said = ", ".join(f"{escape(link)}: {count}" for link, count in form.per_link)
        note = "" if tight or form.count != "in total" else "Centerline fits have no total budget."
        self._list.content = (said or "No link has its own number yet.") if apiece else note
        self._list.visible = bool(self._list.content)


NO_SPHERE = "click a sphere, or choose"
WAYS = ("sphere to twins", "link to twins", "across its x", "across its y", "across its z")
SMALLEST = 0.02
"""Radius of an added sphere, metres, at least."""


class SphereEdits:
    """The folder "One sphere"."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._desk = desk
        self._twins: tuple[Any, dict[str, tuple[Twin, ...]]] = (None, {})
        with gui.add_folder("One sphere"):
            link = gui.add_dropdown("Link", (NO_SPHERE,), hint="Or click a sphere in the picture")
            number = gui.add_number("Sphere", 0, min=0, step=1, hint="Its number on the link")
            center = gui.add_vector3("Centre mm", (0.0, 0.0, 0.0), step=1.0, hint="In the frame of the link")
            radius = gui.add_number("Radius mm", 10.0, min=0.001, max=100_000.0, step=1.0)
            self._way = gui.add_dropdown("Mirror", WAYS)
            acts = gui.add_button_group("Change", ("Add", "Delete", "Mirror"))
        self._link = Bound[str](
            link, desk, lambda name: ChooseSphere(None if name == NO_SPHERE else (name, 0))
        )
        self._number = Bound[int](number, desk, self._numbered)
        self._center = Bound[tuple[float, ...]](center, desk, self._placed)
        self._radius = Bound[float](radius, desk, self._scaled)
        on_click(acts, lambda: self._press(acts.value))
        self._listed, self._ready = Shown[Any](self._list), Shown[bool](self._enable)
        self._most = Shown[int](self._limit)

    def show(self, view: View) -> None:
        """Follows the state."""
        self._listed(view.robot)
        chosen, state = chosen_sphere(view.state), view.state.spheres.chosen
        self._ready(chosen is not None)
        named = state is not None and view.robot is not None and state[0] in view.robot.link_names
        self._link.show(state[0] if named and state is not None else NO_SPHERE, view)
        if chosen is None:
            return
        link, number, center, radius = chosen
        spheres = spheres_of(view.state)
        self._most(0 if spheres is None else len(spheres.link(link, attached=False)[1]) - 1)
        self._number.show(number, view)
        x, y, z = (round(1000 * float(value), 3) for value in center)
        self._center.show((x, y, z), view)
        self._radius.show(round(1000 * radius, 3), view)

    def _list(self, robot: Robot | None) -> None:
        self._link.handle.options = (NO_SPHERE, *(() if robot is None else robot.mesh_links))

    def _enable(self, ready: bool) -> None:
        for widget in (self._number, self._center, self._radius):
            widget.handle.disabled = not ready

    def _limit(self, most: int) -> None:
        self._number.handle.max = most

    # What a person does ----------------------------------------------------------------------------

    def _numbered(self, number: int) -> Event | None:
        chosen = self._desk.view.state.spheres.chosen
        return None if chosen is None else ChooseSphere((chosen[0], int(number)))

    def _placed(self, center: tuple[float, ...]) -> Event | None:
        chosen = self._desk.view.state.spheres.chosen
        if chosen is None or len(center) != 3:
            return None
        x, y, z = (float(value) / 1000 for value in center)
        return MoveSphere(*chosen, (x, y, z))

    def _scaled(self, radius: float) -> Event | None:
        chosen = self._desk.view.state.spheres.chosen
        return None if chosen is None else ScaleSphere(*chosen, float(radius) / 1000)

    def _press(self, act: str) -> None:
        view = self._desk.view
        state = view.state.spheres.chosen
        if view.robot is None or state is None or state[0] not in view.robot.mesh_links:
            self._desk.say("Choose a link, or click a sphere in the picture.")
            return
        chosen = chosen_sphere(view.state)
        if act == "Add":
            self._desk.send(added(view, state[0]))
        elif chosen is None:
            self._desk.say("Choose a sphere of the link, or click one in the picture.")
        elif act == "Delete":
            self._desk.send(DeleteSphere(*chosen[:2]))
        else:
            self._mirror(view.robot, chosen)

    def _mirror(self, robot: Robot, chosen: tuple[str, int, np.ndarray, float]) -> None:
        link, _, center, radius = chosen
        rows, way = np.append(center, radius)[None], self._way.value
        if way.startswith("across"):
            image = mirrored(robot, link, rows, "xyz".index(way[-1]))
            self._desk.send(CarrySpheres(link, ((link, image),)))
            return
        spheres = spheres_of(self._desk.view.state)
        if way == "link to twins" and spheres is not None:
            rows = np.column_stack(spheres.link(link, attached=False))

        def work(report: Report) -> Event | None:
            twins = self._twins_of(robot, link)
            report.check()
            if not twins:
                self._desk.say(
                    f"No other link has the shape of {link}; mirror the sphere across its own middle."
                )
                return None
            images = tuple(
                (twin.link, np.column_stack([twin.carry(rows[:, :3]), rows[:, 3]])) for twin in twins
            )
            return CarrySpheres(link, images, instead=way == "link to twins")

        self._desk.run(Job("mirror", "comparing the shapes of links", work))

    def _twins_of(self, robot: Robot, link: str) -> tuple[Twin, ...]:
        from ...spheres.internal import link_twins

        if self._twins[0] is not robot:
            self._twins = robot, link_twins(robot)
        return self._twins[1].get(link, ())


def added(view: View, link: str) -> AddSphere:
    """One sphere more: around the worst gap of the link, or else in the middle of its mesh."""
    mesh = None if view.robot is None else view.robot.link_mesh(link)
    assert view.robot is not None  # the link is one of its own
    assert mesh is not None  # and has geometry
    proof = coverage(view.robot, view.state).get(link)
    if proof is not None and proof.witness is not None and np.isfinite(proof.worst_gap):
        place, radius = proof.witness, 1.5 * proof.worst_gap
    else:
        low, high = np.asarray(mesh.bounds)
        place, radius = (low + high) / 2, 0.2 * float(np.linalg.norm(high - low))
    x, y, z = map(float, place)
    return AddSphere(link, (x, y, z), max(radius, SMALLEST))
