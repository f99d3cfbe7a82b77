"""Writes the type stub of the compiled core; `make stubs` formats it too.

python tools/write_core_stub.py
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from nanobind.stubgen import StubGen

import elbowroom._core as core

STUB = Path(core.__file__).with_suffix(".pyi")


def text() -> str:
    """The stub of the variant that this machine runs."""
    variant = import_module(f"{core.__name__}.{core.VARIANT}")
    classes = [value for value in vars(variant).values() if isinstance(value, type)]
    # For pickles, classes name the package; to the generator they would be imports from it.
    for value in classes:
        value.__module__ = variant.__name__
    try:
        stub = StubGen(variant)
        stub.put(variant)
        return stub.get()
    finally:
        for value in classes:
            value.__module__ = core.__name__


if __name__ == "__main__":
    STUB.write_text(text(), encoding="utf-8")
