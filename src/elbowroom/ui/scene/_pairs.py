"""The selected pair of links: both coloured, and the shortest segment between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._colours import PAINTERS, Rgb

if TYPE_CHECKING:
    from .._view import View

FIRST: Rgb = (0, 114, 178)
SECOND: Rgb = (204, 121, 167)
"""Blue and purple: told apart by everybody, also from the vermillion of what collides."""
SEGMENT: Rgb = (230, 159, 0)


def _chosen(view: View) -> Mapping[str, Rgb]:
    pair = view.state.pairs.pair
    return {} if pair is None else {pair[0]: FIRST, pair[1]: SECOND}


PAINTERS.append(_chosen)


class PairNodes:
    """Nodes under `/pairs`."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._segment: Any = None
        self._shown: Any = None

    def show(self, view: View) -> None:
        """Brings the scene up to date."""
        own, cfg = view.state.pairs, view.state.robot.cfg
        near = own.near if own.near is not None and own.near.of(own.pair, cfg, view.robot) else None
        if near is None:
            if self._segment is not None and own.pair is None:
                self._segment.visible = False
                self._shown = None
            return
        if near is self._shown:
            return
        self._shown = near
        points = np.array([[near.clash.point_a, near.clash.point_b]], dtype=np.float32)
        if self._segment is None:
            self._segment = self._scene.add_line_segments(
                "/pairs/segment", points, colors=SEGMENT, thickness=5.0, thickness_units="screen"
            )
        self._segment.points, self._segment.visible = points, True
