"""Fixtures of the grasp tests: one cache folder and one planner per kind for the whole run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from elbowroom.grasp import GraspPlanner, Hand, load_hand


@pytest.fixture(scope="package", autouse=True)
def _cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither read nor write the user's cache."""
    before = os.environ.get("ELBOWROOM_CACHE")
    os.environ["ELBOWROOM_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["ELBOWROOM_CACHE"]
    else:
        os.environ["ELBOWROOM_CACHE"] = before


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
    from elbowroom.robot import catalogue

    if "allegro_right_hand" not in [entry.name for entry in catalogue()]:
        pytest.skip("example-robot-data is not installed")
    return load_hand("allegro_right_hand")
