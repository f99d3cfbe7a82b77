"""Pairs for meshes: what only the size of the spheres hides is checked."""

from __future__ import annotations

import numpy as np

from elbowroom.mesh import ExactCollision
from elbowroom.pairs import PairOptions, PairReason, compute_pairs, pairs_by_mesh
from elbowroom.spheres import FitOptions, fit_spheres


def test_pairs_hidden_by_large_spheres_are_checked_by_meshes(load):
    robot = load("teaarm")
    spheres = fit_spheres(robot, FitOptions(method="centerline"))
    pairs = compute_pairs(robot, spheres, PairOptions(samples=500))
    hidden = [
        pair for pair, reason in pairs.ignored.items() if reason in (PairReason.DEFAULT, PairReason.ALWAYS)
    ]
    assert hidden
    wanted = pairs_by_mesh(robot, pairs)
    assert set(pairs.checked) <= set(wanted)
    extra = set(wanted) - set(pairs.checked)
    assert extra <= set(hidden)
    # The named poses of the bundled arm are free by its exact meshes, so everything hidden comes back.
    assert extra == set(hidden)
    # And it matters: some of these pairs really collide somewhere.
    exact = ExactCollision(robot, sorted(extra))
    assert not exact.free(robot.random_cfgs(2000, seed=3)).all()


def test_pairs_that_truly_touch_and_the_users_word_stay_ignored(load):
    robot = load("teaarm")
    spheres = fit_spheres(robot, FitOptions(method="centerline"))
    clash = robot.named_cfgs["self_collision"]
    touching = {
        (contact.link_a, contact.link_b)
        for contact in ExactCollision(robot, [("left_arm_l5", "right_arm_l5")]).contacts(clash)
    }
    assert touching == {("left_arm_l5", "right_arm_l5")}
    word = ("base_link", "left_arm_l7")
    options = PairOptions(samples=200, default_cfgs=(clash,), ignore=(word,))
    wanted = pairs_by_mesh(robot, compute_pairs(robot, spheres, options))
    assert ("left_arm_l5", "right_arm_l5") not in wanted
    assert word not in wanted
    assert np.all([a < b for a, b in wanted])
