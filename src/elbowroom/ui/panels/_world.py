"""The World panel: obstacles added, dragged, resized, renamed and removed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._poses import as_wxyz_xyz
from ...errors import ElbowroomError, InputError
from .._escape import escape
from .._jobs import Job, Report
from .._uploads import bound_uploads, file_name, read_cloud, read_scene
from ..scene import WorldNodes
from ..state import (
    AddObstacles,
    Event,
    FadeWorld,
    MoveObstacle,
    OpenScene,
    PickObstacle,
    RemoveObstacle,
    RenameObstacle,
    ResizeObstacle,
    SceneSaved,
    picked_obstacle,
    size_of,
)
from ._widgets import Bound, Shown, on_click

if TYPE_CHECKING:
    from ...world import Obstacle, World
    from .._view import View
    from ._widgets import Desk

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
        opacity = gui.add_slider("Opacity", 0.05, 1.0, 0.05, 1.0, hint="Of obstacles in front of the robot")
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
    lines = [f"**{len(world)} obstacle{'s' if len(world) > 1 else ''}**. Click one, then drag it."]
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
            self._name = gui.add_text("Name", "", hint="Type another name and press Rename")
            acts = gui.add_button_group("Change", ("Rename", "Remove"))
            place = gui.add_vector3("Position mm", (0.0, 0.0, 0.0), step=1.0)
            turn = gui.add_vector3(
                "Rotation °", (0.0, 0.0, 0.0), step=1.0, hint="About the fixed axes x, y, z, in this order"
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


CLOUDS = (".ply", ".pcd", ".npy", ".npz", ".xyz", ".txt", ".csv")
FILES = {"JSON": ("scene.json", "json"), "MoveIt YAML": ("scene.yaml", "moveit")}
"""Button -> name of the file and its format."""
LARGE = 3000
"""Array size above which the command line writes it to a file beside the scene."""


class Scenes:
    """The part of the World panel that is about files."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        from ...world import SCENES

        self._desk = desk
        bound_uploads(gui, lambda why: desk.say(why, error=True))
        with gui.add_folder("Generated scene"):
            self._kind = gui.add_dropdown("Scene", SCENES, hint="Scaled to the reach of the robot")
            self._seed = gui.add_number("Scene seed", 0, min=0, max=2**31 - 1, step=1)
            make = gui.add_button("Generate", hint="Replaces the current obstacles")
        with gui.add_folder("Files"):
            scene = gui.add_upload_button(
                "Open scene", hint="JSON, or the YAML of MoveIt and MotionBenchMaker"
            )
            cloud = gui.add_upload_button("Add point cloud", hint="PLY, PCD, NPY, XYZ, CSV; metres")
            self._radius = gui.add_number(
                "Point radius mm", 10.0, min=0.1, max=1000.0, step=1.0, hint="Around every point"
            )
            save = gui.add_button_group("Save", tuple(FILES))
            self._clear = gui.add_button("Clear", hint="Removes all obstacles")
        on_click(make, self._generate)
        _on_upload(scene, self._open)
        _on_upload(cloud, self._add_cloud)
        on_click(save, lambda: self._save(save.value))
        on_click(self._clear, lambda: desk.send(OpenScene(None)))
        self._any = Shown[bool](self._show_any)

    def show(self, view: View) -> None:
        """Follows the state."""
        self._any(view.state.model.world is not None)

    def _show_any(self, some: bool) -> None:
        self._clear.disabled = not some

    def _generate(self) -> None:
        robot, kind, seed = self._desk.view.robot, self._kind.value, int(self._seed.value)
        if robot is None:
            return

        def work(report: Report) -> Event:
            from ...world import scene_for

            found = scene_for(robot, kind, seed, fill=False)
            report.check()
            return OpenScene(found)

        self._desk.run(Job("scene", f"generating a scene ({kind})", work))

    def _open(self, given: str, data: bytes) -> None:
        name = file_name(given)

        def work(report: Report) -> Event | None:
            found = report.child(read_scene, name, data)
            _check_names(self._desk.view, found.names)
            return OpenScene(found if len(found) else None, name if len(found) else "")

        self._desk.run(Job("scene", f"reading {name}", work))

    def _add_cloud(self, given: str, data: bytes) -> None:
        name, radius = file_name(given), float(self._radius.value) / 1000.0
        suffix = PurePath(name).suffix.lower()
        if suffix not in CLOUDS:
            self._desk.say(f"{name}: point clouds are {', '.join(CLOUDS)}", error=True)
            return
        title = free_name(self._desk.view, PurePath(name).stem or "cloud")

        def work(report: Report) -> Event:
            found = report.child(read_cloud, name, data, radius, title)
            return AddObstacles(found.obstacles)

        self._desk.run(Job("scene", f"reading {name}", work))

    def _save(self, which: str) -> None:
        from ...world.internal import scene_bytes

        view = self._desk.view
        world = view.state.model.world
        if world is None or which not in FILES:
            self._desk.say("there are no obstacles to save", error=True)
            return
        name, kind = FILES[which]

        def work(report: Report) -> Event:
            data, lost = scene_bytes(world, kind)
            report.check()
            self._desk.download(name, data)
            if lost:
                self._desk.say(f"{name}: {'; '.join(lost)}")
            same = kind == "moveit" or _all_small(world)
            return SceneSaved(world, name, view.state.world.file_of(world), same, whole=not lost)

        self._desk.run(Job("save", f"writing {name}", work))


def _all_small(world: Any) -> bool:
    """Whether a scene as JSON is one file for the command line, too."""
    from ...world import MeshObstacle, PointCloud, SdfGrid

    for obstacle in world:
        match obstacle:
            case MeshObstacle():
                sizes = (obstacle.mesh.vertices.size, obstacle.mesh.faces.size)
            case PointCloud():
                sizes = (obstacle.points.size,)
            case SdfGrid():
                sizes = (obstacle.values.size,)
            case _:
                sizes = ()
        if max(sizes, default=0) > LARGE:
            return False
    return True


def _on_upload(handle: Any, act: Any) -> None:
    """Calls `act(name, data)` when a person has sent a file; it must return at once."""

    async def uploaded(happened: Any) -> None:
        if happened.client_id is not None:
            act(handle.value.name, handle.value.content)

    handle.on_upload(uploaded)


def _taken(view: View) -> set[str]:
    """Names that no obstacle may have: a verdict could not tell them apart."""
    links = () if view.robot is None else view.robot.link_names
    return {*links, *(item.name for item in view.state.model.attached)}


def _check_names(view: View, names: Iterable[str]) -> None:
    both = [name for name in names if name in _taken(view)]
    if both:
        raise InputError(f"{', '.join(map(repr, both[:5]))} names an obstacle and a link of the robot")


def refuse_taken(desk: Desk, names: Iterable[str]) -> bool:
    """Whether names are of links; then the label says it."""
    try:
        _check_names(desk.view, names)
    except ElbowroomError as error:
        desk.say(str(error), error=True)
        return True
    return False


def free_name(view: View, word: str) -> str:
    """A name that neither a link nor an obstacle has: the word, or the word with a number."""
    world = view.state.model.world
    taken = _taken(view) | set(() if world is None else world.names)
    number, name = 1, word
    while name in taken:
        number += 1
        name = f"{word}_{number}"
    return name
