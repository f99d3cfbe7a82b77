"""Room: where a robot can go, and which of its configurations the obstacles put so far leave free.

Known by points on the links in sampled configurations: enough to place furniture so that a scene is neither empty nor
impassable, not a proof of anything. Obstacles are taken for the boxes around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Bool, Float

from .._poses import matrix_from_wxyz_xyz
from ..errors import InputError
from ..robot import Robot
from ._obstacles import HalfSpace, Obstacle

SAMPLES = 160
"""Configurations: the share of free ones is known to four percent."""
POINTS = 32
"""On every link in a sampled configuration."""
POINTS_AT_REST = 500
"""On every link in the default pose."""
GAP = 0.025
"""Obstacles keep this share of the reach from the points: what lies between them counts too."""
UNLIMITED = 3.0
"""Rad or m that joints without limits go either way."""


class Room:
    """The surroundings of a robot while they are being furnished."""

    def __init__(self, robot: Robot) -> None:
        links = robot.mesh_links
        if not links:
            raise InputError(f"{robot.name}: a scene for it needs collision geometry; it has none")
        rng = np.random.default_rng(0)
        points = np.array([_surface_points(robot, link, rng) for link in links])
        lower, upper = np.maximum(robot.lower, -UNLIMITED), np.minimum(robot.upper, UNLIMITED)
        cfgs = np.concatenate([robot.default_cfg[None], rng.uniform(lower, upper, (SAMPLES, robot.dof))])
        T = matrix_from_wxyz_xyz(robot.link_poses(cfgs))[:, [robot.link_index(link) for link in links]]
        at_rest = _moved(points, T[:1]).reshape(-1, 3)
        sampled = _moved(points[:, :POINTS], T[1:])
        still = np.ptp(T, axis=0).max(axis=(1, 2)) < 1e-9
        base = sampled[0][still].reshape(-1, 3) if still.any() else T[0, :1, :3, 3]
        self.points: Float[np.ndarray, "samples points 3"] = sampled.reshape(SAMPLES, -1, 3)
        self.at_rest: Float[np.ndarray, "points 3"] = at_rest
        """Points of the default pose, which no obstacle may touch."""
        self.free: Bool[np.ndarray, "samples"] = np.ones(SAMPLES, dtype=bool)
        self.floor = float(min(base[:, 2].min(), at_rest[:, 2].min()))
        """Height of the lowest point of the base and of the default pose."""
        moving = sampled[:, ~still].reshape(-1, 3) if not still.all() else base
        middle = 0.5 * (base.min(axis=0) + base.max(axis=0))
        self.ground = -np.inf
        """Height of the floor that was put."""
        self.center: Float[np.ndarray, "3"] = np.array([*middle[:2], np.median(moving[:, 2])])
        """Above the middle of the base, in the middle of the heights that the links go to."""
        self.reach = float(np.linalg.norm(moving - self.center, axis=1).max())
        """Of the farthest point of a link from the centre, metres."""
        self.footprint = float(np.linalg.norm((base - middle)[:, :2], axis=1).max())
        """Of the base, metres around its middle."""
        self.obstacles: list[Obstacle] = []

    @property
    def share(self) -> float:
        """Of the sampled configurations that are free."""
        return float(self.free.mean())

    def put(self, choices: Iterable[Sequence[Obstacle]], keep: float) -> bool:
        """Puts the first group of obstacles that leaves at least a share `keep` free and the default pose untouched.

        Returns:
            Whether there was one.
        """
        for group in choices:
            if any(self._hits(obstacle, self.at_rest[None])[0] for obstacle in group):
                continue
            free = self.free.copy()
            for obstacle in group:
                free[free] = ~self._hits(obstacle, self.points[free])
            if free.mean() >= keep:
                self.free = free
                self.obstacles.extend(group)
                return True
        return False

    def _hits(self, obstacle: Obstacle, points: Float[np.ndarray, "n points 3"]) -> Bool[np.ndarray, "n"]:
        """Whether points are nearer to an obstacle than the gap, the obstacle taken for its box."""
        R, t, gap = obstacle.pose[:3, :3], obstacle.pose[:3, 3], GAP * self.reach
        local = (points - t) @ R
        if isinstance(obstacle, HalfSpace):
            return np.any(local @ np.array(obstacle.normal) - obstacle.offset < gap, axis=1)
        low, high = obstacle.at(np.eye(4)).bounds
        return ((local > low - gap) & (local < high + gap)).all(axis=2).any(axis=1)


def _moved(
    points: Float[np.ndarray, "links points 3"], T: Float[np.ndarray, "n links 4 4"]
) -> Float[np.ndarray, "n links points 3"]:
    return np.einsum("nlij,lpj->nlpi", T[..., :3, :3], points) + T[..., None, :3, 3]


def _surface_points(robot: Robot, link: str, rng: np.random.Generator) -> Float[np.ndarray, "points 3"]:
    """Points spread over the surface of a link, in its frame."""
    mesh = robot.link_mesh(link)
    assert mesh is not None
    a, b, c = (np.asarray(mesh.vertices)[np.asarray(mesh.faces)[:, k]] for k in range(3))
    area = np.cumsum(np.linalg.norm(np.cross(b - a, c - a), axis=1))
    picked = np.searchsorted(area, rng.uniform(0.0, area[-1], POINTS_AT_REST)).clip(max=len(area) - 1)
    u, v = rng.uniform(size=(2, POINTS_AT_REST, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    return a[picked] + u * (b[picked] - a[picked]) + v * (c[picked] - a[picked])
