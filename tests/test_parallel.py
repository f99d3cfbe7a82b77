"""One map for all long work."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from elbowroom._parallel import cores, parallel_map
from elbowroom.errors import InputError


def draw(seed: int) -> float:
    return float(np.random.default_rng(seed).normal())


@pytest.mark.parametrize("workers", [1, 2, None])
def test_results_come_in_order_for_any_number_of_workers(workers):
    seen = []
    results = parallel_map(
        draw, range(7), workers=workers, progress=lambda done, total: seen.append((done, total))
    )
    assert results == [draw(seed) for seed in range(7)]
    assert seen == [(done, 7) for done in range(1, 8)]


def fail(item: int) -> int:
    raise ValueError(f"item {item}")


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_reach_the_caller(workers):
    with pytest.raises(ValueError, match="item"):
        parallel_map(fail, range(3), workers=workers)


def test_no_work_no_result():
    assert parallel_map(draw, []) == []


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_wrong_numbers_of_workers(workers):
    with pytest.raises(InputError, match="workers must be"):
        parallel_map(draw, range(3), workers=workers)


@pytest.mark.skipif(cores() < 2, reason="one core")
def test_all_cores_work_unless_told_otherwise():
    """Each of two items waits for the other: one after the other would never end."""
    both = threading.Barrier(2)
    places = parallel_map(lambda _: both.wait(timeout=60.0), range(2), prefer_threads=True)
    assert sorted(places) == [0, 1]
