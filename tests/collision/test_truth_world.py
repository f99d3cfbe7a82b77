"""Is "free" true among obstacles? Judged by Pinocchio and Coal in generated scenes; `benchmarks.truth_world` asks more."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth import judged_pairs
from benchmarks.truth_world import TOLERANCE, Tally, at_contact, tally
from elbowroom.errors import ApproximationWarning
from elbowroom.world import SCENES, PointCloud, World, scene_for

from ..clouds import CloudJudge, cloud_of
from ..world_oracles import CoalWorld

ROWS = 120


@pytest.mark.parametrize("name", ["teaarm", "panda", "ur5", "baxter"])
def test_free_is_what_coal_says_of_robot_and_world(quick, judge, name):
    bare, oracle = quick(name), judge(name)
    pairs = judged_pairs(bare, oracle)
    found = Tally()
    for k, kind in enumerate(SCENES):
        cfgs = bare.robot.random_cfgs(ROWS, seed=30 + k)
        found += tally(bare, oracle, scene_for(bare.robot, kind, 10 + k), cfgs, oracle.free(cfgs, pairs))
    assert 0.02 * found.asked < found.free < 0.7 * found.asked
    assert found.misses == 0
    assert found.misses_by_spheres == 0
    assert found.alarms_of_primitives == 0  # farther than 0.1 mm from the obstacle
    assert found.alarms_unexplained == 0


@pytest.mark.parametrize("name", ["teaarm", "panda", pytest.param("baxter", marks=pytest.mark.long)])
def test_the_verdict_changes_where_coal_measures_contact(quick, judge, name):
    """Random configurations are seldom near contact; these are at it, where an error of a tenth of a millimetre shows."""
    bare = quick(name)
    count = 0
    for kind in SCENES:
        world = scene_for(bare.robot, kind, 20)
        model, coal_world = bare.with_world(world), CoalWorld(judge(name), world)
        refused, free = at_contact(bare, model, bare.robot.random_cfgs(150, seed=8))
        assert all(coal_world.clearance(cfg, 1e-2) <= TOLERANCE for cfg in refused)
        apart = free[model.clearance(free) > 2e-6]  # Coal calls it touching up to a micrometre
        assert all(coal_world.clearance(cfg, TOLERANCE) > 0.0 for cfg in apart)
        count += len(apart)
    assert count > 30


@pytest.mark.parametrize(("name", "count"), [("teaarm", 3_000), ("panda", 1_000), ("panda", 20_000)])
def test_free_among_the_balls_of_a_cloud_is_what_brute_force_says(quick, name, count):
    bare = quick(name)
    scene = scene_for(bare.robot, "table", 1)
    cloud = dense(cloud_of(scene.remove("floor"), count), 0.01)
    model, judge = bare.with_world(World([cloud])), CloudJudge(bare.robot, cloud.points, cloud.radius)
    cfgs = bare.robot.random_cfgs(80, seed=count)
    cfgs = cfgs[bare.free(cfgs)]
    ours = model.free(cfgs)
    gaps = np.array([judge.clearance(cfg) for cfg in cfgs])
    assert 0 < ours.sum() < len(ours)
    assert (gaps[ours] > 0.0).all()
    assert (gaps[~ours] <= 1e-9).all()
    assert (gaps[model.free(cfgs, by="spheres")] > 0.0).all()


def dense(points: np.ndarray, radius: float) -> PointCloud:
    """A cloud, told or not that the robot may pass between its points."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        return PointCloud(points, radius, name="cloud")
