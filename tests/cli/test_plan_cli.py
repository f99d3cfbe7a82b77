"""`elbowroom plan`: starts and goals in words and files, what is said and written, and what is refused."""

from __future__ import annotations

import json

import matplotlib.image
import numpy as np
import pytest

from elbowroom import load_robot
from elbowroom.cli import main
from elbowroom.cli._plan import places, text_of
from elbowroom.errors import ElbowroomError
from elbowroom.plan import Motion, PlanProgress
from elbowroom.recordings import read_configurations
from elbowroom.world import Box, World

LEFT = "frame_left_arm_ee"


@pytest.fixture(scope="module")
def robot():
    return load_robot("teaarm")


def run(capsys, *words):
    code = main(["plan", *map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


# Answers --------------------------------------------------------------------------------------------


def test_a_motion_between_named_configurations(capsys, robot, tmp_path):
    table, picture = tmp_path / "motion.csv", tmp_path / "motion.png"
    words = ["--start", "arms_forward", "--goal", "hug", "--rate", "50", "--out", table, "--plot", picture]
    code, out, _ = run(capsys, "teaarm", *words, "--json")
    assert code == 0
    report = json.loads(out)
    assert report["success"]
    assert report["proof"]["free"]
    assert report["model_seconds"] > 0.0
    assert report["seconds"]["setup"] > 0.0
    assert len(report["clearance"]["rows"]) == len(report["clearance"]["varying"])
    # Where each pair is the closest, it is nearer than what the motion cannot change only where that is said.
    assert all(
        one["distance"] < max(report["clearance"]["varying"]) for one in report["clearance"]["constant"]
    )
    assert report["written"] == [str(table), str(picture)]
    np.testing.assert_array_equal(report["path"][0], robot.named_cfgs["arms_forward"])
    np.testing.assert_array_equal(report["path"][-1], robot.named_cfgs["hug"])
    assert max(map(max, report["limits_used"].values())) <= 1.0
    found = read_configurations(table, robot)
    np.testing.assert_array_equal(found.cfgs, report["path"])
    np.testing.assert_allclose(np.diff(found.times), 0.02, rtol=1e-9)
    assert matplotlib.image.imread(picture).std() > 0.01


def test_text_says_how_one_knows(capsys, tmp_path):
    whole = tmp_path / "motion.json"
    code, out, _ = run(capsys, "teaarm", "--goal", "arms_forward", "--jerk-limits", "100", "--out", whole)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("teaarm: reached the goal in ")
    assert any(line.startswith("  proof: free") for line in lines)
    took = next(line for line in lines if line.startswith("  the search took "))
    assert "setup, not counted in --timeout: spheres and pairs " in took
    assert "goals" not in took.split("; setup")[0]
    assert "setup" not in took.split("; setup")[0]
    assert sum(line.startswith("  closest of ") for line in lines) == 1
    assert any(line.split()[:1] == ["left_j1"] and line.count("%") == 3 for line in lines)
    assert lines[-1] == f"wrote {whole}"
    motion = Motion.read(whole)
    assert motion.joint_names == load_robot("teaarm").joint_names
    assert motion.shares[2].max() <= 1.0


def test_a_hand_to_a_place_by_some_joints(capsys, robot):
    joints = [name for name in robot.joint_names if name.startswith("left")]
    code, out, _ = run(capsys, "teaarm", "--goal", LEFT, "0.3", "0.35", "0.6", "--joints", *joints, "--json")
    report = json.loads(out)
    assert code == 0, report["why"]
    end = np.array(report["path"][-1])
    pose = robot.link_poses(end)[robot.link_index(LEFT)]
    np.testing.assert_allclose(pose[4:], [0.3, 0.35, 0.6], atol=1e-3)
    held = [k for k, name in enumerate(robot.joint_names) if name not in joints]
    np.testing.assert_array_equal(end[held], np.array(report["path"][0])[held])


def test_a_goal_in_an_obstacle_is_no_answer(capsys, robot, tmp_path):
    hand = robot.link_poses(robot.named_cfgs["arms_forward"])[robot.link_index(LEFT)][4:]
    scene = tmp_path / "scene.json"
    pose = np.eye(4)
    pose[:3, 3] = hand
    World([Box(size=(0.1, 0.1, 0.1), pose=pose, name="crate")]).write(scene)
    out_file = tmp_path / "motion.csv"
    code, out, _ = run(capsys, "teaarm", scene, "--start", "hug", "--goal", "arms_forward", "--out", out_file)
    assert code == 1
    assert "no motion" in out
    assert "crate" in out
    assert not out_file.exists()
    code, out, _ = run(capsys, "teaarm", scene, "--start", "hug", "--goal", "arms_forward", "--json")
    report = json.loads(out)
    assert code == 1
    assert report["reason"] == "goal"
    assert report["obstacles"] == 1
    assert report["path"] is None


def test_stomp_shows_its_cost(capsys, robot, tmp_path):
    """A cube where the left hand would pass: the straight line is blocked."""
    start, goal = robot.named_cfgs["arms_forward"], robot.named_cfgs["arms_up"]
    pose = np.eye(4)
    pose[:3, 3] = robot.link_poses((start + goal) / 2)[robot.link_index(LEFT)][4:]
    scene, picture = tmp_path / "scene.json", tmp_path / "motion.png"
    World([Box(size=(0.12, 0.12, 0.12), pose=pose, name="cube")]).write(scene)
    words = ["--start", "arms_forward", "--goal", "arms_up", "--method", "stomp", "--timeout", "600"]
    code, out, _ = run(capsys, "teaarm", scene, *words, "--plot", picture, "--json")
    report = json.loads(out)
    assert code == 0, report["why"]
    assert report["method"] == "stomp"
    assert report["proof"]["free"]
    assert "found by STOMP" in report["why"]
    assert report["cost_history"]
    drawn = matplotlib.image.imread(picture)
    assert drawn.std() > 0.01
    assert drawn.shape[0] > drawn.shape[1] / 2  # a fourth panel


# Words ----------------------------------------------------------------------------------------------


def ask(robot, start, goal, **options):
    return places(robot, robot.default_cfg, start, goal, **{"degrees": False, "rpy": False, **options})


def test_numbers_names_and_files_are_the_same_place(robot, tmp_path):
    cfg = robot.named_cfgs["hug"]
    by_name, by_number = tmp_path / "cfg.json", tmp_path / "cfg.csv"
    by_name.write_text(json.dumps([dict(zip(robot.joint_names, cfg.tolist(), strict=True))]))
    by_number.write_text(",".join(robot.joint_names) + "\n" + ",".join(map(repr, cfg.tolist())))
    degrees = [repr(value) for value in np.degrees(cfg).tolist()]
    for words in (["hug"], list(map(repr, cfg.tolist())), [str(by_name)], [str(by_number)]):
        start, goal = ask(robot, words, words)
        np.testing.assert_array_equal(start, cfg)
        np.testing.assert_array_equal(goal, cfg)
    np.testing.assert_allclose(ask(robot, degrees, ["hug"], degrees=True)[0], cfg, atol=1e-15)


def test_several_goals_and_joints_that_a_file_leaves_out(robot, tmp_path):
    _, goals = ask(robot, ["default"], ["hug", "arms_forward"])
    np.testing.assert_array_equal(goals, [robot.named_cfgs["hug"], robot.named_cfgs["arms_forward"]])
    part = tmp_path / "part.json"
    part.write_text('[{"left_j1": 0.5}]')
    start, goal = ask(robot, ["hug"], [str(part)])
    assert goal[robot.joint_names.index("left_j1")] == 0.5
    assert (goal != start).sum() == 1
    with pytest.raises(ElbowroomError, match="no column for"):
        ask(robot, [str(part)], ["hug"])


def test_links_in_words_and_in_a_file(robot, tmp_path):
    _, (target,) = ask(robot, ["hug"], [LEFT, "0.3", "-0.1", "0.6", "0", "0", "90"], rpy=True)
    np.testing.assert_allclose(target.pose, [np.sqrt(0.5), 0, 0, np.sqrt(0.5), 0.3, -0.1, 0.6], atol=1e-12)
    file = tmp_path / "target.json"
    file.write_text(json.dumps({LEFT: [0.3, -0.1, 0.6]}))
    _, (target,) = ask(robot, ["hug"], [str(file)])
    np.testing.assert_array_equal(target.position, [0.3, -0.1, 0.6])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "nothing to reach"),
        (["--goal", "huge"], "--goal: no named configuration 'huge'; did you mean 'hug'?"),
        (["--goal", "goal.json"], "there is no file of that name either"),
        (["--goal", "1", "2"], "--goal needs 16 numbers"),
        (["--goal", "1", "two"], "expected a number after 1, found 'two'"),
        (["--goal", "hug", "--start", *["0"] * 32], "--start: expected one configuration, found 2"),
        (["--goal", "hug", "--rpy"], "--rpy has no effect here"),
        (["--goal", LEFT, "1", "2"], "found 2 numbers"),
        (["--goal", "hug", "--joints", "elbow"], "no joint 'elbow'"),
        (["--goal", "hug", "--out", "motion.txt"], "expected a name ending in .csv or .json"),
        (["--goal", "hug", "--plot", "motion.gif"], "expected a name ending in"),
        (["--goal", "hug", "--rate", "0"], "rate must be above zero"),
        (["--goal", "hug", "--timeout", "-1"], "timeout must be seconds from 0 up"),
        (["--goal", "hug", "--seed", "-1"], "--seed"),
        (["--goal", "hug", "--velocity-limits", "0"], "velocity_limits must be above zero"),
        (["--goal", "hug", "--jerk-limits", "1", "2"], "jerk_limits must be one number or 16"),
        (["--goal", "hug", "--allow", "base_link", "table"], "--allow has no effect here"),
        (["ghost.json", "--goal", "hug"], "ghost.json"),
    ],
)
def test_bad_input_is_refused_before_long_work(capsys, words, says):
    code, out, err = run(capsys, "teaarm", *words)
    assert code == 2
    assert out == ""
    assert says in err.splitlines()[-1]


def test_what_is_said_while_it_searches():
    assert text_of(PlanProgress("search", 3.21, 12_345)) == "searching, 12,345 nodes (3.2 s)"
    assert text_of(PlanProgress("stomp", 0.5, 0, 12.3456)) == "optimising, best cost 12.35 (0.5 s)"
