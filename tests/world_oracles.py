"""The judge of a robot among obstacles: Pinocchio moves it, Coal collides it with the exact shapes of a world.

Obstacles are built in Coal from the values of the world (sizes, poses, triangles), not from what our core is given.
Coal's primitives are solids and its meshes are surfaces, so `CoalWorld` adds what surfaces do not say: a piece of a link
wholly inside a closed mesh obstacle, or an obstacle wholly inside a closed piece of a link. Pieces and whether they are
closed are trimesh's; inside is decided by winding numbers here. Clouds are judged by `cloud_touches`, point by triangle.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import trimesh

from elbowroom.world import Box, Capsule, Cylinder, HalfSpace, MeshObstacle, Obstacle, Sphere, World

from .oracles import CHUNK, CoalOracle, coal, coal_mesh, coal_pose, decided

LinkObstacle = tuple[str, str]


@dataclass
class Solid:
    """Closed triangles that contain things, and points of which one is inside whoever contains a piece."""

    closed: list[np.ndarray]
    """Triangles (n, 3, 3) of every closed piece."""
    pieces: np.ndarray
    """A point (pieces, 3) of every piece, closed or not."""
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of_mesh(cls, vertices: np.ndarray, faces: np.ndarray) -> Solid:
        whole = trimesh.Trimesh(vertices, faces, process=True, validate=False)
        parts = whole.split(only_watertight=False, repair=False)
        closed = [np.asarray(part.triangles) for part in parts if part.is_watertight]
        points = np.array([part.triangles[0, 0] for part in parts])
        return cls(closed, points, whole.bounds[0], whole.bounds[1])

    @classmethod
    def of_primitive(cls) -> Solid:
        """Coal knows what is inside a primitive; it is inside others when its centre is."""
        return cls([], np.zeros((1, 3)), np.full(3, np.inf), np.full(3, -np.inf))

    def contains(self, points: np.ndarray) -> bool:
        """Whether any of the points is inside a closed piece."""
        near = points[((points > self.low) & (points < self.high)).all(axis=1)]
        return any(abs(winding(triangles, point)) > 0.5 for point in near for triangles in self.closed)


def winding(triangles: np.ndarray, point: np.ndarray) -> float:
    """How often triangles (n, 3, 3) go around a point: the solid angle of all (van Oosterom and Strackee) over 4 pi."""
    a, b, c = np.moveaxis(triangles - point, 1, 0)
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    dots = [np.einsum("ij,ij->i", u, v) for u, v in ((a, b), (b, c), (c, a))]
    return float(
        np.arctan2(volume, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb).sum() / (2 * np.pi)
    )


class CoalWorld:
    """The shapes of a robot's judge against the obstacles of a world; pairs of links themselves are the judge's."""

    def __init__(self, oracle: CoalOracle, world: World, allow: Iterable[LinkObstacle] = ()) -> None:
        self.oracle, self.obstacles = oracle, world.obstacles
        self.shapes = [coal_obstacle(obstacle) for obstacle in self.obstacles]
        self.poses = [coal_pose(obstacle.pose) for obstacle in self.obstacles]
        self.solids = [_solid_obstacle(obstacle) for obstacle in self.obstacles]
        self.link_solids = [_solid_shape(shape) for shape in oracle.shapes]
        allowed = set(allow)
        self._asked = np.array(
            [[(link, o.name) not in allowed for o in self.obstacles] for link in oracle.shape_links],
            dtype=bool,
        )
        self._collide, self._measure = {}, {}

    def free(self, cfgs: np.ndarray) -> np.ndarray:
        """Whether no shape of a link touches an obstacle, (n,)."""
        out = np.ones(len(cfgs), dtype=bool)
        often = np.zeros(self._asked.shape, dtype=int)
        for first in range(0, len(cfgs), CHUNK):
            Ts = self.oracle.shape_poses(cfgs[first : first + CHUNK])
            near = self._near(Ts)
            for row, (poses, candidates) in enumerate(zip(Ts, near, strict=True)):
                asked = np.argwhere(candidates)
                for i, k in asked[np.argsort(-often[candidates], kind="stable")]:
                    if self._touch(poses, i, k):
                        out[first + row] = False
                        often[i, k] += 1
                        break
                else:
                    out[first + row] = not any(self._inside(poses, i, k) for i, k in asked)
        return out

    def hits(self, cfg: np.ndarray) -> list[LinkObstacle]:
        """Links and obstacles that touch at one configuration."""
        poses, candidates = self._at(cfg)
        found = {
            (self.oracle.shape_links[i], self.obstacles[k].name)
            for i, k in np.argwhere(candidates)
            if self._touch(poses, i, k) or self._inside(poses, i, k)
        }
        return sorted(found)

    def clearance(self, cfg: np.ndarray, within: float) -> float:
        """Smallest distance of a link to an obstacle if it is below `within`, else infinite; 0 or below: they touch."""
        poses, candidates = self._at(cfg, within)
        found = np.inf
        for i, k in np.argwhere(candidates):
            if self._inside(poses, i, k):
                return 0.0
            found = min(found, self._distance(poses, i, k))
        return found if found < within else np.inf

    def distances(self, cfg: np.ndarray, pairs: Iterable[LinkObstacle]) -> np.ndarray:
        """Smallest distance of links to obstacles (pairs,); 0 or below where they touch, containment apart."""
        poses, _ = self._at(cfg)
        names = [obstacle.name for obstacle in self.obstacles]
        return np.array([
            min(self._distance(poses, i, names.index(name)) for i in self.oracle._of_link[link])
            for link, name in pairs
        ])  # fmt: skip

    def _at(self, cfg: np.ndarray, within: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        Ts = self.oracle.shape_poses(np.atleast_2d(cfg))
        return Ts[0], self._near(Ts, within)[0]

    def _near(self, Ts: np.ndarray, within: float = 0.0) -> np.ndarray:
        """Shapes and obstacles (n, shapes, obstacles): the shape's bounding sphere comes near the obstacle's box."""
        centers = np.einsum("nsij,sj->nsi", Ts[..., :3, :3], self.oracle._centers) + Ts[..., :3, 3]
        out = np.empty((*centers.shape[:2], len(self.obstacles)), dtype=bool)
        for k, obstacle in enumerate(self.obstacles):
            local = (centers - obstacle.pose[:3, 3]) @ obstacle.pose[:3, :3]
            if isinstance(obstacle, HalfSpace):
                gap = local @ np.array(obstacle.normal) - obstacle.offset
            else:
                low, high = _local_box(obstacle)
                gap = np.linalg.norm(np.maximum(np.maximum(low - local, local - high), 0.0), axis=-1)
            out[:, :, k] = gap <= self.oracle._radii + within
        return out & self._asked

    def _touch(self, poses: np.ndarray, i: int, k: int) -> bool:
        """Coal's answer for one shape and one obstacle."""
        if (i, k) not in self._collide:
            self._collide[i, k] = coal.ComputeCollision(self.oracle.shapes[i], self.shapes[k])
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        return bool(self._collide[i, k](coal_pose(poses[i]), self.poses[k], request, result))

    def _distance(self, poses: np.ndarray, i: int, k: int) -> float:
        if (i, k) not in self._measure:
            self._measure[i, k] = coal.ComputeDistance(self.oracle.shapes[i], self.shapes[k])
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        return self._measure[i, k](coal_pose(poses[i]), self.poses[k], request, result)

    def decided_distance(self, poses: np.ndarray, i: int, k: int) -> float:
        """Coal's distance of a shape and an obstacle; see `decided`."""
        placed = poses.copy()

        def measure(T: np.ndarray) -> float:
            placed[i] = T
            return self._distance(placed, i, k)

        return decided(measure, poses[i])

    def _inside(self, poses: np.ndarray, i: int, k: int) -> bool:
        """Whether one contains a piece of the other."""
        link, obstacle = self.link_solids[i], self.solids[k]
        if obstacle is None or not (link.closed or obstacle.closed):
            return False
        T_shape_obstacle = np.linalg.inv(poses[i]) @ self.obstacles[k].pose
        if link.closed and link.contains(_moved(obstacle.pieces, T_shape_obstacle)):
            return True
        return bool(obstacle.closed) and obstacle.contains(
            _moved(link.pieces, np.linalg.inv(T_shape_obstacle))
        )


