"""Joints that are held: panda with its jaw open has seven joints, and everything agrees with the robot of eight."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import elbowroom as er
from elbowroom.cli import main
from elbowroom.errors import InputError, UnknownJointError
from elbowroom.formats import write

from .builders import collision, joint, link, robot_xml
from .builders import write as write_file

JAW = "panda_finger_joint1"
BOX = collision('<box size="0.1 0.1 0.1"/>')


@pytest.fixture(scope="module")
def panda():
    return er.load_robot("panda", hold={JAW: 0.03})


@pytest.mark.robots
class TestPanda:
    def test_seven_joints(self, panda):
        whole = er.load_robot("panda")
        assert panda.joint_names == tuple(f"panda_joint{k}" for k in range(1, 8))
        assert panda.dof == 7 == len(panda.lower) == len(panda.upper) == len(panda.default_cfg)
        assert panda.link_names == whole.link_names
        assert panda.mesh_links == whole.mesh_links
        assert all(len(cfg) == 7 for cfg in panda.named_cfgs.values())
        assert panda.joints.actuated_names == panda.joint_names

    def test_poses_are_those_of_eight_joints(self, panda):
        whole = er.load_robot("panda")
        cfgs = panda.random_cfgs(50, seed=3)
        full = np.column_stack([cfgs, np.full(50, 0.03)])
        np.testing.assert_allclose(panda.link_poses(cfgs), whole.link_poses(full), atol=1e-12)
        in_jax = np.asarray(panda.forward_kinematics(cfgs.astype(np.float32)))
        np.testing.assert_allclose(in_jax, whole.link_poses(full), atol=1e-5)

    def test_states_of_the_jaw_alone_are_left_out(self, panda):
        whole = er.load_robot("panda")
        assert set(panda.named_cfgs) <= set(whole.named_cfgs)
        for name, cfg in panda.named_cfgs.items():
            np.testing.assert_array_equal(cfg, whole.named_cfgs[name][:7])
        for name in set(whole.named_cfgs) - set(panda.named_cfgs):
            np.testing.assert_array_equal(whole.named_cfgs[name][:7], whole.default_cfg[:7])

    def test_the_fingers_collide_as_before(self, panda):
        """Verdicts of the exact meshes, pairs of the robot of seven joints, both robots."""
        pairs = er.compute_pairs(panda, er.fit_spheres(panda, er.FitOptions(n_spheres=40)))
        assert any("finger" in a + b for a, b in pairs.checked), "they are still looked at"
        cfgs = panda.random_cfgs(400, seed=5)
        full = np.column_stack([cfgs, np.full(400, 0.03)])
        ours = er.ExactCollision(panda, pairs).free(cfgs)
        np.testing.assert_array_equal(ours, er.ExactCollision("panda", pairs).free(full))
        assert 0 < ours.sum() < 400

    def test_a_plan_has_seven_columns(self, panda):
        model = er.CollisionModel(panda)
        start = model.default_cfg
        result = er.plan_motion(model, start, start + 0.2)
        assert result.success
        assert result.path.shape[1] == 7

    def test_it_is_said_but_nothing_is_warned_about(self, panda):
        notes = {note.where: note.text for note in panda.notes if note.kind == "fixed"}
        assert notes[JAW] == "held at 0.03 as asked"
        assert notes["panda_finger_joint2"] == f"held at 0.03: it follows {JAW}"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            er.load_robot("panda", hold={JAW: 0.03})

    def test_on_the_command_line(self, capsys):
        assert main(["check", "panda", "--hold", f"{JAW}=0.04", "--cfg", *["0"] * 3]) == 2
        assert "--cfg needs 7 numbers" in capsys.readouterr().err


def test_hinges_and_what_follows_them(tmp_path):
    law = (
        '<limit lower="-1" upper="1" velocity="1" effort="1"/><mimic joint="{}" multiplier="{}" offset="{}"/>'
    )
    path = write_file(tmp_path, robot_xml(
        *(link(name, BOX) for name in "abcde"), joint("j", "a", "b"),
        joint("k", "b", "c", inner=law.format("j", -0.5, 0.1)),
        joint("l", "c", "d", inner=law.format("k", 2, 0)), joint("m", "d", "e")))  # fmt: skip
    whole, held = er.load_robot(path), er.load_robot(path, hold={"j": 0.4})
    assert held.joint_names == ("m",)
    for value in (-0.7, 0.0, 0.9):
        np.testing.assert_allclose(held.link_poses([value]), whole.link_poses([0.4, value]), atol=1e-12)


def test_several_joints_of_one_mjcf_body(tmp_path):
    text = """<mujoco><worldbody><body name="a"><geom size=".1"/><body name="b" pos="0 0 1">
      <joint name="x" type="slide" axis="1 0 0" range="-1 1"/><joint name="t" axis="0 0 1" range="-90 90" pos=".1 0 0"/>
      <joint name="y" type="slide" axis="0 1 0" range="-1 1" ref="0.2"/><geom size=".1"/></body></body></worldbody></mujoco>"""
    path = write_file(tmp_path, text, "three.xml")
    whole, held = er.load_robot(path), er.load_robot(path, hold={"t": 0.6})
    assert held.joint_names == ("x", "y")
    np.testing.assert_allclose(held.link_poses([0.3, -0.4]), whole.link_poses([0.3, 0.6, -0.4]), atol=1e-12)


def test_every_joint_may_be_held(tmp_path):
    path = write_file(tmp_path, robot_xml(link("a", BOX), link("b", BOX), joint("j", "a", "b")))
    assert er.load_robot(path, hold={"j": 0.5}).dof == 0


def test_files_are_not_those_of_the_description(tmp_path):
    """The user's file still moves the joint, so what edits it would say something else than what was computed."""
    path = write_file(tmp_path, robot_xml(link("a", BOX), link("b", BOX), joint("j", "a", "b")))
    robot = er.load_robot(path, hold={"j": 0.5})
    assert (robot.path, robot.xml) == (None, None)
    write(tmp_path / "held.xml", spheres=er.fit_spheres(robot), robot=robot)
    assert er.load_robot(tmp_path / "held.xml").dof == 0


@pytest.mark.parametrize(
    ("hold", "error", "said"),
    [
        ({"i": 0.0}, UnknownJointError, "hold: no actuated joint 'i'; "),
        ({"j": "open"}, InputError, "expected a finite number"),
        ({"j": np.nan}, InputError, "expected a finite number"),
        ({"j": True}, InputError, "expected a finite number"),
        ({"j": 1.5}, InputError, "1.5 is outside its limits, from -1 to 1"),
        ({"k": 0.5}, InputError, "joint 'k' follows 'j'; hold that one"),
        (("j",), InputError, "expected a map of joints to values"),
    ],
)
def test_what_cannot_be_held(tmp_path, hold, error, said):
    follows = '<limit lower="-1" upper="1" velocity="1" effort="1"/><mimic joint="j"/>'
    text = robot_xml(*map(link, "abc"), joint("j", "a", "b"), joint("k", "b", "c", inner=follows))
    with pytest.raises(error, match=said):
        er.load_robot(write_file(tmp_path, text), hold=hold)


@pytest.mark.parametrize("word", ["finger", "finger=open", "=0.1", "finger="])
def test_words_that_hold_nothing(word, capsys):
    assert main(["info", "teaarm", "--hold", word]) == 2
    assert "--hold: expected name=value" in capsys.readouterr().err
