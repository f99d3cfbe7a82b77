"""How deep a link is in an obstacle, and along which normal they part.

The obstacle's exact shape counts, with these exceptions, all of them said here and none of which changes whether a
configuration is free:
- a cylinder is measured by a prism around it whose corners stand out by at most `PRISM_DEVIATION`;
- the depth in a cloud is that of its deepest ball, in a distance field that of the deepest corner or centre of the
  link's triangles: neither is the translation that frees the link of all of them;
- depths of non-convex meshes are searched, not proved minimal, and where a ball or capsule meets a non-convex link in
  several places its depth is a lower bound (see `mesh`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .. import mesh as shapes
from .._frozen import freeze
from ..mesh import TriangleMesh
from ..mesh.internal import collide_states
from ..typing import Matrix4
from ..world import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    MeshObstacle,
    Obstacle,
    PointCloud,
    SdfGrid,
    Sphere,
    World,
)

PRISM_DEVIATION = 5e-5
"""Metres that the prism which stands for a cylinder may stand out of it."""
MAX_SIDES = 1024
"""Of that prism; cylinders of a radius above 10 m get no more."""
ROUNDING = 1e-6
"""Metres by which an obstacle is grown where it touches to rounding only, to find out where."""


class ObstacleContact(NamedTuple):
    """Where a link and an obstacle are closest, or deepest in each other; world frame."""

    distance: float
    """Metres; minus the depth where they overlap."""
    point_link: Float[np.ndarray, "3"]
    point_obstacle: Float[np.ndarray, "3"]
    """`point_obstacle - point_link` is `distance * normal`."""
    normal: Float[np.ndarray, "3"]
    """Unit vector from the link to the obstacle."""


def contact_at(distance: float, point_link: np.ndarray, normal: np.ndarray) -> ObstacleContact:
    """A contact from the link's point and the normal."""
    a, n = np.array(point_link, dtype=np.float64), np.array(normal, dtype=np.float64)
    b = a + distance * n
    freeze(a, b, n)
    return ObstacleContact(float(distance), a, b, n)


def overlap(mesh: TriangleMesh, T_world_mesh: Matrix4, obstacle: Obstacle) -> ObstacleContact:
    """Depth of a link that touches an obstacle.

    Args:
        mesh: of the link.
        T_world_mesh: its pose.
        obstacle: what it touches.
    """
    found = _deepest(obstacle, mesh, T_world_mesh)
    if found is not None:
        return found
    near = _deepest(_grown(obstacle), mesh, T_world_mesh)  # they touch to rounding only
    if near is not None:
        return contact_at(0.0, near.point_link, near.normal)
    middle = T_world_mesh[:3, :3] @ mesh.center + T_world_mesh[:3, 3]
    return contact_at(0.0, middle, np.array([0.0, 0.0, -1.0]))


@singledispatch
def _deepest(obstacle: Obstacle, mesh: TriangleMesh, T: Matrix4) -> ObstacleContact | None:
    """Depth of a mesh in an obstacle; None where they are apart."""
    raise TypeError(f"no depth for a {type(obstacle).__name__}")


@_deepest.register
def _(obstacle: Box, mesh: TriangleMesh, T: Matrix4) -> ObstacleContact | None:
    return _of_shape(mesh, T, shapes.Box(obstacle.size), obstacle.pose)


@_deepest.register
def _(obstacle: Sphere, mesh: TriangleMesh, T: Matrix4) -> ObstacleContact | None:
    return _of_shape(mesh, T, shapes.Sphere(obstacle.radius), obstacle.pose)


@_deepest.register
def _(obstacle: Capsule, mesh: TriangleMesh, T: Matrix4) -> ObstacleContact | None:
    return _of_shape(mesh, T, shapes.Capsule(obstacle.radius, obstacle.length), obstacle.pose)


@_deepest.register
def _(obstacle: HalfSpace, mesh: TriangleMesh, T: Matrix4) -> ObstacleContact | None:
    return _of_shape(mesh, T, shapes.HalfSpace(obstacle.normal, obstacle.offset), obstacle.pose)


@_deepest.register
def _(obstacle: Cylinder, mesh: TriangleMesh, T: Matrix4) -> ObstacleContact | None:
    return _of_shape(mesh, T, prism(obstacle.radius, obstacle.length), obstacle.pose)


@_deepest.register
def _(obstacle: MeshObstacle, mesh: TriangleMesh, T: Matrix4) -> ObstacleContact | None:
    found = shapes.distance(mesh, T, obstacle.mesh, obstacle.pose)  # knows what touches to rounding only
    return contact_at(min(found.distance, 0.0), found.point_a, found.normal)


