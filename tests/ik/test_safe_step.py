"""Proved steps: limits, braking, approach and start in contact."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.collision import CollisionModel
from elbowroom.errors import InputError
from elbowroom.ik._brake import braking, rest
from elbowroom.ik._safe_options import SafeOptions
from elbowroom.ik._safe_step import SafeStep
from elbowroom.world import Box, World
from tests.rails import RAILS

DT = 0.005


@pytest.fixture(scope="module")
def rails(tmp_path_factory):
    """A cart of 0.1 that slides along x and y past a post of 0.2 at the origin: apart by max(|x|, |y|) - 0.15."""
    path = tmp_path_factory.mktemp("rails") / "rails.urdf"
    path.write_text(RAILS)
    robot = er.load_robot(path)
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    pairs = er.compute_pairs(robot, spheres, er.PairOptions(check=[("cart", "post")], buffer=0.05))
    return CollisionModel(robot, spheres, pairs)


def drive(safe: SafeStep, cfg: np.ndarray, wanted: np.ndarray, ticks: int) -> list:
    """Ticks that want the same velocity, from rest."""
    cfg, velocity, stop, made = np.array(cfg, float), np.zeros(len(cfg)), None, []
    for _ in range(ticks):
        step = safe.step(cfg, velocity, np.eye(len(cfg)), -np.asarray(wanted, float), DT, stop)
        made.append(step)
        cfg, velocity, stop = step.cfg, step.velocity, step.stop
    return made


# Braking ------------------------------------------------------------------------------------------


def test_braking_ends_before_where_it_was_said_to_end():
    """Within accelerations, on one line, and in ticks of any length: early and late ones too."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        accelerations = rng.uniform(1.0, 20.0, 5)
        begin, velocity = rng.normal(size=5), rng.normal(size=5)
        stop = rest(begin, velocity, accelerations, DT)
        cfg, last, ticks = begin + velocity * DT, velocity, 0
        while last.any():
            dt = DT * float(rng.uniform(0.2, 4.0))
            slower = braking(cfg, last, stop, accelerations, dt)
            assert (np.abs(slower - last) <= accelerations * dt * (1 + 1e-9)).all()
            cfg, last, ticks = cfg + slower * dt, slower, ticks + 1
            assert ticks < 10_000
        share = (cfg - begin) / (stop - begin)
        np.testing.assert_allclose(share, share[0], atol=1e-9)
        assert share[0] <= 1.0 + 1e-12


def test_without_limits_on_acceleration_the_stop_is_at_once():
    cfg, velocity = np.zeros(2), np.array([3.0, -1.0])
    np.testing.assert_array_equal(rest(cfg, velocity, None, DT), velocity * DT)
    np.testing.assert_array_equal(braking(cfg, velocity, None, None, DT), np.zeros(2))


# Limits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accelerations", [None, 2.0])
def test_limits_of_joints_are_reached_and_not_passed(rails, accelerations):
    safe = SafeStep(rails, 1.0, accelerations)
    made = drive(safe, [0.5, 0.0], [10.0, 0.0], 400)
    path = np.array([step.cfg for step in made])
    assert path[:, 0].max() <= rails.robot.upper[0]
    assert path[-1, 0] > rails.robot.upper[0] - 1e-3
    assert any("limit of joint x" in step.limited_by for step in made)
    assert max(np.abs(step.velocity).max() for step in made) <= 1.0 + 1e-12
    assert all(step.proved for step in made)
    if accelerations is not None:
        rates = np.array([[0.0, 0.0], *(step.velocity for step in made)])
        assert np.abs(np.diff(rates, axis=0)).max() <= accelerations * DT * (1 + 1e-9)


def test_a_joint_beyond_its_limit_may_only_come_back(rails):
    safe = SafeStep(rails, 1.0)
    outside = np.array([1.2, 0.0])
    assert drive(safe, outside, [1.0, 0.0], 1)[0].cfg[0] == outside[0]
    assert drive(safe, outside, [-1.0, 0.0], 1)[0].cfg[0] < outside[0]


