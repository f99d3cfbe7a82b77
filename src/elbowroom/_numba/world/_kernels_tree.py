"""Kernels of box trees: building one, and how dense a cloud is."""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit

STACK = 128
"""Nodes waiting at most: splits at the median keep trees of 2^32 members below it."""


@njit(cache=True, nogil=True, error_model="numpy")
def _fit(low, high, order, first, count, nodes, row):
    """Box around the members of a leaf."""
    for k in range(3):
        lo, hi = np.inf, -np.inf
        for i in range(first, first + count):
            lo = min(lo, low[order[i], k])
            hi = max(hi, high[order[i], k])
        nodes[row, k], nodes[row, 3 + k] = lo, hi


@njit(cache=True, nogil=True, error_model="numpy")
def _widest(centers, first, count):
    """Axis along which members are spread most."""
    axis, widest = 0, -1.0
    for k in range(3):
        lo, hi = np.inf, -np.inf
        for i in range(first, first + count):
            lo, hi = min(lo, centers[i, k]), max(hi, centers[i, k])
        if hi - lo > widest:
            axis, widest = k, hi - lo
    return axis


@njit(cache=True, nogil=True, error_model="numpy")
def _part(centers, order, first, count, axis):
    """Reorders members so that those of the lower half along an axis come first (Hoare's selection)."""
    left, right, middle = first, first + count - 1, first + count // 2
    while left < right:
        pivot = centers[(left + right) // 2, axis]
        i, j = left, right
        while i <= j:
            while centers[i, axis] < pivot:
                i += 1
            while centers[j, axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                for k in range(3):
                    centers[i, k], centers[j, k] = centers[j, k], centers[i, k]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@njit(cache=True, nogil=True, error_model="numpy")
def _nodes(n, leaf):
    """Nodes of a tree over n members. On one level their numbers of members differ by one at most."""
    total, nodes, few, more = 0, 1, n, 0  # every node of a level has `few` members, `more` of them one more
    while few > leaf:
        total += nodes
        # A node of m members has children of m // 2 and of m - m // 2.
        more = nodes + more if few % 2 else more
        few, nodes = few // 2, 2 * nodes
    return total + nodes + (2 * more if few == leaf else 0)


@njit(cache=True, nogil=True, error_model="numpy")
def build_box_tree(low, high, leaf):
    """Nodes and order of a `BoxTree`, and the members' centres in that order.

    Members are halved at the median of their centres along the widest axis, down to `leaf` of them. The centres are
    moved along with the order, so that every pass reads memory in sequence.
    """
    n = len(low)
    order, centers = np.arange(n), np.empty((n, 3))
    for i in range(n):
        for k in range(3):
            centers[i, k] = 0.5 * (low[i, k] + high[i, k])
    nodes = np.empty((_nodes(n, leaf), 8))
    waiting = np.empty((STACK, 3), np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, 0, n
    top, used = 1, 1
    while top > 0:
        top -= 1
        row, first, count = waiting[top, 0], waiting[top, 1], waiting[top, 2]
        if count <= leaf:
            nodes[row, 6], nodes[row, 7] = first, count
            _fit(low, high, order, first, count, nodes, row)
            continue
        _part(centers, order, first, count, _widest(centers, first, count))
        nodes[row, 6], nodes[row, 7] = used, 0
        half = count // 2
        waiting[top, 0], waiting[top, 1], waiting[top, 2] = used + 1, first + half, count - half
        waiting[top + 1, 0], waiting[top + 1, 1], waiting[top + 1, 2] = used, first, half
        top += 2
        used += 2
    for row in range(len(nodes) - 1, -1, -1):  # children come after their parents
        if nodes[row, 7] == 0.0 and n > 0:
            a = int(nodes[row, 6])
            for k in range(3):
                nodes[row, k] = min(nodes[a, k], nodes[a + 1, k])
                nodes[row, 3 + k] = max(nodes[a, 3 + k], nodes[a + 1, 3 + k])
    return nodes, order, centers


@njit(cache=True, nogil=True, error_model="numpy")
def box_gap_squared(nodes, row, x, y, z):
    """Squared distance of a point to the box of a node."""
    dx = max(0.0, nodes[row, 0] - x, x - nodes[row, 3])
    dy = max(0.0, nodes[row, 1] - y, y - nodes[row, 4])
    dz = max(0.0, nodes[row, 2] - z, z - nodes[row, 5])
    return dx * dx + dy * dy + dz * dz
