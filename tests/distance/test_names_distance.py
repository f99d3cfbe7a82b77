"""Public names of the folders agree with `__all__`, and the checker starts without JAX."""

from __future__ import annotations

import subprocess
import sys

import pytest

import elbowroom.distance
import elbowroom.pairs


@pytest.mark.parametrize("module", [elbowroom.distance, elbowroom.pairs])
def test_every_name_in_all_exists_and_is_documented(module):
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert getattr(module, name).__doc__, name
    with pytest.raises(AttributeError):
        _ = module.no_such_name


def test_the_numba_checker_needs_no_jax():
    code = "import sys, elbowroom.distance, elbowroom.pairs; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
