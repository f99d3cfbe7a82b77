"""Smoothing: from a path with corners to a curve without, proved free all the way.

A smoothing spline (`_kernels_smooth`) follows the path as a guide, at first loosely: it cuts every corner, and is
shorter and far smoother than its guide. Where a piece of it cannot be proved free, the spline is drawn closer to the
guide, there alone, and the proof is tried again. The guide is free, so this ends: at the latest where the spline goes
through the guide, or, where that is still not enough, stops at its corners.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from .._frozen import frozen
from ..collision import CollisionModel
from ._chords import Chords
from ._curve import Curve
from ._edges import Edges
from ._group import Group
from ._roughness import roughness

KNOTS = 32
"""Pieces of the spline on a path without corners; each corner may add one."""
LOOSE = 0.3
"""Shares of the length of the path over which the spline smooths at first."""
CLOSER = 0.5
"""What is left of this where a piece was refused."""
PINNED = 0.25
"""Shares of the distance of knots: a spline that smooths over less goes through the guide."""
WIDE = 2
"""Pieces to both sides that are drawn to the guide with one that is refused although it ends on the guide."""
ROUNDS = 30
"""Splines tried at most."""
MARGIN = 0.005
"""Metres that spheres keep from what is around where the guide keeps them: what is not close is proved quickly."""
SPARE = 5e-4
"""Radians or metres that each joint may be off the curve besides, where that can be proved: what a motion that is
resampled at 100 Hz or so leaves it by."""


def smooth(model: CollisionModel, group: Group, path: Any, *, edges: Edges | None = None) -> Curve:
    """A curve along a path, as smooth as can be proved free; never rougher than the path.

    Its direction and curvature are continuous except where it has stops. Joints stay within their limits, and those
    that the group does not move where they are.

    Args:
        model: the verdict.
        group: joints that move.
        path: (n, dof) waypoints whose straight lines are free, n >= 2.
        edges: of the model; made when it is not given.

    Returns:
        `Curve.polyline(path)` where nothing better can be proved.
    """
    rows = np.asarray(path, dtype=np.float64)
    plain = Curve.polyline(rows)
    corners = np.ascontiguousarray(plain.waypoints[plain.stops])
    if len(corners) < 3:
        return plain
    chords = Chords(model, edges or Edges.of(model))
    for every in (False, True):
        spline = _Spline(chords, group, corners, every)
        found = spline.tightened()
        if found is not None:
            return found if roughness(found) <= roughness(rows) else plain
        if spline.exact:
            break
    return plain


class _Spline:
    """A spline along a guide, which is drawn closer where it is refused."""

    def __init__(self, chords: Chords, group: Group, path: Float[np.ndarray, "n dof"], every: bool) -> None:
        from ._kernels_smooth import lay_knots, measure, places_at

        self.chords, self.group = chords, group
        parts = group.parts(path)
        ways = np.empty(len(parts))
        measure(parts, ways)
        knots = np.empty(len(parts) + KNOTS + 2)
        corners = np.empty(len(knots), dtype=np.bool_)
        count = lay_knots(parts, ways, ways[-1] / KNOTS, every, knots, corners)
        self.knots, self.corners = knots[:count], corners[:count]
        self.guide = np.empty((count, parts.shape[1]))
        places_at(parts, ways, self.knots, self.guide)
        self.exact = int(self.corners.sum()) == len(parts)
        """Whether the guide is the path, so that it is free itself."""
        self.stops = np.zeros(count, dtype=np.bool_)
        self.stops[[0, -1]] = True
        self.reaches = np.full(count, LOOSE * ways[-1])
        around = np.diff(self.knots, append=self.knots[-1], prepend=self.knots[0])
        self.least = PINNED * 0.5 * (around[:-1] + around[1:])
        self.again = np.zeros(count - 1, dtype=np.int64)
        """How often each piece was refused with both its ends on the guide."""
        self.pieces = np.empty((count - 1, 4, parts.shape[1]))
        self._scratch = (
            (np.empty(count), np.empty((3, count))),
            (np.empty_like(self.guide), np.empty_like(self.guide)),
        )
        guide = group.whole(self.guide)
        margins = np.full(count - 1, MARGIN)
        margins[~chords.clear(guide[:-1], guide[1:], margins)] = 0.0
        self.margins = margins
        """What each piece keeps: as much as the guide."""
        self.tight = ~chords.clear(guide[:-1], guide[1:], np.zeros(count - 1)) & (margins == 0.0)
        """Pieces where spheres refuse the guide itself: meshes must decide there."""

    def tightened(self) -> Curve | None:
        """The first spline that is proved; None where none is."""
        from ._kernels_smooth import smooth_pieces

        for _ in range(ROUNDS):
            smooth_pieces(self.knots, self.guide, self.reaches, self.stops, self._scratch, self.pieces)
            curve = Curve(self.group.whole(self.pieces), self.knots, self.stops)
            refused = np.flatnonzero(~self.free(curve))
            if len(refused) == 0:
                return Curve(frozen(curve.pieces), frozen(self.knots.copy()), frozen(self.stops.copy()))
            for k in refused.tolist():
                if not self.draw_closer(k):
                    return None
        return None

    def free(self, curve: Curve) -> Bool[np.ndarray, "k"]:
        """Which pieces are proved free and within the limits of the joints: none is where a quick look refuses some."""
        low, high = self.pieces.min(axis=1), self.pieces.max(axis=1)
        free = ((low >= self.group.lower) & (high <= self.group.upper)).all(axis=1)
        begins, ends, slacks = curve.pieces[:, 0], curve.pieces[:, 3], curve.bulges
        free &= self.tight | self.chords.clear(begins, ends, self.margins)
        if not free.all():
            return free
        spare = np.where(self.group_moves, SPARE, 0.0)
        free &= self.chords.proved(begins, ends, slacks + spare)
        hard = np.flatnonzero(~free & (self.tight | self.pinned))
        if len(hard):
            free[hard] = self.chords.proved_exactly(begins[hard], ends[hard], slacks[hard])
        return free

    @property
    def pinned(self) -> Bool[np.ndarray, "k"]:
        """Pieces with both ends on the guide."""
        on = (self.reaches == 0.0) | self.stops
        return on[:-1] & on[1:]

    @property
    def group_moves(self) -> Bool[np.ndarray, "dof"]:
        """Joints that move."""
        out = np.zeros(len(self.group.held), dtype=np.bool_)
        out[self.group.moving] = True
        return out

    def draw_closer(self, k: int) -> bool:
        """Draws the spline to the guide at a piece; False when it is there already."""
        ends = slice(k, k + 2)
        if not self.pinned[k]:
            closer = CLOSER * self.reaches[ends]
            self.reaches[ends] = np.where(closer < self.least[ends], 0.0, closer)
            return True
        self.again[k] += 1
        self.margins[k] = 0.0
        wide = int(self.again[k])
        if wide <= WIDE:  # its neighbours bend it
            self.reaches[max(0, k - wide) : k + 2 + wide] = 0.0
            return True
        first = k - int(np.argmax(self.corners[k::-1]))
        last = k + 1 + int(np.argmax(self.corners[k + 1 :]))
        if not self.exact or (self.stops[first] and self.stops[last]):
            return False
        self.stops[first] = self.stops[last] = True
        return True
