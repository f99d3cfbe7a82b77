"""A gizmo per target in the scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from ...robot import Robot
    from .._view import View

Phase = Literal["start", "update", "end"]
Moved = Callable[[tuple[float, ...], Phase], None]
"""Told the pose wxyz_xyz and the phase of the drag, in order; it must return at once."""


class Gizmo:
    """Follows what it is shown, but never pulls at the hand that drags it.

    Args:
        scene: a `viser.SceneApi`.
        name: of the node.
        moved: told of drags.
        scale: metres, about.
    """

    def __init__(self, scene: Any, name: str, moved: Moved, scale: float) -> None:
        self._handle = scene.add_transform_controls(name, scale=scale, depth_test=False, line_width=3.0)
        self._held = False

        async def dragged(event: Any) -> None:
            self._held = event.phase != "end"
            moved((*map(float, self._handle.wxyz), *map(float, self._handle.position)), event.phase)

        self._handle.on_update(dragged)

    def show(self, pose: np.ndarray | tuple[float, ...]) -> None:
        """Brings it to a pose, wxyz_xyz, unless a hand has it."""
        if self._held:
            return
        if not np.array_equal(self._handle.wxyz, pose[:4]):
            self._handle.wxyz = np.asarray(pose[:4])
        if not np.array_equal(self._handle.position, pose[4:]):
            self._handle.position = np.asarray(pose[4:])

    def remove(self) -> None:
        """Takes it out of the scene."""
        self._handle.remove()


SIZE = 0.18
"""Metres; less for small robots."""


class TargetNodes:
    """Gizmos under `/targets`, at the links or where they are to be.

    Args:
        scene: a `viser.SceneApi`.
        moved: told of a link, the pose to which its target is dragged, and the phase of the drag.
    """

    def __init__(self, scene: Any, moved: Callable[[str, tuple[float, ...], Phase], None]) -> None:
        self._scene, self._moved = scene, moved
        self._gizmos: dict[str, Gizmo] = {}
        self._robot: Robot | None = None

    def show(self, view: View, links: tuple[str, ...]) -> None:
        """Brings the scene up to date.

        Args:
            view: what is shown. links: those with a gizmo.
        """
        if view.robot is not self._robot or links != tuple(self._gizmos):
            self._build(view, links)
        if view.robot is None or view.poses is None:
            return
        targets = dict(view.state.ik.of(view.state))
        for link, gizmo in self._gizmos.items():
            gizmo.show(targets.get(link) or view.poses[view.robot.link_index(link)])

    def _build(self, view: View, links: tuple[str, ...]) -> None:
        from ._stage import bounds

        for gizmo in self._gizmos.values():
            gizmo.remove()
        self._robot, self._gizmos = view.robot, {}
        if view.robot is None or view.poses is None or not links:
            return
        scale = min(SIZE, 0.3 * bounds(view.robot, view.poses)[1])
        for k, link in enumerate(links):
            self._gizmos[link] = Gizmo(
                self._scene,
                f"/targets/{k}",
                lambda pose, phase, name=link: self._moved(name, pose, phase),
                scale,
            )
