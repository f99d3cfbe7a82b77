"""The quick way to a first answer: one ball a link, no measured depths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.collision.doors import covering, one_ball_a_link


@pytest.mark.parametrize("name", ["teaarm", "rh56"])
def test_one_ball_a_link_covers_and_meshes_give_the_same_answers(name, model):
    robot, fitted = model(name)
    balls = one_ball_a_link(robot)
    assert set(balls.counts.values()) == {1}
    assert er.prove_coverage(robot, balls, measure=False).proved  # by the exact proof, not by convexity
    assert covering(robot, balls)[1] == ()
    cfgs = robot.random_cfgs(2000)
    np.testing.assert_array_equal(
        CollisionModel(robot, balls).free(cfgs), CollisionModel(robot, fitted).free(cfgs)
    )


def test_a_ball_that_misses_a_corner_does_not_cover(load):
    robot = load("teaarm")
    balls = one_ball_a_link(robot)
    link = robot.mesh_links[0]
    small = np.where(balls.link_idx == robot.link_index(link), 0.999, 1.0)
    assert covering(robot, replace(balls, radii=balls.radii * small))[1] == (link,)


def test_depths_are_evidence_and_decide_nothing(model):
    robot, spheres = model("teaarm")
    full = er.compute_pairs(robot, spheres)
    quick = er.compute_pairs(robot, spheres, er.PairOptions(depths=False))
    assert {pair: found.reason for pair, found in full.entries.items()} == {
        pair: found.reason for pair, found in quick.entries.items()
    }
    assert quick.by_meshes == full.by_meshes
    assert all(found.mesh_depth is None for found in quick.entries.values())
