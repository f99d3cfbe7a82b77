"""Numba kernel of shortcuts: corners of a path are cut where the straight line is proved free by spheres."""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from .._numba.collision.kernels import FREE, edge_by_spheres
from .._numba.collision.parts import Lanes
from .._numba.world.packed import PackedGrid, PackedWorld
from ._kernels_tree import uniform

WORTH = 0.005
"""Share of the length of the path that a cut between random places must save: each may leave two corners more."""


@njit(cache=True, nogil=True, error_model="numpy")
def cut_corners(path, count, attempts, rng, cuts, marks, lanes, turns, world, grid, allowed, scratch):
    """Tries shortcuts; returns how many waypoints the path then has.

    First waypoints are skipped, as many at a time as possible; then lines between random places on the path are tried.

    Args:
        path: (room, dof), room for count + attempts waypoints.
        count: waypoints of the path.
        attempts: edges that may be asked about.
        rng: (1,) uint64.
        cuts: (2, dof) scratch.
        marks: (room,) scratch.
    """
    lanes, scratch = borrowed(Lanes(*lanes)), borrowed(scratch)
    world, grid = borrowed(PackedWorld(*world)), borrowed(PackedGrid(*grid))
    dof = path.shape[1]
    i, j = 0, count - 1
    tried = 0
    while tried < attempts:
        first, last = i, j
        skipping = i < count - 2
        if skipping:
            if j < i + 2:
                i, j = i + 1, count - 1
                continue
            cuts[0], cuts[1] = path[i], path[j]
        else:
            marks[0] = 0.0
            for k in range(1, count):
                total = 0.0
                for d in range(dof):
                    total += (path[k, d] - path[k - 1, d]) ** 2
                marks[k] = marks[k - 1] + np.sqrt(total)
            if count < 3:
                return count
            s, t = uniform(rng) * marks[count - 1], uniform(rng) * marks[count - 1]
            s, t = min(s, t), max(s, t)
            first = 0
            while first < count - 2 and marks[first + 1] <= s:
                first += 1
            last = first + 1
            while last < count - 1 and marks[last] < t:
                last += 1
            tried += 1
            if last < first + 2:  # on one segment
                continue
            a = (s - marks[first]) / max(marks[first + 1] - marks[first], 1e-300)
            b = (t - marks[last - 1]) / max(marks[last] - marks[last - 1], 1e-300)
            for d in range(dof):
                cuts[0, d] = path[first, d] + a * (path[first + 1, d] - path[first, d])
                cuts[1, d] = path[last - 1, d] + b * (path[last, d] - path[last - 1, d])
            total = 0.0
            for d in range(dof):
                total += (cuts[1, d] - cuts[0, d]) ** 2
            if t - s - np.sqrt(total) < WORTH * marks[count - 1]:
                continue
        tried += skipping
        status, _, _, _, _ = edge_by_spheres(cuts[0], cuts[1], lanes, turns, world, grid, allowed, scratch)
        if skipping:
            j -= 1
        if status != FREE:
            continue
        if skipping:  # waypoints first + 1 ... last - 1 go
            for k in range(last, count):
                path[first + 1 + k - last] = path[k]
            count -= last - first - 1
            i, j = first + 1, count - 1
        else:  # waypoints first + 1 ... last - 1 give way to two
            shift = 3 - (last - first)
            if shift > 0:
                for k in range(count - 1, last - 1, -1):
                    path[k + shift] = path[k]
            elif shift < 0:
                for k in range(last, count):
                    path[k + shift] = path[k]
            path[first + 1], path[first + 2] = cuts[0], cuts[1]
            count += shift
    return count
