"""Roadmap: a table of proved edges of one scene, for many questions.

A question connects its start and goal to nodes near them and takes the shortest way through the table. Where there is
none the sampler searches, and the table keeps what it found: its trees, whose edges are proved, and the path. So the
table grows where questions are asked, and is worth most where the same narrow places are passed again and again. Where
obstacles have moved (`among`) it is kept, and edges are proved again when a way takes them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from .. import _core
from .._frozen import freeze, frozen
from ..collision import CollisionModel, as_model
from ..errors import InputError
from ..typing import RobotLike
from ._goals import HELD
from ._group import Group
from ._roadmap_file import Mark, mark_of, read_arrays_of, write_arrays_of
from ._sampler import BY_SPHERES, Sampler

if TYPE_CHECKING:
    from ._first_path import Found, Question

NEAR = 8
"""Nodes that a start or goal is connected to, at most."""
EXACT = 2
"""Of them, those tried by the exact proof where spheres refuse all."""
MAX_NODES = 20_000
"""Nodes kept: beyond, trees of the sampler are not added any more, only paths."""
SAME = 1e-9
"""Nodes that differ by no more (rad, m) are one."""


class Roadmap:
    """Proved edges of one model and group of joints; see the module. Not for use from several threads at a time."""

    def __init__(self, model: CollisionModel | RobotLike, joints: Any = None) -> None:
        """An empty table.

        Args:
            model: of robot and obstacles; questions with another one are refused.
            joints: names of those that move; None for all. The others are held where the first question has them.

        Raises:
            UnknownJointError: no such joint. InputError: none, or one twice.
        """
        model = as_model(model)
        self.model = model
        self.joints = Group.of(model.robot, model.default_cfg, joints).joints
        """Those that move, in the order of `robot.joint_names`."""
        self.held: Float[np.ndarray, "dof"] | None = None
        """A configuration with the values of the joints that do not move; None before the first question."""
        self._cfgs = frozen(np.zeros((0, model.robot.dof)))
        self._edges = frozen(np.zeros((0, 2), np.int64))
        self._proved = np.zeros(0, np.bool_)  # of edges, among the obstacles as they are now
        self._closed = np.zeros(0, np.bool_)  # blocked by an obstacle that has moved
        self._places: dict[bytes, int] = {}

    # What is known ------------------------------------------------------------------------------

    @property
    def cfgs(self) -> Float[np.ndarray, "n dof"]:
        """Nodes."""
        return self._cfgs

    @property
    def edges(self) -> Int[np.ndarray, "e 2"]:
        """Pairs of nodes with a straight line between them that is proved free, or was among the obstacles before."""
        return self._edges

    def among(self, model: CollisionModel) -> Roadmap:
        """The same table for a model in which obstacles have come, gone or moved.

        Edges are proved again when a way first takes them; those that are blocked are then left out.

        Args:
            model: of the same robot, what it holds, its pairs and the buffer.

        Raises:
            InputError: it is of another robot.
        """
        if not isinstance(model, CollisionModel):
            raise InputError(f"roadmap: expected a CollisionModel, found a {type(model).__name__}")
        differs = replace(self.mark, obstacles="", allowed="").differs(
            replace(mark_of(model), obstacles="", allowed="")
        )
        if differs:
            raise InputError(f"roadmap: it cannot be used for this model: {differs}")
        other = Roadmap(model, self.joints)
        other.held, other._places = self.held, dict(self._places)
        other._cfgs, other._edges = self._cfgs, self._edges
        other._proved, other._closed = np.zeros((2, len(self._edges)), np.bool_)
        return other

    def __len__(self) -> int:
        return len(self._cfgs)

    def __repr__(self) -> str:
        return f"Roadmap({self.model.robot.name!r}: {len(self._cfgs)} nodes, {len(self._edges)} edges)"

    @cached_property
    def _graph(self) -> _core.Graph:
        """The edges in the compiled core."""
        begins, ends = self._cfgs[self._edges[:, 0]], self._cfgs[self._edges[:, 1]]
        return _core.Graph(len(self._cfgs), self._edges, np.linalg.norm(ends - begins, axis=1))

    # Questions ----------------------------------------------------------------------------------

    def check(self, model: CollisionModel, group: Group) -> None:
        """Refuses questions that the table says nothing about.

        Raises:
            InputError: another robot, other obstacles, or other joints that move or are held; it says which.
        """
        if model is not self.model:
            differs = self.mark.differs(mark_of(model))
            if differs:
                raise InputError(
                    f"roadmap: it was made for another scene: {differs}; use roadmap.among(model) where only "
                    "obstacles differ, else make a new Roadmap(model)"
                )
        if group.joints != self.joints:
            raise InputError(
                f"roadmap: it is of the joints {', '.join(self.joints)}, the question is of {', '.join(group.joints)}"
            )
        if self.held is None:
            self.held = group.held
        off = np.abs(self.held - group.held)
        off[group.moving] = 0.0
        if off.max() > HELD:
            name = model.robot.joint_names[int(off.argmax())]
            raise InputError(f"roadmap: joint {name!r} is held at another value than in the questions before")

    @cached_property
    def mark(self) -> Mark:
        """What the table holds for."""
        return mark_of(self.model)

    def path(self, question: Question) -> Found | None:
        """The shortest way through the table; None where start or goal cannot be connected."""
        from ._first_path import Found

        if not len(self._cfgs):
            return None
        starts = self._connected(question, question.start)
        ends = [self._connected(question, goal) for goal in question.goals.cfgs] if len(starts) else []
        rest, goal_of = np.full(len(self), np.inf), np.full(len(self), -1)
        for k, (nodes, goal) in enumerate(zip(ends, question.goals.cfgs, strict=True) if ends else ()):
            ways = np.linalg.norm(self._cfgs[nodes] - goal, axis=1)
            better = ways < rest[nodes]
            rest[nodes[better]], goal_of[nodes[better]] = ways[better], k
        if not np.isfinite(rest).any():
            return None
        first_ways = np.linalg.norm(self._cfgs[starts] - question.start, axis=1)
        nodes = self._way(question, starts, first_ways, rest)
        if not len(nodes):
            self._keep_ends(question, starts, ends)
            return None
        goal = int(goal_of[nodes[-1]])
        rows = np.stack([question.start, *self._cfgs[nodes], question.goals.cfgs[goal]])
        moved = np.concatenate([[True], np.abs(np.diff(rows, axis=0)).max(axis=1) > SAME])
        moved[-1] = True  # the goal itself, not a node that repeats it
        if np.abs(rows[-1] - rows[-2]).max() <= SAME:
            moved[-2] = len(rows) == 2
        return Found(rows[moved], "roadmap", goal)

    def _way(
        self,
        question: Question,
        starts: Int[np.ndarray, "s"],
        first: Float[np.ndarray, "s"],
        rest: Float[np.ndarray, "n"],
    ) -> Int[np.ndarray, "k"]:
        """The shortest way; edges that an obstacle may have come into are proved again when a way takes them."""
        while True:
            nodes, edges = self._graph.shortest(starts, first, rest, self._closed)
            ask = edges[~self._proved[edges]]
            if not len(ask):
                return nodes
            begins, ends = self._cfgs[self._edges[ask, 0]], self._cfgs[self._edges[ask, 1]]
            free = question.sampler.free(begins, ends)
            self._proved[ask[free]], self._closed[ask[~free]] = True, True

    def _connected(self, question: Question, cfg: Float[np.ndarray, "dof"]) -> Int[np.ndarray, "k"]:
        """Nodes near a configuration to which a straight line is free."""
        ways = np.abs(self._cfgs - cfg).max(axis=1)
        near = np.argpartition(ways, NEAR)[:NEAR] if len(ways) > NEAR else np.arange(len(ways))
        near = near[np.argsort(ways[near], kind="stable")]
        if ways[near[0]] <= SAME:
            return near[:1]
        begins = np.broadcast_to(cfg, (len(near), len(cfg)))
        free = question.sampler.free(begins, self._cfgs[near], BY_SPHERES)
        if not free.any():
            near = near[:EXACT]
            free = question.sampler.free(begins[:EXACT], self._cfgs[near])
        return near[free]

    def _keep_ends(self, question: Question, starts: np.ndarray, ends: list[np.ndarray]) -> None:
        """Keeps what connects the ends of a question to parts of the table that nothing joins yet: a path that the
        sampler finds between them will."""
        for cfg, nodes in zip((question.start, *question.goals.cfgs), (starts, *ends), strict=True):
            if len(nodes) and np.abs(self._cfgs[nodes[0]] - cfg).max() > SAME:
                new = len(self._cfgs)
                self._extend(cfg[None], np.stack([np.full(len(nodes), new), nodes], axis=1))

    # What is learnt -----------------------------------------------------------------------------

    def add(self, sampler: Sampler) -> None:
        """Keeps the trees of a search, and the path if one was found."""
        if len(self) + sampler.nodes <= MAX_NODES:
            cfgs, parents, _ = sampler.trees()
            child = np.flatnonzero(parents >= 0)
            edges = np.stack([child, parents[child]], axis=1)
            self._extend(cfgs, edges + len(self))
        if sampler.path is not None:
            self.keep(sampler.path)

    def keep(self, path: Float[np.ndarray, "w dof"]) -> None:
        """Keeps a path whose edges are proved."""
        k = np.arange(len(path) - 1) + len(self)
        self._extend(path, np.stack([k, k + 1], axis=1))

    def _extend(self, cfgs: Float[np.ndarray, "n dof"], edges: Int[np.ndarray, "e 2"]) -> None:
        """Adds nodes, and edges between them or to what is there; nodes that are there already are not added again."""
        known = len(self)
        places = np.arange(known + len(cfgs))
        fresh: list[int] = []
        for k, key in enumerate(np.round(cfgs / SAME).astype(np.int64)):
            place = self._places.setdefault(key.tobytes(), known + len(fresh))
            places[known + k] = place
            if place == known + len(fresh):
                fresh.append(k)
        pairs = np.sort(places[edges], axis=1)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        self._cfgs = frozen(np.concatenate([self._cfgs, cfgs[fresh]]))
        old = len(self._edges)
        self._edges, at = np.unique(np.concatenate([self._edges, pairs]), axis=0, return_inverse=True)
        freeze(self._edges)
        proved, closed = self._proved, self._closed
        self._proved, self._closed = np.zeros((2, len(self._edges)), np.bool_)
        self._proved[at[:old]], self._closed[at[:old]] = proved, closed
        self._proved[at[old:]], self._closed[at[old:]] = True, False
        self.__dict__.pop("_graph", None)

    # Files --------------------------------------------------------------------------------------

    def write(self, path: str | Path) -> None:
        """Writes nodes and edges that are proved among these obstacles (npz), with marks of what they hold for."""
        held = self.model.default_cfg if self.held is None else self.held
        write_arrays_of(Path(path), self.mark, self.joints, held, self._cfgs, self._edges[self._proved])

    @classmethod
    def read(cls, path: str | Path, model: CollisionModel | RobotLike) -> Roadmap:
        """Reads a table made for the same robot and obstacles.

        Raises:
            FormatError: not such a file. InputError: it was made for another scene.
        """
        model = as_model(model)
        mark, joints, held, cfgs, edges = read_arrays_of(Path(path), model)
        differs = mark.differs(mark_of(model))
        if differs:
            raise InputError(f"{path}: the roadmap was made for another scene: {differs}")
        roadmap = cls(model, joints)
        roadmap.held = held if len(cfgs) else None
        roadmap._extend(cfgs, edges)
        return roadmap
