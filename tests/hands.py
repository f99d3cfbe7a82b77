"""Hands as fixtures, for the tests of grasps and of their pictures: one planner per kind for the whole run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from elbowroom.grasp import GraspPlanner, Hand, load_hand


@cache
def _hand(revision: str) -> Hand:
    return load_hand("rh56", revision=revision)


@cache
def _planner(method: str, revision: str, exact: bool) -> GraspPlanner:
    return GraspPlanner(_hand(revision), method, exact=exact)


@pytest.fixture(scope="session")
def hand() -> Hand:
    return _hand("spec")


@pytest.fixture(scope="session")
def hands() -> Callable[[str], Hand]:
    return _hand


@pytest.fixture(scope="session")
def planners() -> Callable[..., GraspPlanner]:
    def get(method: str = "smooth", revision: str = "spec", exact: bool = False) -> GraspPlanner:
        return _planner(method, revision, exact)

    return get


@pytest.fixture(scope="session")
def smooth() -> GraspPlanner:
    return _planner("smooth", "spec", False)


@pytest.fixture(scope="session")
def allegro() -> Hand:
    return load_hand("allegro_right_hand")
