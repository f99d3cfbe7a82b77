"""MJCF: kinematics against MuJoCo's own, couplings, keyframes, geometry."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from lxml import etree

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.errors import ApproximationWarning
from elbowroom.robot.descriptions._catalogue import ASSETS, find_robot

from .builders import write

GYMNASTIC = """
<mujoco model="gymnastic"><compiler angle="radian" autolimits="true"/>
<default><joint damping="1"/><default class="far"><joint pos="0.1 -0.2 0.05" axis="1 2 3"/></default></default>
<worldbody><geom type="plane" size="1 1 1"/>
 <body name="base" pos="0.1 0.2 0.3" quat="0.9 0.1 0.3 0.2">
  <geom type="box" size="0.1 0.1 0.1"/>
  <body name="arm" pos="0 0 0.4" euler="0.1 0.2 0.3">
   <joint name="yaw" type="hinge" axis="0 0 1" range="-2 2" ref="0.3"/>
   <joint name="pitch" type="hinge" class="far" range="-1 1"/>
   <joint name="reach" type="slide" axis="1 0 1" pos="0.3 0 0" range="-0.2 0.4" ref="-0.1"/>
   <geom type="capsule" fromto="0 0 0 0.3 0 0.1" size="0.04"/>
   <body name="hand" pos="0.3 0 0.1">
    <joint name="spin" type="hinge" class="far"/>
    <geom type="ellipsoid" size="0.05 0.1 0.02" pos="0 0.1 0"/>
    <body name="tool" pos="0 0.2 0"><geom type="cylinder" size="0.02 0.1" contype="0" conaffinity="0"/></body>
   </body>
  </body>
 </body>
</worldbody></mujoco>"""

COUPLED = """
<mujoco model="coupled"><compiler angle="radian" autolimits="true"/><worldbody>
 <body name="palm"><geom type="box" size="0.05 0.05 0.05"/>
  <body name="p1" pos="0 0 0.1"><joint name="j1" axis="0 1 0" range="0 1.5" ref="0.1"/><geom size="0.02"/>
   <body name="p2" pos="0 0 0.1"><joint name="j2" axis="0 1 0" range="0 2" ref="-0.2"/><geom size="0.02"/>
    <body name="p3" pos="0 0 0.1"><joint name="j3" axis="0 1 0" range="0 2"/><geom size="0.02"/>
     <body name="p4" pos="0 0 0.1"><joint name="j4" axis="1 0 0" range="-1 1"/><geom size="0.02"/></body>
    </body></body></body></body></worldbody>
 <equality><joint joint1="j2" joint2="j1" polycoef="0.15 1.1 -0.2 0.05 0.01"/>
  <joint joint1="j3" joint2="j2" polycoef="0 0.5 0.1 0 0"/><joint joint1="j4" polycoef="0.4 0 0 0 0"/>
  <joint joint1="j1" joint2="j3" polycoef="9 9 9 9 9" active="false"/></equality>
 <keyframe><key name="home" qpos="0.5 0.6 0.7 0.4"/><key name="open" qpos="0 0 0 0.4"/></keyframe>
