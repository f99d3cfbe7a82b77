"""Spheres against exact meshes: no miss, false alarms counted."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.pairs import PairOptions, compute_pairs, false_alarms

CONFIGURATIONS = {"panda": 2000, "teaarm": 800, "baxter": 100, "talos": 60, "g1": 60}
"""Small here; `python -m benchmarks.selfcollision --evidence` runs 100,000 of each."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_no_configuration_is_missed(model, coal_judge, name):
    robot, spheres = model(name)
    pairs = compute_pairs(robot, spheres, PairOptions(samples=2000, proof_boxes=500))
    # Half the configurations near the default pose, where random ones would nearly all collide.
    n = CONFIGURATIONS[name] // 2
    near = robot.default_cfg + np.random.default_rng(2).normal(0, 0.3, (n, robot.dof))
    cfgs = np.concatenate([robot.random_cfgs(n, seed=1), np.clip(near, robot.lower, robot.upper)])
    report = false_alarms(robot, spheres, pairs, coal_judge(name), cfgs)
    assert report.misses == 0
    assert all(found.misses == 0 for found in report.pairs.values())
    assert sum(found.exact for found in report.pairs.values()) > 0  # there was something to miss
    for found in report.pairs.values():
        assert found.spheres == found.exact + found.false_alarms
    assert 0 <= report.false_alarm_rate <= 1
    assert "missed" in str(report)


def test_spheres_that_are_too_small_are_caught(model, coal_judge):
    robot, spheres = model("panda")
    from types import SimpleNamespace

    small = SimpleNamespace(
        link_names=spheres.link_names,
        centers=spheres.centers,
        radii=0.5 * spheres.radii,
        link_idx=spheres.link_idx,
    )
    pairs = compute_pairs(robot, spheres, PairOptions(samples=1000, proof_boxes=100))
    report = false_alarms(robot, small, pairs, coal_judge("panda"), robot.random_cfgs(400, seed=3))
    assert report.misses > 0


def test_a_judge_of_the_wrong_shape_is_refused(model):
    robot, spheres = model("panda")
    with pytest.raises(InputError, match="exact checker must return"):
        false_alarms(robot, spheres, None, lambda cfgs, pairs: np.zeros(3), robot.random_cfgs(5))
