"""Questions answered by the JAX engine: the same verdict, the same results, one compile whatever is asked."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import ik
from elbowroom.errors import InputError, UnknownJointError
from tests.ik.models import model_of
from tests.ik.test_jax_costs import compilations as compilations
from tests.oracles import oracle_of

LINKS = ("frame_left_arm_ee", "frame_right_arm_ee")


WAIST = ["waist_yaw", "waist_pitch"]


@pytest.fixture(scope="module")
def solver():
    return ik.IkSolver(model_of("teaarm"), options=ik.IkOptions(table=500))


@pytest.fixture(scope="module")
def targets(solver):
    """Poses of both hands of 8 free configurations; 5 to 8 questions at once are one program."""
    cfgs = solver.robot.random_cfgs(300, seed=11)
    cfgs = cfgs[solver.model.free(cfgs)][:8]
    poses = solver.robot.link_poses(cfgs)
    return {link: poses[:, solver.robot.link_index(link)] for link in LINKS}


def test_answers_are_free_by_coal_and_on_target_by_pinocchio(solver, targets):
    results = ik.solve_jax(solver, targets)
    assert len(results) == 8
    assert all(result.success for result in results)
    oracle = oracle_of(solver.robot)
    cfgs = np.array([result.cfg for result in results])
    assert oracle.free(cfgs, solver.model.pairs.checked).all()
    assert (cfgs >= solver.robot.lower).all()
    assert (cfgs <= solver.robot.upper).all()
    for k, result in enumerate(results):
        poses = solver.robot.link_poses(result.cfg)
        for link in LINKS:
            off = poses[solver.robot.link_index(link)]
            assert np.linalg.norm(off[4:] - targets[link][k, 4:]) <= 1e-4
            assert 2 * np.arccos(min(1.0, abs(off[:4] @ targets[link][k, :4]))) <= 1e-3 + 1e-7


def test_other_targets_and_other_numbers_of_them_compile_nothing(solver, targets, compilations):
    ik.solve_jax(solver, {link: poses[:5] for link, poses in targets.items()})
    compilations.clear()
    ik.solve_jax(solver, {link: poses[2:] for link, poses in targets.items()})
    assert compilations == []


def test_a_target_that_collides_or_is_out_of_reach_is_no_success(solver, targets):
    one = {link: poses[0] for link, poses in targets.items()}
    far = dict(one)
    far[LINKS[0]] = np.array([1.0, 0, 0, 0, 10.0, 0, 0])
    inside = dict(one)
    torso = solver.robot.link_poses(solver.robot.default_cfg)[solver.robot.link_index("torso_link")]
    inside[LINKS[0]] = inside[LINKS[1]] = torso  # both hands in the chest
    results = ik.solve_jax(solver, [one, far, inside, one, one])
    assert [result.success for result in results] == [True, False, False, True, True]
    assert results[1].position_error[0] > 8.0
    assert "out of reach" in results[1].reason
    assert results[2].why


def test_seeds_and_locks_count(solver, targets):
    seeds = solver.robot.random_cfgs(4, seed=12)
    some = {LINKS[0]: solver.robot.link_poses(seeds)[:, solver.robot.link_index(LINKS[0])]}
    results = ik.solve_jax(solver, some, seeds, locked=WAIST)
    for seed, result in zip(seeds, results, strict=True):
        np.testing.assert_array_equal(result.cfg[:2], seed[:2])  # locked, to the last bit
        np.testing.assert_array_equal(result.cfg[[3, 5, 7, 9, 11, 13, 15]], seed[[3, 5, 7, 9, 11, 13, 15]])
        if result.free:
            assert np.abs(result.cfg - seed).max() < 0.05


def test_costs_of_the_user_shape_the_answer(solver, targets):
    """A waist as straight as the targets allow, question by question; tolerances are met all the same."""
    straight = ik.Cost(_waist, 3.0, "waist straight")
    plain, shaped = ik.solve_jax(solver, targets), ik.solve_jax(solver, targets, costs=[straight])
    both = [(a.cfg, b.cfg) for a, b in zip(plain, shaped, strict=True) if a.success and b.success]
    assert len(both) >= 6
    bent = np.abs(np.array(both)[:, :, :2]).sum(axis=2)
    assert (bent[:, 1] < bent[:, 0]).sum() >= len(both) - 1
    assert bent[:, 1].mean() < 0.95 * bent[:, 0].mean()


def _waist(cfg):
    return cfg[:2]


def test_without_a_model_kinematics_alone(solver):
    cfgs = solver.robot.random_cfgs(4, seed=13)
    some = {LINKS[0]: solver.robot.link_poses(cfgs)[:, solver.robot.link_index(LINKS[0])]}
    result = ik.solve_jax(solver.robot, some, cfgs, locked=WAIST)[0]
    assert result.success
    assert result.free is None
    assert result.verdict is None


def test_says_what_is_wrong(solver, targets):
    with pytest.raises(InputError, match="expected Cost"):
        ik.solve_jax(solver, targets, costs=[np.sin])
    with pytest.raises(InputError, match="targets"):
        ik.solve_jax(solver, "left")
    with pytest.raises(UnknownJointError):
        ik.solve_jax(solver, targets, locked=["left_j8"])
