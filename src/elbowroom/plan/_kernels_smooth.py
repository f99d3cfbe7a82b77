"""Numba kernels of smoothing: the smoothing spline of Reinsch (1967), its cubic pieces, and how rough a path is.

A natural cubic spline f minimises sum |y_i - f(x_i)|^2 / give_i + integral |f''|^2 over all functions: with give 0 it
goes through y_i, with more it cuts corners. Its second derivatives at the knots solve one symmetric system of five
diagonals, (T + Q' diag(give) Q) f'' = Q' y, and f = y - diag(give) Q f''; the work grows with the number of knots.
"""

# pyright: basic
from __future__ import annotations

import math

import numpy as np

from .._jit import njit

KEEP_TURN = 0.1
"""Radians between two edges of a path from which on its corner becomes a knot."""
CLOSE = 0.1
"""Shares of the spacing of knots that corners may come close to each other or to the end; closer ones become none."""


@njit(cache=True, nogil=True, error_model="numpy")
def measure(path, ways):
    """Fills ways (n,): the length of a path (n, m) up to each of its waypoints."""
    ways[0] = 0.0
    for k in range(1, len(path)):
        square = 0.0
        for j in range(path.shape[1]):
            square += (path[k, j] - path[k - 1, j]) ** 2
        ways[k] = ways[k - 1] + math.sqrt(square)


@njit(cache=True, nogil=True, error_model="numpy")
def places_at(path, ways, wanted, rows):
    """Fills rows (k, m): where a path is after the lengths wanted (k,), which increase."""
    n, m = path.shape
    k = 1
    for i in range(len(rows)):
        while k < n - 1 and ways[k] < wanted[i]:
            k += 1
        width = ways[k] - ways[k - 1]
        t = (wanted[i] - ways[k - 1]) / width if width > 0.0 else 1.0
        for j in range(m):  # the end of an edge exactly
            rows[i, j] = path[k - 1, j] + t * (path[k, j] - path[k - 1, j]) if t < 1.0 else path[k, j]


@njit(cache=True, nogil=True, error_model="numpy")
def lay_knots(path, ways, spacing, every, knots, corners):
    """Lengths along a path at which a spline gets its knots; returns how many.

    Args:
        path: (n, m) waypoints, n >= 2, no two of them alike in a row.
        ways: (n,) as of `measure`.
        spacing: that knots may be apart.
        every: whether each waypoint becomes a knot, or only corners.
        knots: (k,) receives the lengths; k is at least n + length / spacing.
        corners: (k,) bool, receives whether the knot is a waypoint.
    """
    n, m = path.shape
    knots[0], corners[0] = 0.0, True
    count, last = 1, 0
    for k in range(1, n):
        keep = every or k == n - 1
        if not keep and min(ways[k] - ways[last], ways[n - 1] - ways[k]) > CLOSE * spacing:
            before, after = ways[k] - ways[k - 1], ways[k + 1] - ways[k]
            turn = 0.0
            for j in range(m):
                turn += ((path[k + 1, j] - path[k, j]) / after - (path[k, j] - path[k - 1, j]) / before) ** 2
            keep = turn > KEEP_TURN * KEEP_TURN
        if not keep:
            continue
        cuts = max(1, math.ceil((ways[k] - ways[last]) / spacing - 1e-9))
        for c in range(1, cuts):
            knots[count], corners[count] = ways[last] + (ways[k] - ways[last]) * c / cuts, False
            count += 1
        knots[count], corners[count] = ways[k], True
        count, last = count + 1, k
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def fit_spline(knots, guide, give, diagonals, values, bends):
    """Smoothing spline along a guide; the first and last entries of `give` should be 0.

    Args:
        knots: (n,) parameters, increasing, n >= 2.
        guide: (n, m) what the spline follows.
        give: (n,) how much it may leave each of them, against bending; 0 not at all.
        diagonals: (3, n) scratch.
        values: (n, m) receives the spline at the knots.
        bends: (n, m) receives its second derivatives there, 0 at both ends.
    """
    n, m = guide.shape
    main, first, second = diagonals[0], diagonals[1], diagonals[2]
    values[:] = guide
    bends[:] = 0.0
    if n < 3:
        return
    for k in range(1, n - 1):
        a, b = 1.0 / (knots[k] - knots[k - 1]), 1.0 / (knots[k + 1] - knots[k])
        main[k] = (knots[k + 1] - knots[k - 1]) / 3.0
        main[k] += a * a * give[k - 1] + (a + b) ** 2 * give[k] + b * b * give[k + 1]
        first[k] = second[k] = 0.0
        if k < n - 2:
            c = 1.0 / (knots[k + 2] - knots[k + 1])
            first[k] = (knots[k + 1] - knots[k]) / 6.0 - (a + b) * b * give[k] - b * (b + c) * give[k + 1]
            if k < n - 3:
                second[k] = b * c * give[k + 1]
        for j in range(m):
            bends[k, j] = (guide[k + 1, j] - guide[k, j]) * b - (guide[k, j] - guide[k - 1, j]) * a
    # L D L' in place: `first` and `second` become the entries of L below the diagonal
    for k in range(1, n - 1):
        one = first[k] / main[k]
        two = second[k] / main[k]
        if k < n - 2:
            main[k + 1] -= one * first[k]
            first[k + 1] -= one * second[k]
        if k < n - 3:
            main[k + 2] -= two * second[k]
        first[k], second[k] = one, two
        for j in range(m):
            if k < n - 2:
                bends[k + 1, j] -= one * bends[k, j]
            if k < n - 3:
                bends[k + 2, j] -= two * bends[k, j]
    for k in range(n - 2, 0, -1):
        for j in range(m):
            value = bends[k, j] / main[k]
            if k < n - 2:
                value -= first[k] * bends[k + 1, j]
            if k < n - 3:
                value -= second[k] * bends[k + 2, j]
            bends[k, j] = value
    for k in range(1, n - 1):
        a, b = 1.0 / (knots[k] - knots[k - 1]), 1.0 / (knots[k + 1] - knots[k])
        for j in range(m):
            off = a * bends[k - 1, j] - (a + b) * bends[k, j] + b * bends[k + 1, j]
            values[k, j] -= give[k] * off


