"""The quadratic programme of one tick, by daqp: bounds on every joint's rate, and rows that have a least value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

UNBOUNDED = 1e30
"""What daqp takes for infinity."""
OPTIMAL = 1
"""daqp's flag of an answer."""
ACTIVE = 1e-9
"""Multipliers above this are of constraints that hold the answer back."""
GIVING_WAY = 1e4
"""What it costs that rows give way, relative to the cost of velocities."""


class Solution(NamedTuple):
    """What was found."""

    velocity: Float[np.ndarray, "dof"]
    found: bool
    """Whether the programme was solved; the velocity means nothing otherwise."""
    bounds: Float[np.ndarray, "dof"]
    """Multipliers of the bounds: above zero where the upper one holds back, below where the lower one does."""
    rows: Float[np.ndarray, "m"]
    """Multipliers of the rows, below zero where a row holds back."""


def solve_qp(
    H: Float[np.ndarray, "dof dof"],
    f: Float[np.ndarray, "dof"],
    bounds: Float[np.ndarray, "2 dof"],
    A: Float[np.ndarray, "m dof"],
    least: Float[np.ndarray, "m"],
    always: Float[np.ndarray, "m"] | None = None,
) -> Solution:
    """Minimises 1/2 v'Hv + f'v subject to bounds[0] <= v <= bounds[1] and A v >= least.

    Where no velocity does all that, the rows give way, all by the same share of what is between `least` and `always`,
    and that share is the smallest one.

    Args:
        H: symmetric, positive definite.
        f: gradient at zero.
        bounds: lower and upper, at most 1e30 either way.
        A: rows.
        least: what each row must at least be.
        always: what some velocity within the bounds makes of the rows; None where there is nothing to give way to.
    """
    found = _solve(H, f, bounds, A, least)
    if found.found or always is None:
        return found
    dof = len(f)
    wide = np.zeros((dof + 1, dof + 1))
    wide[:dof, :dof], wide[dof, dof] = H, GIVING_WAY * (1.0 + float(np.trace(H)))
    give = np.maximum(least - always, 0.0)
    wider = np.column_stack([bounds, [0.0, 1.0]])
    found = _solve(wide, np.append(f, 0.0), wider, np.column_stack([A, give]), least)
    return Solution(found.velocity[:dof], found.found, found.bounds[:dof], found.rows)


def _solve(
    H: Float[np.ndarray, "dof dof"],
    f: Float[np.ndarray, "dof"],
    bounds: Float[np.ndarray, "2 dof"],
    A: Float[np.ndarray, "m dof"],
    least: Float[np.ndarray, "m"],
) -> Solution:
    import daqp

    dof, m = len(f), len(least)
    above, below = np.concatenate([bounds[1], np.full(m, UNBOUNDED)]), np.concatenate([bounds[0], least])
    solve: Any = daqp.solve  # pyright: ignore[reportUnknownMemberType]
    found, _, flag, info = solve(H, f, A, above, below, np.zeros(dof + m, np.int32))
    velocity = np.minimum(np.maximum(found, bounds[0]), bounds[1])
    multipliers = info["lam"]
    good = flag == OPTIMAL and bool(velocity @ velocity < np.inf)
    return Solution(velocity, good, multipliers[:dof], multipliers[dof:])
