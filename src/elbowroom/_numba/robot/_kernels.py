"""Numba kernels of forward kinematics and of the geometric Jacobian.

One pass over the frames in tree order. Configurations are processed in lanes of LANES so that the inner
loops run over contiguous numbers and vectorise, sine and cosine included: those are polynomials after
Cody-Waite reduction (coefficients after Moshier's Cephes library), good to 2e-16 for |angle| < 1e5.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit

LANES = 16
"""Configurations per lane block: four AVX2 registers, and the working set still fits the first-level cache."""

_TWO_OVER_PI = 0.6366197723675814
_PIO2_HIGH = 1.57079625129699707031e0
_PIO2_MID = 7.54978941586159635335e-8
_PIO2_LOW = 5.39030285815811905e-15


@njit(cache=True, inline="always", error_model="numpy")
def sincos(x):
    """Sine and cosine, good to 2e-16 for |x| < 1e5; loops over it vectorise."""
    n = np.floor(x * _TWO_OVER_PI + 0.5)
    r = ((x - n * _PIO2_HIGH) - n * _PIO2_MID) - n * _PIO2_LOW
    z = r * r
    s = r + r * z * (
        -1.66666666666666307295e-1
        + z
        * (
            8.33333333332211858878e-3
            + z
            * (
                -1.98412698295895385996e-4
                + z
                * (
                    2.75573136213857245213e-6
                    + z * (-2.50507477628578072866e-8 + z * 1.58962301576546568060e-10)
                )
            )
        )
    )
    c = (
        1.0
        - 0.5 * z
        + z
        * z
        * (
            4.16666666666665929218e-2
            + z
            * (
                -1.38888888888730564116e-3
                + z
                * (
                    2.48015872888517045348e-5
                    + z
                    * (
                        -2.75573141792967388112e-7
                        + z * (2.08757008419747316778e-9 + z * -1.13585365213876817300e-11)
                    )
                )
            )
        )
    )
    quadrant = n - 4.0 * np.floor(n * 0.25)
    swap = (quadrant == 1.0) | (quadrant == 3.0)
    sine = c if swap else s
    cosine = s if swap else c
    sine = -sine if quadrant >= 2.0 else sine
    cosine = -cosine if (quadrant == 1.0) | (quadrant == 2.0) else cosine
    return sine, cosine


@njit(cache=True, nogil=True, error_model="numpy")
def expand_lanes(cfgs, start, count, driver, is_coupled, polycoef, order, q_full):
    """Fills q_full (moving, LANES) from `count` rows of cfgs; spare lanes repeat the last row."""
    for k in range(len(order)):
        i = order[k]
        d = driver[i]
        if is_coupled[i]:
            c0, c1, c2, c3, c4 = (
                polycoef[i, 0],
                polycoef[i, 1],
                polycoef[i, 2],
                polycoef[i, 3],
                polycoef[i, 4],
            )
            for lane in range(LANES):
                x = q_full[d, lane]
                q_full[i, lane] = c0 + x * (c1 + x * (c2 + x * (c3 + x * c4)))
        else:
            for lane in range(LANES):
                q_full[i, lane] = cfgs[start + min(lane, count - 1), d]


@njit(cache=True, inline="always", error_model="numpy")
def _compose_lane(pose, p, f, lane, w, x, y, z, vx, vy, vz):
    """Writes pose[f] = pose[p] * (quaternion wxyz, translation v) for one lane."""
    pw, px, py, pz = pose[p, 0, lane], pose[p, 1, lane], pose[p, 2, lane], pose[p, 3, lane]
    pose[f, 0, lane] = pw * w - px * x - py * y - pz * z
    pose[f, 1, lane] = pw * x + px * w + py * z - pz * y
    pose[f, 2, lane] = pw * y - px * z + py * w + pz * x
    pose[f, 3, lane] = pw * z + px * y - py * x + pz * w
    cx, cy, cz = 2.0 * (py * vz - pz * vy), 2.0 * (pz * vx - px * vz), 2.0 * (px * vy - py * vx)
    pose[f, 4, lane] = pose[p, 4, lane] + vx + pw * cx + py * cz - pz * cy
    pose[f, 5, lane] = pose[p, 5, lane] + vy + pw * cy + pz * cx - px * cz
    pose[f, 6, lane] = pose[p, 6, lane] + vz + pw * cz + px * cy - py * cx


@njit(cache=True, nogil=True, error_model="numpy")
def frame_lanes(parent, kind, quat_cos, quat_sin, shift, slide, q_idx, q_full, pose):
    """World poses of all frames: pose (frames, 7, LANES), wxyz_xyz along the middle axis."""
    for j in range(4):
        pose[0, j, :] = quat_cos[0, j]
    for j in range(3):
        pose[0, 4 + j, :] = shift[0, j]
    for f in range(1, len(parent)):
        p = parent[f]
        a0, a1, a2, a3 = quat_cos[f, 0], quat_cos[f, 1], quat_cos[f, 2], quat_cos[f, 3]
        t0, t1, t2 = shift[f, 0], shift[f, 1], shift[f, 2]
        if kind[f] == 1:
            b0, b1, b2, b3 = quat_sin[f, 0], quat_sin[f, 1], quat_sin[f, 2], quat_sin[f, 3]
            i = q_idx[f]
            for lane in range(LANES):
                s, c = sincos(0.5 * q_full[i, lane])
                w, x, y, z = c * a0 + s * b0, c * a1 + s * b1, c * a2 + s * b2, c * a3 + s * b3
                _compose_lane(pose, p, f, lane, w, x, y, z, t0, t1, t2)
        elif kind[f] == 2:
            d0, d1, d2 = slide[f, 0], slide[f, 1], slide[f, 2]
            i = q_idx[f]
            for lane in range(LANES):
                q = q_full[i, lane]
                _compose_lane(pose, p, f, lane, a0, a1, a2, a3, t0 + d0 * q, t1 + d1 * q, t2 + d2 * q)
        else:
            for lane in range(LANES):
                _compose_lane(pose, p, f, lane, a0, a1, a2, a3, t0, t1, t2)


@njit(cache=True, inline="always", error_model="numpy")
def turned(pose, f, lane, x, y, z):
    """A vector of frame f in world axes."""
    qw, qx, qy, qz = pose[f, 0, lane], pose[f, 1, lane], pose[f, 2, lane], pose[f, 3, lane]
    cx, cy, cz = 2.0 * (qy * z - qz * y), 2.0 * (qz * x - qx * z), 2.0 * (qx * y - qy * x)
    return x + qw * cx + qy * cz - qz * cy, y + qw * cy + qz * cx - qx * cz, z + qw * cz + qx * cy - qy * cx


@njit(cache=True, nogil=True, error_model="numpy")
def add_rates(
    frame, lane, px, py, pz, parent, kind, q_idx, driver, is_coupled, polycoef, axis, q_full, pose, out
):
    """Adds to out (6, dof) how a world point p carried by a frame moves per cfg rate: linear, then angular velocity.

    Coupled joints add their column times the product of the polynomials' slopes along the chain of drivers.
    """
    f = frame
    while f > 0:
        if kind[f] > 0:
            ax, ay, az = turned(pose, f, lane, axis[f, 0], axis[f, 1], axis[f, 2])
            slope = 1.0
            i = q_idx[f]
            while is_coupled[i]:
                v = q_full[driver[i], lane]
                slope *= polycoef[i, 1] + v * (
                    2.0 * polycoef[i, 2] + v * (3.0 * polycoef[i, 3] + v * 4.0 * polycoef[i, 4])
                )
                i = driver[i]
            column = out[:, driver[i]]
            if kind[f] == 1:
                rx, ry, rz = px - pose[f, 4, lane], py - pose[f, 5, lane], pz - pose[f, 6, lane]
                column[0] += slope * (ay * rz - az * ry)
                column[1] += slope * (az * rx - ax * rz)
                column[2] += slope * (ax * ry - ay * rx)
                column[3] += slope * ax
                column[4] += slope * ay
                column[5] += slope * az
            else:
                column[0] += slope * ax
                column[1] += slope * ay
                column[2] += slope * az
        f = parent[f]
