"""Proofs of the pieces of a curve while it is still being made: what is left of them is evidence for the whole."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from .._frozen import frozen
from ..collision import CollisionModel
from ._curve import bulges_of, halves
from ._edges import Edges
from ._group import Group

SPARE = 5e-4
"""Radians or metres that each joint may be off a piece where there is room: more than a motion at 100 Hz does."""
CLOSE_SPARE = 5e-5
"""The same near contact."""
HALVINGS = 3
"""Times that a piece is halved, at most."""
PLACES = np.array([0.25, 0.5, 0.75, 1.0])
"""Where meshes have a look at a piece."""

Pieces = Float[np.ndarray, "n 4 dof"]


class Evidence(NamedTuple):
    """What was proved of pieces one by one."""

    moves: Bool[np.ndarray, "dof"]
    """Joints that may be off the pieces."""
    spares: Float[np.ndarray, "n"]
    """By how much, rad or m; -1 where nothing is proved."""
    margins: Float[np.ndarray, "n"]
    """Metres of clearance then."""
    segments: int
    """Pieces and halves of pieces that were proved."""

    @classmethod
    def of_edges(cls, group: Group, count: int, buffer: float) -> Evidence:
        """So many straight edges, each proved free as it is: nothing comes closer than the buffer (m)."""
        return cls(group.moves, np.zeros(count), np.full(count, buffer), count)

    def covers(self, slack: Float[np.ndarray, "dof"]) -> Bool[np.ndarray, "n"]:
        """Which pieces are proved with joints this far off them (rad, m)."""
        return (slack <= np.where(self.moves, self.spares[:, None], 0.0)).all(axis=1) & (self.spares >= 0.0)


class PieceProofs:
    """What proves cubic pieces free of the collisions of one model."""

    def __init__(self, model: CollisionModel, group: Group, edges: Edges) -> None:
        self.model, self.group, self.edges = model, group, edges
        self._none = frozen(np.zeros((1, edges.dof)))
        lanes = edges.args[0]
        links, pairs = (len(reach) for reach in (lanes[4], lanes[5]))
        self._nowhere: tuple[Any, ...] = (
            np.empty((0, 2)), np.empty(0, np.int64), np.empty((0, links), np.bool_), np.empty((0, pairs), np.bool_)
        )  # fmt: skip

    def clear(self, pieces: Pieces, margins: Float[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
        """A quick look, no proof: whether spheres are farther apart than a margin (m) at some places of each piece."""
        from .._numba.collision.kernels import FREE, curve_by_spheres

        if not self.edges.possible:
            return np.zeros(len(pieces), dtype=np.bool_)
        status, looked = np.empty(len(pieces), dtype=np.int64), np.empty(len(pieces), dtype=np.int64)
        curve_by_spheres(
            frozen(np.ascontiguousarray(pieces).view()), self._none, frozen(margins.view()), False, *self.edges.args,
            self.edges.scratch(), status, looked, *self._nowhere,
        )  # fmt: skip
        return status == FREE

    def clear_meshes(self, pieces: Pieces) -> Bool[np.ndarray, "n"]:
        """The same by meshes."""
        t, s = PLACES[:, None, None], 1.0 - PLACES[:, None, None]
        p0, p1, p2, p3 = (pieces[:, k] for k in range(4))
        at = s * s * s * p0 + 3.0 * s * s * t * p1 + 3.0 * s * t * t * p2 + t * t * t * p3
        return self.model.free(at.reshape(-1, self.edges.dof)).reshape(len(PLACES), -1).all(axis=0)

    def spares(self, pieces: Pieces) -> tuple[Float[np.ndarray, "n"], Float[np.ndarray, "n"]]:
        """How far joints may be off each piece (rad, m) with everything proved free, -1 where it is not; and margins.

        Tried are `SPARE`, and where that is refused `CLOSE_SPARE`.
        """
        out, margins = np.full(len(pieces), -1.0), np.zeros(len(pieces))
        for spare in (SPARE, CLOSE_SPARE):
            rows = np.flatnonzero(out < 0.0)
            free, margins[rows] = self.proved(pieces[rows], spare)
            out[rows[free]] = spare
        return out, margins

    def proved(self, pieces: Pieces, spare: float) -> tuple[Bool[np.ndarray, "n"], Float[np.ndarray, "n"]]:
        """Which pieces are proved free with moving joints up to `spare` (rad, m) off them, and their margins."""
        slack = frozen(np.where(self.group.moves, spare, 0.0))
        owner, free = np.arange(len(pieces)), np.ones(len(pieces), dtype=np.bool_)
        margins = np.full(len(pieces), np.inf)
        for halvings in range(HALVINGS + 1):
            if not len(pieces):
                break
            proofs = self.model.curves_free(pieces, slack)
            np.minimum.at(margins, owner[proofs.free], proofs.clearance[proofs.free])
            bent = (bulges_of(pieces) > 0.5 * slack).any(axis=1) & (halvings < HALVINGS)
            free[owner[~proofs.free & (~np.isnan(proofs.blocked_at) | ~bent)]] = False
            again = ~proofs.free & free[owner]
            pieces, owner = halves(pieces[again]), np.repeat(owner[again], 2)
        return free, margins
