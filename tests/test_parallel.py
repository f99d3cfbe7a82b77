"""One map for all long work."""

from __future__ import annotations

import signal
import subprocess
import sys
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


def interrupts_held(_: int) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_of_the_terminal_is_for_the_parent_alone():
    """In a process of its own, which has not started any others before."""
    code = "from elbowroom._parallel import parallel_map; from tests.test_parallel import interrupts_held as held\n"
    code += "import signal; print(parallel_map(held, range(6), workers=2), held(0))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split("\n")[0] == f"{[True] * 6} False"


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
