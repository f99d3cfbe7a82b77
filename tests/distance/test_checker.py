"""The checker against plain numpy in float64, against JAX, and against its own guarantees.

Looks inside: poses are built by the package's own conversion; the rule that picks pairs has no public name.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.distance import MultiSphereCollision, SelfCollisionChecker
from elbowroom.distance._inputs import default_pairs
from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.spheres import SphereModel

TOLERANCE = 1e-5  # metres; float32 over a metre and a dozen joints errs by about 1e-6


@pytest.fixture(scope="module")
def teaarm_checker(model):
    return SelfCollisionChecker(*model("teaarm"))


def numpy_distances(robot, spheres, pairs, cfgs):
    """(n, pairs) clearances, straight from the definition in float64."""
    T = matrix_from_wxyz_xyz(robot.link_poses(cfgs))
    out = np.empty((len(cfgs), len(pairs)))
    for k, pair in enumerate(pairs):
        placed = []
        for link in pair:
            centers, radii = spheres.link(link)
            pose = T[:, robot.link_index(link)]
            placed.append((np.einsum("nij,kj->nki", pose[:, :3, :3], centers) + pose[:, None, :3, 3], radii))
        (a, ra), (b, rb) = placed
        apart = np.linalg.norm(a[:, :, None] - b[:, None], axis=-1) - ra[:, None] - rb
        out[:, k] = apart.min(axis=(1, 2))
    return out


@pytest.mark.parametrize("name", ["teaarm", "panda"])
def test_jax_core_and_numpy_agree_on_ten_thousand_configurations(model, name):
    robot, spheres = model(name)
    checker = SelfCollisionChecker(robot, spheres)
    cfgs = robot.random_cfgs(10_000, seed=5)
    reference = numpy_distances(robot, spheres, checker.pairs, cfgs)
    np.testing.assert_allclose(checker.pair_distances(cfgs), reference, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(checker.min_distance(cfgs), reference.min(axis=1), rtol=0, atol=TOLERANCE)
    coll = MultiSphereCollision.from_models(robot, spheres)
    depth = np.asarray(coll.max_penetration(robot, cfgs.astype(np.float32)))
    np.testing.assert_allclose(depth, -reference.min(axis=1), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("name", ["baxter", "talos", "g1", "rh56"])
def test_pair_distances_match_numpy_on_trees_slides_and_coupled_joints(model, name):
    robot, spheres = model(name)
    checker = SelfCollisionChecker(robot, spheres)
    cfgs = robot.random_cfgs(100, seed=6)
    reference = numpy_distances(robot, spheres, checker.pairs, cfgs)
    np.testing.assert_allclose(checker.pair_distances(cfgs), reference, rtol=0, atol=TOLERANCE)
    np.testing.assert_array_equal(checker.pair_hits(cfgs).any(axis=1), ~checker.free(cfgs))


@pytest.mark.parametrize("name", ["teaarm", "panda", "talos"])
def test_free_is_never_wrong_and_wastes_at_most_the_float_margin(model, name):
    robot, spheres = model(name)
    everything = SelfCollisionChecker(robot, spheres)
    cfgs = robot.random_cfgs(500, seed=7)
    rare = numpy_distances(robot, spheres, everything.pairs, cfgs)
    pairs = [pair for pair, d in zip(everything.pairs, rare.T, strict=True) if 0 < (d < 0).sum() < 25]
    checker = SelfCollisionChecker(robot, spheres, pairs)
    closest = numpy_distances(robot, spheres, checker.pairs, cfgs).min(axis=1)
    free = checker.free(cfgs)
    assert 0 < free.sum() < len(free)
    assert not (free & (closest <= 0)).any()
    assert not (~free & (closest > 2 * checker.float_margin)).any()
    # Grow the spheres until the true clearance is a hair below zero: still never called free.
    for k in np.flatnonzero(closest > 0.001)[:10]:
        tight = SelfCollisionChecker(robot, spheres, pairs, padding=0.5 * (closest[k] + 1e-8))
        assert tight.free(cfgs[k]) is False
        loose = SelfCollisionChecker(
            robot, spheres, pairs, padding=0.5 * closest[k] - 2 * checker.float_margin
        )
        assert loose.free(cfgs[k]) is True


@pytest.mark.parametrize("name", ["teaarm", "panda", "talos", "rh56"])
def test_float_margin_bounds_the_error_and_stays_below_a_tenth_of_a_millimetre(model, name):
    robot, spheres = model(name)
    checker = SelfCollisionChecker(robot, spheres)
    cfgs = robot.random_cfgs(2000, seed=8)
    reference = numpy_distances(robot, spheres, checker.pairs[:20], cfgs)
    error = np.abs(
        SelfCollisionChecker(robot, spheres, checker.pairs[:20]).pair_distances(cfgs) - reference
    ).max()
    assert 0 < error < checker.float_margin < 1e-4


def test_angles_of_many_turns_give_the_same_answer(model):
    robot, spheres = model("teaarm")
    checker = SelfCollisionChecker(robot, spheres)
    cfgs = robot.random_cfgs(64, seed=9)
    turned = cfgs + 2 * np.pi * 1000
    np.testing.assert_allclose(
        checker.min_distance(turned), checker.min_distance(cfgs), rtol=0, atol=TOLERANCE
    )


@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 50), seed=st.integers(0, 1000))
def test_a_batch_gives_what_single_calls_give(teaarm_checker, n, seed):
    checker = teaarm_checker
    cfgs = checker.robot.random_cfgs(n, seed)
    assert checker.free(cfgs).tolist() == [checker.free(cfg) for cfg in cfgs]
    np.testing.assert_array_equal(
        checker.min_distance(cfgs), np.float32([checker.min_distance(c) for c in cfgs])
    )


def test_threads_do_not_change_the_answer(model):
    robot, spheres = model("teaarm")
    cfgs = robot.random_cfgs(30_001, seed=10)
    one, two = (SelfCollisionChecker(robot, spheres, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.free(cfgs), two.free(cfgs))
    np.testing.assert_array_equal(one.min_distance(cfgs), two.min_distance(cfgs))


def test_worst_names_the_closest_spheres(model):
    robot, spheres = model("teaarm")
    checker = SelfCollisionChecker(robot, spheres)
    for cfg in robot.random_cfgs(20, seed=11):
        reference = numpy_distances(robot, spheres, checker.pairs, cfg[None])[0]
        worst = checker.worst(cfg)
        assert worst.distance == pytest.approx(reference.min(), abs=1e-12)
        assert worst.pair == checker.pairs[int(reference.argmin())]
        T = matrix_from_wxyz_xyz(robot.link_poses(cfg))[robot.link_index(worst.a)]
        centers, radii = spheres.link(worst.a)
        reach = np.linalg.norm(centers @ T[:3, :3].T + T[:3, 3] - worst.point_a, axis=1)
        assert np.abs(reach - radii).min() < 1e-9  # on the surface of one of its spheres
        assert (worst.point_b - worst.point_a) @ worst.normal == pytest.approx(worst.distance)
        assert f"{abs(worst.distance) * 1000:.1f} mm" in str(worst)


def test_padding_takes_its_sum_from_the_distance_and_padding_of_the_model_counts(model):
    robot, spheres = model("teaarm")
    cfgs = robot.random_cfgs(50, seed=12)
    plain = SelfCollisionChecker(robot, spheres).min_distance(cfgs)
    padded = SelfCollisionChecker(robot, spheres, padding=0.01).min_distance(cfgs)
    np.testing.assert_allclose(padded, plain - 0.02, rtol=0, atol=TOLERANCE)
    model_padding = dict.fromkeys(spheres.link_names, 0.01)
    own = SphereModel(
        spheres.link_names, spheres.centers, spheres.radii, spheres.link_idx, self_padding=model_padding
    )
    np.testing.assert_allclose(
        SelfCollisionChecker(robot, own).min_distance(cfgs), padded, rtol=0, atol=TOLERANCE
    )
    pair = ("left_arm_l6", "right_arm_l6")
    one = SelfCollisionChecker(robot, spheres, [pair], padding={"left_arm_l6": 0.03}).min_distance(cfgs)
    both = SelfCollisionChecker(robot, spheres, [pair]).min_distance(cfgs)
    np.testing.assert_allclose(one, both - 0.03, rtol=0, atol=TOLERANCE)


def test_a_checker_survives_pickling(model):
    robot, spheres = model("panda")
    checker = SelfCollisionChecker(robot, spheres)
    cfgs = robot.random_cfgs(40, seed=13)
    expected = checker.free(cfgs)
    again = pickle.loads(pickle.dumps(checker))
    assert again.robot is not robot
    np.testing.assert_array_equal(again.free(cfgs), expected)
    assert again.worst(cfgs[0]).distance == checker.worst(cfgs[0]).distance


def test_no_pairs_means_free_and_infinitely_far(model):
    robot, spheres = model("panda")
    checker = SelfCollisionChecker(robot, spheres, [])
    assert checker.free(robot.default_cfg)
    assert checker.min_distance(robot.default_cfg) == np.inf
    assert checker.worst(robot.default_cfg) is None
    assert checker.pair_distances(robot.random_cfgs(3)).shape == (3, 0)
    assert checker.free(np.zeros((0, robot.dof))).shape == (0,)


@pytest.mark.parametrize(
    "cfg",
    [
        np.zeros(3),
        np.zeros((2, 2, 16)),
        "abc",
        np.full(16, np.nan),
        np.r_[np.zeros(15), np.inf],
        None,
        np.full(16, 1e9),
    ],
)
def test_bad_configurations_are_refused(model, cfg):
    robot, spheres = model("teaarm")
    checker = SelfCollisionChecker(robot, spheres)
    for method in (checker.free, checker.min_distance, checker.pair_distances, checker.worst):
        with pytest.raises(InputError):
            method(cfg)


def test_a_nan_is_found_in_a_large_batch_and_its_row_is_named(model):
    robot, spheres = model("teaarm")
    cfgs = robot.random_cfgs(20_000, seed=14)
    cfgs[15_003, 2] = np.nan
    with pytest.raises(InputError, match="configuration 15003"):
        SelfCollisionChecker(robot, spheres).free(cfgs)


def test_a_slide_far_beyond_its_limits_is_refused(model):
    robot, spheres = model("panda")
    cfg = np.array(robot.default_cfg)
    cfg[-1] = 5.0
    with pytest.raises(InputError, match="beyond"):
        SelfCollisionChecker(robot, spheres).free(cfg)


def test_bad_spheres_and_pairs_are_refused(model, load):
    robot, spheres = model("panda")
    with pytest.raises(UnknownLinkError, match="another robot"):
        SelfCollisionChecker(load("teaarm"), spheres)
    with pytest.raises(UnknownLinkError, match="panda_link9"):
        SelfCollisionChecker(robot, spheres, [("panda_link1", "panda_link9")])
    with pytest.raises(InputError, match="itself"):
        SelfCollisionChecker(robot, spheres, [("panda_link1", "panda_link1")])
    with pytest.raises(InputError, match="two link names"):
        SelfCollisionChecker(robot, spheres, ["panda_link1"])
    with pytest.raises(InputError, match="sphere model"):
        SelfCollisionChecker(robot, 3)
    with pytest.raises(InputError, match="robot|Robot"):
        SelfCollisionChecker(3, spheres)
    with pytest.raises(InputError, match="negative padding"):
        SelfCollisionChecker(robot, spheres, padding=-1.0)
    with pytest.raises(UnknownLinkError, match="padding"):
        SelfCollisionChecker(robot, spheres, padding={"nose": 0.1})


def test_default_pairs_leave_out_adjacent_links(model):
    robot, spheres = model("panda")
    pairs = default_pairs(robot, spheres.counts)
    assert ("panda_link1", "panda_link2") not in pairs
    assert ("panda_hand", "panda_link7") not in pairs  # fixed to each other
    assert ("panda_hand", "panda_link6") in pairs  # a joint and a link with geometry are between them
    assert ("panda_link0", "panda_link5") in pairs
