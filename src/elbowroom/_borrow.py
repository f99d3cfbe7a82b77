"""Arrays that kernels use without counting references to them.

Numba counts a reference, atomically, each time an array is taken out of a tuple: for the dozen arrays of a packed
world that is 50 to 200 ns a call, more than the geometry behind it. A borrowed array has no owner to count for, and
the compiler drops the counting.
"""

# pyright: basic
from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ._kernel_cache import numba_settings


def _unowned(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The value with the owner of every array in it set to none."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        return array._getvalue()
    if isinstance(kind, (types.UniTuple, types.NamedUniTuple, types.Tuple, types.NamedTuple)):
        for i, part in enumerate(kind.types):
            inner = _unowned(context, builder, part, builder.extract_value(value, i))
            value = builder.insert_value(value, inner, i)
    return value


@intrinsic
def _borrowed(_: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _unowned(context, builder, signature.args[0], arguments[0])

    return value(value), generate


def _itself(value: Any) -> Any:
    return value


borrowed: Any = _itself if numba_settings.DISABLE_JIT else _borrowed
"""`borrowed(world)` in a kernel: the same array, or tuple of arrays, without references counted.

Only for what the caller keeps alive: an argument of the kernel, never an array made in it.
"""
