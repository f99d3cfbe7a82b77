"""Models of real robots in generated scenes, made once per test process, and their judge."""

from __future__ import annotations

from functools import cache

import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.world import scene_for

QUICK = er.FitOptions(method="centerline")
"""A fit of a second: proofs must not depend on the spheres."""


@pytest.fixture(scope="session")
def bare(load):
    """A model without obstacles, by the robot's name."""
    return cache(lambda name: CollisionModel(load(name), er.fit_spheres(load(name), QUICK)))


@pytest.fixture(scope="session")
def among(bare):
    """A model in a generated scene: among(robot, kind, seed)."""
    return cache(lambda name, kind, seed: bare(name).with_world(scene_for(bare(name).robot, kind, seed)))


@pytest.fixture(scope="session")
def judged():
    """Coal's opinion of a model: judged(model) has `.world` and `.free(path)`."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("coal")
    from tests.oracles import oracle_of
    from tests.world_oracles import CoalWorld

    judge = cache(oracle_of)
    return lambda model: CoalWorld(judge(model.robot), model.world, model.allow)
