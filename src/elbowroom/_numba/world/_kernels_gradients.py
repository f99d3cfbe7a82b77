"""Signed distances of points to obstacles with their gradients, and batches of both.

Where the distance has no gradient (in the middle of a sphere, on the ridge of a box, on a surface), one of its
one-sided gradients is given: a unit vector along which one gets away. Gradients of fields are as steep as the field.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ..mesh import POINT_STACK, nearest_triangle, point_inside, triangle_point
from ._kernels_cloud import nearest_of_cloud
from ._kernels_field import field_gradient
from ._kernels_points import to_local
from ._kernels_tree import STACK
from ._pack import BOX, CAPSULE, CLOUD, CYLINDER, HALF_SPACE, MESH, SPHERE

ON_SURFACE = 1e-9
"""Metres; nearer to a surface the direction to it is rounding, and its normal is taken."""
PROBE = 1e-6
"""Metres along the normal at which it is asked whether a closed mesh is on that side."""


@njit(cache=True, nogil=True, error_model="numpy")
def _outward(x, y, z, out):
    """Length of a vector, its direction to out[:3]; x for none, which leads out of spheres and capsules alike."""
    length = np.sqrt(x * x + y * y + z * z)
    if length > 0.0:
        out[0], out[1], out[2] = x / length, y / length, z / length
    else:
        out[0], out[1], out[2] = 1.0, 0.0, 0.0
    return length


@njit(cache=True, nogil=True, error_model="numpy")
def _box_gradient(hx, hy, hz, x, y, z, out):
    dx, dy, dz = abs(x) - hx, abs(y) - hy, abs(z) - hz
    inner = max(dx, dy, dz)
    sx, sy, sz = np.copysign(1.0, x), np.copysign(1.0, y), np.copysign(1.0, z)
    if inner > 0.0:
        return _outward(sx * max(dx, 0.0), sy * max(dy, 0.0), sz * max(dz, 0.0), out)
    out[0], out[1], out[2] = 0.0, 0.0, 0.0
    if dx == inner:
        out[0] = sx
    elif dy == inner:
        out[1] = sy
    else:
        out[2] = sz
    return inner


@njit(cache=True, nogil=True, error_model="numpy")
def _cylinder_gradient(radius, half, x, y, z, out):
    r, sz = np.sqrt(x * x + y * y), np.copysign(1.0, z)
    ux, uy = (x / r, y / r) if r > 0.0 else (1.0, 0.0)
    side, end = r - radius, abs(z) - half
    if side > 0.0 and end > 0.0:
        return _outward(side * ux, side * uy, end * sz, out)
    if side > end:
        out[0], out[1], out[2] = ux, uy, 0.0
        return side
    out[0], out[1], out[2] = 0.0, 0.0, sz
    return end


@njit(cache=True, nogil=True, error_model="numpy")
def _mesh_gradient(nodes, tris, root, solid, x, y, z, out):
    stack, q = np.empty(POINT_STACK, np.int64), np.empty(6)
    squared, i = nearest_triangle(nodes, tris, root, x, y, z, np.inf, stack)
    triangle_point(tris, i, x, y, z, q)
    inside = solid > 0.0 and point_inside(nodes, tris, root, x, y, z, stack)
    distance = np.sqrt(squared)
    dx, dy, dz = x - q[0], y - q[1], z - q[2]
    turn = -1.0 if inside else 1.0
    if distance > ON_SURFACE:
        _outward(turn * dx, turn * dy, turn * dz, out)
        return turn * distance
    nx, ny, nz = q[3], q[4], q[5]
    if solid > 0.0:
        back = point_inside(nodes, tris, root, q[0] + PROBE * nx, q[1] + PROBE * ny, q[2] + PROBE * nz, stack)
    else:
        back = nx * dx + ny * dy + nz * dz < 0.0
    side = -1.0 if back else 1.0
    out[0], out[1], out[2] = side * nx, side * ny, side * nz
    return turn * distance


@njit(cache=True, nogil=True, error_model="numpy")
def _cloud_gradient(nodes, points, root, radius, x, y, z, out):
    _, i = nearest_of_cloud(nodes, points, root, x, y, z, np.inf, np.empty(STACK, np.int64))
    return _outward(x - points[i, 0], y - points[i, 1], z - points[i, 2], out) - radius


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def local_gradient(world, k, x, y, z, out):
    """Signed distance of a point, given in the frame of obstacle `k`, to it; its gradient there, to out[:3]."""
    kind, sizes = world.kinds[k], world.sizes
    root = world.rows[k, 0]
    if kind == BOX:
        return _box_gradient(sizes[k, 0], sizes[k, 1], sizes[k, 2], x, y, z, out)
    if kind == SPHERE:
        return _outward(x, y, z, out) - sizes[k, 0]
    if kind == CYLINDER:
        return _cylinder_gradient(sizes[k, 0], sizes[k, 1], x, y, z, out)
    if kind == CAPSULE:
        half = sizes[k, 1]
        return _outward(x, y, z - min(max(z, -half), half), out) - sizes[k, 0]
    if kind == HALF_SPACE:
        out[0], out[1], out[2] = sizes[k, 0], sizes[k, 1], sizes[k, 2]
        return sizes[k, 0] * x + sizes[k, 1] * y + sizes[k, 2] * z - sizes[k, 3]
    if kind == MESH:
        return _mesh_gradient(world.nodes, world.tris, root, sizes[k, 0], x, y, z, out)
    if kind == CLOUD:
        return _cloud_gradient(world.cloud_nodes, world.points, root, sizes[k, 0], x, y, z, out)
    return field_gradient(world.values, world.rows, sizes, k, x, y, z, out)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def world_gradient(world, k, x, y, z, out):
    """Signed distance of a point of the world to obstacle `k`, and its gradient in the world frame, to out[:3]."""
    x, y, z = to_local(world.poses, k, x, y, z)
    distance = local_gradient(world, k, x, y, z, out)
    gx, gy, gz = out[0], out[1], out[2]
    poses = world.poses
    out[0] = poses[k, 0] * gx + poses[k, 1] * gy + poses[k, 2] * gz
    out[1] = poses[k, 3] * gx + poses[k, 4] * gy + poses[k, 5] * gz
    out[2] = poses[k, 6] * gx + poses[k, 7] * gy + poses[k, 8] * gz
    return distance
