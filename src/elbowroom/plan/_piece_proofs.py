"""Proofs of the pieces of a curve: by spheres, all of them together, and by the exact proof where spheres refuse."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from .._frozen import frozen
from ..collision import CollisionModel
from ._curve import bulges_of, halves
from ._edges import Edges
from ._group import Group

SPARE = 5e-4
"""Radians or metres that each joint may be off a piece that spheres prove: more than a motion at 100 Hz does."""
CLOSE_SPARE = 5e-5
"""The same where only the exact proof shows it: near contact there is little room."""
FLAT = 4e-4
"""Bulge (rad, m) above which pieces are halved before the exact proof."""
HALVINGS = 3
"""Times that a piece is halved, at most."""
PLACES = np.array([0.25, 0.5, 0.75, 1.0])
"""Where meshes have a look at a piece."""
ROUNDING = 1e-12
"""Radians or metres that rounding of control points may take from a bulge."""

Pieces = Float[np.ndarray, "n 4 dof"]


class PieceProofs:
    """What proves cubic pieces free of the collisions of one model."""

    def __init__(self, model: CollisionModel, group: Group, edges: Edges) -> None:
        self.model, self.group, self.edges = model, group, edges
        self._spare, self._close = (frozen(np.where(group.moves, off, 0.0)) for off in (SPARE, CLOSE_SPARE))

    def clear(self, pieces: Pieces, margins: Float[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
        """A quick look, no proof: whether spheres are farther apart than a margin (m) at some places of each piece."""
        return self._ask(pieces, self._spare, margins, False)

    def clear_meshes(self, pieces: Pieces) -> Bool[np.ndarray, "n"]:
        """The same by meshes."""
        t, s = PLACES[:, None, None], 1.0 - PLACES[:, None, None]
        p0, p1, p2, p3 = (pieces[:, k] for k in range(4))
        at = s * s * s * p0 + 3.0 * s * s * t * p1 + 3.0 * s * t * t * p2 + t * t * t * p3
        return self.model.free(at.reshape(-1, self.edges.dof)).reshape(len(PLACES), -1).all(axis=0)

    def spares(self, pieces: Pieces) -> Float[np.ndarray, "n"]:
        """How far joints may be off each piece (rad, m) with everything proved free; -1 where it is not.

        Spheres prove with `SPARE`, and where they refuse meshes with `CLOSE_SPARE`.
        """
        out = np.full(len(pieces), SPARE)
        if len(self.edges.mesh_pairs):  # pairs that spheres cannot decide
            refused = np.arange(len(pieces))
        else:
            refused = np.flatnonzero(~self._ask(pieces, self._spare, np.zeros(len(pieces)), True))
        if len(refused):
            out[refused] = np.where(self.exactly(pieces[refused], self._close), CLOSE_SPARE, -1.0)
        return out

    def exactly(self, pieces: Pieces, slack: Float[np.ndarray, "dof"] | float = 0.0) -> Bool[np.ndarray, "n"]:
        """Which pieces the exact proof shows to be free: as chords, within bulge and slack (rad, m)."""
        owner, free = np.arange(len(pieces)), np.ones(len(pieces), dtype=np.bool_)
        halvings, bulges = 0, bulges_of(pieces)
        while True:
            bent = bulges.max(axis=1) > FLAT
            if halvings < HALVINGS and bent.any():
                halved, again = halves(pieces[bent]), owner[bent]
                pieces = np.concatenate([pieces[~bent], halved])
                owner = np.concatenate([owner[~bent], np.repeat(again, 2)])
            else:
                proofs = self.model.segments_free(pieces[:, 0], pieces[:, 3], bulges + (slack + ROUNDING))
                blocked = ~np.isnan(proofs.blocked_at)
                bent = (bulges > 0.5 * slack + ROUNDING).any(axis=1) & (halvings < HALVINGS)
                free[owner[~proofs.free & (blocked | ~bent)]] = False
                again = ~proofs.free & free[owner]
                if not again.any():
                    return free
                pieces, owner = halves(pieces[again]), np.repeat(owner[again], 2)
            halvings, bulges = halvings + 1, bulges_of(pieces)

    def _ask(
        self, pieces: Pieces, slack: Float[np.ndarray, "dof"], margins: Float[np.ndarray, "n"], proving: bool
    ) -> Bool[np.ndarray, "n"]:
        from ..collision.kernels import FREE, curve_by_spheres

        status = np.empty(len(pieces), dtype=np.int64)
        rows = frozen(np.ascontiguousarray(pieces).view())
        curve_by_spheres(
            rows, slack, frozen(margins.view()), proving, *self.edges.args, self.edges.scratch(), status
        )
        return status == FREE if self.edges.possible else np.zeros(len(pieces), dtype=np.bool_)
