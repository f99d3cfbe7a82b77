"""Obstacles, one at a time: added, moved, resized, renamed, removed; scenes, and the files that hold them.

The obstacles themselves are in `state.model.world`, where all panels find them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import InputError
from .._commands import check_command, command
from ._event import Event, Part
from ._model import SetWorld

if TYPE_CHECKING:
    from ...world import Obstacle, World
    from .._view import View
    from ._page import PageState

MAX_NAME = 60
"""Characters of the name of an obstacle that a person gives."""

Pose = tuple[float, ...]
"""wxyz_xyz."""


@dataclass(frozen=True, eq=False)
class WorldState(Part):
    """Which obstacle is picked, and where the obstacles are on disk."""

    kept: ClassVar[bool] = True
    picked: str | None = None
    """Name of an obstacle; one that is gone is none."""
    file: str = ""
    """Name of a file that holds `saved`."""
    saved: World | None = None
    opacity: float = 1.0
    """Of obstacles, from 0 to 1."""

    def file_of(self, world: World | None) -> str:
        """Name of a file that holds these obstacles; "" where none does."""
        return self.file if world is not None and world is self.saved else ""


def picked_obstacle(state: PageState) -> Obstacle | None:
    """The obstacle that is picked; None for none."""
    world, name = state.model.world, state.world.picked
    return None if world is None or name is None or name not in world else world[name]


def _with_world(state: PageState, world: World, picked: str | None) -> PageState:
    state = SetWorld(world if len(world) else None).apply(state)
    return replace(state, world=replace(state.world, picked=picked))


def _world(state: PageState) -> World:
    from ...world import World

    return World() if state.model.world is None else state.model.world


@dataclass(frozen=True, eq=False)
class AddObstacles(Event):
    """More obstacles; the last one is picked."""

    obstacles: tuple[Obstacle, ...]

    def apply(self, state: PageState) -> PageState:
        """The others stay."""
        world = _world(state).add(*self.obstacles)
        return _with_world(state, world, world.names[-1])


@dataclass(frozen=True)
class MoveObstacle(Event):
    """An obstacle is put elsewhere."""

    name: str
    pose: Pose
    by: str = ""
    """Of which drag this is a part; "" for none."""

    @property
    def gesture(self) -> str:
        """One obstacle's moves belong together."""
        return f"move {self.name} {self.by}"

    def apply(self, state: PageState) -> PageState:
        """Quaternions of browsers are of length one to some digits only."""
        length = sum(value * value for value in self.pose[:4]) ** 0.5
        if not 1e-6 < length < 1e6:
            raise InputError(f"a pose needs a rotation, found {self.pose[:4]}")
        pose = (*(value / length for value in self.pose[:4]), *self.pose[4:])
        return _with_world(state, _world(state).move(self.name, pose), self.name)


@dataclass(frozen=True)
class ResizeObstacle(Event):
    """An obstacle becomes larger or smaller."""

    name: str
    size: tuple[float, ...]
    """Metres: edges of a box, radius of a sphere, radius and length of a cylinder or capsule."""

    @property
    def gesture(self) -> str:
        """One obstacle's changes belong together."""
        return f"resize {self.name}"

    def apply(self, state: PageState) -> PageState:
        """It stays where it is."""
        world = _world(state)
        changed = resized(world[self.name], self.size)
        return _with_world(state, world.replace(self.name, changed), self.name)


@dataclass(frozen=True)
class RenameObstacle(Event):
    """An obstacle gets another name."""

    name: str
    new: str

    def apply(self, state: PageState) -> PageState:
        """What may touch it still may."""
        new, world = self.new.strip()[:MAX_NAME], _world(state)
        if not new:
            raise InputError("an obstacle needs a name")
        if new == self.name:
            return state
        changed = world.replace(self.name, world[self.name].named(new))
        allow = tuple((link, new if name == self.name else name) for link, name in state.model.allow)
        state = replace(state, model=replace(state.model, world=changed, allow=allow))
        return replace(state, world=replace(state.world, picked=new))


