"""Never, proved by the meshes' own clearance: judged by Coal on the robot's own description, and by brute force.

Looks inside: a proof is correct for every chain and budget, so single tasks are given to it, not only those a
robot leads to.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elbowroom as er
from elbowroom._core import HIT, PROVED
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.mesh import TriangleMesh
from elbowroom.pairs import PairOptions, PairReason, compute_pairs
from elbowroom.pairs._can_meet import MeshTask
from elbowroom.robot.internal import Chain

ARMS = [
    "ur5",
    "panda",
    pytest.param("xarm7", marks=pytest.mark.long),
    pytest.param("ur10", marks=pytest.mark.long),
    pytest.param("kinova", marks=pytest.mark.long),
]
UR10_NEVER = {
    ("base_link", "upper_arm_link"),
    ("base_link", "wrist_1_link"),
    ("shoulder_link", "wrist_1_link"),
    ("wrist_1_link", "wrist_3_link"),
}
"""What ur10_moveit_config (ros-industrial/universal_robot) disables as "Never", of which we have a proof. It has
shoulder_link and wrist_2_link as well, which come within 2 mm."""


@pytest.fixture(scope="module")
def decided(model):
    """Robot and pairs that owe nothing to an SRDF, by name."""

    @cache
    def make(name):
        robot, spheres = model(name)
        return robot, compute_pairs(robot, spheres, PairOptions(use_srdf=False))

    return make


def lowest(judge, robot, pair, seed):
    """The smallest distance Coal finds of a pair: random configurations, then downhill from the best of them."""
    cfgs = robot.random_cfgs(150, seed=seed)
    values = judge.distances(cfgs, [pair])[:, 0]
    best = np.argsort(values)[:2]
    cfgs, values = cfgs[best], values[best]
    steps = np.tile((robot.upper - robot.lower) / 8, (len(cfgs), 1))
    for _ in range(12):
        for v in range(robot.dof):
            trial = np.stack([cfgs, cfgs])
            trial[0, :, v] -= steps[:, v]
            trial[1, :, v] += steps[:, v]
            trial = np.clip(trial, robot.lower, robot.upper)
            found = judge.distances(trial.reshape(-1, robot.dof), [pair])[:, 0].reshape(2, -1)
            way, rows = found.argmin(axis=0), np.arange(len(cfgs))
            better = found[way, rows] < values
            cfgs = np.where(better[:, None], trial[way, rows], cfgs)
            values = np.where(better, found[way, rows], values)
            steps[:, v] *= np.where(better, 1.6, 0.5)
    return float(values.min())


@pytest.mark.parametrize("name", ARMS)
def test_proved_pairs_keep_what_is_proved_by_coal(decided, coal_judge, name):
    robot, pairs = decided(name)
    judge = coal_judge(name)
    proved = [pair for pair, found in pairs.entries.items() if found.reason is PairReason.NEVER_PROVED]
    assert proved
    for k, pair in enumerate(proved):
        found = pairs.evidence(*pair)
        least = lowest(judge, robot, pair, k)
        assert 0.0 < found.clearance < least + 1e-9, (pair, found.text)
        if found.witness is not None:  # within the buffer, as close as it is said to be
            at = judge.distances(np.array([found.witness]), [pair])[0, 0]
            assert at == pytest.approx(found.closest, abs=1e-6)
            assert found.closest <= 0.02


def one_inside_the_other(robot, pair, cfg):
    """Whether trimesh finds corners of one mesh inside the other: Coal's meshes are surfaces and do not collide then."""
    poses = robot.link_poses(np.array(cfg))
    meshes = [
        robot.link_mesh(name).copy().apply_transform(matrix_from_wxyz_xyz(poses[robot.link_index(name)]))
        for name in pair
    ]
    return any(a.contains(b.vertices).any() for a, b in (meshes, meshes[::-1]))


@pytest.mark.parametrize("name", ARMS)
def test_every_checked_pair_comes_with_a_collision_or_is_near_only(decided, coal_judge, name):
    robot, pairs = decided(name)
    judge = coal_judge(name)
    for pair in pairs.checked:
        found = pairs.evidence(*pair)
        assert found.witness is not None
        assert (np.array(found.witness) >= robot.lower - 1e-12).all()
        assert (np.array(found.witness) <= robot.upper + 1e-12).all()
        at = judge.distances(np.array([found.witness]), [pair])[0, 0]
        if found.collides:
            assert at <= 1e-6 or one_inside_the_other(robot, pair, found.witness), (pair, found.text)
        else:
            assert at == pytest.approx(found.closest, abs=1e-6)
            assert "nothing shows that it cannot collide" in found.text


def test_the_arms_get_the_matrix_of_moveits_assistant(decided):
    """All pairs that the vendors' SRDFs call Never are proved, on the panda and the xarm7 (their files here)."""
    for name in ("panda", "xarm7"):
        robot, pairs = decided(name)
        never = [
            pair for pair, said in robot.disabled_pairs.items() if said == "Never" and pair in pairs.entries
        ]
        assert len(never) > 9
        assert {pairs.reason(*pair) for pair in never} == {PairReason.NEVER_PROVED}


