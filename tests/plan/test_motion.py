"""Motions: derivatives, rows at a fixed rate, how far their chords are off, and what is written comes back."""

import copy
import csv
import json
import pickle

import numpy as np
import pytest

from elbowroom import load_robot
from elbowroom.errors import FormatError, InputError, UnknownJointError
from elbowroom.plan import Motion, time_curve
from elbowroom.recordings import read_configurations

from .test_timing import ACCELERATION, VELOCITY, spline


@pytest.fixture(params=[None, 20.0], ids=["", "jerk"])
def motion(request) -> Motion:
    curve = spline(np.random.default_rng(7), 5)
    jerk = None if request.param is None else request.param * ACCELERATION
    return time_curve(curve, VELOCITY, ACCELERATION, jerk, joint_names=[f"j{k}" for k in range(1, 8)])


def test_derivatives_match_finite_differences(motion):
    middles = 0.5 * (motion.times[:-1] + motion.times[1:])  # where nothing jumps
    h = 0.01 * np.diff(motion.times)[:, None]
    for order in (1, 2, 3):
        after, before = motion.at(middles + h[:, 0], order - 1), motion.at(middles - h[:, 0], order - 1)
        scale = np.abs(motion.at(middles, order)).max()
        np.testing.assert_allclose(motion.at(middles, order), (after - before) / (2.0 * h), atol=1e-4 * scale)


def test_before_and_after_the_robot_rests(motion):
    t = [-1.0, motion.duration + 1.0]
    np.testing.assert_allclose(motion.at(t), motion.curve.waypoints[[0, -1]], atol=1e-12)
    for order in (1, 2, 3):
        assert (motion.at(t, order) == 0.0).all()
    assert motion.at(0.5).shape == (7,)
    assert motion.at(np.zeros((2, 3)), 1).shape == (2, 3, 7)


def test_places_and_speeds_never_go_back(motion):
    assert (np.diff(motion.times) > 0.0).all()
    assert (np.diff(motion.places) >= 0.0).all()
    assert (motion.rates >= 0.0).all()
    ends = motion.curve.knots[motion.pieces], motion.curve.knots[motion.pieces + 1]
    assert (motion.places[:-1] >= ends[0] - 1e-9).all()
    assert (motion.places[1:] <= ends[1] + 1e-9).all()


@pytest.mark.parametrize("rate", [7.0, 100.0, 1000.0])
def test_rows_at_a_fixed_rate_end_with_the_goal(motion, rate):
    times, rows = motion.resampled(rate)
    np.testing.assert_allclose(np.diff(times), 1.0 / rate, rtol=1e-9)
    assert times[0] == 0.0
    assert times[-2] < motion.duration <= times[-1] + 1e-9
    np.testing.assert_array_equal(rows[0], motion.curve.pieces[0, 0])
    np.testing.assert_array_equal(rows[-1], motion.curve.pieces[-1, 3])
    np.testing.assert_allclose(rows, motion.at(times), atol=1e-9)


@pytest.mark.parametrize("rate", [10.0, 100.0])
def test_chords_are_no_farther_from_the_curve_than_said(motion, rate):
    times, rows = motion.resampled(rate)
    fine = np.linspace(0.0, times[-1], 20_001)
    chords = np.stack([np.interp(fine, times, column) for column in rows.T], axis=1)
    off, bound = np.abs(motion.at(fine) - chords).max(axis=0), motion.chord_error(rate)
    assert (off <= bound + 1e-12).all()
    assert (off >= 0.3 * bound).any()  # a bound, not an excuse


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan, np.inf, "fast", 1e12])
def test_bad_rates_are_refused(motion, rate):
    with pytest.raises(InputError, match="rate"):
        motion.resampled(rate)


def test_bad_times_and_derivatives_are_refused(motion):
    with pytest.raises(InputError, match="finite"):
        motion.at(np.nan)
    with pytest.raises(InputError, match="derivative must be 0, 1, 2 or 3"):
        motion.at(0.0, 4)


