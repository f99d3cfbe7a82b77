"""Kernels that look for the direction in which two penetrating meshes separate soonest.

Every start direction is tried up to the best translation known. Where it improves, the axis of the triangle pair that
let go last is the next direction: on the boundary of the Minkowski difference that is the step from a ray's hit to
the nearest point of the facet it hit, and it descends to a local minimum in a few steps. Steps that fail are halved; at
the end directions around the best one are tried with shrinking spread.
"""

# pyright: basic
from __future__ import annotations

import numpy as np
from numba import njit

from ._kernels_batch import STACK
from ._kernels_distance import triangle_distance
from ._kernels_query import inverse_pose, pose_triangle, relative_pose, touch_tolerance
from ._kernels_sweep import limiting_axis, separation

STEPS = 24
"""Steps of one descent at most."""
HALVINGS = 3
"""Shorter steps tried when a full one does not improve."""
SAME = 1e-12
"""Relative difference of depths that counts as none."""


@njit(cache=True, error_model="numpy")
def _make_unit(v):
    length = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    for k in range(3):
        v[k] /= length


@njit(cache=True, error_model="numpy")
def _descend(na, ta, nb, tb, rel, inv, d, best, solid, work, found):
    """Descend from direction `d`; improves `found` (direction, limiting pair and axis) and returns the best depth."""
    _, _, scratch, w, _, limit = work
    trial, target, start = d.copy(), np.empty(3), np.empty(3)
    halved = 0
    for step in range(STEPS):
        ceiling = best * (1.0 + SAME) if step > 0 else best
        t = separation(na, ta, nb, tb, rel, inv, trial, ceiling, solid, work)
        if t < ceiling:
            best = min(best, t)
            for k in range(3):
                found[k] = trial[k]
            for k in range(5):
                found[3 + k] = limit[k]
            if limit[0] < 0:
                return best
            pose_triangle(tb, limit[1], rel, scratch, 0)
            x, y, z = limiting_axis(ta, limit[0], scratch, 0, limit[2:], w)
            dot = x * trial[0] + y * trial[1] + z * trial[2]
            if abs(dot) > 1.0 - 1e-13 or dot == 0.0:
                return best
            sign = 1.0 if dot > 0.0 else -1.0
            target[0], target[1], target[2] = sign * x, sign * y, sign * z
            for k in range(3):
                start[k] = trial[k]
                trial[k] = target[k]
            halved = 0
        elif step == 0 or halved == HALVINGS:
            return best
        else:
            halved += 1
            share = 0.5**halved
            for k in range(3):
                trial[k] = start[k] + share * (target[k] - start[k])
            _make_unit(trial)
    return best


@njit(cache=True, error_model="numpy")
def _set_up(na, nb, pose_a, pose_b):
    """Pose of B in A's frame, its inverse, and what `separation` works with."""
    root = np.int64(1)
    rel, inv = np.empty(12), np.empty(12)
    relative_pose(pose_a, pose_b, rel)
    inverse_pose(rel, inv)
    tol = touch_tolerance(na, root, nb, root, rel)
    stack = np.empty(STACK, np.int64)
    scratch, w = np.empty((2, 9)), np.empty((32, 3))
    axis, limit = np.zeros(3, np.int64), np.zeros(5, np.int64)
    return rel, inv, (tol, stack, scratch, w, axis, limit)


@njit(cache=True, error_model="numpy", nogil=True)
def least_separation(na, ta, nb, tb, pose_a, pose_b, starts, spread, ceiling, solid, found):
    """Least separating translation of B over descents from `starts` (k, 3), unit vectors in A's frame.

    `spread` (m, 3) are small offsets tried around the best direction afterwards. Returns the depth, at most `ceiling`;
    found[:3] is the direction, found[3:5] the triangles that touch last (leaf order, -1 for none) and
    found[8:14] the points where they do, on A and on B, B in its place before it moved, all in A's frame.
    """
    rel, inv, work = _set_up(na, nb, pose_a, pose_b)
    trial = np.empty(3)
    found[3] = -1.0
    best = ceiling
    for k in range(starts.shape[0]):
        best = _descend(na, ta, nb, tb, rel, inv, starts[k], best, solid, work, found)
    for k in range(spread.shape[0]):
        for c in range(3):
            trial[c] = found[c] + spread[k, c]
        _make_unit(trial)
        best = _descend(na, ta, nb, tb, rel, inv, trial, best, solid, work, found)
    if found[3] >= 0.0:
        rel[9] += best * found[0]
        rel[10] += best * found[1]
        rel[11] += best * found[2]
        p, scratch = np.zeros((2, 3)), work[2]
        pose_triangle(tb, int(found[4]), rel, scratch, 0)
        triangle_distance(ta, int(found[3]), scratch, 0, 1e300, p)
        for c in range(3):
            found[8 + c] = p[0, c]
            found[11 + c] = p[1, c] - best * found[c]
    return best


@njit(cache=True, error_model="numpy", nogil=True)
def separations(na, ta, nb, tb, pose_a, pose_b, directions, ceiling, solid, out):
    """First separating translation of B along every direction (A's frame), at most `ceiling`."""
    rel, inv, work = _set_up(na, nb, pose_a, pose_b)
    for k in range(directions.shape[0]):
        out[k] = min(separation(na, ta, nb, tb, rel, inv, directions[k], ceiling, solid, work), ceiling)
