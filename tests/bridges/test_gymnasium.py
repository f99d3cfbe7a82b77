"""The guard and the clearance as wrappers of gymnasium environments."""

from __future__ import annotations

import sys

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import elbowroom as er
from elbowroom.bridges.gymnasium import ClearanceObservation, GuardWrapper
from elbowroom.errors import InputError, MissingExtraError

from .test_mujoco import MEET, SERVOS, TWO_ARMS, start

DT = 0.02


class Rig(gymnasium.Env):
    """A robot that is where it was sent."""

    dt = DT

    def __init__(self, robot, kind="position", bound=3.0, as_dict=False, size=None):
        self.robot, self.kind, self.as_dict = robot, kind, as_dict
        size = robot.dof if size is None else size
        self.action_space = gymnasium.spaces.Box(-bound, bound, (size,), np.float64)
        box = gymnasium.spaces.Box(-10.0, 10.0, (robot.dof,), np.float64)
        self.observation_space = gymnasium.spaces.Dict({"q": box}) if as_dict else box

    def seen(self):
        return {"q": self.q.copy()} if self.as_dict else self.q.copy()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.q, self.given = np.array(self.robot.named_cfgs["arms_forward"]), None
        return self.seen(), {}

    def step(self, action):
        self.given = np.array(action)
        moved = action[: self.robot.dof]
        self.q = moved + 0.0 if self.kind == "position" else self.q + moved * {"delta": 1.0, "velocity": DT}[self.kind]  # fmt: skip
        return self.seen(), 1.0, False, False, {"own": 5}


def read(rig):
    return rig.q


@pytest.fixture(scope="module")
def tea(load):
    return er.CollisionModel(load("teaarm"))


@pytest.mark.parametrize("kind", ["position", "delta", "velocity"])
def test_random_actions_never_collide_and_are_told(tea, kind):
    env = GuardWrapper(Rig(tea.robot, kind), tea, units="rad", action=kind, cfg=read)
    env.reset(seed=0)
    env.action_space.seed(0)
    rows = []
    for _ in range(150):
        before = env.unwrapped.q
        seen, _, _, _, info = env.step(env.action_space.sample())
        rows.append(seen)
        said = info["guard"]
        assert said["proved"]
        assert said["altered"] == bool(said["limited_by"])
        assert info["own"] == 5
        np.testing.assert_array_equal(said["action"], env.unwrapped.given)
        assert (np.abs(seen - before) <= tea.robot.velocity_limits * DT + 1e-9).all()
    assert tea.free(np.array(rows)).all()


@pytest.mark.parametrize(("kind", "units"), [("position", "deg"), ("delta", 0.5), ("velocity", "rad")])
def test_a_safe_action_passes_untouched(tea, kind, units):
    rig = Rig(tea.robot, kind, bound=200.0)
    env = GuardWrapper(rig, tea, units=units, action=kind, cfg=read)
    env.reset()
    action = np.degrees(rig.q) if kind == "position" else np.full(tea.robot.dof, 1e-3)
    info = env.step(action)[4]["guard"]
    assert not info["altered"]
    np.testing.assert_array_equal(rig.given, action)


def test_an_altered_action_in_degrees_is_in_degrees(tea):
    rig = Rig(tea.robot, bound=400.0)
    env = GuardWrapper(rig, tea, units="deg", cfg=read)
    env.reset()
    goal = np.degrees(tea.robot.named_cfgs["self_collision"])
    begin = rig.q.copy()
    said = env.step(goal)[4]["guard"]
    assert said["altered"]
    step = np.radians(rig.given) - begin
    assert np.abs(step).max() == pytest.approx(DT * tea.robot.velocity_limits.max(), rel=1e-6)


def test_entries_that_are_no_joints_pass(tea):
    rig = Rig(tea.robot, size=tea.robot.dof + 1)
    env = GuardWrapper(rig, tea, units="rad", cfg=read, joints=[*tea.robot.joint_names, None])
    env.reset()
    env.step(np.append(tea.robot.named_cfgs["self_collision"], 0.7))
    assert rig.given[-1] == 0.7


def test_an_unsafe_action_ends_the_episode_or_costs(tea):
    bad, good = tea.robot.named_cfgs["self_collision"], tea.robot.named_cfgs["arms_forward"]
    env = GuardWrapper(Rig(tea.robot), tea, units="rad", cfg=read, unsafe="end", penalty=7.0)
    env.reset()
    assert env.step(good + 0.2)[1:4] == (1.0, False, False)  # far, but free: speed does not count
    seen, reward, terminated, truncated, info = env.step(bad)
    assert (reward, terminated, truncated) == (-7.0, True, False)
    assert info["guard"]["altered"]
    np.testing.assert_array_equal(seen, good + 0.2)  # it was not done
    env = GuardWrapper(Rig(tea.robot), tea, units="rad", cfg=read, unsafe="penalty", penalty=7.0)
    env.reset()
    seen, reward, terminated, _, info = env.step(bad)
    assert (reward, terminated) == (-6.0, False)
    np.testing.assert_array_equal(seen, bad)  # it was done as asked
    assert env.reset() is not None
    assert env.step(good)[1] == 1.0


