"""Planning groups, end effectors and states of a new SRDF, by a plain XML walk, by MoveIt's rules and by Pinocchio."""

from __future__ import annotations

import re

import numpy as np
import pytest
from lxml import etree

import elbowroom as er
from elbowroom import formats
from elbowroom.errors import InputError, UnknownLinkError
from elbowroom.formats import ExportOptions

ROBOTS = (
    "teaarm", "panda", "ur5_gripper", "xarm7", "tiago_pro", "talos_arm", "g1", "anymal", "solo12",
    "allegro_right_hand", "icub_reduced", "b1-z1",
)  # fmt: skip


def write(folder, robot, name="a.srdf", **given):
    """An SRDF of groups and states alone: no pair is disabled, no link has spheres."""
    formats.write(folder / name, robot=robot, pairs={}, **given)
    return etree.parse(str(folder / name)).getroot()


def groups_of(root):
    """Group -> its children as (tag, attributes)."""
    return {g.get("name"): [(child.tag, dict(child.attrib)) for child in g] for g in root.findall("group")}


class Urdf:
    """Links and joints of a URDF by a walk that is not ours."""

    def __init__(self, path):
        root = etree.parse(str(path)).getroot()
        self.links = {link.get("name") for link in root.findall("link")}
        self.joints = {joint.get("name"): joint for joint in root.findall("joint")}
        self.parent = {j.find("child").get("link"): j for j in self.joints.values()}

    def chain(self, base, tip):
        """Joints from base to tip, as MoveIt walks them: from the tip up."""
        found = []
        while tip != base:
            assert tip in self.parent, f"{base} does not carry the tip"
            found.insert(0, self.parent[tip].get("name"))
            tip = self.parent[tip].find("parent").get("link")
        return found

    def moving(self, joints):
        return [name for name in joints if self.joints[name].get("type") != "fixed"]


def expand(groups, name, urdf):
    """Moving joints of a group, subgroups included, by the rules of srdfdom."""
    found = []
    for tag, said in groups[name]:
        if tag == "chain":
            found += urdf.chain(said["base_link"], said["tip_link"])
        elif tag == "joint":
            found.append(said["name"])
        else:
            assert tag == "group"
            found += expand(groups, said["name"], urdf)
    return urdf.moving(found)


def moveit_accepts(root, urdf):
    """What srdfdom's `model.cpp` complains of, or passes over, is an error here."""
    assert root.tag == "robot"
    groups = groups_of(root)
    assert len(groups) == len(root.findall("group"))
    for name, children in groups.items():
        assert name
        assert children
        for tag, said in children:
            assert tag in ("chain", "joint", "group")
            if tag == "chain":
                assert {said["base_link"], said["tip_link"]} <= urdf.links
                assert urdf.chain(said["base_link"], said["tip_link"])
            elif tag == "joint":
                assert said["name"] in urdf.joints
            else:
                assert said["name"] in groups
                assert said["name"] != name
        assert expand(groups, name, urdf)
    for effector in root.findall("end_effector"):
        assert effector.get("name")
        assert effector.get("group") in groups
        assert effector.get("parent_link") in urdf.links
        carrier = effector.get("parent_group")
        assert carrier in groups
        [(_, said)] = groups[carrier]
        ends = [
            urdf.joints[j].find("child").get("link") for j in urdf.chain(said["base_link"], said["tip_link"])
        ]
        assert effector.get("parent_link") in ends  # MoveIt: the parent link is in the parent group
        assert not set(expand(groups, carrier, urdf)) & set(expand(groups, effector.get("group"), urdf))
    for state in root.findall("group_state"):
        assert state.get("name")
        assert state.get("group") in groups
        values = {joint.get("name"): float(joint.get("value")) for joint in state.findall("joint")}
        members = expand(groups, state.get("group"), urdf)
        free = [name for name in members if urdf.joints[name].find("mimic") is None]
        assert list(values) == free  # each joint once, in the order of the group
        for name, value in values.items():
            limit = urdf.joints[name].find("limit")
            if urdf.joints[name].get("type") != "continuous":
                assert float(limit.get("lower")) <= value <= float(limit.get("upper")), name
    return groups


@pytest.mark.parametrize("name", ROBOTS)
def test_moveit_s_rules_hold_and_every_joint_is_in_a_group(tmp_path, load, name):
    robot = load(name)
    urdf = Urdf(robot.path)
    groups = moveit_accepts(write(tmp_path, robot), urdf)
    moving = {
        name
        for name in urdf.joints
        if urdf.joints[name].get("type") in ("revolute", "continuous", "prismatic")
    }
    leaves = [joint for name in groups if name != "all" for joint in expand(groups, name, urdf)]
    assert sorted(leaves) == sorted(moving)  # once each
    if "all" in groups:
        assert sorted(expand(groups, "all", urdf)) == sorted(moving)


