"""The verdict in the scene: the shortest segment, contacts with normals, names of what touches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import at_least
from ._colours import NORMAL, SEGMENT

if TYPE_CHECKING:
    from ..._clash import Clash
    from .._view import View

MIDDLE = "bottom-center"
"""Where labels hang: half of the words on either side."""
MOST = 20
"""Contacts that are drawn."""
NORMAL_LENGTH = 0.08
"""Metres."""


class LiveNodes:
    """Nodes under `/live`."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._segment: Any = None
        self._normals: Any = None
        self._labels: list[Any] = []
        self._shown: tuple[Any, ...] = ()

    def show(self, view: View) -> None:
        """Brings the scene up to date."""
        live, verdict = view.state.live, view.verdict
        shown = (verdict, live.segment, live.contacts, live.names)
        if shown == self._shown:
            return
        self._shown = shown
        near = None if verdict is None or not verdict.free else verdict.closest_varying or verdict.closest
        apart = [] if near is None else [near]
        clashes = [] if verdict is None else list(verdict.clashes[:MOST])
        self._draw_segment(apart if live.segment else [])
        self._draw_normals(clashes if live.contacts else [])
        self._draw_names([*apart, *clashes][:1] if live.names else [])  # more would hide each other

    def _draw_segment(self, found: list[Clash]) -> None:
        if not found:
            if self._segment is not None:
                self._segment.visible = False
            return
        points = np.array([[found[0].point_a, found[0].point_b]], dtype=np.float32)
        if self._segment is None:
            self._segment = self._scene.add_line_segments(
                "/live/segment", points, colors=SEGMENT, thickness=4.0, thickness_units="screen"
            )
        self._segment.points, self._segment.visible = points, True

    def _draw_normals(self, found: list[Clash]) -> None:
        if self._normals is not None:
            self._normals.remove()
            self._normals = None
        if found:
            tips = np.array(
                [[clash.point_b, clash.point_b + NORMAL_LENGTH * clash.normal] for clash in found],
                dtype=np.float32,
            )
            self._normals = self._scene.add_arrows(
                "/live/normals",
                tips,
                colors=NORMAL,
                shaft_radius=0.003,
                head_radius=0.008,
                head_length=0.02,
            )

    def _draw_names(self, found: list[Clash]) -> None:
        while len(self._labels) > len(found):
            self._labels.pop().remove()
        for k, clash in enumerate(found):
            text = f"{clash.a} / {clash.b}: {at_least(1e3 * clash.distance, 1)} mm"
            where = (clash.point_a + clash.point_b) / 2
            if k == len(self._labels):
                self._labels.append(
                    self._scene.add_label(f"/live/name{k}", text, position=where, anchor=MIDDLE)
                )
            elif self._labels[k].text != text:
                self._labels[k].text = text
            self._labels[k].position = where
