"""Values that cannot change: read-only arrays and mappings, and a base class that keeps both through pickling.

Numpy forgets the read-only mark when an array is pickled, `types.MappingProxyType` cannot be pickled at all, and
cached properties may hold compiled functions that cannot travel. `Frozen` and `FrozenMap` take care of all three, so
that values go through pickle, `copy.deepcopy` and joblib and arrive as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from ._brief import brief_value

Key = TypeVar("Key")
Value = TypeVar("Value", covariant=True)
Array = TypeVar("Array", bound=np.ndarray)


def frozen(array: Array) -> Array:
    """Marks an array read-only and returns it."""
    array.setflags(write=False)
    return array


def freeze(*arrays: np.ndarray) -> None:
    """Marks arrays read-only."""
    for array in arrays:
        frozen(array)


class FrozenMap(Mapping[Key, Value]):
    """A mapping that cannot be changed; it prints like a dict, in short. Arrays among its values are frozen."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[Key, Value] | None = None) -> None:
        self._items = dict(items or {})
        for value in self._items.values():
            if isinstance(value, np.ndarray):
                frozen(value)

    def __getitem__(self, key: Key) -> Value:
        return self._items[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return brief_value(self._items)

    def __reduce__(self) -> tuple[type[FrozenMap[Any, Any]], tuple[dict[Any, Any]]]:
        return FrozenMap, (self._items,)


class Frozen:
    """Base of frozen dataclasses: only fields are pickled and copied, and their arrays arrive read-only."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, frozen(value) if isinstance(value, np.ndarray) else value)
