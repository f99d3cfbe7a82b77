"""Files that a description may not read, by every road that was found; and those that it may."""

from __future__ import annotations

import struct
import subprocess
import sys

import numpy as np
import pytest
import trimesh

import elbowroom as er
from elbowroom.errors import (
    ApproximationWarning,
    DescriptionError,
    ElbowroomError,
    InputError,
    MeshError,
    UnsafeFileError,
)

from .builders import collision, joint, link, robot_xml, write, write_box_mesh

BODY = '<worldbody><body name="a"><geom type="mesh" mesh="m"/></body></worldbody>'


@pytest.fixture
def home(tmp_path):
    """A package with a mesh, and files outside of it."""
    write(tmp_path, "<package/>", "pkg/package.xml")
    write_box_mesh(tmp_path / "pkg/meshes/m.stl")
    write_box_mesh(tmp_path / "outside/m.stl")
    trimesh.creation.box().export(tmp_path / "outside/m.obj")
    write(tmp_path, f'<mujoco><asset><mesh name="m" file="m.stl"/></asset>{BODY}</mujoco>', "outside/sub.xml")
    write(tmp_path, '<mujoco><worldbody><body name="stolen"/></worldbody></mujoco>', "outside/inc.xml")
    return tmp_path


def load(folder, text, name="pkg/model.xml", **options):
    return er.load_robot(write(folder, text.replace("OUT", str(folder / "outside")), name), **options)


@pytest.mark.parametrize(
    "inner",
    [
        '<include file="OUT/inc.xml"/>',
        '<include file="../outside/inc.xml"/>',
        f'<asset><mesh name="m" file="OUT/m.stl"/></asset>{BODY}',
        f'<compiler meshdir="OUT"/><asset><mesh name="m" file="m.stl"/></asset>{BODY}',
        f'<compiler assetdir="../outside"/><asset><mesh name="m" file="m.stl"/></asset>{BODY}',
        '<asset><model name="s" file="OUT/sub.xml"/></asset><worldbody><body name="b"/></worldbody>',
        '<worldbody><body name="b"><flexcomp name="f" type="mesh" file="OUT/m.obj"/></body></worldbody>',
        '<asset><texture name="t" type="cube" fileright="OUT/a.png"/></asset><worldbody><body name="b"/></worldbody>',
        '<asset><skin name="s" file="OUT/a.skn"/></asset><worldbody><body name="b"/></worldbody>',
    ],
)
def test_mjcf_reads_nothing_outside(home, inner):
    with pytest.raises(UnsafeFileError, match="outside"):
        load(home, f"<mujoco>{inner}</mujoco>")


def test_a_submodel_with_its_own_folder_is_checked_too(home):
    write(home, f'<mujoco><compiler meshdir="{home / "outside"}"/><asset><mesh name="m" file="m.stl"/></asset>{BODY}</mujoco>',
          "pkg/sub.xml")  # fmt: skip
    text = '<mujoco><asset><model name="s" file="sub.xml"/></asset><worldbody><attach model="s" body="a" prefix="p"/></worldbody></mujoco>'
    with pytest.raises(UnsafeFileError, match="outside"):
        load(home, text)
    robot = load(home, text, package_dirs=[home / "outside"])
    assert robot.link_mesh("pa") is not None


def test_other_encodings_cannot_hide_elements(home):
    text = b'<?xml version="1.0" encoding="UTF-7"?><mujoco>+ADwAIQAtAC0-<include file="x.xml"/>+AC0ALQA+-</mujoco>'
    with pytest.raises(ElbowroomError, match="UTF-7|decoded|well-formed"):
        er.load_robot(write(home, text, "pkg/model.xml"))


def test_includes_beside_the_including_file_and_submodels_load(home):
    write(home, '<mujoco><include file="b.xml"/></mujoco>', "pkg/sub/a.xml")
    write(
        home,
        '<mujoco><worldbody><body name="b"><geom size="0.1"/></body></worldbody></mujoco>',
        "pkg/sub/b.xml",
    )
    assert load(home, '<mujoco><include file="sub/a.xml"/></mujoco>').link_names == ("b",)
    write(
        home,
        f'<mujoco><compiler meshdir="meshes"/><asset><mesh name="m" file="m.stl"/></asset>{BODY}</mujoco>',
        "pkg/arm.xml",
    )
    scene = '<mujoco><asset><model name="s" file="arm.xml"/></asset><worldbody><attach model="s" body="a" prefix="p"/></worldbody></mujoco>'
    assert load(home, scene).link_mesh("pa") is not None


