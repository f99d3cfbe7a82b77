"""`njit` for all kernels of this package: numba's, with a cache that ships with the wheel and cheaper compilation.

What differs from `numba.njit(cache=True)`, for these kernels alone (numba's own settings are left as they are):

- Compiled code is looked for in the user's cache, then among the kernels that came with the wheel (`_kernel_cache`).
- A kernel that calls another with a constant compiles it for the type of the constant, not for each value.
- Python's garbage collector rests meanwhile: a sixth of the time went there, and compilation leaves little garbage.
- No entry for callers written in C is made.
- A wait is announced once (`_progress`).
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from numba import types
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from ._kernel_cache import KernelCache, numba_settings
from ._progress import COMPILING


def njit(*, cache: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: compiles a function of arrays and numbers when it is first called, with numba's options.

    Args:
        cache: whether to keep what was compiled.
        options: as of `numba.njit` (error_model, fastmath, inline, nogil, ...).
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if numba_settings.DISABLE_JIT:
            return function
        kernel = Kernel(
            function,
            targetoptions={"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True, **options},
            pipeline_class=KernelCompiler,
        )
        if cache:
            kernel.enable_caching()
        return kernel

    return decorate


class Kernel(CPUDispatcher):
    """A compiled function; numba's dispatcher but for the points above."""

    def enable_caching(self) -> None:
        """Keeps compiled code on disk."""
        self._cache = KernelCache(self.py_func)

    def is_kept(self) -> bool:
        """Whether compiled code of this kernel is in a cache on disk."""
        return self._cache.holds_any()

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """How a call from another kernel is typed: by the types of constants, not their values."""
        return super().get_call_template(
            [types.unliteral(arg) for arg in args], {name: types.unliteral(arg) for name, arg in kws.items()}
        )


class KernelCompiler(Compiler):
    """Numba's compiler, timed and without garbage collection."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compiles one specialisation, and on the way those of the kernels it calls."""
        with _compiling():
            return super().compile_extra(func)


_depth = 0
_counted = 0.0  # until when the time is counted


@contextmanager
def _compiling() -> Generator[None]:
    """Around each compilation; numba's lock lets one thread in at a time, which may come in again."""
    global _depth, _counted
    collects = gc.isenabled()
    if _depth == 0:
        _counted = time.perf_counter()
    gc.disable()
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if collects:
            gc.enable()
        now = time.perf_counter()
        COMPILING.report(now - _counted)
        _counted = now
