"""The quadratic programme of one tick, by daqp: bounds on every joint's rate, and rows that have a least value."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .._frozen import frozen

OPTIMAL = 1
"""daqp's flag of an answer."""
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
    limits: Float[np.ndarray, "2 dof+m"],
    A: Float[np.ndarray, "m dof"],
    braking: Float[np.ndarray, "m"] | None = None,
) -> Solution:
    """Minimises 1/2 v'Hv + f'v subject to limits[0] <= (v, A v) <= limits[1].

    Where no velocity does all that, the rows give way, all by the same share of what is between what they must at least
    be and `braking` where that is less, and that share is the smallest one.

    Args:
        H: symmetric, positive definite.
        f: gradient at zero.
        limits: of the velocities, then of the rows, at most 1e30 either way; each of the two contiguous.
        A: rows.
        braking: what some velocity within its limits makes of the rows; None where there is nothing to give way to.
    """
    found = _solve(H, f, limits, A)
    if found.found or braking is None:
        return found
    dof = len(f)
    wide = np.zeros((dof + 1, dof + 1))
    wide[:dof, :dof], wide[dof, dof] = H, GIVING_WAY * (1.0 + float(np.trace(H)))
    give = np.maximum(limits[0, dof:] - braking, 0.0)
    wider = np.ascontiguousarray(np.insert(limits, dof, [0.0, 1.0], axis=1))
    found = _solve(wide, np.append(f, 0.0), wider, np.column_stack([A, give]))
    joints = [bound for bound in found.active_bounds if bound[0] < dof]
    return Solution(found.velocity[:dof], found.found, joints, found.active_rows)


def _solve(
    H: Float[np.ndarray, "dof dof"],
    f: Float[np.ndarray, "dof"],
    limits: Float[np.ndarray, "2 dof+m"],
    A: Float[np.ndarray, "m dof"],
) -> Solution:
    dof, n = len(f), limits.shape[1]
    found, _, flag, info = _daqp()(H, f, A, limits[1], limits[0], np.zeros(n, np.int32))
    velocity, active = np.empty(dof), np.empty(n, np.int64)
    count = _kernels().settle(found, info["lam"], limits, velocity, active)
    held = active[: max(count, 0)].tolist()
    joints = [(k // 2, k % 2 == 1) for k in held if k < 2 * dof]
    rows = [k // 2 - dof for k in held if k >= 2 * dof and k % 2 == 0]
    return Solution(frozen(velocity), flag == OPTIMAL and count >= 0, joints, rows)


@cache
def _daqp() -> Any:
    """The solver, loaded when it is first needed."""
    import daqp

    return daqp.solve  # pyright: ignore[reportUnknownMemberType]


@cache
def _kernels() -> Any:
    """The kernels; numba loads when they are first needed."""
    from . import _kernels_programme

    return _kernels_programme
