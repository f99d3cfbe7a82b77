"""Makes `Robot` known to JAX, whichever of the two is imported first.

A Robot may be an argument of jitted functions, which JAX must have been told before the call. Elbowroom does not
import JAX by itself (it takes about a second), so if JAX is not there yet, the telling waits for its import.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


def register_with_jax() -> None:
    """Registers `Robot` as a pytree: now if JAX is loaded, otherwise as soon as it is."""
    if "jax" in sys.modules:
        from . import _fk_jax as _fk_jax
    else:
        sys.meta_path.insert(0, _AfterJax())


class _AfterJax(MetaPathFinder):
    """Steps aside when JAX is looked for, and registers `Robot` when JAX has been loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "jax":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                register_with_jax()

            spec.loader.exec_module = load_and_register
        return spec
