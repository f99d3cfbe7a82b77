"""Numba kernels of speeds whose accelerations do not jump: what was chosen is averaged over a window of time.

The average of the parameter over a window has for its rate and acceleration the averages of rate and acceleration, and
for its third derivative what the acceleration changes over the window, divided by its length. It passes the same
places, a window later at the end.
"""

# pyright: basic
from __future__ import annotations

import math

import numpy as np

from .._jit import njit
from ._kernels_timing import fastest, fill_times

TOO_SHORT = 1e-12
"""Seconds: an interval that rounding makes."""
LOOKS = 5
"""Places of an interval at which limits are looked at, its ends among them."""
CLOSE = 1.002
"""A motion that exceeds limits by so little is stretched, not made anew."""


@njit(cache=True, nogil=True, error_model="numpy")
def average(times, grid, speeds, pushes, knots, window, rows):
    """The average over a window: fills rows (5, most), n intervals as in `evaluate`, and returns n.

    Rows are the time at the beginning, the parameter, its rate, acceleration and third derivative; the last entry is
    the end. Intervals are cut at knots of the curve.
    """
    last, begin, end = len(times) - 1, grid[0], grid[-1]
    head, tail = 0, -1  # intervals in which the window begins and ends; -1 before all, last after all
    now, place = 0.0, begin
    count, knot = 0, 1
    while True:
        front, front_rate, front_push = end, 0.0, 0.0
        if head < last:
            tau = now - times[head]
            front = grid[head] + tau * (speeds[head] + 0.5 * tau * pushes[head])
            front_rate, front_push = speeds[head] + tau * pushes[head], pushes[head]
        back, back_rate, back_push = begin, 0.0, 0.0
        if tail >= 0:
            tau = now - window - times[tail]
            back = grid[tail] + tau * (speeds[tail] + 0.5 * tau * pushes[tail])
            back_rate, back_push = speeds[tail] + tau * pushes[tail], pushes[tail]
        rate = max((front - back) / window, 0.0)
        push, jerk = (front_rate - back_rate) / window, (front_push - back_push) / window
        until_head = times[head + 1] if head < last else np.inf
        until_tail = times[tail + 1] + window
        until = min(until_head, until_tail)
        step = until - now
        while step > TOO_SHORT:
            rows[0, count], rows[1, count], rows[2, count] = now, place, rate
            rows[3, count], rows[4, count] = push, jerk
            count += 1
            after = place + step * (rate + step * (push / 2.0 + step * jerk / 6.0))
            part = step
            if knot < len(knots) - 1 and after > knots[knot]:
                low, high = 0.0, step
                for _ in range(60):
                    part = 0.5 * (low + high)
                    if place + part * (rate + part * (push / 2.0 + part * jerk / 6.0)) < knots[knot]:
                        low = part
                    else:
                        high = part
                after = knots[knot]
                knot += 1
            place = after
            rate = max(rate + part * (push + 0.5 * part * jerk), 0.0)
            push += part * jerk
            now += part
            step -= part
        now = until
        if until_head <= until:
            head += 1
        if until_tail <= until:
            tail += 1
            if tail == last:
                break
    rows[0, count], rows[1, count], rows[2:, count] = now, end, 0.0
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def look(pieces, knots, rows, n, moving, velocity, acceleration, jerk, peaks, needs):
    """Fills peaks (3, m), the largest speeds, accelerations and jerks seen, and needs (n,), by which time must be
    stretched on each interval for the limits to be kept; returns the largest."""
    peaks[:] = 0.0
    p, worst = 0, 0.0
    for i in range(n):
        while p < len(pieces) - 1 and 0.5 * (rows[1, i] + rows[1, i + 1]) > knots[p + 1]:
            p += 1
        width = knots[p + 1] - knots[p]
        length = rows[0, i + 1] - rows[0, i]
        need = 0.0
        for c in range(LOOKS):
            tau = length * c / (LOOKS - 1)
            s0 = rows[1, i] + tau * (rows[2, i] + tau * (rows[3, i] / 2.0 + tau * rows[4, i] / 6.0))
            s1 = rows[2, i] + tau * (rows[3, i] + tau * rows[4, i] / 2.0)
            s2, s3 = rows[3, i] + tau * rows[4, i], rows[4, i]
            u = min(max((s0 - knots[p]) / width, 0.0), 1.0)
            v = 1.0 - u
            for e in range(len(moving)):
                j = moving[e]
                d0 = 3.0 * (pieces[p, 1, j] - pieces[p, 0, j]) / width
                d1 = 3.0 * (pieces[p, 2, j] - pieces[p, 1, j]) / width
                d2 = 3.0 * (pieces[p, 3, j] - pieces[p, 2, j]) / width
                slope = v * v * d0 + 2.0 * u * v * d1 + u * u * d2
                bend = 2.0 * (v * (d1 - d0) + u * (d2 - d1)) / width
                third = 2.0 * (d2 - 2.0 * d1 + d0) / (width * width)
                fast = abs(slope * s1)
                quick = abs(slope * s2 + bend * s1 * s1)
                sudden = abs(slope * s3 + 3.0 * bend * s1 * s2 + third * s1 * s1 * s1)
                peaks[0, e], peaks[1, e] = max(peaks[0, e], fast), max(peaks[1, e], quick)
                peaks[2, e] = max(peaks[2, e], sudden)
                need = max(need, fast / velocity[e], math.sqrt(quick / acceleration[e]))
                need = max(need, (sudden / jerk[e]) ** (1.0 / 3.0))
        needs[i] = need
        worst = max(worst, need)
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def lower_ceiling(times, squared, rows, n, needs, window, ceiling):
    """Lowers ceiling where the average needs more time: at all that a window there looks at."""
    first = 0
    for i in range(len(times)):
        while first < n and rows[0, first + 1] < times[i]:
            first += 1
        need = 1.0
        k = first
        while k < n and rows[0, k] <= times[i] + window:
            need = max(need, needs[k])
            k += 1
        if need > 1.0:
            ceiling[i] = min(ceiling[i], squared[i] / (need * need))


