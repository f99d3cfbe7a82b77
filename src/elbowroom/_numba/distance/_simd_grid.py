"""A look into a grid of lower bounds for sixteen points at once, in vectors; see `_simd`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from ..sphere_layout import LANES
from ._simd import (
    _FLOAT_ARRAY,  # pyright: ignore[reportPrivateUsage]
    _INTS,  # pyright: ignore[reportPrivateUsage]
    _VECTOR,  # pyright: ignore[reportPrivateUsage]
    _call,  # pyright: ignore[reportPrivateUsage]
    _constant,  # pyright: ignore[reportPrivateUsage]
    _data,  # pyright: ignore[reportPrivateUsage]
    _dot,  # pyright: ignore[reportPrivateUsage]
    _load,  # pyright: ignore[reportPrivateUsage]
    _mask,  # pyright: ignore[reportPrivateUsage]
    _plus,  # pyright: ignore[reportPrivateUsage]
    _splat,  # pyright: ignore[reportPrivateUsage]
    intrinsic,
)

ROTATION, SHIFT, CORNER, PER_METER, LAST, STRIDE, HALF, CELL, LOW, HIGH, LOOK = (
    0,
    9,
    12,
    15,
    16,
    19,
    21,
    22,
    23,
    26,
    29,
)
"""Places in the table of `maybe_near`: pose of the points' frame in the world (rotation row by row, translation), lower
corner of the grid, cells per metre, number of the last cell along x, y, z, cells along y and z, what cells' bounds are
below the bounds of their centres, edge of a cell, corners of the box around all that the grid is about; its length."""


@intrinsic
def maybe_near(typing: Any, placed: Any, point: Any, table: Any, bounds: Any, reach: Any, inner: Any) -> Any:
    """Bit mask of the lanes in which the grid does not show that nothing is within `reach` of the point at an offset.

    LANES bits higher: the lanes in which something likely is within `inner`.
    The distance at a point is at least that at a cell's centre less the way there, for any cell; the nearest is taken.
    It is at least the distance to the box around all things, too. `bounds` are of cells, z fastest.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, table_data, cells = (_data(context, builder, signature, args, k) for k in (0, 2, 3))

        def number(k: int) -> Any:
            return builder.load(builder.gep(table_data, [ir.Constant(args[1].type, k)]))

        def everywhere(k: int) -> Any:
            return _splat(builder, number(k))

        def larger(a: Any, b: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", a, b), a, b)

        local = [_load(builder, data, _plus(builder, args[1], k * LANES)) for k in range(3)]
        reach_lanes = _splat(builder, args[4])
        zero, offset, outside, index = _constant(0.0), None, None, None
        for axis in range(3):
            row = [everywhere(ROTATION + 3 * axis + k) for k in range(3)]
            x = _dot(builder, row, local, everywhere(SHIFT + axis))
            u = builder.fmul(builder.fsub(x, everywhere(CORNER + axis)), everywhere(PER_METER))
            last = everywhere(LAST + axis)
            inner = larger(u, zero)
            inner = builder.select(builder.fcmp_ordered("<", inner, last), inner, last)
            cell = builder.fptosi(inner, _INTS)
            off = builder.fsub(builder.fsub(u, builder.sitofp(cell, _VECTOR)), _constant(0.5))
            square = builder.fmul(off, off)
            offset = square if offset is None else builder.fadd(offset, square)
            gap = larger(builder.fsub(everywhere(LOW + axis), x), builder.fsub(x, everywhere(HIGH + axis)))
            gap = larger(gap, zero)
            square = builder.fmul(gap, gap)
            outside = square if outside is None else builder.fadd(outside, square)
            if index is None:
                index = cell
            else:
                stride = builder.fptosi(number(STRIDE + axis - 1), ir.IntType(32))
                index = builder.add(builder.mul(index, _splat(builder, stride, _INTS)), cell)
        found = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(LANES):
            at = ir.Constant(ir.IntType(32), lane)
            place = builder.zext(builder.extract_element(index, at), args[1].type)
            found = builder.insert_element(found, builder.load(builder.gep(cells, [place])), at)
        way = builder.fmul(_call(builder, "llvm.sqrt", _VECTOR, offset), everywhere(CELL))
        bound = builder.fsub(builder.fadd(found, everywhere(HALF)), way)
        by_grid = builder.fcmp_unordered("<=", bound, reach_lanes)
        by_box = builder.fcmp_unordered("<=", outside, builder.fmul(reach_lanes, reach_lanes))
        upper = builder.fadd(builder.fadd(found, everywhere(HALF)), way)
        inside = _mask(builder, builder.fcmp_ordered("<", upper, _splat(builder, args[5])))
        near = _mask(builder, builder.and_(by_grid, by_box))
        return builder.or_(near, builder.shl(inside, ir.Constant(inside.type, LANES)))

    floats, offset = _FLOAT_ARRAY, types.intp
    return types.int64(floats, offset, floats, floats, types.float32, types.float32), code