def test_json_brings_it_back_bit_for_bit(motion, tmp_path):
    motion.write(tmp_path / "motion.json")
    back = Motion.read(tmp_path / "motion.json")
    t = np.linspace(0.0, motion.duration, 300)
    for order in range(4):
        np.testing.assert_array_equal(back.at(t, order), motion.at(t, order))
    assert back.joint_names == motion.joint_names
    assert repr(back) == repr(motion)
    np.testing.assert_array_equal(back.peaks, motion.peaks)
    np.testing.assert_array_equal(back.shares, motion.shares)


def test_pickles_and_copies_are_the_same_and_read_only(motion):
    for other in (pickle.loads(pickle.dumps(motion)), copy.deepcopy(motion)):
        np.testing.assert_array_equal(other.at(0.3), motion.at(0.3))
        assert not other.times.flags.writeable
        assert not other.curve.pieces.flags.writeable


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.pop("times"), "times"),
        (lambda data: data["times"].pop(), "'times' does not fit the rest"),
        (lambda data: data["times"].reverse(), "go back"),
        (lambda data: data["curve"]["pieces"][0][0].__setitem__(0, None), "finite"),
        (lambda data: data.__setitem__("pieces", [99] * len(data["pieces"])), "'pieces' does not fit"),
        (lambda data: data.__setitem__("format", "something"), "expected a motion"),
    ],
)
def test_broken_files_are_refused(motion, tmp_path, change, words):
    path = tmp_path / "motion.json"
    motion.write(path)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(FormatError, match=words):
        Motion.read(path)
    path.write_text("{")
    with pytest.raises(FormatError, match="JSON"):
        Motion.read(path)


def test_csv_is_a_table_that_check_reads(tmp_path):
    robot = load_robot("teaarm")
    rows = np.stack([robot.default_cfg, robot.default_cfg + 0.1])
    from elbowroom.plan import Curve

    motion = time_curve(Curve.polyline(rows), 1.0, 4.0, joint_names=robot.joint_names)
    path = tmp_path / "motion.csv"
    motion.write(path, rate=50.0)
    found = read_configurations(path, robot)
    times, expected = motion.resampled(50.0)
    np.testing.assert_array_equal(found.cfgs, expected)
    np.testing.assert_array_equal(found.times, times)
    motion.write(path, joints=robot.joint_names[2:4])
    with path.open() as file:
        assert next(csv.reader(file)) == ["time", *robot.joint_names[2:4]]
    with pytest.raises(UnknownJointError, match="no joint 'elbow'"):
        motion.write(path, joints=["elbow"])
    with pytest.raises(InputError, match=r"\.json or \.csv"):
        motion.write(tmp_path / "motion.txt")


def test_a_ros_trajectory(motion):
    message = motion.to_ros(50.0)
    times, rows = motion.resampled(50.0)
    assert message["joint_names"] == list(motion.joint_names)
    stamps = [p["time_from_start"]["sec"] + 1e-9 * p["time_from_start"]["nanosec"] for p in message["points"]]
    np.testing.assert_allclose(stamps, times, atol=1e-9)
    np.testing.assert_array_equal([p["positions"] for p in message["points"]], rows)
    np.testing.assert_array_equal([p["velocities"] for p in message["points"][:-1]], motion.at(times[:-1], 1))
    assert message["points"][-1]["velocities"] == [0.0] * 7
    assert json.loads(json.dumps(message)) == message
    part = motion.to_ros(50.0, joints=["j5", "j2"])
    np.testing.assert_array_equal([p["positions"] for p in part["points"]], rows[:, [4, 1]])


def test_names_must_fit():
    with pytest.raises(InputError, match="joint_names must be 7 names"):
        time_curve(spline(np.random.default_rng(0), 1), 1.0, 1.0, joint_names=["a"])
