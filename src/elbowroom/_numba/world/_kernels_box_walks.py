"""Does an oriented box meet a mesh, the balls of a cloud, a distance field: walks that stop at the first hit.

Boxes and poses as in `_kernels_box_shapes`; `waiting` is a stack.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..mesh import inverse_pose, point_inside
from ._kernels_box_shapes import HALF, faces_apart, point_gap_squared
from ._kernels_field import field_distance
from ._kernels_triangles import triangle_box_overlap

FINEST = 0.02
"""Reach of the smallest parts of a box against a distance field, by the spacing of the field."""


@njit(cache=True, nogil=True, error_model="numpy")
def node_apart(nodes, row, rel, box, slack):
    """Does a face part the box of a node of a `BoxTree`, grown by `slack`, from the box?"""
    lx, ly, lz = 0.5 * nodes[row, 0], 0.5 * nodes[row, 1], 0.5 * nodes[row, 2]
    ux, uy, uz = 0.5 * nodes[row, 3], 0.5 * nodes[row, 4], 0.5 * nodes[row, 5]
    return faces_apart(rel, box, lx + ux, ly + uy, lz + uz, ux - lx, uy - ly, uz - lz, slack)


@njit(cache=True, nogil=True, error_model="numpy")
def box_meets_cloud(rel, box, nodes, points, root, radius, waiting):
    """Does the box come within `radius` of a point of the cloud whose tree begins at row `root`?"""
    waiting[0] = root
    top = 0 if node_apart(nodes, root, rel, box, radius) else 1
    while top > 0:
        top -= 1
        row = waiting[top]
        first, count = int(nodes[row, 6]), int(nodes[row, 7])
        for i in range(first, first + count):
            if point_gap_squared(rel, box, points[i, 0], points[i, 1], points[i, 2]) <= radius * radius:
                return True
        if count == 0:
            for child in range(first, first + 2):
                if not node_apart(nodes, child, rel, box, radius):
                    waiting[top] = child
                    top += 1
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _mesh_node_apart(nodes, row, rel, box, slack):
    """`node_apart` for a node of a mesh, which holds the middle of its box and its half edges."""
    x, y, z = nodes[row, 0], nodes[row, 1], nodes[row, 2]
    return faces_apart(rel, box, x, y, z, nodes[row, 3], nodes[row, 4], nodes[row, 5], slack)


@njit(cache=True, nogil=True, error_model="numpy")
def box_meets_mesh(rel, box, nodes, tris, root, closed, inv, slack, waiting):
    """Does the box touch a triangle of the mesh whose root is at row `root`, or lie inside its closed pieces?

    `closed` is above zero when it has some; `inv` (12,) is scratch.
    """
    inverse_pose(rel, inv)
    waiting[0] = root
    top = 0 if _mesh_node_apart(nodes, root, rel, box, slack) else 1
    while top > 0:
        top -= 1
        row = waiting[top]
        first, count = int(nodes[row, 6]), int(nodes[row, 7])
        for i in range(first, first + count):
            if _triangle_meets(tris, i, inv, box):
                return True
        if count == 0:
            for child in range(first, first + 2):
                if not _mesh_node_apart(nodes, child, rel, box, slack):
                    waiting[top] = child
                    top += 1
    return closed > 0.0 and point_inside(nodes, tris, root, rel[9], rel[10], rel[11], waiting)


@njit(cache=True, nogil=True, error_model="numpy")
def _triangle_meets(tris, i, inv, box):
    """Does triangle `i`, moved by `inv` into the frame of the box, share a point with it?"""
    a, b, c = _moved(inv, tris, i, 0), _moved(inv, tris, i, 3), _moved(inv, tris, i, 6)
    return triangle_box_overlap(
        a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], box[HALF], box[HALF + 1], box[HALF + 2]
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _moved(pose, tris, i, corner):
    """A corner of triangle `i`, which begins at column `corner`, moved by a pose."""
    x, y, z = tris[i, corner], tris[i, corner + 1], tris[i, corner + 2]
    return (
        pose[0] * x + pose[1] * y + pose[2] * z + pose[9],
        pose[3] * x + pose[4] * y + pose[5] * z + pose[10],
        pose[6] * x + pose[7] * y + pose[8] * z + pose[11],
    )


@njit(cache=True, nogil=True, error_model="numpy")
def box_meets_field(rel, box, values, rows, sizes, k, parts):
    """May the box reach the solid of distance field `k`?

    The box is halved until the field at the middle of a part proves the part free, or is solid there, or the part is
    smaller than `FINEST` of the grid's spacing, which counts as meeting. `parts` (n, 6) holds parts that wait: their
    middle and half edges in the frame of the box.
    """
    finest, slope = FINEST * min(sizes[k, 0], sizes[k, 1], sizes[k, 2]), sizes[k, 6]
    parts[0, :3] = 0.0
    parts[0, 3:] = box[HALF : HALF + 3]
    top = 1
    while top > 0:
        part = parts[top - 1]
        x, y, z = part[0], part[1], part[2]
        px = rel[0] * x + rel[1] * y + rel[2] * z + rel[9]
        py = rel[3] * x + rel[4] * y + rel[5] * z + rel[10]
        pz = rel[6] * x + rel[7] * y + rel[8] * z + rel[11]
        gap = field_distance(values, rows, sizes, k, px, py, pz) / slope
        reach = np.sqrt(part[3] ** 2 + part[4] ** 2 + part[5] ** 2)
        if gap > reach:
            top -= 1
            continue
        if gap <= 0.0 or reach <= finest or top == len(parts):
            return True
        j = 0 if part[3] >= max(part[4], part[5]) else (1 if part[4] >= part[5] else 2)
        part[3 + j] *= 0.5
        parts[top] = part
        part[j] -= part[3 + j]
        parts[top, j] += part[3 + j]
        top += 1
    return False
