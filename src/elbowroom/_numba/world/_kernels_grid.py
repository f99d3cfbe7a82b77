"""Kernels of the clearance grid: filling it and reading it."""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._borrow import borrowed
from ..._jit import njit
from ._grid import BLOCK, SLACK, TIGHT
from ._kernels_points import safe_world_distance
from ._kernels_tree import STACK, box_gap_squared

FEW = 16
"""Obstacles near a block of cells that are asked one by one; where there are more, the tree is."""
FAR, NEAR, HIT = range(3)
"""What a look at the grid says."""


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _nearest_bounded(world, x, y, z, limit, waiting):
    """Lower bound of the distance to obstacles that have an end, exact but for fields, below `limit`.

    Inside an obstacle any value that is not positive will do.
    """
    tree, boxes = world.tree, world.boxes
    best = limit
    waiting[0] = 0
    top = min(1, len(world.members))
    while top > 0 and best > 0.0:
        top -= 1
        row = waiting[top]
        if box_gap_squared(tree, row, x, y, z) >= best * best:
            continue
        first, count = int(tree[row, 6]), int(tree[row, 7])
        if count == 0:
            near, far = first, first + 1
            if box_gap_squared(tree, near, x, y, z) > box_gap_squared(tree, far, x, y, z):
                near, far = far, near
            waiting[top], waiting[top + 1] = far, near
            top += 2
            continue
        for i in range(first, first + count):
            if box_gap_squared(boxes, i, x, y, z) < best * best:
                best = min(best, safe_world_distance(world, world.members[i], x, y, z, best))
    return best


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _candidates(world, x, y, z, reach, waiting, some):
    """Obstacles whose boxes are within `reach` of a point, into `some`; their number, or -1 when there is no room."""
    tree, boxes = world.tree, world.boxes
    n = 0
    waiting[0] = 0
    top = min(1, len(world.members))
    while top > 0:
        top -= 1
        row = waiting[top]
        if box_gap_squared(tree, row, x, y, z) > reach * reach:
            continue
        first, count = int(tree[row, 6]), int(tree[row, 7])
        if count == 0:
            waiting[top], waiting[top + 1] = first, first + 1
            top += 2
            continue
        for i in range(first, first + count):
            if box_gap_squared(boxes, i, x, y, z) <= reach * reach:
                if n == len(some):
                    return -1
                some[n] = world.members[i]
                n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def fill_grid(world, frame, shape, first, last, bounds):
    """Fills the blocks of columns first ... last - 1 along x.

    A block far from all obstacles, or deep inside one, gets the bounds that its centre's distance leaves to its cells.
    """
    world = borrowed(world)
    waiting, some = np.empty(STACK, np.int64), np.empty(FEW, np.int64)
    cell = 1.0 / frame[3]
    half = 0.5 * np.sqrt(3.0) * cell
    reach = BLOCK * half
    nx, ny, nz = shape[0], shape[1], shape[2]
    for bx in range(first, last):
        for by in range((ny + BLOCK - 1) // BLOCK):
            middle = TIGHT + reach
            for bz in range((nz + BLOCK - 1) // BLOCK):
                cx = frame[0] + (bx + 0.5) * BLOCK * cell
                cy = frame[1] + (by + 0.5) * BLOCK * cell
                cz = frame[2] + (bz + 0.5) * BLOCK * cell
                limit = min(
                    TIGHT + reach, middle + BLOCK * cell + SLACK
                )  # the next is at most a step farther
                middle = _nearest_bounded(world, cx, cy, cz, limit, waiting)
                exact = -reach < middle < 3.0 * reach
                # What is nearest to a cell of the block is not much farther from its centre than the nearest there.
                n = (
                    _candidates(world, cx, cy, cz, max(middle, 0.0) + 2.0 * reach, waiting, some)
                    if exact
                    else -1
                )
                x1, y1, z1 = min(nx, (bx + 1) * BLOCK), min(ny, (by + 1) * BLOCK), min(nz, (bz + 1) * BLOCK)
                for i in range(bx * BLOCK, x1):
                    for j in range(by * BLOCK, y1):
                        for k in range(bz * BLOCK, z1):
                            x = frame[0] + (i + 0.5) * cell
                            y = frame[1] + (j + 0.5) * cell
                            z = frame[2] + (k + 0.5) * cell
                            off = np.sqrt((x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2)
                            found = middle - off
                            if n >= 0:
                                found = middle + off + SLACK
                                for c in range(n):
                                    if found > 0.0:
                                        found = min(
                                            found, safe_world_distance(world, some[c], x, y, z, found)
                                        )
                            elif exact:
                                found = _nearest_bounded(world, x, y, z, middle + off + SLACK, waiting)
                            low = np.float32(found - half - SLACK)
                            bounds[(i * ny + j) * nz + k] = low - np.float32(1e-7) * abs(low)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def grid_look(frame, shape, bounds, planes, x, y, z, reach):
    """(code, low): FAR, NEAR or HIT, and a lower bound of the distance of a point to grid and half-spaces.

    FAR when nothing in the grid and no half-space is within `reach`, HIT when something surely is. The centre of the
    cell tells more than the cell: the distance changes by at most the way between it and the point.
    """
    u, v, w = (x - frame[0]) * frame[3], (y - frame[1]) * frame[3], (z - frame[2]) * frame[3]
    i, j, k = int(np.floor(u)), int(np.floor(v)), int(np.floor(w))
    code = FAR
    if 0 <= i < shape[0] and 0 <= j < shape[1] and 0 <= k < shape[2]:
        low = np.float64(bounds[(i * shape[1] + j) * shape[2] + k])
        if low <= reach:
            u, v, w = u - i - 0.5, v - j - 0.5, w - k - 0.5
            off = np.sqrt(u * u + v * v + w * w) / frame[3]
            middle = low + frame[10]
            code = HIT if middle + off + frame[11] < reach and low < 6.0 * frame[10] else NEAR
            low = middle - off
    else:
        dx = max(0.0, frame[4] - x, x - frame[7])
        dy = max(0.0, frame[5] - y, y - frame[8])
        dz = max(0.0, frame[6] - z, z - frame[9])
        low = np.sqrt(dx * dx + dy * dy + dz * dz) - SLACK
        code = NEAR
    if low > reach:
        code = FAR
    for m in range(len(planes)):
        up = planes[m, 0] * x + planes[m, 1] * y + planes[m, 2] * z - planes[m, 3]
        if up <= reach:
            code = HIT
        low = min(low, up)
    return code, low


@njit(cache=True, nogil=True, error_model="numpy")
def loose_bound(world, loose, x, y, z, low):
    """The smaller of `low` and the distance to the obstacles that are not in the grid."""
    world = borrowed(world)
    for i in range(len(loose)):
        low = min(low, safe_world_distance(world, loose[i], x, y, z, low))
    return low


@njit(cache=True, nogil=True, error_model="numpy")
def scene_bound(world, grid, x, y, z):
    """Lower bound of the distance of a point to all obstacles."""
    _, low = grid_look(grid.frame, grid.shape, grid.bounds, grid.planes, x, y, z, np.inf)
    return loose_bound(world, grid.loose, x, y, z, low)
