"""The bridge to LeRobot: maps of motors, the guarded robot and the processor step, with the real package if it is there.

`lerobot` runs each test with a stand-in that has LeRobot's signatures and, where they are installed, with LeRobot and torch
themselves.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import subprocess
import sys
import types
from dataclasses import dataclass, make_dataclass, replace
from enum import StrEnum
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

import elbowroom as er
from elbowroom.bridges import lerobot as bridge
from elbowroom.bridges._motor_cli import main
from elbowroom.bridges.lerobot import ActionGuard, Motor, MotorMap, record_poses
from elbowroom.errors import FormatError, InputError, MissingExtraError
from elbowroom.world import Box, World

from ..robot.builders import write
from . import lerobot_standin
from .folding_arm import arm

ROOT = Path(__file__).parents[2]
MOTORS = ("pan", "lift", "elbow", "grip")
JOINTS = ("joint_pan", "joint_lift", "joint_elbow", "joint_grip")
DT = 1.0 / 30.0


TRUE = {
    "pan": Motor("joint_pan", "degrees", -1, offset=0.0),
    "lift": Motor("joint_lift", "degrees", 1, offset=0.5),
    "elbow": Motor("joint_elbow", "degrees", -1, offset=0.02),
    "grip": Motor("joint_grip", "range_0_100", 1, 0.016, -0.2),
}
"""How the motors of that arm really turn its joints."""
CALIBRATION = {
    name: {"id": k, "drive_mode": 0, "homing_offset": 0, "range_min": 2048 - half, "range_max": 2048 + half}
    for k, (name, half) in enumerate({"pan": 1300, "lift": 1300, "elbow": 1690, "grip": 521}.items(), 1)
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return er.CollisionModel(er.load_robot(write(tmp_path_factory.mktemp("arm"), arm())))


@pytest.fixture
def file(model, tmp_path):
    """A map that fits, as a file."""
    MotorMap(TRUE, str(model.robot.path)).write(tmp_path / "map.yaml")
    return tmp_path / "map.yaml"


@pytest.fixture(params=["stand-in", "real"])
def lerobot(request, monkeypatch):
    """LeRobot, and a new import of what is made of its classes."""
    if request.param == "real":
        if any(importlib.util.find_spec(name) is None for name in ("lerobot", "torch", "draccus")):
            pytest.skip("lerobot and torch are not installed")
        if importlib.util.find_spec("torchvision") is None:
            monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, lerobot_standin.HollowTorchvision()])
    else:
        lerobot_standin.install(monkeypatch)
    monkeypatch.syspath_prepend(str(ROOT / "lerobot_robot_elbowroom"))
    found = types.SimpleNamespace(
        robots=importlib.import_module("lerobot.robots"),
        processor=importlib.import_module("lerobot.processor"),
    )
    yield found
    for name in ("GuardedRobot", "GuardActionStep"):
        vars(bridge).pop(name, None)
    for name in ("lerobot_robot_elbowroom", "fake_arm_of_tests"):
        sys.modules.pop(name, None)
    found.processor.ProcessorStepRegistry.unregister("elbowroom_guard")
    if request.param == "real":
        for name in ("elbowroom", "fake_arm"):
            found.robots.RobotConfig._choice_registry.pop(name, None)  # draccus has no way to forget a name


class NormMode(StrEnum):
    RANGE_0_100 = "range_0_100"
    RANGE_M100_100 = "range_m100_100"
    DEGREES = "degrees"


def hardware(lerobot):
    """A robot type `fake_arm` of LeRobot: its motors are where they were sent, at once."""

    @lerobot.robots.RobotConfig.register_subclass("fake_arm")
    @dataclass(kw_only=True)
    class FakeArmConfig(lerobot.robots.RobotConfig):
        port: str = ""
        use_degrees: bool = True
        max_relative_target: float | None = None

    class FakeArm(lerobot.robots.Robot):
        config_class = FakeArmConfig
        name = "fake_arm"

        def __init__(self, config):
            super().__init__(config)
            self.port_of_bus, self.config, self.sent, self.cameras, self.is_on = (
                config.port,
                config,
                [],
                {},
                False,
            )
            body = NormMode.DEGREES if config.use_degrees else NormMode.RANGE_M100_100
            modes = {name: NormMode.RANGE_0_100 if name == "grip" else body for name in MOTORS}
            self.bus = types.SimpleNamespace(
                motors={name: types.SimpleNamespace(norm_mode=mode) for name, mode in modes.items()}
            )
            self.present = dict.fromkeys(self.action_features, 0.0)

        action_features = property(lambda self: {f"{name}.pos": float for name in MOTORS})
        observation_features = property(lambda self: {**self.action_features, "front": (4, 4, 3)})
        is_connected = property(lambda self: self.is_on)
        is_calibrated = property(lambda self: True)

        def connect(self, calibrate=True):
            self.is_on = True

        def calibrate(self): ...

        def configure(self): ...

        def get_observation(self):
            return {**self.present, "front": np.zeros((4, 4, 3))}

        def send_action(self, action):
            self.sent.append(dict(action))
            self.present = {key: action[key] for key in self.action_features}
            return action

        def disconnect(self):
            self.is_on = False

    home = types.ModuleType("fake_arm_of_tests")
    home.FakeArm, home.FakeArmConfig = FakeArm, FakeArmConfig
    FakeArm.__module__ = FakeArmConfig.__module__ = home.__name__
    sys.modules[home.__name__] = home
    return home


def recording(motors: MotorMap, model):
    """Actions of a policy that folds the arm onto its base and waves; where they begin; what the guard alone does."""
    start = np.array([0.3, 0.3, 0.4, 0.1])
    goals = np.array(
        [[0.9, 1.6, 2.5, 0.9], [-0.5, 2.0, 2.4, -0.1], [0.2, 0.2, -2.5, 1.3], [0.0, 0.0, 0.0, 0.5]]
    )
    corners = np.vstack([start, goals])
    rows = np.concatenate([a + np.linspace(0, 1, 26)[1:, None] * (b - a) for a, b in pairwise(corners)])
    guard, cfg, done, altered = er.Guard(model, budget=60.0), start, [], 0
    for row in rows:
        step = guard.step(cfg, row, DT)
        cfg = step.cfg
        done.append(motors.action_of(cfg, model.robot))
        altered += step.altered
    assert 10 < altered < len(rows) - 10
    assert not model.free(rows).all()
    return motors.action_of(start, model.robot), [motors.action_of(row, model.robot) for row in rows], done


def same(sent, expected):
    assert len(sent) == len(expected)
    for one, other in zip(sent, expected, strict=True):
        assert {key for key in one if key.endswith(".pos")} == set(other)
        np.testing.assert_allclose([one[key] for key in other], list(other.values()), atol=1e-9)


def in_unit(unit: str) -> MotorMap:
    return MotorMap(TRUE).calibrated(CALIBRATION, {name: unit for name in MOTORS if name != "grip"})


units = pytest.mark.parametrize("unit", ["degrees", "range_m100_100"])


# What is sent -------------------------------------------------------------------------------------


@units
def test_the_plugin_sends_what_the_guard_alone_gives(lerobot, model, tmp_path, unit):
    motors = replace(in_unit(unit), robot=str(model.robot.path))
    motors.write(tmp_path / "map.yaml")
    start, actions, expected = recording(motors, model)
    hardware(lerobot)
    plugin = importlib.import_module("lerobot_robot_elbowroom")
    config = plugin.ElbowroomConfig(
        guarded={"type": "fake_arm", "id": "arm", "use_degrees": unit == "degrees"},
        motors=str(tmp_path / "map.yaml"),
    )
    assert config.type == "elbowroom"
    robot = lerobot.robots.make_robot_from_config(config)
    assert isinstance(robot, lerobot.robots.Robot)
    robot.action_guard.guard.budget = 60.0
    with_features = (robot.action_features, robot.observation_features, robot.name, robot.id, robot.cameras)
    assert with_features == (
        {f"{n}.pos": float for n in MOTORS},
        robot.observation_features,
        "fake_arm",
        "arm",
        {},
    )
    robot.connect()
    robot.present.update(start)
    for k, action in enumerate(actions):
        if k % 3:
            robot.get_observation()
        assert robot.send_action(action) == robot.sent[-1]
    same(robot.sent, expected)
    unaltered = [k for k, action in enumerate(actions) if robot.sent[k] == action]
    assert len(unaltered) > 10  # these are passed on as they are, to the last bit
    robot.disconnect()
    assert not robot.is_connected


@units
def test_the_processor_step_gives_what_the_guard_alone_gives(lerobot, model, unit):
    motors = in_unit(unit)
    start, actions, expected = recording(motors, model)
    step = bridge.GuardActionStep(motors, model, budget=60.0)
    assert lerobot.processor.ProcessorStepRegistry.get("elbowroom_guard") is type(step)
    key, sent, seen = lerobot.processor.TransitionKey, [], {**start, "front": np.zeros((2, 2, 3))}
    for action in actions:
        out = step({key.OBSERVATION: seen, key.ACTION: {**action, "base.vel": 0.5}})
        assert out[key.ACTION]["base.vel"] == 0.5
        sent.append(out[key.ACTION])
        seen = out[key.ACTION]
    same(sent, expected)
    assert step.transform_features({"a": 1}) == {"a": 1}
    step.reset()
    with pytest.raises(InputError, match="observation lacks pan.pos"):
        step({key.OBSERVATION: None, key.ACTION: actions[0]})


def test_a_step_in_a_pipeline_of_the_real_package_is_saved_and_read(lerobot, file, tmp_path):
    if not hasattr(lerobot.processor, "DataProcessorPipeline"):
        pytest.skip("the stand-in has no pipeline")
    from lerobot.processor.converters import (
        robot_action_observation_to_transition,
        transition_to_robot_action,
    )

    how = {"to_transition": robot_action_observation_to_transition, "to_output": transition_to_robot_action}
    pipeline_class = lerobot.processor.DataProcessorPipeline
    first = pipeline_class(steps=[bridge.GuardActionStep(str(file), clearance=0.005)], **how)
    first.save_pretrained(tmp_path / "saved", config_filename="guard.json")
    again = pipeline_class.from_pretrained(tmp_path / "saved", config_filename="guard.json", **how)
    assert type(again.steps[0]) is bridge.GuardActionStep
    here = dict.fromkeys((f"{name}.pos" for name in MOTORS), 10.0)
    wild = {**here, "lift.pos": 90.0, "elbow.pos": -140.0}
    outs = [pipeline((wild, here)) for pipeline in (first, again)]
    assert outs[0] == outs[1] != wild


@pytest.mark.parametrize("argument", ["so101", Path("so101.yaml"), None])
def test_only_names_and_numbers_are_saved(lerobot, file, model, argument):
    step = bridge.GuardActionStep(str(file))
    step._config["model"] = argument
    assert json.loads(json.dumps(step.get_config()))["model"] == (str(argument) if argument else None)
    step._config["model"] = model
    with pytest.raises(InputError, match="model: a CollisionModel cannot be saved; give a name or a path"):
        step.get_config()


def test_the_command_line_of_the_real_package_reads_the_type(lerobot, file):
    draccus = pytest.importorskip("draccus")
    if lerobot.robots.RobotConfig.__module__.startswith("tests"):
        pytest.skip("the stand-in has no parser")
    hardware(lerobot)
    importlib.import_module("lerobot_robot_elbowroom")
    words = ["--robot.type=elbowroom", f"--robot.motors={file}", "--robot.clearance=0.01"]
    words += ["--robot.guarded={type: fake_arm, port: /dev/arm, id: mine, use_degrees: true}"]
    script = make_dataclass("Script", [("robot", lerobot.robots.RobotConfig)])
    config = draccus.parse(script, args=words).robot
    assert (config.type, config.clearance, config.guarded["port"]) == ("elbowroom", 0.01, "/dev/arm")
    robot = lerobot.robots.make_robot_from_config(config)
    assert (robot.id, robot.port_of_bus) == ("mine", "/dev/arm")


# Where a step starts ------------------------------------------------------------------------------


def guard_of(model, **options):
    return ActionGuard(MotorMap(TRUE), model, budget=60.0, **options)


def test_a_motor_that_is_held_back_is_believed_and_a_gripper_is_not(model):
    guard, robot = guard_of(model), model.robot
    cfg = np.array([0.3, 0.3, 0.4, 0.1])
    here = guard.motors.action_of(cfg, robot)
    guard(here, here)
    wanted = guard.motors.action_of(cfg + np.array([0.0, 0.05, 0.0, 0.05]), robot)
    near = guard.motors.action_of(cfg - [0.0, 0.3, 0.0, 0.0], robot)
    assert guard(wanted, near) == wanted  # a lag of 0.3 rad is usual
    far = guard.motors.action_of(cfg - [0.0, 0.8, 0.0, -1.0], robot)
    found = guard.motors.cfg_of(guard(wanted, far), robot, "action")
    assert found[1] == pytest.approx(cfg[1] - 0.8 + 3.0 * DT, abs=1e-9)  # at full speed from where it is
    assert found[3] == pytest.approx(cfg[3] + 0.05, abs=1e-9)


def test_values_beyond_the_range_are_clipped_before_they_are_proved(model):
    motors = in_unit("range_m100_100")
    guard = ActionGuard(motors, model, budget=60.0, velocity_limits=100.0)
    here = dict.fromkeys((f"{name}.pos" for name in MOTORS), 0.0) | {"grip.pos": 97.0}
    sent = guard({**here, "grip.pos": 130.0}, here)
    assert sent["grip.pos"] == pytest.approx(100.0)
    assert sent["pan.pos"] == pytest.approx(0.0)


def test_altered_steps_stay_in_the_range_of_the_motors(model):
    """A narrow calibrated range: the guard's way round must not be clipped by LeRobot afterwards."""
    narrow = {**CALIBRATION, "pan": {**CALIBRATION["pan"], "range_min": 2040, "range_max": 2056}}
    motors = MotorMap(TRUE).calibrated(narrow, dict.fromkeys(MOTORS[:3], "range_m100_100"))
    guard = ActionGuard(motors, model, budget=60.0)
    here, rng = (
        dict.fromkeys((f"{name}.pos" for name in MOTORS), 0.0) | {"grip.pos": 50.0},
        np.random.default_rng(0),
    )
    for _ in range(200):
        wanted = {f"{name}.pos": value for name, value in zip(MOTORS, rng.uniform(-100, 100, 4), strict=True)}
        here = guard({**wanted, "grip.pos": abs(wanted["grip.pos"])}, here)
        assert all(abs(value) <= 100.0 + 1e-9 for value in here.values())
        assert guard.step is not None
        assert model.free(guard.step.cfg)


