"""Kernels that look for the direction in which two penetrating meshes separate soonest.

Translations of B at which the meshes meet form a set (the Minkowski difference); the depth is the distance of the
origin to the nearest point outside. Along a direction the way out is found by sliding (`_kernels_sweep`), and the axis
of the triangle pair that lets go last is the normal of the facet it leads through. The next direction is that of the
nearest point of this facet's plane. When the way there leads out sooner, the set is convex there and only the new
facet counts; when it leads out later, the old and the new facets bound a notch, and the nearest point beyond all of
them is next. So a descent ends in a local minimum, in the middle of a facet or in the bottom of a notch.

To find the right one of these, many directions are tried: is B, moved along one by less than the best translation
known, apart from A? That is a boolean and costs a small part of sliding. Only where the answer is yes a descent starts.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ._kernels_batch import APART, pair_state, walk_scratch
from ._kernels_distance import triangle_distance
from ._kernels_query import inverse_pose, pose_triangle, relative_pose, touch_tolerance
from ._kernels_sweep import ROOT, limiting_axis, separation

STEPS = 24
"""Steps of one descent at most."""
FACETS = 4
"""Facets of a notch remembered at most."""
ASIDE = 1.3
"""Ways out up to this multiple of the best are followed while a notch is explored."""
SAME = 1e-12
"""Relative difference of depths that counts as none."""
LEVEL = 1e-9
"""Cosine between a direction and a facet's normal below which the facet says nothing."""
SHELLS = np.array([0.999, 0.7, 0.35])
"""Fractions of the best translation at which directions are tried: an opening may be closed again further out."""
OTHER_SHELL = 1.05
"""The first of them for directions away from the best: a descent from there may still end below it."""
AWAY = 0.95
"""Cosine with the best direction below which another is away from it."""
ROUNDS = 4
"""Times all directions are tried again after one of them was better."""


@njit(cache=True, error_model="numpy")
def _make_unit(v):
    length = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    for k in range(3):
        v[k] /= length


@njit(cache=True, error_model="numpy")
def _try_point(planes, n, x, y, z, best, out):
    """Take (x, y, z) to `out` when it is nearer than `best` and beyond all planes; the best distance."""
    norm = np.sqrt(x * x + y * y + z * z)
    if not norm < best:
        return best
    for i in range(n):
        if planes[i, 0] * x + planes[i, 1] * y + planes[i, 2] * z < planes[i, 3] - 1e-9 * norm:
            return best
    out[0], out[1], out[2] = x, y, z
    return norm


@njit(cache=True, error_model="numpy")
def _nearest_beyond(planes, n, out):
    """Point nearest to the origin with normal . x >= offset for all `planes` (n, 4); its distance, infinite for none.

    It is the nearest point of one plane, of the line of two or of the corner of three: all are tried.
    """
    best = np.inf
    for i in range(n):
        p, c = planes[i], planes[i, 3]
        best = _try_point(planes, n, c * p[0], c * p[1], c * p[2], best, out)
        for j in range(i):
            q, d = planes[j], planes[j, 3]
            g = p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
            det = 1.0 - g * g
            if det < 1e-10:
                continue
            s, t = (c - g * d) / det, (d - g * c) / det
            best = _try_point(
                planes, n, s * p[0] + t * q[0], s * p[1] + t * q[1], s * p[2] + t * q[2], best, out
            )
            nx, ny, nz = p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]
            for k in range(j):
                r, e = planes[k], planes[k, 3]
                det = nx * r[0] + ny * r[1] + nz * r[2]
                if abs(det) < 1e-6:
                    continue
                x = e * nx + c * (q[1] * r[2] - q[2] * r[1]) + d * (r[1] * p[2] - r[2] * p[1])
                y = e * ny + c * (q[2] * r[0] - q[0] * r[2]) + d * (r[2] * p[0] - r[0] * p[2])
                z = e * nz + c * (q[0] * r[1] - q[1] * r[0]) + d * (r[0] * p[1] - r[1] * p[0])
                best = _try_point(planes, n, x / det, y / det, z / det, best, out)
    return best


