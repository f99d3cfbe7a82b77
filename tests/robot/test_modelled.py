"""The bundled robots say that their shapes are ours; descriptions of the user's own, whatever their names, do not."""

from __future__ import annotations

from pathlib import Path

import pytest
import yourdfpy

import elbowroom as er
from elbowroom.grasp import load_hand, mount
from elbowroom.robot import catalogue, joined
from tests.robot.builders import own_teaarm

ASSETS = Path(er.__file__).parent / "assets"
BUNDLED = [entry.name for entry in catalogue() if entry.origin == "bundled"]
REAL = {"teaarm": "TeaArmRobot(urdf_path=path)", "rh56": "load_hand(path)"}


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_robot_says_it_in_one_sentence(name):
    robot = er.load_robot(name)
    (text,) = robot.modelled
    assert text.startswith(f"{name}: its kinematics are those of the real ")
    assert "its shapes are modelled by Elbowroom" in text
    assert "load_robot(path)" in text
    assert REAL.get(name, "") in text
    assert "\n" not in text
    assert len(text) < 300
    assert [note.kind for note in robot.notes].count("modelled") == 1


def test_it_does_not_warn_and_is_no_fault(recwarn):
    er.load_robot("teaarm", strict=True)
    assert not recwarn.list


def test_it_follows_the_files_not_the_way_they_are_loaded():
    said = er.load_robot("teaarm").modelled
    path = ASSETS / "teaarm" / "teaarm.urdf"
    assert er.load_robot(path).modelled == said
    assert er.load_robot(yourdfpy.URDF.load(str(path))).modelled == said
    hand = er.load_robot("rh56").modelled
    for revision in ("spec", "newest"):
        assert load_hand("rh56", revision=revision).robot.modelled == hand
    assert er.TeaArmRobot().robot.modelled == said


def test_the_users_own_meshes_under_the_same_names_are_not_ours(tmp_path):
    robot = er.load_robot(own_teaarm(tmp_path / "own"))
    assert robot.name == "teaarm"
    assert robot.link_names == er.load_robot("teaarm").link_names
    assert robot.modelled == ()
    assert er.load_robot(yourdfpy.URDF.load(str(robot.path))).modelled == ()
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    assert er.prove_coverage(robot, spheres).links["left_arm_l3"].n_spheres


def test_a_description_that_names_our_meshes_says_so(tmp_path):
    text = (ASSETS / "teaarm" / "teaarm.urdf").read_text()
    (tmp_path / "a.urdf").write_text(text.replace("meshes/", f"{ASSETS / 'teaarm' / 'meshes'}/"))
    robot = er.load_robot(tmp_path / "a.urdf", package_dirs=[ASSETS])
    assert robot.modelled == er.load_robot("teaarm").modelled


def test_joined_robots_carry_what_holds_for_their_parts(load):
    arm, hand = er.load_robot("teaarm"), er.load_robot("rh56")
    both = joined(arm, hand, "frame_right_arm_ee", prefix="hand_")
    assert both.modelled == (*arm.modelled, *hand.modelled)
    assert mount(load("panda"), "rh56", "panda_link8").modelled == hand.modelled


def test_robots_from_elsewhere_have_none(load):
    assert load("panda").modelled == ()
