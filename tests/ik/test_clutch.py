"""Which targets have hold of the robot: clutches, relative targets, lost and late ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from elbowroom.errors import InputError
from elbowroom.ik import AxisTarget, JointTarget, LookAt, PoseTarget, PositionTarget
from elbowroom.ik.track._clutch import Clutches, as_met, moved_since
from elbowroom.ik.track._options import TrackOptions
from elbowroom.ik.track._tracker import TargetHistory

DT = 0.01


def _pose(seed: int) -> np.ndarray:
    row = np.random.default_rng(seed).normal(size=7)
    row[:4] /= np.linalg.norm(row[:4])
    return row


def _rotation(pose: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(pose[[1, 2, 3, 0]]).as_matrix()


def test_a_target_as_the_robot_meets_it():
    pose = _pose(1)
    R, p = _rotation(pose), pose[4:]
    assert np.allclose(_rotation(as_met(PoseTarget("a", _pose(2)), pose, 0.0).pose), R)
    point = as_met(PositionTarget("a", np.zeros(3), point=np.array([0.1, 0.2, 0.3])), pose, 0.0)
    assert np.allclose(point.position, R @ [0.1, 0.2, 0.3] + p)
    axis = as_met(AxisTarget("a", np.array([1.0, 0, 0]), axis=np.array([0.0, 1, 0])), pose, 0.0)
    assert np.allclose(axis.direction, R[:, 1])
    seen = as_met(LookAt("a", p + np.array([0.0, 0.0, 0.7])), pose, 0.0)
    assert np.allclose(seen.point, p + 0.7 * R[:, 2])
    joint = as_met(JointTarget("j", 1.0, weight=2.0), None, 0.25)
    assert (joint.value, joint.weight) == (0.25, 2.0)


def test_motion_since_the_clutch_closed_is_applied_about_world_axes():
    now, then, held = _pose(3), _pose(4), _pose(5)
    found = moved_since(PoseTarget("a", now), PoseTarget("a", then), PoseTarget("a", held)).pose
    assert np.allclose(found[4:], held[4:] + now[4:] - then[4:])
    assert np.allclose(_rotation(found), _rotation(now) @ _rotation(then).T @ _rotation(held))
    joint = moved_since(JointTarget("j", 0.5), JointTarget("j", 0.4), JointTarget("j", -1.0))
    assert joint.value == pytest.approx(-0.9)


class Hand:
    """A link that stands where it is told."""

    def __init__(self) -> None:
        self.place = np.zeros(3)

    def met(self, target):
        return as_met(target, np.concatenate([[1.0, 0, 0, 0], self.place]), 0.0)


def test_an_open_clutch_keeps_the_place_where_the_link_comes_to_rest():
    hand, clutches = Hand(), Clutches(relative=False)
    target = [PositionTarget("a", np.array([1.0, 0, 0]))]
    clutches.update(target, True, hand.met, DT, moving=True)
    assert np.allclose(clutches.asked[0].position, [1, 0, 0])
    for x, moving in ((0.1, True), (0.2, True), (0.25, False), (0.3, False)):
        hand.place = np.array([x, 0.0, 0.0])
        clutches.update(target, False, hand.met, DT, moving=moving)
        assert not clutches.closed
    assert np.allclose(clutches.asked[0].position, [0.25, 0, 0])


def test_a_relative_clutch_asks_for_nothing_when_it_closes():
    hand, clutches = Hand(), Clutches(relative=True)
    hand.place = np.array([0.3, 0.0, 0.0])
    clutches.update([PositionTarget("a", np.array([5.0, 0, 0]))], True, hand.met, DT, moving=False)
    assert np.allclose(clutches.asked[0].position, [0.3, 0, 0])
    clutches.update([PositionTarget("a", np.array([5.1, 0, 0]))], True, hand.met, DT, moving=False)
    assert np.allclose(clutches.asked[0].position, [0.4, 0, 0])
    clutches.update([PositionTarget("a", np.array([7.0, 0, 0]))], False, hand.met, DT, moving=False)
    clutches.update([PositionTarget("a", np.array([9.0, 0, 0]))], True, hand.met, DT, moving=False)
    assert np.allclose(clutches.asked[0].position, [0.3, 0, 0])


def test_each_link_has_its_own_clutch_and_a_lost_one_stays():
    hand, clutches = Hand(), Clutches(relative=False)
    a, b = PositionTarget("a", np.array([1.0, 0, 0])), PositionTarget("b", np.array([2.0, 0, 0]))
    clutches.update([a, b], {"a": False}, hand.met, DT, moving=False)
    assert np.allclose([item.position[0] for item in clutches.asked], [0.0, 2.0])
    clutches.update([a], True, hand.met, DT, moving=False)
    assert np.allclose([item.position[0] for item in clutches.asked], [1.0, 0.0])
    assert clutches.closed_for() == [DT, np.inf]


def _phases(watch: TargetHistory, ticks: int, given: bool = True, *, stamp=None, now=None, clutch_open=False):
    return [watch.see(given, clutch_open, stamp, now, DT)[0] for _ in range(ticks)]


def test_lost_targets_are_kept_then_the_robot_stops_then_they_are_followed_again():
    watch = TargetHistory(TrackOptions(stale_after=0.05, hold_for=0.1))
    assert _phases(watch, 3) == ["follow"] * 3
    assert _phases(watch, 12, given=False) == ["keep"] * 10 + ["brake"] * 2
    assert _phases(watch, 1) == ["follow"]


def test_without_resume_the_clutch_has_to_be_opened_first():
    watch = TargetHistory(TrackOptions(stale_after=0.05, hold_for=0.1, resume=False))
    _phases(watch, 1)
    _phases(watch, 12, given=False)
    assert _phases(watch, 2) == ["brake"] * 2
    assert _phases(watch, 1, clutch_open=True) == ["brake"]
    assert _phases(watch, 1) == ["follow"]


def test_a_stamp_that_stays_the_same_grows_old():
    watch = TargetHistory(TrackOptions(stale_after=0.045, hold_for=0.1))
    assert _phases(watch, 5, stamp=7.0) == ["follow"] * 5  # new, then up to four ticks old
    assert _phases(watch, 10, stamp=7.0) == ["keep"] * 10
    assert _phases(watch, 1, stamp=7.0) == ["brake"]
    assert _phases(watch, 1, stamp=7.1) == ["follow"]


def test_a_clock_tells_the_age_of_a_target():
    watch = TargetHistory(TrackOptions(stale_after=0.05, hold_for=0.1))
    assert _phases(watch, 1, stamp=100.0, now=100.04) == ["follow"]
    assert _phases(watch, 1, stamp=100.01, now=100.08) == ["keep"]
    assert _phases(watch, 1, stamp=100.02, now=100.3) == ["brake"]
    with pytest.raises(InputError, match="stamp"):
        watch.see(True, False, None, 3.0, DT)


def test_targets_out_of_order_are_not_followed_and_a_sender_may_start_again():
    watch = TargetHistory(TrackOptions(stale_after=0.05, hold_for=0.1))
    watch.see(True, False, 5.0, None, DT)
    watch.see(True, False, 4.0, None, DT)
    assert watch.outdated
    _phases(watch, 20, given=False)
    assert watch.given_up
    assert _phases(watch, 2, stamp=0.01)[0] == "follow"
    assert not watch.outdated


@pytest.mark.parametrize(
    "wrong",
    [{"gain": 0.0}, {"gain": np.nan}, {"hold_for": -1.0}, {"on_bad_target": "shrug"}, {"damping": 0.0}],
)
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        TrackOptions(**wrong)
