"""Models for the format tests."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.spheres import SphereModel


@pytest.fixture
def arm(load):
    return load("teaarm")


@pytest.fixture
def model(arm):
    """Spheres with awkward numbers on three links, with padding."""
    rng = np.random.default_rng(0)
    links = ("base_link", "torso_link", "left_arm_l3")
    spheres = {
        link: (rng.normal(size=(k + 1, 3)) / 3, rng.uniform(0.01, 0.1, k + 1)) for k, link in enumerate(links)
    }
    return SphereModel.from_links(
        arm.link_names,
        spheres,
        robot_name=arm.name,
        self_padding={"torso_link": 0.0125, "base_link": -0.001},
        world_padding={"torso_link": 0.0025, "left_arm_l3": 0.03},
    )


@pytest.fixture
def pairs():
    return {
        ("base_link", "waist_link"): "ADJACENT",
        ("left_arm_l3", "torso_link"): "NEVER_PROVED",
        ("base_link", "left_arm_l3"): "USER",
    }


@pytest.fixture(scope="session")
def computed(load):
    """Robot, centerline spheres and pair matrix by name, made once per test process."""

    @cache
    def make(name):
        robot = load(name)
        spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
        return robot, spheres, er.compute_pairs(robot, spheres, er.PairOptions(samples=300))

    return make
