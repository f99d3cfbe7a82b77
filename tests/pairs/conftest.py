"""The judge of the pair tests."""

from __future__ import annotations

from functools import cache

import pytest


@pytest.fixture(scope="session")
def coal_judge(load):
    """The robot of its own description in Coal, by name, made once per test process."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("coal")
    from tests.oracles import oracle_of

    return cache(lambda name: oracle_of(load(name)))
