"""Fixtures shared by all tests, their cache, and the marks they get by themselves."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType

import pytest

import elbowroom as er
from elbowroom import _cache
from elbowroom.errors import ApproximationWarning
from elbowroom.robot import catalogue
from elbowroom.robot.descriptions._catalogue import _EXAMPLES as EXAMPLES
from tests.stored import RESULTS, SHIPPED

CACHES = pytest.StashKey[Path]()
COMPUTED = ("spheres", "pairs", "grasp")
"""Folders of tests that begin with an empty cache, for they test what is stored."""


def pytest_configure(config: pytest.Config) -> None:
    """Gives each run caches of its own, so that no fit of yesterday passes for today's; xdist's workers share them.

    A shell that starts the tests in the background ignores interrupts for them and for all that they start; tests of
    interrupts need them.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):  # workers inherit the environment of the process that starts them
        caches = Path(tempfile.mkdtemp(prefix="elbowroom-tests-"))
        for folder in (RESULTS, SHIPPED):
            shutil.copytree(folder, caches / "stored", dirs_exist_ok=True)
        os.environ["ELBOWROOM_CACHE"] = str(caches / "stored")
    config.stash[CACHES] = Path(os.environ["ELBOWROOM_CACHE"]).parent
    _cache.SHIPPED = config.stash[CACHES] / "nothing-shipped"


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(config.stash[CACHES], ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Chooses the cache before any fixture is made."""
    own = item.path.parent.name in COMPUTED
    os.environ["ELBOWROOM_CACHE"] = str(item.config.stash[CACHES] / ("computed" if own else "stored"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that name a robot of example-robot-data, and skips them where there are none."""
    installed = any(entry.origin == "example-robot-data" for entry in catalogue())
    for item in items:
        if any(word in EXAMPLES for word in _words(item)):
            item.add_marker("robots")
        if not installed and item.get_closest_marker("robots"):
            item.add_marker(pytest.mark.skip(reason="example-robot-data is not installed"))


def _words(item: pytest.Item) -> Iterator[Hashable]:
    """Strings in a test's parameters, in its code and in that of its fixtures."""
    if isinstance(item, pytest.Function):
        if hasattr(item, "callspec"):
            yield from (value for value in item.callspec.params.values() if isinstance(value, str))
        fixtures = (found[-1].func for found in item._fixtureinfo.name2fixturedefs.values())
        for function in (item.function, *fixtures):
            if hasattr(function, "__code__"):
                yield from _constants(function.__code__)


def _constants(code: CodeType) -> Iterator[Hashable]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _constants(constant)
        elif isinstance(constant, tuple):
            yield from constant
        else:
            yield constant


@cache
def _load(name: str) -> er.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ApproximationWarning
        )  # what each robot warns of is tested where it matters
        return er.load_robot(name)


@pytest.fixture(scope="session")
def load() -> Callable[[str], er.Robot]:
    """Loads a robot by name, once per test process."""
    return _load


@pytest.fixture(scope="session")
def model(load) -> Callable[[str], tuple[er.Robot, er.SphereModel]]:
    """Robot and centerline spheres by name, made once per test process."""

    @cache
    def make(name: str) -> tuple[er.Robot, er.SphereModel]:
        robot = load(name)
        return robot, er.fit_spheres(robot, er.FitOptions(method="centerline"))

    return make
