"""Sampler: RRT-Connect between a start and goals, on edges proved free, in steps that can be stopped and continued."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ._edges import Edges
from ._group import Group

STEP = 1.0
"""Longest edge of a tree, rad (m)."""
ROOM = 1024
"""Nodes that a tree has room for at first."""


class Sampler:
    """Two trees, one from the start and one from all goals, that grow until they meet.

    Every edge is proved free. The same seed gives the same trees, however the steps are cut.
    """

    def __init__(
        self,
        edges: Edges,
        group: Group,
        start: Float[np.ndarray, "dof"],
        goals: Float[np.ndarray, "g dof"],
        seed: int = 0,
    ) -> None:
        """Plants the trees.

        Args:
            edges: of the model.
            group: the joints that may move.
            start: a free configuration.
            goals: free configurations, any of which will do; held joints as at the start.
            seed: of the random choices.
        """
        from ._kernels_tree import BLOCK, STATE

        self._edges, self._group = edges, group
        self._low, self._high = group.span(start, goals)
        m = len(group.moving)
        roots = [group.parts(start[None]), group.parts(np.atleast_2d(goals))]
        room = max(ROOM, 2 * len(roots[1]))
        self._nodes, self._parents, self._reach = _room(room, m)
        self._state = np.zeros(STATE, np.int64)
        for tree, parts in enumerate(roots):
            self._nodes[tree, :, : len(parts)] = parts.T
            self._state[tree] = len(parts)
        self._rng = np.array([seed * 0x632BE59BD9B4E019 + 1 & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
        self._rows = np.tile(group.held, (2, 1))
        n_obstacles = edges.args[4].shape[1]
        self._counts = np.zeros(edges.n_pairs + len(edges.links) * n_obstacles, np.int64)
        self._work = np.empty((3, m)), np.empty(BLOCK)
        self._met = False

    def grow(self, steps: int) -> bool:
        """Up to so many iterations more; whether there is a path."""
        from ._kernels_tree import DONE, FOUND, FULL, grow

        if self._met or not self._edges.possible:
            return self._met
        until = int(self._state[DONE]) + steps
        while True:
            code = grow(
                until, self._state, self._rng, self._nodes, self._parents, self._reach, self._group.moving, self._low,
                self._high, STEP, self._rows, self._counts, self._work, *self._edges.args, self._edges.scratch(),
            )  # fmt: skip
            if code != FULL:
                self._met = code == FOUND
                return self._met
            old, old_parents, old_reach = self._nodes, self._parents, self._reach
            self._nodes, self._parents, self._reach = _room(2 * old.shape[2], old.shape[1])
            self._nodes[:, :, : old.shape[2]] = old
            self._parents[:, : old.shape[2]] = old_parents
            self._reach[:, : old.shape[2]] = old_reach

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
        parts = np.concatenate([
            self._nodes[0][:, ways[0][::-1]].T,
            self._nodes[1][:, ways[1]].T,
        ])
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
        a, b = (int(n) for n in self._state[:2])
        cfgs = self._group.whole(np.concatenate([self._nodes[0, :, :a].T, self._nodes[1, :, :b].T]))
        after = self._parents[1, :b]
        parents = np.concatenate([self._parents[0, :a], np.where(after >= 0, after + a, -1)])
        return cfgs, parents, np.repeat(np.arange(2), [a, b])


def _room(room: int, m: int) -> tuple[Any, Any, Any]:
    """Empty nodes, parents and reaches of two trees."""
    from ._kernels_tree import BLOCK

    room = -(-room // BLOCK) * BLOCK
    return np.full((2, m, room), np.inf), np.full((2, room), -1, np.int64), np.full((2, room), np.inf)
