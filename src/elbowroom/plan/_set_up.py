"""What a first search would make on its way is made before it, so that a time limit is about the search alone.

Edges and proofs of a model are packed once; kernels are loaded, or compiled, by asking each of them something small.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from ..collision import CollisionModel
from ._curve import straight_pieces
from ._edges import Edges
from ._group import Group
from ._limits import limits_of
from ._options import PlanOptions
from ._sampler import Sampler
from ._shorten import shorten
from ._smooth import smoothed
from ._timing import time_curve

CORNER = 1e-3
"""Length of the edges that kernels are tried with, rad (m)."""
_asked: set[bool] = set()
"""Whether kernels were asked in this process, without obstacles (False) and among them (True)."""


def set_up(model: CollisionModel, group: Group, at: Float[np.ndarray, "dof"], options: PlanOptions) -> Edges:
    """The edges of a model, with all that a search needs of it.

    Args:
        model: robot and obstacles.
        group: the joints that may move.
        at: a free configuration.
        options: limits of the motion.
    """
    edges = Edges.of(model)
    if edges.ready:
        return edges
    model.curves_free(straight_pieces(np.stack([at, at])))
    among = model.world is not None
    if among not in _asked:
        edges.first_level(at[None], at[None])
        edges.exact(at, at)
        Sampler(edges, group, at, at[None]).grow(1)
        # What comes after a path is found: of a small corner, whether it is free or not.
        path = group.whole(group.parts(at) + CORNER * np.tri(3, len(group.moving), -1))
        shorten(edges, group, path, 1, 0)
        curve, _ = smoothed(model, group, path, edges=edges)
        time_curve(curve, *limits_of(model.robot, options)).resampled(options.rate)
        _asked.add(among)
    edges.ready = True
    return edges
