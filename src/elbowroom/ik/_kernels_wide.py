"""Eight numbers at once, for kernels that run eight searches in lockstep.

`Wide` is a value of eight float64 in vector registers with the usual operators: numba keeps no vector in a register
across a loop whose bounds it does not know, and in straight-line code LLVM gives up on loops with many arrays. Written
with `Wide`, a kernel reads like its scalar original. LLVM splits the vectors where the machine's are shorter.

Arrays of such values are flat float64 arrays; value k takes numbers 8 k to 8 k + 7.
"""

# pyright: basic
from __future__ import annotations

import operator
from typing import Any, ClassVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import ConcreteTemplate, signature
from numba.core.typing.templates import infer_global as _infer_global
from numba.extending import intrinsic as _intrinsic
from numba.extending import register_model

from .._jit import njit
from ._layout import WIDTH

intrinsic: Any = _intrinsic
infer_global: Any = _infer_global

_FUSE = ("contract",)  # lets a * b + c become one fused instruction
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_ARRAY = types.Array(types.float64, 1, "C")
_TWO_OVER_PI = 0.6366197723675814
_PIO2_HIGH = 1.57079625129699707031e0
_PIO2_MID = 7.54978941586159635335e-8
_PIO2_LOW = 5.39030285815811905e-15
_HALF_PI = 1.5707963267948966
_QUARTER_PI = 0.7853981633974483


class WideType(types.Type):
    """Numba's type of eight float64."""

    def __init__(self) -> None:
        super().__init__("Wide")


wide = WideType()


@register_model(WideType)
class _WideModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _spread(builder: Any, kind: Any, value: Any) -> Any:
    """A number in all lanes; a Wide as it is."""
    if kind == wide:
        return value
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.IntType(32)(0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), lanes)


def _operator(symbol: Any, emit: str) -> None:
    kinds = [(wide, wide), (wide, types.float64), (types.float64, wide)]

    class Operator(ConcreteTemplate):
        cases: ClassVar = [signature(wide, *pair) for pair in kinds]

    infer_global(symbol)(Operator)

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (_spread(builder, kind, value) for kind, value in zip(sig.args, args, strict=True))
        return getattr(builder, emit)(a, b, flags=_FUSE)

    for pair in kinds:
        lower_builtin(symbol, *pair)(code)


for _symbol, _emit in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _operator(_symbol, _emit)


@infer_global(operator.neg)
class _Negative(ConcreteTemplate):
    cases: ClassVar = [signature(wide, wide)]


@lower_builtin(operator.neg, wide)
def _negative(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


def _pointer(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    data = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).data
    at = builder.mul(args[1], ir.Constant(args[1].type, WIDTH))
    return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())


@intrinsic
def load(typing: Any, array: Any, k: Any) -> Any:
    """Value k of an array."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_pointer(context, builder, sig, args), align=8)

    return wide(_ARRAY, types.intp), code


@intrinsic
def store(typing: Any, array: Any, k: Any, value: Any) -> Any:
    """Sets value k of an array; a plain number goes to all lanes."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        what = _spread(builder, sig.args[2], args[2])
        builder.store(what, _pointer(context, builder, sig, args), align=8)
        return context.get_dummy_value()

    return types.void(_ARRAY, types.intp, wide if value == wide else types.float64), code


@intrinsic
def splat(typing: Any, number: Any) -> Any:
    """A number in all lanes."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _spread(builder, types.float64, args[0])

    return wide(types.float64), code


@intrinsic
def where_less(typing: Any, a: Any, b: Any, then: Any, other: Any) -> Any:
    """`then` in the lanes in which a < b, `other` in the rest."""
    kinds = [wide if kind == wide else types.float64 for kind in (a, b, then, other)]

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [_spread(builder, kind, value) for kind, value in zip(sig.args, args, strict=True)]
        return builder.select(builder.fcmp_ordered("<", values[0], values[1]), values[2], values[3])

    return wide(*kinds), code


@intrinsic
def less_bits(typing: Any, a: Any, b: Any) -> Any:
    """Bit mask of the lanes in which a < b."""
    kinds = [wide if kind == wide else types.float64 for kind in (a, b)]

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [_spread(builder, kind, value) for kind, value in zip(sig.args, args, strict=True)]
        lanes = builder.fcmp_ordered("<", *values)
        return builder.zext(builder.bitcast(lanes, ir.IntType(WIDTH)), ir.IntType(64))

    return types.int64(*kinds), code


def _lanewise(name: str) -> Any:
    @intrinsic
    def function(typing: Any, a: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = ir.FunctionType(_VECTOR, [_VECTOR])
            known = cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{WIDTH}f64")
            return builder.call(known, args)

        return wide(wide), code

    return function


root = _lanewise("llvm.sqrt")
whole = _lanewise("llvm.floor")
size = _lanewise("llvm.fabs")


@njit(cache=True, nogil=True, error_model="numpy")
def sine_cosine(x):
    """Sine and cosine, good to 2e-16 for |x| < 1e5: polynomials after Cody-Waite reduction (Moshier's Cephes)."""
    n = whole(x * _TWO_OVER_PI + 0.5)
    r = ((x - n * _PIO2_HIGH) - n * _PIO2_MID) - n * _PIO2_LOW
    z = r * r
    s = z * 1.58962301576546568060e-10 + -2.50507477628578072866e-8
    s = z * s + 2.75573136213857245213e-6
    s = z * s + -1.98412698295895385996e-4
    s = z * s + 8.33333333332211858878e-3
    s = z * s + -1.66666666666666307295e-1
    s = r + r * z * s
    c = z * -1.13585365213876817300e-11 + 2.08757008419747316778e-9
    c = z * c + -2.75573141792967388112e-7
    c = z * c + 2.48015872888517045348e-5
    c = z * c + -1.38888888888730564116e-3
    c = z * c + 4.16666666666665929218e-2
    c = 1.0 - 0.5 * z + z * z * c
    quadrant = n - 4.0 * whole(n * 0.25)
    odd = size(quadrant - 2.0 * whole(quadrant * 0.5))
    sine = where_less(odd, 0.5, s, c)
    cosine = where_less(odd, 0.5, c, s)
    sine = where_less(quadrant, 1.5, sine, -sine)
    cosine = where_less(size(quadrant - 1.5), 1.0, -cosine, cosine)
    return sine, cosine


@njit(cache=True, nogil=True, error_model="numpy")
def angle_of(y, x):
    """The angle of (x, y) for y >= 0, in [0, pi], zero for (0, 0): a rational function (Cephes) on [0, tan(pi/8)]."""
    a = size(x)
    low = where_less(a, y, a, y)
    high = where_less(a, y, y, a)
    big = where_less(
        0.41421356237309503 * high, low, 1.0, 0.0
    )  # then atan t = pi/4 + atan((t - 1) / (t + 1))
    top = low - big * high
    under = high + big * low
    t = top / where_less(under, 1e-300, 1.0, under)
    z = t * t
    p = z * -8.750608600031904122785e-1 + -1.615753718733365076637e1
    p = z * p + -7.500855792314704667340e1
    p = z * p + -1.228866684490136173410e2
    p = z * p + -6.485021904942025371773e1
    q = z + 2.485846490142306297962e1
    q = z * q + 1.650270098316988542046e2
    q = z * q + 4.328810604912902668951e2
    q = z * q + 4.853903996359136964868e2
    q = z * q + 1.945506571482613964425e2
    angle = t + t * z * p / q + big * _QUARTER_PI
    angle = where_less(a, y, _HALF_PI - angle, angle)
    return where_less(x, 0.0, 2.0 * _HALF_PI - angle, angle)
