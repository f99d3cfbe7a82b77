"""Edges are proved, or not called free."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.mesh import ExactCollision
from elbowroom.plan._sampler import BY_SPHERES, Sampler
from elbowroom.plan.internal import Group
from elbowroom.world import Box, World

GLANCE = 0
"""How closely `_core.Scene.prove` looks: in the middles of a few parts."""


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


def parts_of(model, lines) -> np.ndarray:
    """Places at which a glance looks at lines (n, 2, dof)."""
    counts = model.scene_within(lines.reshape(-1, lines.shape[-1])).prove(
        lines, np.zeros((1, lines.shape[-1])), GLANCE, 1e-5, 400
    )[1]
    return counts[:, 4]


def farthest_ways(model, lines, looks=400) -> np.ndarray:
    """Metres that the origin of the link that goes farthest travels on each line."""
    shares = np.linspace(0.0, 1.0, looks)[:, None]
    places = [model.robot.link_poses(a + shares * (b - a))[..., 4:] for a, b in lines]
    return np.array([np.linalg.norm(np.diff(at, axis=0), axis=-1).sum(axis=0).max() for at in places])


def test_two_arms_are_looked_at_as_densely_as_the_one_that_goes_farther(bare):
    model = bare("baxter")
    names, rng = np.array(model.robot.joint_names), np.random.default_rng(8)
    begins = model.robot.random_cfgs(60, seed=8)
    steps = rng.uniform(-1.0, 1.0, begins.shape)
    parts = {}
    for moves in (("left_", "right_"), ("left_",), ("right_",)):
        moving = np.array([name.startswith(moves) for name in names])
        lines = np.stack([begins, begins + np.where(moving, steps, 0.0)], axis=1)
        parts[moves] = parts_of(model, lines)
        # No link goes much farther between two looks than the decimetre that is meant.
        assert (farthest_ways(model, lines) / parts[moves]).max() < 0.15
    together, left, right = parts.values()
    np.testing.assert_array_equal(together, np.maximum(left, right))
    assert left.min() < left.max()


def test_two_arms_that_pass_a_thin_plate_together_are_never_called_free(bare):
    model = bare("baxter")
    names, rng = np.array(model.robot.joint_names), np.random.default_rng(9)
    moving = np.array([name.startswith(("left_", "right_")) for name in names])
    plates = [Box((0.002, 0.5, 0.5), pose=[1, 0, 0, 0, 0.7, y, 0.3], name=f"plate{y}") for y in (-0.6, 0.6)]
    model = model.with_world(World(plates))
    cfgs = model.robot.random_cfgs(2000, seed=9)
    begins = cfgs[model.free(cfgs)][:60]
    lines = np.stack([begins, begins + np.where(moving, rng.uniform(-1.0, 1.0, begins.shape), 0.0)], axis=1)
    found = model.segments_free(lines[:, 0], lines[:, 1]).free
    shares = np.linspace(0.0, 1.0, 1000)[:, None]
    truth = np.array([model.free(a + shares * (b - a)).all() for a, b in lines])
    assert not (found & ~truth).any()
    assert found[truth].all()
    assert min(truth.sum(), (~truth).sum()) >= 5
