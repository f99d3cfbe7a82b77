"""Tables of numbers from CSV, NPY, NPZ, JSON lines and JSON, told apart by content, whatever the file is called."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO

from ..errors import FormatError
from ._table import Table
from ._tables_csv import csv_table
from ._tables_json import json_table
from ._tables_numpy import numpy_table

MAX_LINE = 1 << 24
"""Characters of a line at most: more is not a table of joint values."""


def read_table(stream: BinaryIO, source: str, joints: Collection[str]) -> Table:
    """The table that a stream holds; its format is told by its first bytes.

    Args:
        stream: binary, with `peek`, as `open(path, "rb")` and `sys.stdin.buffer` are.
        source: name for messages.
        joints: names that make a JSON object of lists a table of columns, not one row.

    Raises:
        FormatError: it holds none, with what was found.
    """
    start = bytes(stream.peek(64)[:64])  # type: ignore[attr-defined]
    if start.startswith((b"\x93NUMPY", b"PK\x03\x04", b"PK\x05\x06")):
        return numpy_table(stream, source)
    if b"\0" in start:
        raise FormatError(f"{source}: expected CSV, NPY, NPZ or JSON, found other binary data")
    lines = _lines(io.TextIOWrapper(stream, encoding="utf-8-sig"), source)
    first = next(lines, None)
    if first is None:
        raise FormatError(f"{source}: it is empty")
    lines = chain([first], lines)
    return json_table(lines, source, joints) if first[1][0] in "[{" else csv_table(lines, source)


def _lines(text: Iterable[str], source: str) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, stripped, with their numbers."""
    stream: Any = text
    number = 0
    try:
        while line := stream.readline(MAX_LINE):
            number += 1
            if len(line) >= MAX_LINE:
                raise FormatError(f"{source}:{number}: a line of more than {MAX_LINE} characters")
            stripped = line.strip()
            if stripped:
                yield number, stripped
    except UnicodeDecodeError as error:
        raise FormatError(f"{source}:{number + 1}: not UTF-8 text ({error.reason})") from error
