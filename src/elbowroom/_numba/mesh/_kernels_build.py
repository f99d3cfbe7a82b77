"""Kernels that build a bounding volume tree over a triangle soup.

It is a binary AABB tree split by the binned surface area heuristic (Wald, "On fast construction of SAH-based bounding
volume hierarchies", 2007). Boxes hold their triangles to rounding: centre and half extents are rounded float64.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit

LEAF_TRIANGLES = 2
"""Triangles a leaf may hold; measured best for this traversal."""
BINS = 16
"""Bins per axis of the surface area heuristic."""
MAX_SAH_DEPTH = 64
"""Below this depth splits are by median, so that the depth of any tree is at most 64 + log2(triangles)."""
SLAB_GAIN = 0.8
"""A node carries a slab when it is thinner than this fraction of the box along the slab's normal."""
NO_SLAB = 1e300
"""Half thickness of a node without a slab; its normal is zero, so the slab never separates."""
NODE_WIDTH = 16
"""Numbers in a node row."""
CONTAINS = 14
"""Columns of a leaf's row, one for each of its triangles: 1 for those of closed pieces, which can contain things."""


@njit(cache=True, error_model="numpy")
def _half_area(box):
    dx, dy, dz = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    return dx * dy + dy * dz + dz * dx


@njit(cache=True, error_model="numpy")
def _grow(box, other):
    """Widen a box (low corner, high corner) to hold another."""
    for k in range(3):
        box[k] = min(box[k], other[k])
        box[k + 3] = max(box[k + 3], other[k + 3])


@njit(cache=True, error_model="numpy")
def _best_split(order, lo, hi, boxes, bin_box, bin_count, right_cost):
    """Axis, centroid bounds and bin of the cheapest binned split of order[lo:hi]; axis -1 when there is none."""
    best_cost = np.inf
    best_axis = -1
    best_bin = 0
    best_low = 0.0
    best_scale = 0.0
    merged = np.empty(6)
    for axis in range(3):
        low = np.inf
        high = -np.inf
        for i in range(lo, hi):
            c = boxes[order[i], axis] + boxes[order[i], axis + 3]
            low = min(low, c)
            high = max(high, c)
        if not high - low > 0.0:
            continue
        scale = BINS * (1.0 - 1e-9) / (high - low)
        if not scale < 1e300:
            continue
        bin_count[:] = 0
        bin_box[:, :3] = np.inf
        bin_box[:, 3:] = -np.inf
        for i in range(lo, hi):
            f = order[i]
            b = int((boxes[f, axis] + boxes[f, axis + 3] - low) * scale)
            bin_count[b] += 1
            _grow(bin_box[b], boxes[f])
        merged[:3] = np.inf
        merged[3:] = -np.inf
        count = 0
        for b in range(BINS - 1, 0, -1):
            _grow(merged, bin_box[b])
            count += bin_count[b]
            right_cost[b] = count * _half_area(merged) if count > 0 else np.inf
        merged[:3] = np.inf
        merged[3:] = -np.inf
        count = 0
        for b in range(BINS - 1):
            _grow(merged, bin_box[b])
            count += bin_count[b]
            if count == 0 or count == hi - lo:
                continue
            cost = count * _half_area(merged) + right_cost[b + 1]
            if cost < best_cost:
                best_cost, best_axis, best_bin, best_low, best_scale = cost, axis, b, low, scale
    return best_axis, best_bin, best_low, best_scale


@njit(cache=True, error_model="numpy")
def _partition(order, lo, hi, boxes, axis, split_bin, low, scale):
    i = lo
    j = hi - 1
    while i <= j:
        f = order[i]
        if int((boxes[f, axis] + boxes[f, axis + 3] - low) * scale) <= split_bin:
            i += 1
        else:
            order[i] = order[j]
            order[j] = f
            j -= 1
    return i


