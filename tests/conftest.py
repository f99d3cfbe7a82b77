"""Fixtures shared by all tests."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache

import pytest

import elbowroom as er
from elbowroom.errors import ApproximationWarning


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
