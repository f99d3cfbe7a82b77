"""Problems for planners: those of a MotionBenchMaker file, and generated ones for robots with two arms.

A file holds start and goal configurations of an arm among boxes, cylinders and spheres (see `read_problems`). Generated
problems are random free starts and goals in generated shelves, tables and cages, so far apart that both arms must move;
the same robot, kinds and count give the same problems.
"""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import elbowroom as er
from elbowroom.world import Box, Cylinder, Obstacle, Sphere, World, scene_for
from tests.plan_oracles import Held

KINDS = ("shelf", "table", "cage")
PER_SCENE = 5
"""Generated problems in one scene."""
FAR = 0.8
"""Radians that some joint of every arm has to move."""
ARMS: Mapping[str, tuple[str, ...]] = {"baxter": ("left_", "right_"), "teaarm": ("left_", "right_")}
"""Beginnings of the names of each arm's joints."""
HANDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "panda": ("panda_hand", ("panda_leftfinger", "panda_rightfinger")),
    "baxter": (
        "left_gripper_base_link",
        ("l_gripper_l_finger", "l_gripper_r_finger", "l_gripper_l_finger_tip", "l_gripper_r_finger_tip"),
    ),
    "teaarm": ("left_arm_l7", ()),
}
"""Link that carries a held object, and links that may touch it."""
PLACES: Mapping[str, tuple[float, float, float]] = {
    "panda": (0.0, 0.0, 0.12), "baxter": (0.0, 0.0, 0.15), "teaarm": (0.0, 0.23, 0.017),
}  # fmt: skip
"""Middle of the object in the frame of that link, metres: between or before the fingers."""


@dataclass(frozen=True)
class Problem:
    """From a start to a goal, both free, among obstacles."""

    name: str
    robot: str
    kind: str
    """Set or kind of scene, by which results are parted."""
    world: World
    start: np.ndarray
    """(dof,)"""
    goals: np.ndarray
    """(g, dof); any one will do."""
    joints: tuple[str, ...]
    """Those that may move."""
    held: tuple[Held, ...] = ()

    def model(self) -> er.CollisionModel:
        """What a planner is asked with; the robot's part is made once."""
        return holding(self.robot, self.held).with_world(self.world)


@cache
def bare(robot: str) -> er.CollisionModel:
    """The robot alone, one thread, defaults."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return er.CollisionModel(er.load_robot(robot), threads=1)


_HOLDING: dict[tuple[str, tuple[str, ...]], er.CollisionModel] = {}


def holding(robot: str, held: Sequence[Held]) -> er.CollisionModel:
    """The robot with objects in its hands."""
    key = robot, tuple(item.name for item in held)
    if key not in _HOLDING:
        model = bare(robot)
        for item in held:
            model = model.attach(item.name, item.link, item.shape, item.pose, touch_links=item.touch_links)
        _HOLDING[key] = model
    return _HOLDING[key]


def object_in_hand(robot: str) -> Held:
    """A box of 5 x 5 x 20 cm across the hand."""
    link, fingers = HANDS[robot]
    pose = np.eye(4)
    pose[:3, 3] = PLACES[robot]
    return Held("held_box", link, Box((0.2, 0.05, 0.05)), pose, fingers)


# Files ------------------------------------------------------------------------------------------


def read_problems(path: str | Path, *, valid: bool = True) -> list[Problem]:
    """Problems of a JSON file (or .json.gz).

    It holds `joints`, `finger_joint`, and per problem `set`, `index`, `start`, `goals`, `valid` and `obstacles` with
    `type`, `name`, `position`, `quat_xyzw` and `size`, or `radius` and `length`. Joints that are not named are
    held: fingers at `finger_joint`, others where the robot rests.
    """
    raw = Path(path).read_bytes()
    data = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    name = data.get("robot", "panda")
    robot = bare(name).robot
    rest = np.array(robot.default_cfg)
    for k, joint in enumerate(robot.joint_names):
        if "finger" in joint:
            rest[k] = data["finger_joint"]
    moving = [robot.joint_names.index(joint) for joint in data["joints"]]
    found: list[Problem] = []
    for item in data["problems"]:
        if valid and not item["valid"]:
            continue
        start, goals = rest.copy(), np.tile(rest, (len(item["goals"]), 1))
        start[moving], goals[:, moving] = item["start"], item["goals"]
        world = World(_obstacle(entry) for entry in item["obstacles"])
        key = f"{item['set']}_{item['index']}"
        found.append(Problem(key, name, item["set"], world, start, goals, tuple(data["joints"])))
    return found


def _obstacle(entry: Mapping[str, Any]) -> Obstacle:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_quat(entry["quat_xyzw"]).as_matrix(), entry["position"]
    name = entry["name"]
    match entry["type"]:
        case "box":
            return Box(tuple(entry["size"]), pose=pose, name=name)
        case "cylinder":
            return Cylinder(entry["radius"], entry["length"], pose=pose, name=name)
        case "sphere":
            return Sphere(entry["radius"], pose=pose, name=name)
        case other:
            raise ValueError(f"no obstacle of type {other!r}")


# Generated --------------------------------------------------------------------------------------


def generated(
    robot: str, count: int, *, held: bool = False, kinds: Sequence[str] = KINDS
) -> Iterator[Problem]:
    """Problems in scenes of all kinds in turn, `PER_SCENE` in each."""
    items = (object_in_hand(robot),) if held else ()
    alone = holding(robot, items)
    arms = _arms(robot, alone.robot.joint_names)
    joints = tuple(joint for arm in arms for joint in arm)
    made = scene = 0
    while made < count:
        kind, seed = kinds[scene % len(kinds)], scene // len(kinds)
        world = scene_for(bare(robot).robot, kind, seed)
        model = alone.with_world(world)
        rng = np.random.default_rng([14, scene, int(held)])
        for k in range(min(PER_SCENE, count - made)):
            start, goal = _ends(model, arms, rng)
            label = f"{kind}_{seed}_{k}" + ("_held" if held else "")
            yield Problem(label, robot, kind, world, start, goal[None], joints, items)
        made, scene = made + min(PER_SCENE, count - made), scene + 1


def _arms(robot: str, names: Sequence[str]) -> list[tuple[str, ...]]:
    if robot not in ARMS:
        return [tuple(name for name in names if "finger" not in name)]
    found = [tuple(name for name in names if name.startswith(word)) for word in ARMS[robot]]
    if robot == "teaarm":  # the waist carries both arms
        found[0] += tuple(name for name in names if name.startswith("waist"))
    return found


def _ends(
    model: er.CollisionModel, arms: Sequence[Sequence[str]], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Two free configurations between which every arm has to move."""
    robot = model.robot
    parts = [[robot.joint_names.index(joint) for joint in arm] for arm in arms]
    moving = np.concatenate(parts)
    while True:
        rows = np.tile(np.asarray(robot.default_cfg, dtype=np.float64), (256, 1))
        rows[:, moving] = rng.uniform(robot.lower[moving], robot.upper[moving], (len(rows), len(moving)))
        rows = rows[model.free(rows)]
        for start, goal in zip(rows[0:-1:2], rows[1::2], strict=False):
            if all(np.abs(goal - start)[part].max() >= FAR for part in parts):
                return start, goal