def test_a_file_of_obstacles_is_kept_clear_of(model, file, tmp_path):
    wanted, robot = np.array([0.0, 1.2, 0.3, 0.0]), model.robot
    tip = robot.link_poses(wanted)[robot.link_names.index("grip")]
    world = World([Box(size=(0.1, 0.1, 0.1), pose=(1, 0, 0, 0, *tip[4:]), name="lamp")])
    world.write(tmp_path / "world.json")
    guard = ActionGuard(file, world=tmp_path / "world.json", clearance=0.01, budget=60.0)
    among, here = model.with_world(world), guard.motors.action_of(np.zeros(4), robot)
    for _ in range(40):
        here = guard(guard.motors.action_of(wanted, robot), here)
    assert not among.free(wanted)
    assert guard.step.altered
    assert "lamp" in guard.step.why
    assert 0.01 - 1e-6 <= among.clearance(guard.step.cfg, exact=True) < 0.03


# What is refused ----------------------------------------------------------------------------------

GOOD = dict.fromkeys((f"{name}.pos" for name in MOTORS), 1.0)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (
            {**GOOD, "lift.pos": math.nan},
            r"action: lift.pos: expected one finite number \(degrees\), found nan",
        ),
        ({**GOOD, "lift.pos": math.inf}, "lift.pos: expected one finite number"),
        ({**GOOD, "lift.pos": np.zeros(3)}, "lift.pos: expected one finite number"),
        ({**GOOD, "lift.pos": "3"}, "lift.pos: expected one finite number"),
        (
            {**GOOD, "lifts.pos": 3.0},
            "no motor 'lifts'; did you mean 'lift'.*rename the key or add the motor",
        ),
        ({"pan.pos": 1.0}, "action lacks lift.pos, elbow.pos, grip.pos; it has pan.pos. Give all motors"),
        ({}, "it has no keys"),
        ([1.0, 2.0, 3.0, 4.0], "expected a map from '<motor>.pos' to numbers"),
    ],
)
def test_a_wrong_action_is_refused_and_the_next_one_goes_on(model, action, said):
    guard = guard_of(model)
    with pytest.raises(InputError, match=said):
        guard(action, GOOD)
    assert guard({**GOOD, "lift.pos": np.float32(1.0)}, GOOD).keys() == GOOD.keys()


