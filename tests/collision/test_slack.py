"""Segments with slack: whatever joints do within it, nothing touches where a proof says free."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.errors import InputError
from elbowroom.mesh import ExactCollision


def beside(begins, ends, slacks, count, rng):
    """Configurations on segments, off them by up to the slack, most of them by all of it: (n * count, dof)."""
    t = rng.uniform(size=(len(begins), count, 1))
    off = rng.choice([-1.0, 0.0, 1.0], size=(len(begins), count, begins.shape[1]), p=[0.4, 0.2, 0.4])
    rows = begins[:, None] + t * (ends - begins)[:, None] + off * slacks[:, None]
    return rows.reshape(-1, begins.shape[1])


@pytest.mark.parametrize("name", ["panda", "rh56"])
def test_nothing_within_slack_touches_where_a_proof_says_free(quick, load, name):
    """rh56 has coupled joints: what slack makes of them counts."""
    robot = load(name)
    model = quick(name)
    exact = ExactCollision(robot, model.pairs)
    rng = np.random.default_rng(1)
    a, b = robot.random_cfgs(200, seed=3), robot.random_cfgs(200, seed=4)
    b = a + 0.1 * (b - a)
    slacks = rng.uniform(0.0, 0.04, a.shape) * rng.integers(0, 2, a.shape)
    proofs, bare = model.segments_free(a, b, slacks), model.segments_free(a, b)
    assert not (proofs.free & ~bare.free).any()
    assert proofs.free.sum() > 20
    assert (bare.free & ~proofs.free).any()  # slack costs some proofs, else this test tests nothing
    rows = beside(a, b, slacks, 50, rng)[np.repeat(proofs.free, 50)]
    assert exact.free(rows).all()
    measured = model.clearance(rows[::5], exact=True).reshape(-1, 10).min(axis=1)
    assert (proofs.clearance[proofs.free] <= measured + 1e-9).all()
    for k in np.flatnonzero(~np.isnan(proofs.blocked_at)):
        assert not model.free(a[k] + proofs.blocked_at[k] * (b[k] - a[k]))


def test_slack_takes_a_known_distance(rails):
    """The cart passes the post at 0.1: slack below is proved, slack above cannot be."""
    model: CollisionModel = rails()
    a, b = np.array([-0.5, 0.25]), np.array([0.5, 0.25])
    assert model.segment_free(a, b, [0.0, 0.085]).free
    assert 0.0 < model.segment_free(a, b, [0.0, 0.085]).clearance <= 0.015
    assert model.segment_free(a, a, [0.0, 0.0999]).free
    proof = model.segment_free(a, b, [0.0, 0.101])
    assert not proof.free
    assert proof.blocked_at is None
    assert proof.by_spheres + proof.by_meshes < 200  # gives up where halving cannot help
    assert "slack" in proof.why


def test_slack_of_the_world(rails):
    wall = er.world.Box((4.0, 0.1, 1.0), pose=np.array([1.0, 0, 0, 0, 0, -0.5, 0]), name="wall")
    model = rails().with_world(er.world.World([wall]))
    a, b = np.array([-0.5, -0.3]), np.array([-0.2, -0.3])
    assert model.segment_free(a, b, [0.0, 0.085]).free
    proof = model.segment_free(a, b, [0.0, 0.1001])
    assert not proof.free
    assert proof.blocked_at is None
    assert proof.pair == ("cart", "wall")
    assert model.segment_free(a, a, [0.01, 0.05]).free
    assert not model.segment_free(a, a, [0.01, 0.11]).free


def test_slack_of_the_wrong_shape_or_sign_is_refused(rails):
    model, cfg = rails(), np.array([0.5, 0.0])
    for bad in ([0.1, 0.1, 0.1], [[0.1], [0.1]], -0.1, [0.1, np.nan], np.inf):
        with pytest.raises(InputError, match="slack"):
            model.segment_free(cfg, cfg, bad)
    assert model.segment_free(cfg, cfg, 1e6).free is False  # beyond what rounding is bounded for
