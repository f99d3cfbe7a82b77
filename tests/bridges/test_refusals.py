"""Every bridge refuses wrong names, wrong sizes, NaN and missing units, each with a sentence that says what to change.

A bridge without a test of one of these says why. Bridges whose package is not installed here are met with stand-ins.
"""

from __future__ import annotations

import pkgutil
import re
from types import SimpleNamespace

import numpy as np
import pytest

import elbowroom as er
from elbowroom import bridges
from elbowroom.errors import ElbowroomError

from .test_mujoco import SERVOS, TWO_ARMS
from .test_robosuite import Env as RobosuiteEnv
from .test_robosuite import GuardedEnv as _guarded_env  # noqa: F401
from .test_teleop_xr import bridge_with

FAULTS = ("names", "size", "nan", "units")
WITHOUT = {
    ("mink", "size"): "mink's Configuration has the size of its MjModel",
    ("pink", "size"): "pink's Configuration has the size of its model",
    ("mujoco", "size"): "data.ctrl has the size of its MjModel; that of another MjModel is refused",
    ("teleop_xr", "size"): "configurations are made by its solver, of the size of the robot",
    ("teleop_xr", "nan"): "its solver runs under jit, where values cannot be looked at",
    **dict.fromkeys(
        ((name, "units") for name in ("mink", "pink", "mujoco", "robosuite", "rerun", "ros2", "teleop_xr")),
        "rad and m, by the conventions of the package",
    ),
}
"""What cannot be wrong there."""


@pytest.fixture(scope="module")
def arms():
    """Two arms in MuJoCo with position servos, and their model."""
    import mujoco

    mj = mujoco.MjModel.from_xml_string(TWO_ARMS.format(SERVOS))
    return mj, er.CollisionModel(mj)


@pytest.fixture(scope="module")
def tea():
    return er.CollisionModel(er.load_robot("teaarm"))


class Gymnasium:
    def __init__(self, arms, tea):
        gymnasium = pytest.importorskip("gymnasium")
        from elbowroom.bridges.gymnasium import GuardWrapper

        class Arm(gymnasium.Env):
            dt, action_space = 0.02, gymnasium.spaces.Box(-3.0, 3.0, (16,), np.float64)
            observation_space = gymnasium.spaces.Box(-9.0, 9.0, (16,), np.float64)

            def step(self, action):
                raise AssertionError("an action that is refused must not reach the environment")

        def wrap(**options):
            read = {"cfg": lambda env: tea.robot.default_cfg, "units": "rad", **options}
            return GuardWrapper(Arm(), tea, **read)

        self.names = lambda: wrap(joints=["shoulder", *tea.robot.joint_names[1:]])
        self.size = lambda: wrap().step(np.zeros(7))
        self.nan = lambda: wrap().step(np.full(16, np.nan))
        self.units = lambda: wrap(units=None)


class Mujoco:
    def __init__(self, arms, tea):
        import mujoco

        from elbowroom.bridges.mujoco import ActuatorGuard

        mj, model = arms
        data = mujoco.MjData(mj)
        data.ctrl[0] = np.nan
        self.names = lambda: ActuatorGuard(mj, tea)
        self.nan = lambda: ActuatorGuard(mj, model).apply(data)


class Mink:
    def __init__(self, arms, tea):
        mink = pytest.importorskip("mink")
        from elbowroom.bridges.mink import CollisionLimit

        mj, model = arms
        good, bad = mink.Configuration(mj), mink.Configuration(mj)
        bad.data.qpos[0] = np.nan
        self.names = lambda: CollisionLimit(tea).compute_qp_inequalities(good, 0.01)
        self.nan = lambda: CollisionLimit(model).compute_qp_inequalities(bad, 0.01)


class Pink:
    def __init__(self, arms, tea):
        pin = pytest.importorskip("pinocchio")
        pytest.importorskip("pink")
        from elbowroom.bridges.pink import CollisionLimit

        theirs = pin.buildModelFromUrdf(str(tea.robot.path))
        two = er.CollisionModel(er.load_robot(arms[0]))
        good, bad = (SimpleNamespace(model=theirs, q=pin.neutral(theirs)) for _ in range(2))
        bad.q[0] = np.nan
        self.names = lambda: CollisionLimit(two).compute_qp_inequalities(good, 0.01)
        self.nan = lambda: CollisionLimit(tea).compute_qp_inequalities(bad, 0.01)


