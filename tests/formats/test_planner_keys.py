"""cuRobo YAML and XRDF hold every key that their loaders need, of the type they take, and none that they refuse.

The lists are facts read off the loaders' public sources, commits of github.com/NVlabs/curobo:
- version 1 (36ea382, 0.7): `cuda_robot_model/cuda_robot_generator.py` (CudaRobotGeneratorConfig and its
  `__post_init__`, `_build_collision_model`), `cuda_robot_model/types.py` (CSpaceConfig), `cuda_robot_model/util.py`;
- version 2 (457b658): `_src/robot/loader/kinematics_loader_cfg.py` (KinematicsLoaderCfg), `kinematics_loader.py`,
  `_src/robot/types/cspace_params.py`, `_src/robot/types/self_collision_params.py`, `loader/util.py`;
- XRDF: NVIDIA's specification of format_version 1.0 (nvidia-isaac-ros.github.io, concepts/manipulation/xrdf) and what
  `util/xrdf_utils.py` (version 1) and `_src/util/xrdf_util.py` (version 2) ask for.
Both versions make a dataclass from the mapping, so a key that they do not know is an error.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
import yaml
from lxml import etree

import elbowroom as er
from elbowroom import formats
from elbowroom.errors import InputError, UnknownJointError, UnknownLinkError
from elbowroom.formats import ExportOptions
from elbowroom.spheres import SphereModel

ROBOTS = ("kinova", "pr2", "panda", "teaarm")
NONE = type(None)
# Key -> (types, whether loading fails without it). With spheres, the loader asks collision_spheres, both
# self_collision_* and collision_link_names for their items without looking whether they are there.
BOTH = {
    "base_link": ((str,), True),
    "collision_link_names": ((list,), True),
    "collision_spheres": ((dict,), True),  # in version 1 also the name of a file, which version 2 warns of
    "collision_sphere_buffer": ((float, dict), False),  # an integer is neither
    "self_collision_buffer": ((dict,), True),
    "self_collision_ignore": ((dict,), True),
    "debug": ((dict, NONE), False),
    "use_global_cumul": ((bool,), False),
    "asset_root_path": ((str,), False),
    "mesh_link_names": ((list, NONE), False),
    "urdf_path": ((str,), True),  # None is taken, and fails where the URDF is read
    "lock_joints": ((dict, NONE), False),
    "extra_links": ((dict, NONE), False),
    "add_object_link": ((bool,), False),
    "use_external_assets": ((bool,), False),
    "external_asset_path": ((str, NONE), False),
    "external_robot_configs_path": ((str, NONE), False),
    "extra_collision_spheres": ((dict, NONE), False),
    "cspace": ((dict, NONE), False),
    "load_meshes": ((bool,), False),
}
KINEMATICS = {
    1: BOTH
    | {
        "ee_link": ((str,), True),
        "link_names": ((list, NONE), False),
        "compute_jacobian": ((bool,), False),
        "load_link_names_with_mesh": ((bool,), False),
        "usd_path": ((str, NONE), False),
        "usd_robot_root": ((str, NONE), False),
        "isaac_usd_path": ((str, NONE), False),
        "use_usd_kinematics": ((bool,), False),
        "usd_flip_joints": ((list, dict, NONE), False),
        "usd_flip_joint_limits": ((list, NONE), False),
    },
    2: BOTH
    | {
        "tool_frames": ((list,), True),
        "grasp_contact_link_names": ((list, NONE), False),
        "load_tool_frames_with_mesh": ((bool,), False),
        "load_collision_spheres": ((bool,), False),
        "num_envs": ((int,), False),
        "format_version": ((float,), False),
    },
}
POSE = {1: "retract_config", 2: "default_joint_position"}
CSPACE = {
    version: {
        "joint_names": ((list,), True),
        pose: ((list, NONE), version == 2),  # version 2 takes joints that it does not move from it
        "cspace_distance_weight": ((list, NONE), False),
        "null_space_weight": ((list, NONE), False),
        "max_acceleration": ((float, list), False),
        "max_jerk": ((float, list), False),
        "velocity_scale": ((float, list), False),
        "acceleration_scale": ((float, list), False),
        "jerk_scale": ((float, list), False),
        "position_limit_clip": ((float, list), False),
    }
    | ({"null_space_maximum_distance": ((list, NONE), False)} if version == 2 else {})
    for version, pose in POSE.items()
}
XRDF = {
    "format": ((str,), True),
    "format_version": ((float,), True),
    "modifiers": ((list,), False),
    "default_joint_positions": ((dict,), True),  # optional in the specification, asked for by cuRobo
    "cspace": ((dict,), True),
    "tool_frames": ((list,), True),  # optional in the specification, asked for by cuRobo
    "collision": ((dict,), False),
    "self_collision": ((dict,), False),
    "geometry": ((dict,), False),
}
XRDF_CSPACE = dict.fromkeys(("joint_names", "acceleration_limits", "jerk_limits"), ((list,), True))
XRDF_COLLISION = {
    "geometry": ((str,), True),
    "buffer_distance": ((dict,), True),
}  # version 1 asks for the second too
XRDF_SELF = XRDF_COLLISION | {"ignore": ((dict,), True)}


def check(mapping, keys, where):
    """The mapping has what is required, nothing unknown, and the right types."""
    assert set(mapping) <= set(keys), f"{where}: unknown {set(mapping) - set(keys)}"
    for key, (types, required) in keys.items():
        if required:
            assert key in mapping, f"{where}: {key} is missing"
        if key in mapping:
            assert type(mapping[key]) in types, f"{where}: {key} is {mapping[key]!r:.80}"


def check_spheres(spheres):
    for link, entries in spheres.items():
        assert isinstance(link, str)
        assert entries
        for entry in entries:
            assert set(entry) == {"center", "radius"}
            assert all(type(value) is float for value in (*entry["center"], entry["radius"]))
            assert len(entry["center"]) == 3


def check_ignore(ignore):
    seen = set()
    for link, others in ignore.items():
        assert all(isinstance(name, str) for name in (link, *others))
        pairs = {frozenset((link, other)) for other in others}
        assert len(pairs) == len(others)
        assert not pairs & seen  # each once: the loader takes a pair from either side
        seen |= pairs
    return seen


def chain(urdf, base, link):
    """Links from base to link by a plain walk over the URDF's joints, and the joints on the way that move."""
    parents = {
        joint.find("child").get("link"): (joint.find("parent").get("link"), joint)
        for joint in etree.parse(str(urdf)).getroot().findall("joint")
    }
    joints = []
    while link != base:
        link, joint = parents[link]  # a link that the base does not carry has no such entry in the end
        if joint.get("type") != "fixed":
            mimic = joint.find("mimic")
            joints.append(joint.get("name") if mimic is None else mimic.get("joint"))
    return joints


