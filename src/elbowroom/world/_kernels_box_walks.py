"""Does an oriented box meet a mesh, the balls of a cloud, a distance field: walks that stop at the first hit.

Boxes and poses as in `_kernels_box_shapes`; `waiting` is a stack.
"""

# pyright: basic
from __future__ import annotations

from .._jit import njit
from ._kernels_box_shapes import faces_apart, point_gap_squared


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
