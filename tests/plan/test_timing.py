"""Speeds along curves: limits kept between the rows too, as fast as toppra, stops where they must be, bad limits refused."""

import itertools

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from elbowroom import load_robot
from elbowroom.errors import InputError
from elbowroom.plan import Curve, Motion, PlanOptions, time_curve
from elbowroom.plan.internal import limits_of
from tests.timing_oracle import toppra_duration

VELOCITY = np.array([2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61])
ACCELERATION = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])
ROUNDING = 1e-6
"""Relative: what differences of rounded rows add to a derivative (third differences at 1 kHz: 1e-6 of 100 rad/s^3)."""


def spline(rng: np.random.Generator, pieces: int, dof: int = 7, spread: float = 1.5) -> Curve:
    """Through random waypoints, its second derivative continuous."""
    rows = rng.uniform(-spread, spread, size=(pieces + 1, dof))
    knots = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(rows, axis=0), axis=1))])
    slopes = CubicSpline(knots, rows, bc_type="natural")(knots, 1)
    thirds = np.diff(knots)[:, None] / 3.0
    inner = rows[:-1] + thirds * slopes[:-1], rows[1:] - thirds * slopes[1:]
    stops = np.zeros(pieces + 1, dtype=np.bool_)
    stops[[0, -1]] = True
    return Curve(np.stack([rows[:-1], *inner, rows[1:]], axis=1), knots, stops)


def planned(rng: np.random.Generator, corners: int) -> Curve:
    """As smoothing makes it: straight lines with many short pieces around the corners."""
    rows = np.cumsum(rng.uniform(-1.0, 1.0, size=(corners + 2, 7)), axis=0)
    dense = np.concatenate([np.linspace(a, b, 9)[:-1] for a, b in itertools.pairwise(rows)] + [rows[-1:]])
    for _ in range(3):
        dense[1:-1] = 0.25 * dense[:-2] + 0.5 * dense[1:-1] + 0.25 * dense[2:]
    knots = np.arange(len(dense), dtype=np.float64)
    slopes = CubicSpline(knots, dense, bc_type="natural")(knots, 1)
    inner = dense[:-1] + slopes[:-1] / 3.0, dense[1:] - slopes[1:] / 3.0
    stops = np.zeros(len(dense), dtype=np.bool_)
    stops[[0, -1]] = True
    return Curve(np.stack([dense[:-1], *inner, dense[1:]], axis=1), knots, stops)


def assert_kept(motion: Motion, velocity, acceleration, jerk=None) -> None:
    """By derivatives within the intervals and at their ends, and by differences of rows at 1 kHz."""
    inside = np.concatenate(
        [motion.times[:-1] + share * np.diff(motion.times) for share in (0.0, 0.3, 0.7, 1 - 1e-9)]
    )
    _, rows = motion.resampled(1000.0)
    for order, limit in enumerate((velocity, acceleration, jerk), 1):
        if limit is None:
            continue
        assert (np.abs(motion.at(inside, order)) <= limit * (1.0 + 1e-9)).all()
        rest = np.repeat(rows[[0, -1]], 3, axis=0)  # before and after, the robot stands
        padded = np.concatenate([rest[:3], rows, rest[3:]])
        by_difference = np.diff(padded, order, axis=0) * 1000.0**order
        assert (np.abs(by_difference) <= limit * (1.0 + ROUNDING)).all()


@pytest.fixture(scope="module")
def curves() -> list[Curve]:
    """A hundred paths of the panda's seven joints, from one piece to sixty."""
    rng = np.random.default_rng(14)
    return [
        *(spline(rng, pieces) for pieces in [1, 2, 3, 5, 8, 13, 20] * 6),
        *(planned(rng, corners) for corners in [0, 1, 2, 3, 4, 7] * 8),
        *(spline(rng, 6, spread=0.05) for _ in range(10)),
    ]


def test_limits_are_kept_everywhere_on_a_hundred_paths(curves):
    assert len(curves) == 100
    for curve in curves:
        motion = time_curve(curve, VELOCITY, ACCELERATION)
        assert_kept(motion, VELOCITY, ACCELERATION)
        # a limit is used up to the last per cent somewhere: nothing is wasted
        assert 0.99 < motion.shares.max() <= 1.0
        sampled = np.abs(motion.at(np.linspace(0.0, motion.duration, 2000), 2)).max(axis=0)
        assert (sampled <= motion.peaks[1] * (1.0 + 1e-12)).all()


