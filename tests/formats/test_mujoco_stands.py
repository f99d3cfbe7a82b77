"""`mujoco.xml` used as it is: twelve robots load, hold their pose for two seconds, and touch where our spheres do."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest
from lxml import etree

import elbowroom as er
from elbowroom import formats
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.formats._mjcf_drive import SAG
from elbowroom.robot import catalogue

ROBOTS = (
    "teaarm", "rh56", "panda", "ur5_gripper", "xarm7", "tiago_pro", "g1", "anymal", "solo12", "allegro_right_hand",
    "icub_reduced", "b1-z1",
)  # fmt: skip
"""Arms with and without grippers, two arms on wheels, humanoids, quadrupeds, hands; rh56 comes from an MJCF."""
LARGE = ("tiago_pro", "g1", "solo12", "b1-z1")
ALL = [pytest.param(name, marks=pytest.mark.long) if name in LARGE else name for name in ROBOTS]
SECONDS = 2.0


@pytest.fixture(scope="module")
def written(load, tmp_path_factory):
    """Robot, spheres, pairs, file, notes and compiled model by name, made once; read from another folder than theirs."""

    @cache
    def make(name):
        robot = load(name)
        spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
        pairs = er.compute_pairs(robot, spheres, er.PairOptions(samples=200, proof_boxes=32))
        path = tmp_path_factory.mktemp(name) / "mujoco.xml"
        notes = formats.write(path, robot=robot, spheres=spheres, pairs=pairs)
        return robot, spheres, pairs, path, notes, mujoco.MjModel.from_xml_path(str(path))

    return make


def set_joints(robot, model, data, cfg):
    for joint, value in zip(robot.tree.moving, robot.tree.expand(cfg), strict=True):
        if joint.lower < joint.upper:
            data.joint(joint.name).qpos = value


@pytest.mark.parametrize("name", ALL)
def test_it_holds_its_default_pose(written, name):
    robot, _, pairs, _, _, model = written(name)
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    start = data.qpos.copy()
    if robot.path.suffix == ".urdf":
        assert model.key(0).name == "default"
        other = mujoco.MjData(model)
        set_joints(robot, model, other, pairs.default_cfg)
        np.testing.assert_array_equal(start, other.qpos)
        assert model.nu == sum(joint.lower < joint.upper for joint in robot.tree.actuated)
        for k in range(model.nu):
            np.testing.assert_array_equal(data.ctrl[k], data.joint(model.actuator(k).name).qpos[0])
    fastest = 0.0
    for _ in range(round(SECONDS / model.opt.timestep)):
        mujoco.mj_step(model, data)
        fastest = max(fastest, float(np.abs(data.qvel).max()))
    assert np.isfinite(data.qpos).all()
    assert np.isfinite(data.qacc).all()
    assert sum(warning.number for warning in data.warning) == 0
    assert fastest < 1.0  # rad/s, m/s: settling under gravity, no jolt
    assert np.abs(data.qvel).max() < 0.01
    for k in range(model.njnt):
        slides = model.jnt_type[k] == mujoco.mjtJoint.mjJNT_SLIDE
        aside = abs(data.qpos[model.jnt_qposadr[k]] - start[model.jnt_qposadr[k]])
        coupled = robot.joint(model.joint(k).name).coupling is not None  # held by a soft constraint
        assert aside <= SAG["slide" if slides else "hinge"] * (3 if coupled else 1.05), model.joint(k).name


@pytest.mark.parametrize("name", [e.name for e in catalogue() if e.origin == "example-robot-data"])
def test_every_example_robot_holds_its_pose(tmp_path, load, name):
    """Servos and masses alone: spheres so small that none touches another."""
    robot = load(name)
    dots = {link: ([[0.0, 0.0, 0.0]], [1e-5]) for link in (robot.mesh_links or robot.link_names[:1])}
    spheres = er.SphereModel.from_links(robot.link_names, dots)
    notes = formats.write(tmp_path / "a.xml", robot=robot, spheres=spheres, pairs={})
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    assert 0.1 < model.body_mass.sum() < 300
    assert sum("states a mass" in text for text in notes) == (name in ("human", "romeo"))
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    start = data.qpos.copy()
    mujoco.mj_step(model, data, round(SECONDS / model.opt.timestep))
    assert sum(warning.number for warning in data.warning) == 0
    aside = np.abs(data.qpos - start).max(initial=0.0)
    # The only state of simple_humanoid has its ankles 0.42 rad outside their limits, and MuJoCo pushes them in.
    assert aside < (0.5 if name.startswith("simple_humanoid") else 0.011)


@pytest.mark.parametrize("name", ALL)
def test_contacts_are_those_of_the_spheres(written, name):
    """Brute force over all spheres, by our own kinematics, against MuJoCo's contacts; ignored pairs never touch."""
    robot, spheres, pairs, _, _, model = written(name)
    data = mujoco.MjData(model)
    bodies = [model.body(k).name for k in range(model.nbody)]
    cfgs = np.concatenate([pairs.default_cfg[None], robot.random_cfgs(40, seed=7)])
    meetings = 0
    for cfg in cfgs:
        set_joints(robot, model, data, cfg)
        mujoco.mj_forward(model, data)
        found = {
            frozenset(bodies[model.geom_bodyid[geom]] for geom in (contact.geom1, contact.geom2))
            for contact in data.contact
        }
        placed = {}
        for link in spheres.counts:
            T = matrix_from_wxyz_xyz(robot.link_poses(cfg)[robot.link_index(link)])
            centers, radii = spheres.link(link)
            placed[link] = centers @ T[:3, :3].T + T[:3, 3], radii
        wanted = set()
        for a, b in set(pairs.checked) - set(pairs.by_meshes):
            (p, r), (q, s) = placed[a], placed[b]
            if (np.linalg.norm(p[:, None] - q, axis=2) - r[:, None] - s).min() < 0:
                wanted.add(frozenset((a, b)))
        assert found == wanted
        meetings += len(wanted)
    assert meetings  # or nothing was compared


