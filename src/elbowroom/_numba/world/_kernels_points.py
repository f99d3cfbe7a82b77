"""Signed distances of points to obstacles: exact for primitives, meshes and clouds, trilinear for fields.

A `limit` lets a query stop: where the distance is not below it, any value from `limit` up may come back. Every answer
is a lower bound of the true distance that changes by at most 1 per metre; fields may be steeper, for which the `safe`
versions divide by their slope.

What takes the whole `world` is expanded where it is called, and callers are expected to have said
`world = borrowed(world)`: handing over its dozen arrays would cost ten times what a primitive does.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..mesh import POINT_STACK, nearest_triangle, point_inside
from ._kernels_cloud import cloud_distance
from ._kernels_field import field_distance
from ._pack import BOX, CAPSULE, CLOUD, CYLINDER, HALF_SPACE, MESH, SPHERE


@njit(cache=True, nogil=True, error_model="numpy")
def _corner_distance(a, b, c):
    """Distance from signed distances along three axes that are at right angles."""
    inner = max(a, b, c)
    if inner <= 0.0:
        return inner
    a, b, c = max(a, 0.0), max(b, 0.0), max(c, 0.0)
    return np.sqrt(a * a + b * b + c * c)


@njit(cache=True, nogil=True, error_model="numpy")
def _primitive_distance(kind, sizes, k, x, y, z):
    """BOX, SPHERE, CYLINDER, CAPSULE or HALF_SPACE."""
    if kind == BOX:
        return _corner_distance(abs(x) - sizes[k, 0], abs(y) - sizes[k, 1], abs(z) - sizes[k, 2])
    if kind == SPHERE:
        return np.sqrt(x * x + y * y + z * z) - sizes[k, 0]
    if kind == CYLINDER:
        return _corner_distance(np.sqrt(x * x + y * y) - sizes[k, 0], abs(z) - sizes[k, 1], -np.inf)
    if kind == CAPSULE:
        z = max(abs(z) - sizes[k, 1], 0.0)
        return np.sqrt(x * x + y * y + z * z) - sizes[k, 0]
    return sizes[k, 0] * x + sizes[k, 1] * y + sizes[k, 2] * z - sizes[k, 3]


@njit(cache=True, nogil=True, error_model="numpy")
def _mesh_distance(nodes, tris, root, solid, x, y, z, limit):
    """Distance of a point to a mesh, negative inside its closed pieces; `solid` tells whether it has some."""
    stack = np.empty(POINT_STACK, np.int64)
    if solid > 0.0 and point_inside(nodes, tris, root, x, y, z, stack):
        squared, _ = nearest_triangle(nodes, tris, root, x, y, z, np.inf, stack)
        return -np.sqrt(squared)
    if limit <= 0.0:
        return 0.0
    squared, i = nearest_triangle(nodes, tris, root, x, y, z, limit * limit, stack)
    return np.sqrt(squared) if i >= 0 else limit


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def local_distance(world, k, x, y, z, limit):
    """Signed distance of a point, given in the frame of obstacle `k`, to it."""
    kind = world.kinds[k]
    if kind <= HALF_SPACE:
        return _primitive_distance(kind, world.sizes, k, x, y, z)
    root = world.rows[k, 0]
    if kind == MESH:
        return _mesh_distance(world.nodes, world.tris, root, world.sizes[k, 0], x, y, z, limit)
    if kind == CLOUD:
        return cloud_distance(world.cloud_nodes, world.points, root, world.sizes[k, 0], x, y, z, limit)
    return field_distance(world.values, world.rows, world.sizes, k, x, y, z)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def safe_local_distance(world, k, x, y, z, limit):
    """`local_distance`, divided by the slope of a field that is steeper than distances are."""
    kind = world.kinds[k]
    if kind <= CLOUD:
        return local_distance(world, k, x, y, z, limit)
    return field_distance(world.values, world.rows, world.sizes, k, x, y, z) / world.sizes[k, 6]


@njit(cache=True, nogil=True, error_model="numpy")
def to_local(poses, k, x, y, z):
    """A point of the world in the frame of obstacle `k`."""
    x, y, z = x - poses[k, 9], y - poses[k, 10], z - poses[k, 11]
    return (
        poses[k, 0] * x + poses[k, 3] * y + poses[k, 6] * z,
        poses[k, 1] * x + poses[k, 4] * y + poses[k, 7] * z,
        poses[k, 2] * x + poses[k, 5] * y + poses[k, 8] * z,
    )


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def world_distance(world, k, x, y, z, limit):
    """Signed distance of a point of the world to obstacle `k`."""
    x, y, z = to_local(world.poses, k, x, y, z)
    return local_distance(world, k, x, y, z, limit)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def safe_world_distance(world, k, x, y, z, limit):
    """`safe_local_distance` of a point of the world."""
    x, y, z = to_local(world.poses, k, x, y, z)
    return safe_local_distance(world, k, x, y, z, limit)
