"""A table of numbers as a file holds it: columns, named or not, and rows that are checked as they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from .._text import short
from ..errors import FormatError

BLOCK = 20_000
"""Rows read at a time: a long recording needs the memory of its numbers, not of its text."""
MAX_BYTES = 4 << 30
"""Of an array, or of a JSON document, which is held in memory as a whole."""
NAMES = ("name", "names", "joint_names")
"""Keys whose list of texts names the entries of the other lists beside it."""
NUMBERS = {str, float, int}
"""Types of cells that may be numbers; true and false are none."""

Unit = Literal["line", "row", "entry"]
"""What rows are counted by: lines of a text, rows of an array, entries of a JSON array."""
Block = tuple[Float[np.ndarray, "rows used"], Int[np.ndarray, "rows"]]
"""Values of the columns in use, and the line (or row, or entry) of each, counted from 1."""


@dataclass(frozen=True)
class Table:
    """Columns and rows of a source; `read` may be called once."""

    source: str
    """Name of the file, for messages."""
    unit: Unit
    columns: tuple[str, ...] | None
    """Names, or None where the source has none."""
    width: int
    """Number of columns."""
    rows: Iterable[Any]
    """Blocks of `(cells, lines)`; cells are arrays, or sequences of sequences of what the format holds."""
    constant: Mapping[int, str] = field(default_factory=dict[int, str])
    """Columns of text that must not change from row to row."""
    notes: tuple[str, ...] = ()
    """What was left out."""

    def where(self, line: int) -> str:
        """A place in the source: `moves.csv:17`, or `moves.npy, row 17`."""
        return f"{self.source}:{line}" if self.unit == "line" else f"{self.source}, {self.unit} {line}"

    def read(self, use: Sequence[int]) -> Iterator[Block]:
        """Blocks of numbers of the columns in `use`.

        Raises:
            FormatError: a row is too short or too long, or a cell is not a finite number; with file and line.
        """
        for cells, lines in self.rows:
            if isinstance(cells, np.ndarray):
                values = cells[:, use].astype(np.float64)
            else:
                if self.constant or set(map(len, cells)) != {self.width}:
                    self._check_rows(cells, lines)
                picked = [cell for row in cells for cell in map(row.__getitem__, use)]
                try:
                    if not set(map(type, picked)) <= NUMBERS:
                        raise ValueError
                    values = np.array([*map(float, picked)]).reshape(-1, len(use))
                except (ValueError, OverflowError):
                    raise self._bad_cell(cells, lines, use) from None
            bad = np.argwhere(~np.isfinite(values))
            if len(bad):
                row, column = (int(k) for k in bad[0])
                text = f"{self._column(use[column])} is {values[row, column]:g}, not a finite number"
                raise FormatError(f"{self.where(int(lines[row]))}: {text}")
            yield values, np.asarray(lines)

    def _check_rows(self, cells: Sequence[Sequence[Any]], lines: Sequence[int]) -> None:
        for row, line in zip(cells, lines, strict=True):
            if len(row) != self.width:
                raise FormatError(
                    f"{self.where(line)}: {len(row)} columns, where the first row has {self.width}"
                )
            for column, text in self.constant.items():
                if row[column] != text:
                    raise FormatError(
                        f"{self.where(line)}: column {column + 1} is {short(row[column])}, on the first line {text!r}; "
                        "write each set of joints to a file of its own"
                    )

    def _bad_cell(
        self, cells: Sequence[Sequence[Any]], lines: Sequence[int], use: Sequence[int]
    ) -> FormatError:
        for row, line in zip(cells, lines, strict=True):
            for k in use:
                if not _is_number(row[k]):
                    found = "is empty" if row[k] in ("", None) else f"is {short(row[k])}, not a number"
                    hint = " (a decimal comma?)" if isinstance(row[k], str) and row[k].count(",") == 1 else ""
                    return FormatError(f"{self.where(line)}: {self._column(k)} {found}{hint}")
        raise AssertionError("a cell that is not a number was there a moment ago")

    def _column(self, k: int) -> str:
        return f"column {k + 1}" if self.columns is None else f"{self.columns[k]!r}"


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return type(cell) in NUMBERS
