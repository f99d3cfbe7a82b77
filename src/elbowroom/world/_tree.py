"""BoxTree: a binary tree of axis-aligned boxes over points or boxes; the same for clouds and for obstacles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from .._frozen import Frozen, freeze

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
    from ._kernels_tree import build_box_tree

    nodes, order = build_box_tree(low, high, LEAF)
    freeze(nodes, order)
    return BoxTree(nodes, order)
