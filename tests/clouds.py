"""Point clouds for tests and benchmarks, as a depth camera sees a scene, and which links their balls touch: brute force."""

from __future__ import annotations

import numpy as np
import trimesh

import elbowroom as er
from elbowroom._poses import matrix_from_wxyz_xyz
from elbowroom.world import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, Obstacle, Sphere, World

from .world_oracles import winding

PATCH = 3.0
"""Edge in metres of the square that is seen of a half-space."""
BLOCK = 4_000_000
"""Pairs of points and triangles looked at together."""


def cloud_of(world: World, count: int, seed: int = 0, noise: float = 0.0) -> np.ndarray:
    """Points (count, 3) on the surfaces of all obstacles, by area, in the world frame, off by `noise` metres (sigma)."""
    rng = np.random.default_rng(seed)
    whole = trimesh.util.concatenate([surface(obstacle) for obstacle in world])
    area = np.cumsum(whole.area_faces)
    picked = np.searchsorted(area, rng.uniform(0.0, area[-1], count)).clip(max=len(area) - 1)
    u, v = rng.uniform(size=(2, count, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    a, b, c = np.moveaxis(whole.triangles[picked], 1, 0)
    return a + u * (b - a) + v * (c - a) + noise * rng.normal(size=(count, 3))


def surface(obstacle: Obstacle) -> trimesh.Trimesh:
    """Triangles of an obstacle in the world frame; a patch of a half-space."""
    match obstacle:
        case Box():
            mesh = trimesh.creation.box(obstacle.size)
        case Sphere():
            mesh = trimesh.creation.icosphere(3, obstacle.radius)
        case Cylinder():
            mesh = trimesh.creation.cylinder(obstacle.radius, obstacle.length)
        case Capsule():
            mesh = trimesh.creation.capsule(obstacle.length, obstacle.radius)
            mesh.apply_translation(-mesh.bounds.mean(axis=0))
        case HalfSpace():
            mesh = trimesh.creation.box((PATCH, PATCH, 1e-6))
            mesh.apply_transform(trimesh.geometry.align_vectors([0, 0, 1], obstacle.normal))
            mesh.apply_translation(obstacle.offset * np.array(obstacle.normal))
        case MeshObstacle():
            mesh = trimesh.Trimesh(obstacle.mesh.vertices, obstacle.mesh.faces, process=False)
        case _:
            raise TypeError(f"no surface of a {type(obstacle).__name__}")
    return mesh.apply_transform(obstacle.pose)


class CloudJudge:
    """Triangles of all links against the balls of a cloud, point by triangle; closed pieces contain centres."""

    def __init__(self, robot: er.Robot, points: np.ndarray, radius: float) -> None:
        self.robot, self.points, self.radius = robot, points, radius
        self.links = robot.mesh_links
        self.triangles = [np.asarray(robot.link_mesh(link).triangles) for link in self.links]
        whole = [robot.link_mesh(link) for link in self.links]
        for mesh in whole:
            mesh.merge_vertices()
        self.closed = [
            [np.asarray(part.triangles) for part in mesh.split(only_watertight=True)] for mesh in whole
        ]
        self.index = [robot.link_index(link) for link in self.links]

    def clearance(self, cfg: np.ndarray, within: float = 1e-3) -> float:
        """Smallest distance of a link to a ball when below `within`, else infinite; 0 or below: they touch."""
        Ts = matrix_from_wxyz_xyz(self.robot.link_poses(cfg))[self.index]
        found = np.inf
        for T, triangles, closed in zip(Ts, self.triangles, self.closed, strict=True):
            corners = triangles.reshape(-1, 3)
            room = self.radius + within
            middle, half = 0.5 * (corners.min(0) + corners.max(0)), 0.5 * np.ptp(corners, axis=0)
            center = T[:3, :3] @ middle + T[:3, 3]
            near = self.points[
                (np.abs(self.points - center) <= np.linalg.norm(half) + room).all(axis=1)
            ]  # boxes in the world, then in the link
            local = (near - T[:3, 3]) @ T[:3, :3]
            local = local[(np.abs(local - middle) <= half + room).all(axis=1)]
            if not len(local):
                continue
            found = min(found, nearest(local, triangles, room) - self.radius)
            if found <= 0.0 or any(abs(winding(piece, p)) > 0.5 for p in local for piece in closed):
                return min(found, 0.0)
        return found if found < within else np.inf


def nearest(points: np.ndarray, triangles: np.ndarray, within: float) -> float:
    """Smallest distance of points (n, 3) to triangles (m, 3, 3) if it is at most `within`, else infinite."""
    middles = triangles.mean(axis=1)
    sizes = np.linalg.norm(triangles - middles[:, None], axis=2).max(axis=1) + within
    found = np.inf
    step = max(1, BLOCK // len(triangles))
    for first in range(0, len(points), step):
        block = points[first : first + step]
        i, j = np.nonzero(((block[:, None] - middles) ** 2).sum(axis=2) <= sizes**2)
        for k in range(0, len(i), BLOCK):
            p, t = block[i[k : k + BLOCK]], triangles[j[k : k + BLOCK]]
            gap = np.linalg.norm(p - trimesh.triangles.closest_point(t, p), axis=1)
            found = min(found, float(gap.min()))
    return found if found <= within else np.inf
