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
from elbowroom.grasp.internal import grasped_object, rh56_spec
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


@pytest.mark.parametrize(
    ("source", "more", "error", "text"),
    [
        ("rh56", {"like": "nope"}, UnknownNameError, "like: no hand 'nope'; there are: rh56, rh56_left"),
        ("rh56", {"like": []}, UnknownNameError, r"like: no hand '\[\]'"),
        ("panda", {"like": []}, UnknownNameError, r"like: no hand '\[\]'"),
        ("rh56", {"like": "rh56_left"}, InputError, "rh56 is a bundled hand and cannot be like='rh56_left'"),
        ("rh56_left", {"like": "rh56"}, InputError, "rh56_left is a bundled hand and cannot be like='rh56'"),
        (
            "rh56",
            {"like": "rh56_left", "fingertips": {"index": "index_intermediate"}},
            InputError,
            "rh56 is a bundled hand",
        ),
    ],
)
def test_like_is_checked_for_bundled_hands_too(
    source: str, more: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        load_hand(source, **more)
    assert load_hand("rh56", like="rh56").name == "rh56"


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


# What a control is ---------------------------------------------------------------------------------

JOINT_LIMITS = "no position servo with a control range drives "
SERVOS: list[tuple[str, tuple[float, float] | None]] = [
    ('<position joint="{}" kp="3" ctrlrange="0.1 1.2"/>', (0.1, 1.2)),
    ('<position joint="{}" kp="3" timeconst="0.1" ctrlrange="0.1 1.2"/>', (0.1, 1.2)),
    ('<position jointinparent="{}" kp="3" ctrlrange="0.1 1.2"/>', (0.1, 1.2)),
    ('<position joint="{}" kp="3" inheritrange="0.5"/>', (0.425, 1.275)),
    ('<position joint="{}" kp="3" ctrlrange="-0.05 1.75"/>', (-0.05, 1.75)),
    ('<general joint="{}" gainprm="3" biastype="affine" biasprm="0 -3 -1" ctrlrange="0.1 1.2"/>', (0.1, 1.2)),
    ('<motor joint="{}" ctrlrange="-5 5"/>', None),
    ('<motor joint="{}" ctrlrange="0.1 1.2"/>', None),
    ('<velocity joint="{}" kv="3" ctrlrange="0.1 1.2"/>', None),
    ('<intvelocity joint="{}" kp="3" ctrlrange="0.1 1.2" actrange="0 1"/>', None),
    ('<general joint="{}" gainprm="3" biastype="affine" biasprm="1 -3" ctrlrange="0.1 1.2"/>', None),
    ('<general joint="{}" gainprm="6" biastype="affine" biasprm="0 -3" ctrlrange="0.1 1.2"/>', None),
    ('<position joint="{}" kp="3" gear="2" ctrlrange="0.1 1.2"/>', None),
    ('<position joint="{}" kp="3" ctrlrange="0.1 1.2" ctrllimited="false"/>', None),
    ('<position joint="{}" kp="3"/>', None),
    ('<position tendon="index_proximal_joint" kp="3" ctrlrange="0.1 1.2"/>', None),
]


def with_actuators(folder: Path, text: str) -> Path:
    """The bundled right hand, index at 0 to 1.7 rad, with other actuators and a tendon named like a joint."""
    spec = blank("right")
    spec.joint("index_proximal_joint").range = (0.0, 1.7)
    tendon = '<tendon><fixed name="index_proximal_joint"><joint joint="index_proximal_joint" coef="1"/></fixed></tendon>'
    path = folder / "driven.xml"
    path.write_text(
        spec.to_xml().replace("</mujoco>", f"{tendon}<actuator>{text}</actuator></mujoco>"), encoding="utf-8"
    )
    return path


@pytest.mark.parametrize(("servo", "limits"), SERVOS)
def test_controls_are_those_of_position_servos_alone(
    tmp_path: Path, servo: str, limits: tuple[float, float] | None
) -> None:
    """A torque or a velocity is no angle: then the joint's own limits count, and that is said."""
    hand = load_hand(with_actuators(tmp_path, servo.format("index_proximal_joint")))
    index = hand.actuators[hand.actuator_index("index")]
    assert (index.lower, index.upper) == pytest.approx(limits or (0.0, 1.7))
    assert hand.registers["index"] == (index.lower, index.upper)
    said = next(note for note in hand.notes if note.startswith(JOINT_LIMITS))
    assert ("index_proximal_joint" in said) == (limits is None)
    assert "ring_proximal_joint" in said


def test_servo_ranges_are_what_mujoco_holds_its_joints_at(tmp_path: Path) -> None:
    """The ends of the accepted range as controls: MuJoCo's servo force vanishes where the joint is at the control."""
    for servo, limits in SERVOS:
        if limits is None or "timeconst" in servo:
            continue
        path = with_actuators(tmp_path, servo.format("index_proximal_joint"))
        model = mujoco.MjModel.from_xml_path(str(path))
        data = mujoco.MjData(model)
        for end in limits:
            data.ctrl[0] = data.qpos[model.joint("index_proximal_joint").qposadr[0]] = end
            mujoco.mj_forward(model, data)
            assert data.actuator_force[0] == pytest.approx(0.0, abs=1e-9)


def test_several_servos_and_ranges_apart(tmp_path: Path) -> None:
    two = '<position joint="{0}" kp="3" ctrlrange="0.1 1.2"/><position joint="{0}" kp="3" ctrlrange="0.3 2"/>'
    hand = load_hand(with_actuators(tmp_path, two.format("index_proximal_joint")))
    assert (hand.actuators[3].lower, hand.actuators[3].upper) == (0.3, 1.2)
    apart = '<position joint="index_proximal_joint" kp="3" ctrlrange="2 3"/>'
    with pytest.raises(
        InputError, match="goes from 0 to 1.7, the control of its servo from 2 to 3; they have no"
    ):
        load_hand(with_actuators(tmp_path, apart))


@pytest.mark.parametrize(
    ("given", "used"), [((-5.0, 5.0), (0.0, 1.7)), ((-0.05, 5.0), (-0.05, 1.7)), ((-1.0, 1.2), (0.0, 1.2))]
)
def test_servo_ranges_far_past_the_joint_are_cut_and_said(
    tmp_path: Path, given: tuple[float, float], used: tuple[float, float]
) -> None:
    servo = f'<position joint="index_proximal_joint" kp="3" ctrlrange="{given[0]} {given[1]}"/>'
    hand = load_hand(with_actuators(tmp_path, servo))
    assert hand.registers["index"] == used
    assert "control ranges go far past the joint limits of index_proximal_joint: those are used" in hand.notes


@pytest.mark.parametrize("revision", ["spec", "newest"])
@each
def test_the_bundled_hand_as_a_file_has_the_scale_of_the_bundled_hand(
    tmp_path: Path, side: str, revision: str
) -> None:
    path = tmp_path / "same.xml"
    path.write_text(rh56_spec(revision, SIDES[side]).to_xml(), encoding="utf-8")
    hand, known = load_hand(path), load_hand(SIDES[side], revision=revision)
    assert hand.registers == known.registers
    np.testing.assert_array_equal(hand.ctrl_lower, known.ctrl_lower)
    np.testing.assert_array_equal(hand.ctrl_upper, known.ctrl_upper)


def test_the_servos_of_a_whole_hand_need_no_note(load: Any) -> None:
    hand, _ = load("lab", "right")
    assert not any("limits" in note for note in hand.notes)
    assert hand.registers["index"] == (0.0, 1.47)