@pytest.mark.parametrize("name", ALL)
def test_it_weighs_what_its_description_says(written, name):
    robot, _, _, path, notes, model = written(name)
    if robot.path.suffix != ".urdf":
        before = mujoco.MjModel.from_xml_path(str(robot.path))
        assert model.body_mass.sum() == pytest.approx(before.body_mass.sum(), rel=1e-12)
        return
    pin = pytest.importorskip("pinocchio")
    described = pin.buildModelFromUrdf(str(robot.path), pin.JointModelFreeFlyer())
    stated = sum(inertia.mass for inertia in described.inertias)
    assert not [text for text in notes if "states a mass" in text]
    assert model.body_mass.sum() == pytest.approx(stated, rel=1e-4)  # every frame has 1e-6 kg at least
    assert (
        "Masses and inertias are those of the description." in path.read_text()
        or "an inertia that" in " ".join(path.read_text().split())
    )


@pytest.mark.parametrize("name", ["panda", "ur5_gripper", "talos_arm"])
def test_inertias_and_centres_are_those_of_the_description(tmp_path, load, name):
    """Joint-space inertia and gravity by Pinocchio, which reads the URDF by itself, at random configurations."""
    pin = pytest.importorskip("pinocchio")
    robot = load(name)
    spheres = er.SphereModel.from_links(robot.link_names, {robot.mesh_links[0]: ([[0.0, 0.0, 0.0]], [0.01])})
    formats.write(tmp_path / "a.xml", robot=robot, spheres=spheres)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
    data = mujoco.MjData(model)
    described = pin.buildModelFromUrdf(str(robot.path))
    other = described.createData()
    order = [described.getJointId(model.joint(k).name) - 1 for k in range(model.njnt)]
    rng = np.random.default_rng(0)
    for _ in range(5):
        data.qpos[:] = rng.uniform(-0.5, 0.5, model.nq)
        data.qvel[:] = 0
        mujoco.mj_forward(model, data)
        q = np.zeros(described.nq)
        q[order] = data.qpos
        inertia = pin.crba(described, other, q)
        inertia = np.triu(inertia) + np.triu(inertia, 1).T
        gravity = pin.computeGeneralizedGravity(described, other, q)
        ours = np.zeros((model.nv, model.nv))
        for k in range(model.nv):
            column = np.zeros(model.nv)
            mujoco.mj_mulM(model, data, column, np.eye(model.nv)[k])
            ours[:, k] = column
        # MuJoCo's least mass of every frame is in it, and the inertias of talos that no body can have are mended.
        scale = np.abs(inertia).max()
        rotors = np.diag(model.dof_armature)
        np.testing.assert_allclose(ours - rotors, inertia[np.ix_(order, order)], atol=2e-4 * scale)
        np.testing.assert_allclose(data.qfrc_bias, gravity[order], atol=1e-3)


def test_a_mended_inertia_is_named(written):
    """anymal states a mass of its base and a placeholder for its inertia, all six entries alike."""
    _, _, _, path, notes, _ = written("anymal")
    [text] = [note for note in notes if "inertia that is unusable" in note]
    assert text.endswith("base")
    assert "inertia that is unusable" in " ".join(path.read_text().split())


def test_the_file_is_readable(written):
    text = written("panda")[3].read_text()
    lines = text.splitlines()
    assert max(map(len, lines)) < 250
    assert sum("<" in line for line in lines) > 100
    for line in lines:  # one element a line, indented by its depth
        assert len(re.findall(r"<[a-z]", line)) <= 1
    root = etree.fromstring(text.encode())
    for body in root.iter("body"):
        line = next(line for line in lines if f'<body name="{body.get("name")}"' in line)
        assert len(line) - len(line.lstrip()) == 2 * len(list(body.iterancestors()))
    assert not re.search(r'[" ]-?[0-9]+\.0[ "]', text)  # 0, not 0.0


