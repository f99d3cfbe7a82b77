"""Files of the Inspire hand in the styles of public repositories: recognised, completed, planned, and said."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from elbowroom.cli._grasp import Options, run
from elbowroom.errors import ElbowroomError, InputError, UnknownNameError
from elbowroom.grasp import GraspChecker, GraspPlanner, Hand, UnknownFingerError, load_hand
from elbowroom.grasp.doors import grasped_object
from tests.inspire_files import STYLES, blank, lab, suite, write

SIDES = {"right": "rh56", "left": "rh56_left"}
each = pytest.mark.parametrize("side", SIDES)
styles = pytest.mark.parametrize("style", STYLES)


@pytest.fixture
def load(tmp_path: Path) -> Any:
    def get(style: str, side: str, **more: Any) -> tuple[Hand, Path]:
        path = write(tmp_path, style, side)
        return load_hand(path, **more), path

    return get


@each
@styles
def test_all_modes_and_methods_work(load: Any, style: str, side: str) -> None:
    hand, _ = load(style, side)
    assert hand.actuator_names == load_hand("rh56").actuator_names
    assert any(note.startswith(f"recognised as {SIDES[side]} ") for note in hand.notes)
    smooth, specified = GraspPlanner(hand), GraspPlanner(hand, "proportional")
    for mode, fingers in (("line", 2), ("plane", 4), ("cylinder", 5)):
        low, high = smooth.range(mode, fingers=fingers)
        for width in np.linspace(low, high, 4):
            grasp = smooth.grasp(mode, width, fingers=fingers)
            assert abs(grasp.width_error) < 1e-6
            assert abs(grasp.height_error) < 1e-6
            assert grasp.range_violation < 1e-9
            assert (grasp.tips["thumb"][1] > 0.0) == (side == "right") or mode != "line"
            assert grasp.hand.from_registers(grasp.to_registers()) == pytest.approx(grasp.ctrl, abs=1e-3)
        low, high = specified.range(mode, fingers=fingers)
        assert specified.grasp(mode, 0.5 * (low + high), fingers=fingers).s > 0.0


@each
@styles
def test_joints_and_fingertips_are_those_of_the_file(load: Any, style: str, side: str) -> None:
    """MuJoCo's kinematics and equalities of the file itself, up to the rigid motion between the base frames."""
    hand, path = load(style, side)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    worst = 0.0
    for ctrl in np.random.default_rng(1).uniform(hand.ctrl_lower, hand.ctrl_upper, (20, 6)):
        for name, value in zip(hand.joint_names, hand.joints(ctrl), strict=True):
            data.qpos[model.joint(name).qposadr[0]] = value
        mujoco.mj_forward(model, data)
        theirs = []
        for finger in hand.fingers:
            body = model.body(finger.tip_link).id
            theirs.append(data.xmat[body].reshape(3, 3) @ finger.tip_point + data.xpos[body])
        theirs += [data.body(finger.knuckle_link).xpos for finger in hand.fingers]
        ours = np.concatenate([hand.tips(ctrl), hand.knuckles(ctrl)])
        for a, b in ((ours, np.array(theirs)),):
            apart = [np.linalg.norm(p[:, None] - p[None], axis=-1) for p in (a, b)]
            worst = max(worst, float(np.abs(apart[0] - apart[1]).max()))
        follows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        assert np.abs(data.efc_pos[follows]).max(initial=0.0) < 1e-12
    assert worst < 1e-9


@each
@pytest.mark.parametrize("style", ["suite", "floating"])
def test_a_file_without_couplings_is_the_bundled_hand(load: Any, style: str, side: str) -> None:
    """Same joints, couplings filled in: the same grasps in the same frame."""
    hand, _ = load(style, side)
    known = load_hand(SIDES[side])
    low = np.maximum(known.ctrl_lower, hand.ctrl_lower)
    for ctrl in np.random.default_rng(2).uniform(low, known.ctrl_upper, (20, 6)):
        np.testing.assert_allclose(hand.tips(ctrl), known.tips(ctrl), atol=1e-9)
        np.testing.assert_allclose(hand.knuckles(ctrl), known.knuckles(ctrl), atol=1e-9)
    mine, theirs = GraspPlanner(hand).cylinder(0.06), GraspPlanner(known).cylinder(0.06)
    np.testing.assert_allclose(mine.ctrl, theirs.ctrl, atol=1e-6)
    assert any("couplings of" in note for note in hand.notes)


def test_what_was_guessed_is_said(load: Any) -> None:
    hand, _ = load("lab", "left")
    text = "\n".join(hand.notes)
    assert "pinky pinky_proximal_joint" in text
    assert "couplings turned round" in text
    assert re.search(r"left_index_tip is 8\d mm from where the rh56_left has that fingertip; not used", text)
    assert "tip of index: where the rh56_left has it, on index_intermediate" in text
    right, _ = load("lab", "right")
    assert "tip of index: right_index_tip, 0.0 mm from the rh56's" in right.notes
    shown, _ = load("floating", "right")
    assert any("visual shapes stand in" in note for note in shown.notes)
    assert shown.robot.mesh_links
    little, _ = load("maker", "left")
    assert any("pinky L_little_proximal_joint" in note for note in little.notes)


