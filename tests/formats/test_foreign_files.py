"""Files as other tools write them, written by hand after their documentation."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import formats
from elbowroom.errors import FormatError

CUROBO_V1 = """\
# a comment at the top
robot_cfg:
  kinematics:
    usd_flip_joints: ["a"]
    usd_flip_joints: {"a": "Z",}
    urdf_path: "robot/two.urdf"
    asset_root_path: "robot/"
    base_link: "base"
    ee_link: "tip"
    link_names: null
    collision_link_names: ["base", "tip", "attached_object"]  # the links that count
    collision_spheres: "spheres/two.yml"
    collision_sphere_buffer: 0.0025
    extra_collision_spheres: {"attached_object": 4}
    self_collision_ignore: {"base": ["tip", "attached_object"], "tip": ["base"],}
    self_collision_buffer: {"base": 0.1, "tip": 0.0}
    mesh_link_names: ["base"]
    lock_joints: {"finger": 0.04}
    extra_links: {"attached_object": {"parent_link_name": "tip", "link_name": "attached_object",
      "fixed_transform": [0, 0, 0.1, 0.7071067811865476, 0, 0, 0.7071067811865476],
      "joint_type": "FIXED", "joint_name": "attach"}}
    cspace:
      joint_names: ["a"]
      retract_config: [0.0]
      max_jerk: 500.0  # keep me
"""
SPHERES_FILE = """\
robot: two
collision_spheres:
  base:
    - "center": [0.0, 0.1, 0.2]
      "radius": 0.03
    - center: [0, 0, 0]
      radius: -10.0
  tip:
    - {center: [1, 2, 3], radius: 0.5}
  attached_object:
    - {center: [0.1, 0, 0], radius: 0.01}
    - {center: [0, 0, 0], radius: -100}
"""
CUROBO_V2 = """\
kinematics:
  format_version: 2.0
  urdf_path: two.urdf
  asset_root_path: .
  base_link: base
  tool_frames: [tip]
  collision_link_names: [base, tip]
  collision_spheres:
    base: [{center: [0.0, 0.1, 0.2], radius: 0.03}]
    tip: [{center: [1.0, 2.0, 3.0], radius: 0.5}]
  collision_sphere_buffer: {base: 0.01, tip: 0.0}
  self_collision_ignore: {base: [tip]}
  unknown_key: [1, 2, 3]  # ours to keep
  cspace: {joint_names: [a], default_joint_position: [0.0]}
"""
XRDF = """\
%YAML 1.2
---
format: xrdf
format_version: 1.0
modifiers:
  - set_base_frame: base
default_joint_positions: {a: 0.1}
cspace:
  joint_names: [a]
  acceleration_limits: [10.0]
  jerk_limits: [100.0]  # of the maker
tool_frames: [tip]
collision:
  geometry: balls
  buffer_distance: {base: 0.02}
self_collision:
  geometry: balls
  buffer_distance: {base: 0.05, tip: 0.01}
  ignore:
    base: [tip]
geometry:
  balls:
    spheres:
      base:
        - {center: [0.0, 0.1, 0.2], radius: 0.03}
      tip:
        - {center: [1.0, 2.0, 3.0], radius: 0.5}
"""
SRDF = """\
<?xml version="1.0"?>
<!-- made by a person -->
<robot name="two">
  <group name="arm"><joint name="a"/></group>
  <!-- these two touch -->
  <disable_collisions link1="tip" link2="base" reason="Adjacent"/>
  <disable_collisions link1="tip" link2="far" reason="Never"/>
  <link_sphere_approximation link="base">
    <sphere center="0 0.1 0.2" radius="0.03"/>
  </link_sphere_approximation>
  <link_sphere_approximation link="tip"><sphere center="0 0 0" radius="0"/></link_sphere_approximation>
