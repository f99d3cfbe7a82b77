"""BoxTree: a binary tree of axis-aligned boxes over points or boxes; the same for clouds and for obstacles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ..._frozen import Frozen, freeze, frozen

LEAF = 8
"""Members of a leaf at most."""


@dataclass(frozen=True, eq=False)
class BoxTree(Frozen):
    """Node 0 is the root. Members of a node are consecutive in `order`."""

    nodes: Float[np.ndarray, "nodes 8"]
    """Lower corner, upper corner, first, count. A leaf has `count` members from place `first` of `order` on; an inner
    node has count 0 and its two children at rows `first` and `first + 1`."""
    order: Int[np.ndarray, "members"]
    """Members in the order of the leaves."""


def box_tree(low: Float[np.ndarray, "n 3"], high: Float[np.ndarray, "n 3"]) -> BoxTree:
    """A tree over n boxes given by their corners; n >= 0."""
    return _built(low, high)[0]


def point_tree(points: Float[np.ndarray, "n 3"]) -> tuple[BoxTree, Float[np.ndarray, "n 3"]]:
    """A tree over n points, and a copy of the points in its order."""
    return _built(points, points)


def _built(low: np.ndarray, high: np.ndarray) -> tuple[BoxTree, Float[np.ndarray, "n 3"]]:
    from ._kernels_tree import build_box_tree

    nodes, order, centers = build_box_tree(frozen(low[:]), frozen(high[:]), LEAF)
    freeze(nodes, order, centers)
    return BoxTree(nodes, order), centers