def test_checks_take_the_shapes_of_the_file(load: Any) -> None:
    hand, _ = load("suite", "left")
    grasp = GraspPlanner(hand).line(0.03)
    found = GraspChecker(hand).check(grasp, object_mesh=grasped_object(grasp, 0.1).mesh())
    assert found.free, found.why
    assert "l_index_distal" in found.tip_links


def test_names_that_say_nothing_can_be_given(tmp_path: Path) -> None:
    spec = blank("right")
    spec.modelname = "numbered"
    motors = {
        "pinky": "pinky_proximal_joint",
        "ring": "ring_proximal_joint",
        "middle": "middle_proximal_joint",
        "index": "index_proximal_joint",
        "thumb_proximal": "thumb_proximal_pitch_joint",
        "thumb_yaw": "thumb_proximal_yaw_joint",
    }
    spec.body("index_intermediate").add_site(name="pad", pos=(-0.004, 0.042, -0.005))
    names = {joint.name: f"q{i}" for i, joint in enumerate(spec.joints)}
    for joint in spec.joints:
        joint.name = names[joint.name]
    path = tmp_path / "numbered.xml"
    path.write_text(spec.to_xml(), encoding="utf-8")
    given = {name: names[joint] for name, joint in motors.items()}
    with pytest.raises(InputError, match="name its fingertips"):
        load_hand(path)
    with pytest.raises(
        InputError, match="finger 'thumb': expected one chain of joints named after it, found none"
    ):
        load_hand(path, like="rh56")
    for actuators in (given, tuple(given.values())):
        hand = load_hand(path, like="rh56", actuators=actuators, fingertips={"index": "pad"})
        assert hand.finger("index").tip_point == (-0.004, 0.042, -0.005)
        assert hand.actuators[3].joint == given["index"]
        assert GraspPlanner(hand).plane(0.04).width_error == pytest.approx(0.0, abs=1e-6)
        assert not any("guessed from their names" in note for note in hand.notes)


@pytest.mark.parametrize(
    ("more", "error", "text"),
    [
        ({"like": "allegro"}, UnknownNameError, "like: .*rh56"),
        ({"like": "rh56_left"}, InputError, "mm from rh56_left's.*they are those of rh56;"),
        ({"like": "rh56", "oppositions": {}}, InputError, "oppositions cannot be given with like"),
        ({"like": "rh56", "base_pose": np.eye(4)}, InputError, "base_pose cannot be given"),
        ({"like": "rh56", "revision": "old"}, UnknownNameError, "old"),
        ({"like": "rh56", "fingertips": {"toe": "base"}}, UnknownFingerError, "toe"),
        ({"like": "rh56", "fingertips": {"index": "nowhere"}}, ElbowroomError, "nowhere"),
        ({"like": "rh56", "fingertips": {"index": ("base", (0, 0))}}, InputError, "three"),
        ({"like": "rh56", "actuators": ("a", "b")}, InputError, "6 joints .* found 2"),
        ({"like": "rh56", "actuators": {"toe": "q"}}, UnknownNameError, "toe"),
        ({"like": "rh56", "actuators": {"index": "nowhere"}}, ElbowroomError, "nowhere"),
        (
            {"like": "rh56", "actuators": {"thumb_proximal": "thumb_distal_joint"}},
            InputError,
            "thumb_proximal must be the joint after the thumb's yaw",
        ),
        ({"like": "rh56", "actuators": {"index": "index_intermediate_joint"}}, InputError, "has 2 joints"),
    ],
)
def test_mistakes_are_said(tmp_path: Path, more: dict[str, Any], error: type[Exception], text: str) -> None:
    path = write(tmp_path, "lab", "right")
    with pytest.raises(error, match=text):
        load_hand(path, **more)


def test_another_hand_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "longer.xml"
    path.write_text(
        suite("right").replace('pos="-0.0024229 0.032041 -0.001"', 'pos="-0.0024229 0.042041 -0.001"')
    )
    with pytest.raises(InputError, match=r"up to \d+\.\d mm from an RH56's, right or left, 3 mm are allowed"):
        load_hand(path)
    with pytest.raises(InputError, match="other hand|expected one chain|joints are up to"):
        load_hand("allegro_right_hand", like="rh56")
    bent = tmp_path / "bent.xml"
    bent.write_text(lab("right").replace('polycoef="0 0.8 0 0 0"', 'polycoef="0 0.8 0.5 0 0"'))
    with pytest.raises(InputError, match="cannot be turned round"):
        load_hand(bent)


def test_joints_that_turn_the_other_way_are_another_hand(tmp_path: Path) -> None:
    spec = blank("right")
    spec.joint("index_proximal_joint").axis = (0.0, 0.0, -1.0)
    path = tmp_path / "backwards.xml"
    path.write_text(spec.to_xml(), encoding="utf-8")
    with pytest.raises(InputError, match="its joints are up to"):
        load_hand(path)


def test_the_command_line_takes_a_file_and_says_what_it_guessed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "suite", "left")
    assert run(Options("line", hand=str(path), registers=True)) == 0
    out = capsys.readouterr().out
    assert "inspire_hand_left, line index, smooth" in out
    assert "guessed: recognised as rh56_left" in out
    assert run(Options("line", hand=str(path), json=True)) == 0
    assert len(json.loads(capsys.readouterr().out)["guessed"]) > 3
