"""Pairs are shown never to collide within joint limits; what is asked beyond them does not rely on it."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.pairs import PairReason
from elbowroom.plan import prove_path

URDF = """<robot name="stop">
  <link name="base"><collision><origin xyz="0.1 0.1 0.3"/><geometry><box size="0.04 0.04 0.04"/></geometry></collision></link>
  <link name="post"><collision><origin xyz="0 0 0.05"/><geometry><box size="0.05 0.05 0.05"/></geometry></collision></link>
  <link name="bar"><collision><origin xyz="0.1 0 0.3"/><geometry><box size="0.2 0.02 0.02"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="post"/><axis xyz="0 0 1"/>
    <limit lower="-0.05" upper="0.05" effort="1" velocity="1"/></joint>
  <joint name="swing" type="revolute"><parent link="post"/><child link="bar"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="0.43" effort="1" velocity="1"/></joint>
</robot>"""
"""A bar that its limits stop 5.5 mm before a block of the base."""
PAIR = ("bar", "base")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("stop") / "stop.urdf"
    path.write_text(URDF)
    return er.CollisionModel(er.load_robot(path))


def test_within_the_limits_the_pair_is_proved_and_the_path_is_free(model):
    assert model.pairs.reason(*PAIR) is PairReason.NEVER_PROVED
    top = model.robot.upper
    assert model.free(top)
    assert prove_path(model, np.stack([top - 0.1, top])).free


def test_beyond_the_limits_the_pair_is_looked_at(model):
    beyond = model.robot.upper + 0.035
    measured = er.ExactCollision(model.robot, [PAIR]).distances(beyond)[0]
    assert measured.distance < 0.0
    assert not model.free(beyond)
    assert not model.free(beyond, by="spheres")
    assert list(model.free(np.stack([beyond, model.robot.upper]))) == [False, True]
    assert model.clearance(beyond) <= 0.0
    verdict = model.explain(beyond)
    assert [clash.pair for clash in verdict.clashes] == [PAIR]
    assert len(verdict.out_of_limits) == 2


def test_slack_beyond_the_limits_is_not_called_free(model):
    top = model.robot.upper
    assert not prove_path(model, np.stack([top - 0.1, top]), slack=0.035).free
    assert not model.segment_free(top - 0.1, top, slack=0.035).free
    assert not model.segment_free(top - 0.1, top + 0.035).free
    assert model.segment_free(top - 0.1, top - 0.04, slack=0.035).free