@njit(cache=True, nogil=True, error_model="numpy")
def smooth_pieces(knots, guide, reaches, stops, scratch, pieces):
    """Control points (n - 1, 4, m) of the spline that smooths over the reach (n,) of each knot, and stops at stops.

    Data a step h apart with give g are smoothed over a length of about (g h)^(1/4), so a reach is that length. Between
    two stops the spline is natural: a straight guide gives a straight line.
    """
    (give, diagonals), (values, bends) = scratch
    n = len(knots)
    for k in range(n):
        give[k] = 0.0
        if not stops[k]:
            give[k] = 2.0 * reaches[k] ** 4 / (knots[k + 1] - knots[k - 1])
    first = 0
    for last in range(1, n):
        if stops[last]:
            part = slice(first, last + 1)
            fit_spline(knots[part], guide[part], give[part], diagonals[:, part], values[part], bends[part])
            _cubics(knots[part], values[part], bends[part], pieces[first:last])
            first = last


@njit(cache=True, nogil=True, error_model="numpy")
def _cubics(knots, values, bends, pieces):
    """Fills pieces (n - 1, 4, m) from values and second derivatives at the knots."""
    for k in range(len(knots) - 1):
        bend = (knots[k + 1] - knots[k]) ** 2 / 18.0
        for j in range(values.shape[1]):
            begin, end = values[k, j], values[k + 1, j]
            third = (end - begin) / 3.0
            pieces[k, 0, j], pieces[k, 3, j] = begin, end
            pieces[k, 1, j] = begin + third - bend * (2.0 * bends[k, j] + bends[k + 1, j])
            pieces[k, 2, j] = end - third - bend * (bends[k, j] + 2.0 * bends[k + 1, j])


@njit(cache=True, nogil=True, error_model="numpy")
def second_differences(path, steps):
    """Sum of squared second differences of a path (n, m), resampled at `steps` equally long steps."""
    ways = np.empty(len(path))
    measure(path, ways)
    rows = np.empty((steps + 1, path.shape[1]))
    places_at(path, ways, np.linspace(0.0, ways[-1], steps + 1), rows)
    total = 0.0
    for i in range(1, steps):
        for j in range(path.shape[1]):
            total += (rows[i - 1, j] - 2.0 * rows[i, j] + rows[i + 1, j]) ** 2
    return total
