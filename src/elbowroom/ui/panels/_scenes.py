"""Whole scenes: generated, read from files of the browser, handed out as files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ...errors import ElbowroomError, InputError
from .._jobs import Job, Report
from .._uploads import bound_uploads, file_name, read_cloud, read_scene
from ..state import AddObstacles, Event, OpenScene, SceneSaved
from ._widgets import Shown, on_click

if TYPE_CHECKING:
    from .._view import View
    from ._desk import Desk

CLOUDS = (".ply", ".pcd", ".npy", ".npz", ".xyz", ".txt", ".csv")
FILES = {"JSON": ("scene.json", "json"), "MoveIt YAML": ("scene.yaml", "moveit")}
"""Button -> name of the file and its format."""
LARGE = 3000
"""Numbers of an array from which on the command line writes it to a file beside the scene."""


class Scenes:
    """The part of the World panel that is about files."""

    def __init__(self, gui: Any, desk: Desk) -> None:
        from ...world import SCENES

        self._desk = desk
        bound_uploads(gui, lambda why: desk.say(why, error=True))
        with gui.add_folder("Generated scene"):
            self._kind = gui.add_dropdown("Scene", SCENES, hint="Made to the reach of the robot")
            self._seed = gui.add_number("Scene seed", 0, min=0, max=2**31 - 1, step=1)
            make = gui.add_button("Generate", hint="Instead of the obstacles there are")
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

            found = scene_for(robot, kind, seed)
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
        from ...world.doors import scene_bytes

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
    """Whether names are of links; then it is said."""
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
