"""JSON lines, or one JSON document: an array of rows, or an object of columns.

Rows are lists of joint values, or objects. Lists inside an object are spread into columns `key.0`, `key.1`, ..., or,
where the object names its joints as a ROS JointState does (`name`, `position`), into `position.JOINT`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from .._text import short
from ..errors import FormatError
from ._table import BLOCK, MAX_BYTES, NAMES, Table, Unit
from ._tables_numpy import columns_table


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