def read_curobo(path, version):
    """The kinematics of a file, as cuRobo reads YAML, after all checks."""
    data = yaml.load(path.read_text(), Loader=yaml.Loader)
    assert set(data) == {"robot_cfg"}
    assert set(data["robot_cfg"]) == {"kinematics"}
    found = data["robot_cfg"]["kinematics"]
    check(found, KINEMATICS[version], f"version {version}")
    check(found["cspace"], CSPACE[version], "cspace")
    assert len(found["cspace"]["joint_names"]) == len(found["cspace"][POSE[version]])
    assert all(type(value) is float for value in found["cspace"][POSE[version]])
    check_spheres(found["collision_spheres"])
    assert set(found["collision_link_names"]) == set(found["collision_spheres"])
    return found


def tools_of(found):
    return found.get("tool_frames") or found.get("link_names") or [found["ee_link"]]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", ROBOTS)
def test_curobo_loads_it_as_written(tmp_path, computed, name, version):
    robot, spheres, pairs = computed(name)
    path = tmp_path / "robot.yml"
    formats.write(
        path, robot=robot, spheres=spheres, pairs=pairs, options=ExportOptions(curobo_version=version)
    )
    found = read_curobo(path, version)
    urdf = Path(found["urdf_path"])
    assert urdf.is_absolute()
    assert urdf.samefile(robot.path)
    # Meshes are looked for below asset_root_path once package:// is taken off.
    for mesh in etree.parse(str(urdf)).getroot().iterfind(".//collision//mesh"):
        assert (Path(found["asset_root_path"]) / mesh.get("filename").replace("package://", "")).is_file()
    # Every joint on the way to a tool or to spheres has its place in cspace, or the loader does not find it.
    joints = {
        joint
        for link in (*tools_of(found), *found["collision_link_names"])
        for joint in chain(urdf, found["base_link"], link)
    }
    assert joints <= set(found["cspace"]["joint_names"])
    assert check_ignore(found["self_collision_ignore"]) == {
        frozenset(names) for names in (*pairs.ignored, *pairs.by_meshes)
    }
    if version == 1:
        assert found["ee_link"] == tools_of(found)[0]


