"""A posed mesh against one obstacle: do they share a point, and how far apart are they.

The tree of the mesh is walked, nearer child first. A node is left out when the plane that parts its centre from a
convex obstacle parts its whole box; triangles that are left are tested exactly (`_kernels_convex`). Solids contain:
an obstacle wholly inside a closed mesh touches it, and so does a mesh inside a solid obstacle.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._borrow import borrowed
from ..._jit import njit
from ..mesh import (
    APART,
    FAR,
    HEADER_CLOSED,
    HEADER_SCALE,
    STACK,
    TOUCH,
    box_gap,
    inverse_pose,
    pair_state,
    point_inside,
    pose_triangle,
    support,
    surface_distance,
    walk_scratch,
)
from ._kernels_convex import outward, plane_bound, triangle_gap
from ._kernels_mesh_cloud import cloud_gap
from ._kernels_mesh_field import PIECES, field_gap
from ._pack import BOX, CLOUD, CYLINDER, HALF_SPACE, MESH, SDF


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _node_bound(kind, a, b, c, nodes, i, rel):
    """Lower bound of the distance of a node's box to a convex primitive; where it is not positive, only an order."""
    x, y, z = nodes[i, 0], nodes[i, 1], nodes[i, 2]
    d, u, v, w = outward(
        kind,
        a,
        b,
        c,
        rel[0] * x + rel[1] * y + rel[2] * z + rel[9],
        rel[3] * x + rel[4] * y + rel[5] * z + rel[10],
        rel[6] * x + rel[7] * y + rel[8] * z + rel[11],
    )
    d -= abs(rel[0] * u + rel[3] * v + rel[6] * w) * nodes[i, 3]
    d -= abs(rel[1] * u + rel[4] * v + rel[7] * w) * nodes[i, 4]
    return d - abs(rel[2] * u + rel[5] * v + rel[8] * w) * nodes[i, 5]


@njit(cache=True, nogil=True, error_model="numpy")
def _convex_gap(kind, a, b, c, nodes, tris, root, rel, limit, tol, stack, bounds, t, core, q, p):
    """Surface of a mesh against a BOX, SPHERE, CYLINDER or CAPSULE; see `mesh_gap`."""
    best = limit
    stack[0] = root
    bounds[0] = _node_bound(kind, a, b, c, nodes, root, rel)
    top = 1
    while top > 0:
        top -= 1
        if bounds[top] > tol and bounds[top] >= best:
            continue
        i = stack[top]
        first, count = int(nodes[i, 6]), int(nodes[i, 7])
        if count == 0:
            near, far = first, first + 1
            d0, d1 = _node_bound(kind, a, b, c, nodes, near, rel), _node_bound(kind, a, b, c, nodes, far, rel)
            if d1 < d0:
                near, far, d0, d1 = far, near, d1, d0
            stack[top], bounds[top] = far, d1
            top += int(d1 <= tol or d1 < best)
            stack[top], bounds[top] = near, d0
            top += int(d0 <= tol or d0 < best)
            continue
        for k in range(first, first + count):
            pose_triangle(tris, k, rel, t, np.int64(0))
            bound = plane_bound(kind, a, b, c, t)
            if bound > tol and bound >= best:
                continue
            d = triangle_gap(kind, a, b, c, t, best, tol, core, q)
            if d < 0.0:
                return -1.0
            if d < best:
                best = d
                p[:] = q
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _half_space_gap(x, y, z, offset, nodes, tris, root, rel, limit, tol, stack, q, p):
    """A mesh against the half-space normal . x <= offset: its lowest corner decides."""
    u = rel[0] * x + rel[3] * y + rel[6] * z
    v = rel[1] * x + rel[4] * y + rel[7] * z
    w = rel[2] * x + rel[5] * y + rel[8] * z
    base = x * rel[9] + y * rel[10] + z * rel[11] - offset
    reach = abs(u) * nodes[root, 3] + abs(v) * nodes[root, 4] + abs(w) * nodes[root, 5]
    low = base + u * nodes[root, 0] + v * nodes[root, 1] + w * nodes[root, 2] - reach
    if low > tol and low >= limit:
        return limit
    d = base - support(nodes, tris, root, -u, -v, -w, q, np.int64(0), stack)
    if d <= tol:
        return -1.0
    if d < limit:
        for k in range(3):
            p[0, k] = rel[3 * k] * q[0, 0] + rel[3 * k + 1] * q[0, 1] + rel[3 * k + 2] * q[0, 2] + rel[9 + k]
        p[1, 0], p[1, 1], p[1, 2] = p[0, 0] - d * x, p[0, 1] - d * y, p[0, 2] - d * z
    return min(d, limit)