def edited(file, motor, **changes):
    data = YAML(typ="safe").load(file)
    for key, value in changes.items():
        data["motors"][motor].pop(key, None)
        if value is not None:
            data["motors"][motor][key] = value
    with file.open("w") as out:
        YAML(typ="safe").dump(data, out)
    return file


@pytest.mark.parametrize(
    ("motor", "changes", "said"),
    [
        ("lift", {"unit": None}, "motor lift: write its unit .degrees where the robot's use_degrees is true"),
        ("lift", {"unit": "radians"}, "motor lift: write its unit"),
        ("lift", {"joint": None}, "motor lift: write the joint that it turns"),
        ("grip", {"scale": None}, "motor grip: write its scale, radians of the joint per unit"),
        ("lift", {"sign": 0}, "sign must be 1 or -1"),
        ("lift", {"sign": 0.5}, "sign must be 1 or -1"),
        ("lift", {"scale": -1.0}, "scale above 0"),
        ("lift", {"offset": math.nan}, "offset must be a finite number"),
        ("lift", {"offset": "x"}, "offset must be a finite number"),
        ("lift", {"ofset": 1.0}, "no field 'ofset'; did you mean 'offset'"),
    ],
)
def test_a_broken_file_says_what_to_write(file, motor, changes, said):
    with pytest.raises(FormatError, match=said):
        MotorMap.read(edited(file, motor, **changes))


