"""Proofs of the pieces of a curve: by spheres, all of them together, and by the exact proof where spheres refuse."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from .._frozen import frozen
from ..collision import CollisionModel
from ._curve import bulges_of, halves
from ._edges import Edges

HALVINGS = 3
"""Times that the exact proof halves a piece whose bulge prevents it."""
ROUNDING = 1e-12
"""Radians or metres that rounding of control points may take from a bulge."""

Pieces = Float[np.ndarray, "n 4 dof"]


class PieceProofs:
    """What proves cubic pieces free of the collisions of one model."""

    def __init__(self, model: CollisionModel, edges: Edges) -> None:
        self.model, self.edges = model, edges
        self._none = frozen(np.zeros(edges.dof))

    def clear(self, pieces: Pieces, margins: Float[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
        """A quick look, no proof: whether spheres are farther apart than a margin (m) at some places of each piece."""
        return self._ask(pieces, self._none, margins, False)

    def free(self, pieces: Pieces, slack: Float[np.ndarray, "dof"]) -> Bool[np.ndarray, "n"]:
        """Which pieces are proved free, wherever each joint is within its slack of the curve (rad, m), or on it.

        Spheres prove with slack; pieces that they refuse are proved exactly, without.
        """
        if len(self.edges.mesh_pairs):  # pairs that spheres cannot decide
            return self.exactly(pieces)
        free = self._ask(pieces, slack, np.zeros(len(pieces)), True)
        refused = np.flatnonzero(~free)
        if len(refused):
            free[refused] = self.exactly(pieces[refused])
        return free

    def exactly(self, pieces: Pieces) -> Bool[np.ndarray, "n"]:
        """Which pieces the exact proof shows to be free: as their chords, with the bulge as slack."""
        owner = np.arange(len(pieces))
        free = np.ones(len(pieces), dtype=np.bool_)
        for halving in range(HALVINGS + 1):
            proofs = self.model.segments_free(pieces[:, 0], pieces[:, 3], bulges_of(pieces) + ROUNDING)
            last = halving == HALVINGS
            free[owner[~proofs.free & (last | ~np.isnan(proofs.blocked_at))]] = False
            again = ~proofs.free & free[owner]
            if not again.any():
                break
            pieces, owner = halves(pieces[again]), np.repeat(owner[again], 2)
        return free

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
