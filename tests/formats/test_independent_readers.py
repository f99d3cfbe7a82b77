"""Every file that we write, read by something that is not ours, from another folder than the robot's."""

from __future__ import annotations

import math
import os

import mujoco
import numpy as np
import pytest
from lxml import etree

import elbowroom as er
from elbowroom import formats
from elbowroom.formats import ExportOptions
from elbowroom.pairs import PairReason
from elbowroom.pairs.internal import BY_MESHES

ROBOTS = ("kinova", "pr2", "panda", "teaarm")


def srdf_disabled(path, links):
    """Pairs that an SRDF disables, by its specification: defaults first, then enabled, then disabled pairs."""
    root = etree.parse(str(path)).getroot()
    assert root.tag == "robot"
    assert root.get("name")
    off = set()
    for element in root.findall("disable_default_collisions"):
        off |= {frozenset((element.get("link"), other)) for other in links if other != element.get("link")}
    for tag, change in (("enable_collisions", off.discard), ("disable_collisions", off.add)):
        for element in root.findall(tag):
            a, b = element.get("link1"), element.get("link2")
            assert a in links
            assert b in links
            assert a != b
            change(frozenset((a, b)))
    words = {element.get("reason") for element in root.findall("disable_collisions")}
    assert words <= {"Adjacent", "Never", "Default", "Always", "User"}
    return off


@pytest.mark.parametrize("name", ROBOTS)
def test_srdf_by_a_plain_walk(tmp_path, computed, name):
    robot, spheres, pairs = computed(name)
    lost = formats.write(tmp_path / "a.srdf", robot=robot, spheres=spheres, pairs=pairs)
    links = {link.get("name") for link in etree.parse(str(robot.path)).getroot().findall("link")}
    assert srdf_disabled(tmp_path / "a.srdf", links) == {frozenset(pair) for pair in pairs.ignored}
    found = {}
    for element in etree.parse(str(tmp_path / "a.srdf")).getroot().findall("link_sphere_approximation"):
        balls = [
            [*map(float, s.get("center").split()), float(s.get("radius"))] for s in element.findall("sphere")
        ]
        found[element.get("link")] = np.array(balls)
    assert set(found) == set(spheres.counts)
    for link, balls in found.items():
        centers, radii = spheres.link(link)
        np.testing.assert_allclose(balls, np.column_stack([centers, radii]), rtol=1e-8, atol=1e-9)
        # Nine digits, rounded outwards: each written sphere holds the one that was meant.
        for center, radius, ball in zip(centers, radii, balls, strict=True):
            assert math.dist(center, ball[:3]) + radius <= ball[3]
    # What is in the file for us alone is said.
    counts = pairs.counts()
    if PairReason.NEVER_PROVED in counts:
        assert any(
            f"{counts[PairReason.NEVER_PROVED]} pairs proved never to collide" in text for text in lost
        )
    if pairs.by_meshes:
        assert any("other readers do not know" in text for text in lost)


@pytest.mark.parametrize("name", ROBOTS)
def test_spherized_urdf_by_pinocchio(tmp_path, computed, monkeypatch, name):
    """Kinematics, every sphere and every visual mesh, without package folders and from a third folder."""
    pin = pytest.importorskip("pinocchio")
    robot, spheres, _ = computed(name)
    folder = tmp_path / "a folder"
    folder.mkdir()
    formats.write(folder / "a.urdf", robot=robot, spheres=spheres)
    monkeypatch.chdir("/")
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    model, collision, visual = pin.buildModelsFromUrdf(str(folder / "a.urdf"))
    assert model.njoints - 1 == len(robot.tree.moving)
    wanted = {
        (link, *np.round(center, 9), round(radius, 9))
        for link in spheres.counts
        for center, radius in zip(*spheres.link(link), strict=True)
    }
    found = set()
    for geometry in collision.geometryObjects:
        frame = model.frames[geometry.parentFrame]
        center = (frame.placement.inverse() * geometry.placement).translation
        found.add((frame.name, *(np.round(center, 9) + 0.0), round(geometry.geometry.radius, 9)))
    assert len(collision.geometryObjects) == len(spheres)
    assert {row[0] for row in found} == set(spheres.counts)
    for row in wanted:
        assert any(
            row[0] == other[0] and np.allclose(row[1:], other[1:], atol=1e-8)
            for other in found
            if other[0] == row[0]
        )
    meshes = etree.parse(str(robot.path)).getroot().findall(".//visual//mesh")
    files = [g.meshPath for g in visual.geometryObjects if os.path.sep in g.meshPath]
    assert len(files) == len(meshes)
    assert all(os.path.isfile(file) for file in files)


@pytest.mark.parametrize("name", ROBOTS)
def test_mjcf_by_mujoco(tmp_path, computed, name):
    robot, spheres, pairs = computed(name)
    formats.write(tmp_path / "a.xml", robot=robot, spheres=spheres, pairs=pairs)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
    names = [model.body(body).name for body in range(model.nbody)]
    assert {names[body] for body in model.geom_bodyid} == set(spheres.counts)
    assert model.ngeom == len(spheres)
    excluded = {frozenset((names[s >> 16], names[s & 0xFFFF])) for s in model.exclude_signature.tolist()}
    assert excluded == {frozenset(pair) for pair in (*pairs.ignored, *pairs.by_meshes)}
    data = mujoco.MjData(model)
    for joint, value in zip(robot.tree.moving, robot.tree.expand(pairs.default_cfg), strict=True):
        if joint.lower < joint.upper:
            data.joint(joint.name).qpos = value
    mujoco.mj_forward(model, data)
    met = {frozenset(names[model.geom_bodyid[g]] for g in (c.geom1, c.geom2)) for c in data.contact}
    assert not met  # at rest nothing touches, or every simulation would start with a jolt


