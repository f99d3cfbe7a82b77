"""Text of values: short and in bounded time for messages, numbers as people read them; text of files."""

from __future__ import annotations

import decimal
import reprlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .errors import FormatError

MAX_TEXT = 80
"""Characters of a value shown in a message."""
MAX_BITS = 128
"""Integers longer than this are described, not shown: Python refuses to print very long ones."""
MAX_BYTES = 64 * 2**20
"""Largest text file read; the largest sphere files in use have less than 1 MB."""

NOTHING = 1e-9
"""Below it a number is rounding, whatever its unit: a nanometre, a nanoradian."""


def number(value: float, digits: int = 4) -> str:
    """A number as people read it: so many significant digits, no exponent, no minus before zero.

    >>> number(-1.7e-17), number(0.12345678), number(-2.0), number(float("inf"))
    ('0', '0.1235', '-2', 'inf')
    """
    if abs(value) < NOTHING:
        return "0"
    if not np.isfinite(value):
        return str(float(value))
    return np.format_float_positional(value, precision=digits, unique=False, fractional=False, trim="-")


def shortest(values: float | Iterable[float]) -> str:
    """Numbers in the fewest digits that read back as the same float64, for XML; several are joined by spaces.

    >>> shortest([0.1, -0.0, 2.0, 1e-6]), shortest(0.1 + 0.2)
    ('0.1 0 2 1e-6', '0.30000000000000004')
    """
    if not isinstance(values, (int, float)):
        return " ".join(map(shortest, values))
    mantissa, sign, exponent = repr(float(values) + 0.0).partition("e")
    return mantissa.removesuffix(".0") + (f"e{int(exponent)}" if sign else "")


def nine_digits(value: float, rounding: str = decimal.ROUND_HALF_EVEN) -> float:
    """The nearest number of at most nine significant digits; `rounding` is one of the words of `decimal`.

    >>> nine_digits(2 / 3), nine_digits(2 / 3, decimal.ROUND_FLOOR), nine_digits(0.25)
    (0.666666667, 0.666666666, 0.25)
    """
    return float(decimal.Context(prec=9, rounding=rounding).create_decimal_from_float(value))


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals, for columns of a table; no minus before zero.

    >>> fixed(-0.00001, 2), fixed(-1.5, 2)
    ('0.00', '-1.50')
    """
    return f"{round(float(value), decimals) + 0.0:.{decimals}f}"


def at_least(value: float, decimals: int = 2) -> str:
    """A lower bound with this many decimals, rounded down, so that it stays a lower bound.

    >>> at_least(0.996), at_least(2.0), at_least(float("inf"))
    ('0.99', '2.00', 'inf')
    """
    if not np.isfinite(value):
        return str(float(value))
    scale = 10.0**decimals
    down = np.floor(value * scale) / scale
    exact = f"{value:.{decimals}f}"
    return exact if float(exact) <= value else f"{down:.{decimals}f}"


def proved_room(low: float) -> str:
    """A proved clearance, metres, in words. A bound that would be printed as zero only says that nothing touches.

    >>> proved_room(0.001), proved_room(2e-6), proved_room(float("inf"))
    ('at least 1.00 mm of clearance among checked pairs', 'no contact among checked pairs', 'nothing is checked')
    """
    if not np.isfinite(low):
        return "nothing is checked"
    shown = at_least(1e3 * low)
    return (
        f"at least {shown} mm of clearance among checked pairs"
        if float(shown)
        else "no contact among checked pairs"
    )


def beyond(value: float, lower: float, upper: float) -> str:
    """A value and the limits that it is outside of, with digits enough to see it.

    >>> beyond(2.0, -1.0, 1.0), beyond(1.00001, -1.0, 1.0)
    ('2, outside its limits [-1, 1]', '1.00001, outside its limits [-1, 1]')
    """
    for digits in (4, 6, 9, 12, 17):
        texts = [number(entry, digits) for entry in (value, lower, upper)]
        if texts[0] not in texts[1:] or digits == 17:
            break
    return f"{texts[0]}, outside its limits [{texts[1]}, {texts[2]}]"


def counted(count: int, noun: str) -> str:
    """So many of something.

    >>> counted(1, "pair"), counted(0, "pair")
    ('1 pair', '0 pairs')
    """
    return f"{count} {noun}" + ("" if count == 1 else "s")


SHOWN = 8
"""Names listed before the rest is counted."""


def some_names(names: Sequence[str]) -> str:
    """Names one after the other; of many, the first and how many more there are.

    >>> some_names(["base", "link01"]), some_names([str(k) for k in range(10)])
    ('base, link01', '0, 1, 2, 3, 4, 5, 6, 7 and 2 more')
    """
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


class _Short(reprlib.Repr):
    """Text of any value in bounded time: depth, entries and length are cut while walking, not afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxdict, self.maxlist, self.maxstring = 3, 4, 6, 60

    def repr1(self, x: Any, level: int) -> str:
        """Text of a value at a depth."""
        if isinstance(x, int) and x.bit_length() > MAX_BITS:
            return f"an integer of {x.bit_length()} bits"
        if isinstance(x, (bool, int, float)) or x is None:
            return repr(x)
        if isinstance(x, str):
            return self.repr_str(str(x[: 2 * self.maxstring]), level)
        if isinstance(x, Mapping):
            if level <= 0:
                return "{...}"
            entries = islice(x.items(), self.maxdict)
            texts = [
                f"{self.repr1(key, level - 1)}: {self.repr1(value, level - 1)}" for key, value in entries
            ]
            return "{" + ", ".join([*texts, *(["..."] if len(x) > self.maxdict else [])]) + "}"
        if isinstance(x, Sequence) and not isinstance(x, (bytes, bytearray)):
            return self._repr_iterable(x, level, "[", "]", self.maxlist)  # type: ignore[attr-defined]
        return f"a {type(x).__name__}" if isinstance(x, Collection) else self.repr_instance(x, level)


_SHORT = _Short()


def short(value: Any) -> str:
    """Text of a value for a message, at most `MAX_TEXT` characters, made in bounded time.

    `repr` would first write out all of a value, which takes exponential time for one that shares its parts.
    """
    text = _SHORT.repr(value)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."


def read_text(path: Path, most: int = MAX_BYTES) -> str:
    """Text of a file of at most so many bytes.

    Raises:
        FormatError: missing, too large, empty or not UTF-8.
    """
    try:
        if path.stat().st_size > most:
            raise FormatError(
                f"{path}: it has {path.stat().st_size / 2**20:.0f} MB; at most {most >> 20} MB are read"
            )
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows put a mark in front
    except FormatError:
        raise
    except FileNotFoundError as error:
        raise FormatError(f"{path}: there is no such file") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: expected UTF-8 text, found something else: {error}") from error
    except (OSError, ValueError) as error:
        raise FormatError(f"{path}: it cannot be read: {error}") from error
    if not text.strip():
        raise FormatError(f"{path}: the file is empty")
    return text
