"""Numba kernels of edges: many at once by spheres."""

# pyright: basic
from __future__ import annotations

from .._borrow import borrowed
from .._jit import njit
from .._numba.collision.kernels import edge_by_spheres
from .._numba.collision.parts import Lanes
from .._numba.world.packed import PackedGrid, PackedWorld


@njit(cache=True, nogil=True, error_model="numpy")
def edges_by_spheres(begins, ends, lanes, turns, world, grid, allowed, at, who, scratch):
    """Proves edges by spheres: at (n,) and who (n, 4) receive what `edge_by_spheres` says of each."""
    lanes, scratch = borrowed(Lanes(*lanes)), borrowed(scratch)
    world, grid = borrowed(PackedWorld(*world)), borrowed(PackedGrid(*grid))
    for i in range(len(begins)):
        status, t, pair, link, obstacle = edge_by_spheres(
            begins[i], ends[i], lanes, turns, world, grid, allowed, scratch
        )
        at[i] = t
        who[i, 0], who[i, 1], who[i, 2], who[i, 3] = status, pair, link, obstacle
