"""Proved steps: limits, braking, approach and start in contact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

import elbowroom as er
from elbowroom import _core
from elbowroom.collision import CollisionModel
from elbowroom.errors import InputError
from elbowroom.ik.track._step import PROVED, SafeOptions, SafeStep
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


@dataclass
class Made:
    """A step of the core with names."""

    cfg: np.ndarray
    velocity: np.ndarray
    limited_by: tuple[str, ...]
    proved: bool


def drive(
    safe: SafeStep, cfg, wanted, ticks: int, *, velocity=(0.0, 0.0), dts: Sequence[float] = (DT,)
) -> list[Made]:
    """Ticks that want the same velocity."""
    loop, made = _core.StepLoop(), []
    loop.place(np.array(cfg, float), np.array(velocity, float))
    for k in range(ticks):
        after, rate, held, _, marks = safe.core.step(
            loop, np.eye(len(cfg)), -np.asarray(wanted, float), dts[k % len(dts)], 10.0
        )
        made.append(Made(after, rate, safe.words(held), bool(marks & PROVED)))
    return made


# Braking ------------------------------------------------------------------------------------------


def test_braking_ends_before_where_it_was_said_to_end(rails):
    """Within accelerations, on one line, and in ticks of any length: early and late ones too."""
    rng, accelerations = np.random.default_rng(0), np.array([3.0, 7.0])
    safe = SafeStep(rails, 1.0, accelerations)
    for _ in range(20):
        loop, velocity = _core.StepLoop(), rng.uniform(-0.5, 0.5, 2)
        loop.place(np.array([-0.6, 0.3]), velocity)
        safe.core.step(loop, np.eye(2), -velocity, DT, 10.0)
        stop, path = loop.stop(), []
        begin, last = np.array([-0.6, 0.3]), velocity
        for k in range(200):
            dt = DT * float(rng.uniform(0.2, 4.0))
            after, rate, *_ = safe.core.step(loop, np.eye(2), np.zeros(2), dt, 0.0)  # no time: brakes
            if k:
                assert (np.abs(rate - last) <= accelerations * dt * (1 + 1e-9)).all()
            path.append(after)
            last = rate
        assert not last.any()
        share = (path[-1] - begin) / (stop - begin)
        np.testing.assert_allclose(share, share[0], atol=1e-6)
        assert share[0] <= 1.0 + 1e-12


def test_without_limits_on_acceleration_the_stop_is_at_once(rails):
    step = drive(SafeStep(rails, 1.0), [0.6, 0.0], [0.0, 0.0], 1, velocity=(1.0, -1.0))[0]
    np.testing.assert_array_equal(step.velocity, np.zeros(2))


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
    step = drive(safe, [0.2, 0.0], [0.0, 0.0], 1, velocity=(-2.0, 0.0))[0]
    assert not step.proved
    assert abs(step.velocity[0]) < 2.0


def test_limits_that_make_no_sense_are_refused(rails):
    for bad in (-1.0, np.nan, [1.0, 2.0, 3.0], "fast"):
        with pytest.raises(InputError, match="limits"):
            SafeStep(rails, bad)
    with pytest.raises(InputError, match="acceleration"):
        SafeStep(rails, 1.0, 0.0)
