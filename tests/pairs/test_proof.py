"""The proof of never: motion bounds hold, proved pairs stay apart, collisions are never proved away.

Looks inside: motion bounds must hold for every chain and every interval, not only for those a robot leads to.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom._core import HIT, PROVED
from elbowroom.distance import SelfCollisionChecker
from elbowroom.distance.internal import sphere_arrays
from elbowroom.pairs import PairOptions, PairReason, compute_pairs
from elbowroom.pairs._chain import PairChain, PairChains
from elbowroom.robot.internal import Chain
from elbowroom.spheres import FitOptions, fit_spheres

SAMPLES = 200_000


def chain_of(robot, spheres, a, b):
    chains = PairChains(robot.tree, *sphere_arrays(robot.link_names, spheres))
    return chains.between(robot.link_index(a), robot.link_index(b))


def prove(chain, pad=0.0, boxes=20_000, lower=None, upper=None):
    lower = chain.joints.lower if lower is None else lower
    upper = chain.joints.upper if upper is None else upper
    return chain.core.prove(lower, upper, pad, boxes)


def clearance(chain, cfg):
    return chain.core.clearances(cfg[None])[0]


@pytest.mark.parametrize("name", ["panda", "teaarm", "talos", "rh56"])
def test_chain_clearance_equals_the_checker(model, name):
    robot, spheres = model(name)
    checker = SelfCollisionChecker(robot, spheres)
    cfgs = robot.random_cfgs(5, seed=1)
    expected = checker.pair_distances(cfgs)
    for k in range(0, len(checker.pairs), max(1, len(checker.pairs) // 40)):
        chain = chain_of(robot, spheres, *checker.pairs[k])
        ours = chain.core.clearances(cfgs[:, chain.joints.cfg_idx])
        np.testing.assert_allclose(ours, expected[:, k], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "a", "b"),
    [
        ("panda", "panda_link1", "panda_hand"),
        ("panda", "panda_leftfinger", "panda_link4"),
        ("teaarm", "left_arm_l5", "right_arm_l4"),
        ("rh56", None, None),
    ],
)
def test_no_point_moves_farther_than_its_bound(model, name, a, b):
    """The claim under every proof, tested on the pair's whole clearance in random boxes of all sizes."""
    robot, spheres = model(name)
    if a is None:  # two finger tips that coupled joints move
        solid = sorted(spheres.counts)
        a, b = solid[0], solid[-1]
    chain = chain_of(robot, spheres, a, b)
    rng = np.random.default_rng(4)
    proved = 0
    for _ in range(300):
        width = (chain.joints.upper - chain.joints.lower) * 10.0 ** rng.uniform(-4, 0)
        lower = chain.joints.lower + rng.random(len(width)) * (
            chain.joints.upper - chain.joints.lower - width
        )
        center = lower + 0.5 * width
        at_center = clearance(chain, center)
        # The largest padding that the one box alone proves: found by bisection on the proof's own verdict.
        low, high = at_center - 5.0, at_center
        for _ in range(30):
            middle = 0.5 * (low + high)
            status = prove(chain, middle, 1, lower, lower + width)[0]
            low, high = (middle, high) if status == PROVED else (low, middle)
        proved += low > at_center - 4.9
        corners = lower + width * rng.integers(0, 2, (40, len(width)))
        inside = lower + width * rng.random((40, len(width)))
        assert (chain.core.clearances(np.concatenate([corners, inside])) > low).all()
    assert proved > 100


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_pair_that_can_meet_is_never_proved(seed):
    """Random chains of three joints and random balls: whatever a dense sample brings together is not proved."""
    rng = np.random.default_rng(seed)
    local = np.zeros((3, 3, 4))
    for k in range(3):
        q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        local[k, :, :3] = q * np.sign(np.linalg.det(q))
        local[k, :, 3] = rng.normal(0, 0.3, 3)
    kind = rng.integers(1, 3, 3)
    lower, upper = -rng.random(3) * 2, rng.random(3) * 2
    balls = [np.array([[*rng.normal(0, 0.2, 3), 0.0]] * 2) for _ in range(2)]
    for ball in balls:
        ball[:, 3] = rng.uniform(0.02, 0.2)
    span = np.array([[1, 1]])
    joints = Chain(
        lower=lower,
        upper=upper,
        cfg_idx=np.arange(3),
        n_a=int(rng.integers(0, 4)),
        kind=kind,
        local=local,
        poly=np.tile([0.0, 1.0], (3, 1)),
        var=np.arange(3),
        slope=np.ones(3),
        T_body_a=np.eye(4),
        T_body_b=np.eye(4),
    )
    chain = PairChain(joints, int(rng.integers(0, 4)), balls[0], span, balls[1], span)
    status, bound, _, at = prove(chain)
    closest = chain.core.clearances(lower + rng.random((3000, 3)) * (upper - lower)).min()
    if closest <= 0:
        assert status != PROVED
    if status == PROVED:
        assert closest > bound - 1e-9  # the bound it reports holds too
    if status == HIT:
        assert clearance(chain, at) <= 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["panda", "teaarm"])