@pytest.mark.parametrize("file", ["a.yml", "a.xrdf"])
@pytest.mark.parametrize("name", ROBOTS)
def test_the_dictionary_of_a_matrix_is_that_of_its_file(tmp_path, computed, name, file):
    robot, spheres, pairs = computed(name)
    formats.write(tmp_path / file, robot=robot, spheres=spheres, pairs=pairs)
    data = yaml.safe_load((tmp_path / file).read_text())
    if file == "a.yml":
        written = data["robot_cfg"]["kinematics"]["self_collision_ignore"]
    else:
        written = data["self_collision"]["ignore"]
    found = pairs.ignore_dictionary()
    assert written == found
    assert list(written) == list(found)
    once = [frozenset((link, other)) for link, others in found.items() for other in others]
    assert len(set(once)) == len(once)
    # cuRobo's rule (curobo/_src/robot/types/self_collision_params.py): a pair is left out if either link names the other.
    left = {
        (a, b)
        for a, b in combinations(sorted(pairs.link_names), 2)
        if b not in found.get(a, ()) and a not in found.get(b, ())
    }
    assert left == set(pairs.by_spheres)


def test_the_dictionary_is_the_callers_own(computed):
    _, _, pairs = computed("teaarm")
    first = pairs.ignore_dictionary()
    first["base_link"].append("nonsense")
    assert "nonsense" not in pairs.ignore_dictionary()["base_link"]
    assert type(first) is dict
    assert all(type(others) is list for others in first.values())


@pytest.mark.parametrize("name", ROBOTS)
def test_xrdf_follows_the_specification(tmp_path, computed, name):
    robot, spheres, pairs = computed(name)
    path = tmp_path / "robot.xrdf"
    lost = formats.write(path, robot=robot, spheres=spheres, pairs=pairs)
    assert any("acceleration and jerk limits" in text for text in lost)
    found = yaml.load(path.read_text(), Loader=yaml.Loader)
    check(found, XRDF, "XRDF")
    assert (found["format"], found["format_version"]) == ("xrdf", 1.0)
    check(found["cspace"], XRDF_CSPACE, "cspace")
    assert len({len(values) for values in found["cspace"].values()}) == 1
    check(found["collision"], XRDF_COLLISION, "collision")
    check(found["self_collision"], XRDF_SELF, "self_collision")
    assert found["collision"]["geometry"] == found["self_collision"]["geometry"]
    check_spheres(found["geometry"][found["collision"]["geometry"]]["spheres"])
    assert found["modifiers"] == [{"set_base_frame": robot.tree.root}]
    # cuRobo pairs the joints of cspace with default positions in the order of the URDF's joints.
    order = [joint.get("name") for joint in etree.parse(str(robot.path)).getroot().findall("joint")]
    assert found["cspace"]["joint_names"] == sorted(found["cspace"]["joint_names"], key=order.index)
    assert set(found["default_joint_positions"]) == set(robot.joint_names)
    for tool in found["tool_frames"]:
        assert set(chain(robot.path, robot.tree.root, tool)) <= set(found["cspace"]["joint_names"])
    assert check_ignore(found["self_collision"]["ignore"]) == {
        frozenset(names) for names in (*pairs.ignored, *pairs.by_meshes)
    }


