"""A short `repr` for values that hold arrays, mappings or long lists: what fits a few lines of a prompt.

The repr that dataclasses come with writes out everything, which is tens of thousands of characters for the spheres of a
robot. Here arrays of more than a few numbers are told by their shape, long collections by their length and first
entries, and other values in short. What a value holds in full is in its fields.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from ._text import number

SMALL = 8
"""Entries of an array that are written out."""
FEW = 3
"""Entries of other collections that are written out."""
TEXT = 100
"""Characters of a text, or of a value inside another, that are written out."""
LONGEST = 1000
"""Characters of a repr: 12 lines of a terminal of 80 columns hold 960."""

T = TypeVar("T")


def brief(cls: type[T]) -> type[T]:
    """Decorator that gives a dataclass a short repr; fields with `repr=False` are left out, as usual.

    >>> from dataclasses import dataclass
    >>> @brief
    ... @dataclass
    ... class Path:
    ...     points: np.ndarray
    ...     names: tuple[str, ...]
    >>> Path(np.zeros((100, 3)), ("a", "b", "c", "d"))
    Path(points=array (100, 3), names=('a', 'b', 'c', ... 4 in all))
    """
    cls.__repr__ = _repr
    return cls


def _repr(self: Any) -> str:
    shown = (field.name for field in fields(self) if field.repr)
    text = (
        f"{type(self).__name__}({', '.join(f'{name}={brief_value(getattr(self, name))}' for name in shown)})"
    )
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + "...)"


def brief_value(value: Any, depth: int = 2) -> str:
    """Text of a value on one line; `depth` collections inside each other are opened."""
    if isinstance(value, (float, np.floating)):
        return number(float(value), 6)
    if value is None or isinstance(value, (bool, int, np.integer, np.bool_)):
        return str(value)
    if isinstance(value, str):
        return repr(value if len(value) <= TEXT else value[: TEXT - 3] + "...")
    if hasattr(value, "shape") and hasattr(value, "dtype"):  # numpy's and JAX's
        return _array(value)
    if isinstance(value, Mapping):
        return (
            "{"
            + _entries(
                [f"{k!r}: {brief_value(v, depth - 1)}" for k, v in _first(value.items(), depth)], value
            )
            + "}"
        )
    if (
        isinstance(value, Collection)
        and not isinstance(value, (bytes, bytearray))
        and not is_dataclass(value)
    ):
        return "(" + _entries([brief_value(entry, depth - 1) for entry in _first(value, depth)], value) + ")"
    text = " ".join(repr(value).split())
    return text if len(text) <= TEXT else f"{type(value).__name__}(...)"


def _first(values: Collection[Any], depth: int) -> list[Any]:
    return list(islice(values, FEW)) if depth > 0 else []


def _entries(texts: list[str], whole: Collection[Any]) -> str:
    more = [f"... {len(whole)} in all"] if len(whole) > len(texts) else []
    return ", ".join([*texts, *more])


def _array(array: Any) -> str:
    shape = tuple(array.shape)
    try:
        values = np.asarray(array)
    except Exception:  # a JAX tracer has a shape and no values
        return f"array {shape}"
    if values.size > SMALL or values.dtype.kind not in "biuf":
        return f"array {shape}"
    return (
        str([number(float(value), 6) for value in values.reshape(-1)]).replace("'", "")
        if shape
        else str(values)
    )
