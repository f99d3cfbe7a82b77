"""The World panel: obstacles added, dragged, resized, renamed and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._poses import as_wxyz_xyz
from .._escape import escape
from ..scene import WorldNodes
from ..state import (
    AddObstacles,
    Event,
    FadeWorld,
    MoveObstacle,
    PickObstacle,
    RemoveObstacle,
    RenameObstacle,
    ResizeObstacle,
    picked_obstacle,
    size_of,
)
from ._scenes import Scenes, free_name, refuse_taken
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from ...world import Obstacle, World
    from .._view import View
    from ._desk import Desk

CHOOSE = "choose ..."
KINDS = ("Box", "Sphere", "Cylinder", "Capsule")
LENGTHS: dict[str, tuple[str, ...]] = {
    "box": ("Size x mm", "Size y mm", "Size z mm"),
    "sphere": ("Radius mm",),
    "cylinder": ("Radius mm", "Length mm"),
    "capsule": ("Radius mm", "Length mm"),
}
"""What can be changed of each kind, in the order of `ResizeObstacle.size`."""
FIRST_SIZE = 0.2
"""Share of the robot's size that a new obstacle has."""


class WorldPanel:
    """See the module."""

    title = "World"

    def __init__(self, gui: Any, scene: Any, desk: Desk) -> None:
        self._desk, self._drags = desk, 0
        self._nodes = WorldNodes(scene, lambda name: desk.send(PickObstacle(name)), self._dragged)
        self._text = gui.add_markdown("")
        add = gui.add_button_group("Add", KINDS)
        on_click(add, lambda: self._add(add.value))
        choice = gui.add_dropdown("Obstacle", (CHOOSE,), initial_value=CHOOSE)
        self._choice = Bound[str](choice, desk, lambda name: PickObstacle(None if name == CHOOSE else name))
        opacity = gui.add_slider("Opacity", 0.05, 1.0, 0.05, 1.0, hint="Of obstacles that hide the robot")
        self._opacity = Bound[float](opacity, desk, FadeWorld)
        self._chosen = _Chosen(gui, desk)
        self._scenes = Scenes(gui, desk)
        self._listed = Shown[tuple[str, ...]](self._list)
        self._summary = Shown[str](self._show_text)

    def _dragged(self, pose: tuple[float, ...], phase: str) -> None:
        picked = picked_obstacle(self._desk.view.state)
        self._drags += phase == "start"
        if picked is not None and phase == "update":
            self._desk.send(MoveObstacle(picked.name, pose, f"drag {self._drags}"))

    def _add(self, kind: str) -> None:
        view = self._desk.view
        if view.robot is None or view.poses is None or kind not in KINDS:
            return
        self._desk.send(AddObstacles((_new(kind.lower(), view),)))

    def show(self, view: View) -> None:
        """Brings widgets and scene up to date."""
        world = view.state.model.world
        self._nodes.show(view)
        self._listed(() if world is None else world.names)
        picked = picked_obstacle(view.state)
        self._choice.show(CHOOSE if picked is None else picked.name, view)
        self._opacity.show(round(view.state.world.opacity, 2), view)
        self._chosen.show(picked, view)
        self._scenes.show(view)
        self._summary(summary(world))

    def _list(self, names: tuple[str, ...]) -> None:
        self._choice.handle.options = (CHOOSE, *names)

    def _show_text(self, text: str) -> None:
        self._text.content = text


def summary(world: World | None) -> str:
    """How many obstacles, and what is to be known of them, as Markdown."""
    if world is None:
        return "No obstacles. Add one, generate a scene or open a file."
    lines = [f"**{len(world)} obstacle{'s' if len(world) > 1 else ''}**. Click one to move it."]
    lines += [f"- {escape(note, 200)}" for note in world.notes[:4]]
    if len(world.notes) > 4:
        lines.append(f"- ... and {len(world.notes) - 4} more notes.")
    return "\n".join(lines)


def _new(kind: str, view: View) -> Obstacle:
    """An obstacle in front of the robot, clear of it, and of a size that goes with it."""
    from ...world import Box, Capsule, Cylinder, Sphere
    from ..scene import bounds

    assert view.robot is not None
    assert view.poses is not None
    center, radius, _ = bounds(view.robot, view.poses)
    edge = round(max(FIRST_SIZE * radius, 0.01), 3)
    count = 0 if view.state.model.world is None else len(view.state.model.world)
    aside = (0.0, 1.5, -1.5, 3.0, -3.0)[count % 5] * edge
    place = center + np.array([0.9 * radius, aside, 0.0])
    pose = np.array([1.0, 0.0, 0.0, 0.0, *np.round(place, 3)])
    given: dict[str, Any] = {"pose": pose, "name": free_name(view, kind)}
    match kind:
        case "box":
            return Box((edge, edge, edge), **given)
        case "sphere":
            return Sphere(edge / 2, **given)
        case "cylinder":
            return Cylinder(edge / 2, edge, **given)
        case _:
            return Capsule(edge / 2, edge, **given)


