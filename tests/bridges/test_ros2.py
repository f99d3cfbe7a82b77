"""The bridge to ROS 2: the filter by itself, and the node around it with stand-ins for rclpy and the messages."""

from __future__ import annotations

import ast
import importlib
import math
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from ruamel.yaml import YAML

import elbowroom as er
from elbowroom.bridges.ros2 import CommandFilter
from elbowroom.errors import InputError
from elbowroom.world import Box, World

from ..robot.builders import write
from . import ros2_standin as ros
from .folding_arm import arm

PACKAGE = Path(__file__).parents[2] / "ros2" / "elbowroom_guard"
NAMES = ("joint_pan", "joint_lift", "joint_elbow", "joint_grip")
START = np.array([0.3, 0.3, 0.4, 0.1])
FOLDED = np.array([0.5, 2.0, 2.5, 0.2])
DT = 0.05


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    model = er.CollisionModel(er.load_robot(write(tmp_path_factory.mktemp("arm"), arm())))
    assert model.robot.joint_names == NAMES
    assert model.free(START)
    assert not model.free(FOLDED)
    return model


def filter_at(model, cfg=START, **options):
    found = CommandFilter(model, rate=1.0 / DT, budget=60.0, **options)
    found.state(("wheel", *NAMES), (9.0, *cfg), 0.0)
    return found


def shelf(model):
    """An obstacle that the stretched arm reaches."""
    tip = model.robot.link_poses(np.zeros(4))[model.robot.link_names.index("grip"), 4:]
    return World([Box(size=(0.1, 0.1, 0.02), pose=(1, 0, 0, 0, *tip), name="shelf")])


def guard_alone(model, rows, start=START, dt=DT):
    guard, done = er.Guard(model, budget=60.0), [start]
    for row in rows:
        done.append(guard.step(done[-1], row, dt).cfg)
    return np.array(done[1:])


STREAM = START + np.linspace(0.0, 1.0, 30)[1:, None] * (FOLDED - START)


def test_a_stream_of_positions_is_what_the_guard_alone_gives(model):
    found, sent = filter_at(model), []
    for k, row in enumerate(STREAM):
        positions, why = found.positions(NAMES[::-1], row[::-1], DT * k)
        sent.append(positions[::-1])
        found.state(NAMES, sent[-1], DT * (k + 1))
    np.testing.assert_allclose(sent, guard_alone(model, STREAM), atol=1e-12)
    assert model.free(np.array(sent)).all()
    assert not model.free(STREAM).all()
    assert why.startswith(("altered", "stopping"))


def test_joints_that_are_not_named_stay_at_their_last_command(model):
    found = filter_at(model)
    assert found.positions(("joint_pan",), (0.35,), 0.0) == ((pytest.approx(0.35),), "as wanted")
    found.state(NAMES, START, DT)  # lags behind a little
    (lift, pan), _ = found.positions(("joint_lift", "joint_pan"), (0.32, 0.35), DT)
    assert (lift, pan) == pytest.approx((0.32, 0.35))


@pytest.mark.parametrize("now", [DT, 2.0])
def test_a_robot_elsewhere_or_a_pause_begins_anew(model, now):
    """After a pause the last command no longer counts, however near the robot is to it."""
    found = filter_at(model)
    found.positions(NAMES, START, 0.0)
    here = START - (0.5 if now == DT else 0.1)
    found.state(NAMES, here, now)
    positions, _ = found.positions(NAMES, START, now)
    np.testing.assert_allclose(positions, np.minimum(START, here + 3.0 * DT), atol=1e-9)


def test_a_trajectory_is_what_the_guard_alone_gives(model):
    rows, times = STREAM[4::5], 0.4 * np.arange(1, 6)
    found = filter_at(model).trajectory(NAMES, rows.tolist(), times.tolist(), 0.1)
    np.testing.assert_allclose(found.positions, guard_alone(model, rows[:5], dt=0.4), atol=1e-9)
    assert found.altered
    path = np.vstack([START, found.positions])
    assert er.plan.prove_path(model, path).free
    straight = filter_at(model).trajectory(NAMES, [START.tolist(), (START + 0.1).tolist()], [0.0, 1.0], 0.1)
    assert not straight.altered
    np.testing.assert_allclose(straight.positions, [START, START + 0.1], atol=1e-12)


def test_a_trajectory_of_some_joints_keeps_the_others(model):
    found = filter_at(model).trajectory(("joint_elbow", "joint_pan"), [[0.5, 0.2]], [1.0], 0.0)
    np.testing.assert_allclose(found.positions, [[0.5, 0.2]], atol=1e-12)


