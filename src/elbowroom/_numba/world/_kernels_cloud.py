"""Kernels of point clouds: the nearest point, by a walk of the cloud's tree, nearer child first."""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ._kernels_tree import STACK, box_gap_squared


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_of_cloud(nodes, points, root, x, y, z, limit, waiting):
    """Squared distance to the nearest point of a cloud, and its row; (limit, -1) when it is not below.

    Args:
        nodes, points: `PackedWorld.cloud_nodes` and `points`.
        root: row of the cloud's root.
        x, y, z: where, in the frame of the cloud.
        limit: squared distance from which on the answer does not matter.
        waiting: (STACK,) int64, scratch.
    """
    best, nearest = limit, -1
    waiting[0] = root
    top = 1
    while top > 0:
        top -= 1
        row = waiting[top]
        if box_gap_squared(nodes, row, x, y, z) >= best:
            continue
        while nodes[row, 7] == 0.0:
            near = int(nodes[row, 6])
            far = near + 1
            gap, other = box_gap_squared(nodes, near, x, y, z), box_gap_squared(nodes, far, x, y, z)
            if other < gap:
                near, far = far, near
                gap, other = other, gap
            if other < best:
                waiting[top] = far
                top += 1
            row = near
            if gap >= best:
                break
        if nodes[row, 7] > 0.0:
            first = int(nodes[row, 6])
            for i in range(first, first + int(nodes[row, 7])):
                d = (points[i, 0] - x) ** 2 + (points[i, 1] - y) ** 2 + (points[i, 2] - z) ** 2
                if d < best:
                    best, nearest = d, i
    return best, nearest


@njit(cache=True, nogil=True, error_model="numpy")
def cloud_distance(nodes, points, root, radius, x, y, z, limit):
    """Distance of a point to the nearest ball of a cloud; anything from `limit` up when it is not below."""
    reach = limit + radius
    if reach <= 0.0:
        return limit
    squared, i = nearest_of_cloud(nodes, points, root, x, y, z, reach * reach, np.empty(STACK, np.int64))
    return np.sqrt(squared) - radius if i >= 0 else limit