class _Chosen:
    """Name, place and size of the obstacle that is picked."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        self._desk = desk
        self._folder = gui.add_folder("Chosen obstacle", visible=False)
        with self._folder:
            self._name = gui.add_text("Called", "", hint="Type another name and press Rename")
            acts = gui.add_button_group("Change", ("Rename", "Remove"))
            place = gui.add_vector3("Place mm", (0.0, 0.0, 0.0), step=1.0)
            turn = gui.add_vector3(
                "Turn °", (0.0, 0.0, 0.0), step=1.0, hint="About the fixed axes x, y, z, in this order"
            )
            labels = dict.fromkeys(label for labels in LENGTHS.values() for label in labels)
            lengths = {label: gui.add_number(label, 100.0, min=1.0, step=1.0) for label in labels}
        on_click(acts, lambda: self._press(acts.value))
        self._place = Bound[tuple[float, ...]](place, desk, lambda _: self._move())
        self._turn = Bound[tuple[float, ...]](turn, desk, lambda _: self._move())
        self._lengths = {
            label: Bound[float](handle, desk, lambda _: self._resize()) for label, handle in lengths.items()
        }
        self._named = Shown[str](self._show_name)
        self._kind = Shown[str](self._show_kind)

    def _press(self, act: str) -> None:
        view = self._desk.view
        picked, name = picked_obstacle(view.state), self._name.value.strip()
        if picked is None:
            return
        if act == "Remove":
            self._desk.send(RemoveObstacle(picked.name))
        elif not refuse_taken(self._desk, [name]):
            self._desk.send(RenameObstacle(picked.name, name))

    def _move(self) -> Event | None:
        picked = picked_obstacle(self._desk.view.state)
        if picked is None:
            return None
        place = np.array(self._place.handle.value) / 1000.0
        pose = as_wxyz_xyz(picked.pose)
        turn = pose[:4]
        if shown_turn(picked.pose) != tuple(self._turn.handle.value):
            turn = quaternion_of(self._turn.handle.value)
        same = shown_place(picked.pose) == tuple(self._place.handle.value)
        return MoveObstacle(picked.name, (*turn.tolist(), *(pose[4:] if same else place).tolist()))

    def _resize(self) -> Event | None:
        picked = picked_obstacle(self._desk.view.state)
        if picked is None or picked.kind not in LENGTHS:
            return None
        size = tuple(self._lengths[label].handle.value / 1000.0 for label in LENGTHS[picked.kind])
        return ResizeObstacle(picked.name, size)

    def show(self, picked: Obstacle | None, view: View) -> None:
        """Follows the state."""
        if self._folder.visible != (picked is not None):
            self._folder.visible = picked is not None
        if picked is None:
            return
        self._named(picked.name)
        self._kind(picked.kind)
        self._place.show(shown_place(picked.pose), view)
        self._turn.show(shown_turn(picked.pose), view)
        for label, length in zip(LENGTHS.get(picked.kind, ()), size_of(picked), strict=False):
            self._lengths[label].show(round(1000.0 * length, 3), view)

    def _show_name(self, name: str) -> None:
        self._name.value = name

    def _show_kind(self, kind: str) -> None:
        for label, length in self._lengths.items():
            length.handle.visible = label in LENGTHS.get(kind, ())


def shown_place(pose: np.ndarray) -> tuple[float, float, float]:
    """Place of a pose (4, 4) in millimetres, as it is shown."""
    x, y, z = (round(float(value), 3) + 0.0 for value in 1000.0 * pose[:3, 3])
    return x, y, z


def shown_turn(pose: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a pose (4, 4) in degrees, about the fixed axes x, y, z, as they are shown."""
    R = pose[:3, :3]
    pitch = np.arcsin(np.clip(-R[2, 0], -1.0, 1.0))
    if abs(R[2, 0]) < 1.0 - 1e-9:
        roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    else:  # x and z turn about one line: all of it is called roll
        roll, yaw = np.arctan2(-np.sign(R[2, 0]) * R[0, 1], R[1, 1]), 0.0
    a, b, c = (round(float(np.degrees(angle)), 3) + 0.0 for angle in (roll, pitch, yaw))
    return a, b, c


def quaternion_of(degrees: tuple[float, ...]) -> np.ndarray:
    """Quaternion wxyz of roll, pitch and yaw; see `shown_turn`."""
    (a, b, c), (x, y, z) = (f(np.radians(degrees) / 2) for f in (np.cos, np.sin))
    return np.array(
        [
            a * b * c + x * y * z,
            x * b * c - a * y * z,
            a * y * c + x * b * z,
            a * b * z - x * y * c,
        ]
    )
