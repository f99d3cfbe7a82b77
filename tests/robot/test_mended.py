"""Descriptions that break a rule and that other loaders take: they load, say what was mended, and `strict` refuses."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
import yourdfpy

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.cli import main
from elbowroom.errors import ApproximationWarning, DescriptionError

from .builders import LIMIT, collision, extents, joint, link, robot_xml, write, write_box_mesh

try:
    import pinocchio
except ImportError:  # there is none for Windows
    pinocchio = None

A, B, C = link("a"), link("b"), link("c")
J = joint("j", "a", "b")
BOX, BALL = '<box size="1 2 3"/>', '<sphere radius="4"/>'


def limited(text, kind="revolute"):
    return robot_xml(A, B, joint("j", "a", "b", kind, inner=text))


MENDED: dict[str, tuple[str | bytes, str, str]] = {
    # what is wrong: the file, what is said of it, who else takes it (p: urdfdom by Pinocchio, y: yourdfpy)
    "mimic of nothing": (limited(LIMIT + '<mimic joint="ghost"/>'), "j: it mimics 'ghost', which does not exist", "py"),
    "mimic of itself": (limited(LIMIT + '<mimic joint="j"/>'), "j: it mimics itself: j -> j", "py"),
    "mimic without a joint": (limited(LIMIT + "<mimic/>"), "its <mimic> names no joint", "y"),
    "mimic of a fixed joint": (
        robot_xml(A, B, C, joint("f", "a", "c", "fixed", ""), joint("j", "a", "b", inner=LIMIT + '<mimic joint="f"/>')),
        "j: it mimics 'f', which does not move; it moves by itself",
        "py",
    ),
    "mimics in a circle": (
        robot_xml(
            A, B, C,
            joint("j", "a", "b", inner=LIMIT + '<mimic joint="k"/>'),
            joint("k", "b", "c", inner=LIMIT + '<mimic joint="j"/>'),
        ),
        "j: it mimics itself: j -> k -> j",
        "py",
    ),
    "no limit": (limited(""), "j: nothing limits it; it turns freely", "y"),
    "infinite limits": (limited('<limit lower="-inf" upper="1e400" effort="1" velocity="1"/>'), "it turns freely", "y"),
    "one infinite limit": (limited('<limit lower="-1" upper="inf" effort="1" velocity="1"/>'), "one full turn", "y"),
    "no limit of a slide": (limited("", "prismatic"), "nothing limits how far it slides", "y"),
    "limits swapped": (limited('<limit lower="1" upper="-1" effort="1" velocity="1"/>'), "1 to -1 .* swapped", "py"),
    "negative velocity": (limited('<limit lower="-1" upper="1" effort="1" velocity="-2"/>'), "velocity limit -2", "y"),
    "zero axis": (robot_xml(A, B, joint("j", "a", "b", axis="0 0 0")), "j: its axis is zero.* held at 0", "py"),
    "an axis without numbers": (
        robot_xml(A, B, J.replace('<axis xyz="0 0 1"/>', "<axis/>")), "j: its <axis> has no xyz; it is read as 1 0 0", "py"
    ),
    "type in capitals": (robot_xml(A, B, joint("j", "a", "b", " Revolute")), "j: its type ' Revolute'", "y"),
    "several limits": (limited(LIMIT + '<limit lower="-9" upper="9"/>'), "j: it has more than one <limit>", "py"),
    "a link twice": (robot_xml(A, B, J, A), "a: this link is described twice in the same words", "y"),
    "collision without geometry": (robot_xml(link("a", "<collision/>"), B, J), "a: a <collision> without a shape", "p"),
    "empty geometry": (robot_xml(link("a", collision("")), B, J), "a: a <collision> without a shape is left out", "p"),
    "two shapes": (robot_xml(link("a", collision(BOX + BALL)), B, J), "a <collision> with 2 shapes; all of", "py"),
    "two geometries": (
        robot_xml(link("a", collision(f"{BOX}</geometry><geometry>{BALL}")), B, J),
        "a: a <collision> with 2 shapes; all of them are used",
        "py",
    ),
    "two origins": (
        robot_xml(link("a", collision(BOX).replace("<geometry>", '<origin xyz="9 9 9"/><geometry>')), B, J),
        "a: it has more than one <origin>",
        "py",
    ),
    "a namespace": (robot_xml(A, B, J).replace("<robot", '<robot xmlns="http://ros.org"'), "in a namespace", "p"),
    "an undeclared prefix": (robot_xml(A, B, J, "<gazebo><sensor:ray/></gazebo>"), "prefix is not declared", "py"),
    "two hyphens in a comment": (robot_xml(A, B, J, "<!-- a -- b -->"), "a comment has two hyphens", "py"),
    "blank lines first": ("\n\n" + robot_xml(A, B, J), "declaration is not at the very beginning", "py"),
    "a comment first": ("<!-- made -->\n" + robot_xml(A, B, J), "declaration is not at the very beginning", "y"),
    "zero bytes last": (robot_xml(A, B, J).encode() + b"\0\0", "bytes of value zero at its end", "py"),
    "Latin-1 unsaid": (robot_xml(A, B, J, "<!-- M\xfcller -->").encode("latin-1"), "read as Latin-1", "py"),
}  # fmt: skip

UNHARMED: dict[str, str | bytes] = {
    "names with spaces": robot_xml(link("a link"), link("b "), joint("my joint", "a link", "b ")),
    "a broken mass": robot_xml(link("a", '<inertial><mass value="heavy"/></inertial>'), B, J),
    "an inertia of NaN": robot_xml(link("a", '<inertial><mass value="nan"/><inertia ixx="nan"/></inertial>'), B, J),
    "empty materials": robot_xml("<material/>", '<material name="m"><color rgba="1"/></material>', A, B, J),
    "a broken visual": robot_xml(link("a", "<visual><geometry><torus/></geometry><material/></visual>"), B, J),
    "extras of others": robot_xml(
        A, B, J, "<transmission><joint/><actuator/></transmission>", '<gazebo><origin xyz="a"/><link/></gazebo>',
        '<ros2_control name="x"><joint name="j"><limit lower="x"/></joint></ros2_control>', "<foo/>",
    ),
    "a comment before a shape": robot_xml(link("a", collision(f"<!-- a box -->{BOX}")), B, J),
    "a geometry in the wrong place": limited(LIMIT).replace("/><axis", "><geometry/></origin><axis"),
    "extras of a joint": limited(LIMIT + '<dynamics damping="x"/><safety_controller/><calibration/>'),
    "infinite velocity": limited('<limit lower="-1" upper="1" effort="inf" velocity="inf"/>'),
    "limits of a continuous joint": limited(LIMIT, "continuous"),
    "limits left to their defaults": limited('<limit effort="1" velocity="1"/>'),
    "declared prefixes": robot_xml(A, B, J).replace("<robot", '<robot xmlns:xacro="http://ros.org/wiki/xacro"'),
    "a byte order mark": b"\xef\xbb\xbf" + robot_xml(A, B, J).encode(),
    "UTF-16": robot_xml(A, B, J).replace("?>", ' encoding="utf-16"?>').encode("utf-16"),
    "Latin-1": robot_xml(A, B, J, "<!-- \xfc -->").replace("?>", ' encoding="ISO-8859-1"?>').encode("latin-1"),
    "no declaration": robot_xml(A, B, J).split("\n", 1)[1],
    "a version": robot_xml(A, B, J).replace("<robot", '<robot version="1.0"'),
    "huge numbers": robot_xml(A, B, joint("j", "a", "b", xyz="0 0 1e30")),
}  # fmt: skip


def mended(path, **options):
    with pytest.warns(ApproximationWarning, match="mended"):
        return er.load_robot(path, **options)


@pytest.mark.parametrize("case", MENDED)
def test_what_others_take_is_mended_and_said(tmp_path, case, capsys):
    text, sentence, takers = MENDED[case]
    path = write(tmp_path, text)
    if "p" in takers and pinocchio is not None:
        pinocchio.buildModelFromUrdf(str(path))
    if "y" in takers:
        yourdfpy.URDF.load(str(path))
    robot = mended(path)
    assert len(robot.mended) == 1
    assert re.search(sentence, robot.mended[0])
    with pytest.raises(DescriptionError, match=f"strict.*{sentence}"):
        er.load_robot(path, strict=True)
    assert main(["info", str(path), "--strict"]) == 2
    capsys.readouterr()
    assert main(["info", str(path)]) == 0
    assert robot.mended[0] in capsys.readouterr().out


@pytest.mark.parametrize("case", UNHARMED)
def test_what_a_robot_has_no_use_for_does_no_harm(tmp_path, case):
    robot = er.load_robot(write(tmp_path, UNHARMED[case]), strict=True)
    assert len(robot.link_names) == 2
    assert robot.mended == ()


def test_other_descriptions_of_one_name_are_refused(tmp_path):
    twins = robot_xml(link("a", collision(BOX)), link("a", collision(BALL)))
    with pytest.raises(DescriptionError, match="two links are named 'a'"):
        er.load_robot(write(tmp_path, twins))


@pytest.mark.parametrize(
    ("case", "kind", "limits"),
    [
        ("mimic of nothing", "revolute", (-1, 1)),
        ("mimic without a joint", "revolute", (-1, 1)),
        ("no limit", "continuous", (-math.pi, math.pi)),
        ("infinite limits", "continuous", (-math.pi, math.pi)),
        ("one infinite limit", "revolute", (-1, math.tau - 1)),
        ("no limit of a slide", "prismatic", (-math.inf, math.inf)),
        ("limits swapped", "revolute", (-1, 1)),
        ("several limits", "revolute", (-1, 1)),
        ("type in capitals", "revolute", (-1, 1)),
    ],
)
def test_a_mended_joint_moves_as_far_as_may_be_meant(tmp_path, case, kind, limits):
    robot = mended(write(tmp_path, MENDED[case][0]))
    assert robot.joint_names == ("j",)
    assert robot.joint("j").type == kind
    np.testing.assert_allclose([robot.lower[0], robot.upper[0]], limits)


def test_the_other_values_of_mended_joints(tmp_path):
    assert mended(write(tmp_path, MENDED["negative velocity"][0])).velocity_limits.tolist() == [2]
    assert mended(write(tmp_path, MENDED["zero axis"][0])).joint("j").type == "fixed"
    circle = mended(write(tmp_path, MENDED["mimics in a circle"][0]))
    assert circle.joint_names == ("j",)
    assert circle.joint("k").coupling.driver == "j"
    free = er.load_robot(write(tmp_path, UNHARMED["infinite velocity"]))
    assert free.velocity_limits.tolist() == [math.inf]
    turning = er.load_robot(write(tmp_path, UNHARMED["limits of a continuous joint"]))
    np.testing.assert_allclose(turning.upper, math.pi)
    held = er.load_robot(write(tmp_path, UNHARMED["limits left to their defaults"]))
    assert (held.lower[0], held.upper[0]) == (0, 0)  # as the specification has it


@pytest.mark.skipif(pinocchio is None, reason="Pinocchio is not installed")
@pytest.mark.parametrize("case", ["mimic of nothing", "mimic of itself", "mimic of a fixed joint"])
def test_a_freed_joint_moves_as_in_pinocchio(tmp_path, case):
    path = write(tmp_path, MENDED[case][0])
    robot, model = mended(path), pinocchio.buildModelFromUrdf(str(path))
    data, frames = model.createData(), [model.getFrameId(name) for name in robot.link_names]
    for cfg in robot.random_cfgs(20):
        pinocchio.framesForwardKinematics(model, data, cfg)
        expected = [data.oMf[frame].homogeneous for frame in frames]
        np.testing.assert_allclose(matrix_from_wxyz_xyz(robot.link_poses(cfg)), expected, atol=1e-12)


def test_no_shape_is_lost(tmp_path):
    for case in ("two shapes", "two geometries"):
        robot = mended(write(tmp_path, MENDED[case][0]))
        assert [shape.kind for shape in robot.shapes["a"]] == ["box", "sphere"]
    np.testing.assert_allclose(
        mended(write(tmp_path, MENDED["two origins"][0])).link_mesh("a").center_mass, 0, atol=1e-9
    )
    write_box_mesh(tmp_path / "box.stl", (1, 2, 3))
    mirrored = robot_xml(link("a", collision('<mesh filename="box.stl" scale="1 -1 2"/>')))
    robot = er.load_robot(write(tmp_path, mirrored), strict=True)
    np.testing.assert_allclose(extents(robot, "a"), [1, 2, 6])
    assert robot.link_mesh("a").volume > 0
    hidden = robot_xml(link("a", collision('<mesh filename="box.stl" scale="0 0 0"/>')))
    with pytest.warns(ApproximationWarning, match="zero size"):
        assert not er.load_robot(write(tmp_path, hidden)).shapes


def test_a_yourdfpy_object_is_mended_too(tmp_path):
    path = write(tmp_path, MENDED["mimic of nothing"][0])
    assert mended(yourdfpy.URDF.load(str(path))).joint_names == ("j",)
    with pytest.raises(DescriptionError, match="strict"):
        er.load_robot(yourdfpy.URDF.load(str(path)), strict=True)


def test_info_holds_what_was_mended(tmp_path, capsys):
    path = write(tmp_path, MENDED["mimic of nothing"][0])
    assert main(["info", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["mended"] == ["j: it mimics 'ghost', which does not exist; it moves by itself"]
    assert facts["notes"][0]["kind"] == "mended"


def test_faults_of_form_are_mended_in_text_that_is_edited(tmp_path):
    path = write(tmp_path, MENDED["a namespace"][0].replace(A, link("a", collision(BALL))))
    robot = mended(path)
    er.formats.write(tmp_path / "balls.urdf", robot=robot, spheres=er.fit_spheres(robot))
    assert er.load_robot(tmp_path / "balls.urdf", strict=True).shapes["a"][0].kind == "sphere"
