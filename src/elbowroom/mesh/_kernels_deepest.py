"""The deepest contact among all pairs of triangles of two meshes, without the other contacts.

Branch and bound over both trees. Two triangles are never deeper in each other than their bounds overlap along any
axis, so what overlaps by less than the deepest pair found so far is left out; the largest overlap is visited first.
Pairs that only touch come last, by the boolean traversal: the many contacts of faces that slide along each other cost
nothing.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ._frames import pack_matrices
from ._kernels_batch import STACK, boxes_apart, spheres_apart, to_world, walk_scratch
from ._kernels_build import NODE_WIDTH
from ._kernels_contact import triangle_contact
from ._kernels_lanes import BATCH, LOADED, load_pairs, overlap_lanes, pose_lanes, whole_lanes
from ._kernels_query import (
    HEADER_FIRST_TRIANGLE,
    NAMES,
    ROWS,
    SCRATCH,
    TRIANGLES,
    inverse_pose,
    pose_triangle,
    relative_pose,
    touch_tolerance,
    walk,
)
from ._kernels_tritri import FASTMATH, triangles_meet
from ._kernels_wide import BLOCK_COLUMN, LANES, TRIANGLE, entry_of_triangle, overlap_bounds, pair_codes

UNSOUND = -2
"""Kind of a contact that was not looked for, because of a pose."""
QUEUE = 8
"""Pairs of triangles that are compared at once."""


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def _entry(nodes, tris, row, entry):
    """Box and slab of a node or a triangle, by its name."""
    if row >= TRIANGLE:
        entry_of_triangle(tris, row - TRIANGLE, entry)
    else:
        for k in range(6):
            entry[k] = nodes[row, k]
        for k in range(6, 11):
            entry[k] = nodes[row, k + 2]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _deepest_of(ta, tb, rel, tol, queue, n, best, deepest, pairs, answers, scratch, w):
    """The deepest of the pairs queue[:n] and its depth; `deepest` and `best` when none is deeper."""
    whole = whole_lanes(n)
    load_pairs(ta, tb, queue, 0, n, pairs)
    pose_lanes(pairs, rel, answers[:whole])
    overlap_lanes(pairs, answers, answers[:whole])
    for k in range(n):
        over = answers[2 * BATCH + k]
        depth = over / np.sqrt(answers[3 * BATCH + k]) if over < np.inf else 0.0
        if depth > best:
            pose_triangle(tb, queue[k] & 0xFFFFFFFF, rel, scratch, 0)
            if triangles_meet(ta, queue[k] >> 32, scratch, 0, tol, w):
                best, deepest = depth, queue[k]
    return best, deepest


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _deepest_pair(na, ta, ra, nb, tb, rb, rel, inv, tol, stack, codes, scratch, w):
    """Code of the deepest pair of triangles, -1 when none is deeper than `tol`."""
    flat_a, flat_b, flat = na.reshape(-1), nb.reshape(-1), scratch.reshape(-1)
    bounds, entry = flat[SCRATCH : SCRATCH + LANES], flat[SCRATCH + LANES : SCRATCH + 3 * LANES]
    allowed, queue = np.empty(STACK), np.empty(QUEUE + LANES, np.int64)
    pairs, answers = np.empty(LOADED * BATCH), np.empty(4 * BATCH)
    stack[0], allowed[0] = (ra << 32) | rb, np.inf
    top, waiting, best, deepest = 1, 0, tol, np.int64(-1)
    while top > 0 or waiting > 0:
        if top == 0 or waiting >= QUEUE:
            best, deepest = _deepest_of(
                ta, tb, rel, tol, queue, waiting, best, deepest, pairs, answers, scratch, w
            )
            waiting = 0
            continue
        top -= 1
        if allowed[top] <= best:
            continue
        code = stack[top]
        ia, ib = code >> 32, code & 0xFFFFFFFF
        open_a = ib >= TRIANGLE
        if not open_a and ia < TRIANGLE:
            open_a = na[ia, 3] + na[ia, 4] + na[ia, 5] >= nb[ib, 3] + nb[ib, 4] + nb[ib, 5]
        if open_a:
            base = NODE_WIDTH * int(na[ia, BLOCK_COLUMN])
            _entry(nb, tb, ib, entry)
            overlap_bounds(flat_a, base, entry, rel, bounds)
            pair_codes(flat_a, base + NAMES, ib, 32, codes)
        else:
            base = NODE_WIDTH * int(nb[ib, BLOCK_COLUMN])
            _entry(na, ta, ia, entry)
            overlap_bounds(flat_b, base, entry, inv, bounds)
            pair_codes(flat_b, base + NAMES, ia << 32, 0, codes)
        largest, place = best, top
        for k in range(LANES):
            code = codes[k]
            hit = bounds[k] > best
            done = (code & TRIANGLES) == TRIANGLES
            queue[waiting] = code & ROWS
            waiting += int(hit and done)
            stack[top], allowed[top] = code, bounds[k]
            larger = bounds[k] > largest and not done
            place = top if larger else place
            largest = bounds[k] if larger else largest
            top += int(hit and not done)
        if top > place:
            stack[place], stack[top - 1] = stack[top - 1], stack[place]
            allowed[place], allowed[top - 1] = allowed[top - 1], allowed[place]
    return deepest


@njit(cache=True, error_model="numpy")
def _deepest_contact(na, ta, ra, nb, tb, rb, pose_a, pose_b, rel, inv, stack, codes, scratch, w, rows, i):
    """Deepest contact of two posed meshes to rows[i]: point, normal (world frame), depth, triangles (leaf order).

    Returns its kind, or -1 when no triangles meet.
    """
    relative_pose(pose_a, pose_b, rel)
    if spheres_apart(na, ra, nb, rb, rel) or boxes_apart(na, ra, nb, rb, rel):
        return -1
    inverse_pose(rel, inv)
    tol = touch_tolerance(na, ra, nb, rb, rel)
    code = _deepest_pair(na, ta, ra, nb, tb, rb, rel, inv, tol, stack, codes, scratch, w)
    if code < 0:  # they touch at most
        found = np.empty(1, np.int64)
        if walk(na, ta, ra, nb, tb, rb, rel, inv, tol, stack, found, codes, scratch, w, np.int64(0)) == 0:
            return -1
        code = found[0]
    pose_triangle(tb, code & 0xFFFFFFFF, rel, scratch, 0)
    kind = triangle_contact(ta, code >> 32, scratch, 0, w, rows, i)
    to_world(pose_a, rows, i)
    rows[i, 7] = (code >> 32) - na[ra - 1, HEADER_FIRST_TRIANGLE]
    rows[i, 8] = (code & 0xFFFFFFFF) - nb[rb - 1, HEADER_FIRST_TRIANGLE]
    return kind


@njit(cache=True, error_model="numpy", nogil=True)
def deepest_triangles(na, ta, nb, tb, pose_a, pose_b, row):
    """Deepest contact of two triangles of one posed pair of meshes; `row` (1, 9), result as of `_deepest_contact`."""
    root = np.int64(1)
    stack, codes, scratch, w, rel, inv = walk_scratch()
    return _deepest_contact(
        na, ta, root, nb, tb, root, pose_a, pose_b, rel, inv, stack, codes, scratch, w, row, 0
    )


@njit(cache=True, error_model="numpy", nogil=True)
def deepest_at(na, ta, nb, tb, matrices, row):
    """`deepest_triangles` at two poses (2, 4, 4) as they come; `UNSOUND` when one is not clearly a rigid motion."""
    rows = np.empty((2, 12))
    if not pack_matrices(matrices, rows):
        return UNSOUND
    return deepest_triangles(na, ta, nb, tb, rows[0], rows[1], row)


@njit(cache=True, error_model="numpy", nogil=True)
def scene_deepest(nodes, tris, roots, poses, pairs, rows):
    """Deepest contact of every pair of a scene in every pose, to `rows` (n * pairs, 9); left alone where none meet.

    `poses` (n, meshes, 12), `pairs` (k, 2).
    """
    stack, codes, scratch, w, rel, inv = walk_scratch()
    n_pairs = pairs.shape[0]
    for i in range(poses.shape[0]):
        for k in range(n_pairs):
            a, b = pairs[k, 0], pairs[k, 1]
            _deepest_contact(
                nodes, tris, roots[a], nodes, tris, roots[b], poses[i, a], poses[i, b],
                rel, inv, stack, codes, scratch, w, rows, i * n_pairs + k,
            )  # fmt: skip
