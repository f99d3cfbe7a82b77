"""The bundled dual-arm robot: facts kept, shapes sound, named poses free by FCL, files reproducible."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import fcl
import numpy as np
import pytest
import trimesh
import yourdfpy
from lxml import etree
from scipy.spatial import cKDTree

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "src" / "elbowroom" / "assets" / "teaarm"
FACTS = json.loads((ASSETS / "teaarm_facts.json").read_text(encoding="utf-8"))
LINKS = {link["name"]: link for link in FACTS["links"]}
SHAPED = [name for name, link in LINKS.items() if "mass" in link]
MOVING = [joint for joint in FACTS["joints"] if joint["type"] != "fixed"]
REACHING = {"left_arm_l5", "right_arm_l5", "left_arm_l7", "right_arm_l7"}  # their joints lie outside the box


@cache
def urdf() -> yourdfpy.URDF:
    return yourdfpy.URDF.load(str(ASSETS / "teaarm.urdf"), load_meshes=False)


@cache
def srdf() -> etree._Element:
    return etree.parse(str(ASSETS / "teaarm.srdf")).getroot()


@cache
def mesh(name: str) -> trimesh.Trimesh:
    return trimesh.load(ASSETS / "meshes" / f"{name}.stl", force="mesh")


@cache
def fcl_model(name: str) -> fcl.BVHModel:
    model, shape = fcl.BVHModel(), mesh(name)
    model.beginModel(len(shape.vertices), len(shape.faces))
    model.addSubModel(shape.vertices, shape.faces)
    model.endModel()
    return model


def adjacent() -> set[frozenset[str]]:
    return {
        frozenset((pair.get("link1"), pair.get("link2"))) for pair in srdf().findall("disable_collisions")
    }


def poses() -> dict[str, dict[str, float]]:
    return {
        state.get("name"): {joint.get("name"): float(joint.get("value")) for joint in state}
        for state in srdf().findall("group_state")
    }


def placed(cfg: dict[str, float]) -> dict[str, fcl.CollisionObject]:
    robot = urdf()
    robot.update_cfg(cfg)
    objects = {}
    for name in SHAPED:
        T_base_link = robot.get_transform(name, "base_link")
        objects[name] = fcl.CollisionObject(
            fcl_model(name), fcl.Transform(T_base_link[:3, :3], T_base_link[:3, 3])
        )
    return objects


def colliding(cfg: dict[str, float]) -> set[tuple[str, str]]:
    objects, skip = placed(cfg), adjacent()
    return {
        (a, b)
        for a, b in itertools.combinations(sorted(objects), 2)
        if frozenset((a, b)) not in skip
        and fcl.collide(objects[a], objects[b], fcl.CollisionRequest(), fcl.CollisionResult())
    }


def test_tree_is_that_of_the_facts():
    robot = urdf()
    assert robot.robot.name == "teaarm"
    assert sorted(robot.link_map) == sorted(LINKS)
    assert len(LINKS) == 19
    assert sorted(robot.joint_map) == sorted(joint["name"] for joint in FACTS["joints"])
    assert robot.base_link == "base_link"


@pytest.mark.parametrize("fact", FACTS["joints"], ids=lambda fact: fact["name"])
def test_joint_is_that_of_the_facts(fact):
    joint = urdf().joint_map[fact["name"]]
    assert (joint.type, joint.parent, joint.child) == (fact["type"], fact["parent"], fact["child"])
    element = etree.parse(str(ASSETS / "teaarm.urdf")).find(f"joint[@name='{fact['name']}']")
    for key in ("xyz", "rpy"):
        assert [float(text) for text in element.find("origin").get(key).split()] == fact[key]
    turn = trimesh.transformations.euler_matrix(*fact["rpy"], "sxyz")[:3, :3]
    np.testing.assert_allclose(joint.origin[:3, :3], turn, atol=1e-14)
    np.testing.assert_array_equal(joint.origin[:3, 3], fact["xyz"])
    if fact["type"] != "fixed":
        np.testing.assert_array_equal(joint.axis, fact["axis"])
        limit = joint.limit
        found = (limit.lower, limit.upper, limit.velocity, limit.effort)
        assert found == tuple(fact[key] for key in ("lower", "upper", "velocity", "effort"))


@pytest.mark.parametrize("name", SHAPED)
def test_inertia_is_that_of_the_equivalent_box(name):
    fact, inertial = LINKS[name], urdf().link_map[name].inertial
    assert inertial.mass == fact["mass"]
    np.testing.assert_array_equal(inertial.origin[:3, 3], fact["com"])
    box = trimesh.creation.box(fact["box_size"])
    box.density = fact["mass"] / box.volume
    np.testing.assert_allclose(
        np.sort(np.linalg.eigvalsh(inertial.inertia)), np.sort(np.diag(box.moment_inertia)), rtol=1e-8
    )
    axes = np.asarray(fact["box_axes"])
    moments = np.diag(axes @ inertial.inertia @ axes.T)  # the axes have 5 digits
    np.testing.assert_allclose(moments, np.diag(box.moment_inertia), rtol=1e-4)


def test_frames_have_no_geometry_and_links_use_their_own_mesh():
    for name, link in urdf().link_map.items():
        files = [shape.geometry.mesh.filename for shape in (*link.visuals, *link.collisions)]
        assert files == ([f"meshes/{name}.stl"] * 2 if name in SHAPED else [])
    assert sorted(path.stem for path in (ASSETS / "meshes").iterdir()) == sorted(SHAPED)


@pytest.mark.parametrize("name", SHAPED)
def test_mesh_is_closed_outward_and_not_convex(name):
    shape = mesh(name)
    assert shape.is_watertight
    assert shape.is_winding_consistent
    assert shape.body_count == 1
    assert shape.volume > 0
    assert shape.volume <= 0.85 * shape.convex_hull.volume
    assert 200 <= len(shape.faces) <= 2000
    corners = shape.triangles
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    assert (2.0 * shape.area_faces / longest).min() > 5e-6  # no sliver thinner than 5 micrometres


def test_meshes_are_small():
    assert sum(path.stat().st_size for path in (ASSETS / "meshes").iterdir()) < 3_000_000


@pytest.mark.parametrize("name", SHAPED)
def test_extent_follows_the_equivalent_box(name):
    fact, shape = LINKS[name], mesh(name)
    along = shape.vertices @ np.asarray(fact["box_axes"]).T
    ratio = np.ptp(along, axis=0) / fact["box_size"]
    most = np.array([1.62 if name in REACHING else 1.35, 1.35, 1.35])  # the long axis comes first
    assert (ratio >= 0.75).all(), ratio
    assert (ratio <= most).all(), ratio
    assert np.linalg.norm(shape.center_mass - fact["com"]) < 0.020


@pytest.mark.parametrize("part", [f"l{k}" for k in range(1, 8)])
def test_right_and_left_parts_are_equal(part):
    left, right = mesh(f"left_arm_{part}"), mesh(f"right_arm_{part}")
    assert len(left.faces) == len(right.faces)
    assert right.volume == pytest.approx(left.volume, rel=1e-9)
    assert right.area == pytest.approx(left.area, rel=1e-9)


@pytest.mark.parametrize("part", ["l1", "l2", "l5", "l6", "l7"])
def test_right_part_is_the_reflection_at_the_zero_pose(part):
    robot = urdf()
    robot.update_cfg(poses()["zero"])
    T_left, T_right = (robot.get_transform(f"{side}_arm_{part}", "base_link") for side in ("left", "right"))
    left = trimesh.transform_points(mesh(f"left_arm_{part}").vertices, T_left)
    right = trimesh.transform_points(mesh(f"right_arm_{part}").vertices, T_right)
    shoulders = [robot.get_transform(f"{side}_arm_l1", "base_link")[0, 3] for side in ("left", "right")]
    left[:, 0] = sum(shoulders) - left[:, 0]
    tree = cKDTree(right)
    step = np.median(right[tree.query(left)[1]] - left, axis=0)
    assert np.linalg.norm(step) < 1e-3  # by so much the facts differ across the axes
    distance, match = tree.query(left + step)
    assert distance.max() < 1e-6
    assert sorted(match) == list(range(len(right)))


@pytest.mark.parametrize("fact", MOVING, ids=lambda fact: fact["name"])
def test_neighbours_meet_at_their_joint(fact):
    objects = placed(poses()["zero"])
    a, b = objects[fact["parent"]], objects[fact["child"]]
    assert fcl.distance(a, b, fcl.DistanceRequest(), fcl.DistanceResult()) < 2e-3
    # Both shapes surround the joint axis (z of the child) near the joint.
    T_base_child = urdf().get_transform(fact["child"], "base_link")
    T_base_parent = urdf().get_transform(fact["parent"], "base_link")
    for name, T in ((fact["child"], T_base_child), (fact["parent"], T_base_parent)):
        points = trimesh.transform_points(mesh(name).vertices, np.linalg.inv(T_base_child) @ T)
        near = np.abs(points[:, 2]) < 0.080
        assert near.any()
        assert points[near, :2].min(axis=0).max() < 0.0 < points[near, :2].max(axis=0).min()


def test_named_poses_are_complete_and_within_limits():
    found = poses()
    assert list(found) == ["zero", "default", "arms_forward", "arms_up", "hug", "self_collision"]
    limits = {joint["name"]: (joint["lower"], joint["upper"]) for joint in MOVING}
    for values in found.values():
        assert values.keys() == limits.keys()
        assert all(limits[name][0] <= value <= limits[name][1] for name, value in values.items())
    assert set(found["zero"].values()) == {0.0}
    assert found["default"] == FACTS["default_configuration"]


@pytest.mark.parametrize("pose", ["zero", "default", "arms_forward", "arms_up", "hug"])
def test_named_pose_is_free(pose):
    assert colliding(poses()[pose]) == set()


def test_hug_crosses_the_arms():
    robot = urdf()
    robot.update_cfg(poses()["hug"])
    left, right = (
        robot.get_transform(f"frame_{side}_arm_ee", "base_link")[:3, 3] for side in ("left", "right")
    )
    assert left[0] > right[0] + 0.3  # at rest the left hand is at the smaller x
    assert min(left[1], right[1]) > 0.0  # both before the chest, which ends at y = -0.064


def test_self_collision_pose_brings_the_arms_together():
    pairs = colliding(poses()["self_collision"])
    assert pairs
    assert all(a.startswith("left_arm") and b.startswith("right_arm") for a, b in pairs)


def test_srdf_groups_and_adjacent_pairs():
    groups = {group.get("name"): group for group in srdf().findall("group")}
    arms = {f"{side}_arm": [f"{side}_j{k}" for k in range(1, 8)] for side in ("left", "right")}
    for name, joints in {**arms, "waist": ["waist_yaw", "waist_pitch"]}.items():
        assert [joint.get("name") for joint in groups[name]] == joints
    assert [part.get("name") for part in groups["both_arms"]] == ["left_arm", "right_arm"]
    assert [part.get("name") for part in groups["whole_body"]] == ["waist", "left_arm", "right_arm"]
    tools = {tool.get("name"): tool for tool in srdf().findall("end_effector")}
    for side, frame in FACTS["end_effectors"].items():
        assert tools[f"{side}_ee"].get("parent_group") == f"{side}_arm"
        assert [link.get("name") for link in groups[tools[f"{side}_ee"].get("group")]] == [frame]
    assert adjacent() == {frozenset((joint["parent"], joint["child"])) for joint in MOVING}
    assert {pair.get("reason") for pair in srdf().findall("disable_collisions")} == {"Adjacent"}


def test_script_writes_the_same_files(tmp_path):
    script = ROOT / "tools" / "model_teaarm.py"
    subprocess.run([sys.executable, str(script), "--out", str(tmp_path)], check=True, timeout=120)
    written = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert len(written) == len(SHAPED) + 2
    urdf = Path(
        "teaarm.urdf"
    )  # its products of inertia, differences of large numbers, round as the processor does
    meshes = [path for path in written if path != urdf]
    assert [path for path in meshes if (tmp_path / path).read_bytes() != (ASSETS / path).read_bytes()] == []
    number = r"-?\d+\.\d+(?:e[-+]\d+)?"
    made, kept = ((folder / urdf).read_text() for folder in (tmp_path, ASSETS))
    assert re.split(number, made) == re.split(number, kept)
    values = [np.array(re.findall(number, text), dtype=float) for text in (made, kept)]
    np.testing.assert_allclose(*values, rtol=1e-9, atol=1e-15)
