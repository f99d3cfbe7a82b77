"""The hand and what it holds, to scale, over a table beside the robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._poses import as_wxyz_xyz, matrix_from_wxyz_xyz
from ._colours import PLAIN, Rgb
from ._meshes import collision_surfaces
from ._stage import grasp_place

if TYPE_CHECKING:
    from ...grasp import Grasp, Hand
    from ...grasp.internal import GraspedObject
    from .._view import View

ROOT = "/grasp"
TABLE: Rgb = (214, 205, 190)
OBJECT: Rgb = (240, 228, 66)
IDLE: Rgb = (150, 156, 164)
FINGERS: tuple[Rgb, ...] = ((213, 94, 0), (0, 114, 178), (0, 158, 115), (204, 121, 167), (230, 159, 0))
"""Okabe and Ito, thumb first; as in the pictures of `draw`."""


class GraspNodes:
    """Nodes under `/grasp`."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._root: Any = None
        self._robot: Any = None
        self._hand: Hand | None = None
        self._frames: list[Any] = []
        self._meshes: list[tuple[str, Any]] = []
        self._thing: Any = None
        self._painted: dict[str, Rgb] = {}
        self._shown: tuple[Any, ...] = (None, None)

    def show(self, view: View) -> None:
        """Brings the scene up to date."""
        asked, live = view.state.grasp, view.state.grasp_live
        if not asked.shown or view.robot is None or view.poses is None:
            if self._root is not None and self._root.visible:
                self._root.visible = False
            return
        if self._root is None:
            self._root = self._scene.add_frame(ROOT, show_axes=False)
        if view.robot is not self._robot or not self._root.visible:
            self._place(view)
        grasp, height = live.grasp, 1e-3 * asked.height_mm
        if grasp is None or (grasp, height) == self._shown:
            return
        self._shown = grasp, height
        if grasp.hand is not self._hand:
            self._build(grasp.hand)
        self._pose(grasp, height)
        self._paint(grasp)

    def _place(self, view: View) -> None:
        self._robot = view.robot
        self._root.position, self._root.visible = grasp_place(view), True

    def _build(self, hand: Hand) -> None:
        for node in (*self._frames, *([] if self._thing is None else [self._thing])):
            node.remove()
        self._hand, self._frames, self._meshes, self._thing, self._painted = hand, [], [], None, {}
        self._scene.add_box(
            f"{ROOT}/table", dimensions=(0.36, 0.36, 0.004), position=(0.0, 0.0, -0.002), color=TABLE
        )
        for k, link in enumerate(hand.robot.link_names):
            frame = self._scene.add_frame(f"{ROOT}/{k}", show_axes=False)
            self._frames.append(frame)
            for part, surface in enumerate(collision_surfaces(hand.robot, link)):
                node = self._scene.add_mesh_simple(
                    f"{ROOT}/{k}/{part}",
                    surface.vertices.astype(np.float32),
                    surface.faces.astype(np.uint32),
                    color=PLAIN,
                    flat_shading=True,
                    side="double",
                )
                self._meshes.append((link, node))

    def _pose(self, grasp: Grasp, height: float) -> None:
        from ...grasp.internal import grasped_object

        poses = matrix_from_wxyz_xyz(grasp.hand.robot.link_poses(grasp.hand.cfg(grasp.ctrl)))
        placed = as_wxyz_xyz(grasp.to_world(height).T_world_base @ poses)
        for frame, pose in zip(self._frames, placed, strict=True):
            frame.wxyz, frame.position = pose[:4], pose[4:]
        self._hold(grasped_object(grasp, height))

    def _hold(self, thing: GraspedObject) -> None:
        """The object, replaced: it is a few triangles, and may be of another kind."""
        if self._thing is not None:
            self._thing.remove()
        mesh = thing.mesh()
        self._thing = self._scene.add_mesh_simple(
            f"{ROOT}/object",
            np.asarray(mesh.vertices, dtype=np.float32),
            np.asarray(mesh.faces, dtype=np.uint32),
            color=OBJECT,
            opacity=0.75,
            flat_shading=True,
        )

    def _paint(self, grasp: Grasp) -> None:
        colours = link_colours_of(grasp)
        for link, node in self._meshes:
            colour = colours.get(link, PLAIN)
            if self._painted.get(link) != colour:
                node.color = colour
        self._painted = {link: colours.get(link, PLAIN) for link, _ in self._meshes}


def link_colours_of(grasp: Grasp) -> dict[str, Rgb]:
    """Colours of links by their fingers, thumb first; fingers that take no part are grey."""
    hand = grasp.hand
    order = [hand.thumb, *(name for name in hand.finger_names if name != hand.thumb)]
    active = (hand.thumb, *grasp.fingers)
    return {
        link: FINGERS[order.index(finger) % len(FINGERS)] if finger in active else IDLE
        for link, finger in hand.link_fingers.items()
    }
