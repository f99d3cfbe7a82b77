"""One map for all long work: local cores by default, a Dask or Ray cluster through joblib's backends.

*Workers* are processes (`parallel_map`), *threads* are threads of this one (`over_rows`).

Results come back in the order of the items, whatever the number of workers, so an algorithm that seeds
each item by its own index gives the same answer on one core and on a cluster. To use a cluster, wrap
the call in joblib's own context: `with joblib.parallel_config(backend="dask"): ...`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

import numpy as np

from .errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
"""Called with (done, total) as work proceeds."""


def check_workers(workers: object) -> None:
    """Refuses what is no number of processes; a result from the cache should not hide it.

    Raises:
        InputError: not a positive whole number, nor None.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(
            f"workers must be a whole number from 1 up, or None for all cores; found {workers!r:.40}"
        )


def parallel_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    prefer_threads: bool = False,
) -> list[Result]:
    """Applies a function to every item and returns the results in order.

    Args:
        function: must be picklable when `workers` is not 1.
        items: the work; each item must carry its own seed if it is random.
        workers: processes to use; None takes joblib's active configuration, or all cores if none is set.
        progress: called in this process after each result.
        prefer_threads: whether threads of this process do, unless joblib is configured otherwise: for work that
            releases the interpreter lock and is too short to start processes for.

    Raises:
        InputError: `workers` is not a positive whole number.
    """
    check_workers(workers)
    work = list(items)
    alone = workers == 1 or len(work) < 2
    found = map(function, work) if alone else _spread(function, work, workers, prefer_threads)
    results: list[Result] = []
    for result in found:
        results.append(result)
        if progress is not None:
            progress(len(results), len(work))
    return results


def _spread(
    function: Callable[[Item], Result], work: list[Item], workers: int | None, prefer_threads: bool
) -> Iterable[Result]:
    """Results in order, made by joblib's workers."""
    import joblib

    backend, jobs = joblib.parallel.get_active_backend()
    if workers is not None:
        jobs = min(workers, len(work))  # more would only idle
    elif jobs in (None, 1):  # joblib's defaults when nothing is configured: which, depends on its version
        jobs = -1
    # Ray's backend hands out all results at once.
    streams = workers is not None or getattr(backend, "supports_return_generator", True)
    parallel: Any = joblib.Parallel(
        n_jobs=jobs,
        return_as="generator" if streams else "list",
        prefer="threads" if prefer_threads else None,
    )
    with nullcontext() if prefer_threads else _interrupts_held():
        return parallel(joblib.delayed(function)(item) for item in work)


@contextmanager
def _interrupts_held() -> Generator[None]:
    """Processes started meanwhile never see an interrupt of the terminal: it is for this one to end them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    # Otherwise it starts with the first worker, and Python lets interrupts through again once it has started it.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_rows(
    piece: Callable[[int, int], Result], rows: int, *, threads: int, at_least: int, align: int = 16
) -> list[Result]:
    """Calls `piece(start, stop)` for parts of a batch, in threads when there are many rows; results in order.

    For compiled calls that release the interpreter lock and write to their own rows.

    Args:
        piece: does the rows from start to stop.
        rows: in all.
        threads: at most.
        at_least: rows below which one call does it all: starting threads would cost more than it saves.
        align: parts start at multiples of it.
    """
    if rows < at_least or threads < 2:
        return [piece(0, rows)]
    cuts = np.linspace(0, rows, 4 * threads + 1).astype(int)
    cuts[1:-1] -= cuts[1:-1] % align
    with ThreadPoolExecutor(threads) as pool:
        try:
            return list(pool.map(piece, cuts[:-1].tolist(), cuts[1:].tolist()))
        except BaseException:  # an interrupt need not wait for the parts that have not begun
            pool.shutdown(wait=False, cancel_futures=True)
            raise
