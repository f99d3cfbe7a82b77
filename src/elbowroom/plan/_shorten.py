"""Shortcuts: a path made shorter, every edge of it proved as before."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from ._edges import Edges
from ._group import Group
from ._sampler import seeded

AT_A_TIME = 8
"""Attempts between two looks at the pairs that only meshes decide."""


def shorten(
    edges: Edges, group: Group, path: Float[np.ndarray, "w dof"], attempts: int, seed: int = 0
) -> Float[np.ndarray, "v dof"]:
    """Cuts corners of a path where the straight line is proved free by spheres; never longer than it was.

    Args:
        edges: of the model.
        group: the joints that may move; the others are the same all along the path.
        path: waypoints, every edge proved; at least two.
        attempts: straight lines that are tried.
        seed: of the random choices.
    """
    from ._kernels_shorten import cut_corners

    best = np.array(path, dtype=np.float64)
    rng, length = seeded(seed), _length(best)
    step = AT_A_TIME if edges.needs_meshes else max(1, attempts)
    for done in range(0, attempts, step):
        tries = min(step, attempts - done)
        room = np.empty((len(best) + tries + 2, best.shape[1]))
        room[: len(best)] = best
        count = cut_corners(
            room, len(best), tries, rng, np.empty((2, best.shape[1])), np.empty(len(room)), *edges.args,
            edges.scratch(),
        )  # fmt: skip
        fresh = room[:count].copy()
        repeats = np.concatenate([[False], ~(np.diff(fresh, axis=0) != 0.0).any(axis=1)])
        fresh = fresh[~repeats] if (~repeats).sum() > 1 else fresh[[0, -1]]
        if _length(fresh) <= length and edges.by_meshes(fresh[:-1], fresh[1:]).all():
            best, length = fresh, _length(fresh)
    return best


def _length(path: Float[np.ndarray, "w dof"]) -> float:
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
