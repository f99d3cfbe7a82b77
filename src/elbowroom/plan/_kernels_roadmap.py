"""Shortest ways through a roadmap: Dijkstra's algorithm with a binary heap."""
# pyright: basic

from __future__ import annotations

import numpy as np

from .._jit import njit


@njit(cache=True, nogil=True, error_model="numpy")
def shortest(firsts, others, lengths, starts, start_lengths, goal_lengths):
    """The shortest way from any start to any goal through a graph.

    Args:
        firsts: (n + 1,) where the edges of each node begin in `others`.
        others: (e,) node at the other end; every edge is there from both sides.
        lengths: (e,) of edges.
        starts: (s,) nodes that can be reached from outside.
        start_lengths: (s,) of the ways to them.
        goal_lengths: (n,) of the ways from each node to the goal, infinite where there is none.

    Returns:
        last: node from which the goal is reached, -1 when it is not.
        before: (n,) node before each on the way to it, -1 at its beginning.
    """
    n = len(firsts) - 1
    best, before, done = np.full(n, np.inf), np.full(n, -1), np.zeros(n, np.bool_)
    heap_key, heap_node = (
        np.empty(len(others) + len(starts) + 1),
        np.empty(len(others) + len(starts) + 1, np.int64),
    )
    size = 0
    for k in range(len(starts)):
        if start_lengths[k] < best[starts[k]]:
            best[starts[k]] = start_lengths[k]
            size = _push(heap_key, heap_node, size, start_lengths[k], starts[k])
    total, last = np.inf, -1
    while size > 0 and heap_key[0] < total:
        node = heap_node[0]
        size = _pop(heap_key, heap_node, size)
        if done[node]:
            continue
        done[node] = True
        if best[node] + goal_lengths[node] < total:
            total, last = best[node] + goal_lengths[node], node
        for e in range(firsts[node], firsts[node + 1]):
            way = best[node] + lengths[e]
            if way < best[others[e]]:
                best[others[e]], before[others[e]] = way, node
                size = _push(heap_key, heap_node, size, way, others[e])
    return last, before


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _push(keys, nodes, size, key, node):
    child = size
    while child > 0:
        parent = (child - 1) // 2
        if keys[parent] <= key:
            break
        keys[child], nodes[child] = keys[parent], nodes[parent]
        child = parent
    keys[child], nodes[child] = key, node
    return size + 1


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _pop(keys, nodes, size):
    size -= 1
    key, node = keys[size], nodes[size]
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if key <= keys[child]:
            break
        keys[parent], nodes[parent] = keys[child], nodes[child]
        parent = child
    keys[parent], nodes[parent] = key, node
    return size
