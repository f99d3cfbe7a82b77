"""Spheres against exact meshes in Coal, pair by pair: what collides is never missed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from elbowroom.distance import SelfCollisionChecker
from elbowroom.pairs import PairOptions, compute_pairs

CONFIGURATIONS = {"panda": 2000, "teaarm": 800, "baxter": 100, "talos": 60, "g1": 60}
"""Small here; `benchmarks/selfcollision.py --evidence` runs 100,000 of each."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long if n in ("talos", "g1") else ()) for n in CONFIGURATIONS]
)
def test_no_collision_of_a_pair_is_missed(model, coal_judge, name):
    robot, spheres = model(name)
    pairs = compute_pairs(robot, spheres, PairOptions(samples=2000, proof_boxes=500))
    # Half the configurations near the default pose, where random ones would nearly all collide.
    n = CONFIGURATIONS[name] // 2
    near = robot.default_cfg + np.random.default_rng(2).normal(0, 0.3, (n, robot.dof))
    cfgs = np.concatenate([robot.random_cfgs(n, seed=1), np.clip(near, robot.lower, robot.upper)])
    checker = SelfCollisionChecker(robot, spheres, pairs)
    truth = coal_judge(name)(cfgs, checker.pairs)
    assert truth.any()  # there was something to miss
    assert not (truth & ~checker.pair_hits(cfgs)).any()


def test_spheres_that_are_too_small_are_caught(model, coal_judge):
    robot, spheres = model("panda")
    small = SimpleNamespace(
        link_names=spheres.link_names,
        centers=spheres.centers,
        radii=0.5 * spheres.radii,
        link_idx=spheres.link_idx,
    )
    checker = SelfCollisionChecker(robot, small)
    cfgs = robot.random_cfgs(400, seed=3)
    assert (coal_judge("panda")(cfgs, checker.pairs) & ~checker.pair_hits(cfgs)).any()
