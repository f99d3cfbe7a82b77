"""Values of ROS messages in YAML: vectors as lists or as mappings, with errors that name the place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from .._text import MAX_BITS, short
from ..errors import FormatError


def mapping(value: Any, where: str) -> Mapping[str, Any]:
    """A mapping.

    Raises:
        FormatError: anything else.
    """
    if not isinstance(value, Mapping):
        raise FormatError(f"{where}: expected a mapping, found {short(value)}")
    return value


def items(value: Any, where: str) -> list[Any]:
    """A list; nothing is an empty one.

    Raises:
        FormatError: anything else.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise FormatError(f"{where}: expected a list, found {short(value)}")
    return value


def name_of(value: Any, where: str) -> str:
    """A name: text, or a number where YAML takes a name for one.

    Raises:
        FormatError: anything else, or nothing.
    """
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    if plain and not (isinstance(value, int) and value.bit_length() > MAX_BITS):
        return str(value)
    if not isinstance(value, str) or not value:
        raise FormatError(f"{where}: expected a name, found {short(value)}")
    return value


def numbers(value: Any, where: str, keys: str = "") -> list[float]:
    """Finite numbers of a list; with `keys`, one for each of them, from a list or from a mapping.

    Raises:
        FormatError: anything else.
    """
    given: Any = value
    if keys and isinstance(value, Mapping):
        given = [value.get(key) for key in keys]
    if not isinstance(given, list) or (keys and len(given) != len(keys)):
        expected = f"{len(keys)} numbers ({', '.join(keys)})" if keys else "a list of numbers"
        raise FormatError(f"{where}: expected {expected}, found {short(value)}")
    return [_number(entry, where, value) for entry in given]


def _number(value: Any, where: str, all_of: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            found = float(value)
        except OverflowError:  # an integer beyond the largest float
            found = float("inf")
        if abs(found) < float("inf"):
            return found
    raise FormatError(f"{where}: expected finite numbers, found {short(all_of)}")


def pose_of(
    value: Any, where: str, position: str = "position", orientation: str = "orientation"
) -> Float[np.ndarray, "7"]:
    """A pose as wxyz_xyz, the quaternion as given; what is left out is the origin, or no rotation."""
    given = {} if value is None else mapping(value, where)
    place, turn = given.get(position), given.get(orientation)
    xyz = [0.0, 0.0, 0.0] if place is None else numbers(place, f"{where}: {position}", "xyz")
    x, y, z, w = [0.0, 0.0, 0.0, 1.0] if turn is None else numbers(turn, f"{where}: {orientation}", "xyzw")
    return np.array([w, x, y, z, *xyz])


def transform_of(value: Any, where: str) -> Float[np.ndarray, "7"]:
    """A transform as wxyz_xyz."""
    return pose_of(value, where, "translation", "rotation")