@pytest.mark.long
def test_ur10_gets_the_matrix_of_moveits_assistant(decided):
    _, pairs = decided("ur10")
    proved = {pair for pair, found in pairs.entries.items() if found.reason is PairReason.NEVER_PROVED}
    assert proved >= UR10_NEVER


def box_mesh(rng):
    import trimesh

    made = trimesh.creation.box(rng.uniform(0.02, 0.3, 3))
    made.apply_transform(trimesh.transformations.random_rotation_matrix(rng.random(3)))
    made.apply_translation(rng.normal(0, 0.15, 3))
    return TriangleMesh.from_trimesh(made)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_meshes_that_can_come_closer_are_never_proved(seed):
    """Random chains, slides and couplings among them: no dense sample comes closer than what is proved."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 4))
    local = np.zeros((m, 3, 4))
    for k in range(m):
        q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        local[k, :, :3] = q * np.sign(np.linalg.det(q)) if rng.random() < 0.5 else np.eye(3)
        local[k, :, 3] = rng.normal(0, 0.3, 3)
    kind = rng.integers(1, 3, m)
    lower, upper = -rng.random(m) * 2, rng.random(m) * 2
    poly = np.zeros((m, 3))
    poly[:, 1] = 1.0
    poly[-1, 2] = rng.choice([0.0, 0.3])
    reach = np.maximum(np.abs(lower), np.abs(upper))
    slope = 1.0 + 2.0 * np.abs(poly[:, 2]) * reach
    chain = Chain(
        lower=lower,
        upper=upper,
        cfg_idx=np.arange(m),
        n_a=int(rng.integers(0, m + 1)),
        kind=kind,
        local=local,
        poly=poly,
        var=np.arange(m),
        slope=slope,
        T_body_a=np.eye(4),
        T_body_b=np.eye(4),
    )
    a, b = box_mesh(rng), box_mesh(rng)
    side = int(rng.integers(0, m + 1))
    task = MeshTask(chain, a, b, side, lower, upper, pad=0.0, boxes=3000, starts=0, seed=0)
    closest = task.clearances(lower + rng.random((2000, m)) * (upper - lower)).min()
    target = max(1e-4, rng.uniform(0.5, 1.1) * closest)
    for by_axes in (True, False):
        status, boxes, cfg = task.core.prove(lower, upper, target, 3000, by_axes)
        assert boxes <= 3000
        if status == PROVED:
            assert closest > target
        if status == HIT:
            assert task.clearances(cfg[None])[0] <= target + 1e-9


def test_a_clearance_that_is_asked_for_brings_near_pairs_back(load, coal_judge):
    """ur5: wrist_1_link and wrist_3_link never collide and come within 13.4 mm."""
    robot, pair = load("ur5"), ("wrist_1_link", "wrist_3_link")
    plain = er.CollisionModel(robot, pairs=None)
    found = compute_pairs(robot, plain.spheres, PairOptions(use_srdf=False))
    assert found.reason(*pair) is PairReason.NEVER_PROVED
    near = found.evidence(*pair)
    assert near.clearance < 0.0134 < near.closest < 0.0135
    assert found.for_buffer(0.0) is found
    assert found.for_buffer(0.5 * near.clearance) is found
    kept = er.CollisionModel(robot, plain.spheres, found, buffer=0.015)
    assert kept.pairs.reason(*pair) is PairReason.CHECKED
    assert "15 mm are asked of it" in kept.pairs.evidence(*pair).text
    judge = coal_judge("ur5")
    checked = [p for p, e in found.entries.items() if e.reason is not PairReason.ADJACENT]
    cfgs = np.concatenate([robot.random_cfgs(150, seed=5), np.array([near.witness])])
    truth = judge.distances(cfgs, checked).min(axis=1)
    for buffer in (0.0, 0.012, 0.015):
        model = er.CollisionModel(robot, plain.spheres, found, buffer=buffer)
        free = model.free(cfgs)
        clear = np.abs(truth - buffer) > 1e-4
        assert (free == (truth > buffer))[clear].all()
    assert not kept.free(np.array(near.witness))
    guard = er.Guard(er.CollisionModel(robot, plain.spheres, found), clearance=0.015)
    assert pair in guard._safe.pairs  # inside: what it keeps apart is not public


@pytest.mark.robots
def test_no_boxes_means_no_proof_of_what_moves(load):
    robot = load("panda")
    options = PairOptions(samples=500, proof_boxes=0, search_starts=0, use_srdf=False)
    pairs = compute_pairs(robot, er.fit_spheres(robot), options)
    proved = [pair for pair in pairs.ignored if pairs.reason(*pair) is PairReason.NEVER_PROVED]
    assert all(pairs.evidence(*pair).boxes <= 1 for pair in proved), [pairs.evidence(*p).text for p in proved]
