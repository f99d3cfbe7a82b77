"""Gizmo: a handle of the scene by which a hand drags something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

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
