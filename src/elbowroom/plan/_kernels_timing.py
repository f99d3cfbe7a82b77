"""Numba kernels of speeds along a curve: the fastest that velocity and acceleration limits allow.

Reachability analysis (Pham and Pham, "A New Approach to Time-Optimal Path Parameterization Based on Reachability
Analysis", 2018) with x, the squared rate of the parameter, linear in the parameter between grid points. On an interval
inside one cubic piece a joint's acceleration q'(s) x'/2 + q''(s) x is then a quadratic polynomial whose three Bernstein
coefficients are linear in x at the two ends. Limits are asked of the coefficients, so they hold between the grid points
too, and nothing has to be checked or stretched afterwards.
"""

# pyright: basic
from __future__ import annotations

import math

import numpy as np

from .._jit import njit

FLAT = 1e-9
"""A row whose influence of x at the far end is below this share of the limit is taken as a bound of the near end."""
ROUNDING = 1e-12
"""Relative: by which the bounds of x at the far end may cross."""
FASTEST = 1e9
"""1/s: no interval takes less than a nanosecond, even where nothing moves."""
TURN = 1e-6
"""Relative to the largest: a jump of the direction that is more than rounding."""


@njit(cache=True, nogil=True, error_model="numpy")
def find_stops(pieces, knots, stops, order, out):
    """Fills out (k+1,): the stops, and knots where the derivative of this order (1 or 2), or a lower one, jumps."""
    k, _, dof = pieces.shape
    largest1, largest2 = 0.0, 0.0
    for p in range(k):
        width = knots[p + 1] - knots[p]
        for j in range(dof):
            for c in range(3):
                largest1 = max(largest1, abs(pieces[p, c + 1, j] - pieces[p, c, j]) / width)
            for c in range(2):
                bend = pieces[p, c + 2, j] - 2.0 * pieces[p, c + 1, j] + pieces[p, c, j]
                largest2 = max(largest2, abs(bend) / (width * width))
    out[0], out[k] = True, True
    for p in range(1, k):
        out[p] = stops[p]
        before, after = knots[p] - knots[p - 1], knots[p + 1] - knots[p]
        for j in range(dof):
            slope0 = (pieces[p - 1, 3, j] - pieces[p - 1, 2, j]) / before
            slope1 = (pieces[p, 1, j] - pieces[p, 0, j]) / after
            if abs(slope1 - slope0) > TURN * largest1:
                out[p] = True
            if order == 2:
                bend0 = pieces[p - 1, 3, j] - 2.0 * pieces[p - 1, 2, j] + pieces[p - 1, 1, j]
                bend1 = pieces[p, 2, j] - 2.0 * pieces[p, 1, j] + pieces[p, 0, j]
                # of a straight line all second derivatives are rounding
                least = TURN * max(largest2, largest1 / min(before, after))
                if abs(bend1 / (after * after) - bend0 / (before * before)) > least:
                    out[p] = True


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def turn_of(control):
    """By how much the slope of a piece changes on it, relative to the largest: 0 where it is straight, 2 in a cusp."""
    change, largest = 0.0, 0.0
    for j in range(control.shape[1]):
        d0, d1, d2 = (
            control[1, j] - control[0, j],
            control[2, j] - control[1, j],
            control[3, j] - control[2, j],
        )
        change = max(change, max(d0, d1, d2) - min(d0, d1, d2))
        largest = max(largest, abs(d0), abs(d1), abs(d2))
    return change / largest if largest > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def make_grid(pieces, knots, stops, per_piece, per_turn, per_section):
    """Intervals of the grid: parameters at their ends (n+1,), whether the robot rests there (n+1,), and the piece each
    is in (n,).

    Every piece gets at least per_piece and per_turn more where it turns by all its slope, every section between two
    stops about per_section.
    """
    k = len(knots) - 1
    counts = np.empty(k, np.int64)
    first = 0
    total = 0
    for p in range(k):
        if stops[p + 1]:
            length = knots[p + 1] - knots[first]
            for c in range(first, p + 1):
                share = per_section * (knots[c + 1] - knots[c]) / length
                turning = per_piece + per_turn * turn_of(pieces[c])
                counts[c] = math.ceil(max(share, turning))
                total += counts[c]
            first = p + 1
    grid, at_rest, piece_of = np.empty(total + 1), np.zeros(total + 1, np.bool_), np.empty(total, np.int64)
    at = 0
    for p in range(k):
        width = (knots[p + 1] - knots[p]) / counts[p]
        at_rest[at] = stops[p]
        for c in range(counts[p]):
            grid[at] = knots[p] + c * width
            piece_of[at] = p
            at += 1
    grid[total], at_rest[total] = knots[k], True
    return grid, at_rest, piece_of


