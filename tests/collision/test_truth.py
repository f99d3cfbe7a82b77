"""Free means free: the verdict against Pinocchio and Coal on all links of the description.

`benchmarks/truth.py` does the same at length, on twelve robots with the default fit.

Looks inside: one ball per link saves a fit of every robot.
"""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.cli import main
from elbowroom.collision import CollisionModel
from elbowroom.collision.internal import one_ball_a_link
from elbowroom.robot import catalogue

pytest.importorskip("pinocchio")
pytest.importorskip("coal")

from benchmarks.truth import causes, judged_pairs, near_default

FALSELY_FREE = {
    # Called free by the spheres of old, because the pair's spheres or the guessed default pose hid it.
    "panda without SRDF": (
        (-0.055, -0.202, -0.773, -1.558, -1.545, 0.059, 2.406, 0.008),
        ("panda_hand", "panda_link5"),
    ),
    "xarm7": ((-0.5261, 2.0664, -6.1439, -0.1281, 6.2583, -0.0573, -0.5911), ("link5", "link_base")),
}


@pytest.mark.parametrize(
    "name", ["panda", "panda without SRDF", "ur5 without SRDF", "xarm7", "kinova", "baxter", "teaarm"]
)
def test_free_is_what_coal_says_of_the_whole_robot(quick, judge, name):
    assert_agrees(quick(name), judge(name))


@pytest.mark.parametrize(
    "name",
    [
        "panda",
        "panda without SRDF",
        "ur5 without SRDF",
        "xarm7",
        pytest.param("kinova", marks=pytest.mark.long),
        "baxter",
        "teaarm",
    ],
)
def test_the_balls_of_a_quick_check_hide_nothing(quick, judge, name):
    """`elbowroom check` puts one ball around each link, and decides the pairs with these."""
    robot = quick(name).robot
    assert_agrees(CollisionModel(robot, one_ball_a_link(robot)), judge(name))


def assert_agrees(model, oracle):
    """No configuration is called free that Coal finds colliding, by meshes or spheres, and none refused for nothing."""
    cfgs = np.concatenate([model.robot.random_cfgs(400, seed=5), near_default(model, 200)])
    truth = oracle.free(cfgs, judged_pairs(model, oracle))
    ours = model.free(cfgs)
    assert 0 < truth.sum() < len(truth)
    assert not (ours & ~truth).any()
    assert not (model.free(cfgs, by="spheres") & ~truth).any()
    alarms = causes(model, oracle, cfgs[~ours & truth])
    assert alarms["unexplained"] == 0, alarms


@pytest.mark.parametrize("name", FALSELY_FREE)
def test_collisions_that_were_hidden_are_found(quick, judge, name):
    cfg, pair = FALSELY_FREE[name]
    model = quick(name)
    assert judge(name).colliding(np.array(cfg), [pair]).all()
    assert not model.free(cfg)
    assert not model.free(cfg, by="spheres")
    verdict = model.explain(cfg)
    assert pair in [clash.pair for clash in verdict.clashes]
    assert verdict.clashes[0].depth > 0.02


@pytest.mark.long
def test_a_hidden_collision_is_found_on_the_command_line(capsys):
    entry = next(entry for entry in catalogue() if entry.name == "panda")
    cfg, pair = FALSELY_FREE["panda without SRDF"]
    spheres = ["--method", "centerline"]
    for by in ("meshes", "spheres"):
        numbers = [f"{value}" for value in cfg]
        assert main(["check", str(entry.description), "--cfg", *numbers, "--by", by, *spheres]) == 1
        assert " and ".join(pair) in capsys.readouterr().out


def test_ur5_base_and_upper_arm_are_looked_at_unless_a_file_says_no(quick, judge):
    model = quick("ur5 without SRDF")
    pair = ("base_link", "upper_arm_link")
    assert pair in model.pairs.checked
    cfgs = model.robot.random_cfgs(2000, seed=3)
    hits = judge("ur5").colliding(cfgs, [pair])[:, 0]
    assert hits.mean() > 0.01
    assert not model.free(cfgs[hits]).any()
    told = quick("ur5").explain(cfgs[hits][0])
    assert pair in told.ignored_touching  # its SRDF disables the pair: said, not hidden
    assert " and ".join(pair) in str(told)


def test_kinova_folded_is_no_excuse(quick, judge):
    """Its zero is out of limits and its clipped zero collides; the pairs that touch there are checked elsewhere."""
    model = quick("kinova")
    assert model.free(model.default_cfg)
    touching = [pair for pair, found in model.ignored.items() if str(found.reason) in ("default", "always")]
    cfgs = model.robot.random_cfgs(500, seed=4)
    rate = judge("kinova").colliding(cfgs, touching).mean(axis=0) if touching else np.ones(1)
    assert (rate > 0.5).all()


@pytest.mark.long
def test_the_spheres_do_not_change_the_verdict(quick, described):
    loose = quick("teaarm")
    padded = loose.spheres.with_padding(self_collision=0.01)
    cfgs = described("teaarm").random_cfgs(1000, seed=6)
    np.testing.assert_array_equal(CollisionModel(loose.robot, padded).free(cfgs), loose.free(cfgs))
