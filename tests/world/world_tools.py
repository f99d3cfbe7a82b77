"""Obstacles drawn at random, for the tests of `elbowroom.world`."""

from __future__ import annotations

import functools

import numpy as np
import trimesh

from elbowroom.mesh import TriangleMesh
from elbowroom.world import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    MeshObstacle,
    Obstacle,
    PointCloud,
    SdfGrid,
    Sphere,
)

KINDS = ("box", "sphere", "cylinder", "capsule", "half_space", "mesh", "point_cloud", "sdf_grid")


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def pose(rng: np.random.Generator, spread: float = 0.5) -> np.ndarray:
    """A pose (7,) wxyz_xyz with a unit quaternion."""
    return np.concatenate([unit(rng.normal(size=4)), rng.uniform(-spread, spread, 3)])


def at(x: float, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    """A pose without rotation."""
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def bracket() -> trimesh.Trimesh:
    """A closed mesh that is not convex: a C of three boxes, in one piece."""
    outline = [(0, 0), (1, 0), (1, 0.3), (0.3, 0.3), (0.3, 0.7), (1, 0.7), (1, 1), (0, 1)]
    corners = np.array([(x, y, z) for z in (0.0, 0.5) for x, y in outline])
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 7), (7, 4, 5), (7, 5, 6)]
    sides = [
        t for i in range(8) for j in [(i + 1) % 8] for t in ((i, j, j + 8), (i, j + 8, i + 8))
    ]  # counterclockwise
    faces = [(a, c, b) for a, b, c in caps] + [(a + 8, b + 8, c + 8) for a, b, c in caps] + sides
    mesh = trimesh.Trimesh(0.5 * (corners - corners.mean(axis=0)), faces, process=False)
    assert mesh.is_watertight
    return mesh


@functools.cache
def solid(name: str) -> trimesh.Trimesh:
    """Closed meshes: an egg (convex), a torus, a bracket."""
    if name == "egg":
        mesh = trimesh.creation.icosphere(subdivisions=3, radius=0.25)
        mesh.vertices *= (1.0, 1.4, 0.6)
        return mesh
    return trimesh.creation.torus(0.3, 0.1) if name == "torus" else bracket()


def ball_field(radius: float = 0.3, half: float = 0.5) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Samples of the distance to a ball on a grid of three different spacings, and these."""
    shape = (21, 25, 17)
    axes = [np.linspace(-half, half, n) for n in shape]
    values = np.linalg.norm(np.stack(np.meshgrid(*axes, indexing="ij")), axis=0) - radius
    return values, tuple(2.0 * half / (n - 1) for n in shape)


def draw(kind: str, rng: np.random.Generator, spread: float = 0.5, **values) -> Obstacle:
    """An obstacle of a kind, its size and pose at random."""
    a, b, c = rng.uniform(0.05, 0.4, 3)
    placed = {"pose": pose(rng, spread), **values}
    if kind == "box":
        return Box((a, b, c), **placed)
    if kind == "sphere":
        return Sphere(a, **placed)
    if kind == "cylinder":
        return Cylinder(a, b, **placed)
    if kind == "capsule":
        return Capsule(a, b, **placed)
    if kind == "half_space":
        return HalfSpace(tuple(unit(rng.normal(size=3))), -2.0 * c, **placed)
    if kind == "mesh":
        name = ("egg", "torus", "bracket")[int(rng.integers(3))]
        return MeshObstacle(TriangleMesh.from_trimesh(solid(name)), **placed)
    if kind == "point_cloud":
        return PointCloud(rng.uniform(-0.4, 0.4, (2000, 3)) * (a, b, c) / 0.4, 0.04, **placed)
    values, spacing = ball_field()
    return SdfGrid(values, spacing, (-0.5, -0.5, -0.5), **placed)


def in_frame_of(obstacle: Obstacle, points: np.ndarray) -> np.ndarray:
    """Points of the world in the frame of an obstacle."""
    return (points - obstacle.pose[:3, 3]) @ obstacle.pose[:3, :3]
