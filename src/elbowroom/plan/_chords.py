"""Chords: the short straight lines of a path or curve, looked at and proved free together, by spheres first."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from .._frozen import frozen
from ..collision import CollisionModel
from ._edges import Edges

Rows = Float[np.ndarray, "n dof"]


class Chords:
    """What proves the chords of one model."""

    def __init__(self, model: CollisionModel, edges: Edges) -> None:
        self.model, self.edges = model, edges

    def clear(self, begins: Rows, ends: Rows, margins: Float[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
        """A quick look: whether spheres are farther apart than a margin (m) at some places of each chord."""
        return self._ask(begins, ends, np.zeros_like(begins), margins, False)

    def proved(self, begins: Rows, ends: Rows, slacks: Rows) -> Bool[np.ndarray, "n"]:
        """Which chords spheres prove free, wherever each joint is within its slack of the chord (rad, m)."""
        free = self._ask(begins, ends, slacks, np.zeros(len(begins)), True)
        return self._by_meshes(free, begins, ends, slacks) if len(self.edges._lanes.mesh_pairs) else free

    def proved_exactly(self, begins: Rows, ends: Rows, slacks: Rows) -> Bool[np.ndarray, "n"]:
        """The same by meshes where spheres refuse."""
        return self.model.segments_free(begins, ends).free

    def _ask(self, begins: Rows, ends: Rows, slacks: Rows, margins: Any, proving: bool) -> Bool[np.ndarray, "n"]:
        from ..collision.kernels import FREE, chords_by_spheres

        status = np.empty(len(begins), dtype=np.int64)
        rows = (frozen(np.ascontiguousarray(array).view()) for array in (begins, ends, slacks, margins))
        chords_by_spheres(*rows, proving, *self.edges.args, self.edges.scratch(), status)
        return status == FREE if self.edges.possible else np.zeros(len(begins), dtype=np.bool_)
