"""Values of messages: what JSON holds, checked, with where it stands in the words of a refusal."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .._text import short
from ..errors import InputError


def object_of(value: Any, what: str) -> dict[str, Any]:
    """An object, as a dictionary."""
    if not isinstance(value, dict):
        raise InputError(f"{what}: expected an object, found {short(value)}")
    return cast(dict[str, Any], value)


def number_of(value: Any, what: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e300:
        raise InputError(f"{what}: expected a finite number, found {short(value)}")
    return float(value)


def truth_of(value: Any, what: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InputError(f"{what}: expected true or false, found {short(value)}")
    return value


def numbers_of(value: Any, what: str) -> np.ndarray:
    """Numbers in a list, or in rows of them; strings and truth values, which numpy would take, are refused."""
    if not isinstance(value, list) or not value:
        raise InputError(f"{what}: expected numbers in a list, found {short(value)}")
    rows = cast(list[Any], value)
    if not isinstance(rows[0], list):
        return np.array([number_of(entry, what) for entry in rows])
    if any(not isinstance(row, list) or len(row) != len(rows[0]) for row in rows):
        raise InputError(f"{what}: expected rows of the same length, found {short(value)}")
    return np.array([[number_of(entry, what) for entry in row] for row in rows])