BARE = """<robot name="bare">
  <link name="base"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="arm"><collision><origin xyz="0 0 0.2"/><geometry><box size="0.1 0.1 0.4"/></geometry></collision>{inertial}</link>
  <link name="frame"/><link name="ghost"/>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.1"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="1" effort="{effort}"/><dynamics damping="0.7" friction="0.2"/></joint>
  <joint name="f" type="fixed"><parent link="arm"/><child link="frame"/><origin xyz="0 0 0.4"/></joint>
  <joint name="g" type="continuous"><parent link="frame"/><child link="ghost"/><axis xyz="0 0 1"/></joint>
</robot>"""


def write_bare(folder, inertial="", effort="100", cfg=(1.0, 0.0)):
    (folder / "bare.urdf").write_text(BARE.format(inertial=inertial, effort=effort))
    robot = er.load_robot(folder / "bare.urdf")
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    matrix = er.compute_pairs(robot, spheres, er.PairOptions(samples=50, proof_boxes=8))
    pose = er.robot.DefaultPose(np.array(cfg), "test")
    notes = formats.write(
        folder / "bare.xml", robot=robot, spheres=spheres, pairs=replace(matrix, default_pose=pose)
    )
    return mujoco.MjModel.from_xml_path(str(folder / "bare.xml")), notes


class TestWhatTheDescriptionLeavesOut:
    def test_masses_are_estimated_and_said(self, tmp_path):
        model, notes = write_bare(tmp_path)
        assert model.body("arm").mass[0] == pytest.approx(1000 * 0.1 * 0.1 * 0.4, rel=1e-3)
        assert model.body("base").mass[0] == pytest.approx(1000 * 0.2 * 0.2 * 0.1, rel=1e-3)
        np.testing.assert_allclose(model.body("arm").ipos, [0, 0, 0.2], atol=1e-4)
        sides = np.array([0.1, 0.1, 0.4])
        moments = 4.0 / 12 * (np.sum(sides**2) - sides**2)
        np.testing.assert_allclose(np.sort(model.body("arm").inertia), np.sort(moments), rtol=2e-3)
        [text] = [note for note in notes if "states a mass for 2 links" in note]
        assert "1000 kg/m^3" in text
        assert "base, arm" in text
        [text] = [note for note in notes if "no collision geometry" in note]
        assert text.endswith("ghost")
        comments = " ".join(
            " ".join(c.text.split()) for c in etree.parse(tmp_path / "bare.xml").iter(etree.Comment)
        )
        assert "states a mass for 2 links" in comments

    def test_a_stated_mass_counts_and_frames_weigh_nothing(self, tmp_path):
        said = '<inertial><mass value="3"/><origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial>'
        model, notes = write_bare(tmp_path, said)
        assert model.body("arm").mass[0] == 3
        assert model.body("frame").mass[0] <= 1e-6
        T = np.zeros(9)
        mujoco.mju_quat2Mat(T, model.body("arm").iquat)
        inertia = T.reshape(3, 3) @ np.diag(model.body("arm").inertia) @ T.reshape(3, 3).T
        np.testing.assert_allclose(inertia, np.diag([0.2, 0.1, 0.15]), atol=1e-12)
        assert any("states a mass for 1 link," in note and note.endswith("base") for note in notes)

    @pytest.mark.parametrize("moments", ["0 0 0", "1 0.1 0.1", "-1 1 1", "nan 1 1"])
    def test_an_impossible_inertia_is_mended_and_said(self, tmp_path, moments):
        xx, yy, zz = moments.split()
        said = f'<inertial><mass value="3"/><inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/></inertial>'
        model, notes = write_bare(tmp_path, said)
        assert model.body("arm").mass[0] == 3
        assert (model.body("arm").inertia > 1e-4).all()
        said = "no rigid body can have" if moments == "1 0.1 0.1" else "unusable"
        assert [note.endswith("arm") for note in notes if "an inertia that" in note and said in note] == [
            True
        ]

    @pytest.mark.parametrize("mass", ["0", "-1", "heavy", "inf", ""])
    def test_a_mass_that_is_none_counts_as_missing(self, tmp_path, mass):
        said = f'<inertial><mass value="{mass}"/></inertial>'
        model, _ = write_bare(tmp_path, said)
        assert model.body("arm").mass[0] == pytest.approx(4.0, rel=1e-3)

    def test_efforts_damping_and_friction_are_those_of_the_description(self, tmp_path):
        model, notes = write_bare(tmp_path)
        assert list(model.actuator("j").forcerange) == [-100, 100]
        assert model.joint("j").damping[0] == 0.7
        assert model.joint("j").frictionloss[0] == 0.2
        assert list(model.actuator("j").ctrlrange) == [-2, 2]
        assert not model.actuator("g").ctrllimited[0]
        assert not any("effort" in note for note in notes)

    def test_an_effort_that_cannot_hold_the_pose_is_left_out_and_said(self, tmp_path):
        model, notes = write_bare(tmp_path, effort="1")
        assert not model.actuator("j").forcelimited[0]
        [text] = [note for note in notes if "effort" in note]
        asked = 4.0 * 9.81 * 0.2 * np.sin(1.0)
        assert f"j (1 of {asked:.3g})" in text
        comments = " ".join((tmp_path / "bare.xml").read_text().split())
        assert "are those of the description, but stated efforts below" in comments

    def test_damping_and_friction_stay_where_joints_are_held_or_robots_joined(self, tmp_path):
        (tmp_path / "bare.urdf").write_text(BARE.format(inertial="", effort="100"))
        held = er.load_robot(tmp_path / "bare.urdf", hold={"g": 0.1})
        both = er.robot.joined(held, er.load_robot(tmp_path / "bare.urdf"), "arm", prefix="second_")
        for robot, joints in ((held, ["j"]), (both, ["j", "second_j"])):
            spheres = er.SphereModel.from_links(robot.link_names, {"arm": ([[0.0, 0.0, 0.0]], [1e-5])})
            formats.write(tmp_path / "out.xml", robot=robot, spheres=spheres, pairs={})
            model = mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml"))
            assert [model.joint(name).damping[0] for name in joints] == [0.7] * len(joints)
            assert [model.joint(name).frictionloss[0] for name in joints] == [0.2] * len(joints)


