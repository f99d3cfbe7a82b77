"""Oriented boxes against obstacles: one against one, one against the tree of all, batches.

Boxes are rows of 15, see `_kernels_box_shapes`. Exact but for distance fields, which are conservative. Every walk
stops at the first hit.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ._kernels_box_shapes import (
    CORNERS,
    HALF,
    axis_gap_squared,
    box_meets_box,
    box_meets_cylinder,
    box_meets_half_space,
    point_gap_squared,
)
from ._kernels_box_walks import box_meets_cloud, box_meets_field, box_meets_mesh
from ._kernels_tree import STACK
from ._pack import BOX, CAPSULE, CLOUD, CYLINDER, HALF_SPACE, MESH, SPHERE

ROUNDING = 1e-15
"""Gaps below this fraction of the coordinates that they are computed from are touching."""
BOX_WIDTH = 15
"""Numbers of a box."""


@njit(cache=True, nogil=True, error_model="numpy")
def _place(poses, sizes, k, box, rel):
    """Pose of a box in the frame of obstacle `k`, and the rounding of its coordinates there."""
    dx, dy, dz = box[9] - poses[k, 9], box[10] - poses[k, 10], box[11] - poses[k, 11]
    scale = 0.0
    for i in range(3):
        u, v, w = poses[k, i], poses[k, 3 + i], poses[k, 6 + i]
        for j in range(3):
            rel[3 * i + j] = u * box[j] + v * box[3 + j] + w * box[6 + j]
        rel[9 + i] = u * dx + v * dy + w * dz
        scale += abs(poses[k, 9 + i]) + abs(box[9 + i]) + box[HALF + i] + abs(sizes[k, i])
    return ROUNDING * scale


@njit(cache=True, nogil=True, error_model="numpy")
def _meets_primitive(kind, sizes, k, rel, box, corners, slack):
    """BOX, SPHERE, CYLINDER, CAPSULE or HALF_SPACE."""
    if kind == BOX:
        return box_meets_box(rel, box, sizes, k, slack)
    if kind == SPHERE:
        return point_gap_squared(rel, box, 0.0, 0.0, 0.0) <= (sizes[k, 0] + slack) ** 2
    if kind == CYLINDER:
        return box_meets_cylinder(rel, box, sizes[k, 0], sizes[k, 1], corners, slack)
    if kind == CAPSULE:
        return axis_gap_squared(rel, box, sizes[k, 1]) <= (sizes[k, 0] + slack) ** 2
    return box_meets_half_space(rel, box, sizes, k, slack)


@njit(cache=True, nogil=True, error_model="numpy")
def _bound(box, bounds):
    """Corners of the upright box around a box."""
    for i in range(3):
        u, v, w = box[3 * i], box[3 * i + 1], box[3 * i + 2]
        reach = abs(u) * box[HALF] + abs(v) * box[HALF + 1] + abs(w) * box[HALF + 2]
        reach += 4.0 * ROUNDING * (reach + abs(box[9 + i]))
        bounds[i], bounds[3 + i] = box[9 + i] - reach, box[9 + i] + reach


@njit(cache=True, nogil=True, error_model="numpy")
def _overlap(bounds, rows, i):
    """Do two upright boxes share a point, the second row `i` of many?"""
    x = (bounds[0] <= rows[i, 3]) & (bounds[3] >= rows[i, 0])
    y = (bounds[1] <= rows[i, 4]) & (bounds[4] >= rows[i, 1])
    z = (bounds[2] <= rows[i, 5]) & (bounds[5] >= rows[i, 2])
    return x & y & z  # all six at once: a branch that is guessed wrong costs more


def box_scratch():
    """What `box_meets_any` works with, one for each thread; made outside of kernels, so that they can borrow it."""
    floats = np.empty(12), np.empty(12), np.empty(6), np.empty((CORNERS, 2)), np.empty((STACK, 6))
    return *floats, np.empty(STACK, np.int64), np.empty(STACK, np.int64)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def box_meets_any(world, box, allowed, scratch):
    """Whether a box shares a point with an obstacle `k` for which allowed[k] is 0; all four are borrowed.

    Expanded where it is called: handing over the dozen arrays of a world costs as much as a box test.
    """
    kinds, poses, sizes, rows, endless = world.kinds, world.poses, world.sizes, world.rows, world.endless
    tree, members, around = world.tree, world.members, world.boxes
    rel, inv, bounds, corners, parts, stack, waiting = scratch
    meets = False
    for i in range(len(endless)):
        k = endless[i]
        if not allowed[k]:
            slack = _place(poses, sizes, k, box, rel)
            meets |= box_meets_half_space(rel, box, sizes, k, slack)
    _bound(box, bounds)
    stack[0] = 0
    top = 1 if len(members) > 0 and not meets else 0
    while top > 0:
        top -= 1
        first, count = int(tree[stack[top], 6]), int(tree[stack[top], 7])
        for i in range(first, first + count):
            if not _overlap(bounds, around, i):
                continue
            k = members[i]
            if allowed[k]:
                continue
            kind, root = kinds[k], rows[k, 0]
            slack = _place(poses, sizes, k, box, rel)
            if kind <= HALF_SPACE:
                meets = _meets_primitive(kind, sizes, k, rel, box, corners, slack)
            elif kind == MESH:
                meets = box_meets_mesh(
                    rel, box, world.nodes, world.tris, root, sizes[k, 0], inv, slack, waiting
                )
            elif kind == CLOUD:
                meets = box_meets_cloud(
                    rel, box, world.cloud_nodes, world.points, root, sizes[k, 0] + slack, waiting
                )
            else:
                meets = box_meets_field(rel, box, world.values, rows, sizes, k, parts)
            if meets:
                top = 0
                break
        if count == 0:
            for child in range(first, first + 2):
                if _overlap(bounds, tree, child):
                    stack[top] = child
                    top += 1
    return meets
