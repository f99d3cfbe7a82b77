"""Edges are proved, or not called free."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.mesh import ExactCollision
from elbowroom.plan._sampler import BY_SPHERES, Sampler
from elbowroom.plan.doors import Group


def edges_of(model, count, length, seed):
    """Segments of a length (rad) from free configurations in random directions."""
    rng = np.random.default_rng(seed)
    cfgs = model.robot.random_cfgs(20 * count, seed=seed)
    begins = cfgs[model.free(cfgs)][:count]
    away = rng.normal(size=begins.shape)
    return begins, begins + length * away / np.linalg.norm(away, axis=1)[:, None]


@pytest.mark.parametrize(
    ("name", "kind", "length"), [("panda", "shelf", 0.6), ("panda", "clutter", 0.3), ("teaarm", "shelf", 0.6)]
)
def test_no_edge_that_coal_refutes_is_called_free_and_nearly_all_free_ones_are(
    among, judged, name, kind, length
):
    from tests.segment_oracles import refuted_by_world, small_steps

    model = among(name, kind, 3)
    judge, exact = judged(model), ExactCollision(model.robot, model.pairs)
    begins, ends = edges_of(model, 30, length, seed=5)
    sampler = Sampler(model, Group.of(model.robot, begins[0]), begins[0], begins[1:2])
    quick, found = sampler.free(begins, ends, BY_SPHERES), sampler.free(begins, ends)
    assert not (quick & ~found).any()
    truths = []
    for a, b, free in zip(begins, ends, found, strict=True):
        path = small_steps(judge, a, b)
        truth = not refuted_by_world(judge, path) and bool(exact.free(path[::4]).all())
        assert truth or not free
        truths.append(truth)
    truths = np.array(truths)
    assert found[truths].mean() >= 0.95
    assert truths.sum() >= 5
    assert (~truths).sum() >= 2
