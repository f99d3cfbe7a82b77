"""What has been compiled on this machine: a note in the cache on disk, valid for this very source."""

from __future__ import annotations

import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from .._cache import cache_dir, content_hash, read_arrays, write_arrays

SHELL = ("ui", "cli")
"""Folders without kernels."""


def once_per_machine(what: str, act: Callable[[], None]) -> None:
    """Does something that leaves compiled kernels on disk, unless it was done before by the same source.

    Args:
        what: names it.
        act: does it; when it raises, it has not been done.
    """
    name = content_hash([what, _source(), platform.machine(), platform.python_version()])
    note = cache_dir() / "compiled" / f"{name}.npz"
    if read_arrays(note) is None:
        act()
        write_arrays(note, {"done": np.ones(1)})


@cache
def _source() -> str:
    """Hash of where this package is and of all its source that kernels may come from."""
    import numba

    root = Path(__file__).parents[1]
    files = sorted(path for path in root.rglob("*.py") if path.relative_to(root).parts[0] not in SHELL)
    return content_hash([numba.__version__, str(root), *(path.read_bytes() for path in files)])
