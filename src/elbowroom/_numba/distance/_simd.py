"""Vector instructions for numba: one operation on sixteen configurations.

Numba vectorises simple loops but keeps no vector in a register across an inner loop that was not known
at compile time. These intrinsics emit LLVM vector code directly, so data-driven kernels run at the speed
of generated straight-line code and still compile once, for every robot. LLVM splits the vectors where the
machine's are shorter (two AVX2 or four SSE / NEON registers). A point is three rows of LANES float32
numbers (x, y, z) in one flat array; an offset is the index of its first number.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as _intrinsic

from ..sphere_layout import LANES, POINT

intrinsic: Any = _intrinsic  # the decorated functions are called from kernels only
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_INTS = ir.VectorType(ir.IntType(32), LANES)
_FUSE = ("contract",)  # lets a * b + c become one fused instruction
_FLOAT_ARRAY = types.Array(types.float32, 1, "C")
_DOUBLE_ARRAY = types.Array(types.float64, 1, "C")

_TWO_OVER_PI = 0.6366197723675814
_PIO2_HIGH = 1.57079625129699707031e0  # 24 bits: its product with a quadrant number is exact
_PIO2_LOW = 7.54978995489188216e-8
_SINE = (-1.95152959e-4, 8.33216087e-3, -1.66666546e-1)
_COSINE = (2.44331571e-5, -1.38873163e-3, 4.16666457e-2)
"""Polynomials on [-pi/4, pi/4] from the highest power down (after Moshier's Cephes, sinf and cosf)."""


@intrinsic
def hits(typing: Any, world: Any, a: Any, b: Any, reach: Any) -> Any:
    """Bit mask of the lanes in which points at offsets a and b are closer than `reach`."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature, args, 0)
        squared = _squared_distance(builder, data, args[1], args[2])
        limit = _splat(builder, builder.fmul(args[3], args[3]))
        return _mask(builder, builder.fcmp_ordered("<", squared, limit))

    return types.int64(_FLOAT_ARRAY, types.intp, types.intp, types.float32), code


@intrinsic
def place(typing: Any, poses: Any, pose: Any, points: Any, first: Any, count: Any, world: Any) -> Any:
    """Maps local points `first ... first + count - 1` by the pose at an offset, into `world`.

    `points` holds x, y, z, radius of each point; point i is written at offset i * POINT.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = _data(context, builder, signature, args, 0)
        local = _data(context, builder, signature, args, 2)
        target = _data(context, builder, signature, args, 5)
        T = [_load(builder, source, _plus(builder, args[1], k * LANES)) for k in range(12)]
        with cgutils.for_range(builder, args[4], intp=args[4].type) as loop:
            index = builder.add(args[3], loop.index)
            start = builder.mul(index, ir.Constant(index.type, 4))
            xyz = [
                _splat(builder, builder.load(builder.gep(local, [_plus(builder, start, k)])))
                for k in range(3)
            ]
            to = builder.mul(index, ir.Constant(index.type, POINT))
            for row in range(3):
                value = _dot(builder, T[3 * row : 3 * row + 3], xyz, T[9 + row])
                _store(builder, target, value, _plus(builder, to, row * LANES))
        return context.get_dummy_value()

    signature = types.void(_FLOAT_ARRAY, types.intp, _FLOAT_ARRAY, types.intp, types.intp, _FLOAT_ARRAY)
    return signature, code


@intrinsic
def within(typing: Any, values: Any, offset: Any, limit: Any) -> Any:
    """Bit mask of the lanes whose float64 value is not beyond +-limit; NaN is beyond."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x = _load(builder, _data(context, builder, signature, args, 0), args[1], _DOUBLES)
        size = _call(builder, "llvm.fabs", _DOUBLES, x)
        return _mask(builder, builder.fcmp_ordered("<=", size, _splat(builder, args[2], _DOUBLES)))

    return types.int64(_DOUBLE_ARRAY, types.intp, types.float64), code


@intrinsic
def sincos(typing: Any, angles: Any, offset: Any, trig: Any) -> Any:
    """trig[0:LANES] = sine, trig[LANES:] = cosine of float64 angles; error below 1.2e-7 for |angle| < 1e5."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x = _load(builder, _data(context, builder, signature, args, 0), args[1], _DOUBLES)
        out = _data(context, builder, signature, args, 2)
        turns = builder.fadd(builder.fmul(x, _constant(_TWO_OVER_PI, _DOUBLES)), _constant(0.5, _DOUBLES))
        n = _call(builder, "llvm.floor", _DOUBLES, turns)
        rest = builder.fsub(x, builder.fmul(n, _constant(_PIO2_HIGH, _DOUBLES)))
        rest = builder.fsub(rest, builder.fmul(n, _constant(_PIO2_LOW, _DOUBLES)))
        r = builder.fptrunc(rest, _VECTOR)
        z = builder.fmul(r, r)
        s, c = (_polynomial(builder, z, terms) for terms in (_SINE, _COSINE))
        s = builder.fadd(builder.fmul(builder.fmul(s, z), r, flags=_FUSE), r, flags=_FUSE)
        head = builder.fsub(_constant(1.0), builder.fmul(z, _constant(0.5)))
        c = builder.fadd(builder.fmul(builder.fmul(c, z), z, flags=_FUSE), head, flags=_FUSE)
        quadrant = builder.fptosi(n, _INTS)
        one, two, lift = (_constant(k, _INTS) for k in (1, 2, 30))
        odd = builder.icmp_signed("!=", builder.and_(quadrant, one), _constant(0, _INTS))
        for k, (a, b, q) in enumerate(((c, s, quadrant), (s, c, builder.add(quadrant, one)))):
            sign = builder.shl(builder.and_(q, two), lift)
            value = builder.bitcast(builder.select(odd, a, b), _INTS)
            value = builder.bitcast(builder.xor(value, sign), _VECTOR)
            _store(builder, out, value, ir.Constant(args[1].type, k * LANES))
        return context.get_dummy_value()

    return types.void(_DOUBLE_ARRAY, types.intp, _FLOAT_ARRAY), code


@intrinsic
def compose(typing: Any, poses: Any, up: Any, out: Any, local: Any, first: Any) -> Any:
    """Pose at `out` = pose at `up` times the constant pose local[first : first + 12]."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature, args, 0)
        constant = _data(context, builder, signature, args, 3)
        T = [
            _splat(builder, builder.load(builder.gep(constant, [_plus(builder, args[4], k)])))
            for k in range(12)
        ]
        for row in range(3):
            a = [_load(builder, data, _plus(builder, args[1], (3 * row + k) * LANES)) for k in range(3)]
            for k in range(3):
                value = _dot(builder, a, (T[k], T[3 + k], T[6 + k]), None)
                _store(builder, data, value, _plus(builder, args[2], (3 * row + k) * LANES))
            shift = _load(builder, data, _plus(builder, args[1], (9 + row) * LANES))
            _store(builder, data, _dot(builder, a, T[9:], shift), _plus(builder, args[2], (9 + row) * LANES))
        return context.get_dummy_value()

    return types.void(_FLOAT_ARRAY, types.intp, types.intp, _FLOAT_ARRAY, types.intp), code


@intrinsic
def turn(typing: Any, poses: Any, pose: Any, trig: Any) -> Any:
    """Turns the pose at an offset about its own z axis."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature, args, 0)
        trig_data = _data(context, builder, signature, args, 2)
        s = _load(builder, trig_data)
        c = _load(builder, trig_data, ir.Constant(args[1].type, LANES))
        for row in range(3):
            at_x, at_y = (_plus(builder, args[1], (3 * row + k) * LANES) for k in range(2))
            x, y = _load(builder, data, at_x), _load(builder, data, at_y)
            new_x = builder.fadd(
                builder.fmul(x, c, flags=_FUSE), builder.fmul(y, s, flags=_FUSE), flags=_FUSE
            )
            new_y = builder.fsub(
                builder.fmul(y, c, flags=_FUSE), builder.fmul(x, s, flags=_FUSE), flags=_FUSE
            )
            _store(builder, data, new_x, at_x)
            _store(builder, data, new_y, at_y)
        return context.get_dummy_value()

    return types.void(_FLOAT_ARRAY, types.intp, _FLOAT_ARRAY), code


@intrinsic
def slide(typing: Any, poses: Any, pose: Any, values: Any, offset: Any) -> Any:
    """Moves the pose at an offset along its own z axis by float64 lengths."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature, args, 0)
        length = _load(builder, _data(context, builder, signature, args, 2), args[3], _DOUBLES)
        length = builder.fptrunc(length, _VECTOR)
        for row in range(3):
            to = _plus(builder, args[1], (9 + row) * LANES)
            z = _load(builder, data, _plus(builder, args[1], (3 * row + 2) * LANES))
            moved = builder.fadd(builder.fmul(z, length, flags=_FUSE), _load(builder, data, to), flags=_FUSE)
            _store(builder, data, moved, to)
        return context.get_dummy_value()

    return types.void(_FLOAT_ARRAY, types.intp, _DOUBLE_ARRAY, types.intp), code


def _data(context: Any, builder: Any, signature: Any, args: Any, index: int) -> Any:
    return context.make_array(signature.args[index])(context, builder, args[index]).data


def _plus(builder: Any, offset: Any, amount: int) -> Any:
    return builder.add(offset, ir.Constant(offset.type, amount)) if amount else offset


def _pointer(builder: Any, data: Any, offset: Any | None, kind: Any) -> Any:
    return builder.bitcast(data if offset is None else builder.gep(data, [offset]), kind.as_pointer())


def _load(builder: Any, data: Any, offset: Any | None = None, kind: Any = _VECTOR) -> Any:
    value = builder.load(_pointer(builder, data, offset, kind))
    value.align = 4 if kind is _VECTOR else 8
    return value


def _store(builder: Any, data: Any, value: Any, offset: Any | None = None) -> None:
    builder.store(value, _pointer(builder, data, offset, _VECTOR)).align = 4


def _constant(value: float, kind: Any = _VECTOR) -> Any:
    return ir.Constant(kind, [value] * LANES)


def _splat(builder: Any, scalar: Any, kind: Any = _VECTOR) -> Any:
    empty = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(empty, scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, empty, _constant(0, _INTS))


def _call(builder: Any, name: str, kind: Any, value: Any) -> Any:
    """Calls a vector intrinsic of LLVM such as llvm.sqrt."""
    suffix = f"v{LANES}f{32 if kind is _VECTOR else 64}"
    signature = ir.FunctionType(kind, [kind])
    return builder.call(
        cgutils.get_or_insert_function(builder.module, signature, f"{name}.{suffix}"), [value]
    )


def _dot(builder: Any, a: Any, b: Any, start: Any) -> Any:
    total = start
    for x, y in zip(a, b, strict=True):
        product = builder.fmul(x, y, flags=_FUSE)
        total = product if total is None else builder.fadd(product, total, flags=_FUSE)
    return total


def _polynomial(builder: Any, z: Any, terms: tuple[float, ...]) -> Any:
    total = _constant(terms[0])
    for term in terms[1:]:
        total = builder.fadd(builder.fmul(total, z, flags=_FUSE), _constant(term), flags=_FUSE)
    return total


def _squared_distance(builder: Any, data: Any, a: Any, b: Any) -> Any:
    total = None
    for k in range(3):
        a_k = _load(builder, data, _plus(builder, a, k * LANES))
        difference = builder.fsub(a_k, _load(builder, data, _plus(builder, b, k * LANES)))
        square = builder.fmul(difference, difference, flags=_FUSE)
        total = square if total is None else builder.fadd(total, square, flags=_FUSE)
    return total


def _mask(builder: Any, lanes: Any) -> Any:
    return builder.zext(builder.bitcast(lanes, ir.IntType(LANES)), ir.IntType(64))
