"""NPY: one array (rows, joints), or one with named fields. NPZ: arrays of equal length, side by side."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np

from ..errors import FormatError
from ._table import BLOCK, MAX_BYTES, NAMES, Table


def numpy_table(stream: BinaryIO, source: str) -> Table:
    """NPY: one array; NPZ: arrays of equal length, side by side."""
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise FormatError(f"{source}: more than {MAX_BYTES >> 30} GB")
    try:
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
                    raise FormatError(f"{source}: it would unpack to more than {MAX_BYTES >> 30} GB")
        loaded: Any = np.load(io.BytesIO(data), allow_pickle=False)
        found = dict(loaded) if isinstance(loaded, Mapping) else loaded
    except FormatError:
        raise
    except Exception as error:  # a broken file may raise almost anything in numpy and zipfile
        if "pickle" in str(error):
            raise FormatError(
                f"{source}: it holds pickled Python objects, which are not read because loading them can run code; "
                "save plain numbers, e.g. numpy.save(path, numpy.stack(rows))"
            ) from error
        raise FormatError(f"{source}: not a readable NumPy file: {error}") from error
    if isinstance(found, dict):
        return columns_table(found, source)
    if found.dtype.names:
        return columns_table({name: found[name] for name in found.dtype.names}, source)
    if found.dtype.kind not in "fiu":
        raise FormatError(f"{source}: expected an array of numbers, found {found.dtype}")
    if found.ndim == 1:
        found = found[None]
    if found.ndim != 2:
        raise FormatError(f"{source}: expected an array (rows, joints), found shape {found.shape}")
    return Table(source, "row", None, found.shape[1], _array_blocks(found))


def _array_blocks(array: np.ndarray) -> Iterator[Any]:
    for start in range(0, len(array), BLOCK):
        part = array[start : start + BLOCK]
        yield part, np.arange(start + 1, start + len(part) + 1)


def columns_table(arrays: Mapping[str, Any], source: str) -> Table:
    """Arrays of equal length side by side: (n,) is a column, (n, k) is k of them."""
    named: list[str] = []
    for key in NAMES:
        if (
            isinstance(arrays.get(key), np.ndarray)
            and arrays[key].ndim == 1
            and arrays[key].dtype.kind in "US"
        ):
            named = [str(name) for name in arrays[key]]
    numeric = {
        key: value
        for key, value in arrays.items()
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and value.ndim in (1, 2)
    }
    if not numeric:
        found = ", ".join(map(str, arrays)) or "nothing"
        raise FormatError(f"{source}: expected arrays (rows, joints) of numbers, found {found}")
    widths: dict[int, int] = {}
    for value in numeric.values():
        widths[len(value)] = widths.get(len(value), 0) + (value.shape[1] if value.ndim == 2 else 1)
    length = max(widths, key=lambda rows: (widths[rows], rows))  # that of most columns
    columns: list[str] = []
    parts: list[np.ndarray] = []
    notes: list[str] = []
    for key, value in arrays.items():
        if key not in numeric or len(value) != length:
            if key not in NAMES:
                notes.append(f"left out: {key}, which is not as long as the table or not numbers")
            continue
        block = value if value.ndim == 2 else value[:, None]
        labels = named if len(named) == block.shape[1] else range(block.shape[1])
        columns += [key] if value.ndim == 1 else [f"{key}.{label}" for label in labels]
        parts.append(block.astype(np.float64))
    table = np.hstack(parts)
    return Table(source, "row", tuple(columns), table.shape[1], _array_blocks(table), notes=tuple(notes))
