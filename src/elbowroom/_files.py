"""Files written all or nothing, and values made plain for JSON."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from .errors import InputError


@contextmanager
def replacing(path: Path) -> Generator[IO[bytes]]:
    """A new file beside `path` that takes its name at the end: readers never see half a file.

    Whatever stops the writing, the old file stays and nothing is left behind.
    """
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:40]}.", delete=False) as file:
            temporary = file.name
            yield file
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file, all or nothing.

    Raises:
        InputError: the place cannot be written.
    """
    try:
        with replacing(path) as file:
            file.write(data)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error}") from error


def plain(value: Any) -> Any:
    """JSON values of nested mappings, sequences, arrays and numpy numbers; what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)
