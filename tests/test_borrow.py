"""Borrowed arrays: the same values, and as many references after a kernel as before it."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from elbowroom._borrow import borrowed
from elbowroom._jit import njit


class Pair(NamedTuple):
    a: np.ndarray
    b: np.ndarray


@njit(cache=False)
def _sum_of(array):
    total = 0.0
    for value in array:
        total += value
    return total


@njit(cache=False)
def _by_turns(pair, times):
    pair = borrowed(pair)
    total = 0.0
    for i in range(times):
        total += _sum_of(pair.a) if i % 2 else _sum_of(pair.b)
    return total


@njit(cache=False)
def _write(array):
    array = borrowed(array)
    array[0] = 7.0


def test_values_are_the_same_and_references_are_not_lost():
    pair = Pair(np.arange(4.0), np.arange(100.0))
    before = [sys.getrefcount(array) for array in pair]
    assert _by_turns(pair, 1000) == 500 * (6.0 + 4950.0)
    assert [sys.getrefcount(array) for array in pair] == before
    np.testing.assert_array_equal(pair.a, np.arange(4.0))


def test_a_borrowed_array_is_the_array_not_a_copy():
    array = np.zeros(3)
    _write(array)
    assert array[0] == 7.0