def test_a_missing_file_and_an_empty_one(tmp_path):
    with pytest.raises(FormatError, match="no motor map 'so99': give a YAML file, or so100 or so101"):
        MotorMap.read("so99")
    (tmp_path / "empty.yaml").write_text("robot: so101\n")
    with pytest.raises(FormatError, match="expected 'motors:'"):
        MotorMap.read(tmp_path / "empty.yaml")


def test_joints_and_motors_must_match_one_to_one(model, file):
    with pytest.raises(
        InputError,
        match=r"does not have: joint_x; joints without a motor.*: joint_lift\. Motors: .*; joints: joint_pan,",
    ):
        ActionGuard(edited(file, "lift", joint="joint_x"), model)
    with pytest.raises(InputError, match="joints with two motors: joint_pan"):
        ActionGuard(edited(file, "lift", joint="joint_pan"), model)
    with pytest.raises(InputError, match="names no robot: write 'robot:' in it, or give model"):
        ActionGuard(MotorMap(TRUE))
    for options, said in (
        ({"fps": 0}, "fps must be above 0"),
        ({"max_lag": math.nan}, "max_lag: expected one"),
    ):
        with pytest.raises(InputError, match=said):
            ActionGuard(MotorMap(TRUE), model, **options)


def test_a_robot_in_other_units_or_with_other_motors_is_refused(lerobot, model):
    home = hardware(lerobot)
    in_percent = home.FakeArm(home.FakeArmConfig(use_degrees=False))
    with pytest.raises(
        InputError, match="pan is mapped in degrees, the robot commands it in range_m100_100. Set use_d"
    ):
        bridge.GuardedRobot(in_percent, MotorMap(TRUE), model)
    clipped = home.FakeArm(home.FakeArmConfig(max_relative_target=5.0))
    with pytest.raises(InputError, match="set max_relative_target of the robot to None"):
        bridge.GuardedRobot(clipped, MotorMap(TRUE), model)
    renamed = MotorMap({name.upper(): motor for name, motor in TRUE.items()})
    with pytest.raises(InputError, match="its motors are PAN.*those of the robot elbow, grip, lift, pan"):
        bridge.GuardedRobot(home.FakeArm(home.FakeArmConfig()), renamed, model)


