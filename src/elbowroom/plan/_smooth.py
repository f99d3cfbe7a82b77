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
from ._piece_proofs import Evidence, PieceProofs
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
PUSHES = 12
"""Times that the guide is pushed inwards where the spline leaves the limits of joints, in a round."""
PUSH = 1.5
"""By how much, in shares of what the spline is beyond."""
ROUNDING = 1e-12
"""Radians or metres that a spline along a limit may be beyond it."""
ROUNDS = 30
"""Splines tried at most."""
MARGIN = 0.005
"""Metres that spheres keep from what is around where the guide keeps them: what is not close is proved quickly."""


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
    return smoothed(model, group, path, edges=edges)[0]


def smoothed(
    model: CollisionModel, group: Group, path: Any, *, edges: Edges | None = None
) -> tuple[Curve, Evidence | None]:
    """As `smooth`, with what was proved of its pieces on the way; None for a curve that is the path as it was."""
    rows = np.asarray(path, dtype=np.float64)
    plain = Curve.polyline(rows)
    corners = np.ascontiguousarray(plain.waypoints[plain.stops])
    if len(corners) < 3:
        return plain, None
    proofs = PieceProofs(model, group, edges or Edges.of(model))
    allowed = roughness(rows)
    for every in (False, True):
        spline = _Spline(proofs, group, corners, every)
        found = spline.tightened()
        if found is not None and roughness(found) <= allowed:
            return found, spline.evidence
        if spline.exact:
            break
    return plain, None


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
        self.lower = np.minimum(group.lower, self.guide.min(axis=0))
        self.upper = np.maximum(group.upper, self.guide.max(axis=0))
        self.path_guide = self.guide.copy()
        """The guide before it was pushed."""
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
        self.spares = np.full(count - 1, -1.0)
        """How far joints may be off the pieces as they were when they were last proved; -1 where they never were."""
        self.clearances = np.zeros(count - 1)
        """Metres that everything keeps then."""
        self.known = np.zeros_like(self.pieces)
        """Those pieces."""
        straight = straight_pieces(group.whole(self.guide))
        margins = np.full(count - 1, MARGIN)
        margins[~proofs.clear(straight, margins)] = 0.0
        self.margins = margins
        """What each piece keeps: as much as the guide."""
        self.tight = margins == 0.0
        self.tight[self.tight] = ~proofs.clear(straight[self.tight], margins[self.tight])
        """Pieces where spheres refuse the guide itself: meshes must decide there."""
        near = np.flatnonzero(self.tight[:-1] | self.tight[1:]) + 1
        self.reaches[near] = 2.0 * self.least[near]  # no use to try far off it

    def tightened(self) -> Curve | None:
        """The first spline that is proved; None where none is."""
        for _ in range(ROUNDS):
            self.fit()
            whole = self.group.whole(self.pieces)
            refused = np.flatnonzero(~self.free(whole))
            if len(refused) == 0:
                return Curve(frozen(whole), frozen(self.knots.copy()), frozen(self.stops.copy()))
            for k in refused.tolist():
                if not self.draw_closer(k):
                    return None
        return None

    def fit(self) -> None:
        """Fits the spline, and pushes the guide inwards where the spline leaves the limits of joints."""
        from ._kernels_smooth import smooth_pieces

        for _ in range(PUSHES):
            smooth_pieces(self.knots, self.guide, self.reaches, self.stops, self._scratch, self.pieces)
            high, low = self.pieces.max(axis=1) - self.upper, self.pieces.min(axis=1) - self.lower
            if high.max() <= ROUNDING and low.min() >= -ROUNDING:
                break
            beyond = PUSH * (np.maximum(high, 0.0) + np.minimum(low, 0.0))
            edge = np.zeros((1, beyond.shape[1]))
            both = np.stack([np.concatenate([edge, beyond]), np.concatenate([beyond, edge])])
            push = np.where(np.abs(both[0]) > np.abs(both[1]), both[0], both[1])
            self.guide[~self.stops] -= push[~self.stops]
        inside = np.clip(self.pieces, self.lower, self.upper)
        if np.abs(inside - self.pieces).max() <= ROUNDING:
            self.pieces[:] = inside

    def free(self, whole: Float[np.ndarray, "k 4 dof"]) -> Bool[np.ndarray, "k"]:
        """Which pieces are proved free and within the limits; only looked at, where that refuses some already."""
        pieces = self.pieces
        free = np.asarray(((pieces >= self.lower) & (pieces <= self.upper)).all(axis=(1, 2)))
        # A piece that has moved by less than its proof allowed is still proved.
        moved = np.abs(pieces - self.known).max(axis=(1, 2)) > 0.5 * self.spares
        for tight in (False, True):
            rows = np.flatnonzero(moved & free & (self.tight == tight))
            if len(rows) and tight:
                free[rows] = self.proofs.clear_meshes(whole[rows])
            elif len(rows):
                free[rows] = self.proofs.clear(whole[rows], self.margins[rows])
        if free.all():
            rows = np.flatnonzero(moved)
            self.spares[rows], self.clearances[rows] = self.proofs.spares(whole[rows])
            self.known[rows] = pieces[rows]
            rows = rows[(self.spares < 0.0)[rows] & self.pinned[rows]]
            if len(rows):  # on the guide, which may be too close for any slack
                bare, self.clearances[rows] = self.proofs.proved(whole[rows], 0.0)
                self.spares[rows[bare]] = 0.0
            free = self.spares >= 0.0
        return free

    @property
    def evidence(self) -> Evidence:
        """What is proved of the pieces as they are."""
        moved = np.abs(self.pieces - self.known).max(axis=(1, 2))
        left = np.where(self.spares >= moved, self.spares - moved, -1.0)
        return Evidence(self.group.moves, left, self.clearances, len(left))

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
        self.guide[first : last + 1] = self.path_guide[first : last + 1]
        return True