@njit(cache=True, error_model="numpy")
def _descend(na, ta, nb, tb, rel, inv, d, begin, best, contain, work, found):
    """Descend from direction `d`; improves `found` (direction, limiting pair and axis) and returns the best depth.

    A positive `begin` says that d is the best direction and that the meshes are not apart up to this translation.
    """
    _, _, scratch, w, _, limit = work
    trial, point, planes = d.copy(), np.empty(3), np.empty((FACETS, 4))
    n, promised = 0, 0.0
    for _ in range(STEPS):
        ceiling = ASIDE * best
        t = separation(na, ta, nb, tb, rel, inv, trial, begin, ceiling, contain, work)
        if t >= ceiling:
            return best
        if t < best:
            best = t
            for k in range(3):
                found[k] = trial[k]
            for k in range(5):
                found[3 + k] = limit[k]
        if limit[0] < 0 or begin > 0.0:
            return best
        pose_triangle(tb, limit[1], rel, scratch, 0)
        x, y, z = limiting_axis(ta, limit[0], scratch, 0, limit[2:], w)
        slope = x * trial[0] + y * trial[1] + z * trial[2]
        if abs(slope) < LEVEL:
            return best
        sign = 1.0 if slope > 0.0 else -1.0
        if t <= promised * (1.0 + LEVEL):
            n = 0
        if n == FACETS:
            for k in range(1, FACETS):
                planes[k - 1] = planes[k]
            n -= 1
        planes[n, 0], planes[n, 1], planes[n, 2], planes[n, 3] = sign * x, sign * y, sign * z, t * abs(slope)
        n += 1
        promised = _nearest_beyond(planes, n, point)
        if not promised < best * (1.0 - SAME) or promised == 0.0:
            return best
        for k in range(3):
            trial[k] = point[k] / promised
    return best


@njit(cache=True, error_model="numpy")
def _apart_at(na, ta, nb, tb, rel, d, t, contain, work, room):
    """Is B, moved by t along d, apart from A?"""
    _, stack, scratch, w, _, _ = work
    codes, moved, back = room
    for c in range(3):
        moved[9 + c] = rel[9 + c] + t * d[c]
    state = pair_state(na, ta, ROOT, nb, tb, ROOT, moved, back, stack, codes, scratch, w, contain)
    return state == APART


@njit(cache=True, error_model="numpy")
def _set_up(na, nb, pose_a, pose_b):
    """Pose of B in A's frame, its inverse, and what `separation` and `_apart_at` work with."""
    stack, codes, scratch, w, rel, inv = walk_scratch()
    relative_pose(pose_a, pose_b, rel)
    inverse_pose(rel, inv)
    tol = touch_tolerance(na, ROOT, nb, ROOT, rel)
    axis, limit = np.zeros(3, np.int64), np.zeros(5, np.int64)
    return rel, inv, (tol, stack, scratch, w, axis, limit), (codes, rel.copy(), np.empty(12))


@njit(cache=True, error_model="numpy", nogil=True)
def least_separation(na, ta, nb, tb, pose_a, pose_b, starts, scan, spread, begin, ceiling, contain, found):
    """Least separating translation of B over descents from `starts` (k, 3), unit vectors in A's frame.

    A positive `begin` says that the one start is the best direction and that the meshes are not apart up to this
    translation. Otherwise the directions `scan` (m, 3) and the offsets `spread` (j, 3) from the best direction are
    tried by booleans afterwards. Returns the depth, at most `ceiling`; found[:3] is the direction, found[3:5] the
    triangles that touch last (leaf order, -1 for none) and found[8:11] the point where they do, all in A's frame.
    """
    rel, inv, work, room = _set_up(na, nb, pose_a, pose_b)
    trial = np.empty(3)
    found[3] = -1.0
    best = ceiling
    for k in range(starts.shape[0]):
        best = _descend(na, ta, nb, tb, rel, inv, starts[k], begin, best, contain, work, found)
    for _ in range(ROUNDS):
        before = best
        if best == 0.0:
            break
        for k in range(scan.shape[0] + spread.shape[0]):
            if k < scan.shape[0]:
                trial[:] = scan[k]
            else:
                for c in range(3):
                    trial[c] = found[c] + spread[k - scan.shape[0], c]
                _make_unit(trial)
            cosine = trial[0] * found[0] + trial[1] * found[1] + trial[2] * found[2]
            for s in range(SHELLS.shape[0]):
                shell = OTHER_SHELL if s == 0 and cosine < AWAY else SHELLS[s]
                if _apart_at(na, ta, nb, tb, rel, trial, shell * best, contain, work, room):
                    best = _descend(na, ta, nb, tb, rel, inv, trial, 0.0, best, contain, work, found)
                    break
        if best >= before * (1.0 - SAME):
            break
    if found[3] >= 0.0:
        for c in range(3):
            rel[9 + c] += best * found[c]
        p, scratch = np.zeros((2, 3)), work[2]
        pose_triangle(tb, int(found[4]), rel, scratch, 0)
        triangle_distance(ta, int(found[3]), scratch, 0, 1e300, p)
        for c in range(3):
            found[8 + c] = p[0, c]
    return best


@njit(cache=True, error_model="numpy", nogil=True)
def separations(na, ta, nb, tb, pose_a, pose_b, directions, ceiling, contain, out):
    """First separating translation of B along every direction (A's frame), at most `ceiling`."""
    rel, inv, work, _ = _set_up(na, nb, pose_a, pose_b)
    for k in range(directions.shape[0]):
        out[k] = min(
            separation(na, ta, nb, tb, rel, inv, directions[k], 0.0, ceiling, contain, work), ceiling
        )