</mujoco>"""

FREE = """
<mujoco model="free"><worldbody><body name="torso" pos="0 0 1" quat="0.8 0 0.6 0"><freejoint/><geom size="0.1"/>
 <body name="ball" pos="0 0.2 0"><joint type="ball"/><geom size="0.05"/>
  <body name="leg" pos="0 0 -0.3"><joint name="knee" axis="0 1 0" range="-100 0"/><geom size="0.05"/></body>
 </body></body></worldbody></mujoco>"""

SEVERAL_ROOTS = """
<mujoco model="pair"><worldbody><geom name="table" type="box" size="1 1 0.1"/>
 <body name="left" pos="0 1 0"><joint name="a" axis="0 0 1"/><geom size="0.1"/></body>
 <body name="right" pos="0 -1 0"><joint name="b" axis="0 1 0"/><geom size="0.1"/></body></worldbody></mujoco>"""


def largest_error(robot, model, samples=50):
    """Largest difference of position and of rotation matrix to mj_kinematics over random configurations."""
    data = mujoco.MjData(model)
    cfgs = robot.random_cfgs(samples, seed=4)
    values, poses = robot.tree.expand(cfgs), robot.link_poses(cfgs)
    single = np.asarray(robot.forward_kinematics(cfgs.astype(np.float32)))
    assert np.abs(single - poses).max() < 2e-5
    bodies = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) for name in robot.link_names]
    worst = 0.0
    for row in range(samples):
        data.qpos[:] = model.qpos0
        for joint, value in zip(robot.tree.moving, values[row], strict=True):
            data.qpos[model.joint(joint.name).qposadr[0]] = value
        for index in range(model.neq):  # joints that an equality holds at a constant
            if model.eq_type[index] == int(mujoco.mjtEq.mjEQ_JOINT) and model.eq_obj2id[index] < 0:
                address = model.jnt_qposadr[model.eq_obj1id[index]]
                data.qpos[address] = model.qpos0[address] + model.eq_data[index, 0]
        mujoco.mj_kinematics(model, data)
        T = matrix_from_wxyz_xyz(poses[row])
        worst = max(worst, np.abs(T[:, :3, 3] - data.xpos[bodies]).max())
        worst = max(worst, np.abs(T[:, :3, :3] - data.xmat[bodies].reshape(-1, 3, 3)).max())
    return worst


@pytest.mark.parametrize(
    "text", [GYMNASTIC, COUPLED, SEVERAL_ROOTS], ids=["gymnastic", "coupled", "several roots"]
)
def test_kinematics_equal_mujocos(tmp_path, text):
    path = write(tmp_path, text, "made.xml")
    with pytest.warns(ApproximationWarning) if "plane" in text or "j4" in text else _no_warning():
        robot = er.load_robot(path)
    assert largest_error(robot, mujoco.MjModel.from_xml_path(str(path))) < 1e-12


def test_bundled_hand_equals_mujoco(load):
    model = mujoco.MjModel.from_xml_path(str(ASSETS / "rh56/rh56.xml"))
    assert largest_error(load("rh56"), model, 200) < 1e-12


@pytest.mark.robots
@pytest.mark.parametrize("name", ["panda", "ur5", "xarm7", "talos"])
def test_real_robots_compiled_by_mujoco(load, name):
    """MuJoCo's own URDF import gives real kinematic trees; geometry is left out, mimic is not known to it."""
    tree = etree.parse(str(find_robot(name).description))
    for element in tree.xpath("//collision | //visual | //mimic"):
        element.getparent().remove(element)
    for inertial in tree.xpath("//inertial/inertia"):
        inertial.attrib.update({"ixx": "1", "iyy": "1", "izz": "1", "ixy": "0", "ixz": "0", "iyz": "0"})
    text = etree.tostring(tree).decode().replace("<robot ", '<robot xmlns:m="m" ', 1)
    text = text.replace(
        "</robot>", '<mujoco><compiler fusestatic="false" balanceinertia="true"/></mujoco></robot>'
    )
    model = mujoco.MjModel.from_xml_string(text)
    robot = er.load_robot(model)
    assert largest_error(robot, model) < 1e-12
    assert set(robot.link_names) == set(load(name).link_names) - {"world"}  # MuJoCo has a world of its own


def test_couplings_follow_mujocos_law_with_references(tmp_path):
    model = mujoco.MjModel.from_xml_path(str(write(tmp_path, COUPLED, "made.xml")))
    with pytest.warns(ApproximationWarning, match="j4: an equality fixes it"):
        robot = er.load_robot(model)
    assert robot.joint_names == ("j1",)
    x = 0.8
    q = dict(zip([j.name for j in robot.tree.moving], robot.tree.expand(np.array([x])), strict=True))
    d1 = x - 0.1
    y2 = 0.15 + 1.1 * d1 - 0.2 * d1**2 + 0.05 * d1**3 + 0.01 * d1**4 - 0.2
    assert q["j2"] == pytest.approx(y2, abs=1e-14)
    assert q["j3"] == pytest.approx(0.5 * (y2 + 0.2) + 0.1 * (y2 + 0.2) ** 2, abs=1e-14)
    # The joint equality residual that MuJoCo's solver would drive to zero is zero.
    data = mujoco.MjData(model)
    for name, value in q.items():
        data.qpos[model.joint(name).qposadr[0]] = value
    data.qpos[model.joint("j4").qposadr[0]] = 0.4
    mujoco.mj_forward(model, data)
    assert np.abs(data.efc_pos[: data.ne]).max() < 1e-12


