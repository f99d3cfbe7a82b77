"""A guard around a robot of GELLO. GELLO is not on PyPI: the stand-in has the four methods of its protocol."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.bridges.gello import GuardedRobot
from elbowroom.errors import InputError


class Arm:
    """As GELLO's robots: joints, then a gripper from 0 to 1."""

    def __init__(self, cfg):
        self.state, self.sent = np.append(cfg, 0.0), []

    def num_dofs(self):
        return len(self.state)

    def get_joint_state(self):
        return self.state

    def command_joint_state(self, joint_state):
        assert len(joint_state) == self.num_dofs()
        self.sent.append(np.array(joint_state))
        self.state = self.state + 0.8 * (self.sent[-1] - self.state)  # it lags

    def get_observations(self):
        return {"joint_positions": self.state, "gripper_position": self.state[-1:]}


@pytest.fixture(scope="module")
def tea(load):
    return er.CollisionModel(load("teaarm"))


@pytest.fixture
def guarded(tea):
    arm = Arm(tea.robot.named_cfgs["arms_forward"])
    return arm, GuardedRobot(arm, tea, joints=[*tea.robot.joint_names, None], hz=50, clearance=0.005)


def test_a_leader_that_collides_is_followed_as_far_as_is_free(tea, guarded):
    arm, robot = guarded
    goal = np.append(tea.robot.named_cfgs["self_collision"], 1.0)
    states = []
    for _ in range(150):
        robot.command_joint_state(goal)
        assert robot.last.proved
        states.append(robot.get_joint_state()[:-1])
    assert tea.free(np.array([row[:-1] for row in arm.sent])).all()
    assert tea.free(np.array(states)).all()
    assert not tea.free(goal[:-1])
    assert robot.last.altered
    assert all(row[-1] == 1.0 for row in arm.sent)  # the gripper passes
    assert robot.get_observations()["gripper_position"][0] > 0.9
    assert robot.num_dofs() == 17


def test_a_safe_command_passes_as_it_is(guarded):
    arm, robot = guarded
    wanted = arm.state + 1e-3
    robot.command_joint_state(wanted)
    np.testing.assert_array_equal(arm.sent[0], wanted)
    assert not robot.last.altered


def test_bad_commands_are_refused_and_nothing_is_sent(guarded):
    arm, robot = guarded
    with pytest.raises(InputError, match="expected 17 numbers"):
        robot.command_joint_state(np.zeros(7))
    with pytest.raises(InputError, match="is nan; send finite numbers"):
        robot.command_joint_state(np.full(17, np.nan))
    assert arm.sent == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"joints": ["waist_yaw"]}, "joints: the robot has 17 entries, a gripper included"),
        ({"joints": [*"abcdefghijklmnopq"]}, "not a joint of teaarm: a, b.*lack: waist_yaw"),
        ({"hz": 0}, "hz must be commands a second above zero"),
        ({"units": None}, "units: say what one unit is"),
        ({"robot": object()}, "expected one of GELLO's.*lacks num_dofs, get_joint_state"),
    ],
)
def test_what_does_not_fit_is_refused(tea, change, said):
    given = {
        "robot": Arm(tea.robot.default_cfg),
        "joints": [*tea.robot.joint_names, None],
        "hz": 50,
        **change,
    }
    with pytest.raises(InputError, match=said):
        GuardedRobot(given.pop("robot"), tea, **given)
