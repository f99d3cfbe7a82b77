"""Time spent on shorter paths: never longer, proved, and only as much as was given."""

from __future__ import annotations

import time

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.plan import PlanOptions, plan_motion
from tests.plan.cart import LEFT, PLANE, RIGHT, along, clear, wall


def length(result) -> float:
    return float(np.linalg.norm(np.diff(result.waypoints, axis=0), axis=1).sum())


def test_paths_get_shorter_with_time():
    model = wall()
    plain, better = [], []
    for seed in range(6):
        quick = plan_motion(model, LEFT, RIGHT, PLANE, PlanOptions(seed=seed, shortcuts=2))
        began = time.perf_counter()
        long = plan_motion(model, LEFT, RIGHT, PLANE, PlanOptions(seed=seed, shortcuts=2, improve=0.2))
        assert time.perf_counter() - began >= 0.2
        for result in (quick, long):
            assert result.success
            assert result.proof.free
            assert clear(model.world, along(result.path)).min() > 0.0
        plain.append(length(quick))
        better.append(length(long))
    assert all(b <= a + 1e-12 for a, b in zip(plain, better, strict=True))
    assert np.mean(better) < 0.97 * np.mean(plain)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_seconds_are_from_zero_up(value):
    with pytest.raises(InputError, match="improve"):
        PlanOptions(improve=value)
