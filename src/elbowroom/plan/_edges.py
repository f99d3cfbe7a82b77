"""Edges: straight lines between configurations, proved free quickly: by spheres, and where they refuse by meshes."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import frozen
from .._numba.world.packed import packed_grid, packed_world
from ..collision import CollisionModel
from ..typing import LinkPair
from ..world import World

BUDGET = 380
"""Pieces that the exact proof of an edge may take besides one for each pair: a few milliseconds."""
LOOK = 0.03
"""Largest joint motion between configurations at which meshes glance along an edge, rad (m)."""
EARLY = 8
"""Of these, those along the edge that are looked at before the others: they refuse most edges that are blocked."""
_made: weakref.WeakKeyDictionary[CollisionModel, Edges] = weakref.WeakKeyDictionary()


class Edges:
    """The edges of one model.

    Spheres look at sixteen pieces of an edge at a time, each sphere enlarged by the way that it can go within half a
    piece (`collision._lanes`). The exact proof (`CollisionModel.segment_free`) decides where they refuse.
    """

    def __init__(self, model: CollisionModel) -> None:
        self.dof = model.robot.dof
        self._model = weakref.ref(model)  # it keeps this as long as it lives, not the other way round
        parts = self._parts = model.parts
        lanes, among = parts.lanes, parts.among
        self._lanes = lanes
        if among is None:
            world = World()
            grid = packed_grid(world, np.zeros((2, 3)))
            turns = frozen(np.zeros(0, dtype=np.int64))
            allowed = frozen(np.zeros((len(lanes.link_reach), 0), dtype=np.bool_))
            self.args: tuple[Any, ...] = tuple(lanes), turns, tuple(packed_world(world)), tuple(grid), allowed
        else:
            self.args = tuple(lanes), among.turns, tuple(among.world), tuple(among.grid), among.allowed
        """What kernels take of robot and world; see `edge_by_spheres`."""
        self.mesh_pairs = lanes.mesh_pairs
        """Pairs that only meshes decide, which kernels do not look at."""
        self.possible = among is None or among.still_free()
        """False where links that no joint moves touch an obstacle: then nothing is free."""
        self.pairs: tuple[LinkPair, ...] = tuple(parts.own.pairs[k] for k in lanes.pair_rows.tolist())
        """Pairs of links as kernels number them."""
        self.links: tuple[str, ...] = () if among is None else among.links
        self.obstacles: tuple[str, ...] = () if among is None else among.obstacles
        """Links and obstacles as kernels number them; none without a world."""
        self.ready = False
        """Whether all that a search needs of the model is made."""
        self._exactly = frozen(np.zeros((1, self.dof)))  # joints are not off the line
        self._local = threading.local()

    @classmethod
    def of(cls, model: CollisionModel) -> Edges:
        """The edges of a model, made once."""
        found = _made.get(model)
        if found is None:
            found = _made[model] = cls(model)
        return found

    @property
    def n_pairs(self) -> int:
        """Number of `pairs`."""
        return len(self.pairs)

    @property
    def needs_meshes(self) -> bool:
        """Whether some pairs of links can only be decided by meshes."""
        return len(self._lanes.mesh_pairs) > 0

    # Questions ----------------------------------------------------------------------------------

    def free(
        self, begins: Float[np.ndarray, "n dof"], ends: Float[np.ndarray, "n dof"], budget: int = BUDGET
    ) -> Bool[np.ndarray, "n"]:
        """Which edges are proved free all the way: by spheres, and by the exact proof where spheres refuse.

        Args:
            begins: one configuration an edge.
            ends: another.
            budget: pieces that the exact proof of an edge may take, as of `exact`.
        """
        out = self.free_by_spheres(begins, ends)
        for k in np.flatnonzero(~out).tolist():
            out[k] = self.exact(begins[k], ends[k], budget)
        return out

    def free_by_spheres(
        self, begins: Float[np.ndarray, "n dof"], ends: Float[np.ndarray, "n dof"]
    ) -> Bool[np.ndarray, "n"]:
        """The first level alone: quick, and conservative. Pairs that only meshes decide are decided by them."""
        return self.first_level(begins, ends)[0]

    def first_level(
        self, begins: Float[np.ndarray, "n dof"], ends: Float[np.ndarray, "n dof"]
    ) -> tuple[Bool[np.ndarray, "n"], Float[np.ndarray, "n"]]:
        """As `free_by_spheres`, and at what share of each edge spheres meet as they are; NaN where they do not."""
        from .._numba.collision.kernels import BLOCKED, FREE

        at, who = self.ask(begins, ends)
        out = (who[:, 0] == FREE) & self.possible
        some = np.flatnonzero(out)
        out[some] = self.by_meshes(begins[some], ends[some])
        return out, np.where(who[:, 0] == BLOCKED, at, np.nan)

    def chain(self, path: Float[np.ndarray, "w dof"]) -> bool:
        """Whether all edges of a path are proved free."""
        return bool(self.free(path[:-1], path[1:]).all())

    # The two levels -----------------------------------------------------------------------------

    def ask(
        self, begins: Float[np.ndarray, "n dof"], ends: Float[np.ndarray, "n dof"]
    ) -> tuple[Float[np.ndarray, "n"], Int[np.ndarray, "n 4"]]:
        """What `edge_by_spheres` says of each edge: the place, and (status, pair, link, obstacle)."""
        from ._kernels_edges import edges_by_spheres

        at, who = np.empty(len(begins)), np.empty((len(begins), 4), np.int64)
        begins, ends = (frozen(np.ascontiguousarray(rows, np.float64).view()) for rows in (begins, ends))
        edges_by_spheres(begins, ends, *self.args, at, who, self.scratch())
        return at, who

    def by_meshes(
        self, begins: Float[np.ndarray, "n dof"], ends: Float[np.ndarray, "n dof"]
    ) -> Bool[np.ndarray, "n"]:
        """On which edges the pairs that only meshes can decide are proved free; spheres say nothing of them."""
        if not len(self._lanes.mesh_pairs):
            return np.ones(len(begins), dtype=np.bool_)
        return self._own(begins, ends, BUDGET, self._parts.own.chains.chains[self._lanes.mesh_pairs])

    def exact(
        self, begin: Float[np.ndarray, "dof"], end: Float[np.ndarray, "dof"], budget: int = BUDGET
    ) -> bool:
        """The exact proof of one edge.

        Args:
            begin: a configuration.
            end: another.
            budget: pieces that it may take besides one for each pair of links, and for each link among obstacles,
                which is what an edge in the open takes: a robot with two arms has hundreds of pairs.
        """
        from .._numba.collision.kernels import FREE, prove_world_segments

        if not self.possible:
            return False

        among = self._parts.among
        begins, ends = np.array(begin)[None], np.array(end)[None]
        if among is not None:
            found, counts = np.empty((1, 2)), np.empty((1, 5), np.int64)
            prove_world_segments(
                frozen(begins.view()), frozen(ends.view()), self._exactly,
                frozen(np.ones((1, len(among.links)), np.bool_)), self._parts.buffer,
                np.array([budget + len(among.links)]), among.bodies, among.world, among.grid, among.allowed, found,
                counts,
            )  # fmt: skip
            if counts[0, 0] != FREE:
                return False
        return bool(self._own(begins, ends, budget, self._parts.own.chains.chains)[0])

    def _own(
        self,
        begins: Float[np.ndarray, "n dof"],
        ends: Float[np.ndarray, "n dof"],
        budget: int,
        which: Int[np.ndarray, "pairs 7"],
    ) -> Bool[np.ndarray, "n"]:
        """The exact proof of edges for some pairs of links."""
        from .._numba.collision.kernels import FREE, prove_segments

        chains, bodies = self._parts.own.chains, self._parts.own.bodies
        found, counts = np.empty((len(begins), 2)), np.empty((len(begins), 4), np.int64)
        prove_segments(
            np.array(begins), np.array(ends), self._exactly, frozen(np.ones((1, len(which)), np.bool_)),
            self._parts.buffer, np.full(len(begins), budget + len(which)), which, chains.kinds, chains.drivers,
            chains.local, chains.polys, chains.links, chains.balls, chains.spans, chains.placed, bodies.nodes,
            bodies.tris, found, counts,
        )  # fmt: skip
        return counts[:, 0] == FREE

    def glance_by_meshes(
        self, begin: Float[np.ndarray, "dof"], end: Float[np.ndarray, "dof"]
    ) -> tuple[bool, int]:
        """Whether the verdict calls configurations along an edge free, no proof; and at how many it looked.

        The far end comes first, which is refused most often, then some along the edge, then the rest.
        """
        model = self._model()
        assert model is not None  # who asks holds it
        if not model.free(end):
            return False, 1
        count = int(np.abs(end - begin).max() / LOOK) + 1
        shares, early = np.arange(1, count)[:, None] / count, np.zeros(count - 1, np.bool_)
        early[:: max(1, count // EARLY)] = True
        looks = 1
        for part in (shares[early], shares[~early]):
            looks += len(part)
            if len(part) and not model.free(begin + part * (end - begin)).all():
                return False, looks
        return True, looks

    def scratch(self) -> Any:
        """What kernels work with, of the calling thread."""
        kept = getattr(self._local, "scratch", None)
        if kept is None:
            from .._numba.collision.kernels import lane_scratch

            kept = self._local.scratch = lane_scratch(self._lanes, self.dof)
        return kept
