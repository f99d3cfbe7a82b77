"""Hands of an operator in the scene, and what the robot's links are to follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._colours import NORMAL, PLAIN, SEGMENT

if TYPE_CHECKING:
    from .._view import View
    from ..state import Hand

PARTS = ("left", "right", "head")
SIZES = {"left": (0.05, 0.05, 0.12), "right": (0.05, 0.05, 0.12), "head": (0.16, 0.1, 0.06)}
"""Boxes, metres."""
MOST = 8
"""Targets that are drawn."""


class TeleopNodes:
    """Nodes under `/teleop`: a box a hand, a frame a target. While hands move, poses are sent and nothing else."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._hands: dict[str, _HandNode] = {}
        self._targets: dict[str, Any] = {}
        self._shown: Any = None

    def show(self, view: View) -> None:
        """Brings the scene up to date."""
        seen = view.state.teleop.seen
        if seen is self._shown:
            return
        self._shown = seen
        tracked = {hand.part: hand for hand in seen.hands if hand.part in PARTS}
        for part in PARTS:
            if part not in self._hands and part in tracked:
                self._hands[part] = _HandNode(self._scene, part)
            if part in self._hands:
                self._hands[part].show(tracked.get(part))
        self._show_targets(dict(seen.targets[:MOST]))

    def _show_targets(self, targets: dict[str, tuple[float, ...]]) -> None:
        for link, pose in targets.items():
            node = self._targets.get(link)
            if node is None:
                name = f"/teleop/target{len(self._targets)}"
                node = self._scene.add_frame(name, axes_length=0.1, axes_radius=0.004, origin_color=NORMAL)
                self._targets[link] = node
            _move(node, pose)
        for link, node in self._targets.items():
            if node.visible != (link in targets):
                node.visible = link in targets


class _HandNode:
    """One part of the operator: a box with its axes, whose colour and label say whether it is followed."""

    def __init__(self, scene: Any, part: str) -> None:
        self._part = part
        self._frame = scene.add_frame(f"/teleop/{part}", axes_length=0.08, axes_radius=0.002)
        self._box = scene.add_box(f"/teleop/{part}/box", dimensions=SIZES[part], color=PLAIN, opacity=0.8)
        self._label = scene.add_label(f"/teleop/{part}/label", "", position=(0.0, 0.0, 0.1))
        self._followed: bool | None = None

    def show(self, hand: Hand | None) -> None:
        if self._frame.visible != (hand is not None):
            self._frame.visible = hand is not None
        if hand is None:
            return
        _move(self._frame, hand.pose)
        if hand.followed != self._followed:
            self._followed = hand.followed
            self._box.color = SEGMENT if hand.followed else PLAIN
            self._label.text = f"{self._part}: followed" if hand.followed else self._part


def _move(node: Any, pose: tuple[float, ...]) -> None:
    node.wxyz, node.position = np.array(pose[:4]), np.array(pose[4:])
