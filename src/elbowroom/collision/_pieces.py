"""Segments by spheres first: which pieces of them the exact proof must still look at, and for whom.

Method in `_kernels_pieces`. Most of a path is far from everything, which spheres show for sixteen pieces at a time; the
exact proof is left with short pieces near obstacles, and there with the links and pairs that are near.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import frozen
from ..typing import LinkPair
from ..world import World
from ._lanes import Lanes
from ._segment import SegmentProofs, as_proofs
from ._slack import rows_of
from ._world_engine import WorldEngine

WISH = 0.001
"""Metres of clearance, above the buffer, that are proved where they are there: a margin worth stating."""
ROOM = 512
"""Pieces that may be left, and one more for each segment; where there are more, segments are left whole."""


class Left(NamedTuple):
    """Pieces that spheres do not show to be free."""

    t: Float[np.ndarray, "k"]
    half: Float[np.ndarray, "k"]
    """Middle and half width, as parts of the segment."""
    owner: Int[np.ndarray, "k"]
    """Segment of each."""
    links: Bool[np.ndarray, "k links"]
    """Links that obstacles may reach."""
    pairs: Bool[np.ndarray, "k pairs"]
    """Checked pairs that may meet."""

    def segments(
        self, begins: Float[np.ndarray, "n dof"], ends: Float[np.ndarray, "n dof"]
    ) -> tuple[Float[np.ndarray, "k dof"], Float[np.ndarray, "k dof"]]:
        """The pieces as segments of their own."""
        first, way = begins[self.owner], (ends - begins)[self.owner]
        return frozen(first + (self.t - self.half)[:, None] * way), frozen(
            first + (self.t + self.half)[:, None] * way
        )


class Pieces:
    """What proves segments of one model by spheres first."""

    def __init__(
        self, lanes: Lanes, among: WorldEngine | None, pairs: tuple[LinkPair, ...], buffer: float
    ) -> None:
        """Takes what was packed.

        Args:
            lanes: the robot.
            among: the obstacles; None without a world.
            pairs: the checked ones, as `lanes` counts them.
            buffer: metres that everything must be apart.
        """
        self._given = lanes, among, pairs, buffer
        self._local = threading.local()
        if among is None:
            world = World()
            nothing = frozen(np.zeros((len(lanes.link_reach), 0), dtype=np.bool_))
            turns = frozen(np.zeros(0, dtype=np.int64))
            around = turns, tuple(world.packed), tuple(world.grid(np.zeros((2, 3)))), nothing
        else:
            around = among.turns, tuple(among.world.packed), tuple(among.grid), among.allowed
        self._args: tuple[Any, ...] = tuple(lanes), *around

    def prove(
        self,
        exact: Callable[..., SegmentProofs],
        begins: Float[np.ndarray, "n dof"],
        ends: Float[np.ndarray, "n dof"],
        slacks: Float[np.ndarray, "#n dof"],
    ) -> SegmentProofs:
        """Proves or refutes segments: by spheres, and what they leave by `exact`, which is `prove_all` of the model.

        What cannot be proved with `WISH` to spare is tried without.
        """
        from ._kernels_segment import BLOCKED, FREE, UNDECIDED

        start, n = time.perf_counter(), len(begins)
        _, among, pairs, buffer = self._given
        left, looked = self.left(begins, ends, slacks)
        most = WISH + buffer if pairs or among is not None else np.inf
        found, counts = np.tile([-1.0, most], (n, 1)), np.tile([FREE, -1, 0, 0], (n, 1))
        counts[:, 2] = looked
        rows, (first, last) = np.arange(len(left.t)), left.segments(begins, ends)
        for wish in (WISH, 0.0):
            if not len(rows):
                break
            owner = left.owner[rows]
            opens = frozen(left.links[rows]), frozen(left.pairs[rows])
            proofs = exact(first[rows], last[rows], rows_of(slacks, owner), opens=opens, wish=wish)
            free, pairs = proofs.free, proofs.pairs
            np.add.at(counts[:, 2], owner, proofs.by_spheres)
            np.add.at(counts[:, 3], owner, proofs.by_meshes)
            np.minimum.at(found[:, 1], owner[free], proofs.clearance[free])
            blocked = ~np.isnan(proofs.blocked_at[~free])
            t = np.where(blocked, proofs.blocked_at[~free], proofs.undecided_at[~free])
            rows, who = rows[~free], proofs.pair_idx[~free]
            if wish == 0.0:
                place = left.t[rows] + (2.0 * t - 1.0) * left.half[rows]
                for k in np.lexsort((place, ~blocked))[
                    ::-1
                ].tolist():  # the first blocked place has the last word
                    segment = left.owner[rows[k]]
                    found[segment, 0] = place[k]
                    counts[segment, :2] = BLOCKED if blocked[k] else UNDECIDED, who[k]
        return as_proofs(found, counts, pairs, bool(slacks.any()), time.perf_counter() - start)

    def left(
        self,
        begins: Float[np.ndarray, "n dof"],
        ends: Float[np.ndarray, "n dof"],
        slacks: Float[np.ndarray, "#n dof"],
    ) -> tuple[Left, Int[np.ndarray, "n"]]:
        """Pieces that spheres do not show to be free, `WISH` above the buffer and within the slack; and pieces looked
        at."""
        lanes, among, checked_pairs, _ = self._given
        n = len(begins)
        if among is not None and not among.still_free():
            return self._whole(n, True), np.zeros(n, np.int64)
        from ._kernels_pieces import pieces_left

        found, owner, links, pairs, scratch = self._scratch(n + ROOM, begins.shape[1])
        looked = np.zeros(n, np.int64)
        k = pieces_left(
            frozen(begins.view()), frozen(ends.view()), rows_of(slacks, slice(None)), WISH, *self._args, found, owner,
            links, pairs, looked, scratch,
        )  # fmt: skip
        checked = np.zeros((k, len(checked_pairs)), np.bool_)
        checked[:, lanes.pair_rows] = pairs[:k]
        left = Left(found[:k, 0].copy(), found[:k, 1].copy(), owner[:k].copy(), links[:k].copy(), checked)
        if len(lanes.mesh_pairs):
            left = Left(*(np.concatenate(both) for both in zip(left, self._whole(n, False), strict=True)))
        return left, looked

    def _whole(self, n: int, everyone: bool) -> Left:
        """All segments, whole: for everyone, or for the pairs that spheres cannot decide."""
        lanes, _, checked, _ = self._given
        links, pairs = np.full((n, len(lanes.link_reach)), everyone), np.full((n, len(checked)), everyone)
        pairs[:, lanes.mesh_pairs] = True
        return Left(np.full(n, 0.5), np.full(n, 0.5), np.arange(n), links, pairs)

    def _scratch(self, rows: int, dof: int) -> tuple[Any, ...]:
        """What the kernel fills and works with, of the calling thread."""
        kept = getattr(self._local, "kept", None)
        if kept is None or len(kept[1]) != rows:
            from ._kernels_pieces import pieces_scratch

            lanes = self._given[0]
            opens = (np.empty((rows, len(reach)), np.bool_) for reach in (lanes.link_reach, lanes.pair_reach))
            scratch = pieces_scratch(lanes, dof)
            kept = self._local.kept = np.empty((rows, 2)), np.empty(rows, np.int64), *opens, scratch
        return kept
