"""MJCF that we write moves and weighs as the robot does, by MuJoCo's own account; what cannot be held is said."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import elbowroom as er
from elbowroom import formats
from elbowroom.errors import InputError
from elbowroom.spheres import SphereModel

TWO_JOINTS = """
<mujoco model="two">
  <compiler angle="radian"/>
  <worldbody>
    <body name="base">
      <geom type="box" size="0.1 0.1 0.1"/>
      <body name="arm" pos="0.1 0.2 0.3" quat="0.8 0.6 0 0">
        <joint name="turn" type="hinge" axis="0 0 1" pos="0.05 0 0.02" range="-1 2" ref="0.3"/>
        <joint name="push" type="slide" axis="1 2 0" range="-0.1 0.1"/>
        <joint name="nod" type="hinge" axis="0 1 1" pos="0 0.1 0" range="-2 2"/>
        <geom type="sphere" size="0.05"/>
        <body name="tip" pos="0 0 0.2"><joint name="bend" axis="1 0 0" range="-1 1"/><geom type="sphere" size="0.03"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
LIMITS = """
<robot name="limits">
  <link name="base"/><link name="a"/><link name="b"/><link name="c"/>
  <joint name="locked" type="revolute"><parent link="base"/><child link="a"/><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/>
    <axis xyz="0 1 0"/><limit lower="0.4" upper="0.4" effort="1" velocity="1"/></joint>
  <joint name="follower" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="1" effort="1" velocity="1"/><mimic joint="locked" multiplier="0.5"/></joint>
  <joint name="free" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0 0 0.5"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>
"""
WEIGHTS = """
<mujoco model="weights">
  <worldbody>
    <body name="base"><geom type="box" size="0.1 0.1 0.1" mass="3"/>
      <body name="arm" pos="0 0 0.3"><joint name="j" axis="0 1 0" range="-1 1"/>
        <inertial pos="0 0 0.1" mass="2" diaginertia="0.1 0.1 0.1"/><geom type="sphere" size="0.05"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def balls(robot, *links):
    return SphereModel.from_links(robot.link_names, {link: ([[0.0, 0.0, 0.05]], [0.07]) for link in links})


def assert_moves_alike(robot, path):
    """Body poses by MuJoCo equal the robot's, for random configurations given by joint name."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for cfg in robot.random_cfgs(20, seed=1):
        q_full = dict(zip((j.name for j in robot.tree.moving), robot.tree.expand(cfg), strict=True))
        for joint in range(model.njnt):
            data.qpos[model.jnt_qposadr[joint]] = q_full[model.joint(joint).name]
        mujoco.mj_kinematics(model, data)
        poses = robot.link_poses(cfg)
        for k, name in enumerate(robot.link_names):
            np.testing.assert_allclose(data.body(name).xpos, poses[k, 4:], atol=1e-12)
            assert abs(data.body(name).xquat @ poses[k, :4]) == pytest.approx(1.0, abs=1e-12)
    return model


def test_bodies_with_several_joints_keep_them_all(tmp_path):
    robot = er.load_robot(mujoco.MjModel.from_xml_string(TWO_JOINTS))
    assert robot.path is None
    formats.write(tmp_path / "a.xml", robot=robot, spheres=balls(robot, "base", "tip"))
    model = assert_moves_alike(robot, tmp_path / "a.xml")
    assert model.njnt == robot.dof == 4
    back = er.load_robot(tmp_path / "a.xml")
    assert back.joint_names == robot.joint_names
    np.testing.assert_allclose(back.lower, robot.lower, atol=1e-15)
    np.testing.assert_allclose(back.upper, robot.upper, atol=1e-15)


def test_joints_that_cannot_move_become_fixed_bodies_and_are_said(tmp_path):
    (tmp_path / "a.urdf").write_text(LIMITS)
    robot = er.load_robot(tmp_path / "a.urdf")
    lost = formats.write(tmp_path / "a.xml", robot=robot, spheres=balls(robot, "base", "c"))
    assert any("'locked' cannot move" in text and "0.4" in text for text in lost)
    assert any("'follower' cannot move" in text and "0.2" in text for text in lost)
    model = assert_moves_alike(robot, tmp_path / "a.xml")
    assert [model.joint(k).name for k in range(model.njnt)] == ["free"]


@pytest.mark.parametrize(("lower", "upper"), [(0.0, np.inf), (-np.inf, 0.5)])
def test_one_sided_limits_keep_the_side_they_have(tmp_path, lower, upper):
    from dataclasses import replace

    from elbowroom.robot._tree import build_tree

    (tmp_path / "a.urdf").write_text(LIMITS)
    robot = er.load_robot(tmp_path / "a.urdf")
    joints = [
        replace(joint, lower=lower, upper=upper) if joint.name == "free" else joint
        for joint in robot.tree.joints
    ]
    robot = replace(robot, tree=build_tree("limits", robot.link_names, joints, np.eye(4)))
    lost = formats.write(tmp_path / "a.xml", robot=robot, spheres=balls(robot, "base"))
    assert any("'free' has no" in text and "infinity" in text for text in lost)
    written = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml")).joint("free").range
    if np.isfinite(lower):
        assert written[0] == lower
        assert written[1] >= 1e6
    else:
        assert written[1] == upper
        assert written[0] <= -1e6


