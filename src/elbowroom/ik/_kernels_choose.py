"""Kernel that sorts the ends of searches: which arrived, and how near they are to a configuration."""

# pyright: basic

from __future__ import annotations

import numpy as np

from .._jit import njit


@njit(cache=True, nogil=True, error_model="numpy")
def arrivals(rows, reference, joint_idx, weights, order, distance):
    """Which rows of `Lanes.rows` reached, the nearest to a configuration first; returns how many, and all steps.

    Args:
        rows: (s, columns) ends of searches.
        reference: (dof,) configuration.
        joint_idx: joints that count.
        weights: of their differences.
        order: (s,) out: numbers of the rows that reached.
        distance: (s,) out: squared distance of every row; infinite for one that did not reach.
    """
    count, steps = 0, 0.0
    last = rows.shape[1] - 1
    for row in range(len(rows)):
        steps += rows[row, last]
        if rows[row, last - 1] <= 0.0:
            distance[row] = np.inf
            continue
        far = 0.0
        for k in range(len(joint_idx)):
            off = (rows[row, joint_idx[k]] - reference[joint_idx[k]]) * weights[k]
            far += off * off
        at = count
        while at > 0 and distance[order[at - 1]] > far:
            order[at] = order[at - 1]
            at -= 1
        distance[row], order[at] = far, row
        count += 1
    return count, int(steps)
