"""The guard of position actuators, in MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import elbowroom as er
from elbowroom.bridges.mujoco import ActuatorGuard
from elbowroom.errors import InputError

from .arms import ACCELERATION, CLEARANCE, DT, KINDS, STEPS, ArmEnv, hulled, policy, simulation

TWO_ARMS = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.005" gravity="0 0 0"/>
  <worldbody>
    <body name="base"><geom size=".05"/>
      <body name="a" pos="-.3 0 0"><joint name="ja" axis="0 0 1" range="-3 3" limited="true" damping="1"/>
        <geom type="capsule" fromto="-.1 0 0 -.4 0 0" size=".03"/></body>
      <body name="b" pos=".3 0 0"><joint name="jb" axis="0 0 1" range="-3 3" limited="true" damping="1"/>
        <geom type="capsule" fromto=".1 0 0 .4 0 0" size=".03"/></body>
    </body>
  </worldbody>
  <contact><exclude body1="base" body2="a"/><exclude body1="base" body2="b"/></contact>
  <actuator>{}</actuator>
</mujoco>
"""
SERVOS = (
    '<position name="ma" joint="ja" kp="50" kv="5"/><position name="mb" joint="jb" kp="50" kv="5" gear="2"/>'
)
BALL = '<worldbody><body name="ball" pos="0 2 0"><freejoint/><geom size=".02"/></body>'
"""Before the arms: their joints are not the first of `qpos`."""
BEGIN = {"ja": 1.2, "jb": -1.2}
MEET = (3.0, -3.0)
"""Angles at which the arms are apart, and at which they meet."""


@pytest.fixture(scope="module")
def arms():
    text = TWO_ARMS.format(SERVOS)
    mj = mujoco.MjModel.from_xml_string(text.replace("<worldbody>", BALL))
    assert mj.joint("ja").qposadr[0] == 7
    return mj, er.CollisionModel(mujoco.MjModel.from_xml_string(text))


def start(mj):
    data = mujoco.MjData(mj)
    for joint, value in BEGIN.items():
        data.joint(joint).qpos[0] = value
    mujoco.mj_forward(mj, data)
    return data


def test_a_policy_that_collides_does_not_behind_the_guard(arms):
    mj, model = arms
    contacts = []
    for guarded in (False, True):
        data, guard, hits = start(mj), ActuatorGuard(mj, model, acceleration_limits=20.0), 0
        for _ in range(600):
            data.ctrl[:] = np.multiply(MEET, [1.0, 2.0])
            if guarded:
                step = guard.apply(data)
                assert step.proved
            mujoco.mj_step(mj, data)
            hits += data.ncon > 0
        contacts.append(hits)
    assert contacts[0] > 100
    assert contacts[1] == 0
    assert step.altered
    assert any(word in ("a and b", "b and a") for word in step.limited_by)


def test_gears_and_names_are_minded(arms):
    mj, model = arms
    data, guard = start(mj), ActuatorGuard(mj, model)
    data.ctrl[:] = [1.201, 2.0 * -1.202]  # the control of mb is twice its angle
    step = guard.apply(data)
    assert not step.altered
    np.testing.assert_allclose(step.cfg, [1.201, -1.202])
    np.testing.assert_allclose(data.ctrl, [1.201, -2.404])
    data.ctrl[:] = [9.0, 9.0]
    step = guard.apply(data)
    assert step.altered
    np.testing.assert_allclose(data.ctrl, step.cfg * [1.0, 2.0])


def test_a_model_of_other_names_is_mapped(arms):
    mj, _ = arms
    text = TWO_ARMS.replace('"ja"', '"left"').replace('"jb"', '"right"').format("")
    other = er.CollisionModel(mujoco.MjModel.from_xml_string(text))
    guard = ActuatorGuard(mj, other, names={"ja": "left", "jb": "right"})
    np.testing.assert_allclose(guard.cfg(start(mj)), [1.2, -1.2])
    with pytest.raises(InputError, match=r"not a joint of .*: ja, jb; .*lack: left, right"):
        ActuatorGuard(mj, other)


def test_actuators_that_are_no_position_servos_are_refused(arms):
    _, model = arms
    motor = mujoco.MjModel.from_xml_string(
        TWO_ARMS.format(SERVOS.split("/>")[0] + '/><motor name="mb" joint="jb"/>')
    )
    with pytest.raises(InputError, match=r"not position actuators: mb \(of jb\)"):
        ActuatorGuard(motor, model)
    one = mujoco.MjModel.from_xml_string(TWO_ARMS.format(SERVOS.split("/>")[0] + "/>"))
    with pytest.raises(InputError, match="that the position actuators lack: jb"):
        ActuatorGuard(one, model)
    held = er.CollisionModel(er.load_robot(one, hold={"jb": -1.2}))
    assert ActuatorGuard(one, held).cfg(start(one)) == [1.2]


def test_what_makes_no_sense_is_refused(arms):
    mj, model = arms
    guard, data = ActuatorGuard(mj, model), start(mj)
    data.ctrl[1] = np.nan
    with pytest.raises(InputError, match="the position actuators: entry 1 of ja, jb is nan"):
        guard.apply(data)
    with pytest.raises(InputError, match="mj_model: expected a mujoco.MjModel, found a str"):
        ActuatorGuard("arm.xml")
    with pytest.raises(InputError, match="dt must be seconds above zero"):
        ActuatorGuard(mj, model, dt=0.0)
    other = mujoco.MjModel.from_xml_string(TWO_ARMS.format(""))
    with pytest.raises(InputError, match="the mujoco.MjData of the MjModel that the guard was made for"):
        guard.apply(mujoco.MjData(other))


@pytest.mark.long
@pytest.mark.parametrize("name", ["panda", "teaarm"])
def test_arms_in_mujoco_do_not_touch_behind_the_guard(name, tmp_path):
    """A small run of `benchmarks.bridges`."""
    model = er.CollisionModel(hulled(name, tmp_path))
    env = ArmEnv(model, simulation(model, tmp_path))
    guard = ActuatorGuard(
        env.model, model, dt=DT, clearance=CLEARANCE, acceleration_limits=ACCELERATION,
        velocity_limits=0.5 * model.robot.velocity_limits,
    )  # fmt: skip
    counts = {True: 0, False: 0}
    for seed in range(6):
        for guarded in counts:
            env.reset(seed=seed)
            guard.reset()
            want = policy(KINDS[seed % 3], model, np.random.default_rng(seed))
            for _ in range(STEPS):
                env.data.ctrl[env.act] = want(env.cfg)
                if guarded:
                    assert guard.apply(env.data).proved
                env.go(env.data.ctrl)
            counts[guarded] += env.contacts
    assert counts[True] == 0
    assert counts[False] > 100
