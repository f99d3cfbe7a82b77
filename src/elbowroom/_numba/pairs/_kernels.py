"""Numba kernel that bounds the clearance of one link pair in a box of joint values.

The relative motion of two links depends only on the joints between them. Everything is computed in float64 in
the frame of the body where the two branches meet. In a box of joint values, balls whose distance at the centre exceeds
radii, padding and both movements (`movement` bounds them) stay apart in the whole box.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..robot import movement

SLACK = 1e-9
"""Metres by which a bound must be positive: a thousand times the rounding error of float64 over a few metres."""


@njit(cache=True, nogil=True, error_model="numpy")
def _place(T, balls, first, stop, out):
    """Centres of balls first ... stop - 1 in the common frame."""
    for k in range(first, stop):
        x, y, z = balls[k, 0], balls[k, 1], balls[k, 2]
        for i in range(3):
            out[k, i] = T[i, 0] * x + T[i, 1] * y + T[i, 2] * z + T[i, 3]


@njit(cache=True, nogil=True, error_model="numpy")
def _detail(T, balls, first, stop, kind, pose, chord, order, start, end, step, parts, at, moves):
    """Places balls first ... stop - 1 and bounds their movement."""
    _place(T, balls, first, stop, at)
    for k in range(first, stop):
        moves[k] = movement(
            kind, pose, chord, order, start, end, step, at[k, 0], at[k, 1], at[k, 2], 0.0, parts
        )


@njit(cache=True, nogil=True, error_model="numpy")
def _gap(a, i, b, j):
    dx, dy, dz = a[i, 0] - b[j, 0], a[i, 1] - b[j, 1], a[i, 2] - b[j, 2]
    return np.sqrt(dx * dx + dy * dy + dz * dz)


@njit(cache=True, nogil=True, error_model="numpy")
def box_bounds(
    pad, side, kind, pose, chord, order, parts, end_a, balls_a, spans_a, at_a, moves_a, end_b, balls_b, spans_b,
    at_b, moves_b,
):  # fmt: skip
    """Lower bound of the padded clearance in the box, clearance at its centre, and the pair that decides.

    Balls are groups first (`spans`: first ball and count), then the spheres. Where a pair of groups is
    apart in the whole box its bound stands for its spheres; other groups are looked at in detail.
    """
    low, center = np.inf, np.inf
    worst_a, worst_b = 0, 0
    last = len(kind) - 1
    n_a, n_b = len(spans_a), len(spans_b)
    seen_b = np.zeros(n_b, np.uint8)
    _detail(end_a, balls_a, 0, n_a, kind, pose, chord, order, 0, side, 1, parts, at_a, moves_a)
    _detail(end_b, balls_b, 0, n_b, kind, pose, chord, order, last, side - 1, -1, parts, at_b, moves_b)
    for ga in range(n_a):
        a0, a1 = spans_a[ga, 0], spans_a[ga, 0] + spans_a[ga, 1]
        seen_a = False
        for gb in range(n_b):
            apart = _gap(at_a, ga, at_b, gb) - balls_a[ga, 3] - balls_b[gb, 3] - pad
            bound = apart - moves_a[ga] - moves_b[gb]
            if bound > SLACK:
                if bound < low:
                    low, worst_a, worst_b = bound, ga, gb
                center = min(center, max(apart, SLACK))
                continue
            b0, b1 = spans_b[gb, 0], spans_b[gb, 0] + spans_b[gb, 1]
            if not seen_a:
                seen_a = True
                _detail(end_a, balls_a, a0, a1, kind, pose, chord, order, 0, side, 1, parts, at_a, moves_a)
            if seen_b[gb] == 0:
                seen_b[gb] = 1
                _detail(
                    end_b, balls_b, b0, b1, kind, pose, chord, order, last, side - 1, -1, parts, at_b, moves_b
                )
            for i in range(a0, a1):
                for j in range(b0, b1):
                    apart = _gap(at_a, i, at_b, j) - balls_a[i, 3] - balls_b[j, 3] - pad
                    center = min(center, apart)
                    bound = apart - moves_a[i] - moves_b[j]
                    if not bound >= low:  # so that NaN is no proof
                        low, worst_a, worst_b = bound, i, j
    return low, center, worst_a, worst_b
