"""The guard: harmless steps pass, no step of whatever controller penetrates, and bad questions get clear answers."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import InputError
from elbowroom.world import Box, World
from tests.ik.motions import (
    down_the_gradient,
    free_between,
    free_starts,
    guarded,
    harmless_motions,
    into_colliding,
    random_walk,
)

DT, SPEED = 0.005, 2.0


@pytest.fixture(scope="module")
def panda(load):
    robot = load("panda")
    return er.CollisionModel(robot, er.fit_spheres(robot, er.FitOptions(method="centerline")))


@pytest.fixture(scope="module")
def teaarm(load):
    robot = load("teaarm")
    return er.CollisionModel(robot, er.fit_spheres(robot, er.FitOptions(method="centerline")))


@pytest.mark.parametrize("accelerations", [None, 15.0])
def test_no_motion_penetrates(teaarm, accelerations):
    """Judged by Pinocchio and Coal, between the steps too; the same motions without a guard do penetrate."""
    from tests.oracles import oracle_of

    judge, rng = oracle_of(teaarm.robot), np.random.default_rng(5)
    guard = er.Guard(teaarm, velocity_limits=SPEED, acceleration_limits=accelerations, budget=0.1)
    makers = (
        lambda: random_walk(teaarm.robot, rng, DT, SPEED),
        lambda: into_colliding(teaarm, rng, DT, SPEED),
        lambda: down_the_gradient(teaarm, rng, DT, SPEED),
    )
    altered = 0
    for number, start in enumerate(free_starts(teaarm, rng, 9)):
        guard.reset()
        path, made = guarded(guard, makers[number % 3](), start, 100, DT)
        assert free_between(teaarm, judge, path)
        assert all(step.proved for step in made)
        rates = np.diff(path, axis=0) / DT
        assert np.abs(rates).max() <= SPEED * (1 + 1e-9)
        if accelerations is not None:
            change = np.diff(np.concatenate([np.zeros((1, rates.shape[1])), rates]), axis=0)
            assert np.abs(change).max() <= accelerations * DT * (1 + 1e-6)
        altered += sum(step.altered for step in made)
    assert altered > 50
    unguarded = [start := free_starts(teaarm, rng, 1)[0]]
    steer = down_the_gradient(teaarm, rng, DT, SPEED)
    for _ in range(100):
        unguarded.append(steer(unguarded[-1]))
    assert not free_between(teaarm, judge, np.array(unguarded))


def test_clearance_of_a_step_bounds_that_of_all_that_moves(panda):
    """A floor 2 mm below the base is nearer than anything a joint moves, and does not count."""
    pose = np.eye(4)
    pose[2, 3] = panda.robot.link_mesh("panda_link0").bounds[0, 2] - 0.002 - 0.05
    model, rng = (
        panda.with_world(World([Box((3.0, 3.0, 0.1), pose=pose, name="floor")])),
        np.random.default_rng(2),
    )
    guard = er.Guard(model, velocity_limits=SPEED)
    at, said = [], []
    for start in free_starts(model, rng, 8):
        path, made = guarded(guard, random_walk(model.robot, rng, DT, SPEED), start, 30, DT)
        at += list(path[:-1])
        said += [step.clearance for step in made]
    assert model.clearance(np.array(at), exact=True).max() < 0.002 + 1e-6
    moving = model.varying_clearance(np.array(at)).clearance
    assert (np.array(said) <= moving + 1e-9).all()
    assert (np.array(said) > 0.01).any()


def test_the_judge_of_these_motions_looks_between_their_steps(teaarm):
    """Short steps from free to free that graze something on the way: found, and nothing is found on those that do not."""
    from tests.oracles import oracle_of

    judge, pairs = oracle_of(teaarm.robot), teaarm.pairs.checked
    ends = free_starts(teaarm, np.random.default_rng(8), 1200)
    begin, end = ends[:600], ends[600:]
    paths = begin + np.linspace(0.0, 1.0, 201)[:, None, None] * (end - begin)  # (201, 600, dof)
    hits = ~teaarm.free(paths.reshape(-1, ends.shape[1])).reshape(paths.shape[:2])
    grazed = 0
    for path, hit in zip(paths.swapaxes(0, 1), hits.T, strict=True):
        at = np.flatnonzero(hit)
        if not 0 < len(at) <= 10 or np.ptp(at) >= 10:
            continue
        first, last = at[0] - 1, at[-1] + 1
        if judge.free(path[[first, last]], pairs).all() and not judge.free(path[at], pairs).all():
            grazed += 1
            assert not free_between(teaarm, judge, path[[first, last]])
        assert (
            free_between(teaarm, judge, path[: first + 1 : 3]) == judge.free(path[: first + 1], pairs).all()
        )
    assert grazed >= 3


def test_harmless_motions_pass_as_they_are(panda):
    from tests.oracles import oracle_of

    guard = er.Guard(panda, velocity_limits=SPEED)
    recordings = harmless_motions(
        panda, oracle_of(panda.robot), np.random.default_rng(6), 10, 100, DT, 0.9 * SPEED
    )
    for path in recordings:
        found = guard.filter(path, DT)
        assert not found.altered.any(), str(found)
        np.testing.assert_array_equal(found.cfgs, path)


def test_a_step_of_several_centimetres_passes_if_all_of_it_is_free(panda):
    start = panda.default_cfg
    wanted = start + 0.1 * (np.arange(len(start)) < 7)  # the gripper stays
    assert panda.segment_free(start, wanted)
    step = er.Guard(panda, velocity_limits=SPEED).step(start, wanted, 0.1)
    assert not step.altered
    assert step.proved
    assert step.why == "as wanted"
    np.testing.assert_array_equal(step.cfg, wanted)


def test_a_step_through_something_is_not_taken_though_both_ends_are_free(panda):
    """The arm on one side of a thin wall, wanted on the other: it may find a way around, never one through it."""
    from elbowroom.world import Box, World

    left, right = panda.default_cfg.copy(), panda.default_cfg.copy()
    left[0], right[0] = -0.6, 0.6
    wall = World([Box((0.5, 0.01, 2.0), pose=[1, 0, 0, 0, 0.55, 0.0, 0.5], name="wall")])
    model = panda.with_world(wall)
    assert model.free(left)
    assert model.free(right)
    guard = er.Guard(model, velocity_limits=1e4)
    cfg, words = left, set()
    for _ in range(30):
        step = guard.step(cfg, right, 0.05)
        assert step.proved
        assert model.segment_free(cfg, step.cfg)
        cfg = step.cfg
        words.update(step.limited_by)
    assert any("wall" in word for word in words)


def test_bad_wishes_are_refused_or_held(panda):
    cfg = panda.default_cfg
    for bad in (np.full(len(cfg), np.nan), np.full(len(cfg), np.inf), cfg[:-1], "north"):
        with pytest.raises(InputError, match="wanted configuration refused"):
            er.Guard(panda).step(cfg, bad, DT)
        step = er.Guard(panda, hold_on_bad=True).step(cfg, bad, DT)
        np.testing.assert_array_equal(step.cfg, cfg)
        assert step.altered
        assert "held: the wanted configuration is refused" in step.why
    for dt in (0.0, -1.0, np.nan, np.inf, True, "soon"):
        with pytest.raises(InputError, match="dt must be seconds above zero"):
            er.Guard(panda).step(cfg, cfg, dt)
    with pytest.raises(InputError, match="NaN"):
        er.Guard(panda, hold_on_bad=True).step(np.full(len(cfg), np.nan), cfg, DT)
    with pytest.raises(InputError, match="clearance"):
        er.Guard(panda, clearance=-0.1)


def test_a_jump_of_the_wish_is_taken_at_the_speed_that_is_allowed(panda):
    cfg = panda.default_cfg
    step = er.Guard(panda, velocity_limits=1.0).step(cfg, cfg + 100.0, DT)
    assert np.abs(step.cfg - cfg).max() <= 1.0 * DT * (1 + 1e-9)
    assert any(word.startswith(("speed of joint", "limit of joint")) for word in step.limited_by)


def test_with_accelerations_a_wish_that_fails_is_a_smooth_stop(panda):
    """hold_on_bad at full speed: the robot brakes, it does not freeze."""
    guard = er.Guard(panda, velocity_limits=1.0, acceleration_limits=5.0, hold_on_bad=True)
    cfg, rates = panda.default_cfg, []
    for k in range(120):
        wanted = cfg.copy()
        wanted[0] = wanted[0] + 0.005 if k < 60 else np.nan
        step = guard.step(cfg, wanted, DT)
        rates.append(step.velocity.copy())
        cfg = step.cfg
    change = np.abs(np.diff(np.array([np.zeros(len(cfg)), *rates]), axis=0))
    assert change.max() <= 5.0 * DT * (1 + 1e-9)
    assert rates[59][0] > 0.9
    assert np.abs(rates[-1]).max() < 1e-9


def test_a_recording_is_filtered_and_summed_up(panda):
    start = panda.default_cfg
    low, high = panda.robot.lower, panda.robot.upper
    cfgs = np.random.default_rng(7).uniform(low, high, (500, panda.robot.dof))
    goal = cfgs[~panda.free(cfgs)][0]
    wanted = start + np.linspace(0.0, 1.0, 120)[:, None] * (goal - start)
    guard = er.Guard(panda, velocity_limits=5.0)
    found = guard.filter(wanted, times=np.linspace(0.0, 2.0, 120))
    assert len(found) == len(wanted)
    assert panda.free(found.cfgs).all()
    assert panda.segments_free(found.cfgs[:-1], found.cfgs[1:]).free.all()
    assert found.altered.any()
    assert not found.altered[0]
    assert f"{found.altered.sum()} of 119 steps altered" in str(found)
    assert " and " in str(found)
    for bad in ({}, {"dt": DT, "times": [0.0]}, {"times": np.zeros(120)}, {"times": [0.0, 1.0]}):
        with pytest.raises(InputError):
            guard.filter(wanted, **bad)


def test_noise_of_what_is_measured_breaks_no_limit(panda):
    """Towards a far goal in contact: each step, from what was measured, keeps all limits and is proved.

    The goal is well within the joints' limits, and the fingers, whose way is 4 cm, stay where they are: close to a
    limit, it goes before accelerations.
    """
    robot, rng = panda.robot, np.random.default_rng(8)
    middle = 0.5 * (robot.lower + robot.upper)
    cfgs = middle + 0.8 * (robot.random_cfgs(300, 1) - middle)
    goal, cfg, last = cfgs[~panda.free(cfgs)][0], panda.default_cfg, np.zeros(robot.dof)
    guard, noise = er.Guard(panda, acceleration_limits=10.0, budget=0.1), np.full(robot.dof, 1e-3)
    goal[-1], noise[-1] = cfg[-1], 0.0
    for _ in range(150):
        measured = cfg + rng.normal(scale=noise)
        step = guard.step(measured, goal, DT)
        assert step.proved
        assert panda.segment_free(measured, step.cfg)
        rates = (step.cfg - measured) / DT
        assert (np.abs(rates) <= guard.velocity_limits * (1 + 1e-9) + 1e-9).all()
        assert (np.abs(rates - last) <= 10.0 * DT * (1 + 1e-6)).all()
        assert (step.cfg <= np.maximum(robot.upper, measured) + 1e-12).all()
        assert (step.cfg >= np.minimum(robot.lower, measured) - 1e-12).all()
        cfg, last = step.cfg, rates