EXPECTED = {
    "panda": {
        "arm": ("panda_link0", "panda_hand_tcp"),
        "hand": ["panda_finger_joint1", "panda_finger_joint2"],
    },
    "teaarm": {
        "left_arm": ("torso_link", "frame_left_arm_ee"),
        "right_arm": ("torso_link", "frame_right_arm_ee"),
        "waist": ["waist_yaw", "waist_pitch"],
    },
    "ur5_gripper": {"arm": ("base_link", "tool0")},
    "g1": {
        "left_leg": ("pelvis", "left_ankle_roll_link"),
        "right_leg": ("pelvis", "right_ankle_roll_link"),
        "left_arm": ("torso_link", "left_rubber_hand"),
        "right_arm": ("torso_link", "right_rubber_hand"),
        "waist": ["waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint"],
    },
    "b1-z1": {
        "FR_leg": ("trunk", "FR_foot"),
        "FL_leg": ("trunk", "FL_foot"),
        "RR_leg": ("trunk", "RR_foot"),
        "RL_leg": ("trunk", "RL_foot"),
        "arm": ("link00", "gripperStator"),
        "Gripper": ["jointGripper"],
    },
}


@pytest.mark.parametrize("name", EXPECTED)
def test_groups_are_those_that_an_engineer_would_name(tmp_path, load, name):
    found = groups_of(write(tmp_path, load(name)))
    if len(EXPECTED[name]) > 1:
        assert [said["name"] for _, said in found.pop("all")] == list(found)
    plain = {
        group: (children[0][1]["base_link"], children[0][1]["tip_link"])
        if children[0][0] == "chain"
        else [said["name"] for _, said in children]
        for group, children in found.items()
    }
    assert plain == EXPECTED[name]


def test_grippers_are_end_effectors_of_their_arms(tmp_path, load):
    root = write(tmp_path, load("tiago_pro"))
    found = {
        e.get("name"): (e.get("parent_link"), e.get("parent_group")) for e in root.findall("end_effector")
    }
    assert found == {
        "gripper_left": ("gripper_left_base_link", "arm_left"),
        "gripper_right": ("gripper_right_base_link", "arm_right"),
    }
    [hand] = write(tmp_path, load("panda"), "b.srdf").findall("end_effector")
    assert (hand.get("name"), hand.get("parent_link"), hand.get("parent_group")) == (
        "hand",
        "panda_hand",
        "arm",
    )


@pytest.mark.parametrize("name", ["teaarm", "panda", "solo12"])
def test_states_come_back_by_our_reader_and_by_pinocchio(tmp_path, load, name):
    robot = load(name)
    write(tmp_path, robot)
    back = er.load_robot(robot.path, srdf=tmp_path / "a.srdf")
    assert set(back.named_cfgs) == set(robot.named_cfgs) | {"default"}
    np.testing.assert_allclose(back.default_cfg, robot.default_cfg, rtol=1e-8)
    for pose, cfg in robot.named_cfgs.items():
        np.testing.assert_allclose(back.named_cfgs[pose], cfg, rtol=1e-8, atol=1e-12)
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(robot.path))
    pin.loadReferenceConfigurations(model, str(tmp_path / "a.srdf"), False)
    for pose, cfg in back.named_cfgs.items():
        theirs = model.referenceConfigurations[pose]
        for joint, value in zip(robot.joint_names, cfg, strict=True):
            index = model.joints[model.getJointId(joint)].idx_q
            assert theirs[index] == pytest.approx(value, abs=1e-12)


def test_the_default_pose_is_said_to_be_hidden_only_where_it_is(tmp_path, load):
    robot = load("panda")
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    pairs = er.compute_pairs(robot, spheres, er.PairOptions(samples=30, proof_boxes=4))
    hidden = "the default pose is in an element that only Elbowroom reads"
    assert hidden not in formats.write(tmp_path / "a.srdf", robot=robot, pairs=pairs)
    (tmp_path / "b.srdf").write_text(MINE)
    assert hidden in formats.write(tmp_path / "b.srdf", robot=robot, pairs=pairs)
    assert hidden in pairs.write(tmp_path / "c.srdf")


def test_the_default_state_is_the_pose_that_pairs_were_made_for(tmp_path, load):
    robot = load("teaarm")
    cfg = robot.random_cfgs(1, seed=5)[0]
    root = write(tmp_path, robot, options=ExportOptions(default_cfg=cfg))
    [state] = [
        s for s in root.findall("group_state") if (s.get("name"), s.get("group")) == ("default", "all")
    ]
    values = {joint.get("name"): float(joint.get("value")) for joint in state}
    np.testing.assert_allclose([values[name] for name in robot.joint_names], cfg, rtol=1e-8)