def test_proved_pairs_survive_samples_and_search_and_half_of_never_is_proved(load, model, name):
    robot = load(name)
    spheres = fit_spheres(robot, FitOptions(n_spheres=24, effort=0.1)) if name == "panda" else model(name)[1]
    pairs = compute_pairs(robot, spheres, PairOptions(use_srdf=False))
    proved = [pair for pair, found in pairs.entries.items() if found.reason is PairReason.NEVER_PROVED]
    sampled = [pair for pair, found in pairs.entries.items() if found.reason is PairReason.NEVER_SAMPLED]
    assert len(proved) >= len(sampled)
    proved = [pair for pair in proved if "its meshes" not in pairs.evidence(*pair).text]  # those by spheres
    assert len(proved) >= 5
    checker = SelfCollisionChecker(robot, spheres, proved)
    least = checker.pair_distances(robot.random_cfgs(SAMPLES // 4, seed=9)).min(axis=0)
    claimed = np.array([pairs.evidence(*pair).clearance for pair in checker.pairs])
    assert (least > claimed - 1e-5).all()
    assert (claimed >= 0.02).all()
    assert checker.free(robot.random_cfgs(SAMPLES, seed=10)).all()
    for pair, bound in zip(checker.pairs, claimed, strict=True):
        chain = chain_of(robot, spheres, *pair)
        starts = chain.joints.lower + np.random.default_rng(1).random((4, len(chain.joints.lower))) * (
            chain.joints.upper - chain.joints.lower
        )
        found, _ = chain.core.search(starts, chain.joints.lower, chain.joints.upper, 0.0, 60)
        assert found > bound - 1e-9


@pytest.mark.long
def test_a_budget_that_is_spent_says_so(model):
    robot, spheres = model("teaarm")
    few = compute_pairs(robot, spheres, PairOptions(samples=2000, proof_boxes=3))
    many = compute_pairs(robot, spheres, PairOptions(samples=2000, proof_boxes=20_000))
    left = few.counts()[PairReason.NEVER_SAMPLED]
    assert left > many.counts().get(PairReason.NEVER_SAMPLED, 0)
    found = next(found for found in few.entries.values() if found.reason is PairReason.NEVER_SAMPLED)
    assert "no proof within 3 boxes" in found.text
    assert 0 < found.bound < 0.01
    for pair in few.checked:  # a larger budget proves more, but never of a pair that was seen to collide
        proved = not few.evidence(*pair).collides and many.reason(*pair) is PairReason.NEVER_PROVED
        assert proved or many.reason(*pair) is PairReason.CHECKED
    assert set(many.checked) < set(few.checked)


def test_pairs_that_are_sent_to_a_worker_answer_the_same(model):
    robot, spheres = model("panda")
    chain = chain_of(robot, spheres, "panda_link1", "panda_hand")
    again = pickle.loads(pickle.dumps(chain))
    cfgs = robot.random_cfgs(20, seed=2)[:, chain.joints.cfg_idx]
    np.testing.assert_array_equal(again.core.clearances(cfgs), chain.core.clearances(cfgs))
    assert prove(again)[:3] == prove(chain)[:3]


@pytest.mark.parametrize(
    "values", [np.zeros(3), np.zeros((2, 9)), np.zeros((2, 2), dtype=complex), None, "abc"]
)
def test_the_core_refuses_joint_values_of_another_shape(model, values):
    robot, spheres = model("panda")
    chain = chain_of(robot, spheres, "panda_link1", "panda_hand")
    with pytest.raises((TypeError, ValueError)):
        chain.core.clearances(values)


def test_values_that_are_not_numbers_prove_nothing(model):
    robot, spheres = model("panda")
    chain = chain_of(robot, spheres, "panda_link1", "panda_hand")
    unlimited = np.full(len(chain.joints.lower), np.nan)
    assert prove(chain, boxes=200, lower=unlimited, upper=unlimited)[0] != PROVED
    assert prove(chain, boxes=200, upper=np.full(len(unlimited), np.inf))[0] != PROVED