def test_as_fast_as_toppra_on_a_hundred_paths(curves):
    pytest.importorskip("toppra")
    ratios = [
        time_curve(curve, VELOCITY, ACCELERATION).duration / toppra_duration(curve, VELOCITY, ACCELERATION)
        for curve in curves
    ]
    assert min(ratios) > 0.98, min(ratios)  # toppra keeps limits at its grid points alone, we everywhere
    assert max(ratios) < 1.05, max(ratios)
    assert np.median(ratios) < 1.01


@pytest.mark.parametrize(
    ("length", "speed", "acceleration", "expected"),
    [(2.0, 1.0, 4.0, 2.25), (1.0, np.inf, 4.0, 1.0), (0.25, 1.0, 4.0, 0.5)],
)
def test_a_straight_line_is_passed_as_by_hand(length, speed, acceleration, expected):
    motion = time_curve(Curve.polyline([[0.0, 1.0], [length, 1.0]]), speed, acceleration)
    assert motion.duration == pytest.approx(expected, rel=1e-3)
    assert motion.duration >= expected


def test_the_robot_stops_at_stops_and_where_the_direction_jumps():
    path = Curve.polyline([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [2.0, 3.0]])
    motion = time_curve(path, 1.0, 4.0)
    assert motion.duration == pytest.approx(2.0 + 0.25 + 1.0 + 0.25, rel=1e-3)
    corner = motion.times[np.searchsorted(motion.places, path.knots[2])]
    assert np.abs(motion.at(corner, 1)).max() < 1e-9
    assert np.abs(motion.at([corner - 1e-3, corner + 1e-3], 1)).max() < 5e-3
    assert_kept(motion, 1.0, 4.0)
    unmarked = Curve(path.pieces, path.knots, np.array([True, False, False, True]))
    assert time_curve(unmarked, 1.0, 4.0).duration == motion.duration


def test_durations_do_not_depend_on_how_the_parameter_runs():
    curve = spline(np.random.default_rng(3), 6)
    scaled = Curve(curve.pieces, curve.knots * 1e4, curve.stops)
    assert time_curve(scaled, VELOCITY, ACCELERATION).duration == pytest.approx(
        time_curve(curve, VELOCITY, ACCELERATION).duration, rel=1e-9
    )


def test_half_the_limits_take_twice_the_time():
    curve = spline(np.random.default_rng(4), 6)
    fast, slow = time_curve(curve, VELOCITY, ACCELERATION), time_curve(curve, VELOCITY / 2, ACCELERATION / 4)
    assert slow.duration == pytest.approx(2.0 * fast.duration, rel=1e-6)


def test_joints_that_never_move_do_not_count():
    path = Curve.polyline([[0.0, 5.0], [1.0, 5.0]])
    assert time_curve(path, [1.0, 1e-9], [4.0, 1e-9], [40.0, 1e-9]).duration < 1.5


def test_no_way_takes_no_time():
    motion = time_curve(Curve.polyline([[1.0, 2.0], [1.0, 2.0]]), 1.0, 4.0, 40.0)
    assert motion.duration == 0.0
    times, rows = motion.resampled(100.0)
    np.testing.assert_array_equal(times, [0.0])
    np.testing.assert_array_equal(rows, [[1.0, 2.0]])
    np.testing.assert_array_equal(motion.at([0.0, 1.0], 1), np.zeros((2, 2)))
    np.testing.assert_array_equal(motion.chord_error(100.0), [0.0, 0.0])


@pytest.mark.parametrize("hardness", [10.0, 50.0, 500.0])
def test_jerk_limits_are_kept(hardness):
    rng = np.random.default_rng(5)
    for curve in (
        spline(rng, 1),
        spline(rng, 6),
        planned(rng, 3),
        Curve.polyline(rng.uniform(-1, 1, (4, 7))),
    ):
        jerk = hardness * ACCELERATION
        motion = time_curve(curve, VELOCITY, ACCELERATION, jerk)
        assert_kept(motion, VELOCITY, ACCELERATION, jerk)
        assert motion.shares.max() <= 1.0
        without = time_curve(curve, VELOCITY, ACCELERATION).duration
        sections = curve.stops.sum() - 1
        assert without < motion.duration <= without * 1.02 + 4.5 * sections / hardness
        t = np.linspace(0.0, motion.duration, 500)  # the same curve
        np.testing.assert_allclose(motion.at(t)[[0, -1]], curve.waypoints[[0, -1]], atol=1e-9)


