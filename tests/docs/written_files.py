"""Files of every format, really written, as the fields that are in them.

A field is a path: keys joined by dots, `[]` for the entries of a list. Lists of numbers or texts are one field. In XML a
field is `element@attribute`, or `element` where it has none.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from lxml import etree
from ruamel.yaml import YAML

import elbowroom as er
from elbowroom import formats
from elbowroom.cli import main
from elbowroom.formats import ExportOptions
from elbowroom.grasp import GraspPlanner, load_hand, plan_approach
from elbowroom.mesh import TriangleMesh
from elbowroom.pairs import PairEvidence, PairOptions, PairReason
from elbowroom.plan import Curve, Roadmap, time_curve
from elbowroom.world import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    MeshObstacle,
    PointCloud,
    SdfGrid,
    Sphere,
    World,
)

from .page_files import write_page_files

MJCF = """<mujoco model="made">
  <worldbody><body name="base"><geom size="0.05"/>
    <body name="arm" pos="0 0 0.2"><joint name="turn" pos="0 0.1 0" range="-1 1"/><geom size="0.04"/>
      <body name="tip" pos="0 0 0.2"><joint name="slide" type="slide" range="0 0.1"/><geom size="0.03"/></body></body>
  </body></worldbody>
  <equality><joint joint1="slide" joint2="turn" polycoef="0 0.1 0 0 0"/></equality>
  <keyframe><key name="turned" qpos="0.5 0.05"/></keyframe>
</mujoco>"""
"""A robot without a file: a joint beside its body's origin, a coupling, a named pose."""

URDF = """<robot name="gripped">
  <link name="world"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="arm"><collision><origin xyz="0 0 0.2"/><geometry><box size="0.06 0.06 0.3"/></geometry></collision>
    <inertial><mass value="2"/><inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
  <link name="hand"><collision><geometry><box size="0.1 0.1 0.02"/></geometry></collision></link>
  <link name="left_jaw"><collision><origin xyz="0.04 0 0.05"/><geometry><box size="0.01 0.01 0.03"/></geometry></collision></link>
  <link name="right_jaw"><collision><origin xyz="-0.04 0 0.05"/><geometry><box size="0.01 0.01 0.03"/></geometry></collision></link>
  <joint name="turn" type="continuous"><parent link="world"/><child link="arm"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
    <limit effort="50" velocity="1"/><dynamics damping="0.5" friction="0.1"/></joint>
  <joint name="bend" type="revolute"><parent link="arm"/><child link="hand"/><origin xyz="0 0 0.4" rpy="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="20" velocity="1"/></joint>
  <joint name="left" type="revolute"><parent link="hand"/><child link="left_jaw"/><axis xyz="0 1 0"/>
    <limit lower="-0.2" upper="0.2" effort="5" velocity="1"/></joint>
  <joint name="right" type="revolute"><parent link="hand"/><child link="right_jaw"/><axis xyz="0 -1 0"/>
    <limit lower="-0.2" upper="0.2" effort="5" velocity="1"/><mimic joint="left"/></joint>
</robot>"""
"""An arm on MuJoCo's own world, with a gripper and all that a URDF says of dynamics."""


def fields_of_values(value: Any, path: str = "") -> set[str]:
    """Paths of plain values, as JSON and YAML have them."""
    if isinstance(value, Mapping):
        inner = (fields_of_values(part, f"{path}.{key}".lstrip(".")) for key, part in value.items())
        return set[str]().union(*inner) if value else set()
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return set[str]().union(*(fields_of_values(part, f"{path}[]") for part in value))
    return {path}


def fields_of_xml(elements: Iterable[Any]) -> set[str]:
    """Attributes of elements; elements alone where they have none."""
    found: set[str] = set()
    for element in elements:
        if isinstance(element.tag, str):
            found |= {f"{element.tag}@{name}" for name in element.attrib} or {element.tag}
    return found


def fields_of_csv(text: str, names: Iterable[str] = (), word: str = "") -> set[str]:
    """The head of a table, with a word in the place of these names."""
    known = set(names)
    return {word if column in known else column for column in next(csv.reader(io.StringIO(text)))}


