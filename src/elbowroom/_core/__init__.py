"""The compiled core (C++, in `core/`), in the variant that this machine runs.

A wheel for x86-64 carries two variants, `v2` for every processor and `v3` for those with AVX2; a local build makes only
the one that runs here. The core checks shapes, but not what values mean: that is for the folder that calls it.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..errors import ElbowroomError


def _variant() -> Any:
    built = [name for name in ("v2", "v3", "generic") if find_spec(f"{__name__}.{name}")]
    if not built:
        raise ElbowroomError(
            "the compiled core is not built: run `pip install .` (or `make`) in the checkout"
        )
    module = import_module(f"{__name__}.{built[0]}")
    if built[0] == "v2" and "v3" in built and module.machine_runs_v3():
        module = import_module(f"{__name__}.v3")
    return module


def _public() -> dict[str, Any]:
    names = {name: value for name, value in vars(_variant()).items() if not name.startswith("_")}
    for value in names.values():
        if isinstance(value, type):
            value.__module__ = __name__  # what is pickled here can be read where another variant runs
    return names


globals().update(_public())
