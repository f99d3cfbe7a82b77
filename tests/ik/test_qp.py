"""The core's quadratic programmes against daqp: feasible ones, degenerate ones, and ones without an answer."""

from __future__ import annotations

import daqp
import numpy as np
import pytest

from elbowroom import _core

OPTIMAL, INFEASIBLE = 0, 1
FEASIBLE, DEGENERATE, ANY = range(3)


def programme(rng: np.random.Generator, kind: int) -> tuple[np.ndarray, ...]:
    """H, f, bounds, A and least: squares of a few random directions and little more, as a tick has them."""
    n, m = int(rng.integers(1, 20)), int(rng.integers(0, 30))
    J = rng.normal(size=(int(rng.integers(1, n + 3)), n))
    H, f = J.T @ J + 10.0 ** rng.uniform(-4, 0) * np.eye(n), rng.normal(size=n) * 10 ** rng.uniform(-1, 1)
    bounds, A = np.stack([-rng.uniform(0, 2, n), rng.uniform(0, 2, n)]), rng.normal(size=(m, n))
    inside = A @ rng.uniform(*bounds)
    if kind == FEASIBLE:
        return H, f, bounds, A, inside - rng.uniform(0, 0.5, m)
    if kind == DEGENERATE:  # the same row twice, longer and shorter, and rows that meet in one point
        half = m // 2
        scale = rng.uniform(0.5, 2.0, (m - half, 1))
        A[half:], inside[half:] = A[: m - half] * scale, inside[: m - half] * scale[:, 0]
        return H, f, bounds, A, inside - np.where(rng.random(m) < 0.5, 0.0, rng.uniform(0, 0.3, m))
    return H, f, bounds, A, inside + rng.uniform(-0.3, 0.6, m)


def agrees(H, f, bounds, A, least) -> tuple[bool, int]:
    """Whether both find the same value, or no answer; and what was found.

    daqp lets constraints be violated by 1e-6, which may buy a lower value: ours must then be optimal by its own
    multipliers, which prove it. Rows that meet in a single point are feasible or not by rounding.
    """
    n, m = A.shape[1], len(A)
    status, x, multipliers = _core.solve_qp(H, f, bounds, A, least)
    limits = np.append(bounds[1], np.full(m, 1e30)), np.append(bounds[0], least)
    theirs, _, flag, _ = daqp.solve(H, f, np.ascontiguousarray(A), *limits, np.zeros(n + m, np.int32))
    if status == INFEASIBLE and flag == 1:
        status, x, multipliers = _core.solve_qp(H, f, bounds, A, least - 1e-9)
    if status != OPTIMAL:
        return status == INFEASIBLE and flag != 1, status
    value, known = (0.5 * v @ H @ v + f @ v for v in (x, theirs))
    within = (x >= bounds[0]).all() and (x <= bounds[1]).all() and (A @ x >= least - 1e-8).all()
    slope = H @ x + f - multipliers[:n] + multipliers[n : 2 * n] - A.T @ multipliers[2 * n :]
    slacks = np.concatenate([x - bounds[0], bounds[1] - x, A @ x - least])
    scale = 1.0 + np.abs(f).max() + multipliers.max(initial=0.0)
    optimal = (multipliers >= -1e-9).all() and max(
        np.abs(slope).max(), np.abs(slacks * multipliers).max()
    ) < 1e-6 * scale
    violated = (least - A @ theirs).max(initial=0.0) > 1e-9
    same = abs(value - known) <= 1e-6 * (1.0 + abs(known)) or (violated and value > known)
    same = (
        same or flag != 1
    )  # an answer that is within all limits and proved optimal is one, whatever daqp says
    return bool(within and optimal and same), status


@pytest.mark.parametrize("kind", [FEASIBLE, DEGENERATE, ANY])
def test_programmes_are_solved_as_daqp_solves_them(kind):
    rng, found = np.random.default_rng(kind), []
    for _ in range(1500):
        same, status = agrees(*programme(rng, kind))
        assert same
        found.append(status)
    assert (INFEASIBLE in found) == (kind == ANY)


@pytest.mark.long
def test_a_hundred_thousand_programmes():
    rng = np.random.default_rng(99)
    assert all(agrees(*programme(rng, k % 3))[0] for k in range(100_000))


def test_bounds_that_cross_and_matrices_that_are_not_convex_are_told():
    one = np.array([1.0])
    assert (
        _core.solve_qp(np.eye(1), one, np.array([[1.0], [0.0]]), np.zeros((0, 1)), np.zeros(0))[0]
        == INFEASIBLE
    )
    assert _core.solve_qp(-np.eye(1), one, np.array([[0.0], [1.0]]), np.zeros((0, 1)), np.zeros(0))[0] == 2
