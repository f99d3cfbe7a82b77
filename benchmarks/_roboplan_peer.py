"""RoboPlan as a peer: the same URDF, the pairs that we check, obstacles as its own shapes; paths back as ours.

RoboPlan (https://github.com/open-planning/roboplan) is Pinocchio and Coal in C++ with Python bindings. It decides by
the meshes, as we do, and looks at edges at steps. It finds no pairs by itself: it is given ours.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

import elbowroom as er
from elbowroom.world import Box, Cylinder, Obstacle, Sphere, World

HOW = "roboplan is not installed: pip install roboplan"
STEP = 0.02
"""rad between looks at an edge, as OMPL is given beside us; RoboPlan's own default is 0.05."""
GROUP = "moving"


def available() -> bool:
    return find_spec("roboplan") is not None


@dataclass(frozen=True)
class Answer:
    """Of one problem; CPU seconds, the smallest of the repeats."""

    first: float
    total: float
    """With its shortcutting; as `first` where nothing was found."""
    path: np.ndarray | None
    """(n, dof) after shortcutting; None: not solved."""


class RoboPlan:
    """A robot among obstacles, as RoboPlan has them."""

    def __init__(
        self, model: er.CollisionModel, world: World, joints: Sequence[str], rest: np.ndarray
    ) -> None:
        """Joints other than `joints` stay at `rest`."""
        from roboplan import core

        robot, self._core = model.robot, core
        path = Path(robot.path)
        folders = [str(folder) for folder in path.parents]  # where package:// is looked for
        text = _widened(path.read_text(encoding="utf-8"), joints, float(np.abs(rest).max()))
        self.scene = core.Scene(robot.name, core.loadUrdfSceneDescriptionFromXml(text, folders))
        self.scene.addGroup(GROUP, list(joints))
        self.scene.setCollisions(_all_pairs(robot), False)
        self.scene.setCollisions(list(model.pairs.checked), True)
        names = [obstacle.name for obstacle in world]
        for obstacle in world:
            self._add(obstacle)
        for link in robot.mesh_links:
            for name in names:
                self.scene.setCollisions(link, name, True)
        for k, name in enumerate(names):  # obstacles may touch each other, and what stands on the ground
            for other in names[k + 1 :]:
                self.scene.setCollisions(name, other, False)
        order = self.scene.getJointNames()
        self._at = [order.index(name) for name in robot.joint_names]
        self._moving = [robot.joint_names.index(name) for name in joints]
        self._names, self._rest, self._dof = list(joints), np.asarray(rest, dtype=np.float64), len(order)
        self.scene.setJointPositions(self.q(self._rest))

    def q(self, cfg: np.ndarray) -> np.ndarray:
        """A configuration in RoboPlan's order."""
        found = np.zeros(self._dof)
        found[self._at] = cfg
        return found

    def free(self, rows: Sequence[np.ndarray]) -> np.ndarray:
        """One call each, in its order; there is none for many."""
        hits = self.scene.hasCollisions
        return np.array([not hits(row) for row in rows])

    def solve(
        self, start: np.ndarray, goals: np.ndarray, repeats: int, timeout: float = 30.0, seed: int = 1
    ) -> Answer:
        """RRT-Connect and its shortcutting: its own settings, except the step, the nodes and the time."""
        from roboplan import rrt

        core, first, total, path = self._core, np.inf, np.inf, None
        options = rrt.RRTOptions(
            group_name=GROUP,
            rrt_connect=True,
            max_nodes=100_000,
            max_planning_time=timeout,
            collision_check_step_size=STEP,
        )
        for _ in range(repeats):
            begun, found = time.process_time(), None
            for goal in goals:
                planner = rrt.RRT(self.scene, options)
                planner.setRngSeed(seed)
                try:
                    found = planner.plan(self._configuration(start), self._configuration(goal))
                    break
                except RuntimeError:
                    continue
            first = min(first, time.process_time() - begun)
            if found is None:
                return Answer(first, first, None)
            cutting = core.PathShortcuttingOptions(group_name=GROUP, max_step_size=STEP, seed=seed)
            short = core.PathShortcutter(self.scene, cutting).shortcut(found)
            total = min(total, time.process_time() - begun)
            arm = np.array(short.positions)
            path = np.tile(self._rest, (len(arm), 1))
            path[:, self._moving] = arm
        return Answer(first, total, path)

    def _configuration(self, cfg: np.ndarray) -> Any:
        return self._core.JointConfiguration(self._names, np.ascontiguousarray(cfg[self._moving]))

    def _add(self, obstacle: Obstacle) -> None:
        core, how = self._core, ("universe", np.asfortranarray(obstacle.pose), np.array([0.5, 0.5, 0.5, 1.0]))
        frame, T, colour = how
        match obstacle:
            case Box():
                self.scene.addBoxGeometry(obstacle.name, frame, core.Box(*obstacle.size), T, colour)
            case Cylinder():
                shape = core.Cylinder(obstacle.radius, obstacle.length)
                self.scene.addCylinderGeometry(obstacle.name, frame, shape, T, colour)
            case Sphere():
                self.scene.addSphereGeometry(obstacle.name, frame, core.Sphere(obstacle.radius), T, colour)
            case _:
                raise ValueError(f"no shape of RoboPlan for a {type(obstacle).__name__}")


def _widened(urdf: str, joints: Sequence[str], reach: float) -> str:
    """The URDF with wider limits of the joints that are held: the sample holds fingers beyond theirs."""
    tree = ElementTree.fromstring(urdf)
    for joint in tree.iter("joint"):
        limit = joint.find("limit")
        if joint.get("name") not in joints and limit is not None:
            limit.set("lower", str(-reach))
            limit.set("upper", str(reach))
    return ElementTree.tostring(tree, encoding="unicode")


def _all_pairs(robot: er.Robot) -> list[tuple[str, str]]:
    links = robot.mesh_links
    return [(a, b) for k, a in enumerate(links) for b in links[k + 1 :]]