@pytest.mark.parametrize("address", ["package://../m.stl", "package://./m.stl", "package:///m.stl", "package://%2e%2e/m.stl",
                                     "package://outside/m.stl"])  # fmt: skip
def test_package_names_cannot_climb(home, address):
    write_box_mesh(home / "m.stl")
    text = robot_xml(link("a", collision(f'<mesh filename="{address}"/>')))
    with pytest.raises(ElbowroomError, match="not the name of a package|was not found"):
        load(home, text, "pkg/urdf/model.urdf")


def test_installed_workspaces_that_link_to_their_sources(tmp_path):
    write(tmp_path, "<package/>", "src/pkg/package.xml")
    write_box_mesh(tmp_path / "src/pkg/meshes/m.stl")
    source = write(
        tmp_path,
        robot_xml(link("a", collision('<mesh filename="package://pkg/meshes/m.stl"/>'))),
        "src/pkg/urdf/r.urdf",
    )
    share = tmp_path / "install/share/pkg"
    for name in ("meshes/m.stl", "urdf/r.urdf", "package.xml"):
        (share / name).parent.mkdir(parents=True, exist_ok=True)
        (share / name).symlink_to(tmp_path / "src/pkg" / name)
    assert er.load_robot(share / "urdf/r.urdf").link_mesh("a") is not None
    copied = write(tmp_path, source.read_text(), "elsewhere/r.urdf")
    assert er.load_robot(copied, package_dirs=[tmp_path / "install/share"]).link_mesh("a") is not None


def test_ros_package_path_is_crawled(tmp_path, monkeypatch):
    write(tmp_path, "<package/>", "ws/src/repository/pkg/package.xml")
    write_box_mesh(tmp_path / "ws/src/repository/pkg/m.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ws/src"))
    text = robot_xml(link("a", collision('<mesh filename="package://pkg/m.stl"/>')))
    assert load(tmp_path, text, "far/away/r.urdf").link_mesh("a") is not None


def test_collada_in_disguise_is_refused(tmp_path):
    bomb = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a [<!ENTITY x "y">]><COLLADA/>'.encode("utf-16")
    for data in (bomb, b"PK\x03\x04zipped"):
        write(tmp_path, data, "m.dae")
        robot = load(tmp_path, robot_xml(link("a", collision('<mesh filename="m.dae"/>'))), "r.urdf")
        with pytest.raises(UnsafeFileError):
            robot.link_mesh("a")


def test_meshes_open_no_other_files(tmp_path):
    parts = trimesh.Scene(trimesh.creation.box()).export(file_type="gltf")
    for name, data in parts.items():
        write(tmp_path, data, name)
    text = parts["model.gltf"] + b" " * (-len(parts["model.gltf"]) % 4)
    header = struct.pack("<4s4I", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A)
    write(tmp_path, header + text, "m.glb")
    assert len(trimesh.load(tmp_path / "m.glb").to_mesh().faces) == 12  # trimesh follows it
    robot = load(tmp_path, robot_xml(link("a", collision('<mesh filename="m.glb"/>'))), "r.urdf")
    with pytest.raises(MeshError, match="cannot be read as a mesh"):
        robot.link_mesh("a")


def test_a_mesh_that_vanishes_after_loading(tmp_path):
    write_box_mesh(tmp_path / "m.stl")
    robot = load(tmp_path, robot_xml(link("a", collision('<mesh filename="m.stl"/>'))), "r.urdf")
    (tmp_path / "m.stl").unlink()
    with pytest.raises(ElbowroomError, match="cannot be read"):
        robot.link_mesh("a")


