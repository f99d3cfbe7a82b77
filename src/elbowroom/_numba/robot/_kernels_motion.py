"""Numba kernels for the motion of a chain: poses of its joints, and a bound on how far a point can move.

Everything is in float64, in the frame of the body where the two branches of the chain meet. When joint values stay
within h of a centre, a point of one link moves relative to a fixed body of the chain by at most the sum over its
joints, from the link inwards, of 2 sin(h / 2) (d + m): h the joint's half-width, d the point's distance from the
joint's axis at the centre and m how far it has been moved by the joints before (a rotation by an angle up to h moves
a point at distance r along a chord of at most 2 r sin(h / 2); moving joints one after the other, outermost first,
keeps the inner axes in place). A slide adds h.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit


@njit(cache=True, nogil=True, error_model="numpy")
def chain_poses(cfg, n_a, kind, local, poly, var, pose, end_a, end_b):
    """Poses (3, 4) of the joints after their motion, chain a downwards then chain b, and of the two end bodies."""
    for k in range(len(kind)):
        x = cfg[var[k]]
        q = 0.0
        for c in range(poly.shape[1] - 1, -1, -1):
            q = q * x + poly[k, c]
        top = k == 0 or k == n_a
        for i in range(3):
            for j in range(4):
                if top:
                    pose[k, i, j] = local[k, i, j]
                else:
                    total = pose[k - 1, i, 3] if j == 3 else 0.0
                    for c in range(3):
                        total += pose[k - 1, i, c] * local[k, c, j]
                    pose[k, i, j] = total
        if kind[k] == 1:
            s, c = np.sin(q), np.cos(q)
            for i in range(3):
                u, v = pose[k, i, 0], pose[k, i, 1]
                pose[k, i, 0] = u * c + v * s
                pose[k, i, 1] = v * c - u * s
        else:
            for i in range(3):
                pose[k, i, 3] += q * pose[k, i, 2]
    for i in range(3):
        for j in range(4):
            still = 1.0 if i == j else 0.0
            end_a[i, j] = pose[n_a - 1, i, j] if n_a > 0 else still
            end_b[i, j] = pose[len(kind) - 1, i, j] if len(kind) > n_a else still


@njit(cache=True, nogil=True, error_model="numpy")
def axis_distance(pose, k, px, py, pz):
    """Distance of a point from the axis of joint k."""
    dx, dy, dz = px - pose[k, 0, 3], py - pose[k, 1, 3], pz - pose[k, 2, 3]
    ax, ay, az = pose[k, 0, 2], pose[k, 1, 2], pose[k, 2, 2]
    cx, cy, cz = dy * az - dz * ay, dz * ax - dx * az, dx * ay - dy * ax
    return np.sqrt(cx * cx + cy * cy + cz * cz)


@njit(cache=True, nogil=True, error_model="numpy")
def movement(kind, pose, chord, order, start, stop, step, px, py, pz, radius, parts):
    """How far any point of a ball may move: joints order[start], order[start + step], ... up to stop, outermost first.

    A radius of 0 asks for the centre alone.
    `chord[k]` is 2 sin(h / 2) for a turning joint and h for a sliding one. Each joint's part goes to `parts`.
    """
    total = 0.0
    i = start
    while i != stop:
        k = order[i]
        part = chord[k]
        if kind[k] == 1:
            part *= axis_distance(pose, k, px, py, pz) + radius + total
        parts[k] += part
        total += part
        i += step
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def chord_of(kind, width):
    """What a joint of this kind adds when its value stays within `width` of the centre; see `movement`."""
    if kind != 1:
        return width
    return 2.0 * np.sin(0.5 * width) if width < np.pi else 2.0