def test_keyframes_are_named_configurations(tmp_path):
    with pytest.warns(ApproximationWarning):
        robot = er.load_robot(write(tmp_path, COUPLED, "made.xml"))
    assert set(robot.named_cfgs) == {"home", "open"}
    np.testing.assert_allclose(robot.named_cfgs["home"], [0.5])
    np.testing.assert_allclose(robot.default_cfg, [0.5])


def test_free_and_ball_joints_are_held_and_said_so(tmp_path):
    path = write(tmp_path, FREE, "made.xml")
    with pytest.warns(ApproximationWarning, match="free joint of body 'torso'") as caught:
        robot = er.load_robot(path)
    assert "ball joint of body 'ball'" in str(caught[0].message)
    assert robot.joint_names == ("knee",)
    np.testing.assert_allclose(robot.link_poses(np.zeros(1))[0], [0.8, 0, 0.6, 0, 0, 0, 1], atol=1e-15)
    with pytest.warns(ApproximationWarning):
        moved = er.load_robot(path, base_pose=[1, 0, 0, 0, 5, 0, 0])
    np.testing.assert_allclose(moved.link_poses(np.zeros(1))[0, 4:], [5, 0, 0])


def test_geometry_and_visual_geoms(tmp_path):
    path = write(tmp_path, GYMNASTIC, "made.xml")
    with pytest.warns(ApproximationWarning, match="no collision geometry") as caught:
        robot = er.load_robot(path, use_visual=True)
    assert "a plane geom" in str(caught[0].message)
    assert [shape.kind for link in robot.mesh_links for shape in robot.shapes[link]] == [
        "box",
        "capsule",
        "ellipsoid",
        "cylinder",
    ]
    capsule = robot.link_mesh("arm")
    assert capsule.is_watertight
    length = np.hypot(0.3, 0.1)
    assert capsule.volume == pytest.approx(np.pi * 0.04**2 * (length + 4 / 3 * 0.04), rel=0.02)
    np.testing.assert_allclose(np.ptp(robot.link_mesh("hand").vertices, axis=0), [0.1, 0.2, 0.04], rtol=0.011)


def test_mesh_geoms_keep_their_place(tmp_path):
    import trimesh

    shape = trimesh.creation.box(extents=(0.2, 0.1, 0.3))
    shape.apply_translation([1.0, 2.0, 3.0])
    shape.export(tmp_path / "box.stl")
    text = """<mujoco><asset><mesh name="m" file="box.stl" scale="0.1 0.1 0.1"/></asset><worldbody><body name="a">
      <geom type="mesh" mesh="m" pos="0.5 0 0"/></body></worldbody></mujoco>"""
    robot = er.load_robot(write(tmp_path, text, "made.xml"))
    expected = shape.bounds * 0.1 + [0.5, 0, 0]
    np.testing.assert_allclose(robot.link_mesh("a").bounds, expected, atol=1e-6)


def test_spec_and_model_load_alike(tmp_path):
    path = write(tmp_path, SEVERAL_ROOTS, "made.xml")
    robots = [
        er.load_robot(source)
        for source in (path, mujoco.MjModel.from_xml_path(str(path)), mujoco.MjSpec.from_file(str(path)))
    ]
    assert robots[0].link_names == ("world", "left", "right")
    for robot in robots[1:]:
        np.testing.assert_array_equal(robot.link_poses(np.ones(2)), robots[0].link_poses(np.ones(2)))


def test_loops_are_said_to_be_left_open(tmp_path):
    text = SEVERAL_ROOTS.replace(
        "</mujoco>", '<equality><connect body1="left" body2="right" anchor="0 0 0"/></equality></mujoco>'
    )
    with pytest.warns(ApproximationWarning, match="connect equality closes a loop"):
        er.load_robot(write(tmp_path, text, "made.xml"))


def _no_warning():
    import contextlib

    return contextlib.nullcontext()
