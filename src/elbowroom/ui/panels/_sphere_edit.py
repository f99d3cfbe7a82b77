"""One sphere under the hand: chosen, moved, scaled, added, deleted, mirrored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._jobs import Job, Report
from .._sphere_work import mirrored
from ..state import (
    AddSphere,
    CarrySpheres,
    ChooseSphere,
    DeleteSphere,
    Event,
    MoveSphere,
    ScaleSphere,
    chosen_sphere,
    coverage,
    spheres_of,
)
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from ...robot import Robot
    from ...spheres.doors import Twin
    from .._view import View
    from ._desk import Desk

NONE = "click a sphere, or choose"
WAYS = ("sphere to twins", "link to twins", "across its x", "across its y", "across its z")
SMALLEST = 0.02
"""Radius of an added sphere, metres, at least."""


class SphereEdits:
    """The folder "One sphere"."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._desk = desk
        self._twins: tuple[Any, dict[str, tuple[Twin, ...]]] = (None, {})
        with gui.add_folder("One sphere"):
            link = gui.add_dropdown("Link", (NONE,), hint="Or click a sphere in the picture")
            number = gui.add_number("Sphere", 0, min=0, step=1, hint="Its number on the link")
            center = gui.add_vector3("Centre mm", (0.0, 0.0, 0.0), step=1.0, hint="In the frame of the link")
            radius = gui.add_number("Radius mm", 10.0, min=0.001, max=100_000.0, step=1.0)
            self._way = gui.add_dropdown("Mirror", WAYS)
            acts = gui.add_button_group("Change", ("Add", "Delete", "Mirror"))
        self._link = Bound[str](link, desk, lambda name: ChooseSphere(None if name == NONE else (name, 0)))
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
        self._link.show(state[0] if named and state is not None else NONE, view)
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
        self._link.handle.options = (NONE, *(() if robot is None else robot.mesh_links))

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
        from ...spheres.doors import link_twins

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
