"""Eight numbers at once: arithmetic, choices and functions against numpy's."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom._jit import njit
from elbowroom.ik._kernels_wide import (
    angle_of,
    less_bits,
    load,
    root,
    sine_cosine,
    size,
    splat,
    store,
    where_less,
    whole,
)

WIDTH = 8


@njit(cache=False, error_model="numpy")
def _arithmetic(work):
    a, b = load(work, 0), load(work, 1)
    store(work, 2, a + b)
    store(work, 3, 2.0 - a * b)
    store(work, 4, -a / b)
    store(work, 5, root(size(a)) + whole(b))
    store(work, 6, where_less(a, b, a, 0.0))
    store(work, 7, 3.0)
    store(work, 8, splat(4.0))
    return less_bits(a, b), less_bits(0.0, a)


@njit(cache=False, error_model="numpy")
def _functions(work):
    sine, cosine = sine_cosine(load(work, 0))
    store(work, 1, sine)
    store(work, 2, cosine)
    store(work, 5, angle_of(load(work, 3), load(work, 4)))


def test_arithmetic() -> None:
    rng = np.random.default_rng(0)
    work = rng.normal(size=9 * WIDTH)
    values = work.reshape(9, WIDTH)
    a, b = values[:2].copy()
    a[3] = b[3]  # equal is not less
    values[0] = a
    less, positive = _arithmetic(work)
    expected = [
        a + b,
        2.0 - a * b,
        -a / b,
        np.sqrt(np.abs(a)) + np.floor(b),
        np.where(a < b, a, 0.0),
        np.full(WIDTH, 3.0),
        np.full(WIDTH, 4.0),
    ]
    np.testing.assert_allclose(values[2:], expected, rtol=1e-15, atol=1e-15)
    assert [less >> k & 1 for k in range(WIDTH)] == (a < b).astype(int).tolist()
    assert [positive >> k & 1 for k in range(WIDTH)] == (a > 0).astype(int).tolist()


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 30.0, 1e4])
def test_functions(scale: float) -> None:
    rng = np.random.default_rng(1)
    values = np.empty((6, WIDTH))
    for k in range(300):
        x, y, z = rng.normal(size=(3, WIDTH))
        values[0] = scale * x
        values[3], values[4] = np.abs(y), scale * z  # nearly along an axis, or not
        if k == 0:
            values[0] = np.arange(-4, 4) * np.pi / 4
            values[3] = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 5.0, 1e-300]
            values[4] = [0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 1e-300, 5.0]
        _functions(values.reshape(-1))
        np.testing.assert_allclose(values[1], np.sin(values[0]), atol=3e-16)
        np.testing.assert_allclose(values[2], np.cos(values[0]), atol=3e-16)
        np.testing.assert_allclose(values[5], np.arctan2(values[3], values[4]), atol=5e-16)
