"""Counting how often pairs meet, in chunks that any worker can do.

Each chunk draws its own scrambled Sobol points, seeded by the seed and the number of the chunk: points fill the
joint space evenly within a chunk and chunks are independent, so the counts do not depend on who does which chunk.
Counts after each round can be kept in a file, from which an interrupted run goes on.

One process does the work when there is little of it, else as many as joblib is configured for.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from .. import _cache
from .._files import check_place, is_template, write_bytes
from .._parallel import Progress, parallel_map
from ..distance.internal import PairSpheres, bad_row
from ..errors import InputError

logger = logging.getLogger(__name__)

CHUNK = 8192
"""Samples per chunk: a power of two, as Sobol points like it; some milliseconds of work."""
ROUND = 64
"""Chunks between checkpoints."""
CHECKPOINT = "arrays (counts, done, key)"
"""Kind of a checkpoint's file."""


@dataclass(frozen=True)
class SampleTask:
    """One chunk."""

    model: PairSpheres
    pads: Float[np.ndarray, "pairs"]
    """Metres below which a pair counts as meeting."""
    lower: Float[np.ndarray, "dof"]
    upper: Float[np.ndarray, "dof"]
    seed: int
    chunk: int
    count: int


def sobol(
    seed: int, chunk: int, count: int, lower: np.ndarray, upper: np.ndarray
) -> Float[np.ndarray, "n dof"]:
    """Low-discrepancy points of one chunk within the limits."""
    from scipy.stats import qmc

    if len(lower) == 0:
        return np.zeros((count, 0))
    engine = qmc.Sobol(len(lower), scramble=True, seed=np.random.default_rng([seed, chunk]))  # pyright: ignore[reportCallIssue]
    points = engine.random_base2(max(0, int(count - 1).bit_length()))[:count]
    return lower + points * (upper - lower)


def samples_of(
    seed: int, samples: int, lower: np.ndarray, upper: np.ndarray
) -> Float[np.ndarray, "samples dof"]:
    """The configurations that `count_meetings` counts over, all at once."""
    chunks = [
        sobol(seed, k, min(CHUNK, samples - start), lower, upper)
        for k, start in enumerate(range(0, samples, CHUNK))
    ]
    return np.concatenate([np.zeros((0, len(lower))), *chunks])


def sample_chunk(task: SampleTask) -> Int[np.ndarray, "pairs"]:
    """Number of samples of the chunk in which each pair meets."""
    rows = sobol(task.seed, task.chunk, task.count, task.lower, task.upper)
    counts = np.zeros(len(task.model.pairs), dtype=np.int64)
    bad = task.model.core.count_hits(rows, task.pads.astype(np.float32), counts)
    if bad >= 0:
        raise bad_row("sample", rows, bad, 1)
    return counts


def count_meetings(
    task: SampleTask,
    samples: int,
    *,
    workers: int | None,
    progress: Progress | None,
    checkpoint: Path | None,
) -> Int[np.ndarray, "pairs"]:
    """Samples in which each pair meets, over all chunks.

    Args:
        task: what to sample; its chunk and count are set here.
        samples: in all.
        workers: as in `parallel_map`.
        progress: called with (samples done, samples).
        checkpoint: file that keeps counts; an existing one of the same task is continued.
    """
    model = task.model
    key = _cache.content_hash(
        [
            *model.data,
            task.pads,
            task.lower,
            task.upper,
            task.seed,
            samples,
            CHUNK,
        ]
    )
    total = np.zeros(len(model.pairs), dtype=np.int64)
    n_chunks = -(-samples // CHUNK)
    done = 0
    if checkpoint is not None:
        check_place(checkpoint, CHECKPOINT)
        done, total = _resume(checkpoint, key, total)
    while done < n_chunks:
        stop = min(done + ROUND, n_chunks)
        tasks = [replace(task, chunk=k, count=min(CHUNK, samples - k * CHUNK)) for k in range(done, stop)]
        for counts in parallel_map(sample_chunk, tasks, workers=workers):
            total += counts
        done = stop
        if checkpoint is not None:
            stored = {"key": np.array(key), "done": np.array(done), "counts": total}
            _keep(checkpoint, stored)
        if progress is not None:
            progress(min(done * CHUNK, samples), samples)
    return total


def _keep(path: Path, stored: _cache.Arrays) -> None:
    """Writes a checkpoint; a disk that has filled up meanwhile does not end the run."""
    try:
        write_bytes(path, _cache.npz_bytes(stored))
    except InputError as error:
        logger.warning("the checkpoint is not kept: %s", error)


def _resume(path: Path, key: str, zero: np.ndarray) -> tuple[int, np.ndarray]:
    found = _cache.read_arrays(path) if is_template(path) else None
    if found is None:
        return 0, zero
    if (
        set(found) != {"key", "done", "counts"}
        or str(found["key"]) != key
        or found["counts"].shape != zero.shape
    ):
        raise InputError(
            f"{path}: this checkpoint is of another robot, sphere model, seed or number of samples; delete it or "
            "choose another file"
        )
    return int(found["done"]), found["counts"].astype(np.int64)


def choose_workers(workers: int | None, work: int, limit: int) -> int | None:
    """One for work below a limit, unless the caller or joblib's active configuration asks for more."""
    import joblib

    if workers is not None:
        return workers
    backend = joblib.parallel.get_active_backend()[0]
    return None if type(backend).__name__ != "LokyBackend" or work > limit else 1