def test_joined_robots_weigh_what_theirs_did(tmp_path, load):
    """Each link's mass is looked up in the URDF that it came from, whatever it is called now."""
    arm, hand = load("xarm7"), load("allegro_right_hand")
    both = er.robot.joined(arm, hand, arm.link_names[-1], prefix="hand_")
    masses = []
    for k, robot in enumerate((arm, hand, both)):
        dots = {robot.mesh_links[0]: ([[0.0, 0.0, 0.0]], [1e-5])}
        spheres = er.SphereModel.from_links(robot.link_names, dots)
        notes = formats.write(tmp_path / f"{k}.xml", robot=robot, spheres=spheres, pairs={})
        assert not any("states a mass" in text for text in notes)
        masses.append(mujoco.MjModel.from_xml_path(str(tmp_path / f"{k}.xml")).body_mass.sum())
    assert masses[2] == pytest.approx(masses[0] + masses[1], rel=1e-5)


def test_light_coupled_fingers_stay_where_they_are(tmp_path):
    """Without rotors, joints this light swing up by themselves: kp over inertia is beyond the step."""
    links = ['<link name="palm"/>']
    parent = "palm"
    for k in range(3):
        mimic = '<mimic joint="j0"/>' if k else ""
        links.append(
            f'<link name="f{k}"><inertial><mass value="0.002"/><origin xyz="0.009 0 0"/>'
            '<inertia ixx="1e-8" ixy="0" ixz="0" iyy="6e-8" iyz="0" izz="6e-8"/></inertial>'
            '<collision><origin xyz="0.009 0 0"/><geometry><box size="0.018 0.01 0.01"/></geometry></collision></link>'
            f'<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="f{k}"/><origin xyz="0.02 0 0"/>'
            f'<axis xyz="0 -1 0"/><limit lower="0" upper="1" velocity="1" effort="1"/>{mimic}</joint>'
        )
        parent = f"f{k}"
    (tmp_path / "finger.urdf").write_text(f'<robot name="finger">{"".join(links)}</robot>')
    robot = er.load_robot(tmp_path / "finger.urdf")
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    formats.write(tmp_path / "a.xml", robot=robot, spheres=spheres, pairs=er.compute_pairs(robot, spheres))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
    assert (model.dof_armature > 0).all()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_step(model, data, 1000)
    assert np.abs(data.qpos).max() < 0.02


def test_a_scene_around_the_robot_keeps_its_own_defaults(written, tmp_path):
    """The class of the robot is its own: a box that falls beside it has mass."""
    robot = re.sub(r"<keyframe>.*</keyframe>", "", written("panda")[3].read_text(), flags=re.DOTALL)
    (tmp_path / "robot.xml").write_text(robot)  # its poses are shorter than those of the scene
    (tmp_path / "scene.xml").write_text(
        '<mujoco><include file="robot.xml"/><worldbody><geom type="plane" size="2 2 0.1"/><body name="box" pos="1 0 1">'
        '<freejoint/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "scene.xml"))
    assert model.body("box").mass[0] == pytest.approx(8.0)