@dataclass(frozen=True)
class Made:
    """What is written: an arm with spheres that pad and hold something, and pairs of which one has all evidence."""

    folder: Path
    robot: er.Robot
    spheres: er.SphereModel
    pairs: er.PairMatrix

    def write(self, name: str, **changes: Any) -> Path:
        """A file by its extension."""
        given = {"robot": self.robot, "spheres": self.spheres, "pairs": self.pairs, **changes}
        formats.write(self.folder / name, **given)
        return self.folder / name


def make(folder: Path) -> Made:
    write_page_files(folder)
    robot = er.load_robot(folder / "my_robot.urdf")
    own = {link: (np.array([[0.0, 0.0, 0.05]]), np.array([0.06])) for link in robot.mesh_links}
    spheres = er.SphereModel.from_links(
        robot.link_names, own, self_padding={"hand": 0.01}, evidence={"method": "made"}
    )
    spheres = dataclasses.replace(spheres, world_padding={"hand": 0.02}, robot_name=robot.name)
    spheres = spheres.attach("hand", np.array([[0.0, 0.0, 0.15]]), np.array([0.03]), "cup")
    pairs = er.compute_pairs(robot, spheres, PairOptions(samples=64, proof_boxes=64))
    whole = PairEvidence(
        PairReason.CHECKED, "checked because it was made so", samples=9, hits=3, confidence=0.9, bound=0.5, seed=1,
        buffer=0.01, clearance=0.1, boxes=2, witness=(0.0,) * robot.dof, decided_by="meshes", mesh_samples=4,
        mesh_hits=2, mesh_depth=0.01, source="user", srdf_reason="Never",
    )  # fmt: skip
    adjacent = PairEvidence(PairReason.CHECKED, "checked, though MuJoCo drops it: its bodies are joined")
    entries = {**pairs.entries, ("forearm", "hand"): whole, ("upper_arm", "shoulder")[::-1]: adjacent}
    return Made(folder, robot, spheres, dataclasses.replace(pairs, entries=entries))


def written(made: Made) -> dict[str, set[str]]:
    """Heading of a section of the page -> fields of the files that it speaks of."""
    return {
        **_spheres_and_pairs(made),
        **_descriptions(made),
        **_scenes(made),
        **_motions(made),
        **_tables(made),
        **_grasps(),
    }


def _spheres_and_pairs(made: Made) -> dict[str, set[str]]:
    read = YAML(typ="safe").load
    locked = ExportOptions(tool_frames=("hand", "wrist_1"), locked={"joint_6": 0.0})
    curobo: set[str] = set()
    for version in (1, 2):
        path = made.write(f"v{version}.yml", options=dataclasses.replace(locked, curobo_version=version))
        curobo |= fields_of_values(read(path)["robot_cfg"]["kinematics"])
    ignored = made.pairs.ignored | dict.fromkeys(made.pairs.by_meshes, "by meshes")
    formats.write_json(made.folder / "c.json", spheres=made.spheres, pairs=ignored, style="collision")
    made.pairs.write(made.folder / "pairs.json")
    return {
        "Sphere JSON": fields_of_values(json.loads(made.write("s.json").read_text())),
        "Sphere JSON: collision": fields_of_values(json.loads((made.folder / "c.json").read_text())),
        "Pairs JSON": fields_of_values(json.loads((made.folder / "pairs.json").read_text())),
        "SRDF": fields_of_xml([*etree.parse(made.write("a.srdf")).iter(), *_gripped(made, "g.srdf").iter()]),
        "cuRobo YAML": curobo,
        "XRDF": fields_of_values(read(made.write("a.xrdf"))),
    }


def _descriptions(made: Made) -> dict[str, set[str]]:
    shapes = etree.parse(made.write("a.urdf")).iter("collision")
    alone = er.load_robot(mujoco.MjModel.from_xml_string(MJCF))
    balls = {link: (np.zeros((1, 3)), np.array([0.05])) for link in alone.mesh_links}
    spheres = er.SphereModel.from_links(alone.link_names, balls)
    pairs = er.compute_pairs(alone, spheres, PairOptions(samples=16, proof_boxes=8))
    formats.write(made.folder / "new.xml", robot=alone, spheres=spheres, pairs=pairs)
    own = er.load_robot(made.folder / "my_robot.xml")
    made.write("own.xml", robot=own)
    new, of_mine = etree.parse(made.folder / "new.xml"), etree.parse(made.folder / "own.xml")
    ours = [geom for geom in of_mine.iter("geom") if geom.get("name", "").startswith("sphere:")]
    return {
        "Spherized URDF": fields_of_xml(element for shape in shapes for element in shape.iterdescendants()),
        "MJCF": fields_of_xml(
            [*new.iter(), *_gripped(made, "g.xml").iter(), *ours, *of_mine.find("contact").iter()]
        ),
    }


