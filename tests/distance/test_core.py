"""The core's sphere model on its own: whatever arrays come in, it answers or refuses, and it does not depend on how it is asked.

Looks inside: `largest_values` gives the joint values for which the error bound holds; the core takes them from its caller.
"""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import _core
from elbowroom.distance import SelfCollisionChecker
from elbowroom.distance.internal import largest_values
from elbowroom.spheres import SphereModel


@pytest.fixture(scope="module")
def parts(model):
    """Arguments of a model of the panda."""
    robot, spheres = model("panda")
    balls = np.column_stack([spheres.centers, spheres.radii])
    links = np.array([robot.link_index(spheres.link_names[k]) for k in spheres.link_idx])
    pairs = np.array([[links.min(), links.max()]])
    return robot.tree.core, balls, links, pairs, largest_values(robot.tree)


def changed(parts, place, value):
    return [value if k == place else part for k, part in enumerate(parts)]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (1, np.zeros((4, 3))),
        (1, np.full((28, 4), np.nan)),
        (1, None),
        (2, np.zeros(3, dtype=np.int64)),
        (2, np.full(28, 1000)),
        (2, np.full(28, -1)),
        (3, np.array([[0, 1000]])),
        (3, np.array([[-1, 0]])),
        (3, np.zeros(4, dtype=np.int64)),
        (4, np.zeros(2)),
    ],
)
def test_models_of_nonsense_are_refused(parts, place, value):
    with pytest.raises((TypeError, ValueError)):
        _core.SelfCollision(*changed(parts, place, value))


@pytest.mark.parametrize(
    "cfgs", [np.zeros((3, 2)), np.zeros(8), np.zeros((2, 2, 2)), np.zeros((2, 8), dtype=complex), None, "abc"]
)
def test_configurations_of_another_shape_are_refused(parts, cfgs):
    model = _core.SelfCollision(*parts)
    for ask, kind in ((model.free, np.bool_), (model.min_distances, np.float32)):
        with pytest.raises((TypeError, ValueError)):
            ask(cfgs, np.empty(2, dtype=kind))
    for ask in (model.is_free, model.min_distance):
        with pytest.raises((TypeError, ValueError)):
            ask(np.zeros(3))


def test_results_are_written_only_where_they_fit(parts):
    model = _core.SelfCollision(*parts)
    cfgs = np.zeros((2, 8))
    fixed = np.empty(2, dtype=np.float32)
    fixed.setflags(write=False)
    for out in (
        np.empty(3, np.float32),
        np.empty(2),
        np.empty((2, 1), np.float32),
        np.empty(4, np.float32)[::2],
        fixed,
    ):
        with pytest.raises((TypeError, ValueError)):
            model.min_distances(cfgs, out)
    with pytest.raises((TypeError, ValueError)):
        model.count_hits(cfgs, np.zeros(2, np.float32), np.zeros(1, np.int64))
    with pytest.raises((TypeError, ValueError)):
        model.reordered(np.array([1]))


def test_the_first_bad_row_is_named(parts):
    model = _core.SelfCollision(*parts)
    for rows, bad in ((1, 0), (2, 1), (17, 16), (40, 21)):
        for value in (np.nan, np.inf, 1e9):
            cfgs = np.zeros((rows, 8))
            cfgs[bad:, 3] = value
            assert model.free(cfgs, np.empty(rows, dtype=np.bool_)) == bad
            assert model.min_distances(cfgs, np.empty(rows, dtype=np.float32)) == bad


def test_a_model_outlives_the_robot_that_it_was_made_of(model):
    def made():
        robot, spheres = model("panda")
        return SelfCollisionChecker(robot, spheres)._sorted

    assert made().is_free(np.zeros(8)) in (0, 1)


@pytest.mark.parametrize("name", ["teaarm", "talos"])
def test_an_answer_depends_neither_on_the_batch_nor_on_the_order_of_pairs(model, name):
    """Pairs that are seldom in collision, so that all levels of balls and all sizes of blocks come into play."""
    robot, spheres = model(name)
    every = SelfCollisionChecker(robot, spheres)
    hits = every.pair_hits(robot.random_cfgs(500, seed=3)).mean(axis=0)
    pairs = [pair for pair, share in zip(every.pairs, hits, strict=True) if share < 0.05]
    cfgs = robot.random_cfgs(403, seed=4)
    one = SelfCollisionChecker(robot, spheres, pairs, threads=1)
    distances = one.pair_distances(cfgs)
    np.testing.assert_array_equal(one.min_distance(cfgs), distances.min(axis=1))
    np.testing.assert_array_equal(one.free(cfgs), ~one.pair_hits(cfgs).any(axis=1))
    for size in (1, 3, 16, 50):
        parts = [cfgs[k : k + size] for k in range(0, len(cfgs), size)]
        np.testing.assert_array_equal(np.concatenate([one.free(part) for part in parts]), one.free(cfgs))
        np.testing.assert_array_equal(np.concatenate([one.pair_distances(part) for part in parts]), distances)
    backwards = SelfCollisionChecker(robot, spheres, pairs[::-1], threads=1)
    np.testing.assert_array_equal(backwards.min_distance(cfgs), one.min_distance(cfgs))


def test_links_of_many_spheres_and_of_one(model):
    """Sixty spheres on a link, one on another: groups of all sizes, and columns that a vector does not fill."""
    robot, _ = model("panda")
    rng = np.random.default_rng(0)
    counts = [60, 1, 17]
    names = ("panda_link0", "panda_link5", "panda_hand")
    centers = rng.normal(0.0, 0.1, (sum(counts), 3))
    radii = rng.uniform(0.005, 0.03, sum(counts))
    spheres = SphereModel(names, centers, radii, np.repeat([0, 1, 2], counts))
    checker = SelfCollisionChecker(robot, spheres, [(names[0], names[1]), (names[0], names[2])])
    cfgs = robot.random_cfgs(100, seed=5)
    found = [clash.distance for cfg in cfgs for clash in sorted(checker.closest(cfg), key=lambda c: c.pair)]
    order = np.argsort(checker.pairs, axis=0)[:, 1]
    expected = checker.pair_distances(cfgs)[:, order].ravel()
    np.testing.assert_allclose(expected, found, rtol=0, atol=checker.float_margin)
