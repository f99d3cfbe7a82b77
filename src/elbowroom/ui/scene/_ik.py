"""A gizmo per target in the scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._gizmo import Gizmo, Phase

if TYPE_CHECKING:
    from ...robot import Robot
    from .._view import View

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