def double_s(length: float, speed: float, acceleration: float, jerk: float) -> float:
    """Duration of the fastest motion along a line from rest to rest (Biagiotti and Melchiorri, 2008, 3.4)."""
    acceleration = min(acceleration, np.sqrt(speed * jerk), (length * jerk**2 / 2.0) ** (1.0 / 3.0))
    rise = acceleration / jerk
    reached = 0.5 * (np.sqrt(acceleration**2 * rise**2 + 4.0 * acceleration * length) - acceleration * rise)
    speed = min(speed, reached)
    return length / speed + speed / acceleration + rise


@pytest.mark.parametrize(
    ("question", "most"),
    [((2.0, 1.0, 4.0, 40.0), 1.01), ((2.0, 1.0, np.inf, 40.0), 1.02), ((0.3, 2.0, 4.0, 40.0), 1.2),
     ((0.01, 2.0, 4.0, 40.0), 1.2)],
)  # fmt: skip
def test_a_line_with_jerk_limits_is_near_the_fastest_there_is(question, most):
    length, *limits = question
    motion = time_curve(Curve.polyline([[0.0], [length]]), *limits)
    best = double_s(*question)
    assert best * 0.999 <= motion.duration <= best * most


def test_under_jerk_limits_the_robot_stops_where_the_curvature_jumps():
    straight = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    bent = np.array([[3.0, 0.0], [4.0, 0.0], [5.0, 1.0], [5.0, 3.0]])  # the same direction, at once curved
    curve = Curve(np.stack([straight, bent]), np.array([0.0, 1.0, 2.0]), np.array([True, False, True]))
    passed, stopped = time_curve(curve, 1.0, 4.0), time_curve(curve, 1.0, 4.0, 40.0)
    assert_kept(passed, 1.0, 4.0)
    assert_kept(stopped, 1.0, 4.0, 40.0)
    inner = np.abs(passed.at(np.linspace(0.2, passed.duration - 0.2, 500), 1)).max(axis=1)
    assert inner.min() > 0.3
    corner = stopped.times[np.searchsorted(stopped.places, 1.0)]
    assert np.abs(stopped.at(corner, 1)).max() < 1e-6


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ((0.0, 1.0), "velocity must be above zero, found 0.0"),
        ((np.nan, 1.0), "velocity must be above zero, found nan"),
        ((1.0, -1.0), "acceleration must be above zero, found -1.0"),
        (([1.0, 2.0, 3.0], 1.0), "velocity must be one number or 2"),
        ((1.0, "fast"), "acceleration must be one number or 2, found 'fast'"),
        ((1.0, 1.0, 0.0), "jerk must be above zero"),
        (
            ([1.0, np.inf], [1.0, np.inf]),
            "joint 1 moves: its velocity or its acceleration must have a finite limit",
        ),
    ],
)
def test_bad_limits_are_refused(limits, words):
    with pytest.raises(InputError, match=words):
        time_curve(Curve.polyline([[0.0, 0.0], [1.0, 1.0]]), *limits)


def test_infinite_limits_of_one_kind_are_none():
    path = Curve.polyline([[0.0, 0.0], [1.0, 0.5]])
    assert time_curve(path, np.inf, 4.0).duration == pytest.approx(1.0, rel=1e-6)
    assert time_curve(path, 1.0, np.inf).duration == pytest.approx(1.0, rel=0.05)  # at once, within the grid
    assert time_curve(path, 1.0, 4.0, np.inf).duration == time_curve(path, 1.0, 4.0).duration


def test_limits_of_robots_and_options():
    robot = load_robot("teaarm")
    velocity, acceleration, jerk = limits_of(robot, PlanOptions()).speeds
    np.testing.assert_array_equal(velocity, robot.velocity_limits)
    np.testing.assert_allclose(acceleration, 10.0 * velocity)
    assert jerk is None
    velocity, acceleration, jerk = limits_of(robot, PlanOptions(velocity_limits=2.0, jerk_limits=50.0)).speeds
    assert (velocity == 2.0).all()
    assert (acceleration == 20.0).all()
    assert (jerk == 50.0).all()
    for bad in ({"velocity_limits": 0.0}, {"acceleration_limits": [1.0, 2.0]}, {"jerk_limits": np.nan}):
        with pytest.raises(InputError, match=f"PlanOptions: {next(iter(bad))} must be"):
            limits_of(robot, PlanOptions(**bad))


def test_a_robot_that_states_no_speed_gets_a_usual_one(tmp_path):
    urdf = tmp_path / "one.urdf"
    urdf.write_text(
        '<robot name="one"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/>'
        '<child link="b"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="0" velocity="0"/></joint></robot>'
    )
    velocity, acceleration, _ = limits_of(load_robot(urdf), PlanOptions()).speeds
    assert velocity.tolist() == [3.0]
    assert acceleration.tolist() == pytest.approx([30.0])
