"""The quadratic programme of one tick, by daqp: bounds on every joint's rate, and rows that have a least value."""

from __future__ import annotations

from functools import cache
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
    active_bounds: list[tuple[int, bool]]
    """Joints whose bound holds back, and whether that is the upper one."""
    active_rows: list[int]
    """Rows that hold back."""


def solve_qp(
    H: Float[np.ndarray, "dof dof"],
    f: Float[np.ndarray, "dof"],
    bounds: Float[np.ndarray, "2 dof"],
    A: Float[np.ndarray, "m dof"],
    least: Float[np.ndarray, "m"],
    braking: Float[np.ndarray, "m"] | None = None,
) -> Solution:
    """Minimises 1/2 v'Hv + f'v subject to bounds[0] <= v <= bounds[1] and A v >= least.

    Where no velocity does all that, the rows give way, all by the same share of what is between `least` and `braking`
    where that is less, and that share is the smallest one.

    Args:
        H: symmetric, positive definite.
        f: gradient at zero.
        bounds: lower and upper, at most 1e30 either way.
        A: rows.
        least: what each row must at least be.
        braking: what some velocity within the bounds makes of the rows; None where there is nothing to give way to.
    """
    found = _solve(H, f, bounds, A, least)
    if found.found or braking is None:
        return found
    dof = len(f)
    wide = np.zeros((dof + 1, dof + 1))
    wide[:dof, :dof], wide[dof, dof] = H, GIVING_WAY * (1.0 + float(np.trace(H)))
    give = np.maximum(least - braking, 0.0)
    wider = np.column_stack([bounds, [0.0, 1.0]])
    found = _solve(wide, np.append(f, 0.0), wider, np.column_stack([A, give]), least)
    joints = [bound for bound in found.active_bounds if bound[0] < dof]
    return Solution(found.velocity[:dof], found.found, joints, found.active_rows)


def _solve(
    H: Float[np.ndarray, "dof dof"],
    f: Float[np.ndarray, "dof"],
    bounds: Float[np.ndarray, "2 dof"],
    A: Float[np.ndarray, "m dof"],
    least: Float[np.ndarray, "m"],
) -> Solution:
    dof, m = len(f), len(least)
    limits = np.empty((2, dof + m))
    limits[:, :dof], limits[0, dof:], limits[1, dof:] = bounds, least, UNBOUNDED
    found, _, flag, info = _daqp()(H, f, A, limits[1], limits[0], np.zeros(dof + m, np.int32))
    velocity: np.ndarray = np.minimum(np.maximum(found, bounds[0]), bounds[1])
    multipliers = [(k, value) for k, value in enumerate(info["lam"].tolist()) if abs(value) > ACTIVE]
    joints = [(k, value > 0.0) for k, value in multipliers if k < dof]
    rows = [k - dof for k, value in multipliers if k >= dof and value < 0.0]
    good = flag == OPTIMAL and bool(velocity @ velocity < np.inf)
    return Solution(velocity, good, joints, rows)


@cache
def _daqp() -> Any:
    """The solver, loaded when it is first needed."""
    import daqp

    return daqp.solve  # pyright: ignore[reportUnknownMemberType]
