"""VAMP's Panda as a peer: obstacles handed over as its own loader of MotionBenchMaker does, paths back as ours.

VAMP decides by 59 spheres that do not cover the meshes, and looks at edges at steps; a cylinder is a capsule to it, and
in the set `box` a cuboid, as in its own evaluation. (https://github.com/KavrakiLab/vamp, arXiv 2309.14545)
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from elbowroom.world import Box, Cylinder, Obstacle, Sphere, World

ARM = 7
"""Joints of the arm, the first of a configuration."""
HOW = "vamp-planner is not installed; pip builds it from source, with a C++ compiler, Eigen and files from GitHub"


def available() -> bool:
    return find_spec("vamp") is not None


@dataclass(frozen=True)
class Answer:
    """Of one problem; CPU seconds, the smallest of the repeats."""

    first: float
    total: float
    """With simplification; as `first` where nothing was found."""
    own_first: float
    """Seconds by VAMP's own clock, which starts after it has set up its memory."""
    own_total: float
    path: np.ndarray | None
    """(n, dof) simplified; None: not solved."""


class Vamp:
    """A robot among obstacles, as VAMP sees them."""

    def __init__(self, world: World, rest: np.ndarray, kind: str = "") -> None:
        """Joints of `rest` beyond the arm are held; VAMP holds the fingers 65 mm from the middle."""
        import vamp

        self._rest, self._vamp = np.asarray(rest, dtype=np.float64), vamp
        self.environment = vamp.problem_dict_to_vamp(_as_problem(world, kind))
        setup = vamp.configure_robot_and_planner_with_kwargs("panda", "rrtc")
        self.robot, self._plan, self._settings, self._simplify = setup
        self.spheres: int = self.robot.n_spheres()

    def rows(self, cfgs: np.ndarray) -> list[np.ndarray]:
        """Configurations as VAMP takes them fastest."""
        return list(np.ascontiguousarray(np.atleast_2d(cfgs)[:, :ARM], dtype=np.float32))

    def free(self, rows: Iterable[np.ndarray]) -> np.ndarray:
        """One call each: there is none for many."""
        validate, environment = self.robot.validate, self.environment
        return np.array([validate(row, environment) for row in rows], dtype=bool)

    def solve(self, start: np.ndarray, goals: np.ndarray, repeats: int) -> Answer:
        """RRT-Connect and simplification with the settings that VAMP has for the Panda, the same numbers every time."""
        begin, ends = self.rows(start)[0], self.rows(goals)
        first, total, own_first, own_total, path = np.inf, np.inf, np.inf, np.inf, None
        for _ in range(repeats):
            numbers = self.robot.halton()
            begun = time.process_time()
            found = self._plan(begin, ends, self.environment, self._settings, numbers)
            first = min(first, time.process_time() - begun)
            own_first = min(own_first, 1e-9 * found.nanoseconds)
            if not found.solved:
                return Answer(first, first, own_first, own_first, None)
            simple = self.robot.simplify(found.path, self.environment, self._simplify, numbers)
            total = min(total, time.process_time() - begun)
            own_total = min(own_total, 1e-9 * (found.nanoseconds + simple.nanoseconds))
            path = self._whole(simple.path)
        return Answer(first, total, own_first, own_total, path)

    def _whole(self, path: Any) -> np.ndarray:
        arm = np.asarray(path.numpy(), dtype=np.float64)
        whole = np.tile(self._rest, (len(arm), 1))
        whole[:, :ARM] = arm
        return whole


def _as_problem(world: World, kind: str) -> dict[str, Any]:
    """Obstacles in the words of VAMP's loader."""
    found: dict[str, Any] = {"problem": kind, "sphere": [], "cylinder": [], "box": []}
    for obstacle in world:
        word, sizes = _sizes(obstacle)
        pose = obstacle.pose
        found[word].append(
            {
                "name": obstacle.name,
                "position": pose[:3, 3].tolist(),
                "orientation_euler_xyz": Rotation.from_matrix(pose[:3, :3]).as_euler("xyz").tolist(),
                **sizes,
            }
        )
    return found


def _sizes(obstacle: Obstacle) -> tuple[str, dict[str, Any]]:
    match obstacle:
        case Box():
            return "box", {"half_extents": [0.5 * edge for edge in obstacle.size]}
        case Cylinder():
            return "cylinder", {"radius": obstacle.radius, "length": obstacle.length}
        case Sphere():
            return "sphere", {"radius": obstacle.radius}
        case _:
            raise ValueError(f"VAMP's loader has boxes, cylinders and spheres, not {type(obstacle).__name__}")
