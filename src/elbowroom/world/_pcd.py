"""PCD, the files of the Point Cloud Library: ascii and binary.

The header names the fields of a point with their sizes and types; x, y and z are taken, the rest is skipped.
"""

from __future__ import annotations

import io

import numpy as np

from .._text import short

MAX_HEADER = 64
"""Lines; headers have eleven and comments."""
TYPES = {"F": "f", "I": "i", "U": "u"}


def pcd_points(data: bytes) -> np.ndarray:
    """Points of a PCD file, (n, 3).

    Raises:
        ValueError: it is broken, or compressed.
    """
    stream = io.BytesIO(data)
    header: dict[str, list[str]] = {}
    while "DATA" not in header:
        words = stream.readline().decode("ascii", errors="replace").split()
        if len(header) > MAX_HEADER or stream.tell() == len(data):
            raise ValueError("a PCD header ends with DATA, and this one does not")
        if words and not words[0].startswith("#"):
            header[words[0]] = words[1:]
    names = header.get("FIELDS", [])
    if not {"x", "y", "z"} <= set(names):
        raise ValueError(f"expected the fields x, y and z, found {short(names)}")
    counts = [int(count) for count in header.get("COUNT", ["1"] * len(names))]
    kind = header["DATA"][:1]
    if kind == ["ascii"]:
        first = np.cumsum([0, *counts])
        columns = [int(first[names.index(axis)]) for axis in "xyz"]
        return np.loadtxt(stream, usecols=columns, ndmin=2)
    if kind != ["binary"]:
        raise ValueError(f"PCD data of the kind {short(kind)} is not read; save it as ascii or binary")
    sizes = zip(header["TYPE"], header["SIZE"], strict=True)
    formats = [f"<{TYPES[letter]}{size}" for letter, size in sizes]
    # Padding fields repeat the name "_"; numpy wants names that differ.
    unique = [name if name in ("x", "y", "z") else f"{name}{k}" for k, name in enumerate(names)]
    fields = [(n, f, (c,)) for n, f, c in zip(unique, formats, counts, strict=True)]
    rows = np.frombuffer(data[stream.tell() :], dtype=np.dtype(fields), count=int(header["POINTS"][0]))
    return np.column_stack([rows[axis][:, 0] for axis in "xyz"]).astype(np.float64)
