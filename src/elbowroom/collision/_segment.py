"""SegmentProof: a straight line between two configurations is free, all of it, or where it is not.

Method and guarantee are those of the compiled core (`core/include/elbowroom/scene_proof.hpp`); here the answer gets its
words. Joints move together from the first configuration to the second, each at constant rate (no joint wraps around);
coupled joints follow their drivers.

Slack is how far joints may be off the segments of a proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .._brief import brief
from .._frozen import Frozen, freeze, frozen
from .._text import counted, number, proved_room
from ..errors import InputError
from ..typing import LinkPair

BUDGET = 20_000
"""Parts of a motion that a proof may look at: about 20 ms by spheres."""
FREE, BLOCKED, UNDECIDED = range(3)
"""Outcomes, as the core numbers them."""


@brief
@dataclass(frozen=True, eq=False)
class SegmentProof:
    """What is known of the segment between two configurations."""

    free: bool
    """Proved: no checked pair comes closer than the model's buffer anywhere on the segment, and no link to an obstacle
    that it may not touch."""
    blocked_at: float | None
    """Fraction of the segment at which a pair touches; None when free, or when nothing was found (see `why`)."""
    pair: LinkPair | None
    """The pair that touches, or that could not be decided: two links, or a link and an obstacle."""
    clearance: float
    """Proved lower bound of the clearance on the whole segment, metres, the buffer included; more than 5 cm above the
    buffer are not looked for. Not meaningful unless free; infinite when no pair is checked."""
    by_spheres: int
    """Pieces looked at by spheres."""
    by_meshes: int
    """Pieces of them that needed meshes."""
    seconds: float
    why: str
    """A sentence."""

    def __bool__(self) -> bool:
        return self.free

    def __str__(self) -> str:
        return self.why


def touch_text(buffer: float) -> str:
    """What two things do where a motion is blocked; with a buffer, coming closer than that is enough."""
    return "touch" if not buffer else f"touch or come closer than the buffer of {number(1e3 * buffer)} mm"


@dataclass(frozen=True, eq=False)
class SegmentProofs(Frozen):
    """What is known of many segments, one row each; `proofs[k]` is the `SegmentProof` of one."""

    free: Bool[np.ndarray, "n"]
    """Proved free."""
    blocked_at: Float[np.ndarray, "n"]
    """Fraction of the segment at which a pair touches; NaN where none was found."""
    undecided_at: Float[np.ndarray, "n"]
    """Fraction at which the proof gave up, too close to touching; NaN where it did not."""
    pair_idx: Int[np.ndarray, "n"]
    """Entry of `pairs` that touches or could not be decided, -1 where free."""
    clearance: Float[np.ndarray, "n"]
    """Proved lower bound of the clearance on the whole segment, metres; not meaningful unless free."""
    by_spheres: Int[np.ndarray, "n"]
    by_meshes: Int[np.ndarray, "n"]
    """Pieces looked at by spheres, and those of them that needed meshes."""
    pairs: tuple[LinkPair, ...]
    """The checked pairs, as `pair_idx` counts them, then each link and obstacle that touch or could not be decided."""
    seconds: float
    """For all of them."""
    with_slack: bool = False
    """Whether joints may be off the segments."""
    buffer: float = 0.0
    """Clearance asked of every pair, metres."""

    def __len__(self) -> int:
        return len(self.free)

    def __getitem__(self, k: int) -> SegmentProof:
        n = len(self)
        if not -n <= k < n:
            raise IndexError(f"segment {k} of {n}")
        free, low = bool(self.free[k]), float(self.clearance[k])
        names = None if free else self.pairs[int(self.pair_idx[k])]
        blocked_at = None if np.isnan(self.blocked_at[k]) else float(self.blocked_at[k])
        by_spheres, by_meshes = int(self.by_spheres[k]), int(self.by_meshes[k])
        if names is None:
            pieces = f"{counted(by_spheres, 'piece')}, {by_meshes} of them by meshes"
            why = f"free: {proved_room(low)} on the whole segment ({pieces})"
        elif blocked_at is not None:
            verb = touch_text(self.buffer)
            why = f"blocked: {names[0]} and {names[1]} {verb} at {100.0 * blocked_at:.2f} % of the segment"
        else:
            at = 100.0 * float(self.undecided_at[k])
            why = (
                f"not decided: neither a proof nor a contact of {names[0]} and {names[1]} was found at {at:.2f} % of "
                f"the segment{', with slack' if self.with_slack else f', in {BUDGET} pieces'}"
            )
        return SegmentProof(free, blocked_at, names, low, by_spheres, by_meshes, self.seconds / n, why)

    def __repr__(self) -> str:
        return f"SegmentProofs({int(self.free.sum())} of {len(self)} segments proved free)"


def as_proofs(
    found: Float[np.ndarray, "n 2"],
    counts: Int[np.ndarray, "n 6"],
    pairs: tuple[LinkPair, ...],
    links: tuple[str, ...],
    obstacles: tuple[str, ...],
    with_slack: bool,
    buffer: float,
    seconds: float,
) -> SegmentProofs:
    """Proofs from the arrays of the core; clearances include the buffer.

    Args:
        found: places and clearances; `counts` the rest: see `_core.Scene.prove`.
        pairs: the checked ones, as the core numbers them.
        links: of the robot.
        obstacles: of the world.
        with_slack: whether joints may be off.
        buffer: metres.
        seconds: that it took.
    """
    status, pair_idx = counts[:, 0], counts[:, 1].copy()
    more: dict[LinkPair, int] = {}
    for row in np.flatnonzero(counts[:, 2] >= 0).tolist():
        pair = links[counts[row, 2]], obstacles[counts[row, 3]]
        pair_idx[row] = more.setdefault(pair, len(pairs) + len(more))
    t, clearance = found[:, 0], found[:, 1].copy()
    clearance[status == FREE] += buffer
    proofs = SegmentProofs(
        free=status == FREE,
        blocked_at=np.where(status == BLOCKED, t, np.nan),
        undecided_at=np.where(status == UNDECIDED, t, np.nan),
        pair_idx=pair_idx,
        clearance=clearance,
        by_spheres=counts[:, 4].copy(),
        by_meshes=counts[:, 5].copy(),
        pairs=(*pairs, *more),
        seconds=seconds,
        with_slack=with_slack,
        buffer=buffer,
    )
    freeze(proofs.free, proofs.blocked_at, proofs.undecided_at, proofs.pair_idx, proofs.clearance)
    freeze(proofs.by_spheres, proofs.by_meshes)
    return proofs


def as_slacks(slack: Any, n: int, dof: int) -> Float[np.ndarray, "#n dof"]:
    """Slack of `n` segments as rows; one row stands for all of them.

    Raises:
        InputError: not a number, (dof,) or (n, dof), or an entry that is negative or not finite.
    """
    given = np.zeros(1) if slack is None else np.asarray(slack, dtype=np.float64)
    if given.shape not in ((), (1,), (dof,), (1, dof), (n, dof)):
        raise InputError(f"slack must be a number, ({dof},) or ({n}, {dof}), found the shape {given.shape}")
    if not bool(np.all((given >= 0.0) & (given < np.inf))):
        raise InputError("slack must be rad or m from 0 up, found an entry that is negative or not finite")
    rows = given if given.ndim == 2 else np.broadcast_to(given, dof)[None]
    return frozen(np.array(rows, order="C"))
