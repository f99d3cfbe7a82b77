"""Obstacles in the scene: a node each, by number; a move sends a pose, a new shape its node alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._poses import as_wxyz_xyz
from ...robot.internal import primitive
from ...world import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, Obstacle, PointCloud, SdfGrid, Sphere
from ._colours import OBSTACLE, PICKED, Rgb, link_colours
from ._ik import Gizmo, Moved
from ._robot import OPAQUE, clickable
from ._stage import camera_of, hidden_by

if TYPE_CHECKING:
    from ...world import World
    from .._view import View

ROOT = "/world"
MOST = 2000
"""Obstacles that are drawn."""
FADED_MOST = 200
"""Obstacles that are checked for hiding the robot."""
MOST_POINTS = 20_000
"""Points of a cloud that are drawn; more look the same."""
PLANE = 6.0
"""Metres of a half-space that are drawn."""
GIZMO = 0.08, 0.4
"""Metres, at least and at most."""
HIDES, SEEN_THROUGH = 0.12, 0.3
"""Share of the robot's links that an obstacle hides from the camera to be faded, and the opacity that it gets."""
WOOD, STEEL, GROUND, WALL = (193, 158, 116), (120, 131, 143), (222, 224, 226), (196, 206, 214)
BIN: Rgb = (116, 142, 168)
MATERIALS: dict[str, Rgb] = {
    "floor": GROUND,
    "wall": WALL,
    "bin": BIN,
    **dict.fromkeys(("table", "bench", "shelf", "board", "door"), WOOD),
    **dict.fromkeys(
        ("leg", "cage", "pedestal", "pipe", "column", "machine", "panel", "screen", "post"), STEEL
    ),
}
"""Word in an obstacle's name -> the colour of what it is."""
THINGS: tuple[Rgb, ...] = (
    (122, 158, 126), (201, 170, 94), (128, 112, 158), (176, 122, 122), (94, 140, 150), (164, 164, 120),
)  # fmt: skip
"""Colours of loose things: none that means a collision, a choice or a proof."""


@dataclass(eq=False)
class _Node:
    obstacle: Obstacle
    handle: Any
    own: Rgb
    """Its colour where nothing is to be said of it."""
    colour: Rgb
    opacity: float = 1.0


class WorldNodes:
    """Nodes under `/world`, and the gizmo of the obstacle that is picked.

    Args:
        scene: a `viser.SceneApi`.
        pick: told the name of an obstacle that was clicked.
        moved: told the pose to which the picked one is dragged, by the mouse that grabs it or by its gizmo.
    """

    def __init__(self, scene: Any, pick: Callable[[str], None], moved: Moved) -> None:
        self._scene, self._pick, self._moved = scene, pick, moved
        self._nodes: dict[str, _Node] = {}
        self._world: World | None = None
        self._made = 0
        self._gizmo: tuple[str, Gizmo] | None = None
        self._dragged: Any = None

    def show(self, view: View) -> None:
        """Brings the scene up to date."""
        world = view.state.model.world
        if world is not self._world:
            self._change(world)
            self._world = world
        picked = view.state.world.picked
        colours: dict[str, Rgb] = {name: node.own for name, node in self._nodes.items()}
        if picked in colours:
            colours[picked] = PICKED
        colours.update({name: rgb for name, rgb in link_colours(view).items() if name in colours})
        for name, node in self._nodes.items():
            if colours[name] != node.colour:
                _paint(node, colours[name])
        self._fade(view.state.world.opacity, self._hiding(view))
        self._show_gizmo(None if world is None or picked not in self._nodes else world[picked])
        self._let_drag(None if picked is None else self._nodes.get(picked))

    def _change(self, world: World | None) -> None:
        wanted = {} if world is None else {o.name: o for o in world.obstacles[:MOST]}
        for name in [*self._nodes]:
            if name not in wanted or not same_shape(wanted[name], self._nodes[name].obstacle):
                self._nodes.pop(name).handle.remove()
        for name, obstacle in wanted.items():
            node = self._nodes.get(name)
            if node is None:
                self._nodes[name] = self._add(obstacle)
            elif node.obstacle is not obstacle:
                if not np.array_equal(node.obstacle.pose, obstacle.pose):
                    pose = as_wxyz_xyz(obstacle.pose)
                    node.handle.wxyz, node.handle.position = pose[:4], pose[4:]
                node.obstacle = obstacle

    def _add(self, obstacle: Obstacle) -> _Node:
        self._made += 1
        pose = as_wxyz_xyz(obstacle.pose)
        place = {"wxyz": pose[:4], "position": pose[4:]}
        colour = colour_of(obstacle)
        handle = _draw(self._scene, f"{ROOT}/{self._made}", obstacle, colour, place)
        if not isinstance(obstacle, PointCloud):  # viser's clouds cannot be clicked; they are picked by name
            clickable(handle, self._pick, obstacle.name)
        return _Node(obstacle, handle, colour, colour)

    def _hiding(self, view: View) -> set[str]:
        """Obstacles between the camera and a good part of the robot."""
        camera = camera_of(self._scene)
        if camera is None or view.poses is None or not self._nodes:
            return set()
        solid = [
            node.obstacle
            for node in self._nodes.values()
            if not isinstance(node.obstacle, (PointCloud, HalfSpace, SdfGrid))
        ][:FADED_MOST]
        shares = hidden_by(solid, np.array(camera.position), view.poses[:, 4:])
        return {obstacle.name for obstacle, share in zip(solid, shares, strict=True) if share > HIDES}

    def _fade(self, opacity: float, hiding: set[str]) -> None:
        for name, node in self._nodes.items():
            wanted = min(opacity, SEEN_THROUGH) if name in hiding else opacity
            if node.opacity != wanted and not isinstance(node.obstacle, (PointCloud, HalfSpace)):
                node.handle.opacity = None if wanted > OPAQUE else wanted
            node.opacity = wanted

    def _show_gizmo(self, picked: Obstacle | None) -> None:
        if self._gizmo is not None and (picked is None or self._gizmo[0] != picked.name):
            self._gizmo[1].remove()
            self._gizmo = None
        if picked is None:
            return
        if self._gizmo is None:
            size = float(np.ptp(picked.bounds, axis=0).max())
            scale = float(np.clip(0.75 * size, *GIZMO))
            self._gizmo = picked.name, Gizmo(self._scene, "/world_gizmo", self._moved, scale)
        self._gizmo[1].show(as_wxyz_xyz(picked.pose))

    def _let_drag(self, node: _Node | None) -> None:
        """Has the picked obstacle, and no other, follow the mouse that grabs it; elsewhere the mouse turns the view."""
        handle = None if node is None or isinstance(node.obstacle, PointCloud) else node.handle
        if handle is self._dragged:
            return
        if self._dragged is not None and any(self._dragged is other.handle for other in self._nodes.values()):
            self._dragged.remove_drag_callback()
        self._dragged = handle
        if handle is None:
            return
        held = np.zeros(3)  # from the obstacle's origin to where it was grabbed

        async def dragged(event: Any) -> None:
            if event.phase == "start":
                held[:] = np.subtract(event.start_position, handle.position)
            place = np.subtract(event.end_position, held)
            self._moved((*map(float, handle.wxyz), *map(float, place)), event.phase)

        handle.on_drag(dragged)


