"""Models of real robots, made once per test process, and their judge."""

from __future__ import annotations

from functools import cache

import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.robot import catalogue
from tests.rails import rails_parts

QUICK = er.FitOptions(method="centerline")
"""A fit of a second: the verdict must not depend on the spheres."""


@pytest.fixture(scope="session")
def rails(tmp_path_factory):
    """A cart of 0.1 that moves in a plane around a post of 0.2: apart by max(|x|, |y|) - 0.15 along the axes."""
    robot, spheres, pairs = rails_parts(tmp_path_factory.mktemp("rails"))
    return lambda buffer=0.0: CollisionModel(robot, spheres, pairs, buffer=buffer)


@pytest.fixture(scope="session")
def described(load):
    """A robot by name; "NAME without SRDF" is read from its description alone."""

    @cache
    def make(name: str) -> er.Robot:
        bare = name.removesuffix(" without SRDF")
        if bare == name:
            return load(name)
        entry = next(entry for entry in catalogue() if entry.name == bare)
        return er.load_robot(entry.description, package_dirs=entry.package_dirs)

    return make


@pytest.fixture(scope="session")
def quick(described):
    """A model with quickly fitted spheres."""

    @cache
    def make(name: str, buffer: float = 0.0) -> CollisionModel:
        robot = described(name)
        return CollisionModel(robot, er.fit_spheres(robot, QUICK), buffer=buffer)

    return make


@pytest.fixture(scope="session")
def judge(described):
    """The whole robot in Pinocchio and Coal."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("coal")
    from tests.oracles import oracle_of

    return cache(lambda name: oracle_of(described(name)))
