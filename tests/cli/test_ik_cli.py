"""`elbowroom ik`: targets on the command line and in files, what is said, pictures, and serving."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys

import matplotlib.image
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from websockets.sync.client import connect

from elbowroom import load_robot
from elbowroom._poses import as_matrix
from elbowroom.cli import main
from elbowroom.recordings import read_configurations

LEFT, RIGHT = "frame_left_arm_ee", "frame_right_arm_ee"
PLACE = ["0.3", "0.35", "0.6"]
FAR = ["10", "0", "0.6"]


@pytest.fixture(scope="module")
def robot():
    return load_robot("teaarm")


def run(capsys, *words):
    code = main(["ik", *map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


def pose_of(robot, cfg, link):
    values = [cfg[name] for name in robot.joint_names]
    return robot.link_poses(np.array(values))[robot.link_index(link)]


# Questions ------------------------------------------------------------------------------------------


def test_without_targets_it_says_which_links_could_have_some(capsys):
    code, _, err = run(capsys, "teaarm")
    assert code == 2
    line = err.splitlines()[-1]
    assert "nothing to reach" in line
    assert f"{LEFT}, {RIGHT}" in line


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--target", *PLACE], "found the number 0.3 first"),
        (["--target", "ghost", *PLACE], "no link 'ghost'"),
        (["--target", LEFT, "1", "2"], "found 2 numbers"),
        (["--target", LEFT, *PLACE, "0", "0", "90"], "--rpy takes three angles"),
        (["--target", LEFT, *PLACE, "0", "0", "0", "0"], "quaternion has length zero"),
        (["--target", LEFT, "nan", "0", "0"], "finite"),
        (["--target", LEFT, *PLACE, "--lock", "ghost"], "no actuated joint 'ghost'"),
        (["--target", LEFT, *PLACE, "--lock", "waist_yaw=x"], "expected JOINT or JOINT=NUMBER"),
        (["--target", LEFT, *PLACE, "--joints", "ghost"], "no actuated joint 'ghost'"),
        (["--target", LEFT, *PLACE, "--joints", "left_j1", "--lock", "left_j1"], "among --joints"),
        (["--target", LEFT, *PLACE, "--cfg", "1", "2"], "--cfg needs 16 numbers"),
        (["--target", LEFT, *PLACE, "--named", "ghost"], "ghost"),
        (["--target", LEFT, *PLACE, "--port", "0"], "--port has no effect here"),
        (["--target", LEFT, *PLACE, "--plot", "x.svg"], "expected a name ending in .png"),
        (["--target", LEFT, *PLACE, "--no-collision", "--buffer", "0.1"], "--buffer has no effect"),
        (["--target", LEFT, *PLACE, "--serve"], "--target has no effect"),
        (["--targets", "missing.csv"], "missing.csv"),
        (["--serve", "--rate", "0"], "rate: expected 1 to 1000"),
        (["--serve", "--left", "ghost"], "no link 'ghost'"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(capsys, words, says):
    code, out, err = run(capsys, "teaarm", *words)
    assert code == 2
    assert out == ""
    assert says in err.splitlines()[-1]
    assert "Traceback" not in err


def test_an_answer_puts_the_links_there(capsys, robot):
    wanted = robot.link_poses(robot.named_cfgs["hug"])
    words, poses = [], {link: as_matrix(wanted[robot.link_index(link)]) for link in (LEFT, RIGHT)}
    for link, T in poses.items():
        angles = Rotation.from_matrix(T[:3, :3]).as_euler("xyz", degrees=True)  # about fixed axes
        words += ["--target", link, *(f"{value:.9f}" for value in (*T[:3, 3], *angles))]
    code, out, _ = run(capsys, "teaarm", *words, "--rpy", "--no-collision", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["success"]
    assert report["free"] is None
    for link, T in poses.items():
        found = as_matrix(pose_of(robot, report["cfg"], link))
        np.testing.assert_allclose(found[:3, 3], T[:3, 3], atol=2e-4)
        np.testing.assert_allclose(found[:3, :3], T[:3, :3], atol=3e-3)


def test_an_answer_is_judged_locked_joints_stay_and_there_is_a_picture(capsys, robot, tmp_path):
    path = tmp_path / "ik.png"
    words = ["--target", LEFT, *PLACE, "--lock", "waist_yaw=5", "waist_pitch", "--degrees", "--plot", path]
    code, out, _ = run(capsys, "teaarm", *words)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("teaarm: reached. teaarm is free")
    values = dict(line.split() for line in lines[lines.index("joint        rad or m") + 1 : -1])
    assert float(values["waist_yaw"]) == pytest.approx(np.radians(5), abs=1e-6)
    held = robot.default_cfg[robot.joint_names.index("waist_pitch")]
    assert float(values["waist_pitch"]) == pytest.approx(held, abs=1e-6)
    found = pose_of(robot, {name: float(text) for name, text in values.items()}, LEFT)
    np.testing.assert_allclose(found[4:], np.array(PLACE, dtype=float), atol=2e-4)
    assert lines[-1] == f"wrote {path}"
    image = matplotlib.image.imread(path)[..., :3]
    red, green, blue = np.moveaxis(image, -1, 0)
    orange = (red > 0.3) & (green > 0.4 * red) & (green < 0.7 * red) & (blue < 0.15 * red)
    half = image.shape[1] // 2
    assert orange[:, :half].sum() > 20  # the target, in both views
    assert orange[:, half:].sum() > 20
    assert (image < 0.99).any(axis=2).mean() > 0.05


def test_what_cannot_be_reached_is_said_with_exit_code_1(capsys):
    code, out, _ = run(capsys, "teaarm", "--target", LEFT, *FAR)
    assert code == 1
    assert out.startswith("teaarm: not reached. ")
    assert LEFT in out.splitlines()[0]


def test_many_targets_of_a_file(capsys, robot, tmp_path):
    table = tmp_path / "poses.csv"
    table.write_text("x,y,z\n0.3,0.35,0.6\n10,0,0.6\n")
    cfgs = tmp_path / "cfgs.csv"
    code, out, _ = run(capsys, "teaarm", "--targets", table, "--link", LEFT, "--no-collision", "--csv", cfgs)
    assert code == 1
    assert out.startswith("teaarm: 1 of 2 sets of targets reached")
    rows = [line.split()[:2] for line in out.splitlines() if line.startswith("poses.csv:")]
    assert rows == [["poses.csv:2", "yes"], ["poses.csv:3", "no"]]
    read = read_configurations(cfgs, robot)
    found = robot.link_poses(read.cfgs)[0, robot.link_index(LEFT)]
    np.testing.assert_allclose(found[4:], [0.3, 0.35, 0.6], atol=2e-4)
    lines = tmp_path / "poses.jsonl"
    pose = [float(value) for value in robot.link_poses(robot.default_cfg)[robot.link_index(LEFT)]]
    lines.write_text(f"{json.dumps({LEFT: pose})}\n\n{json.dumps({LEFT: {'direction': [0, 0, 1]}})}\n")
    code, out, _ = run(capsys, "teaarm", "--targets", lines, "--no-collision", "--json")
    report = json.loads(out)
    assert (code, report["reached"]) == (0, 2)
    assert [entry["name"] for entry in report["listed"]] == ["poses.jsonl:1", "poses.jsonl:3"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x,y,z\n1,2,3\n", "the header names no link"),
        ("a,b\n1,2\n", "expected a header such as"),
        (f"{LEFT}.x,{LEFT}.y\n1,2\n", "expected x y z"),
        (f"{LEFT}.x,{LEFT}.y,{LEFT}.z\n1,2,three\n", f"line 2: {LEFT}.z: expected a number"),
        (f"{LEFT}.x,{LEFT}.y,{LEFT}.z\n1,2\n", "line 2: expected 3 columns"),
        ("link,x,y,z\nghost,1,2,3\n", "line 2: no link 'ghost'"),
        ('[{"ghost": [1, 2, 3]}]', "entry 1: no link 'ghost'"),
        (f'[{{"{LEFT}": [1, 2]}}]', "entry 1: target of"),
        (f'{{"{LEFT}": [1, 2, 3]}}\n{{"a"\n', "line 2: not JSON"),
        ("[]", "there are no targets"),
        ("[3]", "entry 1: expected {link: target}"),
    ],
)
def test_files_that_hold_something_else(capsys, tmp_path, text, says):
    path = tmp_path / "targets"
    path.write_text(text)
    code, _, err = run(capsys, "teaarm", "--targets", path, "--no-collision")
    assert code == 2
    assert says in err.splitlines()[-1]


# Serving --------------------------------------------------------------------------------------------

SERVE = [sys.executable, "-m", "elbowroom", "ik", "teaarm", "--serve"]


@pytest.fixture
def server():
    processes = []

    def start(*words):
        process = subprocess.Popen(
            [*SERVE, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def wait_for(process, wanted):
    """The first message of which `wanted` is true."""
    for line in process.stdout:
        message = json.loads(line)
        if wanted(message):
            return message
    raise AssertionError(process.stderr.read())


def follow(link, pose):
    return json.dumps({"type": "target", "targets": {link: pose}}) + "\n"


def test_lines_in_commands_out_and_a_stop_at_the_end(server, robot):
    process = server("--rate", "100")
    hello = wait_for(process, lambda message: message["type"] == "hello")
    assert hello["joint_names"] == list(robot.joint_names)
    pose = hello["links"][LEFT]
    goal = [*pose[:6], pose[6] + 0.02]
    process.stdin.write("nonsense\n")
    process.stdin.write(follow(LEFT, goal))
    process.stdin.flush()
    error = wait_for(process, lambda message: message["type"] == "error")
    assert "not JSON" in error["error"]
    for _ in range(100):  # targets must be renewed, or the robot stops
        process.stdin.write(follow(LEFT, goal))
        process.stdin.flush()
        there = wait_for(process, lambda message: message["type"] == "command")
        if there["position_error"].get(LEFT, 1.0) < 1e-3:
            break
    found = robot.link_poses(np.array(there["cfg"]))
    assert np.linalg.norm(found[robot.link_index(LEFT), 4:] - goal[4:]) < 1e-3
    right = found[robot.link_index(RIGHT)]
    np.testing.assert_allclose(right[4:], hello["links"][RIGHT][4:], atol=1e-3)  # it was asked nothing
    out, err = process.communicate()  # closes the input
    *_, last, end = [json.loads(line) for line in out.splitlines()]
    assert np.abs(last["velocity"]).max() < 1e-3
    assert end["type"] == "end"
    assert end["messages"] >= 2
    assert process.returncode == 0
    assert "late by ms" in err


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_brakes_before_it_ends(server):
    process = server()
    hello = wait_for(process, lambda message: message["type"] == "hello")
    pose = hello["links"][LEFT]
    process.stdin.write(follow(LEFT, [*pose[:6], pose[6] + 0.3]))
    process.stdin.flush()
    wait_for(process, lambda message: np.abs(message.get("velocity", 0.0)).max() > 0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.stdout.read(), process.stderr.read()  # with the input still open: its end stops it too
    process.wait()
    *_, last, end = [json.loads(line) for line in out.splitlines()]
    assert np.abs(last["velocity"]).max() < 1e-3
    assert end["type"] == "end"
    assert process.returncode == 130
    assert err.splitlines()[-1] == "elbowroom ik: interrupted"


def test_a_reader_that_leaves_ends_it(server):
    process = server()
    wait_for(process, lambda message: message["type"] == "hello")
    process.stdout.close()
    assert process.wait() == 0
    assert "Traceback" not in process.stderr.read()


def test_a_socket_and_a_port_that_is_taken(server, capsys):
    process = server("--port", "0", "--json")
    address = next(line for line in process.stderr if "serving" in line).split(" on ")[1].split(",")[0]
    with connect(address) as connection:
        assert json.loads(connection.recv(timeout=60))["robot"] == "teaarm"
        port = address.rpartition(":")[2]
        code, _, err = run(capsys, "teaarm", "--serve", "--port", port)
        assert code == 2
        assert f"cannot listen on port {port}" in err.splitlines()[-1]
        connection.send('{"type": "end"}')
        out, _ = process.communicate()
    assert process.returncode == 0
    assert json.loads(out)["ticks"] > 0
    with socket.socket() as free:
        # Refused while somebody listens, not for the connection that was just closed.
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", int(port)))  # it was given back


def test_input_that_is_at_its_end_moves_nothing(server, robot):
    process = server()
    out, _ = process.communicate()  # closes the input
    messages = [json.loads(line) for line in out.splitlines()]
    commands = messages[1:-1]  # as many as there were ticks before the end of the input was seen
    assert [messages[0]["type"], messages[-1]["type"]] == ["hello", "end"]
    assert {message["type"] for message in commands} == {"command"}
    assert all(message["cfg"] == messages[0]["cfg"] for message in commands)
    assert process.returncode == 0
