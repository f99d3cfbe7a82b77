"""What a CollisionModel is packed into, for folders whose kernels build on it (`collision.kernels`).

A controller that asks a thousand times a second calls kernels with these arrays itself: one call for all collision
constraints of a configuration, one for the proof of a step. What they mean is decided here and nowhere else: which
pairs count, which spheres cover the links, which meshes stand behind them, which obstacles may be touched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import frozen
from .._numba.world.packed import PackedGrid, PackedWorld, packed_world
from ..typing import LinkPair
from ._lanes import Lanes
from ._segment import BUDGET, PackedChains
from ._segment_world import LinkChains
from ._world_engine import WorldEngine


@dataclass(frozen=True, eq=False)
class OwnParts:
    """The links of the checked pairs."""

    links: tuple[str, ...]
    """Links of checked pairs, sorted, as `bodies` and `chains` number them."""
    pairs: tuple[LinkPair, ...]
    """Checked pairs of links with geometry, as `chains` numbers them."""
    bodies: LinkChains
    """The links on their bodies, in the world."""
    chains: PackedChains
    """The joints between the links of every pair."""


@dataclass(frozen=True, eq=False)
class WorldParts:
    """The links among obstacles."""

    links: tuple[str, ...]
    """Links with geometry, as `bodies` numbers them."""
    obstacles: tuple[str, ...]
    """Names, as `world` numbers them."""
    bodies: LinkChains
    """The links on their bodies, in the world; spheres with their padding against obstacles."""
    world: PackedWorld
    grid: PackedGrid
    """Lower bounds of distances to the obstacles."""
    allowed: Bool[np.ndarray, "links obstacles"]
    """Whether touching is meant."""
    turns: Int[np.ndarray, "moving"]
    """Links that some joint moves, in the order to look at them."""
    still_free: Callable[[], bool]
    """Whether the links that no joint moves are free, by their meshes."""

    def blocked(
        self,
        begin: Float[np.ndarray, "dof"],
        end: Float[np.ndarray, "dof"],
        buffer: float,
        allowed: Bool[np.ndarray, "links obstacles"] | None = None,
    ) -> tuple[bool, tuple[str, str] | None]:
        """Whether a segment could not be proved to stay farther than `buffer` from the obstacles, and by whom.

        Args:
            begin: one end of the segment.
            end: the other.
            buffer: metres.
            allowed: pairs that do not count; those of the model when omitted.
        """
        from ._kernels_segment import FREE
        from ._kernels_segment_world import prove_world_segments

        found, counts = np.empty((1, 2)), np.empty((1, 5), np.int64)
        prove_world_segments(
            frozen(begin[None].copy()), frozen(end[None].copy()), frozen(np.zeros((1, len(begin)))),
            frozen(np.ones((1, len(self.links)), np.bool_)), buffer, np.array([BUDGET]), self.bodies, self.world,
            self.grid, self.allowed if allowed is None else frozen(allowed), found, counts,
        )  # fmt: skip
        status, link, obstacle = counts[0, :3].tolist()
        return (False, None) if status == FREE else (True, (self.links[link], self.obstacles[obstacle]))


@dataclass(frozen=True, eq=False)
class Parts:
    """All that kernels need of a model."""

    buffer: float
    """Metres that every pair must be apart to be free."""
    own: OwnParts
    among: WorldParts | None
    """None where there are no obstacles."""
    make_lanes: Callable[[], Lanes]

    @property
    def lanes(self) -> Lanes:
        """All links with geometry in lanes, for proofs of edges by spheres; packed when first asked for."""
        return self.make_lanes()


def parts_of(engine: Any, around: Any) -> Parts:
    """The parts of a model: of its engine, and of its surroundings or None."""
    among = None
    if around is not None:
        world: WorldEngine = around.engine
        among = WorldParts(
            links=world.links,
            obstacles=tuple(world.world.names),
            bodies=world.chains,
            world=packed_world(world.world),
            grid=world.grid,
            allowed=world.allowed,
            turns=world.turns,
            still_free=world.still_free,
        )
    own = OwnParts(engine.chain_links, engine.pairs, engine.bodies, engine.chains)
    return Parts(engine.buffer, own, among, partial(getattr, engine, "lanes"))