@_deepest.register
def _(obstacle: PointCloud, mesh: TriangleMesh, T: Matrix4) -> ObstacleContact | None:
    """The ball that is deepest in the link: its radius minus the signed distance of its centre to the link."""
    reach = obstacle.radius + ROUNDING
    R = obstacle.pose[:3, :3].T @ T[:3, :3]  # the link in the frame of the cloud
    t = obstacle.pose[:3, :3].T @ (T[:3, 3] - obstacle.pose[:3, 3])
    middle, spread = R @ mesh.center + t, np.abs(R) @ mesh.half_extents + reach
    local = (obstacle.points[(np.abs(obstacle.points - middle) <= spread).all(axis=1)] - t) @ R
    local = local[(np.abs(local - mesh.center) <= mesh.half_extents + reach).all(axis=1)]
    if len(local) == 0:
        return None
    Ts = np.tile(np.eye(4), (len(local), 1, 1))
    Ts[:, :3, 3] = local
    core = TriangleMesh.core(np.zeros((1, 3)))
    found = shapes.distance_batch(core, Ts, mesh, None, contain=False, signed=False)
    inside = collide_states(core, Ts, mesh, None) > 0
    signed = np.where(inside, -found.distances, found.distances)
    k = int(np.argmin(signed))
    if signed[k] > reach:
        return None
    outward = -found.normals[k] if not inside[k] else found.normals[k]  # of the link's surface
    if not found.distances[k] > 0.0:  # the centre is on the surface, which has no one point nearest to it
        outward = _direction(local[k] - mesh.center)
    on_link = local[k] - signed[k] * outward
    depth = max(obstacle.radius - signed[k], 0.0)
    return contact_at(-depth, T[:3, :3] @ on_link + T[:3, 3], T[:3, :3] @ outward)


@_deepest.register
def _(obstacle: SdfGrid, mesh: TriangleMesh, T: Matrix4) -> ObstacleContact | None:
    """The deepest corner or centre of the link's triangles."""
    corners = mesh.triangles.reshape(-1, 3, 3)
    local = np.concatenate([corners.reshape(-1, 3), corners.mean(axis=1)])
    points = local @ T[:3, :3].T + T[:3, 3]
    values, gradients = World([obstacle]).distance_and_gradient(points)
    k = int(np.argmin(values))
    return contact_at(min(float(values[k]), 0.0), points[k], _direction(-gradients[k]))


def _of_shape(
    mesh: TriangleMesh, T: Matrix4, shape: shapes.ContactShape, pose: Matrix4
) -> ObstacleContact | None:
    found = shapes.detect_contact(mesh, T, shape, pose)
    return None if found is None else contact_at(-found.depth, found.point_a, found.normal)


def _grown(obstacle: Obstacle) -> Obstacle:
    """An obstacle larger by `ROUNDING`; those of many pieces stay."""
    match obstacle:
        case Box():
            return replace(obstacle, size=tuple(edge + 2.0 * ROUNDING for edge in obstacle.size))
        case Sphere() | Capsule():
            return replace(obstacle, radius=obstacle.radius + ROUNDING)
        case Cylinder():
            return replace(
                obstacle, radius=obstacle.radius + ROUNDING, length=obstacle.length + 2.0 * ROUNDING
            )
        case HalfSpace():
            return replace(obstacle, offset=obstacle.offset + ROUNDING)
        case _:
            return obstacle


def _direction(vector: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else np.array([0.0, 0.0, 1.0])


def prism(radius: float, length: float) -> TriangleMesh:
    """Triangles around a cylinder about z, centred: ends exact, corners at most `PRISM_DEVIATION` outside."""
    sides = int(np.ceil(np.pi / np.arccos(radius / (radius + PRISM_DEVIATION))))
    sides = min(max(sides, 16), MAX_SIDES)
    turn = 2.0 * np.pi * np.arange(sides) / sides
    ring = radius / np.cos(np.pi / sides) * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    vertices = np.zeros((2 * sides, 3))
    vertices[:sides, :2] = vertices[sides:, :2] = ring
    vertices[:sides, 2], vertices[sides:, 2] = -0.5 * length, 0.5 * length
    here, after = np.arange(sides), (np.arange(sides) + 1) % sides
    fan, zeros = np.arange(1, sides - 1), np.zeros(sides - 2, np.int64)
    faces = [
        np.stack([here, after, sides + after], axis=1),
        np.stack([here, sides + after, sides + here], axis=1),
        np.stack([zeros, fan + 1, fan], axis=1),
        np.stack([sides + zeros, sides + fan, sides + fan + 1], axis=1),
    ]
    return TriangleMesh(vertices, np.concatenate(faces))
