"""The bridge to robosuite, with a stand-in that has the parts of robosuite 1.5.2 it meets, and MuJoCo behind it.

robosuite 1.5.2 does not run with MuJoCo 4 (it asks whether an integer is one of MuJoCo's enumerations), so the real
package is not part of this environment. It was run by hand beside MuJoCo 3.3.
"""

from __future__ import annotations

import sys
import types
from collections import OrderedDict
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import InputError, MissingExtraError

from .test_mujoco import TWO_ARMS

SERVOS = "".join(f'<position name="m{j}" joint="{j}" kp="50" kv="5"/>' for j in ("ja", "jb"))


class Wrapper:
    """robosuite.wrappers.Wrapper: hands everything on."""

    def __init__(self, env):
        self.env = env

    def step(self, action):
        return self.env.step(action)

    def reset(self):
        return self.env.reset()


class Part:
    """parts.generic.JointPositionController with `input_type="delta"`: the goal is a change from where it is."""

    name, interpolator = "JOINT_POSITION", None

    def __init__(self, data, index):
        self.data, self.joint_index, self.qpos_index, self.goal_qpos = data, index, index, None

    def set_goal(self, action, set_qpos=None):
        self.goal_qpos = self.data.qpos[self.qpos_index] + 0.1 * np.asarray(action)


class Composite:
    """composite.CompositeController with one part an arm."""

    grippers: dict = {}  # noqa: RUF012

    def __init__(self, part):
        self.part_controllers = OrderedDict(right=part)

    def update_state(self):
        pass

    def set_goal(self, all_action):
        self.part_controllers["right"].set_goal(all_action)


class Env:
    """environments.RobotEnv with two robots of one joint each; position servos follow the goals."""

    control_timestep = 0.05
    action_spec = (-np.ones(2), np.ones(2))

    def __init__(self):
        self.mj = mujoco.MjModel.from_xml_string(TWO_ARMS.format(SERVOS))
        self.sim = SimpleNamespace(model=SimpleNamespace(_model=self.mj), data=mujoco.MjData(self.mj))
        self.reset()

    def reset(self):
        mujoco.mj_resetData(self.mj, self.sim.data)
        self.sim.data.qpos[:] = 1.2, -1.2
        mujoco.mj_forward(self.mj, self.sim.data)
        self.robots = [
            SimpleNamespace(
                composite_controller=Composite(Part(self.sim.data, [k])), action_dim=1, arms=["right"],
                robot_joints=[self.mj.joint(k).name], robot_model=SimpleNamespace(naming_prefix=f"robot{k}_"),
            )
            for k in range(2)
        ]  # fmt: skip
        self.contacts = 0
        return {}

    def step(self, action):
        for k, robot in enumerate(self.robots):  # each sets its goal in its turn, as `Robot.control` does
            robot.composite_controller.set_goal(action[k : k + 1])
            self.sim.data.ctrl[k] = robot.composite_controller.part_controllers["right"].goal_qpos[0]
        for _ in range(10):
            mujoco.mj_step(self.mj, self.sim.data)
            self.contacts += self.sim.data.ncon > 0
        return {}, 0.0, False, {}


@pytest.fixture
def GuardedEnv(monkeypatch):
    package, wrappers = types.ModuleType("robosuite"), types.ModuleType("robosuite.wrappers")
    wrappers.Wrapper = Wrapper
    monkeypatch.setitem(sys.modules, "robosuite", package)
    monkeypatch.setitem(sys.modules, "robosuite.wrappers", wrappers)
    monkeypatch.delitem(sys.modules, "elbowroom.bridges.robosuite", raising=False)
    from elbowroom.bridges.robosuite import GuardedEnv

    yield GuardedEnv
    sys.modules.pop("elbowroom.bridges.robosuite", None)


def test_two_robots_that_collide_do_not_behind_the_guard(GuardedEnv):
    env = Env()
    for _ in range(200):
        env.step(np.array([1.0, -1.0]))
    assert env.contacts > 20
    guarded = GuardedEnv(env, velocity_limits=2.0)
    guarded.reset()
    said = [guarded.step(np.array([1.0, -1.0]))[3]["guard"] for _ in range(200)]
    assert env.contacts == 0
    assert all(one["proved"] for one in said)
    assert said[-1]["altered"]
    assert any("a and b" in one["limited_by"] for one in said)


def test_what_is_free_is_done_as_it_is(GuardedEnv):
    env = Env()
    guarded = GuardedEnv(env, velocity_limits=5.0)
    said = guarded.step(np.array([-0.5, 0.5]))[3]["guard"]
    assert not said["altered"]
    goals = [robot.composite_controller.part_controllers["right"].goal_qpos[0] for robot in env.robots]
    np.testing.assert_allclose(goals, [1.2 - 0.05, -1.2 + 0.05], atol=1e-12)


@pytest.mark.parametrize(
    ("action", "said"), [([0.0], "expected 2 finite numbers"), ([0.0, np.nan], "NaN or infinite entries")]
)
def test_bad_actions_are_refused_and_nothing_moves(GuardedEnv, action, said):
    env = Env()
    guarded = GuardedEnv(env)
    with pytest.raises(InputError, match=said):
        guarded.step(action)
    assert env.sim.data.time == 0.0


def test_what_does_not_fit_is_refused(GuardedEnv, monkeypatch):
    with pytest.raises(InputError, match=r"robosuite\.make\(\), found a object"):
        GuardedEnv(object())
    with pytest.raises(InputError, match="joints cannot be mapped"):
        GuardedEnv(Env(), er.CollisionModel(er.load_robot("teaarm")))
    monkeypatch.setattr(Part, "name", "OSC_POSE")
    with pytest.raises(InputError, match="right of robot0_: OSC_POSE.*'type': 'JOINT_POSITION'"):
        GuardedEnv(Env())


def test_without_robosuite_the_install_line_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "robosuite", None)
    monkeypatch.setitem(sys.modules, "robosuite.wrappers", None)
    monkeypatch.delitem(sys.modules, "elbowroom.bridges.robosuite", raising=False)
    with pytest.raises(MissingExtraError, match="pip install robosuite"):
        import elbowroom.bridges.robosuite  # noqa: F401
