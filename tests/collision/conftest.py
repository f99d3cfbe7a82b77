"""Models of real robots, made once per test process, and their judge."""

from __future__ import annotations

from functools import cache

import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.robot import catalogue

QUICK = er.FitOptions(method="centerline")
"""A fit of a second: the verdict must not depend on the spheres."""

RAILS = """<robot name="rails">
  <link name="post"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="bare"/>
  <link name="cart"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="x" type="prismatic"><parent link="post"/><child link="bare"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="y" type="prismatic"><parent link="bare"/><child link="cart"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="0.5" velocity="1" effort="1"/></joint>
</robot>"""


@pytest.fixture(scope="session")
def rails(tmp_path_factory):
    """A cart of 0.1 that moves in a plane around a post of 0.2: apart by max(|x|, |y|) - 0.15 along the axes."""
    path = tmp_path_factory.mktemp("rails") / "rails.urdf"
    path.write_text(RAILS)
    robot = er.load_robot(path)
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    pairs = er.compute_pairs(robot, spheres, er.PairOptions(check=[("cart", "post")], buffer=0.05))
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
