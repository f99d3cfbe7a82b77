"""Fixtures of the grasp tests: one cache folder and one planner per kind for the whole run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from elbowroom.errors import ApproximationWarning
from elbowroom.grasp import GraspPlanner, Hand, Opposition, load_hand


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


ALLEGRO_TIPS = {
    "thumb": "link_15.0_tip",
    "index": "link_3.0_tip",
    "middle": "link_7.0_tip",
    "ring": "link_11.0_tip",
}


def allegro_oppositions() -> dict[str, Opposition]:
    """Opposition sets of the Allegro hand with postures a user would give."""
    opened = {"joint_12.0": 1.3, "joint_13.0": 0.3, "joint_14.0": 0.0, "joint_15.0": 0.0}
    closed = {"joint_12.0": 1.3, "joint_13.0": 0.4, "joint_14.0": 0.4, "joint_15.0": 0.6}
    for first in (0, 4, 8):
        names = [f"joint_{first + k}.0" for k in range(4)]
        opened |= dict(zip(names, (0.0, 0.1, 0.1, 0.1), strict=True))
        closed |= dict(zip(names, (0.0, 1.0, 0.7, 0.5), strict=True))
    fingers = {"pinch": ("index",), "tripod": ("index", "middle"), "all": ("index", "middle", "ring")}
    return {
        name: Opposition(names, open=opened, closed=closed, closed_width=0.03, closed_tilt=None)
        for name, names in fingers.items()
    }


@pytest.fixture(scope="session")
def allegro() -> Hand:
    from elbowroom.robot import catalogue

    if "allegro_right_hand" not in [entry.name for entry in catalogue()]:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        return load_hand("allegro_right_hand", fingertips=ALLEGRO_TIPS, oppositions=allegro_oppositions())
