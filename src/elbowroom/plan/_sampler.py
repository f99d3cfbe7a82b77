"""Sampler: the search for a path between a start and goals in the compiled core, and the constraints on its edges.

Two trees grow by glances and what they find is proved; the method and what it guarantees are in `sampler.hpp`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from .. import _core
from .._frozen import frozen
from ..collision import CollisionModel
from ..typing import LinkPair
from ._group import Group

BY_SPHERES, BY_MESHES = 1, 2
"""How closely edges are checked: see `_core.Scene.prove`."""
MARGIN = 1e-5
"""Metres of clearance beyond which proofs of edges do not look."""
BUDGET = 400
"""Parts that the exact proof of an edge may take: a few milliseconds."""
SEEDS = 2**64
USUAL = 7
"""Joints that move, up to which the attempts to cut corners are as many as asked for."""
MOST = 100_000
"""Attempts of one call, at most."""


class Sampler:
    """A search that can be stopped and continued: the same seed gives the same trees, however its steps are parted."""

    def __init__(
        self,
        model: CollisionModel,
        group: Group,
        start: Float[np.ndarray, "dof"],
        goals: Float[np.ndarray, "g dof"],
        seed: int = 0,
        keeps: _core.Keeps | None = None,
        scene: _core.Scene | None = None,
    ) -> None:
        """Plants the trees.

        Args:
            model: robot and obstacles.
            group: the joints that may move.
            start: a free configuration.
            goals: free configurations, any of which will do; held joints as at the start.
            seed: of the random choices.
            keeps: what paths must keep, as start and goals do; None for nothing.
            scene: of the model, which decides on start and goals, where it is at hand.
        """
        self.model, self.group, self._start, self._goals = model, group, start, goals
        self.scene = model.scene_within(np.concatenate([start[None], goals])) if scene is None else scene
        self._core = _core.Sampler(
            self.scene, group.moving, group.span(start, goals), start, goals, seed % SEEDS
        )
        self._keeps = keeps
        if keeps is not None:
            self._core.keep(keeps)

    def straight(self) -> bool:
        """Tries the straight line to the goals, the nearest first; whether there is now a path."""
        return self._core.straight()

    def grow(self, steps: int, seconds: float = np.inf) -> bool:
        """Up to so many iterations more, until so many seconds have passed; whether there is a path."""
        return self._core.grow(steps, seconds)

    @property
    def possible(self) -> bool:
        """False where links that no joint moves touch an obstacle: then nothing is free."""
        return self._core.possible

    @property
    def nodes(self) -> int:
        """Configurations in both trees."""
        return self._core.nodes

    @property
    def iterations(self) -> int:
        """Done so far."""
        return self._core.iterations

    @property
    def path(self) -> Float[np.ndarray, "w dof"] | None:
        """Waypoints from the start to a goal, every edge proved; None while there is none."""
        return self._core.path() if self._core.goal >= 0 else None

    @property
    def goal_idx(self) -> int | None:
        """Which of the goals the path leads to; None while there is none."""
        return self._core.goal if self._core.goal >= 0 else None

    def shorten(
        self, path: Float[np.ndarray, "w dof"], attempts: int, seed: int = 0, seconds: float = np.inf
    ) -> Float[np.ndarray, "v dof"]:
        """A path made shorter where the straight line is proved free; never longer than it was.

        Args:
            path: waypoints, every edge proved; at least two.
            attempts: straight lines that are tried, in proportion more where more than seven joints move.
            seed: of the random choices.
            seconds: after which no more are tried.
        """
        if attempts <= 0 or len(path) < 3:
            return path
        more = max(1.0, len(self.group.moving) / USUAL)
        return self._core.shorten(path, min(round(attempts * more), MOST), seed % SEEDS, seconds)

    def another(self, seed: int) -> Sampler:
        """The same search with another seed, from the beginning."""
        return Sampler(self.model, self.group, self._start, self._goals, seed, self._keeps, self.scene)

    # Edges --------------------------------------------------------------------------------------

    def free(
        self, begins: Float[np.ndarray, "n dof"], ends: Float[np.ndarray, "n dof"], look: int = BY_MESHES
    ) -> Bool[np.ndarray, "n"]:
        """Which straight lines are proved free all the way.

        Args:
            begins: one configuration a line.
            ends: another.
            look: `BY_SPHERES` is quick and conservative; `BY_MESHES` decides where spheres refuse.
        """
        if not len(begins):
            return np.zeros(0, dtype=np.bool_)
        control = np.stack([begins, ends], axis=1)
        return self.scene.prove(control, self._no_slack, look, MARGIN, BUDGET)[1][:, 0] == 0

    @cached_property
    def _no_slack(self) -> Float[np.ndarray, "1 dof"]:
        return frozen(np.zeros((1, len(self._start))))

    # Evidence -----------------------------------------------------------------------------------

    @property
    def blockers(self) -> tuple[tuple[LinkPair, int], ...]:
        """Who refused extensions and how often, the most frequent first: two links, or a link and an obstacle."""
        counts, judge = (
            self._core.refusals(),
            self.model.covering(np.concatenate([self._start[None], self._goals])),
        )
        found: list[tuple[LinkPair, int]] = []
        for k in np.argsort(-counts, kind="stable")[: int((counts > 0).sum())].tolist():
            link, obstacle = divmod(k - len(judge.pairs), max(1, len(judge.obstacles)))
            pair = judge.pairs[k] if k < len(judge.pairs) else (judge.links[link], judge.obstacles[obstacle])
            found.append((pair, int(counts[k])))
        return tuple(found)

    def trees(
        self,
    ) -> tuple[Float[np.ndarray, "n dof"], Int[np.ndarray, "n"], Int[np.ndarray, "n"]]:
        """Nodes whose edges back to a root are proved, the row of each one's parent (-1 at roots), 0 (start) or 1."""
        cfgs, marks = self._core.trees()
        parents, kept = marks[:, 0], marks[:, 2] >= 0
        ask = np.flatnonzero(kept & (parents >= 0) & (marks[:, 2] == 0))
        kept[ask] = self.free(cfgs[parents[ask]], cfgs[ask], BY_SPHERES)
        for k in np.flatnonzero(parents >= 0).tolist():  # parents come first
            kept[k] &= kept[parents[k]]
        number = np.cumsum(kept) - 1
        return cfgs[kept], np.where(parents >= 0, number[parents], -1)[kept], marks[kept, 1]


def free_lines(model: CollisionModel, path: Float[np.ndarray, "w dof"]) -> bool:
    """Whether all straight lines of a path are proved free."""
    return bool(model.segments_free(path[:-1], path[1:]).free.all())