def _moved(points: np.ndarray, T: np.ndarray) -> np.ndarray:
    return points @ T[:3, :3].T + T[:3, 3]


def _local_box(obstacle: Obstacle) -> tuple[np.ndarray, np.ndarray]:
    """Corners of a box around an obstacle in its own frame."""
    match obstacle:
        case Box():
            half = 0.5 * np.array(obstacle.size)
        case Sphere():
            half = np.full(3, obstacle.radius)
        case Cylinder():
            half = np.array([obstacle.radius, obstacle.radius, 0.5 * obstacle.length])
        case Capsule():
            half = np.array([obstacle.radius, obstacle.radius, 0.5 * obstacle.length + obstacle.radius])
        case MeshObstacle():
            return obstacle.mesh.vertices.min(axis=0), obstacle.mesh.vertices.max(axis=0)
        case _:
            raise TypeError(f"no box for a {type(obstacle).__name__}")
    return -half, half


def coal_obstacle(obstacle: Obstacle) -> object:
    """An obstacle in Coal, in its own frame."""
    match obstacle:
        case Box():
            return coal.Box(*obstacle.size)
        case Sphere():
            return coal.Sphere(obstacle.radius)
        case Cylinder():
            return coal.Cylinder(obstacle.radius, obstacle.length)
        case Capsule():
            return coal.Capsule(obstacle.radius, obstacle.length)
        case HalfSpace():
            return coal.Halfspace(np.array(obstacle.normal), obstacle.offset)
        case MeshObstacle():
            return coal_mesh(obstacle.mesh.vertices, obstacle.mesh.faces)
        case _:
            raise TypeError(f"Coal has no {type(obstacle).__name__}")


def _solid_obstacle(obstacle: Obstacle) -> Solid | None:
    if isinstance(obstacle, MeshObstacle):
        return Solid.of_mesh(obstacle.mesh.vertices, obstacle.mesh.faces)
    return None if isinstance(obstacle, HalfSpace) else Solid.of_primitive()


def _solid_shape(shape: object) -> Solid:
    if not isinstance(shape, coal.BVHModelBase):
        return Solid.of_primitive()
    faces = np.array([[shape.tri_indices(i)[c] for c in range(3)] for i in range(shape.num_tris)])
    return Solid.of_mesh(np.asarray(shape.vertices()), faces)
