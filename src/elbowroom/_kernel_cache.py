"""Where compiled kernels are kept, and when they still hold.

Each kernel is looked for in two places. First the user's: `NUMBA_CACHE_DIR` if it is set, `__pycache__` beside the
source, or the user's cache folder where that cannot be written. Then the kernels that came with the wheel
(`SHIPPED`), built by `make kernels` for x86-64-v3, which every machine with AVX2 can run. What is found in neither is
compiled for this machine and kept in the first place.

Compiled code holds while numba, llvmlite, Python and the source are the same. Numba looks at the file of a kernel
alone; kernels also inline what they import, so here the stamp covers every module of this package that the file
imports, and theirs, but for doors, through which only types come. A stamp is a hash of contents: neither the place of
the package nor file times count.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import re
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
from llvmlite import binding
from numba import config
from numba.core import caching
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from ._cache import cache_dir
from ._progress import LOADING

logger = logging.getLogger(__name__)
numba_settings: Any = config  # made at run time, unknown to type checkers
_BaseLocator: Any = caching._CacheLocator  # pyright: ignore[reportPrivateUsage]

PACKAGE = Path(__file__).parent
SHIPPED = PACKAGE / "_shipped"
"""Folder of the kernels in the wheel; a checkout has none."""
SHIPPED_CPU = "x86-64-v3"
NEEDED = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "xsave")
"""What a machine must have to run code for SHIPPED_CPU, in LLVM's words."""
COMPILER = PACKAGE / "_jit.py"
"""Imported by every kernel and part of none."""
DOORS = "doors.py"
"""Modules through which, as through `__init__`, a folder is entered for what is not compiled."""
_IMPORT = re.compile(r"^from (\.+)([\w.]*) import", re.MULTILINE)


class _Locator(_BaseLocator):
    """Numba's question where a function's code is kept, answered for this package."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file  # read by numba for its warnings
        self._source = Path(file)
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        """The locator of a function."""
        return cls(py_func, py_file)

    def get_cache_path(self) -> str:
        """The user's place."""
        return str(_users_folder(self._source.parent))

    def get_source_stamp(self) -> str:
        """Changes whenever the compiled code may."""
        return source_stamp(self._source)

    def get_disambiguator(self) -> str:
        """Tells functions of one name in one file apart."""
        return str(self._line)


class _Impl(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012


class _Index(IndexDataCacheFile):
    """Numba's index of the compiled code of one kernel; one that cannot be read holds nothing.

    It names the classes of named tuples that a kernel takes, which another version may not have.
    """

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (AttributeError, ImportError, EOFError, ValueError, pickle.UnpicklingError):
            return {}


class KernelCache(FunctionCache):
    """The cache of one kernel: the user's place, then what was shipped."""

    _impl_class = _Impl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        source = Path(function.__code__.co_filename)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _Index(self._cache_path, self._impl.filename_base, stamp)
        self._shipped: _Index | None = None
        if runs_shipped():
            folder = SHIPPED / source.parent.relative_to(PACKAGE)
            self._shipped = _Index(str(folder), self._impl.filename_base, stamp)

    def holds_any(self) -> bool:
        """Whether code that still holds is in one of the two places."""
        places: tuple[Any, ...] = (self._cache_file, self._shipped)
        return any(place is not None and place._load_index() for place in places)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        began = time.perf_counter()
        found = super()._load_overload(sig, target_context)
        if found is None and self._shipped is not None:
            triple, _, _ = target_context.codegen().magic_tuple()
            key = self._index_key(sig, _Codegen(triple))
            data = self._shipped.load(key)
            found = None if data is None else self._impl.rebuild(target_context, data)
        LOADING.report(time.perf_counter() - began)
        return found

    def _save_overload(self, sig: Any, data: Any) -> None:
        try:
            super()._save_overload(sig, data)
        except OSError as error:  # a full disk costs time, never the answer
            logger.warning("cannot keep a compiled kernel in %s: %s", self.cache_path, error)


class _Codegen:
    """Stands for the code generator that made the shipped kernels, in numba's key of a compiled function."""

    def __init__(self, triple: str) -> None:
        self._triple = triple

    def magic_tuple(self) -> tuple[str, str, str]:
        return self._triple, SHIPPED_CPU, ""


@cache
def runs_shipped() -> bool:
    """Whether shipped kernels exist and this machine can run them; a CPU set for numba is respected."""
    if numba_settings.CPU_NAME is not None or not SHIPPED.is_dir():
        return False
    features = binding.get_host_cpu_features()
    return all(features.get(name, False) for name in NEEDED)


@cache
def source_stamp(source: Path) -> str:
    """Hash of llvmlite's version and of a module with all modules of this package that it imports, and theirs."""
    open_, seen = [source], dict[Path, bytes]()
    while open_:
        path = open_.pop()
        if path in seen:
            continue
        seen[path] = path.read_bytes()
        for dots, dotted in _IMPORT.findall(seen[path].decode()):
            imported = path.parents[len(dots) - 1].joinpath(*dotted.split(".")).with_suffix(".py")
            if imported.is_file() and imported != COMPILER and imported.name != DOORS:
                open_.append(imported)
    digest = hashlib.sha256(llvmlite.__version__.encode())
    for path in sorted(seen):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(seen[path]).digest())
    return digest.hexdigest()


@cache
def _users_folder(folder: Path) -> Path:
    inside = folder.relative_to(PACKAGE)
    if numba_settings.CACHE_DIR:
        return Path(numba_settings.CACHE_DIR) / "elbowroom" / inside
    beside = folder / "__pycache__"
    writable = beside if beside.is_dir() else folder
    return beside if os.access(writable, os.W_OK) else cache_dir() / "kernels" / inside