@njit(cache=True, nogil=True, error_model="numpy")
def fill_rows(pieces, knots, grid, piece_of, moving, rates, near, far):
    """Bernstein coefficients on each interval of what the joints in moving (m,) do.

    With x0 and x1 the squared rates of the parameter at the two ends, fills rates (n, 2, m): the square of a speed is
    at most the larger of rates[0]^2 x0 and rates[1]^2 x1; and near and far (n, 3m): accelerations lie between the
    smallest and the largest of near * x0 + far * x1.
    """
    m = len(moving)
    for i in range(len(piece_of)):
        p = piece_of[i]
        width = knots[p + 1] - knots[p]
        t0, t1 = (grid[i] - knots[p]) / width, min((grid[i + 1] - knots[p]) / width, 1.0)
        h = grid[i + 1] - grid[i]
        for e in range(m):
            j = moving[e]
            d0 = 3.0 * (pieces[p, 1, j] - pieces[p, 0, j]) / width
            d1 = 3.0 * (pieces[p, 2, j] - pieces[p, 1, j]) / width
            d2 = 3.0 * (pieces[p, 3, j] - pieces[p, 2, j]) / width
            a0, a1 = d0 + t0 * (d1 - d0), d1 + t0 * (d2 - d1)
            b0, b1 = d0 + t1 * (d1 - d0), d1 + t1 * (d2 - d1)
            first, middle, last = a0 + t0 * (a1 - a0), a0 + t1 * (a1 - a0), b0 + t1 * (b1 - b0)
            fill_rates(first, middle, last, rates[i, :, e])
            bend0, bend1 = 2.0 * (a1 - a0) / width, 2.0 * (b1 - b0) / width
            half = 0.5 / h
            near[i, 3 * e], far[i, 3 * e] = bend0 - half * first, half * first
            near[i, 3 * e + 1] = 0.5 * bend1 - half * middle
            far[i, 3 * e + 1] = 0.5 * bend0 + half * middle
            near[i, 3 * e + 2], far[i, 3 * e + 2] = -half * last, bend1 + half * last


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def fill_rates(b0, b1, b2, out):
    """Fills out (2,) for a slope with these Bernstein coefficients, so that `fill_rows` keeps its word.

    As long as x is below the line between X0 = 1 / |q'|^2 at one end and X1 at the other, q'^2 x is below q'^2 times
    that line, a polynomial of degree five which its coefficients bound: little above 1 on a short interval.
    """
    most = max(abs(b0), abs(b1), abs(b2))
    if most == 0.0:
        out[0], out[1] = 0.0, 0.0
        return
    out[0], out[1] = max(abs(b0), 0.5 * most), max(abs(b2), 0.5 * most)
    x0, x1 = 1.0 / (out[0] * out[0]), 1.0 / (out[1] * out[1])
    p0, p1, p2, p3, p4 = b0 * b0, b0 * b1, (b0 * b2 + 2.0 * b1 * b1) / 3.0, b1 * b2, b2 * b2
    above = max(p0 * x0, p4 * x1, (p0 * x1 + 4.0 * p1 * x0) / 5.0, (4.0 * p3 * x1 + p4 * x0) / 5.0)
    above = max(above, (2.0 * p1 * x1 + 3.0 * p2 * x0) / 5.0, (3.0 * p2 * x1 + 2.0 * p3 * x0) / 5.0)
    out[0] *= math.sqrt(above)
    out[1] *= math.sqrt(above)


