"""Oriented boxes against obstacles: one against one, one against the tree of all, batches.

Boxes are rows of 15, see `_kernels_box_shapes`. Exact but for distance fields, which are conservative. Every walk
stops at the first hit.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ..mesh.kernels import relative_pose
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
def box_scratch():
    """What `box_meets` and `box_meets_any` write to: two poses, bounds, corners of a shadow, parts, two stacks."""
    poses, stacks = np.empty((2, 12)), np.empty((2, STACK), np.int64)
    return poses[0], poses[1], np.empty(6), np.empty((CORNERS, 2)), np.empty((STACK, 6)), stacks[0], stacks[1]


@njit(cache=True, nogil=True, error_model="numpy")
def box_meets(world, k, box, scratch):
    """Does a box share a point with solid obstacle `k`?"""
    rel, inv, _, corners, parts, _, waiting = scratch
    pose, size = world.poses[k], world.sizes[k]
    relative_pose(pose, box, rel)
    slack = 0.0
    for j in range(3):
        slack += abs(pose[9 + j]) + abs(box[9 + j]) + box[HALF + j] + abs(size[j])
    slack *= ROUNDING
    kind = world.kinds[k]
    if kind == BOX:
        return box_meets_box(rel, box, size, slack)
    if kind == SPHERE:
        return point_gap_squared(rel, box, 0.0, 0.0, 0.0) <= (size[0] + slack) ** 2
    if kind == CYLINDER:
        return box_meets_cylinder(rel, box, size[0], size[1], corners, slack)
    if kind == CAPSULE:
        return axis_gap_squared(rel, box, size[1]) <= (size[0] + slack) ** 2
    if kind == HALF_SPACE:
        return box_meets_half_space(rel, box, size, slack)
    root = world.rows[k, 0]
    if kind == MESH:
        return box_meets_mesh(rel, box, world.nodes, world.tris, root, size[0], inv, slack, waiting)
    if kind == CLOUD:
        return box_meets_cloud(rel, box, world.cloud_nodes, world.points, root, size[0] + slack, waiting)
    return box_meets_field(rel, box, world, k, parts)


@njit(cache=True, nogil=True, error_model="numpy")
def _overlap(bounds, rows, i):
    """Do two upright boxes share a point, the second row `i` of many?"""
    x = (bounds[0] <= rows[i, 3]) & (bounds[3] >= rows[i, 0])
    y = (bounds[1] <= rows[i, 4]) & (bounds[4] >= rows[i, 1])
    z = (bounds[2] <= rows[i, 5]) & (bounds[5] >= rows[i, 2])
    return x & y & z  # all six at once: a branch that is guessed wrong costs more


@njit(cache=True, nogil=True, error_model="numpy")
def box_meets_any(world, box, scratch):
    """Does a box share a point with any obstacle?"""
    for i in range(len(world.endless)):
        if box_meets(world, world.endless[i], box, scratch):
            return True
    bounds, stack = scratch[2], scratch[5]
    for j in range(3):
        r = 3 * j
        reach = abs(box[r]) * box[HALF] + abs(box[r + 1]) * box[HALF + 1] + abs(box[r + 2]) * box[HALF + 2]
        reach += 4.0 * ROUNDING * (reach + abs(box[9 + j]))
        bounds[j], bounds[3 + j] = box[9 + j] - reach, box[9 + j] + reach
    top = 1 if len(world.members) > 0 else 0
    stack[0] = 0
    while top > 0:
        top -= 1
        first, count = int(world.tree[stack[top], 6]), int(world.tree[stack[top], 7])
        for i in range(first, first + count):
            if _overlap(bounds, world.boxes, i) and box_meets(world, world.members[i], box, scratch):
                return True
        if count == 0:
            for child in range(first, first + 2):
                if _overlap(bounds, world.tree, child):
                    stack[top] = child
                    top += 1
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def boxes_meet(world, boxes, out, start, stop):
    """`box_meets_any` for rows start to stop of many boxes."""
    scratch = box_scratch()
    for i in range(start, stop):
        out[i] = box_meets_any(world, boxes[i], scratch)


@njit(cache=True, nogil=True, error_model="numpy")
def first_no_rotation(boxes, tolerance):
    """The first row whose axes are not unit, at right angles and right-handed to within the tolerance, or -1."""
    for i in range(len(boxes)):
        R = boxes[i]
        for j in range(3):
            for m in range(j + 1):
                dot = R[j] * R[m] + R[3 + j] * R[3 + m] + R[6 + j] * R[6 + m]
                if not abs(dot - (1.0 if j == m else 0.0)) <= tolerance:
                    return i
        x, y, z = R[3] * R[7] - R[6] * R[4], R[6] * R[1] - R[0] * R[7], R[0] * R[4] - R[3] * R[1]
        if not x * R[2] + y * R[5] + z * R[8] > 0.0:
            return i
    return -1