def test_without_lerobot_the_install_line_is_said(monkeypatch):
    for name in ("lerobot", "lerobot.robots", "lerobot.processor"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("GuardedRobot", "GuardActionStep"):
        with pytest.raises(MissingExtraError, match=f"{name} needs LeRobot: pip install lerobot"):
            getattr(bridge, name)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = bridge.no_such_name


def test_importing_the_bridge_loads_neither_lerobot_nor_torch():
    code = "import sys, elbowroom.bridges.lerobot; sys.exit(', '.join({'lerobot', 'torch', 'jax'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stderr.strip() == ""


# Making and checking maps -------------------------------------------------------------------------


@pytest.fixture
def poses(lerobot, model, tmp_path):
    """Poses recorded with an arm that is set by hand, each joint within two degrees."""
    home, rng = hardware(lerobot), np.random.default_rng(3)
    robot, truth, told = home.FakeArm(home.FakeArmConfig()), MotorMap(TRUE), []

    def set_by_hand(text):
        told.append(text)
        k = len(told) - 1
        middle = 0.5 * (model.robot.lower + model.robot.upper)
        middle[max(k - 1, 0)] += 0.25 * (model.robot.upper - model.robot.lower)[k - 1] * (k > 0)
        cfg = middle + rng.uniform(-1, 1, 4) * math.radians(2.0)
        robot.present = truth.action_of(cfg, model.robot)

    joints = dict(zip(MOTORS, JOINTS, strict=True))
    record_poses(robot, model.robot.path, tmp_path / "poses.yaml", joints=joints, ask=set_by_hand)
    assert len(told) == 5
    assert told[0].startswith("pose 1 of 5: move the arm to (degrees) joint_pan 0, joint_lift 28.6, ")
    return tmp_path / "poses.yaml"


def test_a_map_is_built_from_recorded_poses_and_confirmed(poses, tmp_path, capsys):
    assert main(["build", "--poses", str(poses), "--out", str(tmp_path / "built.yaml")]) == 0
    assert capsys.readouterr().out.count("confirmed") == 4
    built = MotorMap.read(tmp_path / "built.yaml")
    for name, motor in TRUE.items():
        found = built.motors[name]
        assert (found.joint, found.unit, found.sign) == (motor.joint, motor.unit, motor.sign)
        assert found.scale == pytest.approx(motor.scale, rel=0.15 if name == "grip" else 1e-12)
        middle = 50.0 if name == "grip" else 0.0
        assert found.joint_at(middle) == pytest.approx(motor.joint_at(middle), abs=math.radians(4.0))
    assert main(["check", str(tmp_path / "built.yaml"), "--poses", str(poses)]) == 0


@pytest.mark.parametrize(
    ("motor", "changes", "said"),
    [
        ("pan", {"sign": 1}, "WRONG: sign is reversed"),
        ("lift", {"sign": -1}, "WRONG: sign is reversed"),
        ("lift", {"offset": 0.5 - math.radians(20)}, "WRONG: offset is off by 2"),
        ("elbow", {"offset": 3.1}, "WRONG: offset is off by -17"),
        ("grip", {"scale": 0.03}, "WRONG: scale should be about 0.01"),
        ("elbow", {"scale": 0.03}, "WRONG: scale should be about 0.01"),
    ],
)
def test_a_wrong_map_is_caught_by_the_check(file, poses, motor, changes, said, capsys):
    assert main(["check", str(file), "--poses", str(poses)]) == 0
    assert "WRONG" not in capsys.readouterr().out
    assert main(["check", str(edited(file, motor, **changes)), "--poses", str(poses)]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if "WRONG" in line]
    assert len(lines) == 1
    assert lines[0].split()[0] == motor
    assert said in lines[0]


def test_joints_that_are_mixed_up_are_caught(file, poses, capsys):
    edited(edited(file, "pan", joint="joint_elbow"), "elbow", joint="joint_pan")
    assert main(["check", str(file), "--poses", str(poses)]) == 2
    assert "motor elbow: the poses have joint_elbow in degrees, the map joint_pan" in capsys.readouterr().err


def test_without_poses_limits_catch_offsets_and_scales_and_signs_are_said_to_be_open(file, capsys):
    assert main(["check", str(file)]) == 0
    assert "a reversed sign would not be seen: pan, lift, elbow, grip" in capsys.readouterr().out
    for motor, changes, said in (
        ("lift", {"offset": 0.0}, "middle of its range is off that of the joint's limits by -28.6 deg"),
        ("grip", {"scale": 0.002, "offset": 0.5}, "its range is 11.5 deg, that of the joint 91.7 deg"),
    ):
        kept = file.read_text()
        assert main(["check", str(edited(file, motor, **changes))]) == 1
        assert said in capsys.readouterr().out
        file.write_text(kept)


def test_a_calibration_file_makes_a_map_in_other_units(file, model, tmp_path, capsys):
    (tmp_path / "arm.json").write_text(json.dumps(CALIBRATION))
    words = [
        "build",
        "--map",
        str(file),
        "--calibration",
        str(tmp_path / "arm.json"),
        "--unit",
        "range_m100_100",
    ]
    assert main([*words, "--out", str(tmp_path / "percent.yaml")]) == 0
    percent, degrees = MotorMap.read(tmp_path / "percent.yaml"), MotorMap.read(file)
    for name, entry in CALIBRATION.items():
        low, high = entry["range_min"], entry["range_max"]
        for raw in (low, low + 77, high):  # LeRobot's own formulas, MotorsBus._normalize
            in_degrees = (raw - (low + high) / 2) * 360 / 4095
            in_percent = (raw - low) / (high - low) * 200 - 100
            if name != "grip":
                angle = degrees.motors[name].joint_at(in_degrees)
                assert percent.motors[name].joint_at(in_percent) == pytest.approx(angle, abs=1e-12)
    grip = percent.motors["grip"]
    assert (grip.unit, grip.joint_at(0.0)) == ("range_0_100", -0.2)
    assert grip.joint_at(100.0) + 0.2 == pytest.approx(math.radians(1042 * 360 / 4095))
    back = percent.calibrated(CALIBRATION, dict.fromkeys(MOTORS[:3], "degrees"))
    for name in MOTORS[:3]:
        assert back.motors[name].offset == pytest.approx(TRUE[name].offset)
        assert back.motors[name].sign == TRUE[name].sign


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"lift": {"range_min": 5, "range_max": 5}},
            "motor lift has no range_min below its range_max; calibrate",
        ),
        (
            {"lift": {"range_min": 5, "range_max": 50, "drive_mode": 1}},
            "motor lift is in drive mode 1; use `build`",
        ),
        ({"lift": 3}, "motor lift has no range_min"),
    ],
)
def test_a_calibration_that_cannot_be_used_says_why(change, said):
    with pytest.raises(InputError, match=said):
        MotorMap(TRUE).calibrated({**CALIBRATION, **change}, {})