class TestStructure:
    def test_a_body_excluded_from_itself_is_no_pair(self, tmp_path):
        bodies = '<body name="a"><geom size="1"/><body name="b"><geom size="1"/></body></body>'
        excludes = '<exclude body1="a" body2="a"/><exclude body1="b" body2="a"/>'
        text = f"<mujoco><worldbody>{bodies}</worldbody><contact>{excludes}</contact></mujoco>"
        assert set(load(tmp_path, text, "r.xml").disabled_pairs) == {("a", "b")}

    def test_two_joints_to_one_child(self, tmp_path):
        text = robot_xml(link("a"), link("b"), joint("j", "a", "b"), joint("k", "a", "b"))
        with pytest.raises(DescriptionError, match="two parents: joints 'j' and 'k'"):
            load(tmp_path, text, "r.urdf")

    def test_commas_between_numbers(self, tmp_path):
        robot = load(tmp_path, robot_xml(link("a"), link("b"), joint("j", "a", "b", xyz="1,2, 3")), "r.urdf")
        np.testing.assert_allclose(robot.joint("j").T_parent_joint[:3, 3], [1, 2, 3])

    def test_errors_of_the_tree_name_the_file(self, tmp_path):
        with pytest.raises(DescriptionError, match=r"r\.urdf: it has 2 root links"):
            load(tmp_path, robot_xml(link("a"), link("b")), "r.urdf")

    def test_a_folder_of_the_same_name_does_not_hide_a_robot(self, tmp_path, monkeypatch):
        (tmp_path / "teaarm").mkdir()
        monkeypatch.chdir(tmp_path)
        assert er.load_robot("teaarm").dof == 16

    def test_floating_base_beside_a_floor(self, tmp_path):
        text = """<mujoco><worldbody><geom type="box" size="1 1 0.1"/><body name="base" pos="0 0 1"><freejoint/>
          <geom size="0.1"/></body></worldbody></mujoco>"""
        with pytest.warns(ApproximationWarning):
            robot = load(tmp_path, text, "r.xml", base_pose=[1, 0, 0, 0, 5, 0, 2])
        np.testing.assert_allclose(robot.link_poses(np.zeros(0))[:, 4:], [[0, 0, 0], [5, 0, 2]])

    def test_excluded_bodies_are_disabled_pairs(self):
        hand = er.load_robot("rh56")
        assert hand.disabled_pairs["base", "thumb_proximal_base"] == "MJCF exclude"
        assert len(hand.disabled_pairs) == 17
        assert set().union(*hand.disabled_pairs) <= set(hand.link_names)

    def test_what_follows_a_held_joint_is_held(self, tmp_path):
        text = """<mujoco><compiler angle="radian"/><worldbody><body name="a"><geom size="0.1"/><body name="b" pos="0 0 1">
          <joint name="j"/><geom size="0.1"/><body name="c" pos="0 0 1"><joint name="k"/><geom size="0.1"/></body></body></body>
          </worldbody><equality><joint joint1="j" polycoef="0.5 0 0 0 0"/><joint joint1="k" joint2="j" polycoef="0.1 2 0 0 0"/>
          </equality></mujoco>"""
        with pytest.warns(ApproximationWarning, match="it follows j, which is held"):
            robot = load(tmp_path, text, "r.xml")
        assert robot.dof == 0
        half = (0.5 + 1.1) / 2  # about the default axis z
        np.testing.assert_allclose(
            robot.link_poses(np.zeros(0))[2, :4], [np.cos(half), 0, 0, np.sin(half)], atol=1e-12
        )

    @pytest.mark.parametrize("where", ['pos="nan 0 0"', 'pos="inf 0 0"', 'quat="1 nan 0 0"'])
    def test_numbers_that_are_not_finite(self, tmp_path, monkeypatch, where):
        monkeypatch.chdir(tmp_path)
        text = f'<mujoco><worldbody><body name="a"><geom size="0.1" {where}/></body></worldbody></mujoco>'
        with pytest.raises(DescriptionError, match="NaN|infinite|MuJoCo"):
            load(tmp_path, text, "r.xml")
        assert not (tmp_path / "MUJOCO_LOG.TXT").exists()

    def test_poses_outside_the_limits_are_noted(self, tmp_path):
        path = write(tmp_path, robot_xml(link("a"), link("b"), joint("j", "a", "b")), "r.urdf")
        srdf = write(
            tmp_path,
            robot_xml('<group_state name="home"><joint name="j" value="99"/></group_state>'),
            "r.srdf",
        )
        with pytest.warns(ApproximationWarning, match=r"j at 99 is outside its limits \[-1, 1\]"):
            er.load_robot(path, srdf=srdf)

    @pytest.mark.parametrize("options", [{"srdf": 3}, {"package_dirs": [3]}, {"package_dirs": 3}])
    def test_wrong_arguments(self, options):
        with pytest.raises(InputError):
            er.load_robot("teaarm", **options)

    @pytest.mark.parametrize("n", [-1, 2.5, "x"])
    def test_wrong_numbers_of_configurations(self, load, n):
        with pytest.raises(InputError, match="expected a number of configurations"):
            er.load_robot("teaarm").random_cfgs(n)


def test_a_robot_is_an_argument_of_jitted_functions_at_once():
    code = (
        "import jax, jax.numpy as jnp, elbowroom as er; robot = er.load_robot('teaarm');"
        "print(jax.jit(lambda r, q: r.forward_kinematics(q))(robot, jnp.zeros(16)).shape)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "(19, 7)" in result.stdout, result.stderr