@njit(cache=True, nogil=True, error_model="numpy")
def time_section(
    pieces, knots, grid, at_rest, slopes, near, far, moving, velocity, acceleration, jerk, windows, shortest_window,
    rounds,
):  # fmt: skip
    """Speeds along pieces without a stop between, the shortest motion of several windows.

    Args:
        pieces, knots: of the section; grid, at_rest by `make_grid`, slopes, near, far by `fill_rows`.
        moving: (m,) joints; velocity, acceleration, jerk: (m,) their limits.
        windows: (w,) times of the longest in which a joint builds up its acceleration, and shortest_window at least.
        rounds: in which speeds are lowered where limits are exceeded.

    Returns rows (5, n+1) as of `average`, and peaks (3, m).
    """
    n, m = len(grid) - 1, len(moving)
    squared, times, rates, pushes = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    most = 2 * n + len(knots) + 4
    rows, needs, before, peaks = np.empty((5, most)), np.empty(most), np.empty((2, m)), np.empty((3, m))
    best, best_peaks, shortest = np.empty((5, 1)), np.empty((3, m)), np.inf
    longest = -1.0
    for factor in windows:
        ceiling = np.full(n + 1, np.inf)
        for _ in range(rounds):
            fastest(grid, at_rest, slopes, near, far, velocity, acceleration, ceiling, squared, before)
            if longest < 0.0:
                for e in range(m):
                    longest = max(longest, before[1, e] / jerk[e])
            window = max(factor * longest, shortest_window)
            fill_times(grid, squared, times, rates, pushes)
            count = average(times, grid, rates, pushes, knots, window, rows)
            worst = look(pieces, knots, rows, count, moving, velocity, acceleration, jerk, peaks, needs)
            stretch = max(worst, 1.0)
            if rows[0, count] * stretch < shortest:
                shortest = rows[0, count] * stretch
                best = rows[:, : count + 1].copy()
                best[0] *= stretch
                for k in range(3):
                    best[k + 2] /= stretch ** (k + 1.0)
                    best_peaks[k] = peaks[k] / stretch ** (k + 1.0)
            if worst <= CLOSE:
                break
            lower_ceiling(times, squared, rows, count, needs, window, ceiling)
    return best, best_peaks
