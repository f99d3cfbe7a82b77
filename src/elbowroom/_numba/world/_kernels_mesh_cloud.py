"""A posed mesh against the balls of a point cloud.

Both trees are walked together in the frame of the mesh, nearest boxes first. A ball whose centre is inside a closed
mesh touches it, too: where no ball meets the surface, points nearer to one another than to the surface are on the
same side of it, so that few of them are asked.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._borrow import borrowed
from ..._jit import njit
from ..mesh import nearest_triangle, point_distance, point_inside, pose_triangle
from ._kernels_convex import triangle_gap
from ._pack import SPHERE

ROW = (1 << 32) - 1
"""Mask of the second of two rows in one number."""


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _box_of(cloud_nodes, j, inv):
    """Centre of a cloud's node in the frame of the mesh, and its half edges along the axes of the cloud."""
    x = 0.5 * (cloud_nodes[j, 0] + cloud_nodes[j, 3])
    y = 0.5 * (cloud_nodes[j, 1] + cloud_nodes[j, 4])
    z = 0.5 * (cloud_nodes[j, 2] + cloud_nodes[j, 5])
    return (
        inv[0] * x + inv[1] * y + inv[2] * z + inv[9],
        inv[3] * x + inv[4] * y + inv[5] * z + inv[10],
        inv[6] * x + inv[7] * y + inv[8] * z + inv[11],
        cloud_nodes[j, 3] - x,
        cloud_nodes[j, 4] - y,
        cloud_nodes[j, 5] - z,
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _pair_bound(nodes, i, cloud_nodes, j, rel, inv):
    """Lower bound of the distance between the boxes of two nodes; where it is not positive, only an order.

    The gaps along the axes of the one box and of the other.
    """
    x, y, z, hx, hy, hz = _box_of(cloud_nodes, j, inv)
    gx, gy, gz = nodes[i, 3], nodes[i, 4], nodes[i, 5]
    dx, dy, dz = x - nodes[i, 0], y - nodes[i, 1], z - nodes[i, 2]
    u = max(0.0, abs(dx) - gx - abs(inv[0]) * hx - abs(inv[1]) * hy - abs(inv[2]) * hz)
    v = max(0.0, abs(dy) - gy - abs(inv[3]) * hx - abs(inv[4]) * hy - abs(inv[5]) * hz)
    w = max(0.0, abs(dz) - gz - abs(inv[6]) * hx - abs(inv[7]) * hy - abs(inv[8]) * hz)
    bound = u * u + v * v + w * w
    u = abs(rel[0] * dx + rel[1] * dy + rel[2] * dz) - hx
    v = abs(rel[3] * dx + rel[4] * dy + rel[5] * dz) - hy
    w = abs(rel[6] * dx + rel[7] * dy + rel[8] * dz) - hz
    u = max(0.0, u - abs(rel[0]) * gx - abs(rel[1]) * gy - abs(rel[2]) * gz)
    v = max(0.0, v - abs(rel[3]) * gx - abs(rel[4]) * gy - abs(rel[5]) * gz)
    w = max(0.0, w - abs(rel[6]) * gx - abs(rel[7]) * gy - abs(rel[8]) * gz)
    bound = max(bound, u * u + v * v + w * w)
    if bound > 0.0:
        return np.sqrt(bound)
    return np.sqrt(dx * dx + dy * dy + dz * dz) - (gx + gy + gz + hx + hy + hz)


@njit(cache=True, nogil=True, error_model="numpy")
def _leaf_bound(nodes, tris, i, cloud_nodes, j, inv):
    """Lower bound of the distance between the triangles of a leaf and the ball around a cloud's node."""
    x, y, z, hx, hy, hz = _box_of(cloud_nodes, j, inv)
    first = int(nodes[i, 6])
    near = np.inf
    for k in range(first, first + int(nodes[i, 7])):
        near = min(near, point_distance(tris, k, x, y, z, near))
    return np.sqrt(near) - np.sqrt(hx * hx + hy * hy + hz * hz)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _in_mesh_frame(points, m, inv):
    """A point of the cloud in the frame of the mesh."""
    x, y, z = points[m, 0], points[m, 1], points[m, 2]
    return (
        inv[0] * x + inv[1] * y + inv[2] * z + inv[9],
        inv[3] * x + inv[4] * y + inv[5] * z + inv[10],
        inv[6] * x + inv[7] * y + inv[8] * z + inv[11],
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _leaf_pair(nodes, tris, i, cloud_nodes, points, j, inv, best, found):
    """Best squared distance after the triangles and points of two leaves; found = (triangle, point)."""
    first, last = int(nodes[i, 6]), int(nodes[i, 6]) + int(nodes[i, 7])
    for m in range(int(cloud_nodes[j, 6]), int(cloud_nodes[j, 6]) + int(cloud_nodes[j, 7])):
        x, y, z = _in_mesh_frame(points, m, inv)
        u = max(0.0, abs(x - nodes[i, 0]) - nodes[i, 3])
        v = max(0.0, abs(y - nodes[i, 1]) - nodes[i, 4])
        w = max(0.0, abs(z - nodes[i, 2]) - nodes[i, 5])
        if u * u + v * v + w * w >= best:
            continue
        for k in range(first, last):
            d = point_distance(tris, k, x, y, z, best)
            if d < best:
                best = d
                found[0], found[1] = k, m
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _surface_to_points(
    nodes, tris, root, cloud_nodes, points, cloud, rel, inv, most, enough, stack, bounds, found
):
    """Squared distance of a mesh's surface to the nearest point of a cloud, or `most` when none is nearer.

    Ends at the first pair within `enough`, which is below `most`; both are squared.
    """
    best, reach = most, np.sqrt(most)
    stack[0] = (root << 32) | cloud
    bounds[0] = _pair_bound(nodes, root, cloud_nodes, cloud, rel, inv)
    top = 1
    while top > 0:
        top -= 1
        if bounds[top] >= reach:
            continue
        i, j = stack[top] >> 32, stack[top] & ROW
        leaf, wide = nodes[i, 7] > 0.0, cloud_nodes[j, 7] == 0.0
        if leaf and not wide:
            near = _leaf_pair(nodes, tris, i, cloud_nodes, points, j, inv, best, found)
            if near < best:
                best, reach = near, np.sqrt(near)
            if best <= enough:
                return best
            continue
        open_mesh = not leaf
        if open_mesh and wide:
            size = cloud_nodes[j, 3] + cloud_nodes[j, 4] + cloud_nodes[j, 5]
            size -= cloud_nodes[j, 0] + cloud_nodes[j, 1] + cloud_nodes[j, 2]
            open_mesh = 2.0 * (nodes[i, 3] + nodes[i, 4] + nodes[i, 5]) >= size
        if open_mesh:
            child = int(nodes[i, 6])
            near_code, far_code = (child << 32) | j, ((child + 1) << 32) | j
            d0 = _pair_bound(nodes, child, cloud_nodes, j, rel, inv)
            d1 = _pair_bound(nodes, child + 1, cloud_nodes, j, rel, inv)
        else:
            child = int(cloud_nodes[j, 6])
            near_code, far_code = (i << 32) | child, (i << 32) | (child + 1)
            if leaf:
                d0 = _leaf_bound(nodes, tris, i, cloud_nodes, child, inv)
                d1 = _leaf_bound(nodes, tris, i, cloud_nodes, child + 1, inv)
            else:
                d0 = _pair_bound(nodes, i, cloud_nodes, child, rel, inv)
                d1 = _pair_bound(nodes, i, cloud_nodes, child + 1, rel, inv)
        if d1 < d0:
            near_code, far_code, d0, d1 = far_code, near_code, d1, d0
        stack[top], bounds[top] = far_code, d1
        top += int(d1 < reach)
        stack[top], bounds[top] = near_code, d0
        top += int(d0 < reach)
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _points_inside(nodes, tris, root, cloud_nodes, points, cloud, rel, inv, stack, waiting):
    """Is a point of the cloud inside the closed pieces of a mesh whose surface no ball meets?

    A node farther from the surface than it is large is on one side of it. Both stacks are scratch.
    """
    qx, qy, qz, clear = 0.0, 0.0, 0.0, -1.0  # a place outside, and how far the surface is from it
    widest = max(nodes[root, 3], nodes[root, 4], nodes[root, 5])
    waiting[0] = cloud
    top = 1
    while top > 0:
        top -= 1
        j = waiting[top]
        if _pair_bound(nodes, root, cloud_nodes, j, rel, inv) > 0.0:
            continue
        x, y, z, hx, hy, hz = _box_of(cloud_nodes, j, inv)
        size = np.sqrt(hx * hx + hy * hy + hz * hz)
        if np.sqrt((x - qx) ** 2 + (y - qy) ** 2 + (z - qz) ** 2) + size < clear:
            continue
        if size < widest:
            d = np.sqrt(nearest_triangle(nodes, tris, root, x, y, z, np.inf, stack)[0])
            if d > size:
                if point_inside(nodes, tris, root, x, y, z, stack):
                    return True
                qx, qy, qz, clear = x, y, z, d
                continue
        first = int(cloud_nodes[j, 6])
        if cloud_nodes[j, 7] == 0.0:
            waiting[top], waiting[top + 1] = first, first + 1
            top += 2
            continue
        for m in range(first, first + int(cloud_nodes[j, 7])):
            x, y, z = _in_mesh_frame(points, m, inv)
            if (x - qx) ** 2 + (y - qy) ** 2 + (z - qz) ** 2 < clear * abs(clear):
                continue
            if point_inside(nodes, tris, root, x, y, z, stack):
                return True
            qx, qy, qz = x, y, z
            clear = np.sqrt(nearest_triangle(nodes, tris, root, x, y, z, np.inf, stack)[0])
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def cloud_gap(
    nodes, tris, root, rel, inv, world, k, limit, tol, closed, stack, waiting, bounds, t, core, found, q, p
):
    """A mesh against cloud k; see `mesh_gap`."""
    world = borrowed(world)
    radius, cloud = world.sizes[k, 0], world.rows[k, 0]
    cloud_nodes, points = world.cloud_nodes, world.points
    enough = (radius + tol) ** 2
    most = max((radius + limit) ** 2, enough * (1.0 + 1e-15))
    d = _surface_to_points(
        nodes, tris, root, cloud_nodes, points, cloud, rel, inv, most, enough, stack, bounds, found
    )
    if d <= enough:
        return -1.0
    if closed and _points_inside(nodes, tris, root, cloud_nodes, points, cloud, rel, inv, stack, waiting):
        return -1.0
    if d >= most:
        return limit
    pose_triangle(tris, found[0], rel, t, np.int64(0))
    m = found[1]
    for c in range(9):
        t[0, c] -= points[m, c % 3]
    triangle_gap(np.int64(SPHERE), radius, 0.0, 0.0, t, np.inf, tol, core, q)
    for c in range(3):
        p[0, c], p[1, c] = q[0, c] + points[m, c], q[1, c] + points[m, c]
    return np.sqrt(d) - radius
