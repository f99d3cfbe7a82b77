"""The quick way to a first answer: one ball a link, no measured depths, nothing imported in vain.

Looks inside: which links get one ball instead of the given spheres is not public.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.collision.internal import covering, one_ball_a_link


@pytest.mark.parametrize("name", [pytest.param("teaarm", marks=pytest.mark.long), "rh56"])
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


@pytest.mark.long
def test_depths_are_evidence_and_decide_nothing(model):
    robot, spheres = model("teaarm")
    full = er.compute_pairs(robot, spheres)
    quick = er.compute_pairs(robot, spheres, er.PairOptions(depths=False))
    assert {pair: found.reason for pair, found in full.entries.items()} == {
        pair: found.reason for pair, found in quick.entries.items()
    }
    assert quick.by_meshes == full.by_meshes
    assert all(found.mesh_depth is None for found in quick.entries.values())


SLOW = ("trimesh", "scipy", "networkx", "yourdfpy", "collada", "jax", "numpy.ma", "numpy.polynomial")
"""Packages whose import takes longer than all that a known robot needs."""


def test_a_known_robot_is_asked_without_slow_imports_and_nothing_is_computed_again(tmp_path):
    code = (
        "import sys, elbowroom as er; model = er.CollisionModel(er.load_robot('teaarm'));"
        "assert model.free(model.default_cfg);"
        f"print(*(name for name in {SLOW} if name in sys.modules))"
    )
    place = {**os.environ, "ELBOWROOM_CACHE": str(tmp_path / "empty")}  # what comes with the package is found
    call = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(call, capture_output=True, text=True, env=place, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
    assert not (tmp_path / "empty").exists()
