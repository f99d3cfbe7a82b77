"""Read-only arrays and mappings, and what pickling and copying keep of them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from elbowroom._frozen import Frozen, FrozenMap, frozen

COPIES = [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]


@dataclass(frozen=True, eq=False)
class Value(Frozen):
    array: np.ndarray
    named: FrozenMap[str, np.ndarray]

    @cached_property
    def total(self):
        return lambda: self.array.sum()  # cannot be pickled, and need not be


def test_a_map_reads_like_a_dict_and_cannot_be_changed():
    source = {"a": 1, "b": 2}
    found = FrozenMap(source)
    source["a"] = 9
    assert found == {"a": 1, "b": 2}
    assert repr(found) == "{'a': 1, 'b': 2}"
    assert list(found.items()) == [("a", 1), ("b", 2)]
    assert len(FrozenMap()) == 0
    with pytest.raises(TypeError):
        found["a"] = 3
    with pytest.raises(TypeError):
        del found["a"]


@pytest.mark.parametrize("twin", COPIES)
def test_values_stay_read_only_when_they_travel(twin):
    value = Value(frozen(np.arange(3.0)), FrozenMap({"home": np.zeros(2)}))
    assert value.total() == 3.0
    found = twin(value)
    np.testing.assert_array_equal(found.array, value.array)
    assert found.total() == 3.0
    for array in (value.array, found.array, value.named["home"], found.named["home"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    assert isinstance(found.named, FrozenMap)
