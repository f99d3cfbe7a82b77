"""Trees that grow by the meshes' verdict: slower, and the way on where spheres leave none.

Near a contact of several links at once no configuration around is free by spheres, so trees that spheres judge never
leave their roots, or end at a gap that only the links themselves fit through. Here meshes decide, at configurations
along every edge; the edges of a path are proved afterwards, like all others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ._edges import Edges
from ._group import Group

STEP = 0.1
"""Longest edge, as a share of the diagonal of where configurations are sampled: a rad or two. Meshes leave far more
free than spheres do. Short edges besides, in turn or near roots, took up to six times as many looks in tight cages."""
CONNECT = 32
"""Steps of one tree towards a new node of the other, at most."""
ASKED = 4
"""What an edge costs besides the looks at it, in looks."""
OFTEN = 16
"""Iterations between two questions whether to end: a millisecond or two."""

Add = Callable[[int, Float[np.ndarray, "m"], int], int]
"""Adds a node to a tree, with its parent; returns its number."""


def grow_by_meshes(
    edges: Edges,
    group: Group,
    nodes: Float[np.ndarray, "2 m room"],
    sizes: Int[np.ndarray, "2"],
    add: Add,
    span: tuple[Float[np.ndarray, "m"], Float[np.ndarray, "m"]],
    rng: np.random.Generator,
    looks: int,
    ended: Callable[[], Any],
) -> tuple[tuple[int, int] | None, int]:
    """RRT-Connect, the smaller tree first: the nodes of both trees at the place where they met, or None.

    Args:
        edges: of the model.
        group: the joints that may move.
        nodes: of both trees; infinite where there is none.
        sizes: nodes of both trees; `add` counts them up.
        add: see `Add`.
        span: where to sample.
        rng: of the samples.
        looks: at configurations, after which no new iteration begins.
        ended: nor when this is true.

    Returns:
        The nodes and the looks that are left.
    """
    longest = STEP * float(np.linalg.norm(span[1] - span[0]))

    def nearest(tree: int, at: Float[np.ndarray, "m"]) -> int:
        return int(np.argmin(((nodes[tree, :, : sizes[tree]] - at[:, None]) ** 2).sum(axis=0)))

    def towards(tree: int, node: int, goal: Float[np.ndarray, "m"]) -> int:
        """One step from a node; the new node, or -1 where it is not free."""
        nonlocal looks
        at = nodes[tree, :, node]
        share = min(1.0, longest / max(float(np.linalg.norm(goal - at)), 1e-12))
        fresh = goal.copy() if share == 1.0 else at + share * (goal - at)
        free, taken = edges.glance_by_meshes(group.whole(at), group.whole(fresh))
        looks -= taken + ASKED
        return add(tree, fresh, node) if free else -1

    for turn in itertools.count():
        if looks <= 0 or (turn % OFTEN == 0 and ended()):
            break
        tree = int(np.argmin(sizes))
        goal = rng.uniform(*span)
        new = towards(tree, nearest(tree, goal), goal)
        if new < 0:
            continue
        goal, other = nodes[tree, :, new].copy(), 1 - tree
        at = nearest(other, goal)
        for _ in range(CONNECT):
            at = towards(other, at, goal)
            if at < 0:
                break
            if (nodes[other, :, at] == goal).all():
                return ((new, at) if tree == 0 else (at, new)), looks
    return None, looks
