"""Tables of numbers from CSV, NPY, NPZ, JSON lines and JSON, told apart by content, whatever the file is called.

JSON lines, or one JSON document: an array of rows, or an object of columns. Rows are lists of joint values, or
objects. Lists inside an object are spread into columns `key.0`, `key.1`, ..., or, where the object names its joints as
a ROS JointState does (`name`, `position`), into `position.JOINT`. CSV: cells between commas, semicolons, tabs or
spaces, with or without a header; `ros2 topic echo --csv` too. NPY: one array (rows, joints), or one with named fields.
NPZ: arrays of equal length, side by side.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np

from .._text import short
from ..errors import FormatError
from ._table import BLOCK, MAX_BYTES, NAMES, Table, Unit

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


def json_table(lines: Iterator[tuple[int, str]], source: str, joints: Collection[str]) -> Table:
    """JSON lines, or one document: an array of rows, or an object of columns."""
    head = list(islice(lines, 2))
    number, first = head[0]
    try:
        value = _parsed(first, source, number)
    except FormatError:
        value = None
    if value is not None and len(head) > 1:
        later = ((k, _parsed(text, source, k)) for k, text in chain(head[1:], lines))
        return _records(chain([(number, value)], later), source, "line")
    if value is None:
        text, at, size = io.StringIO(), 1, 0
        for k, line in chain(head, lines):
            size += len(line)
            if size > MAX_BYTES:
                raise FormatError(
                    f"{source}: a JSON document of more than {MAX_BYTES >> 30} GB; use JSON lines"
                )
            text.write("\n" * (k - at) + line)
            at = k
        value = _parsed(text.getvalue(), source, 1)
    if isinstance(value, list) and any(isinstance(entry, (list, dict)) for entry in value):
        return _records(iter(enumerate(value, 1)), source, "entry")
    if isinstance(value, dict) and _is_columnar(value, joints):
        return columns_table({key: _array(entry) for key, entry in value.items()}, source)
    return _records(iter([(1, value)]), source, "entry")


def _parsed(text: str, source: str, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{source}:{line + error.lineno - 1}"
        raise FormatError(f"{place}: not JSON: {error.msg} at column {error.colno}") from error
    except (RecursionError, ValueError) as error:
        raise FormatError(f"{source}:{line}: not readable as JSON: {error}") from error


def _is_columnar(value: Mapping[str, Any], joints: Collection[str]) -> bool:
    lists = {key: entry for key, entry in value.items() if isinstance(entry, list)}
    return any(key in joints or (entry and isinstance(entry[0], list)) for key, entry in lists.items())


def _array(value: Any) -> Any:
    """A list as an array where it is one of numbers or texts; else as it is."""
    if not isinstance(value, list):
        return value
    try:
        return np.array(value)
    except ValueError:  # ragged
        return value


def _records(records: Iterator[tuple[int, Any]], source: str, unit: Unit) -> Table:
    """A table of one record a row: lists of numbers, or objects, whose keys may come in any order."""
    first_line, first = next(records)
    table = Table(source, unit, None, 0, ())
    if not isinstance(first, (list, dict)):
        raise FormatError(
            f"{table.where(first_line)}: expected a list or an object of joint values, found {short(first)}"
        )
    columns = None if isinstance(first, list) else tuple(_flat(first))
    width = len(first) if columns is None else len(columns)

    def cells(line: int, record: Any) -> Sequence[Any]:
        if not isinstance(record, (list, dict)) or isinstance(record, list) != (columns is None):
            raise FormatError(f"{table.where(line)}: {short(record)}, where the first is {short(first)}")
        if isinstance(record, list):
            return record
        flat = _flat(record)
        return [flat.get(column) for column in columns or ()]

    def blocks() -> Iterator[Any]:
        rest = chain([(first_line, first)], records)
        while block := list(islice(rest, BLOCK)):
            yield [cells(line, record) for line, record in block], [line for line, _ in block]

    return Table(source, unit, columns, width, blocks())


def _flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Numbers and texts of a record by path; entries of lists by the names beside them, else by number."""
    named = next((record[key] for key in NAMES if isinstance(record.get(key), list)), [])
    out: dict[str, Any] = {}
    for key, value in record.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict):
            out |= _flat(value, f"{path}.")
        elif isinstance(value, list):
            labels = named if len(named) == len(value) and value is not named else range(len(value))
            out |= {f"{path}.{label}": entry for label, entry in zip(labels, value, strict=True)}
        else:
            out[path] = value
    return out