@pytest.mark.parametrize("name", ["teaarm", "panda"])
def test_numbers_have_at_most_nine_digits(tmp_path, load, name):
    robot = load(name)
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    pairs = er.compute_pairs(robot, spheres, er.PairOptions(samples=50, proof_boxes=8))
    formats.write(tmp_path / "a.srdf", robot=robot, spheres=spheres, pairs=pairs)
    root = etree.parse(str(tmp_path / "a.srdf")).getroot()
    kinds = {"sphere": ("center", "radius"), "joint": ("value",), "elbowroom_pairs": ("default_cfg",)}
    texts = [e.get(key) for tag, keys in kinds.items() for e in root.iter(tag) for key in keys if e.get(key)]
    words = [word for text in texts for word in text.split()]
    assert len(words) > 100
    for word in words:
        digits = re.sub(r"e.*|[-.]", "", word).lstrip("0")
        assert len(digits) <= 9, word
    back = formats.read(tmp_path / "a.srdf", robot=robot).spheres
    assert er.prove_coverage(robot, spheres).proved
    assert er.prove_coverage(robot, back).proved


class TestOptions:
    def test_tools_and_base_of_the_user_bound_the_chains(self, tmp_path, load):
        options = ExportOptions(base_link="torso_link", tool_frames=("left_arm_l7",))
        found = groups_of(write(tmp_path, load("teaarm"), options=options))
        assert found["arm"] == [("chain", {"base_link": "torso_link", "tip_link": "left_arm_l7"})]
        assert "waist" not in found  # below the base is the waist no more

    def test_a_tool_on_the_way_to_another_keeps_its_whole_chain(self, tmp_path, load):
        options = ExportOptions(tool_frames=("panda_hand", "panda_link4"))
        found = groups_of(write(tmp_path, load("panda"), options=options))
        chains = {
            (c["base_link"], c["tip_link"])
            for children in found.values()
            for tag, c in children
            if tag == "chain"
        }
        assert chains == {("panda_link0", "panda_hand"), ("panda_link0", "panda_link4")}

    def test_wrong_ones_are_refused_and_nothing_is_written(self, tmp_path, load):
        with pytest.raises(UnknownLinkError, match="nowhere"):
            write(tmp_path, load("panda"), options=ExportOptions(tool_frames=("nowhere",)))
        options = ExportOptions(base_link="panda_hand", tool_frames=("panda_link1",))
        with pytest.raises(InputError, match="not carried"):
            write(tmp_path, load("panda"), options=options)
        assert not (tmp_path / "a.srdf").exists()


MINE = """<?xml version='1.0' encoding='utf-8'?>
<robot name="panda">
  <!-- mine -->
  <group name="mine"><joint name="panda_joint1"/></group>
  <group_state name="bent" group="mine"><joint name="panda_joint1" value="0.1234567890123"/></group_state>
</robot>
"""


class TestFilesThatAreThere:
    def test_groups_of_the_user_stay_and_ours_are_not_added(self, tmp_path, load):
        (tmp_path / "a.srdf").write_text(MINE)
        write(tmp_path, load("panda"))
        assert (tmp_path / "a.srdf").read_text().strip() == MINE.strip()

    def test_ours_are_renewed(self, tmp_path, load):
        robot = load("panda")
        write(tmp_path, robot)
        first = (tmp_path / "a.srdf").read_bytes()
        write(tmp_path, robot, options=ExportOptions(tool_frames=("panda_link8",)))
        root = etree.parse(str(tmp_path / "a.srdf")).getroot()
        assert groups_of(root)["arm"][0][1]["tip_link"] == "panda_link8"
        write(tmp_path, robot)
        assert (tmp_path / "a.srdf").read_bytes() == first

    def test_without_the_robot_there_are_none(self, tmp_path, load):
        formats.write(tmp_path / "a.srdf", pairs={("panda_link0", "panda_link1"): "User"})
        assert groups_of(etree.parse(str(tmp_path / "a.srdf")).getroot()) == {}


def test_a_robot_without_moving_joints_has_no_groups(tmp_path):
    (tmp_path / "a.urdf").write_text('<robot name="rock"><link name="rock"/></robot>')
    assert groups_of(write(tmp_path, er.load_robot(tmp_path / "a.urdf"))) == {}


def test_a_robot_from_an_mjcf_has_groups_by_its_bodies(tmp_path, load):
    found = groups_of(write(tmp_path, load("rh56")))
    assert set(found) == {"thumb", "index", "middle", "ring", "pinky", "all"}
    assert found["index"] == [("chain", {"base_link": "base", "tip_link": "index_intermediate"})]