TOOLS = {
    "panda": {"panda_hand_tcp"},
    "kinova": {"j2s6s200_end_effector"},
    "pr2": {"r_gripper_tool_frame", "l_gripper_tool_frame"},
    "teaarm": {"frame_right_arm_ee", "frame_left_arm_ee"},
    "talos": {"gripper_left_base_link", "gripper_right_base_link", "left_sole_link", "right_sole_link"},
    "g1": {"left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link"},
    "baxter": {"left_gripper", "right_gripper"},
    "tiago": {"hand_tool_link"},
    "ur5": {"tool0"},
    "so100": {"gripper"},
    "finger_edu": {"finger_tip_link"},
    "hector": set(),
    "anymal": {"LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"},
    "allegro_right_hand": {"link_3.0_tip", "link_7.0_tip", "link_11.0_tip", "link_15.0_tip"},
}


@pytest.mark.parametrize("name", TOOLS)
def test_tools_are_the_ends_of_the_longest_chains(load, name):
    assert set(formats.default_tool_frames(load(name))) == TOOLS[name]


def test_the_tool_with_most_joints_before_it_comes_first(load):
    assert formats.default_tool_frames(load("b1-z1"))[0] == "gripperStator"
    assert formats.default_tool_frames(load("talos"))[0] == "gripper_left_base_link"