def test_poses_that_do_not_tell_enough_are_refused(poses, tmp_path, capsys):
    text = YAML(typ="safe").load(poses)

    def built_from(change):
        data = json.loads(json.dumps(text))
        change(data)
        (tmp_path / "other.yaml").write_text(json.dumps(data))
        code = main(["build", "--poses", str(tmp_path / "other.yaml"), "--out", str(tmp_path / "out.yaml")])
        assert not (tmp_path / "out.yaml").exists()
        return code, capsys.readouterr().err

    def in_degrees(data):
        for row in data["poses"]:
            row["joints"] = {name: math.degrees(value) for name, value in row["joints"].items()}

    for change, said in (
        (
            lambda d: d.update(poses=d["poses"][:1]),
            "the poses move joint_pan by less than 20 degrees; record more",
        ),
        (lambda d: d["motors"]["lift"].pop("unit"), "motor lift: write its unit"),
        (lambda d: d["poses"][2]["action"].pop("lift.pos"), "pose 3: no value 'lift.pos'"),
        (
            lambda d: d["poses"][2]["joints"].update(joint_lift=math.nan),
            "pose 3: joint_lift: expected one finite",
        ),
        (
            lambda d: d["poses"][2]["action"].update({"pan.pos": 70.0}),
            "motor pan: the poses do not agree with each other, by",
        ),
        (lambda d: d["motors"]["lift"].update(joint="joint_pan"), "motor lift"),
        (lambda d: d.pop("poses"), "expected 'poses:'"),
        (in_degrees, "is its unit degrees, and are the joints in radians"),
    ):
        code, err = built_from(change)
        assert code == 2
        assert said in err, err
    assert main(["build", "--map", "so101", "--out", "x.yaml"]) == 2
    assert "build needs --poses, or --map and --calibration" in capsys.readouterr().err


