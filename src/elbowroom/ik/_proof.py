"""StepProof: that the straight line from one configuration to the next is free, all of it.

Method in `_kernels_proof` and in the segment proof of `collision`. A motion that begins in contact (not farther from
something than the buffer) cannot be proved free; of it is asked what can be: all that is apart stays apart, what is
within the buffer comes no closer, and what overlaps is measured on the way and gets no deeper.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ._rows import CollisionRows, RowSet, as_row

BUDGET = 40
"""Pieces that the proof of one pair on one step may take: one that needs more is too close for its speed."""
WALKS = 32
"""Pieces of one step that may ask the meshes, some milliseconds at worst."""
CLOSER = 1e-6
"""Metres by which things in contact may seem to come closer: what measuring and rounding add."""
HAIR = 1e-5
"""Metres: closer than this, exact tools begin to differ on whether things touch, and no robot stands that still."""
SAMPLES = (0.25, 0.5, 0.75, 1.0)
"""Where on a step depths are measured."""

Pair = tuple[str, str]


class StepProof:
    """Proves steps of the robot that `rows` belongs to."""

    def __init__(self, rows: CollisionRows) -> None:
        self.rows = rows
        own = rows.parts.own
        chains, bodies = own.chains, own.bodies
        self._arrays = (
            chains.chains, chains.kinds, chains.drivers, chains.local, chains.polys, chains.links, chains.balls,
            chains.spans, chains.placed, bodies.nodes, bodies.tris,
        )  # fmt: skip
        self._buffers = np.full(len(own.pairs), rows.buffer)
        self._none = np.zeros(len(own.pairs), np.uint8)
        self._local = threading.local()

    def blocked(
        self, begin: Float[np.ndarray, "dof"], end: Float[np.ndarray, "dof"], at: RowSet, keep: float = 0.0
    ) -> Pair | None:
        """None when the step is proved; else the pair that is in the way, or could not be decided.

        Args:
            begin: where the step begins.
            end: where it ends; all joints move together at constant rates.
            at: the rows at `begin`.
            keep: metres above the buffer that shall be left on the whole step, of what is closer than twice that half
                of the distance, of what is a hair apart nearly all: so close to contact that the next step could
                hardly be proved, no step ends.
        """
        begin, end = as_row(begin), as_row(end)
        if at.in_contact:
            return self._leaving(begin, end, at)
        kept = np.minimum(keep, _share(at.low))
        found = self._own(begin, end, at.low - kept, self._buffers + kept, at.closest, self._none)
        return found or self._world(begin, end, at, keep)

    def _own(
        self,
        begin: Float[np.ndarray, "dof"],
        end: Float[np.ndarray, "dof"],
        low: Float[np.ndarray, "pairs"],
        buffers: Float[np.ndarray, "pairs"],
        closest: Int[np.ndarray, "pairs 2"],
        skip: np.ndarray,
    ) -> Pair | None:
        from ._kernels_proof import prove_own

        own = self.rows.parts.own
        posed, moves, scratch = self._scratch()
        _, pair, _ = prove_own(
            begin,
            end,
            buffers,
            BUDGET,
            WALKS,
            low,
            closest,
            skip,
            own.bodies,
            posed,
            moves,
            *self._arrays,
            scratch,
        )
        return None if pair < 0 else own.pairs[pair]

    def _world(
        self, begin: Float[np.ndarray, "dof"], end: Float[np.ndarray, "dof"], at: RowSet, keep: float
    ) -> Pair | None:
        among = self.rows.parts.among
        if among is None or at.low_world is None:
            return None
        from ._kernels_moves import link_moves
        from ._kernels_proof import SLACK

        posed, joints, moves = self._world_scratch()
        kept = min(keep, float(_share(at.low_world).min(initial=np.inf)))
        if link_moves(begin, end, among.bodies, posed, joints, moves) and bool(
            (moves + SLACK < at.low_world - kept).all()
        ):
            return None
        return among.blocked(begin, end, self.rows.buffer + kept)[1]

    # A start in contact ---------------------------------------------------------------------------

    def _leaving(
        self, begin: Float[np.ndarray, "dof"], end: Float[np.ndarray, "dof"], at: RowSet
    ) -> Pair | None:
        """`blocked` where something is not farther apart than the buffer at the beginning."""
        if bool((begin == end).all()):
            return None
        overlap = (at.low == -np.inf).astype(np.uint8)
        kept = np.where(at.low > 0.0, 0.0, np.where(overlap == 1, 0.0, at.low) - CLOSER)
        buffers = np.maximum(self._buffers + kept, 0.0)
        found = self._own(begin, end, at.low - kept, buffers, at.closest, overlap)
        found = found or self._world_leaving(begin, end, at)
        if found is not None:
            return found
        before = self._depths(begin, at)
        for t in SAMPLES if before else ():
            now = self._depths(begin + t * (end - begin), at)
            for pair, distance in before.items():
                if now.get(pair, np.inf) < distance - CLOSER:
                    return pair
        return None

    def _world_leaving(
        self, begin: Float[np.ndarray, "dof"], end: Float[np.ndarray, "dof"], at: RowSet
    ) -> Pair | None:
        among, within = self.rows.parts.among, at.within
        if among is None or within is None:
            return None
        found = among.blocked(begin, end, self.rows.buffer, among.allowed | (within <= 0.0))[1]
        if found is not None or not np.isfinite(within[within <= 0.0]).any():
            return found
        least = float(within[np.isfinite(within)].min()) - CLOSER
        return among.blocked(
            begin, end, max(0.0, self.rows.buffer + least), among.allowed | (within == -np.inf)
        )[1]

    def _depths(self, cfg: Float[np.ndarray, "dof"], at: RowSet) -> dict[Pair, float]:
        """Measured distances of the pairs that overlap at the beginning of a step, where they still do."""
        pairs = set(at.overlaps)
        if not pairs:
            return {}
        return {clash.pair: clash.distance for clash in self.rows.model.near(cfg) if clash.pair in pairs}

    # Scratch --------------------------------------------------------------------------------------

    def _scratch(self) -> tuple[Any, ...]:
        kept = getattr(self._local, "own", None)
        if kept is None:
            from ._kernels_moves import body_scratch
            from ._kernels_proof import proof_scratch

            own = self.rows.parts.own
            scratch = proof_scratch(
                self.rows.model.robot.dof, own.bodies, own.chains.chains, own.chains.links
            )
            kept = self._local.own = body_scratch(own.bodies), np.zeros(len(own.links)), scratch
        return kept

    def _world_scratch(self) -> tuple[Any, ...]:
        kept = getattr(self._local, "world", None)
        if kept is None:
            from ._kernels_moves import body_scratch, joint_scratch

            among = self.rows.parts.among
            assert among is not None
            joints = joint_scratch(among.bodies)
            kept = self._local.world = body_scratch(among.bodies), joints, np.zeros(len(among.links))
        return kept

    def __getstate__(self) -> dict[str, Any]:
        return {"rows": self.rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["rows"])


def _share(low: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """What is kept of distances that are hardly there."""
    return np.maximum(0.5 * low, np.minimum(0.9 * low, HAIR))
