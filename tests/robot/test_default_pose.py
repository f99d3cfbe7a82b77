"""The default pose: which named one is taken, what is guessed, and that it says so."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import elbowroom as er

from .builders import joint, link, robot_xml, write


@pytest.fixture
def description(tmp_path):
    far = '<limit lower="1" upper="2" effort="1" velocity="1"/>'
    return write(
        tmp_path,
        robot_xml(*(link(name) for name in "abc"), joint("j", "a", "b"), joint("k", "b", "c", inner=far)),
    )


def with_states(tmp_path, description, **states):
    inner = [
        f'<group_state name="{name}" group="g">'
        + "".join(f'<joint name="{j}" value="{v}"/>' for j, v in values.items())
        + "</group_state>"
        for name, values in states.items()
    ]
    return er.load_robot(description, srdf=write(tmp_path, robot_xml(*inner), "made.srdf")).default_pose


def test_without_a_state_it_is_zero_or_mid_range_and_a_guess(description):
    pose = er.load_robot(description).default_pose
    np.testing.assert_array_equal(pose.cfg, [0.0, 1.5])
    assert pose.source == "zero, mid-range where zero is outside the limits (k)"
    assert pose.guessed_joints == ("j", "k")
    assert pose.guessed


def test_the_most_telling_state_is_taken_whatever_its_case(tmp_path, description):
    both = {"j": 0.1, "k": 1.1}
    pose = with_states(tmp_path, description, hug={"j": 0.3, "k": 1.3}, Ready={"j": 0.2, "k": 1.2}, HOME=both)
    np.testing.assert_array_equal(pose.cfg, [0.1, 1.1])
    assert pose.source == "SRDF state 'HOME'"
    assert not pose.guessed
    pose = with_states(tmp_path, description, hug=both, standing_with_arm_up={"j": 0.2, "k": 1.2})
    assert pose.source == "SRDF state 'standing_with_arm_up'"
    assert with_states(tmp_path, description, hug=both).guessed  # its name tells nothing


def test_joints_that_a_state_does_not_name_are_guessed(tmp_path, description):
    pose = with_states(tmp_path, description, home={"j": 0.25})
    np.testing.assert_array_equal(pose.cfg, [0.25, 1.5])
    assert pose.guessed_joints == ("k",)
    assert pose.source.startswith("SRDF state 'home'; zero, mid-range")


def test_a_keyframe_is_taken_too(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(
        '<mujoco><worldbody><body name="a"><joint name="j"/><geom type="sphere" size="0.1"/></body></worldbody>'
        '<keyframe><key name="other" qpos="0.7"/><key name="home" qpos="0.5"/></keyframe></mujoco>'
    )
    pose = er.load_robot(path).default_pose
    np.testing.assert_array_equal(pose.cfg, [0.5])
    assert pose.source == "keyframe 'home'"
    assert not pose.guessed


def test_it_is_a_value(description):
    pose = er.load_robot(description).default_pose
    for twin in (copy.deepcopy(pose), pickle.loads(pickle.dumps(pose))):
        assert twin == pose
        assert hash(twin) == hash(pose)
        with pytest.raises(ValueError, match="read-only"):
            twin.cfg[0] = 1.0