FILES = {
    "a.json": None,
    "pairs.json": None,
    "a.yml": None,
    "one.yml": ExportOptions(curobo_version=1),
    "a.xrdf": None,
    "a.srdf": None,
    "a.xml": None,
}


@pytest.mark.parametrize("what", ["both", "pairs"])
@pytest.mark.parametrize("file", FILES)
def test_pairs_of_every_format_come_back(tmp_path, computed, file, what):
    robot, spheres, pairs = computed("teaarm")
    assert pairs.by_meshes
    given = (
        {"pairs": pairs} if what == "pairs" or file == "pairs.json" else {"spheres": spheres, "pairs": pairs}
    )
    formats.write(tmp_path / file, robot=robot, options=FILES[file], **given)
    found = formats.read(tmp_path / file, robot=robot)
    assert (found.spheres is not None) == ("spheres" in given)
    assert found.pairs.checked == pairs.checked
    if file != "a.xml" or what == "both":  # excludes alone leave every checked pair to the robot's own geoms
        assert found.pairs.by_meshes == pairs.by_meshes
    if file.endswith(".json"):
        assert found.pairs == pairs
        assert found.spheres in (None, spheres)
    if found.robot is None:  # MuJoCo itself wants an extension
        bare = tmp_path / "without_an_extension"
        bare.write_bytes((tmp_path / file).read_bytes())
        assert formats.read(bare, robot=robot).pairs == found.pairs
    # From this file on to every other, without the matrix: readers of spheres ignore what meshes decide, others do not.
    for name, by_spheres in (("b.yml", True), ("b.xrdf", True), ("b.srdf", False), ("b.json", True)):
        if found.spheres is not None:
            formats.write(tmp_path / name, robot=robot, spheres=found.spheres, pairs=found.ignored)
            again = formats.read(tmp_path / name, robot=robot)
            wanted = (
                found.ignored if by_spheres else {k for k, word in found.ignored.items() if word != BY_MESHES}
            )
            assert set(again.ignored) == set(wanted)
            assert again.pairs.checked == pairs.checked


def test_a_spherized_urdf_says_that_it_holds_no_pairs(tmp_path, computed):
    robot, spheres, pairs = computed("teaarm")
    lost = formats.write(tmp_path / "a.urdf", robot=robot, spheres=spheres, pairs=pairs)
    assert any("ignored pairs are not kept by URDF" in text for text in lost)
    found = formats.read(tmp_path / "a.urdf", robot=robot)
    assert found.pairs is None
    assert any("holds no ignored pairs" in text for text in found.notes)


def test_words_of_proof_survive_an_srdf_without_a_matrix(tmp_path, load):
    arm = load("teaarm")
    pairs = {("base_link", "left_arm_l1"): "NEVER_PROVED", ("base_link", "right_arm_l1"): "NEVER_SAMPLED"}
    lost = formats.write(tmp_path / "a.srdf", robot=arm, pairs=pairs)
    assert any("1 pair proved" in text and "1 that collided in no sample" in text for text in lost)
    found = formats.read(tmp_path / "a.srdf", robot=arm).pairs
    assert {pair: found.reason(*pair).name for pair in pairs} == pairs


def test_named_poses_and_the_default_are_keyframes(tmp_path, computed):
    robot, spheres, pairs = computed("teaarm")
    lost = formats.write(tmp_path / "a.xml", robot=robot, spheres=spheres, pairs=pairs)
    assert not any("poses" in text for text in lost)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
    data = mujoco.MjData(model)
    for name, cfg in robot.named_cfgs.items():
        mujoco.mj_resetDataKeyframe(model, data, model.key(name).id)
        mujoco.mj_kinematics(model, data)
        for link, pose in zip(robot.link_names, robot.link_poses(cfg), strict=True):
            np.testing.assert_allclose(data.body(link).xpos, pose[4:], atol=1e-12)
    hand = er.load_robot(tmp_path / "a.xml")
    np.testing.assert_array_equal(
        hand.default_cfg[[hand.joint_names.index(n) for n in robot.joint_names]], pairs.default_cfg
    )


def test_relative_mesh_addresses_hold_for_us(tmp_path, load):
    arm = load("teaarm")
    folder = tmp_path / "robots"
    folder.mkdir()
    for file in [arm.path, *arm.path.parent.glob("meshes/*")]:
        target = folder / file.relative_to(arm.path.parent)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(file.read_bytes())
    robot = er.load_robot(folder / arm.path.name)
    (folder / "out").mkdir()
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    formats.write(
        folder / "out/a.urdf", robot=robot, spheres=spheres, options=ExportOptions(paths="relative")
    )
    assert 'filename="../meshes/base_link.stl"' in (folder / "out/a.urdf").read_text()
    assert er.load_robot(folder / "out/a.urdf").mesh_links == robot.mesh_links
