"""Random obstacles and boxes, and the same obstacles in Coal: the judge of boxes, in tests and in the benchmark."""

from __future__ import annotations

import numpy as np
import pytest
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
    Sphere,
    World,
)

coal = pytest.importorskip("coal")

DOUBT = 1e-6
"""Metres. Coal's own tolerance: what is closer, it may call touching (17 nm were seen, which FCL calls apart)."""


def rotations(n: int, rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=(n, 4))
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]
    rows += [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]
    rows += [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    return np.stack(rows, axis=1).reshape(n, 3, 3)


def pose(rng: np.random.Generator, spread: float = 1.0) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = rotations(1, rng)[0]
    T[:3, 3] = rng.uniform(-spread, spread, 3)
    return T


def boxes(n: int, rng: np.random.Generator, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres, half edges from 1 mm to 30 cm, axes."""
    half = 10.0 ** rng.uniform(-3.0, np.log10(0.3), (n, 3))
    return rng.uniform(-spread, spread, (n, 3)), half, rotations(n, rng)


def shape(name: str) -> trimesh.Trimesh:
    if name == "ball":
        return trimesh.creation.icosphere(2, 0.2)
    if name == "ring":
        return trimesh.creation.torus(0.2, 0.06, major_sections=24, minor_sections=12)
    return trimesh.creation.annulus(0.1, 0.2, 0.3, sections=24)


def obstacle(kind: str, rng: np.random.Generator, spread: float = 1.0) -> Obstacle:
    a, b, c = rng.uniform(0.03, 0.25, 3)
    T = pose(rng, spread)
    match kind:
        case "box":
            return Box((2 * a, 2 * b, 2 * c), pose=T)
        case "sphere":
            return Sphere(a, pose=T)
        case "cylinder":
            return Cylinder(a, 2 * b, pose=T)
        case "capsule":
            return Capsule(0.5 * a, 2 * b, pose=T)
        case "half_space":
            return HalfSpace((1.0, 0.0, 0.0), -1.0 - a, pose=T)
        case "point_cloud":
            points = rng.normal(size=(100, 3))
            points *= (0.1 + 0.3 * a) / np.linalg.norm(points, axis=1, keepdims=True)
            return PointCloud(points, 0.05, pose=T)
        case _:
            return MeshObstacle(TriangleMesh.from_trimesh(shape(kind)), pose=T)


KINDS = ("box", "sphere", "cylinder", "capsule", "half_space", "point_cloud", "ball", "ring", "tube")


class CoalWorld:
    """The same obstacles in Coal: solids but for meshes, whose inside is told by the winding number."""

    def __init__(self, world: World) -> None:
        self.objects = [thing for o in world for thing in coal_objects(o)]
        self.manager = coal.DynamicAABBTreeCollisionManager()
        for thing in self.objects:
            self.manager.registerObject(thing)
        self.manager.setup()
        self.meshes = [o for o in world if isinstance(o, MeshObstacle)]

    def meets(self, center: np.ndarray, half: np.ndarray, axes: np.ndarray) -> np.ndarray:
        found = np.zeros(len(center), bool)
        callback = coal.CollisionCallBackDefault()
        for i, thing in enumerate(self.boxes(center, half, axes)):
            callback.init()
            self.manager.collide(thing, callback)
            found[i] = callback.data.result.isCollision()
        for o in self.meshes:
            local = (center - o.pose[:3, 3]) @ o.pose[:3, :3]
            near = (np.abs(local - o.mesh.center) <= o.mesh.half_extents).all(axis=1)
            if near.any():
                found[near] |= np.abs(winding(o.mesh.vertices[o.mesh.faces], local[near])) > 0.5
        return found

    def differs(
        self, found: np.ndarray, center: np.ndarray, half: np.ndarray, axes: np.ndarray
    ) -> np.ndarray:
        """Which answers Coal does not share, not even of a box that is wider or thinner by its tolerance."""
        doubt = np.flatnonzero(found != self.meets(center, half, axes))
        other = half[doubt] + np.where(found[doubt], DOUBT, -DOUBT)[:, None]
        return doubt[found[doubt] != self.meets(center[doubt], other, axes[doubt])]

    def way(self, center: np.ndarray, half: np.ndarray, axes: np.ndarray) -> tuple[float, np.ndarray]:
        """Distance of one box to the first obstacle, and the direction from the box to it."""
        thing, found = self.boxes(center[None], half[None], axes[None])[0], coal.DistanceResult()
        gap = coal.distance(thing, self.objects[0], coal.DistanceRequest(), found)
        step = found.getNearestPoint2() - found.getNearestPoint1()
        return gap, step / max(np.linalg.norm(step), 1e-300)

    @staticmethod
    def boxes(center: np.ndarray, half: np.ndarray, axes: np.ndarray) -> list[object]:
        return [
            coal.CollisionObject(coal.Box(*(2.0 * h)), coal.Transform3s(R, c))
            for c, h, R in zip(center, half, axes, strict=True)
        ]


def coal_objects(o: Obstacle) -> list[object]:
    T = coal.Transform3s(o.pose[:3, :3], o.pose[:3, 3])
    match o:
        case Box():
            made = coal.Box(*o.size)
        case Sphere():
            made = coal.Sphere(o.radius)
        case Cylinder():
            made = coal.Cylinder(o.radius, o.length)
        case Capsule():
            made = coal.Capsule(o.radius, o.length)
        case HalfSpace():
            made = coal.Halfspace(np.array(o.normal), o.offset)
        case PointCloud():
            centers = o.points @ o.pose[:3, :3].T + o.pose[:3, 3]
            return [
                coal.CollisionObject(coal.Sphere(o.radius), coal.Transform3s(np.eye(3), c)) for c in centers
            ]
        case MeshObstacle():
            made = coal.BVHModelOBBRSS()
            made.beginModel(len(o.mesh.faces), len(o.mesh.vertices))
            made.addVertices(np.asarray(o.mesh.vertices))
            for face in o.mesh.faces:
                made.addTriangle(*o.mesh.vertices[face])
            made.endModel()
        case _:
            raise TypeError(type(o).__name__)
    return [coal.CollisionObject(made, T)]


def winding(triangles: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Winding numbers by solid angles; (n,) for points (n, 3)."""
    out = np.zeros(len(points))
    for corners in triangles:
        a, b, c = (corner - points for corner in corners)
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        below = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
        out += np.arctan2((a * np.cross(b, c)).sum(1), below)
    return out / (2.0 * np.pi)
