"""Kernels that turn a triangle soup into topology facts and a bounding volume tree.

Vertices are merged by exact coordinates with an open-addressing hash table; a mesh bounds a solid when every
directed edge is balanced by its reverse (the boundary of the chain of triangles is zero). The tree is a binary
AABB tree split by the binned surface area heuristic (Wald, "On fast construction of SAH-based bounding volume
hierarchies", 2007). Boxes hold their triangles to rounding: centre and half extents are rounded float64.
"""

# pyright: basic
from __future__ import annotations

import numpy as np
from numba import njit

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
MIX_A, MIX_B, MIX_C = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
"""Odd 64-bit constants that spread the coordinates over the hash table."""


@njit(cache=True, error_model="numpy")
def _table_size(entries):
    """Slots of a hash table that is at most half full: a power of two."""
    size = 16
    while size < 2 * entries:
        size *= 2
    return size


@njit(cache=True, error_model="numpy")
def merge_vertices(bits):
    """Number the distinct rows of `bits` (n, 3) uint64, the bit patterns of coordinates without negative zeros."""
    n = bits.shape[0]
    size = _table_size(n)
    mask = np.uint64(size - 1)
    table = np.full(size, -1, np.int64)
    label = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        h = bits[i, 0] * np.uint64(MIX_A) + bits[i, 1] * np.uint64(MIX_B) + bits[i, 2] * np.uint64(MIX_C)
        h ^= h >> np.uint64(29)
        h *= np.uint64(MIX_B)
        slot = (h ^ (h >> np.uint64(32))) & mask
        while True:
            j = table[slot]
            if j < 0:
                table[slot] = i
                label[i] = count
                count += 1
                break
            if bits[j, 0] == bits[i, 0] and bits[j, 1] == bits[i, 1] and bits[j, 2] == bits[i, 2]:
                label[i] = label[j]
                break
            slot = (slot + np.uint64(1)) & mask
    return label, count


@njit(cache=True, error_model="numpy")
def edge_balance(faces):
    """Edges with an odd number of triangles, and edges whose two directions do not cancel, for merged faces."""
    m = faces.shape[0]
    size = _table_size(3 * m)
    mask = np.uint64(size - 1)
    keys = np.full(size, -1, np.int64)
    total = np.zeros(size, np.int32)
    signed = np.zeros(size, np.int32)
    for i in range(m):
        for k in range(3):
            u = faces[i, k]
            v = faces[i, (k + 1) % 3]
            if u == v:
                continue
            key = (min(u, v) << 32) | max(u, v)
            h = np.uint64(key) * np.uint64(MIX_A)
            slot = (h ^ (h >> np.uint64(31))) & mask
            while keys[slot] >= 0 and keys[slot] != key:
                slot = (slot + np.uint64(1)) & mask
            keys[slot] = key
            total[slot] += 1
            signed[slot] += 1 if u < v else -1
    odd = 0
    unbalanced = 0
    for s in range(size):
        odd += total[s] & 1
        if signed[s] != 0:
            unbalanced += 1
    return odd, unbalanced


@njit(cache=True, error_model="numpy")
def _root_of(parent, v):
    """Root of `v` in a forest of parents, with path halving."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@njit(cache=True, error_model="numpy")
def component_vertices(faces, n_vertices):
    """One vertex of every connected component of the merged faces."""
    parent = np.arange(n_vertices)
    used = np.zeros(n_vertices, np.bool_)
    for i in range(faces.shape[0]):
        root = _root_of(parent, faces[i, 0])
        for k in range(3):
            used[faces[i, k]] = True
            parent[_root_of(parent, faces[i, k])] = root
    out = np.empty(n_vertices, np.int64)
    count = 0
    for v in range(n_vertices):
        if used[v] and parent[v] == v:
            out[count] = v
            count += 1
    return out[:count]


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