def test_validity_is_the_verdict_of_the_model(model):
    world = shelf(model)
    found = CommandFilter(model, rate=10.0, world=world)
    for cfg in (START, FOLDED, np.zeros(4), np.array([0.0, 9.0, 0.0, 0.0])):
        verdict = model.with_world(world).explain(cfg)
        answer = found.validity(NAMES, cfg, 0.0)
        assert answer.valid == (verdict.free and not verdict.out_of_limits)
        assert [clash.pair for clash in answer.contacts] == [clash.pair for clash in verdict.clashes]
    assert {clash.b for clash in found.validity(NAMES, np.zeros(4), 0.0).contacts} == {"shelf"}
    assert found.validity(NAMES, np.zeros(4), 0.0).obstacles == {"shelf"}
    assert "joint_lift" in found.validity(NAMES, (0.0, 9.0, 0.0, 0.0), 0.0).why


def refused(said, call, *args):
    with pytest.raises(InputError, match=said):
        call(*args)


def test_what_makes_no_sense_is_refused_with_what_to_change(model):
    found = filter_at(model)
    refused(r"no joint 'joint_lif'; did you mean 'joint_lift'", found.positions, ("joint_lif",), (0.1,), 0.0)
    refused(
        r"4 joint names .*and 3 positions; send one for each", found.positions, NAMES, (0.1, 0.2, 0.3), 0.0
    )
    refused("position of joint_pan is nan; send finite", found.positions, ("joint_pan",), (math.nan,), 0.0)
    refused("named twice", found.positions, ("joint_pan", "joint_pan"), (0.1, 0.1), 0.0)
    refused("0 joint names", found.positions, (), (), 0.0)
    refused("position of joint_pan is inf", found.state, ("joint_pan",), (math.inf,), 0.0)
    refused(
        "no joint state of joint_pan, joint_lift.*within 0.5 s; a joint_state_b",
        found.positions,
        NAMES,
        START,
        0.6,
    )
    refused("0 points and 0 times", found.trajectory, NAMES, [], [], 0.0)
    refused(
        "time_from_start must be finite and incr", found.trajectory, NAMES, [START, START], [1.0, 1.0], 0.0
    )
    refused(
        "point 2 of the trajectory: 4 joint names", found.trajectory, NAMES, [START, [0.1]], [1.0, 2.0], 0.0
    )
    refused(
        "joint_elbow is 2.100 rad .m. away from it; plan from", found.trajectory, NAMES, [FOLDED], [0.0], 0.0
    )
    refused("no joint state of", CommandFilter(model, rate=10.0).validity, ("joint_pan",), (0.0,), 0.0)
    for options in ({"rate": 0.0}, {"rate": math.nan}, {"rate": 10.0, "max_age": -1.0}, {"rate": "10"}):
        with pytest.raises(InputError, match="must be a number above 0"):
            CommandFilter(model, **options)


# The node -----------------------------------------------------------------------------------------


@pytest.fixture
def node(model, monkeypatch, tmp_path):
    ros.install(monkeypatch)
    for name in [name for name in sys.modules if name.split(".")[0] == "elbowroom_guard"]:
        monkeypatch.delitem(sys.modules, name)
    shelf(model).write(tmp_path / "world.json")
    given = {"robot": str(model.robot.path), "world": str(tmp_path / "world.json"), "rate": 20.0}
    monkeypatch.setattr(ros, "PARAMETERS", {**given, "joints": list(NAMES[::-1])})
    made = importlib.import_module("elbowroom_guard.node").GuardNode()
    made.filter.guard.budget = 60.0
    made.callbacks["joint_states"](ros.JointState(name=list(NAMES), position=START.tolist()))
    return made


def test_the_node_passes_commands_on(node):
    node.callbacks["commands"](ros.Float64MultiArray("layout", (START + 0.01)[::-1].tolist()))
    node.callbacks["joint_command"](ros.JointState(ros.Header("h"), ["joint_pan"], [0.32]))
    (array,), (state,) = node.published["guarded/commands"], node.published["guarded/joint_command"]
    assert array == ros.Float64MultiArray("layout", [pytest.approx(value) for value in (START + 0.01)[::-1]])
    assert state == ros.JointState(ros.Header("h"), ["joint_pan"], [pytest.approx(0.32)])
    assert [level for level, _ in node.logger.lines] == ["info"]


