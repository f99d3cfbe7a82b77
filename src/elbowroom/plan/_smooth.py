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
from ._curve import Curve, straight_pieces
from ._edges import Edges
from ._group import Group
from ._piece_proofs import PieceProofs
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
    proofs = PieceProofs(model, edges or Edges.of(model))
    for every in (False, True):
        spline = _Spline(proofs, group, corners, every)
        found = spline.tightened()
        if found is not None:
            return found if roughness(found) <= roughness(rows) else plain
        if spline.exact:
            break
    return plain


class _Spline:
    """A spline along a guide, which is drawn closer where it is refused."""

    def __init__(
        self, proofs: PieceProofs, group: Group, path: Float[np.ndarray, "n dof"], every: bool
    ) -> None:
        from ._kernels_smooth import lay_knots, measure, places_at

        self.proofs, self.group = proofs, group
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
        self.slack = frozen(np.where(group.moves, SPARE, 0.0))
        self.known = np.full((count - 1, 4, parts.shape[1]), np.inf)
        """The pieces as they were when they were last proved; infinite where they never were."""
        straight = straight_pieces(group.whole(self.guide))
        margins = np.full(count - 1, MARGIN)
        margins[~proofs.clear(straight, margins)] = 0.0
        self.margins = margins
        """What each piece keeps: as much as the guide."""
        self.tight = margins == 0.0
        self.tight[self.tight] = ~proofs.clear(straight[self.tight], margins[self.tight])
        """Pieces where spheres refuse the guide itself: meshes must decide there."""
        near = self.tight[:-1] | self.tight[1:]
        self.reaches[1:-1][near] = np.minimum(self.reaches[1:-1][near], np.diff(self.knots)[1:][near])

    def tightened(self) -> Curve | None:
        """The first spline that is proved; None where none is."""
        from ._kernels_smooth import smooth_pieces

        for _ in range(ROUNDS):
            smooth_pieces(self.knots, self.guide, self.reaches, self.stops, self._scratch, self.pieces)
            whole = self.group.whole(self.pieces)
            refused = np.flatnonzero(~self.free(whole))
            if len(refused) == 0:
                return Curve(frozen(whole), frozen(self.knots.copy()), frozen(self.stops.copy()))
            for k in refused.tolist():
                if not self.draw_closer(k):
                    return None
        return None

    def free(self, whole: Float[np.ndarray, "k 4 dof"]) -> Bool[np.ndarray, "k"]:
        """Which pieces are proved free and within the limits; only looked at, where that refuses some already."""
        pieces = self.pieces
        free = ((pieces >= self.group.lower) & (pieces <= self.group.upper)).all(axis=(1, 2))
        moved = np.abs(pieces - self.known).max(axis=(1, 2)) > 0.5 * SPARE  # else the last proof still holds
        rows = np.flatnonzero(moved & free & ~self.tight)
        free[rows] = self.proofs.clear(whole[rows], self.margins[rows])
        if free.all():
            rows = np.flatnonzero(moved)
            free[rows] = self.proofs.free(whole[rows], self.slack)
            rows = rows[free[rows]]
            self.known[rows] = pieces[rows]
        return free

    @property
    def pinned(self) -> Bool[np.ndarray, "k"]:
        """Pieces with both ends on the guide."""
        on = (self.reaches == 0.0) | self.stops
        return on[:-1] & on[1:]

    def draw_closer(self, k: int) -> bool:
        """Draws the spline to the guide at a piece; False when it is there already."""
        ends = slice(k, k + 2)
        if not self.pinned[k]:
            closer = CLOSER * self.reaches[ends]
            self.reaches[ends] = np.where(closer < self.least[ends], 0.0, closer)
            return True
        self.again[k] += 1
        wide = int(self.again[k])
        self.margins[k], self.tight[k] = 0.0, wide > 1
        if wide <= WIDE:  # its neighbours bend it
            self.reaches[max(0, k - wide) : k + 2 + wide] = 0.0
            return True
        first = k - int(np.argmax(self.corners[k::-1]))
        last = k + 1 + int(np.argmax(self.corners[k + 1 :]))
        if not self.exact or (self.stops[first] and self.stops[last]):
            return False
        self.stops[first] = self.stops[last] = True
        return True