def same_shape(a: Obstacle, b: Obstacle) -> bool:
    """Whether two obstacles look the same in their own frames."""
    if type(a) is not type(b):
        return False
    match a, b:
        case MeshObstacle(), MeshObstacle():
            return a.mesh is b.mesh
        case PointCloud(), PointCloud():
            return a.points is b.points and a.radius == b.radius
        case SdfGrid(), SdfGrid():
            return a.values is b.values
        case _:
            return all(getattr(a, name) == getattr(b, name) for name in _SIZES[type(a)])


_SIZES: dict[type[Obstacle], tuple[str, ...]] = {
    Box: ("size",),
    Sphere: ("radius",),
    Cylinder: ("radius", "length"),
    Capsule: ("radius", "length"),
    HalfSpace: ("normal", "offset"),
}


def _paint(node: _Node, colour: Rgb) -> None:
    node.colour = colour
    if isinstance(node.obstacle, PointCloud):
        node.handle.colors = np.array(colour, dtype=np.uint8)
    else:
        node.handle.color = colour


def colour_of(obstacle: Obstacle) -> Rgb:
    """The colour of what an obstacle's name says that it is; loose things of a kind have one colour."""
    words = obstacle.name.lower().replace("-", "_").split("_")
    if isinstance(obstacle, HalfSpace):
        return WALL if "wall" in words else GROUND
    found = [MATERIALS[word] for word in words if word in MATERIALS]
    kind = [word for word in words if word and not word.isdigit()]
    things = {"crate": 1, "can": 0, "ball": 3, "bottle": 4, "bowl": 2, "ring": 5, "rock": 5, "bracket": 2}
    if kind and kind[-1] in things:
        return THINGS[things[kind[-1]]]
    if found:
        return found[-1]
    return THINGS[sum(map(ord, obstacle.name)) % len(THINGS)] if "box" in words else OBSTACLE


def _draw(scene: Any, name: str, obstacle: Obstacle, colour: Rgb, place: dict[str, Any]) -> Any:
    """A node in the shape of an obstacle."""
    match obstacle:
        case Box():
            return scene.add_box(name, colour, obstacle.size, **place)
        case Sphere():
            return scene.add_icosphere(name, obstacle.radius, colour, **place)
        case Cylinder():
            return scene.add_cylinder(name, obstacle.radius, obstacle.length, colour, **place)
        case PointCloud():
            points = obstacle.points[:: -(-len(obstacle.points) // MOST_POINTS)]
            return scene.add_point_cloud(
                name,
                points.astype(np.float32),
                colour,
                point_size=2.0 * obstacle.radius,
                point_shape="circle",
                precision="float32",
                **place,
            )
        case _:
            vertices, faces, look = _triangles(obstacle)
            return scene.add_mesh_simple(
                name,
                vertices.astype(np.float32),
                faces.astype(np.uint32),
                color=colour,
                side="double",
                **look,
                **place,
            )


def _triangles(obstacle: Obstacle) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Triangles in the frame of an obstacle, and how they are drawn."""
    if isinstance(obstacle, Capsule):
        mesh = primitive("capsule", np.eye(4), (obstacle.radius, obstacle.length)).load()
        return mesh.vertices, mesh.faces, {}
    if isinstance(obstacle, MeshObstacle):
        return obstacle.mesh.vertices, obstacle.mesh.faces, {"flat_shading": True}
    if isinstance(obstacle, HalfSpace):
        normal = np.array(obstacle.normal)
        across = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
        across /= np.linalg.norm(across)
        along = np.cross(normal, across)
        corners = [
            obstacle.offset * normal + 0.5 * PLANE * (i * across + j * along)
            for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]
        look = {"opacity": 0.35, "cast_shadow": False}
        return np.array(corners), np.array([[0, 1, 2], [0, 2, 3]]), look
    assert isinstance(obstacle, SdfGrid)
    low = np.array(obstacle.origin)
    high = low + np.array(obstacle.spacing) * (np.array(obstacle.values.shape) - 1)
    mesh = primitive("box", np.eye(4), tuple((high - low).tolist())).load()
    return mesh.vertices + 0.5 * (low + high), mesh.faces, {"wireframe": True}
