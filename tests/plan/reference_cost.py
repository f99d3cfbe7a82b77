"""The obstacle cost written down plainly: numpy, one formula a shape, no broad phase, no packed arrays.

Nothing of the core is used: link poses are given (Pinocchio's), distances of points are textbook formulas in the
frame of the obstacle, boxes meet shapes by separating axes (boxes, triangles, half-spaces), by clamping (balls) or by
alternating projections (von Neumann 1933; cylinders and capsules).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from elbowroom.plan import LinkBoxes
from elbowroom.spheres import SphereModel
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

from ..world_oracles import winding

Poses = Callable[[np.ndarray], Mapping[str, np.ndarray]]
"""(n, dof) -> link -> (n, 4, 4)."""
PROJECTIONS = 2000
MEETS = 1e-9
"""Metres between the sets at which projections count as having met."""


def obstacle_cost(
    trajectories: np.ndarray,
    dt: float,
    poses: Poses,
    spheres: SphereModel,
    boxes: LinkBoxes,
    world: World,
    clearance: float,
    penalty: float,
    skip_links: tuple[str, ...],
    allow: frozenset[tuple[str, str]] = frozenset(),
    buffer: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Cost (k, t) and whether boxes meet obstacles (k, t)."""
    cost, hits = np.zeros(trajectories.shape[:2]), np.zeros(trajectories.shape[:2], bool)
    radii, looked = (
        spheres.padded_radii("world"),
        [b for b, link in enumerate(boxes.links) if link not in skip_links],
    )
    names = [spheres.link_names[i] for i in spheres.link_idx]
    for k, path in enumerate(trajectories):
        T = poses(path)
        places = np.array(
            [T[n][:, :3, :3] @ c + T[n][:, :3, 3] for n, c in zip(names, spheres.centers, strict=True)]
        )
        distance = np.full(places.shape[:2], np.inf)
        for obstacle in world:
            apart = point_distance(obstacle, places.reshape(-1, 3)).reshape(distance.shape) - radii[:, None]
            counts = np.array([(name, obstacle.name) not in allow for name in names])
            distance[counts] = np.minimum(distance, apart)[counts]
        for s in range(len(spheres)):
            cost[k] += np.maximum(0.0, clearance - (distance[s] - buffer)) * speeds(places[s], dt)
        for obstacle in world:
            mine = [b for b in looked if (boxes.links[b], obstacle.name) not in allow]
            R = np.array([T[boxes.links[b]][:, :3, :3] for b in mine]).reshape(-1, 3, 3)
            shift = np.array([T[boxes.links[b]][:, :3, 3] for b in mine]).reshape(-1, 3)
            which = np.repeat(mine, len(path))
            center = np.einsum("nij,nj->ni", R, boxes.centers[which]) + shift
            meets = box_meets(obstacle, center, boxes.half_extents[which] + buffer, R @ boxes.axes[which])
            hits[k] |= meets.reshape(len(mine), len(path)).any(axis=0)
    return cost + penalty * hits, hits


def speeds(places: np.ndarray, dt: float) -> np.ndarray:
    """Of a point at places (t, 3): central differences, one-sided at the ends."""
    ahead = (places[1:] - places[:-1]) / dt
    velocity = np.concatenate([ahead[:1], 0.5 * (ahead[1:] + ahead[:-1]), ahead[-1:]])
    return np.sqrt((velocity**2).sum(axis=1))


def _local(obstacle: Obstacle, points: np.ndarray) -> np.ndarray:
    return (points - obstacle.pose[:3, 3]) @ obstacle.pose[:3, :3]


def point_distance(obstacle: Obstacle, points: np.ndarray) -> np.ndarray:
    """Signed distances of world points (n, 3) to an obstacle."""
    p = _local(obstacle, points)
    match obstacle:
        case Box():
            out = np.abs(p) - 0.5 * np.array(obstacle.size)
            return _beyond(out)
        case Sphere():
            return np.linalg.norm(p, axis=1) - obstacle.radius
        case Cylinder():
            side, cap = np.hypot(p[:, 0], p[:, 1]) - obstacle.radius, np.abs(p[:, 2]) - 0.5 * obstacle.length
            return _beyond(np.stack([side, cap], axis=1))
        case Capsule():
            up = np.clip(p[:, 2], -0.5 * obstacle.length, 0.5 * obstacle.length)
            return np.linalg.norm(p - np.outer(up, [0.0, 0.0, 1.0]), axis=1) - obstacle.radius
        case HalfSpace():
            return p @ np.array(obstacle.normal) - obstacle.offset
        case PointCloud():
            return np.linalg.norm(p[:, None] - obstacle.points[None], axis=2).min(axis=1) - obstacle.radius
        case MeshObstacle():
            return _mesh_distance(obstacle, p)
        case _:
            raise NotImplementedError(type(obstacle).__name__)


def _beyond(out: np.ndarray) -> np.ndarray:
    """Distance from signed distances along directions at right angles."""
    return np.where(out.max(axis=1) <= 0.0, out.max(axis=1), np.linalg.norm(np.maximum(out, 0.0), axis=1))


def _triangles(obstacle: MeshObstacle) -> np.ndarray:
    return np.asarray(obstacle.mesh.vertices)[np.asarray(obstacle.mesh.faces)]