</robot>
"""


def put(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_curobo_version_1_with_a_sphere_file(tmp_path):
    put(tmp_path, "spheres/two.yml", SPHERES_FILE)
    contents = formats.read(put(tmp_path, "two.yml", CUROBO_V1))
    model = contents.spheres
    assert model.link_names == ("base", "tip")
    assert model.counts == {"base": 1, "tip": 2}
    np.testing.assert_array_equal(model.link("base")[0], [[0.0, 0.1, 0.2]])
    assert model.objects == ("attached_object",)
    np.testing.assert_allclose(
        model.link("tip")[0][1], [0.0, 0.1, 0.1], atol=1e-15
    )  # turned by 90 degrees about z
    assert dict(model.world_padding) == {"base": 0.0025, "tip": 0.0025}
    assert (
        model.self_padding["base"] == 0.1
    )  # version 0.7 takes collision_sphere_buffer off again between links
    assert set(contents.ignored) == {("base", "tip")}
    text = " ".join(contents.notes)
    assert "given twice" in text
    assert "radius -10 means disabled" in text
    assert "attached_object" in text


def test_curobo_version_2_inline(tmp_path):
    contents = formats.read(put(tmp_path, "two.yaml", CUROBO_V2))
    assert contents.spheres.counts == {"base": 1, "tip": 1}
    assert dict(contents.spheres.world_padding) == {"base": 0.01}
    assert contents.notes == ()


def test_a_bare_sphere_file(tmp_path):
    assert formats.read(put(tmp_path, "two.yml", SPHERES_FILE)).spheres.counts == {
        "base": 1,
        "tip": 1,
        "attached_object": 1,
    }


def test_curobo_files_keep_comments_and_unknown_keys(tmp_path):
    path = put(tmp_path, "two.yml", CUROBO_V2)
    contents = formats.read(path)
    formats.write(path, spheres=contents.spheres, pairs={("base", "tip"): ""})
    text = path.read_text()
    assert "unknown_key: [1, 2, 3]  # ours to keep" in text
    assert "default_joint_position: [0.0]" in text
    again = formats.read(path)
    assert again.spheres == contents.spheres
    assert again.ignored == contents.ignored


def test_xrdf(tmp_path):
    path = put(tmp_path, "two.xrdf", XRDF)
    contents = formats.read(path)
    assert contents.spheres.counts == {"base": 1, "tip": 1}
    assert dict(contents.spheres.world_padding) == {"base": 0.02}
    assert dict(contents.spheres.self_padding) == {"base": 0.05, "tip": 0.01}
    assert set(contents.ignored) == {("base", "tip")}
    formats.write(path, spheres=contents.spheres, pairs=contents.ignored)
    text = path.read_text()
    assert "jerk_limits: [100.0]  # of the maker" in text
    assert "set_base_frame: base" in text
    assert formats.read(path).spheres == contents.spheres


def test_srdf_keeps_comments_and_order(tmp_path):
    path = put(tmp_path, "two.srdf", SRDF)
    contents = formats.read(path)
    assert contents.spheres.counts == {"base": 1}
    assert contents.ignored == {("base", "tip"): "Adjacent", ("far", "tip"): "Never"}
    assert "radius 0 means no sphere" in contents.notes[0]
    formats.write(
        path, spheres=contents.spheres, pairs={("base", "tip"): "ADJACENT", ("a", "b"): "NEVER_SAMPLED"}
    )
    text = path.read_text()
    assert "<!-- made by a person -->" in text
    assert "<!-- these two touch -->" in text
    assert text.index("<group") < text.index("these two touch") < text.index('link1="tip" link2="base"')
    again = formats.read(path)
    assert again.ignored == {("base", "tip"): "Adjacent", ("a", "b"): "Never"}
    assert again.spheres == contents.spheres


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("two.yml", "radius: 0.03", "radius: .nan", "link 'base', sphere 0, radius: expected a finite number"),
        ("two.yml", "radius: 0.03", "radius: big", "expected a finite number, found 'big'"),
        ("two.yml", "[0.0, 0.1, 0.2]", "[0.0, 0.1]", "link 'base', sphere 0: expected a center of three"),
        ("two.yml", "base: [tip]", "base: [base]", "paired with itself"),
        ("two.yml", "base: [tip]", "base: tip", "expected a list of links"),
        ("two.yml", "buffer: {base: 0.01, tip: 0.0}", "buffer: wide", "finite number"),
        ("two.yml", "  collision_spheres:\n", "  collision_spheres: ../../secret.yml\n  was:\n", "own folder"),
        ("two.yml", "kinematics:", "dynamics:", "expected 'robot_cfg: kinematics:'"),
        ("two.xrdf", "format: xrdf", "format: urdf", "expected 'format: xrdf'"),
        ("two.xrdf", "format_version: 1.0", "format_version: 7.0", "7.0 is not known"),
        ("two.xrdf", "geometry: balls", "geometry: bals", "did you mean 'balls'"),
        ("two.srdf", 'radius="0.03"', 'radius="-0.03"', "line 9: <sphere>: the radius must not be negative"),
        ("two.srdf", 'radius="0.03"', "", "expected 'center' and 'radius'"),
        ("two.srdf", 'link="tip"', 'link="base"', "approximated twice"),
        ("two.srdf", 'link1="tip" link2="base"', 'link1="tip" link2="tip"', "paired with itself"),
        ("two.srdf", 'center="0 0.1 0.2"', 'center="0 nan 0.2"', "NaN"),
    ],
)  # fmt: skip
def test_broken_files_name_the_place(tmp_path, name, old, new, expected):
    text = {"two.yml": CUROBO_V2, "two.xrdf": XRDF, "two.srdf": SRDF}[name]
    assert old in text
    path = put(tmp_path, name, text.replace(old, new))
    with pytest.raises((FormatError, ValueError), match=expected) as caught:
        formats.read(path)
    assert name in str(caught.value)


def test_a_link_given_twice_in_json(tmp_path):
    path = put(tmp_path, "a.json", '{"a": [{"center": [0,0,0], "radius": 1}], "a": []}')
    with pytest.raises(FormatError, match=r"a\.json: .*'a' is given twice"):
        formats.read(path)


@pytest.mark.robots
def test_vamp_like_spherized_panda(load):
    """example-robot-data's primitive panda has spheres, cylinders and boxes: spheres are read, the rest is noted."""
    from elbowroom.robot.descriptions._catalogue import find_robot

    contents = formats.read(find_robot("panda_collision").description)
    assert contents.spheres is not None
    assert len(contents.spheres) > 10
    assert any("are not spheres" in text for text in contents.notes)


@pytest.mark.parametrize(
    ("name", "text", "other"), [("a.yml", CUROBO_V2, "xrdf"), ("a.xrdf", XRDF, "curobo")]
)
def test_a_file_of_another_format_is_not_written_into(tmp_path, arm, model, name, text, other):
    path = put(tmp_path, name, text)
    before = path.read_bytes()
    with pytest.raises(FormatError, match="expected"):
        formats.write(path, robot=arm, spheres=model, format=other)
    assert path.read_bytes() == before


def test_a_missing_sphere_file_is_named_with_the_file_that_names_it(tmp_path):
    (tmp_path / "robot.yml").write_text("robot: two\ncollision_spheres: gone.yml\n")
    with pytest.raises(FormatError, match=r"robot\.yml: collision_spheres: there is no file 'gone\.yml'"):
        formats.read(tmp_path / "robot.yml")
