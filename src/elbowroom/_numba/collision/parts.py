"""What a CollisionModel is packed into for the kernels of planning and inverse kinematics; loads no numba.

What the arrays mean is decided by the model: which pairs count, which spheres cover the links, which meshes stand
behind them, which obstacles may be touched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int

from ..._frozen import freeze, frozen
from ...robot.doors import find_bodies
from ...typing import LinkPair
from ..world.packed import PackedGrid, PackedWorld, packed_grid, packed_world
from ._chains import PackedChains, pack_chains
from ._lanes import Lanes as Lanes
from ._lanes import pack_lanes
from ._link_chains import LinkChains as LinkChains
from ._link_chains import pack_link_chains
from ._pack import PackedScene, pack_scene

if TYPE_CHECKING:
    from ...collision.doors import Links, Outside

BUDGET = 20_000
"""Pieces that a proof may take."""
Made = TypeVar("Made")


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


def parts_of(links: Links, outside: Outside | None) -> Parts:
    """The parts of a model; what is of the robot alone is packed once for all worlds."""
    among = None if outside is None else _kept(outside.derived, "parts", partial(_world_parts, outside))
    own = _kept(links.derived, "own", partial(_own_parts, links))
    lanes = partial(_kept, links.derived, "lanes", partial(_lanes, links))
    return Parts(links.buffer, own, among, lanes)


def _kept(known: dict[str, Any], name: str, make: Callable[[], Made]) -> Made:
    if name not in known:
        known[name] = make()
    return known[name]


def _scene(links: Links) -> PackedScene:
    return pack_scene(links.robot, links.balls, links.meshes, links.pairs, links.buffer)


def _own_parts(links: Links) -> OwnParts:
    scene = _kept(links.derived, "scene", partial(_scene, links))
    names = tuple(sorted({name for pair in links.pairs for name in pair}))
    bodies = pack_link_chains(links.robot, links.balls, scene, names)
    return OwnParts(names, links.pairs, bodies, pack_chains(links.robot, links.balls, scene, links.pairs))


def _lanes(links: Links) -> Lanes:
    seen = links.seen_by_obstacles
    outside = replace(seen, radii=seen.padded_radii("world"), world_padding={})
    return pack_lanes(links.robot, links.spheres, outside, links.pairs, links.only_meshes, links.buffer)


def _world_parts(outside: Outside) -> WorldParts:
    robot, names = outside.robot, outside.links

    def chains() -> LinkChains:
        scene = pack_scene(robot, outside.balls, outside.meshes, (), outside.buffer, names)
        return pack_link_chains(robot, outside.balls, scene, names)

    bodies, frames = find_bodies(robot.tree), robot.tree.link_frame
    moves = [bodies.of_frame[int(frames[robot.link_index(name)])] != 0 for name in names]
    turns = np.flatnonzero(moves)[::-1].copy()
    freeze(turns)
    return WorldParts(
        links=names,
        obstacles=tuple(outside.world.names),
        bodies=_kept(outside.of_robot, "chains", chains),
        world=packed_world(outside.world),
        grid=packed_grid(outside.world, outside.region, outside.threads),
        allowed=outside.allowed,
        turns=turns,
        still_free=partial(outside.core.still_free, True),
    )
