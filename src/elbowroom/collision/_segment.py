"""SegmentProof: a straight line between two configurations is free, all of it, or where it is not.

Method and guarantee are in `_kernels_segment`; here the chains of all checked pairs are packed into flat arrays and
the answer gets its words. Joints move together from the first configuration to the second, each at constant rate
(no joint wraps around); coupled joints follow their drivers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from .._brief import brief
from .._frozen import Frozen, freeze
from .._parallel import over_rows
from .._text import at_least, counted, number
from ..pairs.doors import PairChains
from ..robot import Robot
from ..typing import LinkPair
from ._pack import PackedScene
from ._slack import rows_of
from ._world_engine import WorldEngine

BUDGET = 20_000
"""Pieces that a proof may take: about 20 ms by spheres."""
THREAD_SEGMENTS = 8
"""Batches from this size on are shared by the cores."""


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
    """Proved lower bound of the clearance on the whole segment, metres, the buffer included; not meaningful unless
    free; infinite when no pair is checked."""
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
            room = (
                f"at least {at_least(1e3 * low)} mm of clearance among checked pairs"
                if np.isfinite(low)
                else "nothing is checked"
            )
            why = f"free: {room} on the whole segment ({pieces})"
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


@dataclass(frozen=True)
class PackedChains:
    """The joints between the links of every pair, and the links' balls."""

    pairs: tuple[LinkPair, ...]
    chains: Int[np.ndarray, "pairs 7"]
    kinds: Int[np.ndarray, "joints"]
    drivers: Int[np.ndarray, "joints"]
    """Entry of the configuration that moves each joint."""
    local: Float[np.ndarray, "joints 3 4"]
    polys: Float[np.ndarray, "joints terms"]
    links: Int[np.ndarray, "links 5"]
    balls: Float[np.ndarray, "balls 4"]
    spans: Int[np.ndarray, "groups 2"]
    placed: Float[np.ndarray, "links 12"]
    """Each link on its body."""

    def prove(
        self,
        scene: PackedScene,
        begins: Float[np.ndarray, "n dof"],
        ends: Float[np.ndarray, "n dof"],
        slacks: Float[np.ndarray, "#n dof"],
        opens: Bool[np.ndarray, "#n pairs"],
        buffer: float,
        budgets: Int[np.ndarray, "n"],
        threads: int,
    ) -> tuple[Float[np.ndarray, "n 2"], Int[np.ndarray, "n 4"]]:
        """Proves or refutes segments: `found` and `counts` of `prove_segments`."""
        from ._kernels_segment import prove_segments

        found, counts = np.empty((len(begins), 2)), np.empty((len(begins), 4), np.int64)

        def piece(first: int, last: int) -> None:
            rows = slice(first, last)
            prove_segments(
                begins[rows], ends[rows], rows_of(slacks, rows), rows_of(opens, rows), buffer, budgets[rows],
                self.chains, self.kinds, self.drivers, self.local, self.polys, self.links, self.balls, self.spans,
                self.placed, scene.nodes, scene.tris, found[rows], counts[rows],
            )  # fmt: skip

        over_rows(piece, len(begins), threads=threads, at_least=THREAD_SEGMENTS, align=1)
        return found, counts


def prove_all(
    chains: PackedChains,
    scene: PackedScene,
    among: WorldEngine | None,
    begins: Float[np.ndarray, "n dof"],
    ends: Float[np.ndarray, "n dof"],
    slacks: Float[np.ndarray, "#n dof"],
    buffer: float,
    threads: int,
    opens: tuple[Bool[np.ndarray, "#n links"], Bool[np.ndarray, "#n pairs"]] | None = None,
    wish: float = 0.0,
) -> SegmentProofs:
    """Proves or refutes segments: against the world, which refutes sooner, then the robot against itself.

    Args:
        chains: the checked pairs.
        scene: the same pairs, packed.
        among: the links among obstacles; None without a world.
        begins: one configuration a segment.
        ends: another.
        slacks: how far joints may be off each segment; one row stands for all.
        buffer: metres that pairs must be apart.
        threads: at most.
        opens: which links and which checked pairs are looked at; None for all.
        wish: metres that are asked for besides the buffer.
    """
    from ._kernels_segment import FREE

    start, n = time.perf_counter(), len(begins)
    found, counts, pairs = np.full((n, 2), np.inf), np.tile([FREE, -1, 0, 0], (n, 1)), chains.pairs
    links, own_pairs = (None, None) if opens is None else opens
    if among is not None:
        found, decided = among.segments(begins, ends, slacks, np.full(n, BUDGET), links, wish)
        counts[:, 0], counts[:, 2:] = decided[:, 0], decided[:, 3:]
        more: dict[LinkPair, int] = {}
        names = among.world.names
        for row in np.flatnonzero(decided[:, 0] != FREE):
            pair = among.links[decided[row, 1]], names[decided[row, 2]]
            counts[row, 1] = more.setdefault(pair, len(pairs) + len(more))
        pairs = (*pairs, *more)
    rows = np.flatnonzero(counts[:, 0] == FREE)
    left = BUDGET - counts[rows, 2] - counts[rows, 3]
    asked = np.ones((1, len(chains.pairs)), np.bool_) if own_pairs is None else own_pairs
    own, decided = chains.prove(
        scene,
        begins[rows],
        ends[rows],
        rows_of(slacks, rows),
        rows_of(asked, rows),
        buffer + wish,
        left,
        threads,
    )
    own[:, 1] = np.where(decided[:, 0] == FREE, np.minimum(own[:, 1], found[rows, 1]), own[:, 1])
    found[rows], counts[rows, :2] = own, decided[:, :2]
    counts[rows, 2:] += decided[:, 2:]
    found[counts[:, 0] == FREE, 1] += buffer + wish
    return as_proofs(found, counts, pairs, bool(slacks.any()), buffer, time.perf_counter() - start)


