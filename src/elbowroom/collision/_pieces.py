"""Cubic pieces by spheres first: which parts of them the exact proof must still look at, and for whom.

Method in `_kernels_lane_curve`. Most of a path is far from everything, which spheres show for sixteen places at a time;
the exact proof is left with short parts near obstacles, and there with the links and pairs that are near. It proves
their chords, within how far the curve is from them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import frozen
from .._numba.world.packed import packed_grid, packed_world
from ..typing import LinkPair
from ..world import World
from ._lanes import Lanes
from ._segment import SegmentProofs, as_proofs
from ._world_engine import WorldEngine

WISH = 0.001
"""Metres of clearance, above the buffer, that are proved where they are there: a margin worth stating."""
ROOM = 512
"""Parts that may be left, and some more for each piece; pieces for which there is no room are left whole."""
MORE = 8
"""The same, for each piece."""
ROUNDING = 4e-15
"""Of the largest joint value: what rounding of control points, and of places on a piece, stays below."""


class Left(NamedTuple):
    """Parts of pieces that spheres do not show to be free."""

    t: Float[np.ndarray, "k"]
    half: Float[np.ndarray, "k"]
    """Middle and half width, as parameters of the piece."""
    owner: Int[np.ndarray, "k"]
    """Piece of each."""
    links: Bool[np.ndarray, "k links"]
    """Links that obstacles may reach."""
    pairs: Bool[np.ndarray, "k pairs"]
    """Checked pairs that may meet."""

    def chords(
        self, pieces: Float[np.ndarray, "n 4 dof"], slacks: Float[np.ndarray, "#n dof"]
    ) -> tuple[Float[np.ndarray, "k dof"], Float[np.ndarray, "k dof"], Float[np.ndarray, "k dof"]]:
        """Where the parts begin and end, and how far joints may be off the lines between.

        A function whose second derivative is at most A leaves its chord over h by at most A h^2 / 8; that of a Bezier
        cubic is at most six times a second difference of its control points.
        """
        own = pieces[self.owner]
        bend = np.abs(own[:, :2] - 2.0 * own[:, 1:3] + own[:, 2:]).max(axis=1)
        off = slacks[self.owner if len(slacks) > 1 else np.zeros_like(self.owner)]
        off = off + 3.0 * (self.half**2)[:, None] * bend + ROUNDING * np.abs(pieces).max(initial=0.0)
        return _at(own, self.t - self.half), _at(own, self.t + self.half), frozen(off)


def _at(pieces: Float[np.ndarray, "k 4 dof"], t: Float[np.ndarray, "k"]) -> Float[np.ndarray, "k dof"]:
    """One place on each piece."""
    t, s = t[:, None], 1.0 - t[:, None]
    ends = s * s * s * pieces[:, 0] + t * t * t * pieces[:, 3]
    return frozen(ends + 3.0 * s * t * (s * pieces[:, 1] + t * pieces[:, 2]))


class Pieces:
    """What proves cubic pieces of one model by spheres first."""

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
            around = turns, tuple(packed_world(world)), tuple(packed_grid(world, np.zeros((2, 3)))), nothing
        else:
            around = among.turns, tuple(packed_world(among.world)), tuple(among.grid), among.allowed
        self._args: tuple[Any, ...] = tuple(lanes), *around

    def prove(
        self,
        exact: Callable[..., SegmentProofs],
        check: Callable[[Float[np.ndarray, "m dof"]], Any],
        pieces: Float[np.ndarray, "n 4 dof"],
        slacks: Float[np.ndarray, "#n dof"],
    ) -> SegmentProofs:
        """Proves or refutes pieces: by spheres, and what they leave by `exact`, which is `prove_all` of the model.

        What cannot be proved with `WISH` to spare is tried without. Blocked is said where the chord of a part is.

        Args:
            exact: takes begins, ends, slacks, `opens` and `wish`.
            check: raises for configurations that no error bound covers.
            pieces: control configurations.
            slacks: how far joints may be off them.
        """
        from ._kernels_segment import BLOCKED, FREE, UNDECIDED

        start, n = time.perf_counter(), len(pieces)
        _, among, pairs, buffer = self._given
        left, looked = self.left(pieces, slacks, check)
        most = WISH + buffer if pairs or among is not None else np.inf
        found, counts = np.tile([-1.0, most], (n, 1)), np.tile([FREE, -1, 0, 0], (n, 1))
        counts[:, 2] = looked
        rows = np.arange(len(left.t))
        first, last, off = left.chords(pieces, slacks)
        for wish in (WISH, 0.0):
            if not len(rows):
                break
            owner = left.owner[rows]
            opens = frozen(left.links[rows]), frozen(left.pairs[rows])
            proofs = exact(*(frozen(each[rows]) for each in (first, last, off)), opens=opens, wish=wish)
            free, pairs = proofs.free, proofs.pairs
            np.add.at(counts[:, 2], owner, proofs.by_spheres)
            np.add.at(counts[:, 3], owner, proofs.by_meshes)
            np.minimum.at(found[:, 1], owner[free], proofs.clearance[free])
            blocked = ~np.isnan(proofs.blocked_at[~free])
            t = np.where(blocked, proofs.blocked_at[~free], proofs.undecided_at[~free])
            rows, who = rows[~free], proofs.pair_idx[~free]
            if wish == 0.0:
                place = left.t[rows] + (2.0 * t - 1.0) * left.half[rows]
                in_order = np.lexsort((place, ~blocked))
                for k in in_order[::-1].tolist():  # the first blocked place has the last word
                    piece = left.owner[rows[k]]
                    found[piece, 0] = place[k]
                    counts[piece, :2] = BLOCKED if blocked[k] else UNDECIDED, who[k]
        return as_proofs(found, counts, pairs, bool(slacks.any()), buffer, time.perf_counter() - start)

    def left(
        self,
        pieces: Float[np.ndarray, "n 4 dof"],
        slacks: Float[np.ndarray, "#n dof"],
        check: Callable[[Float[np.ndarray, "m dof"]], Any],
    ) -> tuple[Left, Int[np.ndarray, "n"]]:
        """Parts that spheres do not show to be free, `WISH` above the buffer and within the slack; and places looked
        at."""
        lanes, among, checked_pairs, _ = self._given
        n, dof = len(pieces), pieces.shape[2]
        if among is not None and not among.still_free():
            return self._whole(np.arange(n), True), np.zeros(n, np.int64)
        from ._kernels_lane_curve import curve_by_spheres

        parts, owner, links, pairs, scratch = self._scratch(ROOM + MORE * n, dof)
        status, looked = np.empty(n, np.int64), np.empty(n, np.int64)
        k = curve_by_spheres(
            frozen(np.ascontiguousarray(pieces).view()), slacks, frozen(np.full(n, WISH)), True, *self._args, scratch,
            status, looked, parts, owner, links, pairs,
        )  # fmt: skip
        kept = np.flatnonzero(status[owner[:k]] == 0)
        checked = np.zeros((len(kept), len(checked_pairs)), np.bool_)
        checked[:, lanes.pair_rows] = pairs[kept]
        lists = [Left(parts[kept, 0], parts[kept, 1], owner[kept], links[kept], checked)]
        whole = np.flatnonzero(status)
        if len(whole):
            check(pieces[whole].reshape(-1, dof))
            lists.append(self._whole(whole, True))
        if len(lanes.mesh_pairs):
            lists.append(self._whole(np.flatnonzero(status == 0), False))
        if len(lists) == 1:
            return lists[0], looked
        return Left(*(np.concatenate(each) for each in zip(*lists, strict=True))), looked

    def _whole(self, which: Int[np.ndarray, "k"], everyone: bool) -> Left:
        """Whole pieces: for everyone, or for the pairs that spheres cannot decide."""
        lanes, _, checked, _ = self._given
        n = len(which)
        links, pairs = np.full((n, len(lanes.link_reach)), everyone), np.full((n, len(checked)), everyone)
        pairs[:, lanes.mesh_pairs] = True
        return Left(np.full(n, 0.5), np.full(n, 0.5), which, links, pairs)

    def _scratch(self, rows: int, dof: int) -> tuple[Any, ...]:
        """What the kernel fills and works with, of the calling thread."""
        kept = getattr(self._local, "kept", None)
        if kept is None or len(kept[1]) < rows:
            from ._kernels_lanes import lane_scratch

            lanes = self._given[0]
            opens = (np.empty((rows, len(reach)), np.bool_) for reach in (lanes.link_reach, lanes.pair_reach))
            kept = np.empty((rows, 2)), np.empty(rows, np.int64), *opens, lane_scratch(lanes, dof)
            self._local.kept = kept
        return kept
