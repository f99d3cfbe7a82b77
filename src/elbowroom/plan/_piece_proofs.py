"""What is proved of the pieces of a curve one by one: evidence for the whole."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ._group import Group


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
