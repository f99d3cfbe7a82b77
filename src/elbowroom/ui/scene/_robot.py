"""The robot in the scene: a frame per link, with its meshes and spheres."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..state import chosen_sphere, spheres_of
from ._colours import CHOSEN, SPHERES_LAYER, Rgb, link_colours
from ._meshes import Surface, ball, collision_surfaces, visual_surfaces

if TYPE_CHECKING:
    from ...robot import Robot
    from ...spheres import SphereModel
    from .._view import View
    from ..state import Layer

ROOT = "/robot"
OPAQUE = 0.995
"""From here on a mesh is drawn as solid, which is quicker and hides what is behind."""


Pick = Callable[[str], None] | None
PickSphere = Callable[[str, int], None] | None


def frame_name(robot: Robot, link: str) -> str:
    """Node of a link's frame, for nodes of other panels to hang on."""
    return f"{ROOT}/{robot.link_index(link)}"


class RobotNodes:
    """Frames, meshes and spheres of the robot that is shown.

    Args:
        scene: a `viser.SceneApi`.
        pick: told of the link that was clicked; None where nothing is to be clicked.
        pick_sphere: told of link and number of the sphere that was clicked; None likewise.
    """

    def __init__(self, scene: Any, pick: Pick = None, pick_sphere: PickSphere = None) -> None:
        self._scene, self._pick, self._pick_sphere = scene, pick, pick_sphere
        self._robot: Robot | None = None
        self._root: Any = None
        self._frames: list[Any] = []
        self._poses: np.ndarray | None = None
        self._layers: dict[str, _MeshLayer] = {}
        self._spheres: _SphereLayer | None = None

    def show(self, view: View) -> None:
        """Brings the scene up to date."""
        if view.robot is not self._robot:
            self._build(view)
        if view.robot is None or view.poses is None or self._spheres is None:
            return
        self._move(view.poses)
        colours, look = link_colours(view), view.state.look
        self._layers["visual"].show(look.visual, colours)
        self._layers["collision"].show(look.collision, colours)
        self._spheres.show(look.spheres, spheres_of(view.state), colours, chosen_sphere(view.state))

    def _build(self, view: View) -> None:
        if self._root is not None:
            self._root.remove()  # and all that hangs on it
        self._robot, self._frames, self._poses, self._layers, self._spheres = view.robot, [], None, {}, None
        if view.robot is None:
            self._root = None
            return
        self._root = self._scene.add_frame(ROOT, show_axes=False)
        for link in view.robot.link_names:
            self._frames.append(self._scene.add_frame(frame_name(view.robot, link), show_axes=False))
        self._layers = {
            "visual": _MeshLayer(self._scene, view.robot, "visual", visual_surfaces, self._pick),
            "collision": _MeshLayer(self._scene, view.robot, "collision", collision_surfaces, self._pick),
        }
        self._spheres = _SphereLayer(self._scene, view.robot, self._pick_sphere)

    def _move(self, poses: np.ndarray) -> None:
        moved = range(len(poses))
        if self._poses is not None:
            moved = np.flatnonzero((poses != self._poses).any(axis=1)).tolist()
        for k in moved:
            if self._poses is None or (poses[k, :4] != self._poses[k, :4]).any():
                self._frames[k].wxyz = poses[k, :4]
            if self._poses is None or (poses[k, 4:] != self._poses[k, 4:]).any():
                self._frames[k].position = poses[k, 4:]
        self._poses = poses


def clickable(handle: Any, pick: Pick, link: str) -> None:
    """Has `pick` told a name when a node is clicked."""
    if pick is None:
        return

    async def clicked(_: Any) -> None:
        pick(link)

    handle.on_click(clicked)