@njit(cache=True, nogil=True, error_model="numpy")
def fastest(grid, at_rest, rates, near, far, velocity, acceleration, ceiling, squared, peaks):
    """Fills squared (n+1,): the largest squared rates of the parameter that keep the limits, zero where at_rest (n+1,);
    and peaks (2, m): what no joint's speed and acceleration exceeds, anywhere.

    Args:
        rates, near, far: by `fill_rows`.
        velocity, acceleration: (m,) limits of the moving joints.
        ceiling: (n+1,) bounds besides.
    """
    n, m = len(grid) - 1, len(velocity)
    # Rows as x1 within slope * x0 -+ reach, and what bounds x0 alone.
    slopes, reaches = np.empty((n, 3 * m)), np.empty((n, 3 * m))
    highest = ceiling.copy()
    for i in range(n):
        for end in range(2):
            most = (grid[i + 1] - grid[i]) * FASTEST
            for e in range(m):
                most = min(most, velocity[e] / rates[i, end, e])  # infinite where it does not move
            highest[i + end] = min(highest[i + end], most * most)
    for i in range(n + 1):
        if at_rest[i]:
            highest[i] = 0.0
    for i in range(n):
        for e in range(m):
            limit = acceleration[e]
            for c in range(3 * e, 3 * e + 3):
                if abs(far[i, c]) * highest[i + 1] > FLAT * limit:
                    slopes[i, c], reaches[i, c] = -near[i, c] / far[i, c], limit / abs(far[i, c])
                else:
                    slopes[i, c], reaches[i, c] = 0.0, np.inf
                    if near[i, c] != 0.0:
                        highest[i] = min(highest[i], (1.0 - FLAT) * limit / abs(near[i, c]))
    for i in range(n - 1, -1, -1):
        x = highest[i]
        for _ in range(3 * m + 8):
            low, high, low_slope, high_slope = 0.0, highest[i + 1], 0.0, 0.0
            for c in range(3 * m):
                middle = slopes[i, c] * x
                if middle - reaches[i, c] > low:
                    low, low_slope = middle - reaches[i, c], slopes[i, c]
                if middle + reaches[i, c] < high:
                    high, high_slope = middle + reaches[i, c], slopes[i, c]
            if low <= high + ROUNDING * highest[i + 1]:
                break
            # The two lines bound what is possible; where they meet is the next guess, from above.
            x = max(0.0, x - (low - high) / (low_slope - high_slope))
        highest[i] = x
    squared[0] = 0.0
    for i in range(n):
        x, high = squared[i], highest[i + 1]
        for c in range(3 * m):
            high = min(high, slopes[i, c] * x + reaches[i, c])
        squared[i + 1] = max(high, 0.0)
    peaks[:] = 0.0
    for i in range(n):
        x0, x1 = squared[i], squared[i + 1]
        for e in range(m):
            peaks[0, e] = max(peaks[0, e], rates[i, 0, e] * math.sqrt(x0), rates[i, 1, e] * math.sqrt(x1))
            for c in range(3 * e, 3 * e + 3):
                peaks[1, e] = max(peaks[1, e], abs(near[i, c] * x0 + far[i, c] * x1))


@njit(cache=True, nogil=True, error_model="numpy")
def fill_times(grid, squared, times, speeds, pushes):
    """Fills times, speeds (n+1,), the parameter's rate, and pushes (n+1,), its acceleration from there on."""
    n = len(grid) - 1
    times[0] = 0.0
    for i in range(n):
        h = grid[i + 1] - grid[i]
        speeds[i] = math.sqrt(squared[i])
        times[i + 1] = times[i] + 2.0 * h / (speeds[i] + math.sqrt(squared[i + 1]))
        pushes[i] = 0.5 * (squared[i + 1] - squared[i]) / h
    speeds[n], pushes[n] = math.sqrt(squared[n]), 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def evaluate(pieces, knots, times, grid, speeds, pushes, jerks, piece_of, order, at, out):
    """Fills out (len(at), dof): configurations at times, ascending or not, or a derivative by time, 0 to 3.

    Args:
        times, grid, speeds, pushes: (n+1,) when an interval begins, and the parameter, its rate and acceleration then.
        jerks: (n,) third derivative of the parameter on it.
        piece_of: (n,) piece of the curve it lies in.
        at: seconds; before the beginning and after the end the robot rests.
    """
    n, dof = len(piece_of), pieces.shape[2]
    for r in range(len(at)):
        t = at[r]
        if order > 0 and (t < 0.0 or t > times[n]):
            out[r] = 0.0
            continue
        i = min(max(np.searchsorted(times, t, side="right") - 1, 0), n - 1)
        tau = min(max(t - times[i], 0.0), times[i + 1] - times[i])
        s0 = grid[i] + tau * (speeds[i] + tau * (pushes[i] / 2.0 + tau * jerks[i] / 6.0))
        s1 = speeds[i] + tau * (pushes[i] + tau * jerks[i] / 2.0)
        s2, s3 = pushes[i] + tau * jerks[i], jerks[i]
        p = piece_of[i]
        width = knots[p + 1] - knots[p]
        u = min(max((s0 - knots[p]) / width, 0.0), 1.0)
        v = 1.0 - u
        for j in range(dof):
            p0, p1, p2, p3 = pieces[p, 0, j], pieces[p, 1, j], pieces[p, 2, j], pieces[p, 3, j]
            if order == 0:
                out[r, j] = v * v * v * p0 + 3.0 * u * v * (v * p1 + u * p2) + u * u * u * p3
                continue
            d0, d1, d2 = 3.0 * (p1 - p0) / width, 3.0 * (p2 - p1) / width, 3.0 * (p3 - p2) / width
            slope = v * v * d0 + 2.0 * u * v * d1 + u * u * d2
            bend = 2.0 * (v * (d1 - d0) + u * (d2 - d1)) / width
            if order == 1:
                out[r, j] = slope * s1
            elif order == 2:
                out[r, j] = slope * s2 + bend * s1 * s1
            else:
                third = 2.0 * (d2 - 2.0 * d1 + d0) / (width * width)
                out[r, j] = slope * s3 + 3.0 * bend * s1 * s2 + third * s1 * s1 * s1