def test_what_holds_back_is_named(rails):
    assert drive(SafeStep(rails, 0.5), [0.5, 0.0], [3.0, 0.0], 1)[0].limited_by == ("speed of joint x",)
    assert drive(SafeStep(rails, 5.0, 1.0), [0.5, 0.0], [3.0, 0.0], 1)[0].limited_by == (
        "acceleration of joint x",
    )
    assert drive(SafeStep(rails, 5.0), [0.5, 0.0], [-3.0, 0.0], 200)[-1].limited_by == ("cart and post",)


# Contact ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accelerations", [None, 3.0])
@pytest.mark.parametrize("clearance", [0.0, 0.02])
def test_an_approach_slows_down_and_ends_before_contact(rails, accelerations, clearance):
    """The speed never jumps up again on the way, which would be a lurch."""
    safe = SafeStep(rails, 1.0, accelerations, SafeOptions(clearance=clearance))
    made = drive(safe, [0.6, 0.0], [-1.0, 0.0], 500)
    gaps = np.array([step.cfg[0] for step in made]) - 0.15 - clearance
    assert (gaps > 0.0).all()
    assert gaps[-1] < 2e-3
    speeds = -np.array([step.velocity[0] for step in made])
    slowing = int(speeds.argmax())
    last = len(speeds) if accelerations is None else int(np.argmax(gaps < 0.005))
    assert np.diff(speeds[speeds.argmax() :]).max() <= 0.02 * speeds.max()
    assert slowing < last
    assert all(step.proved for step in made)


def test_what_is_held_back_still_slides(rails):
    """Pressed against the post, the cart moves along it."""
    made = drive(SafeStep(rails, 1.0), [0.2, 0.0], [-1.0, 0.3], 200)
    assert made[-1].cfg[1] > 0.25
    assert rails.segments_free(
        np.array([[0.2, 0.0], *(s.cfg for s in made[:-1])]), np.array([s.cfg for s in made])
    ).free.all()


def test_a_start_in_contact_may_only_be_left(rails):
    safe = SafeStep(rails, 1.0)
    inside = np.array([0.12, 0.0])
    assert not rails.free(inside)
    deeper = drive(safe, inside, [-1.0, 0.0], 20)
    assert deeper[-1].cfg[0] >= inside[0] - 1e-6
    out = drive(safe, inside, [1.0, 0.0], 20)
    assert rails.free(out[-1].cfg)
    assert np.diff([step.cfg[0] for step in out]).min() > 0.0


def test_a_start_within_the_clearance_comes_no_closer(rails):
    safe = SafeStep(rails, 1.0, None, SafeOptions(clearance=0.05))
    near = np.array([0.17, 0.0])
    for wanted, sign in (([-1.0, 0.0], 0.0), ([1.0, 0.0], 1.0)):
        end = drive(safe, near, wanted, 10)[-1].cfg
        assert end[0] >= near[0] - 2e-5
        assert (end[0] > near[0] + 1e-3) == (sign > 0.0)


@pytest.mark.parametrize("accelerations", [None, 3.0])
def test_obstacles_hold_back_as_links_do(rails, accelerations):
    wall = World([Box((0.1, 2.0, 2.0), pose=[1, 0, 0, 0, 0.8, 0.0, 0.0], name="wall")])
    model = rails.with_world(wall)
    made = drive(SafeStep(model, 1.0, accelerations), [0.4, 0.0], [1.0, 0.0], 400)
    assert 0.698 < made[-1].cfg[0] < 0.70  # the wall begins at 0.75, the cart is 0.05 to each side
    assert "cart and wall" in made[-1].limited_by
    assert all(step.proved for step in made)


def test_a_robot_that_is_off_the_proved_line_says_so(rails):
    """Fast, close to the post and with no stop that was proved: it brakes and does not claim more."""
    safe = SafeStep(rails, 2.0, 1.0)
    step = safe.step(np.array([0.2, 0.0]), np.array([-2.0, 0.0]), np.eye(2), np.zeros(2), DT)
    assert not step.proved
    assert step.stop is None
    assert abs(step.velocity[0]) < 2.0


def test_limits_that_make_no_sense_are_refused(rails):
    for bad in (-1.0, np.nan, [1.0, 2.0, 3.0], "fast"):
        with pytest.raises(InputError, match="limits"):
            SafeStep(rails, bad)
    with pytest.raises(InputError, match="acceleration"):
        SafeStep(rails, 1.0, 0.0)