def test_the_node_alters_a_trajectory_and_says_so(node, model):
    points = [
        ros.JointTrajectoryPoint(row.tolist(), [1.0] * 4, ros.Duration(k, 500_000_000))
        for k, row in enumerate(STREAM[4::5])
    ]
    node.callbacks["joint_trajectory"](ros.JointTrajectory(ros.Header("h"), list(NAMES), points))
    (out,) = node.published["guarded/joint_trajectory"]
    assert (out.header.frame_id, out.joint_names) == ("h", list(NAMES))
    assert [point.time_from_start for point in out.points] == [point.time_from_start for point in points]
    assert all(point.velocities == [] for point in out.points)
    assert model.free(np.array([point.positions for point in out.points])).all()
    assert node.logger.lines[-1][0] == "warning"


def test_the_node_publishes_nothing_that_is_refused_and_logs_why(node):
    node.callbacks["commands"](ros.Float64MultiArray(None, [0.1]))
    node.callbacks["joint_command"](ros.JointState(name=["joint_pan"], position=[math.nan]))
    node.callbacks["joint_trajectory"](ros.JointTrajectory(joint_names=["x"], points=[]))
    node.callbacks["joint_states"](ros.JointState(name=["joint_pan"], position=[]))
    node.seconds += 1.0
    node.callbacks["joint_command"](ros.JointState(name=["joint_pan"], position=[0.3]))
    assert not any(node.published.values())
    errors = [text for level, text in node.logger.lines if level == "error"]
    assert len(errors) == 5
    assert "no joint state of" in errors[-1]


def test_the_node_answers_whether_a_state_is_valid(node, model):
    ask, service = ros.GetStateValidity, node.callbacks["check_state_validity"]
    assert service(ask.Request(NAMES, START), ask.Response()).valid
    assert service(ask.Request(("joint_pan",), (0.4,)), ask.Response()).valid
    own = service(ask.Request(NAMES, FOLDED), ask.Response())
    assert not own.valid
    assert {contact.body_type_2 for contact in own.contacts} == {ros.ContactInformation.ROBOT_LINK}
    deepest, clash = own.contacts[0], model.explain(FOLDED).clashes[0]
    assert (deepest.contact_body_1, deepest.contact_body_2, deepest.depth) == (clash.a, clash.b, clash.depth)
    assert [deepest.normal.x, deepest.normal.y, deepest.normal.z] == pytest.approx(clash.normal)
    high = service(ask.Request(NAMES, np.zeros(4)), ask.Response()).contacts[0]
    assert (high.contact_body_2, high.body_type_2) == ("shelf", ros.ContactInformation.WORLD_OBJECT)
    assert not service(ask.Request(("joint_x",), (0.0,)), ask.Response()).valid


# The package --------------------------------------------------------------------------------------


def test_the_package_names_what_the_node_imports_and_installs_its_files():
    package = ElementTree.parse(PACKAGE / "package.xml").getroot()
    depends = {element.text for element in package.findall("exec_depend")}
    imported = set()
    for file in ("elbowroom_guard/node.py", "launch/guard.launch.py"):
        for part in ast.walk(ast.parse((PACKAGE / file).read_text(encoding="utf-8"))):
            names = [alias.name for alias in part.names] if isinstance(part, ast.Import) else []
            names += [part.module or ""] if isinstance(part, ast.ImportFrom) else []
            imported |= {name.split(".")[0] for name in names}
    assert imported - {"elbowroom"} == depends
    setup = (PACKAGE / "setup.py").read_text(encoding="utf-8")
    assert package.findtext("name") == "elbowroom_guard"
    assert f'version="{package.findtext("version")}"' in setup
    for file in ("package.xml", "launch/guard.launch.py", "config/guard.yaml", "resource/elbowroom_guard"):
        assert (PACKAGE / file).is_file()


def test_the_parameter_file_names_parameters_of_the_node():
    given = YAML(typ="safe").load(PACKAGE / "config" / "guard.yaml")["elbowroom_guard"]["ros__parameters"]
    calls = [
        part.args[0].value
        for part in ast.walk(ast.parse((PACKAGE / "elbowroom_guard" / "node.py").read_text(encoding="utf-8")))
        if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "parameter"
    ]
    assert set(given) | {"robot", "world"} == set(calls)


def test_importing_the_bridge_loads_no_ros():
    code = "import sys, elbowroom.bridges.ros2; sys.exit(', '.join({'rclpy', 'jax'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stderr.strip() == ""
