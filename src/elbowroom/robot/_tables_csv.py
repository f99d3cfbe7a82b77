"""CSV: cells between commas, semicolons, tabs or spaces, with or without a header; `ros2 topic echo --csv` too."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from ..errors import FormatError
from ._table import BLOCK, Table

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