class _MeshLayer:
    """One model of the robot as meshes, made when it is first shown."""

    def __init__(
        self,
        scene: Any,
        robot: Robot,
        name: str,
        surfaces: Callable[[Robot, str], tuple[Surface, ...]],
        pick: Pick,
    ) -> None:
        self._scene, self._robot, self._name, self._surfaces, self._pick = scene, robot, name, surfaces, pick
        self._nodes: list[tuple[str, Surface, Any]] | None = None
        self._look: Layer | None = None
        self._painted: dict[str, Rgb] = {}

    def show(self, look: Layer, colours: dict[str, Rgb]) -> None:
        if self._nodes is None:
            if not look.shown:
                return
            self._nodes = self._make()
        if look != self._look:
            for _, surface, node in self._nodes:
                opacity = look.opacity * surface.opacity
                node.visible = look.shown
                node.opacity = None if opacity > OPAQUE else opacity
            self._look = look
        if colours != self._painted:
            for link, surface, node in self._nodes:
                if colours.get(link) != self._painted.get(link):
                    node.color = colours.get(link, surface.colour)
            self._painted = dict(colours)

    def _make(self) -> list[tuple[str, Surface, Any]]:
        nodes: list[tuple[str, Surface, Any]] = []
        for link in self._robot.link_names:
            for k, surface in enumerate(self._surfaces(self._robot, link)):
                node = self._scene.add_mesh_simple(
                    f"{frame_name(self._robot, link)}/{self._name}{k}",
                    surface.vertices.astype(np.float32),
                    surface.faces.astype(np.uint32),
                    color=surface.colour,
                    flat_shading=True,
                    side="double",
                )
                clickable(node, self._pick, link)
                nodes.append((link, surface, node))
        return nodes


class _SphereLayer:
    """Spheres, a batch per link, of which only what differs is sent."""

    def __init__(self, scene: Any, robot: Robot, pick: PickSphere) -> None:
        self._scene, self._robot, self._pick = scene, robot, pick
        self._shown: SphereModel | None = None
        self._batches: dict[str, tuple[np.ndarray, Any]] = {}
        self._look: Layer | None = None
        self._painted: dict[str, tuple[Rgb, int | None]] = {}

    def show(
        self,
        look: Layer,
        spheres: SphereModel | None,
        colours: dict[str, Rgb],
        chosen: tuple[str, int, Any, float] | None,
    ) -> None:
        if look.shown and spheres is not self._shown:
            self._change(spheres)
            self._look = None
        if look != self._look:
            for _, node in self._batches.values():
                node.visible, node.opacity = look.shown, look.opacity
            self._look = look
        for link, (rows, node) in self._batches.items():
            number = chosen[1] if chosen is not None and chosen[0] == link else None
            paint = colours.get(link, SPHERES_LAYER), number
            if paint != self._painted.get(link):
                node.batched_colors = _painted(len(rows), *paint)
                self._painted[link] = paint

    def _change(self, spheres: SphereModel | None) -> None:
        self._shown = spheres
        wanted: dict[str, np.ndarray] = {}
        if spheres is not None:
            for k, link in enumerate(spheres.link_names):
                own = spheres.link_idx == k
                if own.any() and link in self._robot.link_names:
                    wanted[link] = np.column_stack([spheres.centers[own], spheres.radii[own]])
        for link in [*self._batches]:
            if link not in wanted or len(wanted[link]) != len(self._batches[link][0]):
                self._batches.pop(link)[1].remove()
                self._painted.pop(link, None)
        for link, rows in wanted.items():
            if link not in self._batches:
                self._batches[link] = rows, self._add(link, rows)
            elif not np.array_equal(rows, self._batches[link][0]):
                node = self._batches[link][1]
                node.batched_positions, node.batched_scales = rows[:, :3], rows[:, 3]
                self._batches[link] = rows, node

    def _add(self, link: str, rows: np.ndarray) -> Any:
        vertices, faces = ball()
        node = self._scene.add_batched_meshes_simple(
            f"{frame_name(self._robot, link)}/spheres",
            vertices,
            faces,
            batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (len(rows), 1)),
            batched_positions=rows[:, :3],
            batched_scales=np.maximum(rows[:, 3], 0.0),
            batched_colors=np.array(SPHERES_LAYER, dtype=np.uint8),
            cast_shadow=False,
        )
        self._painted[link] = SPHERES_LAYER, None

        pick = self._pick
        if pick is None:
            return node

        async def clicked(happened: Any) -> None:
            if happened.instance_index is not None:
                pick(link, int(happened.instance_index))

        node.on_click(clicked)
        return node


def _painted(count: int, colour: Rgb, chosen: int | None) -> np.ndarray:
    """(3,) colour of all, or (count, 3) where one is chosen."""
    if chosen is None:
        return np.array(colour, dtype=np.uint8)
    colours = np.tile(np.array(colour, dtype=np.uint8), (count, 1))
    colours[chosen] = CHOSEN
    return colours
