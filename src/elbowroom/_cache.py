"""A content-addressed cache of arrays in the user's cache folder.

A result is stored under a hash of everything it depends on, so it is never stale: other inputs, other
name. Files are npz without pickle, written to a temporary name and renamed, so readers and parallel
writers never see half a file; a file that cannot be read is treated as absent and replaced. A cache
that cannot be written (read-only home, full disk) costs time, never the answer.

What the bundled robots need by default comes with the package, under the same hashes (`SHIPPED`, written by
`make assets`): another version of an algorithm or an edited description has another hash and is computed. As with all
cached results, coverage by spheres is proved again wherever it is relied on (`CollisionModel`); proofs that a pair of
links never meets are trusted.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ._files import replacing
from ._progress import waiting

logger = logging.getLogger(__name__)

Arrays = Mapping[str, np.ndarray]

SHIPPED = Path(__file__).parent / "assets" / "results"
"""Results that come with the package, in folders as in the cache."""


def cache_dir() -> Path:
    """The folder in use: `ELBOWROOM_CACHE` if set, otherwise the platform's user cache folder."""
    from platformdirs import user_cache_dir

    return Path(os.environ.get("ELBOWROOM_CACHE") or user_cache_dir("elbowroom", appauthor=False))


def content_hash(parts: Iterable[Any]) -> str:
    """Hash of arrays, strings, bytes, numbers and containers of them, in order; types and shapes count."""
    digest = hashlib.sha256()
    for part in parts:
        _feed(digest, part)
    return digest.hexdigest()[:32]


def _feed(digest: Any, part: Any) -> None:
    if isinstance(part, np.ndarray):
        data = np.ascontiguousarray(part)
        digest.update(f"array {data.dtype.str} {data.shape} ".encode())
        digest.update(data.tobytes())
    elif isinstance(part, bytes):
        digest.update(b"bytes %d " % len(part) + part)
    elif isinstance(part, (list, tuple)):
        digest.update(f"{type(part).__name__} {len(part)} ".encode())
        for entry in part:
            _feed(digest, entry)
    elif isinstance(part, Mapping):
        digest.update(f"mapping {len(part)} ".encode())
        for key, value in part.items():
            _feed(digest, key)
            _feed(digest, value)
    else:
        text = repr(part)
        digest.update(f"{type(part).__name__} {len(text)} {text} ".encode())


def cached(
    kind: str,
    parts: Iterable[Any],
    compute: Callable[[], Arrays],
    *,
    fits: Callable[[Arrays], bool] = lambda arrays: True,
    rebuild: bool = False,
) -> Arrays:
    """Returns the stored arrays for these inputs, or computes and stores them.

    Args:
        kind: folder name inside the cache, e.g. "spheres".
        parts: everything the result depends on, version of the algorithm included.
        compute: makes the arrays when they are not stored.
        fits: whether stored arrays are what `compute` would make; a foreign file of that name is replaced.
        rebuild: compute them again in any case.
    """
    name = f"{content_hash(parts)}.npz"
    path = cache_dir() / kind / name
    for place in () if rebuild else (path, SHIPPED / kind / name):
        found = read_arrays(place)
        if found is not None and fits(found):
            return found
    with waiting(f"computing {kind}, once: the result is kept"):
        arrays = {name: np.asarray(value) for name, value in compute().items()}
    write_arrays(path, arrays)
    return arrays


def read_arrays(path: Path) -> Arrays | None:
    """The arrays of an npz file, or None when it is absent, corrupt or of another kind."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        return None
    except Exception as error:  # zipfile, zlib, lzma and numpy's parser share no class for damaged files
        logger.warning("cache file %s cannot be read (%r); it will be recomputed", path, error)
        return None


def npz_bytes(arrays: Arrays) -> bytes:
    """Arrays as an npz file; objects, which would need pickle, are our own mistake."""
    assert all(array.dtype != object for array in arrays.values()), (
        "only arrays of numbers and text are cached"
    )
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Writes arrays as npz under `path`, all or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(npz_bytes(arrays))
    except OSError as error:
        logger.warning("cannot write cache file %s: %s", path, error)