class TestOptions:
    @pytest.fixture
    def arm_spheres(self, arm):
        links = ("base_link", "torso_link", "left_arm_l3", "left_arm_l7")
        return SphereModel.from_links(arm.link_names, {link: ([[0.0, 0.0, 1e-5]], [0.05]) for link in links})

    def test_words_of_the_user_count(self, tmp_path, arm, arm_spheres):
        options = ExportOptions(
            base_link="torso_link",
            tool_frames=("left_arm_l7",),
            locked={"left_j1": 0.25},
            default_cfg=arm.default_cfg + 0.01,
            curobo_version=1,
        )
        lost = formats.write(tmp_path / "a.yml", robot=arm, spheres=arm_spheres, options=options)
        found = read_curobo(tmp_path / "a.yml", 1)
        assert found["base_link"] == "torso_link"
        assert (found["ee_link"], found["link_names"]) == ("left_arm_l7", None)
        assert found["lock_joints"] == {"left_j1": 0.25}
        assert "base_link" not in found["collision_spheres"]
        assert any("torso_link does not carry" in text and "base_link" in text for text in lost)
        positions = dict(zip(found["cspace"]["joint_names"], found["cspace"]["retract_config"], strict=True))
        assert positions["left_j1"] == 0.25
        assert positions["left_j2"] == arm.default_cfg[arm.joint_names.index("left_j2")] + 0.01
        assert not [name for name in positions if name.startswith("waist")]
        formats.write(tmp_path / "a.xrdf", robot=arm, spheres=arm_spheres, options=options)
        xrdf = yaml.load((tmp_path / "a.xrdf").read_text(), Loader=yaml.Loader)
        assert xrdf["modifiers"] == [{"set_base_frame": "torso_link"}]
        assert xrdf["tool_frames"] == ["left_arm_l7"]
        assert "left_j1" not in xrdf["cspace"]["joint_names"]
        assert xrdf["default_joint_positions"]["left_j1"] == 0.25

    def test_locked_joints_that_lead_nowhere_are_not_told(self, tmp_path, arm, arm_spheres):
        options = ExportOptions(tool_frames=("left_arm_l7",), locked={"right_j2": 0.0})
        lost = formats.write(tmp_path / "a.yml", robot=arm, spheres=arm_spheres, options=options)
        assert read_curobo(tmp_path / "a.yml", 2)["lock_joints"] is None
        assert any("right_j2" in text for text in lost)

    @pytest.mark.parametrize(
        ("options", "error", "text"),
        [
            ({"base_link": "nowhere"}, UnknownLinkError, "nowhere"),
            ({"tool_frames": ("left_arm_l9",)}, UnknownLinkError, "did you mean 'left_arm_l"),
            ({"tool_frames": ()}, InputError, "at least one"),
            ({"base_link": "left_arm_l3", "tool_frames": ("right_arm_l7",)}, InputError, "is not carried by"),
            ({"locked": {"left_j9": 0.0}}, UnknownJointError, "did you mean"),
            ({"locked": {"left_j1": float("nan")}}, InputError, "finite"),
            (
                {"base_link": "torso_link", "locked": {"waist_yaw": 0.0}},
                (InputError, UnknownJointError),
                "locked",
            ),
            ({"default_cfg": [0.0]}, InputError, "shape"),
        ],
    )
    @pytest.mark.parametrize("name", ["a.yml", "a.xrdf"])
    def test_wrong_words_are_refused_and_nothing_is_written(
        self, tmp_path, arm, arm_spheres, options, error, text, name
    ):
        with pytest.raises(error, match=text):
            formats.write(tmp_path / name, robot=arm, spheres=arm_spheres, options=ExportOptions(**options))
        assert not (tmp_path / name).exists()

    def test_relative_paths_start_at_the_file_and_are_never_bare(self, tmp_path, arm_spheres, arm):
        beside = tmp_path / "arm.urdf"
        beside.write_bytes(
            arm.path.read_bytes().replace(b"meshes/", str(arm.path.parent).encode() + b"/meshes/")
        )
        robot = er.load_robot(beside, package_dirs=[arm.path.parent])
        (tmp_path / "deep").mkdir()
        for folder, expected in ((tmp_path, "./arm.urdf"), (tmp_path / "deep", "../arm.urdf")):
            options = ExportOptions(paths="relative")
            lost = formats.write(folder / "a.yml", robot=robot, spheres=arm_spheres, options=options)
            found = read_curobo(folder / "a.yml", 2)
            assert found["urdf_path"] == expected
            assert (folder / found["asset_root_path"]).samefile(tmp_path)
            assert any("its own assets folder" in text for text in lost)

    def test_an_mjcf_is_never_named_as_urdf(self, tmp_path, load):
        hand = load("rh56")
        spheres = SphereModel.from_links(hand.link_names, {"base": ([[0, 0, 0.05]], [0.05])})
        lost = formats.write(tmp_path / "a.yml", robot=hand, spheres=spheres)
        assert any("urdf_path is missing" in text and "rh56.xml" in text for text in lost)
        assert ".xml" not in (tmp_path / "a.yml").read_text()
        urdf = load("teaarm").path
        formats.write(tmp_path / "b.yml", robot=hand, spheres=spheres, options=ExportOptions(urdf=urdf))
        assert read_curobo(tmp_path / "b.yml", 2)["urdf_path"] == str(urdf)
        with pytest.raises(er.ElbowroomError, match="no such"):
            formats.write(
                tmp_path / "c.yml", robot=hand, spheres=spheres, options=ExportOptions(urdf="missing.urdf")
            )
        with pytest.raises(InputError, match="is not a URDF"):
            formats.write(
                tmp_path / "c.yml", robot=hand, spheres=spheres, options=ExportOptions(urdf=hand.path)
            )


class TestIgnored:
    @pytest.mark.parametrize("given", ["spheres", "pairs"])
    def test_it_is_always_there(self, tmp_path, arm, model, given):
        what = {"spheres": model} if given == "spheres" else {"pairs": {}}
        formats.write(tmp_path / "a.yml", **what)
        assert (
            yaml.safe_load((tmp_path / "a.yml").read_text())["robot_cfg"]["kinematics"][
                "self_collision_ignore"
            ]
            == {}
        )
        formats.write(tmp_path / "b.yml", robot=arm, **what)
        read_curobo(tmp_path / "b.yml", 2)

    @pytest.mark.parametrize("name", ["a.yml", "a.xrdf"])
    def test_without_pairs_the_srdf_of_the_robot_counts(self, tmp_path, arm, model, name):
        assert arm.disabled_pairs
        formats.write(tmp_path / name, robot=arm, spheres=model)
        assert set(formats.read(tmp_path / name, robot=arm).ignored) == set(arm.disabled_pairs)

    def test_without_either_it_is_said(self, tmp_path, load):
        hand = load("allegro_right_hand")
        spheres = SphereModel.from_links(hand.link_names, {"palm_link": ([[0, 0, 0]], [0.05])})
        assert any(
            "no pair is ignored" in text
            for text in formats.write(tmp_path / "a.yml", robot=hand, spheres=spheres)
        )