class Gello:
    def __init__(self, arms, tea):
        from elbowroom.bridges.gello import GuardedRobot

        class Robot:
            num_dofs = staticmethod(lambda: 16)
            get_joint_state = staticmethod(lambda: tea.robot.default_cfg)
            get_observations = staticmethod(dict)

            def command_joint_state(self, joint_state):
                raise AssertionError("a command that is refused must not reach the robot")

        def guard(**options):
            return GuardedRobot(Robot(), tea, **{"joints": tea.robot.joint_names, "hz": 50, **options})

        self.names = lambda: guard(joints=["shoulder", *tea.robot.joint_names[1:]])
        self.size = lambda: guard().command_joint_state(np.zeros(7))
        self.nan = lambda: guard().command_joint_state(np.full(16, np.nan))
        self.units = lambda: guard(units=None)


class Lerobot:
    def __init__(self, arms, tea, folder):
        from elbowroom.bridges.lerobot import ActionGuard, Motor, MotorMap

        names = tea.robot.joint_names
        motors = MotorMap({name: Motor(name, "degrees") for name in names})
        guard = ActionGuard(motors, tea)
        good = {f"{name}.pos": 0.0 for name in names}
        broken = folder / "without_unit.yaml"
        broken.write_text(f"robot: teaarm\nmotors:\n  pan: {{joint: {names[0]}}}\n")
        self.names = lambda: guard({**good, "elbow.pos": 0.0}, good)
        self.size = lambda: guard(dict(list(good.items())[:3]), good)
        self.nan = lambda: guard({**good, f"{names[0]}.pos": np.nan}, good)
        self.units = lambda: MotorMap.read(broken)


class Robosuite:
    def __init__(self, arms, tea, guarded_env):
        self.names = lambda: guarded_env(RobosuiteEnv(), tea)
        self.size = lambda: guarded_env(RobosuiteEnv()).step([0.0])
        self.nan = lambda: guarded_env(RobosuiteEnv()).step([0.0, np.nan])


class Rerun:
    def __init__(self, arms, tea):
        rr = pytest.importorskip("rerun")
        from elbowroom.bridges.rerun import log

        recording = rr.RecordingStream("refusals")
        self.names = lambda: log(recording, "no_such_robot", tea.robot.default_cfg)
        self.size = lambda: log(recording, tea, np.zeros(7))
        self.nan = lambda: log(recording, tea, np.full(16, np.nan))


class Ros2:
    def __init__(self, arms, tea):
        from elbowroom.bridges.ros2 import CommandFilter

        names = tea.robot.joint_names
        found = CommandFilter(tea, rate=50.0)
        found.state(names, tea.robot.default_cfg, now=0.0)
        self.names = lambda: found.positions(["shoulder"], [0.1], 0.0)
        self.size = lambda: found.positions(names, [0.1], 0.0)
        self.nan = lambda: found.positions(names[:1], [np.nan], 0.0)


class Teleop_xr:
    def __init__(self, arms, tea, bridge):
        self.names = lambda: bridge.ModelRobot(robot="teaarm", left="hand")


ALL = {name: globals()[name.capitalize()] for name in (
    "gymnasium", "mujoco", "mink", "pink", "gello", "lerobot", "robosuite", "rerun", "ros2", "teleop_xr",
)}  # fmt: skip
TELLS = {
    "names": r"no_such_robot|shoulder|elbow|hand|cannot be mapped",
    "size": r"\d",
    "nan": r"(?i)nan|finite",
    "units": r"(?i)unit",
}
"""What the sentence names."""
ADVICE = r"did you mean|expected|must|[Ss]ay |send |[Gg]ive |rename|write |lacks| are: "
"""What is valid, or what to do."""


def test_no_bridge_is_left_out():
    public = {name for _, name, _ in pkgutil.iter_modules(bridges.__path__) if not name.startswith("_")}
    assert public == set(ALL)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("bridge", ALL)
def test_what_is_wrong_is_refused_with_what_to_change(bridge, fault, arms, tea, request, monkeypatch):
    more = ()
    if bridge == "robosuite":
        more = (request.getfixturevalue("_guarded_env"),)
    if bridge == "lerobot":
        more = (request.getfixturevalue("tmp_path"),)
    if bridge == "teleop_xr":
        more = (bridge_with(monkeypatch),)
    call = getattr(ALL[bridge](arms, tea, *more), fault, None)
    assert (call is None) == ((bridge, fault) in WITHOUT)
    if call is None:
        return
    with pytest.raises(ElbowroomError) as refused:
        call()
    said = str(refused.value)
    print(f"{bridge}, {fault}: {said}")
    assert re.search(TELLS[fault], said), said
    assert re.search(ADVICE, said), said