@dataclass(frozen=True)
class RemoveObstacle(Event):
    """An obstacle is gone."""

    name: str

    def apply(self, state: PageState) -> PageState:
        """The others stay."""
        return _with_world(state, _world(state).remove(self.name), None)


@dataclass(frozen=True, eq=False)
class OpenScene(Event):
    """Other obstacles, of a file or generated; None for none."""

    scene: World | None
    file: str = ""
    """Name of the file; "" where it is of none."""

    def apply(self, state: PageState) -> PageState:
        """Instead of those before."""
        state = SetWorld(self.scene).apply(state)
        return replace(
            state,
            world=replace(state.world, picked=None, file=self.file, saved=self.scene if self.file else None),
        )

    def command(self, view: View) -> str:
        """The verdict among them."""
        return check_command(view)


@dataclass(frozen=True, eq=False)
class SceneSaved(Event):
    """The obstacles have been handed out as a file."""

    undoable: ClassVar[bool] = False
    scene: World
    file: str
    before: str = ""
    """Name of a file that held them already; "" for none."""
    same: bool = True
    """Whether a conversion of that file writes the same."""
    whole: bool = True
    """Whether nothing was lost."""

    def apply(self, state: PageState) -> PageState:
        """Command lines name the first file that holds them: one that was read rather than one that was written."""
        if self.before or not self.whole:
            return replace(state, world=replace(state.world))
        return replace(state, world=replace(state.world, file=self.file, saved=self.scene))

    def command(self, view: View) -> str:
        """From one file to the other."""
        if not self.before or not self.same or PurePath(self.before).name == self.file:
            return ""
        return command("convert", self.before, self.file)


@dataclass(frozen=True)
class PickObstacle(Event):
    """An obstacle is picked; None for none."""

    undoable: ClassVar[bool] = False
    name: str | None

    def apply(self, state: PageState) -> PageState:
        """Picking the picked one lets it go."""
        name = None if self.name == state.world.picked else self.name
        return replace(state, world=replace(state.world, picked=name))


@dataclass(frozen=True)
class FadeWorld(Event):
    """Obstacles become more or less transparent."""

    undoable: ClassVar[bool] = False
    opacity: float

    @property
    def gesture(self) -> str:
        """A slider's moves belong together."""
        return "fade world"

    def apply(self, state: PageState) -> PageState:
        """From 0 to 1."""
        if not 0.0 <= self.opacity <= 1.0:
            raise InputError(f"an opacity is between 0 and 1, found {self.opacity!r}")
        return replace(state, world=replace(state.world, opacity=float(self.opacity)))


def size_of(obstacle: Obstacle) -> tuple[float, ...]:
    """As of `ResizeObstacle`; empty for what has no size to change."""
    from ...world import Box, Capsule, Cylinder, Sphere

    match obstacle:
        case Box():
            return obstacle.size
        case Sphere():
            return (obstacle.radius,)
        case Cylinder() | Capsule():
            return obstacle.radius, obstacle.length
        case _:
            return ()


def resized(obstacle: Obstacle, size: tuple[float, ...]) -> Obstacle:
    """The obstacle in another size.

    Raises:
        InputError: it has no such size, or a length is not above zero.
    """
    from ...world import Box, Capsule, Cylinder, Sphere

    if not size or len(size) != len(size_of(obstacle)):
        raise InputError(f"{obstacle.title}: its size cannot be changed to {len(size)} lengths")
    kept: dict[str, Any] = {"pose": obstacle.pose, "name": obstacle.name}
    match obstacle:
        case Box():
            return Box((size[0], size[1], size[2]), **kept)
        case Sphere():
            return Sphere(size[0], **kept)
        case Cylinder():
            return Cylinder(size[0], size[1], **kept)
        case _:
            return Capsule(size[0], size[1], **kept)
