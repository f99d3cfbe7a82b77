"""Numba kernels for one link pair: clearance, search for a collision, proof that there is none.

The relative motion of two links depends only on the joints between them. Everything is computed in float64 in
the frame of the body where the two branches meet. In a box of joint values, balls whose distance at the centre exceeds
radii, padding and both movements (`movement` bounds them) stay apart in the whole box.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ..robot.kernels import chain_poses, chord_of, movement

UNDECIDED, PROVED, HIT = 0, 1, 2
SLACK = 1e-9
"""Metres by which a bound must be positive: a thousand times the rounding error of float64 over a few metres."""
STACK = 8192
"""Boxes waiting at most; depth-first search needs one per halving."""


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


@njit(cache=True, nogil=True, error_model="numpy")
def clearance(cfg, n_a, kind, local, poly, var, balls_a, spans_a, balls_b, spans_b):
    """Smallest distance between spheres of the two links at one configuration of the joints between them."""
    pose = np.empty((len(kind), 3, 4))
    end_a, end_b = np.empty((3, 4)), np.empty((3, 4))
    chain_poses(cfg, n_a, kind, local, poly, var, pose, end_a, end_b)
    at_a, at_b = np.empty((len(balls_a), 3)), np.empty((len(balls_b), 3))
    _place(end_a, balls_a, 0, len(balls_a), at_a)
    _place(end_b, balls_b, 0, len(balls_b), at_b)
    best = np.inf
    for ga in range(len(spans_a)):
        for gb in range(len(spans_b)):
            if _gap(at_a, ga, at_b, gb) - balls_a[ga, 3] - balls_b[gb, 3] >= best:
                continue
            for i in range(spans_a[ga, 0], spans_a[ga, 0] + spans_a[ga, 1]):
                for j in range(spans_b[gb, 0], spans_b[gb, 0] + spans_b[gb, 1]):
                    best = min(best, _gap(at_a, i, at_b, j) - balls_a[i, 3] - balls_b[j, 3])
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def search(
    starts, lower, upper, target, rounds, n_a, kind, local, poly, var, balls_a, spans_a, balls_b, spans_b
):
    """Lowers the clearance by moving one joint at a time with shrinking steps (pattern search) from every start.

    Ends when the clearance is not above `target`. Returns the smallest clearance and where it was.
    """
    n = len(lower)
    best = np.inf
    best_cfg, cfg, step = np.empty(n), np.empty(n), np.empty(n)
    for s in range(len(starts)):
        for v in range(n):
            cfg[v] = starts[s, v]
            step[v] = (upper[v] - lower[v]) / 8.0
        value = clearance(cfg, n_a, kind, local, poly, var, balls_a, spans_a, balls_b, spans_b)
        for _ in range(rounds):
            for v in range(n):
                old = cfg[v]
                moved = False
                for way in range(2):
                    cfg[v] = min(max(old + (2 * way - 1) * step[v], lower[v]), upper[v])
                    trial = clearance(cfg, n_a, kind, local, poly, var, balls_a, spans_a, balls_b, spans_b)
                    if trial < value:
                        value, moved = trial, True
                        break
                if moved:
                    step[v] *= 1.6
                else:
                    cfg[v] = old
                    step[v] *= 0.5
            if value <= target:
                break
        if value < best:
            best = value
            for v in range(n):
                best_cfg[v] = cfg[v]
        if best <= target:
            break
    return best, best_cfg


@njit(cache=True, nogil=True, error_model="numpy")
def prove(
    lower, upper, pad, max_boxes, side, slope, n_a, kind, local, poly, var, balls_a, spans_a, balls_b, spans_b
):
    """Branch and bound: whether the padded spheres stay apart in the whole box of joint values.

    Args:
        side: joints on the path from a that count as moving a; the others move b.
        slope: largest rate of each joint per unit of its variable.

    Returns:
        (status, bound, boxes, cfg): PROVED with a lower bound of the padded clearance, HIT with a configuration
        where it is not positive, or UNDECIDED when the budget of boxes is spent.
    """
    n, m = len(lower), len(kind)
    path = np.empty(m, np.int64)
    for k in range(m):
        path[k] = n_a - 1 - k if k < n_a else k
    centers, halves = np.empty((STACK, n)), np.empty((STACK, n))
    for v in range(n):
        centers[0, v], halves[0, v] = 0.5 * (lower[v] + upper[v]), 0.5 * (upper[v] - lower[v])
    waiting, boxes = 1, 0
    low = np.inf
    pose = np.empty((m, 3, 4))
    end_a, end_b = np.empty((3, 4)), np.empty((3, 4))
    at_a, at_b = np.empty((len(balls_a), 3)), np.empty((len(balls_b), 3))
    moves_a, moves_b = np.empty(len(balls_a)), np.empty(len(balls_b))
    chord, parts, gain = np.empty(m), np.empty(m), np.empty(n)
    center = np.empty(n)
    while waiting > 0:
        if boxes >= max_boxes or waiting >= STACK - 1:
            return UNDECIDED, 0.0, boxes, center
        waiting -= 1
        boxes += 1
        for v in range(n):
            center[v] = centers[waiting, v]
        for k in range(m):
            chord[k] = chord_of(kind[k], slope[k] * halves[waiting, var[k]])
        chain_poses(center, n_a, kind, local, poly, var, pose, end_a, end_b)
        bound, middle, i, j = box_bounds(
            pad, side, kind, pose, chord, path, parts, end_a, balls_a, spans_a, at_a, moves_a, end_b, balls_b,
            spans_b, at_b, moves_b,
        )  # fmt: skip
        if middle <= 0.0:
            return HIT, middle, boxes, center
        if bound > SLACK:
            low = min(low, bound)
            continue
        for k in range(m):
            parts[k] = 0.0
        movement(kind, pose, chord, path, 0, side, 1, at_a[i, 0], at_a[i, 1], at_a[i, 2], 0.0, parts)
        movement(kind, pose, chord, path, m - 1, side - 1, -1, at_b[j, 0], at_b[j, 1], at_b[j, 2], 0.0, parts)
        v = _widest(parts, var, gain)
        halves[waiting, v] *= 0.5
        for w in range(n):
            halves[waiting + 1, w] = halves[waiting, w]
            centers[waiting + 1, w] = center[w]
        centers[waiting, v] = center[v] - halves[waiting, v]
        centers[waiting + 1, v] = center[v] + halves[waiting, v]
        waiting += 2
    return PROVED, low, boxes, center


@njit(cache=True, nogil=True, error_model="numpy")
def _widest(parts, var, gain):
    """Variable whose joints move the deciding balls most."""
    for v in range(len(gain)):
        gain[v] = 0.0
    for k in range(len(parts)):
        gain[var[k]] += parts[k]
    best = 0
    for v in range(1, len(gain)):
        if gain[v] > gain[best]:
            best = v
    return best
