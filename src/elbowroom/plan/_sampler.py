"""Sampler: RRT-Connect between a start and goals, on edges proved free, in steps that can be stopped and continued."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ._edges import Edges
from ._group import Group
from ._mesh_growth import grow_by_meshes

STEP = 0.7
"""Longest edge of a tree, rad (m): out of a tight place, few edges of 1 rad are free and none of 3."""
LONG, OPEN = 3.0, 6
"""Longest edge in the first iterations, which are all that an open scene takes, and how many these are."""
APART = 0.025
"""Metres between glances at an edge."""
ROOM = 1024
"""Nodes that a tree has room for at first."""
STUCK = 60
"""Iterations after which the exact proof leads out of the roots of the smaller tree, then after twice as many, ..."""
FEW, LATE = 8, 480
"""Until so many iterations only a tree with fewer nodes is helped: one that grows needs none."""
RADII = (0.1, 0.3, 1.0)
"""How far from a root it looks for configurations that are free by spheres (rad, m)."""
LOOKS = 48
"""Configurations tried at each of these distances."""
TRIES = 12
"""Of them, edges that the exact proof is asked about."""
LEAD = 80
"""Pieces that the exact proof of an edge may take here: it is asked about edges of which others will do."""
HARD = 20_000
"""Pieces that it may take late in the search and for edges that meshes led through: tens of milliseconds near contact,
and quicker than another path, which is as near to it."""
WAYS = 3
"""Ways out of a root that are enough, at each of them."""
MESHES, ROUND = 1000, 64
"""Looks at configurations in a run of growth by meshes (10 to 20 ms), where no way leads out of a root and late in the
search, and iterations by spheres from one to the next: about half of the time each."""
OFTEN = 1000
"""Iterations after which ways out of roots are looked for again at the latest."""


class Sampler:
    """Two trees, one from the start and one from all goals, that grow until they meet.

    Edges are glanced at while trees grow; those of a path are proved free before it counts. The same seed gives the
    same trees, however the steps are cut.
    """

    def __init__(
        self,
        edges: Edges,
        group: Group,
        start: Float[np.ndarray, "dof"],
        goals: Float[np.ndarray, "g dof"],
        seed: int = 0,
        ended: Callable[[], Any] | None = None,
    ) -> None:
        """Plants the trees.

        Args:
            edges: of the model.
            group: the joints that may move.
            start: a free configuration.
            goals: free configurations, any of which will do; held joints as at the start.
            seed: of the random choices.
            ended: is asked again and again within what takes long; true ends the search, which then is not continued.
        """
        from ._kernels_tree import STATE, tree_work

        self._edges, self._group = edges, group
        self._low, self._high = group.span(start, goals)
        m = len(group.moving)
        roots = [group.parts(start[None]), group.parts(np.atleast_2d(goals))]
        room = max(ROOM, 2 * len(roots[1]))
        self._nodes, self._parents = _room(room, m)
        self._state = np.zeros(STATE, np.int64)
        for tree, parts in enumerate(roots):
            self._nodes[tree, :, : len(parts)] = parts.T
            self._state[tree] = len(parts)
        self._rng = seeded(seed)
        self._rows = np.tile(group.held, (2, 1))
        n_obstacles = edges.args[4].shape[1]
        self._counts = np.zeros(edges.n_pairs + len(edges.links) * n_obstacles, np.int64)
        self._work = tree_work(m)
        self._met, self._stuck, self._turn = False, STUCK, STUCK
        """Whether there is a path, and after how many iterations roots, and meshes, have their turn."""
        self._ended = ended or bool
        self._proved: set[tuple[int, int]] = set()  # nodes whose edge to the parent is proved free
        if edges.possible:
            for tree, parts in enumerate(roots):
                rows = group.whole(parts)
                refused = edges.ask(rows, rows)[1][:, 0] != 0
                for root in np.flatnonzero(refused).tolist():  # by spheres: the exact proof leads out
                    self._lead_out(tree, root)

    def grow(self, steps: int) -> bool:
        """Up to so many iterations more; whether there is a path."""
        from ._kernels_tree import DONE, FOUND, FULL, grow

        if self._met or not self._edges.possible:
            return self._met
        until = int(self._state[DONE]) + steps
        while not self._met:
            early = self._state[DONE] < OPEN
            code = grow(
                min(until, OPEN if early else min(self._stuck, self._turn)), self._state, self._rng, self._nodes,
                self._parents, self._group.moving, self._low, self._high, LONG if early else STEP, APART, self._rows,
                self._counts, self._work, *self._edges.args, self._edges.scratch(),
            )  # fmt: skip
            if code == FOUND:
                self._met = self._holds(HARD if self._state[DONE] > LATE else LEAD)
            elif code == FULL:
                self._make_room(1)
            elif self._state[DONE] in (self._stuck, self._turn):
                self._help()
            if self._state[DONE] >= until or self._ended():
                break
        return self._met

    def _help(self) -> None:
        """What is done besides, from time to time: ways out of the roots of the smaller tree, and growth by meshes."""
        done, tree = self.iterations, int(np.argmin(self._state[:2]))
        needed = self._state[tree] < FEW or done >= LATE
        if done == self._stuck:
            self._stuck += min(self._stuck, OFTEN)
            if needed:
                for root in np.flatnonzero(self._parents[tree, : self._state[tree]] < 0)[:WAYS].tolist():
                    self._lead_out(tree, root)
            needed = self._state[tree] < FEW or done >= LATE
        if done == self._turn:
            if needed:
                self._met = self._by_meshes(MESHES)
            self._turn += ROUND

    def _lead_out(self, tree: int, root: int) -> None:
        """Adds configurations near a root that are free by spheres, with edges that the exact proof shows free."""
        group, edges = self._group, self._edges
        rng = np.random.default_rng([int(self._rng[0]), tree, root])
        at = self._nodes[tree, :, root].copy()
        begin = group.whole(at)
        self._make_room(WAYS * len(RADII))
        for radius in RADII:
            found = 0
            away = rng.normal(size=(LOOKS, len(at)))
            parts = np.clip(
                at + radius * away / np.linalg.norm(away, axis=1)[:, None],
                np.minimum(self._low, at), np.maximum(self._high, at),
            )  # fmt: skip
            rows = group.whole(parts)
            for k in np.flatnonzero(edges.ask(rows, rows)[1][:, 0] == 0)[:TRIES].tolist():
                if found < WAYS and not self._ended() and edges.exact(begin, rows[k], LEAD):
                    self._proved.add((tree, self._add(tree, parts[k], root)))
                    found += 1

    def _by_meshes(self, looks: int) -> bool:
        """Grows the trees by what meshes call free; whether they met and the path is proved."""
        rng = np.random.default_rng([int(self._rng[0]), self.iterations])
        self._make_room(looks)
        while looks > 0 and not self._ended():  # without the edges that could not be proved
            met, looks = grow_by_meshes(
                self._edges, self._group, self._nodes, self._state[:2], self._add, (self._low, self._high), rng,
                looks, self._ended,
            )  # fmt: skip
            if met is not None:
                self._state[3:5] = met
                if self._holds(HARD):
                    return True
        return False

    def _make_room(self, more: int) -> None:
        """Room for so many nodes more in each tree, and for those that an iteration by spheres may add."""
        from ._kernels_tree import CONNECT

        old, old_parents, room = self._nodes, self._parents, self._nodes.shape[2]
        while room < int(self._state[:2].max()) + more + CONNECT:
            room *= 2
        if room > old.shape[2]:
            self._nodes, self._parents = _room(room, old.shape[1])
            self._nodes[:, :, : old.shape[2]], self._parents[:, : old.shape[2]] = old, old_parents

    def _add(self, tree: int, parts: Float[np.ndarray, "m"], parent: int) -> int:
        """A node more; there must be room for it."""
        n = int(self._state[tree])
        self._nodes[tree, :, n], self._parents[tree, n] = parts, parent
        self._state[tree] = n + 1
        return n

    def _holds(self, budget: int) -> bool:
        """Whether the path that was found is proved free; an edge that is not is cut off its tree.

        Args:
            budget: pieces that the exact proof of an edge may take.
        """
        nodes, group = self._nodes, self._group
        ways = [self._way(tree, int(self._state[3 + tree])) for tree in range(2)]
        steps = [
            (tree, node) for tree in range(2) for node in ways[tree][:-1] if (tree, node) not in self._proved
        ]
        ends = group.whole(
            np.array([*(nodes[tree, :, node] for tree, node in steps), nodes[1, :, ways[1][0]]])
        )
        begins = group.whole(
            np.array(
                [
                    *(nodes[tree, :, self._parents[tree, node]] for tree, node in steps),
                    nodes[0, :, ways[0][0]],
                ]
            )
        )
        free = self._edges.free_by_spheres(begins, ends)
        for k in np.flatnonzero(~free).tolist():
            if self._ended():
                return False
            free[k] = self._edges.exact(begins[k], ends[k], budget)
        for step, good in zip(steps, free[:-1].tolist(), strict=True):
            if good:
                self._proved.add(step)
            else:
                self._cut_off(*step)
        return bool(free.all())

    def _cut_off(self, tree: int, node: int) -> None:
        """Moves a node and all that hang on it to infinity, where nothing is nearest to them."""
        gone = {node}
        for k in range(node, int(self._state[tree])):
            if k == node or int(self._parents[tree, k]) in gone:
                gone.add(k)
                self._nodes[tree, :, k] = np.inf

    @property
    def nodes(self) -> int:
        """Configurations in both trees."""
        return int(self._state[0] + self._state[1])

    @property
    def iterations(self) -> int:
        """Done so far."""
        return int(self._state[2])

    @property
    def path(self) -> Float[np.ndarray, "w dof"] | None:
        """Waypoints from the start to a goal; None while there is none."""
        if not self._met:
            return None
        ways = [self._way(tree, int(self._state[3 + tree])) for tree in range(2)]
        parts = np.concatenate(
            [
                self._nodes[0][:, ways[0][::-1]].T,
                self._nodes[1][:, ways[1]].T,
            ]
        )
        keep = np.concatenate([[True], (np.diff(parts, axis=0) != 0.0).any(axis=1)])
        return self._group.whole(parts[keep] if keep.sum() > 1 else parts[[0, -1]])

    @property
    def goal_idx(self) -> int | None:
        """Which of the goals the path leads to; None while there is none."""
        return self._way(1, int(self._state[4]))[-1] if self._met else None

    def _way(self, tree: int, node: int) -> list[int]:
        """A node and all before it, the root last."""
        way = [node]
        while self._parents[tree, way[-1]] >= 0:
            way.append(int(self._parents[tree, way[-1]]))
        return way

    @property
    def blockers(self) -> tuple[tuple[tuple[str, str], int], ...]:
        """Who refused extensions and how often, the most frequent first: two links, or a link and an obstacle."""
        edges = self._edges
        found: list[tuple[tuple[str, str], int]] = []
        for k in np.argsort(-self._counts, kind="stable").tolist():
            if self._counts[k] == 0:
                break
            link, obstacle = divmod(k - edges.n_pairs, max(1, len(edges.obstacles)))
            pair = edges.pairs[k] if k < edges.n_pairs else (edges.links[link], edges.obstacles[obstacle])
            found.append((pair, int(self._counts[k])))
        return tuple(found)

    def trees(
        self,
    ) -> tuple[Float[np.ndarray, "n dof"], Int[np.ndarray, "n"], Int[np.ndarray, "n"]]:
        """All nodes as configurations, the row of each one's parent (-1 at roots), and 0 (start) or 1 (goals)."""
        sizes = [int(n) for n in self._state[:2]]
        parts = np.concatenate([self._nodes[tree, :, :n].T for tree, n in enumerate(sizes)])
        after = self._parents[1, : sizes[1]]
        parents = np.concatenate([self._parents[0, : sizes[0]], np.where(after >= 0, after + sizes[0], -1)])
        trees = np.repeat(np.arange(2), sizes)
        kept = np.asarray(np.isfinite(parts).all(axis=1))
        ask = np.flatnonzero(kept & (parents >= 0))
        cfgs = self._group.whole(parts)
        kept[ask] = self._edges.free_by_spheres(cfgs[parents[ask]], cfgs[ask])
        for k in np.flatnonzero(parents >= 0).tolist():  # parents come first
            kept[k] &= kept[parents[k]]
        number = np.cumsum(kept) - 1
        return cfgs[kept], np.where(parents >= 0, number[parents], -1)[kept], trees[kept]


def seeded(seed: int) -> Any:
    """The state of the kernels' random numbers (splitmix64)."""
    return np.array([(seed * 0x632BE59BD9B4E019 + 1) % 2**64], dtype=np.uint64)


def _room(room: int, m: int) -> tuple[Any, Any]:
    """Empty nodes and parents of two trees."""
    from ._kernels_tree import BLOCK

    room = -(-room // BLOCK) * BLOCK
    return np.full((2, m, room), np.inf), np.full((2, room), -1, np.int64)