def test_the_page_shows_the_robot_at_the_poses(file, poses, monkeypatch, capsys):
    shown = []

    def show(robot):
        shown.append(robot)
        return types.SimpleNamespace(url="http://here", wait=lambda: None)

    monkeypatch.setattr(er, "show", show)
    assert main(["check", str(file), "--poses", str(poses), "--show"]) == 0
    assert main(["check", str(file), "--show"]) == 0
    truth = YAML(typ="safe").load(poses)["poses"][2]["joints"]
    at = shown[0].named_cfgs["pose 3"]
    np.testing.assert_allclose(at, [truth[name] for name in shown[0].joint_names], atol=math.radians(2.1))
    np.testing.assert_allclose(shown[1].named_cfgs["middle of the motors' ranges"], [0.0, 0.5, 0.02, 0.6])
    assert "http://here" in capsys.readouterr().out


# Shipped maps -------------------------------------------------------------------------------------


def axes(robot, cfg):
    """Axis and the point on it nearest to the origin, in the world, of every joint: from the motion of links."""
    found = {}
    before = robot.link_poses(cfg)
    for k, name in enumerate(robot.joint_names):
        after = robot.link_poses(cfg + 0.5 * np.eye(robot.dof)[k])
        moved = next(i for i in range(len(before)) if not np.allclose(before[i, :4], after[i, :4], atol=1e-9))
        turns = [er_rotation(row[moved, :4]) for row in (before, after)]
        R = turns[1] @ turns[0].T
        t = after[moved, 4:] - R @ before[moved, 4:]
        axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        found[name] = axis / np.linalg.norm(axis), np.linalg.lstsq(np.eye(3) - R, t, rcond=None)[0]
    return found