def _mesh_distance(obstacle: MeshObstacle, points: np.ndarray) -> np.ndarray:
    """To a closed mesh: negative where the mesh goes around a point."""
    tris = _triangles(obstacle)
    gaps = np.min([_triangle_distance(t, points) for t in tris], axis=0)
    return np.where([abs(winding(tris, p)) > 0.5 for p in points], -gaps, gaps)


def _triangle_distance(t: np.ndarray, p: np.ndarray) -> np.ndarray:
    """To the plane where the foot of a point is inside, else to the nearest edge."""
    edges = [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]
    normal = np.cross(t[1] - t[0], t[2] - t[0])
    normal = normal / np.linalg.norm(normal)
    inside = np.min([np.cross(v - u, p - u) @ normal for u, v in edges], axis=0) >= 0.0
    nearest = np.full(len(p), np.inf)
    for u, v in edges:
        s = np.clip((p - u) @ (v - u) / ((v - u) @ (v - u)), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(p - u - s[:, None] * (v - u), axis=1))
    return np.where(inside, np.abs((p - t[0]) @ normal), nearest)


def box_meets(obstacle: Obstacle, center: np.ndarray, half: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Which of n boxes (centres (n, 3), half edges (n, 3), axes (n, 3, 3) in the world) share a point with an obstacle."""
    out = np.zeros(len(center), bool)
    near = point_distance(obstacle, center) <= np.linalg.norm(half, axis=1) + 1e-9  # the ball around a box
    if near.any():
        c, R = _local(obstacle, center[near]), obstacle.pose[:3, :3].T @ axes[near]
        out[near] = _near_box_meets(obstacle, c, half[near], R)
    return out


def _near_box_meets(obstacle: Obstacle, c: np.ndarray, half: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The same in the frame of the obstacle."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = c[:, None] + np.einsum("nij,nkj->nki", R, signs * half[:, None])
    match obstacle:
        case Box():
            other = signs * 0.5 * np.array(obstacle.size)
            return np.array([_hulls_meet(k, other, r, np.eye(3)) for k, r in zip(corners, R, strict=True)])
        case Sphere():
            return _to_box(c, R, half, np.zeros((len(c), 3))) <= obstacle.radius
        case HalfSpace():
            return (corners @ np.array(obstacle.normal)).min(axis=1) <= obstacle.offset
        case PointCloud():
            gaps = [_to_box(c, R, half, np.broadcast_to(q, c.shape)) for q in obstacle.points]
            return np.min(gaps, axis=0) <= obstacle.radius
        case Cylinder() | Capsule():
            return _projections_meet(obstacle, c, half, R)
        case MeshObstacle():
            tris = _triangles(obstacle)
            touches = [
                any(_hulls_meet(k, t, r, (t - np.roll(t, 1, axis=0)).T) for t in tris)
                for k, r in zip(corners, R, strict=True)
            ]
            return np.array(touches) | np.array([abs(winding(tris, m)) > 0.5 for m in c])
        case _:
            raise NotImplementedError(type(obstacle).__name__)


def _hulls_meet(a: np.ndarray, b: np.ndarray, edges_a: np.ndarray, edges_b: np.ndarray) -> bool:
    """Separating axes of a box (corners, edge directions as columns) and another box or a triangle."""
    crosses = np.cross(edges_a.T[:, None], edges_b.T[None]).reshape(-1, 3)
    faces = np.cross(edges_b.T[:, None], edges_b.T[None]).reshape(-1, 3)  # normals of the other's faces
    directions = np.concatenate([edges_a.T, crosses, faces])
    lengths = np.linalg.norm(directions, axis=1)
    directions = directions[lengths > 1e-9] / lengths[lengths > 1e-9, None]
    of_a, of_b = a @ directions.T, b @ directions.T
    return bool(((of_a.min(axis=0) <= of_b.max(axis=0)) & (of_b.min(axis=0) <= of_a.max(axis=0))).all())


def _to_box(c: np.ndarray, R: np.ndarray, half: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distances of points to solid boxes, one by one."""
    seen = np.einsum("nji,nj->ni", R, points - c)
    return np.linalg.norm(seen - np.clip(seen, -half, half), axis=1)


def _projections_meet(
    obstacle: Cylinder | Capsule, c: np.ndarray, half: np.ndarray, R: np.ndarray
) -> np.ndarray:
    """The nearest points of two convex sets, by projecting onto one and the other in turn."""
    p, up = c.copy(), 0.5 * obstacle.length
    gap = np.full(len(c), np.inf)
    for _ in range(PROJECTIONS):
        foot = np.zeros_like(p)
        foot[:, 2] = np.clip(p[:, 2], -up, up)
        level = np.array([1.0, 1.0, 0.0]) if isinstance(obstacle, Cylinder) else np.ones(3)
        off = (p - foot) * level
        far = np.maximum(np.linalg.norm(off, axis=1), 1e-300)
        q = foot + off * np.minimum(1.0, obstacle.radius / far)[:, None]
        seen = np.einsum("nji,nj->ni", R, q - c)
        p = c + np.einsum("nij,nj->ni", R, np.clip(seen, -half, half))
        new = np.linalg.norm(p - q, axis=1)
        if ((np.abs(new - gap) <= 1e-14) | (new <= MEETS)).all():
            gap = new
            break
        gap = new
    return gap <= MEETS