WORD = re.compile(r'"(?:[^"]|"")*"(?=\s|$)|\S+')
"""A word, or words in quotes."""


def csv_table(lines: Iterator[tuple[int, str]], source: str) -> Table:
    """The table of lines (with their numbers) that are not blank."""
    comment = ""
    number, first = 0, "#"
    while first.startswith("#"):
        comment = first.lstrip("# ")  # numpy.savetxt writes its header so
        number, first = next(lines, (0, ""))
    if not first:
        raise FormatError(f"{source}: it holds no rows, only comments")
    delimiter = next((each for each in "\t;," if each in first), None)
    cells = [cell.strip() for cell in _cells([first], delimiter, source, [number])[0]]
    header: tuple[str, ...] | None = None
    constant: dict[int, str] = {}
    if not all(map(_is_number, cells)):
        header, constant = _echoed(cells) or (tuple(cells), {})
    elif comment:
        above = [cell.strip() for cell in _cells([comment], delimiter, source, [number])[0]]
        header = tuple(above) if len(above) == len(cells) and not all(map(_is_number, above)) else None
    data = ((k, text) for k, text in lines if not text.startswith("#"))
    if constant or all(map(_is_number, cells)):  # no header on this line
        data = chain([(number, first)], data)

    def blocks() -> Iterator[Any]:
        while block := list(islice(data, BLOCK)):
            numbers = [k for k, _ in block]
            yield _cells([text for _, text in block], delimiter, source, numbers), numbers

    return Table(source, "line", header, len(cells), blocks(), constant)


def _cells(
    texts: list[str], delimiter: str | None, source: str, lines: Sequence[int]
) -> Sequence[Sequence[str]]:
    """Cells of lines, without the spaces and quotes around them."""
    if delimiter is None:
        return [_words(text) if '"' in text else text.split() for text in texts]
    try:
        rows = list(csv.reader(texts, delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise FormatError(f"{source}:{lines[0]}: not readable as CSV from here on: {error}") from error
    if len(rows) != len(texts):
        odd = (k for k, text in zip(lines, texts, strict=True) if text.count('"') % 2)
        number = next(odd, lines[0])
        raise FormatError(f"{source}:{number}: a quoted cell does not end on its line")
    return rows


def _words(text: str) -> list[str]:
    """What spaces part, quotes taken off as in CSV; one column has no comma to tell that it is one."""
    found = WORD.findall(text)
    return [
        word[1:-1].replace('""', '"') if len(word) > 1 and word[0] == word[-1] == '"' else word
        for word in found
    ]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == ""
    return True


def _echoed(cells: Sequence[str]) -> tuple[tuple[str, ...], dict[int, str]] | None:
    """Columns of a JointState as `ros2 topic echo --csv` prints it: sec, nanosec, frame, names, positions, ...

    Such lines have no header: the names are repeated on each. None when the cells are something else.
    """
    if len(cells) < 5 or not (cells[0].isdigit() and cells[1].isdigit()):
        return None
    n = next((k for k, cell in enumerate(cells[3:]) if _is_number(cell)), 0)
    names = cells[3 : 3 + n]
    if n == 0 or not all(map(_is_number, cells[3 + n :])) or len(cells) < 3 + 2 * n:
        return None
    columns = ["sec", "nanosec", "frame_id", *(f"name.{k}" for k in range(n))]
    columns += [f"position.{name}" for name in names]
    columns += [f"velocity_or_effort.{k}" for k in range(len(cells) - len(columns))]
    return tuple(columns), {3 + k: name for k, name in enumerate(names)}
