"""Numba kernels of IK: the entries of a table of configurations that are nearest to a set of targets.

The table (rows, n) holds a column per configuration, float32: for each target the pose of its link, then the joints
solved for. Loops run along rows, so they vectorise. The score of an entry is its squared residual, angles by chords.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ._layout import (
    AT_TARGETS,
    AT_VARS,
    JOINT_KIND,
    LOOK_KIND,
    N_SOLVED,
    N_TARGETS,
    PLACE,
    POSE_KIND,
    POSITION_KIND,
    TARGET_BODY,
    TARGET_KIND,
    TARGET_WIDTH,
    VALUES,
    VAR_CFG,
    VAR_WIDTH,
    VAR_WRAPS,
)

ONE, TWO = np.float32(1.0), np.float32(2.0)
HALF_TURN, TURN = np.float32(np.pi), np.float32(2.0 * np.pi)


@njit(cache=True, nogil=True, error_model="numpy")
def _add_pose_scores(values, v, w, x, y, z, a, b, c, scores):
    along, around = np.float32(values[v + 7] ** 2), np.float32(8.0 * values[v + 8] ** 2)
    tw, tx = np.float32(values[v]), np.float32(values[v + 1])
    ty, tz = np.float32(values[v + 2]), np.float32(values[v + 3])
    ta, tb, tc = np.float32(values[v + 4]), np.float32(values[v + 5]), np.float32(values[v + 6])
    for i in range(len(scores)):
        da, db, dc = a[i] - ta, b[i] - tb, c[i] - tc
        same = np.abs(w[i] * tw + x[i] * tx + y[i] * ty + z[i] * tz)
        scores[i] += along * (da * da + db * db + dc * dc) + around * (ONE - same)


@njit(cache=True, nogil=True, error_model="numpy")
def _add_vector_scores(kind, values, v, w, x, y, z, a, b, c, scores):
    """Targets of a point or an axis, (e, f, g) in the link frame."""
    weight = np.float32(values[v + 6] ** 2)
    s, t, u = np.float32(values[v]), np.float32(values[v + 1]), np.float32(values[v + 2])
    e, f, g = np.float32(values[v + 3]), np.float32(values[v + 4]), np.float32(values[v + 5])
    is_point, looks = kind == POSITION_KIND, kind == LOOK_KIND
    for i in range(len(scores)):
        k, m, n = TWO * (y[i] * g - z[i] * f), TWO * (z[i] * e - x[i] * g), TWO * (x[i] * f - y[i] * e)
        px = e + w[i] * k + y[i] * n - z[i] * m
        py = f + w[i] * m + z[i] * k - x[i] * n
        pz = g + w[i] * n + x[i] * m - y[i] * k
        if is_point:
            dx, dy, dz = px + a[i] - s, py + b[i] - t, pz + c[i] - u
            scores[i] += weight * (dx * dx + dy * dy + dz * dz)
        else:
            dx, dy, dz = s, t, u
            if looks:
                dx, dy, dz = s - a[i], t - b[i], u - c[i]
                far = np.sqrt(dx * dx + dy * dy + dz * dz) + np.float32(1e-6)
                dx, dy, dz = dx / far, dy / far, dz / far
            scores[i] += weight * TWO * (ONE - (px * dx + py * dy + pz * dz))


@njit(cache=True, nogil=True, error_model="numpy")
def pick_starts(values, table, given, skip, near, ints, scores, picks, starts):
    """Fills starts[given:] from the nearest entries but the first `skip`, nearest first; returns how many are filled.

    Rows of `starts` hold the values of joints not solved for already. `near` weighs the squared distance to the joints
    of starts[0], per rad or m squared.
    """
    nt, n = ints[N_TARGETS], len(scores)
    scores[:] = np.float32(0.0)
    for t in range(nt):
        at = ints[AT_TARGETS] + t * TARGET_WIDTH
        kind, body, v, r = ints[at + TARGET_KIND], ints[at + TARGET_BODY], t * VALUES, t * PLACE
        if kind == JOINT_KIND:
            if body < ints[N_SOLVED]:
                joint, value = table[PLACE * nt + body], np.float32(values[v])
                weight = np.float32(values[v + 1] ** 2)
                for i in range(n):
                    scores[i] += weight * (joint[i] - value) * (joint[i] - value)
            continue
        w, x, y, z = table[r], table[r + 1], table[r + 2], table[r + 3]
        a, b, c = table[r + 4], table[r + 5], table[r + 6]
        if kind == POSE_KIND:
            _add_pose_scores(values, v, w, x, y, z, a, b, c, scores)
        else:
            _add_vector_scores(kind, values, v, w, x, y, z, a, b, c, scores)
    if near > 0.0:
        weight = np.float32(near)
        for var in range(ints[N_SOLVED]):
            at = ints[AT_VARS] + var * VAR_WIDTH
            joint, value = table[PLACE * nt + var], np.float32(starts[0, ints[at + VAR_CFG]])
            wraps = ints[at + VAR_WRAPS] == 1
            for i in range(n):
                apart = np.abs(joint[i] - value)
                apart = TURN - apart if wraps and apart > HALF_TURN else apart
                scores[i] += weight * apart * apart
    wanted = min(len(starts) - given + skip, min(n, len(picks)))
    found = 0
    for i in range(n):
        score = scores[i]
        if found == wanted and score >= scores[picks[found - 1]]:
            continue
        if found < wanted:
            found += 1
        k = found - 1
        while k > 0 and scores[picks[k - 1]] > score:
            picks[k] = picks[k - 1]
            k -= 1
        picks[k] = i
    row = given
    for k in range(skip, found):
        for var in range(ints[N_SOLVED]):
            entry = ints[ints[AT_VARS] + var * VAR_WIDTH + VAR_CFG]
            starts[row, entry] = table[PLACE * nt + var, picks[k]]
        row += 1
    return row