@njit(cache=True, nogil=True, error_model="numpy")
def _surfaces_gap(nodes, tris, root, rel, world, k, limit, scratch, p):
    """A mesh against a MESH obstacle."""
    world, scratch = borrowed(world), borrowed(scratch)
    stack, codes, rows, w, inv, bounds, _, _, q, aim, spans, hint, _, _ = scratch
    other = world.rows[k, 0]
    if limit > 0.0 and box_gap(world.nodes, other, nodes, root, rel, 0.0) >= limit:
        return limit
    if (
        pair_state(world.nodes, world.tris, other, nodes, tris, root, rel, inv, stack, codes, rows, w, True)
        != APART
    ):
        return -1.0
    if limit <= 0.0:
        return 0.0
    inverse_pose(rel, inv)
    hint[:] = -1
    most = min(limit * limit, FAR)
    d = surface_distance(
        world.nodes, world.tris, other, nodes, tris, root, rel, inv, most, stack, bounds, rows, q, aim, spans, hint
    )  # fmt: skip
    if d >= most:
        return limit
    p[0], p[1] = q[1], q[0]
    return np.sqrt(d)


@njit(cache=True, nogil=True, error_model="numpy")
def _holds(nodes, tris, root, rel, inner, stack):
    """Is an obstacle that its surface does not meet inside the closed pieces of a mesh?

    The origin of the obstacle's frame is asked, where the ball of radius `inner` around it is of the obstacle.
    """
    x = -(rel[0] * rel[9] + rel[3] * rel[10] + rel[6] * rel[11])
    y = -(rel[1] * rel[9] + rel[4] * rel[10] + rel[7] * rel[11])
    z = -(rel[2] * rel[9] + rel[5] * rel[10] + rel[8] * rel[11])
    if (
        abs(x - nodes[root, 0]) + inner > nodes[root, 3]
        or abs(y - nodes[root, 1]) + inner > nodes[root, 4]
        or abs(z - nodes[root, 2]) + inner > nodes[root, 5]
    ):
        return False
    return point_inside(nodes, tris, root, x, y, z, stack)


@njit(cache=True, nogil=True, error_model="numpy")
def mesh_gap(nodes, tris, root, rel, world, k, limit, scratch, p):
    """A mesh against obstacle k: -1 when they share a point, else their distance, or `limit` when not nearer than it.

    `nodes`, `tris` are those of `pack_meshes`, `root` the row of the mesh, `rel` its pose in the frame of the
    obstacle. With limit 0 only the sign counts. The closest points, on the mesh and on the obstacle, go to p[0] and
    p[1] in the frame of the obstacle when the result is in (0, limit). Gaps up to 1e-13 of the scene's size touch.
    Distances are exact to rounding but for boxes and cylinders, where they are at most 1e-10 m below the truth, and
    for fields, where they are lower bounds (see `_kernels_mesh_field`). `scratch` is that of `mesh_gap_scratch`.
    """
    world, scratch = borrowed(world), borrowed(scratch)
    kind = world.kinds[k]
    if kind == MESH:
        return _surfaces_gap(nodes, tris, root, rel, world, k, limit, scratch, p)
    stack, _, _, _, inv, bounds, t, core, q, _, _, found, waiting, pieces = scratch
    a, b, c, e = world.sizes[k, 0], world.sizes[k, 1], world.sizes[k, 2], world.sizes[k, 3]
    far = max(abs(rel[9]), abs(rel[10]), abs(rel[11]))
    tol = TOUCH * (nodes[root - 1, HEADER_SCALE] + far + abs(a) + abs(b) + abs(c) + abs(e))
    if kind == HALF_SPACE:
        return _half_space_gap(a, b, c, e, nodes, tris, root, rel, limit, tol, stack, q, p)
    closed = nodes[root - 1, HEADER_CLOSED] > 0.0
    if kind == CLOUD:
        inverse_pose(rel, inv)
        return cloud_gap(
            nodes, tris, root, rel, inv, world, k, limit, tol, closed, stack, waiting, bounds, t, core, found, q, p
        )  # fmt: skip
    if kind == SDF:
        inverse_pose(rel, inv)
        values, rows, sizes = world.values, world.rows, world.sizes
        return field_gap(
            nodes, tris, root, rel, inv, values, rows, sizes, k, limit, closed, stack, bounds, t, pieces, p
        )  # fmt: skip
    d = _convex_gap(kind, a, b, c, nodes, tris, root, rel, limit, tol, stack, bounds, t, core, q, p)
    if d >= 0.0 and closed:
        inner = min(a, b, c) if kind == BOX else (min(a, b) if kind == CYLINDER else a)
        if _holds(nodes, tris, root, rel, inner, stack):
            return -1.0
    return d


@njit(cache=True, nogil=True, error_model="numpy")
def mesh_gap_scratch(nodes, world):
    """What `mesh_gap` works with, for meshes of `nodes` and the obstacles of a world."""
    stack, codes, rows, w, _, inv = walk_scratch()
    bounds, t, core, q = np.empty(STACK), np.empty((1, 9)), np.empty((1, 9)), np.empty((2, 3))
    spans = np.empty((max(len(nodes), len(world.nodes)), 2))
    found, waiting, pieces = np.full(2, -1, np.int64), np.empty(STACK, np.int64), np.empty((PIECES, 9))
    return stack, codes, rows, w, inv, bounds, t, core, q, np.zeros(3), spans, found, waiting, pieces