def er_rotation(wxyz):
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(np.roll(wxyz, -1)).as_matrix()


@pytest.mark.robots
@pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")
@pytest.mark.parametrize("name", ["so100", "so101"])
def test_shipped_maps_fit_their_descriptions(name, capsys):
    motors = MotorMap.read(name)
    known = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
    assert tuple(motors.motors) == known  # of LeRobot's SOFollower
    assert main(["check", name]) == 0
    assert main(["check", name, "--robot", {"so100": "so101", "so101": "so100"}[name]]) == 1


@pytest.mark.robots
def test_both_arms_are_the_same_arm_behind_their_maps():
    """Equal motor values: elbow, wrist and the axis of the roll are at the same place, seen from the shoulder."""
    robots, maps = (
        [er.load_robot(name) for name in ("so100", "so101")],
        [MotorMap.read(n) for n in ("so100", "so101")],
    )
    forward = [np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]]), np.eye(3)]  # the SO-100's URDF looks along -y
    rng = np.random.default_rng(0)
    for _ in range(20):
        action = {f"{name}.pos": rng.uniform(-60, 60) for name in maps[0].motors} | {"gripper.pos": 20.0}
        seen = []
        for robot, motors, turn in zip(robots, maps, forward, strict=True):
            at = axes(robot, motors.cfg_of(action, robot, "action"))
            lift, shoulder = at["shoulder_lift"]
            across = np.eye(3) - np.outer(lift, lift)
            places = [across @ (at[name][1] - shoulder) for name in ("elbow_flex", "wrist_flex")]
            seen.append([turn @ row for row in (*places, lift, at["elbow_flex"][0], at["wrist_roll"][0])])
        np.testing.assert_allclose(seen[0], seen[1], atol=5e-5)  # metres, and parts of unit vectors


def test_the_map_that_is_written_reads_the_same(tmp_path):
    motors = MotorMap(TRUE, "my_arm.urdf")
    motors.write(tmp_path / "map.yaml")
    assert MotorMap.read(tmp_path / "map.yaml") == replace(motors, source=str(tmp_path / "map.yaml"))