@njit(cache=True, error_model="numpy")
def _fit_slab(node, corners, order, lo, hi):
    """Write the thinnest of two slabs around order[lo:hi] into a node row: mean normal, normal of the largest.

    The half thickness is `NO_SLAB` when no slab is thinner than the box.
    """
    mean = np.zeros(3)
    largest = np.zeros(3)
    most = 0.0
    normal = np.empty(3)
    for i in range(lo, hi):
        c = corners[order[i]]
        normal[0] = (c[4] - c[1]) * (c[8] - c[2]) - (c[5] - c[2]) * (c[7] - c[1])
        normal[1] = (c[5] - c[2]) * (c[6] - c[0]) - (c[3] - c[0]) * (c[8] - c[2])
        normal[2] = (c[3] - c[0]) * (c[7] - c[1]) - (c[4] - c[1]) * (c[6] - c[0])
        size = normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2
        if size > most:
            most = size
            for k in range(3):
                largest[k] = normal[k]
        sign = mean[0] * normal[0] + mean[1] * normal[1] + mean[2] * normal[2]
        for k in range(3):
            mean[k] += normal[k] if sign >= 0.0 else -normal[k]
    node[12] = NO_SLAB
    for trial in range(2):
        x, y, z = mean[0], mean[1], mean[2]
        if trial == 1:
            x, y, z = largest[0], largest[1], largest[2]
        length = np.sqrt(x * x + y * y + z * z)
        if not (length > 0.0 and 1.0 / length < 1e300):
            continue
        x, y, z = x / length, y / length, z / length
        low = np.inf
        high = -np.inf
        for i in range(lo, hi):
            for k in range(0, 9, 3):
                c = corners[order[i]]
                p = x * c[k] + y * c[k + 1] + z * c[k + 2]
                low = min(low, p)
                high = max(high, p)
        half = 0.5 * (high - low)
        box = abs(x) * node[3] + abs(y) * node[4] + abs(z) * node[5]
        if half < SLAB_GAIN * box and half < node[12]:
            node[8], node[9], node[10], node[11], node[12] = x, y, z, 0.5 * (low + high), half


@njit(cache=True, error_model="numpy")
def build_tree(corners):
    """Build the tree over `corners` (m, 9).

    Returns `nodes` (1 + n, 16) and the leaf order of the triangles. Row 0 is left for the header; row 1 is the
    root. A node is centre (3), half extents (3), then for an inner node the row of its left child (the right child
    is the next row) and 0, for a leaf its first triangle in leaf order and its number of
    triangles; then a slab: unit normal (3), offset and half thickness, `NO_SLAB` when the node has none.
    """
    m = corners.shape[0]
    boxes = np.empty((m, 6))
    for i in range(m):
        for k in range(3):
            boxes[i, k] = min(corners[i, k], corners[i, k + 3], corners[i, k + 6])
            boxes[i, k + 3] = max(corners[i, k], corners[i, k + 3], corners[i, k + 6])
    order = np.arange(m)
    nodes = np.zeros((2 * m + 2, NODE_WIDTH))
    bin_box = np.empty((BINS, 6))
    bin_count = np.empty(BINS, np.int64)
    right_cost = np.empty(BINS)
    work = np.empty((2 * MAX_SAH_DEPTH + 128, 4), np.int64)  # node, lo, hi, depth
    work[0, 0], work[0, 1], work[0, 2], work[0, 3] = 1, 0, m, 0
    top = 1
    used = 2
    deepest = 0
    while top > 0:
        top -= 1
        node, lo, hi, depth = work[top, 0], work[top, 1], work[top, 2], work[top, 3]
        deepest = max(deepest, depth)
        for k in range(3):
            low = np.inf
            high = -np.inf
            for i in range(lo, hi):
                low = min(low, boxes[order[i], k])
                high = max(high, boxes[order[i], k + 3])
            nodes[node, k] = 0.5 * (low + high)
            half = max(high - nodes[node, k], nodes[node, k] - low)
            nodes[node, k + 3] = half
        _fit_slab(nodes[node], corners, order, lo, hi)
        if hi - lo <= LEAF_TRIANGLES:
            nodes[node, 6] = lo
            nodes[node, 7] = hi - lo
            continue
        axis = -1
        if depth < MAX_SAH_DEPTH:
            axis, split_bin, low, scale = _best_split(order, lo, hi, boxes, bin_box, bin_count, right_cost)
        mid = (lo + hi) // 2
        if axis >= 0:
            mid = _partition(order, lo, hi, boxes, axis, split_bin, low, scale)
        nodes[node, 6] = used
        work[top, 0], work[top, 1], work[top, 2], work[top, 3] = used, lo, mid, depth + 1
        top += 1
        work[top, 0], work[top, 1], work[top, 2], work[top, 3] = used + 1, mid, hi, depth + 1
        top += 1
        used += 2
    return nodes[:used].copy(), order, deepest
