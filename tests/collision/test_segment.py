"""Proofs between two configurations, against Coal at small steps."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.errors import InputError
from elbowroom.mesh import ExactCollision


def steps(model, a, b, length=0.002):
    """Configurations on the segment close enough that no link point moves farther than `length` (about)."""
    reach = 2.0  # metres: no point of these robots is farther from a joint axis
    count = int(np.ceil(np.abs(b - a).sum() * reach / length)) + 1
    return a + np.linspace(0.0, 1.0, min(count, 4000))[:, None] * (b - a)


@pytest.mark.parametrize("name", ["panda", "teaarm"])
def test_no_blocked_segment_is_called_free_and_free_ones_are_proved(quick, name):
    model = quick(name)
    exact = ExactCollision(model.robot, model.pairs)
    rng = np.random.default_rng(0)
    proved = free = 0
    for _ in range(40):
        a, b = model.robot.random_cfgs(2, seed=int(rng.integers(1 << 30)))
        b = a + 0.3 * (b - a)
        truth = exact.free(steps(model, a, b))
        proof = model.segment_free(a, b)
        if not truth.all():
            assert not proof.free
            assert proof.blocked_at is not None
            at = a + proof.blocked_at * (b - a)
            assert not model.free(at)
            assert proof.pair in [clash.pair for clash in model.explain(at).clashes]
        else:
            free += 1
            proved += proof.free
            if proof.free:
                measured = model.clearance(steps(model, a, b, 0.02), exact=True).min()
                assert 0 < proof.clearance <= measured + 1e-9
    assert free > 5
    assert proved >= 0.95 * free


def test_a_point_is_a_segment(quick):
    model = quick("panda")
    for cfg in model.robot.random_cfgs(20, seed=9):
        assert model.segment_free(cfg, cfg).free == model.free(cfg)


def test_coupled_joints_move_along(described, load):
    robot = load("rh56")
    model = CollisionModel(robot, er.fit_spheres(robot, er.FitOptions(method="centerline")))
    exact = ExactCollision(robot, model.pairs)
    both = []
    for seed in range(30):
        a, b = robot.random_cfgs(2, seed=seed)
        truth = exact.free(a + np.linspace(0, 1, 800)[:, None] * (b - a)).all()
        proof = model.segment_free(a, b)
        assert not (proof.free and not truth)
        both.append((proof.free, truth))
    assert sum(found for found, _ in both) >= 0.9 * sum(truth for _, truth in both) > 0


def test_a_buffer_counts(quick):
    plain, wide = quick("panda"), quick("panda", 0.03)
    a, b = plain.robot.random_cfgs(2, seed=0)
    found = []
    for seed in range(60):
        a, b = plain.robot.random_cfgs(2, seed=seed)
        b = a + 0.1 * (b - a)
        tight, loose = wide.segment_free(a, b), plain.segment_free(a, b)
        assert not (tight.free and not loose.free)
        if tight.free:
            assert tight.clearance > 0.03
        found.append(tight.free != loose.free)
    assert any(found)


def test_bad_ends_are_refused(quick):
    model = quick("teaarm")
    with pytest.raises(InputError):
        model.segment_free(np.zeros(16), np.full(16, np.nan))
    with pytest.raises(InputError):
        model.segment_free(np.zeros((2, 16)), np.zeros(16))


def test_many_segments_are_proved_as_one_by_one(quick):
    model = quick("teaarm")
    ways = model.robot.random_cfgs(24, seed=5)
    begins = model.default_cfg + 0.6 * (ways - model.default_cfg)
    ends = begins + 0.3 * (np.roll(begins, 1, axis=0) - begins)
    many = model.segments_free(begins, ends)
    assert len(many) == 24
    assert 0 < many.free.sum() < 24
    for k, (a, b) in enumerate(zip(begins, ends, strict=True)):
        one = model.segment_free(a, b)
        assert (one.free, one.blocked_at, one.pair, one.clearance) == (
            many[k].free,
            many[k].blocked_at,
            many[k].pair,
            many[k].clearance,
        )
        assert one.why == many[k].why
    with pytest.raises(InputError, match="24 and 23"):
        model.segments_free(begins, ends[1:])
    with pytest.raises(IndexError):
        many[24]
    assert len(model.segments_free(begins[:0], ends[:0])) == 0
