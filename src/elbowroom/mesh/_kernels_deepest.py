"""The deepest contact among all pairs of triangles of two meshes, without the other contacts.

Depths of whole batches come from `overlap_lanes`; only a pair that would be the deepest so far is tested and has its
contact made. Two triangles are never deeper in each other than their bounds overlap, so the traversal leaves out
pairs that only touch: the many contacts of faces that slide along each other cost nothing.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ._kernels_batch import boxes_apart, spheres_apart, to_world, walk_scratch
from ._kernels_contact import triangle_contact
from ._kernels_lanes import BATCH, LOADED, load_pairs, overlap_lanes, pose_lanes, whole_lanes
from ._kernels_query import inverse_pose, pose_triangle, relative_pose, touch_tolerance, walk
from ._kernels_tritri import triangles_meet


@njit(cache=True, error_model="numpy")
def _deepest_of(ta, tb, rel, tol, found, n_found, code, scratch, w):
    """The deepest of the pairs found[:n_found], the first of equals; `code`, a pair that touches, when none is."""
    pairs, answers = np.zeros(LOADED * BATCH), np.zeros(LOADED * BATCH)
    best = 0.0
    for begin in range(0, n_found, BATCH):
        n = min(BATCH, n_found - begin)
        whole = whole_lanes(n)
        load_pairs(ta, tb, found, begin, n, pairs)
        pose_lanes(pairs, rel, answers[:whole])
        overlap_lanes(pairs, answers, answers[:whole])
        for k in range(n):
            over = answers[2 * BATCH + k]
            depth_sq = over * over / answers[3 * BATCH + k] if over < np.inf else 0.0
            if depth_sq <= best:
                continue
            pair = found[begin + k]
            pose_triangle(tb, pair & 0xFFFFFFFF, rel, scratch, 0)
            if triangles_meet(ta, pair >> 32, scratch, 0, tol, w):
                best, code = depth_sq, pair
    return code


@njit(cache=True, error_model="numpy", nogil=True)
def deepest_triangles(na, ta, nb, tb, pose_a, pose_b, found, row):
    """Deepest contact of two triangles of one posed pair of meshes.

    row (1, 9) receives point, normal (world frame), depth and the triangles (leaf order). Returns its kind and 0, or
    (-1, 0) when no triangles meet, or (-1, n) when `found` must hold n pairs.
    """
    root = np.int64(1)
    stack, codes, scratch, w, rel, inv = walk_scratch()
    relative_pose(pose_a, pose_b, rel)
    if spheres_apart(na, root, nb, root, rel) or boxes_apart(na, root, nb, root, rel):
        return -1, 0
    inverse_pose(rel, inv)
    tol = touch_tolerance(na, root, nb, root, rel)
    if walk(na, ta, root, nb, tb, root, rel, inv, tol, stack, found, codes, scratch, w, np.int64(0)) == 0:
        return -1, 0
    code = found[0]
    n = walk(na, ta, root, nb, tb, root, rel, inv, -tol, stack, found, codes, scratch, w, np.int64(1))
    if n > found.shape[0]:
        return -1, n
    code = _deepest_of(ta, tb, rel, tol, found, n, code, scratch, w)
    pose_triangle(tb, code & 0xFFFFFFFF, rel, scratch, 0)
    kind = triangle_contact(ta, code >> 32, scratch, 0, w, row, 0)
    to_world(pose_a, row, 0)
    row[0, 7], row[0, 8] = code >> 32, code & 0xFFFFFFFF
    return kind, 0