def _gripped(made: Made, name: str) -> Any:
    """A file of the arm with a gripper."""
    (made.folder / "gripped.urdf").write_text(URDF)
    robot = er.load_robot(made.folder / "gripped.urdf")
    spheres = er.fit_spheres(robot, er.FitOptions(method="centerline"))
    pairs = er.compute_pairs(robot, spheres, PairOptions(samples=16, proof_boxes=8))
    formats.write(made.folder / name, robot=robot, spheres=spheres, pairs=pairs)
    return etree.parse(made.folder / name)


def _scenes(made: Made) -> dict[str, set[str]]:
    cube, points = TriangleMesh.box((0.1, 0.1, 0.1)), np.random.default_rng(0).random((1200, 3))
    world = World(
        [
            Box((0.1, 0.1, 0.1), name="box"),
            Sphere(0.1, name="ball"),
            Cylinder(0.1, 0.2, name="can"),
            Capsule(0.1, 0.2, name="pill"),
            HalfSpace(offset=-1.0, name="floor"),
            MeshObstacle(cube, name="cube"),
            PointCloud(points[:5], radius=0.01, name="few"),
            PointCloud(points, radius=0.01, name="many"),
            SdfGrid(np.ones((2, 2, 2)), (0.1, 0.1, 0.1), name="field"),
        ],
        notes=("made for this",),
    )
    for name in ("world.json", "world.yaml"):
        world.write(made.folder / name)
    moveit = YAML(typ="safe").load(made.folder / "world.yaml")["world"]
    return {
        "Scene JSON": fields_of_values(json.loads((made.folder / "world.json").read_text())),
        "MoveIt scene": fields_of_values(moveit),
    }


def _motions(made: Made) -> dict[str, set[str]]:
    ends = np.array([np.zeros(6), np.full(6, 0.3)])
    motion = time_curve(Curve.polyline(ends), 1.0, 5.0, jerk=50.0, joint_names=made.robot.joint_names)
    for name in ("motion.json", "motion.csv"):
        motion.write(made.folder / name)
    model = er.CollisionModel(er.load_robot("teaarm"))  # comes with the package
    Roadmap(model).write(made.folder / "roadmap.npz")
    audit = er.audit(model, np.tile(model.default_cfg, (2, 1)))
    return {
        "Configurations": fields_of_csv(
            (made.folder / "motion.csv").read_text(), made.robot.joint_names, "JOINT"
        ),
        "Motion JSON": fields_of_values(json.loads((made.folder / "motion.json").read_text())),
        "ROS trajectory": fields_of_values(motion.to_ros()),
        "Audit CSV": fields_of_csv(audit.to_csv()),
        "Roadmap": set(np.load(made.folder / "roadmap.npz").files),
    }


def _tables(made: Made) -> dict[str, set[str]]:
    targets, answers = made.folder / "targets.json", made.folder / "answers.csv"
    targets.write_text(json.dumps([{"tool0": [0.3, 0.1, 0.5]}]))
    urdf = str(made.folder / "my_robot.urdf")
    assert main(["ik", urdf, "--targets", str(targets), "--no-collision", "--csv", str(answers)]) == 0
    return {"IK answers": fields_of_csv(answers.read_text(), made.robot.joint_names, "JOINT")}


def _grasps() -> dict[str, set[str]]:
    planner = GraspPlanner(load_hand("rh56"))
    motions = [plan_approach(planner, grasp) for grasp in (planner.plane(0.04, 4), planner.cylinder(0.06))]
    return {
        "Grasp motion": set[str]().union(*(fields_of_values(motion.to_dict()) for motion in motions)),
        "Grasp motion: CSV": fields_of_csv(motions[0].to_csv(), planner.hand.actuator_names, "NAME"),
    }