def as_proofs(
    found: Float[np.ndarray, "n 2"],
    counts: Int[np.ndarray, "n 4"],
    pairs: tuple[LinkPair, ...],
    with_slack: bool,
    buffer: float,
    seconds: float,
) -> SegmentProofs:
    """Proofs from the arrays of the kernels; clearances include the buffer."""
    from ._kernels_segment import BLOCKED, FREE, UNDECIDED

    t, status = found[:, 0], counts[:, 0]
    proofs = SegmentProofs(
        free=status == FREE,
        blocked_at=np.where(status == BLOCKED, t, np.nan),
        undecided_at=np.where(status == UNDECIDED, t, np.nan),
        pair_idx=counts[:, 1].copy(),
        clearance=found[:, 1].copy(),
        by_spheres=counts[:, 2].copy(),
        by_meshes=counts[:, 3].copy(),
        pairs=pairs,
        seconds=seconds,
        with_slack=with_slack,
        buffer=buffer,
    )
    freeze(proofs.free, proofs.blocked_at, proofs.undecided_at, proofs.pair_idx, proofs.clearance)
    freeze(proofs.by_spheres, proofs.by_meshes)
    return proofs


def pack_chains(
    robot: Robot,
    balls: tuple[np.ndarray, np.ndarray, np.ndarray],
    scene: PackedScene,
    pairs: Sequence[LinkPair],
) -> PackedChains:
    """Packs the chains of the checked pairs.

    Args:
        robot: the robot.
        balls: as in `pack_scene`.
        scene: the same pairs, packed.
        pairs: the checked ones.
    """
    maker = PairChains(robot.tree, *balls)
    used = sorted({name for pair in pairs for name in pair})
    number = {name: k for k, name in enumerate(used)}
    made = [maker.between(robot.link_index(a), robot.link_index(b)) for a, b in pairs]
    width = max((chain.joints.poly.shape[1] for chain in made), default=1)
    rows: list[list[int]] = []
    joints = 0
    for (a, b), chain in zip(pairs, made, strict=True):
        meshes = int(a in scene.roots and b in scene.roots)
        rows.append(
            [number[a], number[b], joints, len(chain.joints.kind), chain.joints.n_a, chain.side, meshes]
        )
        joints += len(chain.joints.kind)
    grouped = [maker.balls_of(robot.link_index(name)) for name in used]
    ball_rows = np.cumsum([0, *(len(each) for each, _ in grouped)])
    span_rows = np.cumsum([0, *(len(each) for _, each in grouped)])
    links = [
        [int(ball_rows[k]), len(spans), len(each), int(span_rows[k]), scene.roots.get(used[k], -1)]
        for k, (each, spans) in enumerate(grouped)
    ]
    return PackedChains(
        pairs=tuple(pairs),
        chains=np.array(rows, dtype=np.int64).reshape(-1, 7),
        kinds=np.concatenate([np.zeros(0, np.int64), *(chain.joints.kind for chain in made)]),
        drivers=np.concatenate(
            [np.zeros(0, np.int64), *(chain.joints.cfg_idx[chain.joints.var] for chain in made)]
        ),
        local=np.concatenate([np.zeros((0, 3, 4)), *(chain.joints.local for chain in made)]),
        polys=np.concatenate([np.zeros((0, width)), *(_widened(chain.joints.poly, width) for chain in made)]),
        links=np.array(links, dtype=np.int64).reshape(-1, 5),
        balls=np.concatenate([np.zeros((0, 4)), *(each for each, _ in grouped)]),
        spans=np.concatenate([np.zeros((0, 2), np.int64), *(each for _, each in grouped)]),
        placed=np.array([scene.placed[name] for name in used]).reshape(-1, 12),
    )


def _widened(poly: Float[np.ndarray, "joints terms"], width: int) -> Float[np.ndarray, "joints width"]:
    """Polynomials with zeros for the terms they lack."""
    return np.pad(poly, ((0, 0), (0, width - poly.shape[1])))