ODD = """
<robot name="odd">
  <link name="world"/><link name="base"/><link name="a"/><link name="b"/>
  <joint name="float" type="floating"><parent link="world"/><child link="base"/></joint>
  <joint name="slanted" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="endless" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
</robot>
"""


@pytest.mark.filterwarnings("ignore::elbowroom.errors.ApproximationWarning")
def test_what_curobo_cannot_read_in_the_urdf_is_said(tmp_path):
    (tmp_path / "odd.urdf").write_text(ODD)
    robot = er.load_robot(tmp_path / "odd.urdf")
    spheres = SphereModel.from_links(robot.link_names, {"b": ([[0, 0, 0]], [0.1])})
    lost = formats.write(tmp_path / "a.yml", robot=robot, spheres=spheres)
    for word in ("slanted: slanted", "lack: endless", "behind these: float"):
        assert any(text.endswith(word) for text in lost)
    lost = formats.write(
        tmp_path / "b.yml", robot=robot, spheres=spheres, options=ExportOptions(base_link="a")
    )
    assert not any("slanted" in text or "float" in text for text in lost)


def test_what_a_file_says_already_stays(tmp_path, arm, model):
    path = tmp_path / "a.yml"
    formats.write(path, robot=arm, spheres=model, options=ExportOptions(tool_frames=("left_arm_l7",)))
    path.write_text(path.read_text().replace("max_jerk: 500.0", "max_jerk: 123.0  # measured"))
    formats.write(path, robot=arm, spheres=model, pairs={("base_link", "waist_link"): ""})
    assert "max_jerk: 123.0  # measured" in path.read_text()
    found = read_curobo(path, 2)
    assert found["tool_frames"] == ["left_arm_l7"]
    assert check_ignore(found["self_collision_ignore"]) == {frozenset(("base_link", "waist_link"))}
    with pytest.raises(InputError, match="is for cuRobo 2"):
        formats.write(path, robot=arm, spheres=model, options=ExportOptions(curobo_version=1))


def test_paddings_mean_what_each_version_makes_of_them(tmp_path, arm, model):
    """Radius between links: version 1 adds self_collision_buffer alone, version 2 both buffers."""
    for version in (1, 2):
        path = tmp_path / f"{version}.yml"
        formats.write(path, robot=arm, spheres=model, options=ExportOptions(curobo_version=version))
        found = read_curobo(path, version)
        for link in model.counts:
            both = found["collision_sphere_buffer"][link] if version == 2 else 0.0
            assert found["self_collision_buffer"][link] + both == pytest.approx(
                model.self_padding.get(link, 0.0), abs=1e-15
            )
        assert formats.read(path, robot=arm).spheres.padded_radii("self") == pytest.approx(
            model.padded_radii("self"), abs=1e-15
        )


def test_names_and_numbers_survive_readers_of_old_yaml(tmp_path):
    """YAML 1.1 takes 1e-05 for text and `on` for true."""
    links = ["on", "no", "y", "12:30", "1e3", "010", "plain"]
    model = SphereModel.from_links(links, {link: ([[1e-5, -3e-21, 1e22]], [1e-7]) for link in links})
    formats.write(tmp_path / "a.yml", spheres=model)
    found = yaml.load((tmp_path / "a.yml").read_text(), Loader=yaml.Loader)["robot_cfg"]["kinematics"]
    assert found["collision_link_names"] == links
    assert found["collision_spheres"]["on"] == [{"center": [1e-5, -3e-21, 1e22], "radius": 1e-7}]
    assert formats.read(tmp_path / "a.yml").spheres == model