class TestWorld:
    def robot(self, folder, text=LIMITS, **options):
        (folder / "w.urdf").write_text(text.replace('"base"', '"world"'))
        return er.load_robot(folder / "w.urdf", **options)

    def test_a_root_called_world_is_the_world_body(self, tmp_path):
        robot = self.robot(tmp_path)
        lost = formats.write(tmp_path / "w.xml", robot=robot, spheres=balls(robot, "world", "c"))
        assert any("'world' is MuJoCo's own world" in text for text in lost)
        assert_moves_alike(robot, tmp_path / "w.xml")
        assert formats.read(tmp_path / "w.xml").spheres.counts == {"world": 1, "c": 1}

    def test_elsewhere_it_is_refused(self, tmp_path):
        robot = self.robot(tmp_path, base_pose=[1, 0, 0, 0, 0, 0, 1])
        with pytest.raises(InputError, match="'world' is not at the origin"):
            formats.write(tmp_path / "w.xml", robot=robot, spheres=balls(robot, "c"))
        (tmp_path / "c.urdf").write_text(LIMITS.replace('"c"', '"world"'))
        robot = er.load_robot(tmp_path / "c.urdf")
        with pytest.raises(InputError, match="'world' is not the root"):
            formats.write(tmp_path / "w.xml", robot=robot, spheres=balls(robot, "base"))


class TestMasses:
    def test_a_kept_file_weighs_the_same(self, tmp_path):
        (tmp_path / "a.xml").write_text(WEIGHTS)
        robot = er.load_robot(tmp_path / "a.xml")
        before = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
        formats.write(tmp_path / "b.xml", robot=robot, spheres=balls(robot, "base", "arm"))
        after = mujoco.MjModel.from_xml_path(str(tmp_path / "b.xml"))
        np.testing.assert_array_equal(after.body_mass, before.body_mass)
        np.testing.assert_array_equal(after.body_inertia, before.body_inertia)

    def test_a_file_of_ours_weighs_the_same_when_it_is_written_again(self, tmp_path):
        (tmp_path / "a.urdf").write_text(LIMITS)
        robot = er.load_robot(tmp_path / "a.urdf")
        formats.write(tmp_path / "a.xml", robot=robot, spheres=balls(robot, "base", "c"))
        before = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
        robot = er.load_robot(tmp_path / "a.xml")
        formats.write(tmp_path / "b.xml", robot=robot, spheres=balls(robot, "base", "b", "c"))
        after = mujoco.MjModel.from_xml_path(str(tmp_path / "b.xml"))
        np.testing.assert_array_equal(after.body_mass, before.body_mass)


class TestIncludes:
    @pytest.fixture
    def main(self, tmp_path):
        folder = tmp_path / "deep/model"
        folder.mkdir(parents=True)
        (folder / "defs.xml").write_text("<mujoco><default><joint damping='3'/></default></mujoco>")
        (folder / "main.xml").write_text(
            WEIGHTS.replace("<worldbody>", '<include file="defs.xml"/><worldbody>')
        )
        return folder / "main.xml"

    def test_included_files_are_found_from_another_folder(self, tmp_path, main):
        robot = er.load_robot(main)
        (tmp_path / "x/y").mkdir(parents=True)
        lost = formats.write(tmp_path / "x/y/b.xml", robot=robot, spheres=balls(robot, "arm"))
        assert any("included files were made absolute" in text and "package_dirs" in text for text in lost)
        assert mujoco.MjModel.from_xml_path(str(tmp_path / "x/y/b.xml")).dof_damping[0] == 3
        back = er.load_robot(tmp_path / "x/y/b.xml", package_dirs=[main.parent])
        assert back.joint_names == robot.joint_names

    def test_in_the_same_folder_they_stay_relative(self, main):
        robot = er.load_robot(main)
        assert formats.write(main.parent / "b.xml", robot=robot, spheres=balls(robot, "arm")) == ()
        assert 'file="defs.xml"' in (main.parent / "b.xml").read_text()

    def test_nested_ones_are_refused_elsewhere(self, tmp_path, main):
        (main.parent / "more.xml").write_text("<mujoco><default><geom friction='1'/></default></mujoco>")
        (main.parent / "defs.xml").write_text('<mujoco><include file="more.xml"/></mujoco>')
        robot = er.load_robot(main)
        (tmp_path / "x").mkdir()
        with pytest.raises(InputError, match="'defs.xml' names further files"):
            formats.write(tmp_path / "x/b.xml", robot=robot, spheres=balls(robot, "arm"))