@pytest.mark.parametrize("as_dict", [False, True])
def test_clearance_is_observed(tea, as_dict):
    env = ClearanceObservation(Rig(tea.robot, as_dict=as_dict), tea, cfg=read)
    seen, _ = env.reset()
    assert env.observation_space.contains(seen)
    value = seen["clearance"][0] if as_dict else seen[-1]
    assert value == pytest.approx(min(tea.clearance(tea.robot.named_cfgs["arms_forward"]), 0.1))
    seen = env.step(tea.robot.named_cfgs["self_collision"])[0]
    assert (seen["clearance"][0] if as_dict else seen[-1]) == 0.0


def test_gymnasium_itself_accepts_the_wrapped_environment(tea):
    env = GuardWrapper(Rig(tea.robot), tea, units="rad", cfg=read)
    check_env(ClearanceObservation(env, tea, cfg=read), skip_render_check=True)


class Simulated(gymnasium.Env):
    """As gymnasium's MujocoEnv: `model`, `data`, `dt`."""

    def __init__(self):
        self.model = mujoco.MjModel.from_xml_string(TWO_ARMS.format(SERVOS.replace(' gear="2"', "")))
        self.data, self.dt = mujoco.MjData(self.model), float(self.model.opt.timestep)
        self.action_space = gymnasium.spaces.Box(-3.0, 3.0, (2,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)

    def reset(self, *, seed=None, options=None):
        self.data = start(self.model)
        return self.data.qpos[:2].copy(), {}

    def step(self, action):
        self.data.ctrl[:] = action
        mujoco.mj_step(self.model, self.data)
        return self.data.qpos[:2].copy(), 0.0, False, False, {"contacts": self.data.ncon}


def test_an_environment_that_runs_mujoco_needs_no_names():
    env = Simulated()
    model = er.CollisionModel(env.model)
    for wrapped, touches in ((env, True), (GuardWrapper(env, model, units="rad", clearance=0.01, acceleration_limits=20.0), False)):  # fmt: skip
        wrapped.reset()
        hits = sum(wrapped.step(np.array(MEET, np.float32))[4]["contacts"] > 0 for _ in range(600))
        assert (hits > 100) == touches
        assert touches or hits == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"units": None}, "units: say what one unit is"),
        ({"cfg": None}, "does not run MuJoCo: give cfg=.*waist_yaw, waist_pitch"),
        ({"cfg": "q"}, "cfg: expected a function of the innermost environment"),
        ({"joints": ["a"]}, "actions have 16 entries, and 1 joints are known"),
        ({"joints": ["shoulder"] * 16}, "not a joint of teaarm: shoulder"),
        ({"dt": 0.0}, "dt must be seconds above zero"),
        ({"action": "torque"}, "action must be one of position, delta, velocity"),
        ({"unsafe": "ignore"}, "unsafe must be one of alter, end, penalty"),
        ({"units": "normalized", "action": "delta"}, "'normalized' is of positions"),
        ({"penalty": np.nan}, "penalty must be a number"),
    ],
)
def test_what_does_not_fit_is_refused(tea, options, said):
    with pytest.raises(InputError, match=said):
        GuardWrapper(Rig(tea.robot), tea, **{"units": "rad", "cfg": read, **options})


def test_bad_actions_are_refused(tea):
    env = GuardWrapper(Rig(tea.robot), tea, units="rad", cfg=read)
    env.reset()
    with pytest.raises(InputError, match="actions: expected 16 numbers"):
        env.step(np.zeros(7))
    with pytest.raises(InputError, match="entry 0 of waist_yaw.*is nan"):
        env.step(np.full(16, np.nan))
    env.env.action_space = gymnasium.spaces.Discrete(3)
    with pytest.raises(InputError, match="actions that are a vector"):
        GuardWrapper(env.env, tea, units="rad", cfg=read)


def test_without_gymnasium_the_install_line_is_said(monkeypatch):
    monkeypatch.delitem(sys.modules, "elbowroom.bridges.gymnasium")
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingExtraError, match="needs gymnasium: pip install gymnasium"):
        __import__("elbowroom.bridges.gymnasium")
