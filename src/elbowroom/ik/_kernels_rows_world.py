"""Numba kernels of linearised collision constraints between links and obstacles; see `_kernels_rows`.

The balls around the parts of a link find the obstacles in reach; each of them gives rows for the link's spheres that
are closest to it, or, where these overlap, one for the closest points of the link's mesh and the obstacle.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from .._numba.collision.kernels import (
    BODY,
    FIRST_BALL,
    FIRST_ON_WAY,
    FIRST_SPAN,
    N_GROUPS,
    N_ON_WAY,
    ROOT,
    mesh_row,
    near_obstacles,
)
from .._numba.mesh import relative_pose
from .._numba.world.kernels import (
    STACK,
    mesh_gap,
    mesh_gap_scratch,
    safe_world_distance,
    scene_bound,
    world_gradient,
)
from ._kernels_moves import body_scratch, pose_all
from ._kernels_rows import ALL, NEAR, SPREAD, add_point


@njit(cache=True, nogil=True, error_model="numpy")
def world_scratch(bodies, world):
    """What `world_rows` works with: bodies, near obstacles, distances of spheres, poses, scratch of meshes."""
    n = max(1, len(world.kinds))
    near = np.empty(STACK, np.int64), np.empty(n, np.int64), np.zeros(n, np.uint8)
    mesh = np.empty(12), np.empty(12), np.empty((2, 3)), mesh_gap_scratch(bodies.nodes, world)
    return body_scratch(bodies), near, (np.empty(max(1, len(bodies.balls))), np.empty(3)), mesh


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _obstacles_of(link, far, world, grid, allowed, bodies, posed, near):
    """(n, low): obstacles within `far` of the parts of a link, to near[1][:n]; else a bound of their distance."""
    waiting, found, seen = near
    at = posed[3]
    low, n = np.inf, 0
    first = bodies.links[link, FIRST_BALL]
    for g in range(first, first + bodies.links[link, N_GROUPS]):
        x, y, z, radius = at[g, 0], at[g, 1], at[g, 2], bodies.balls[g, 3]
        bound = scene_bound(world, grid, x, y, z) - radius
        if bound <= far:
            n, _ = near_obstacles(world, x, y, z, radius + far, allowed[link], waiting, found, seen, n)
            bound = far
        low = min(low, bound)
    for k in range(n):
        seen[found[k]] = 0
    return n, low


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _mesh_row_of(link, k, far, world, bodies, posed, mesh):
    """Distance of a link's mesh to obstacle `k`, as `mesh_gap`; the closest points go to mesh[2], in the world."""
    row, rel, p, search = mesh
    mesh_row(posed[1][bodies.links[link, BODY]], bodies.placed, link, row)
    relative_pose(world.poses[k], row, rel)
    gap = mesh_gap(bodies.nodes, bodies.tris, bodies.links[link, ROOT], rel, world, k, far, search, p)
    if 0.0 < gap < far:
        T = world.poses[k]
        for i in range(2):
            x, y, z = p[i, 0], p[i, 1], p[i, 2]
            for c in range(3):
                p[i, c] = T[3 * c] * x + T[3 * c + 1] * y + T[3 * c + 2] * z + T[9 + c]
    return gap


@njit(cache=True, nogil=True, error_model="numpy")
def world_rows(
    cfg, only, reach, buffer, bodies, world, grid, allowed, scratch, rows, distances, of, rough, low, within
):  # fmt: skip
    """Rows of the links and obstacles within reach at one configuration; returns how many.

    Args:
        cfg: (dof,).
        only: (2,) link and obstacle that are asked for alone, by the link's mesh; ALL for all.
        reach: metres above the buffer within which a pair counts.
        buffer: metres that links and obstacles must be apart.
        allowed: (links, obstacles) whether touching is meant.
        rows: (most, dof) receives how each distance changes with the joints; what does not fit is left out.
        distances: (most,) receives the distances above the buffer, 0 where there is none.
        of: (most, 2) receives link and obstacle of each row.
        rough: (most,) receives 1 for rows of spheres with a mesh behind them.
        low: (links,) receives a lower bound of each link's distance above the buffer to all obstacles.
        within: (links, obstacles) receives the distance above the buffer where it is not positive, minus infinity where
            they touch; the others are left alone.
    """
    bodies, world, grid = borrowed(bodies), borrowed(world), borrowed(grid)
    posed, near, (gaps, slope), mesh = scratch
    at, balls = posed[3], bodies.balls
    pose_all(cfg, bodies, posed)
    far, m = reach + buffer, 0
    for link in range(max(0, only[0]), len(bodies.links) if only[0] == ALL else only[0] + 1):
        n, bound = _obstacles_of(link, far, world, grid, allowed, bodies, posed, near)
        low[link] = bound - buffer
        way, joints = bodies.links[link, FIRST_ON_WAY], bodies.links[link, N_ON_WAY]
        span, groups = bodies.links[link, FIRST_SPAN], bodies.links[link, N_GROUPS]
        first = bodies.links[link, FIRST_BALL] + groups
        count = 0
        for g in range(groups):
            count += bodies.spans[span + g, 1]
        for i in range(n):
            k = near[1][i]
            if only[0] != ALL and k != only[1]:
                continue
            closest = np.inf
            for s in range(first, first + count):
                limit = far + balls[s, 3]
                gaps[s] = safe_world_distance(world, k, at[s, 0], at[s, 1], at[s, 2], limit) - balls[s, 3]
                closest = min(closest, gaps[s])
            if (only[0] != ALL or closest - buffer <= NEAR) and bodies.links[link, ROOT] >= 0:
                gap = _mesh_row_of(link, k, far, world, bodies, posed, mesh)
                left = gap - buffer if gap >= 0.0 else -np.inf
                if left <= 0.0:
                    within[link, k] = left
                low[link] = min(low[link], left)
                if gap <= 0.0 or gap >= far or m >= len(rows):
                    continue
                p = mesh[2]
                x, y, z = p[1, 0] - p[0, 0], p[1, 1] - p[0, 1], p[1, 2] - p[0, 2]
                length = max(np.sqrt(x * x + y * y + z * z), 1e-300)
                rows[m] = 0.0
                normal = (x / length, y / length, z / length)
                add_point(bodies, way, way + joints, p[0], normal, -1.0, posed, rows[m])
                distances[m], of[m, 0], of[m, 1], rough[m] = max(0.0, gap - buffer), link, k, 0
                m += 1
                continue
            low[link] = min(low[link], closest - buffer)
            if closest <= buffer:
                within[link, k] = closest - buffer
            for _ in range(SPREAD):
                best = first
                for s in range(first + 1, first + count):
                    if gaps[s] < gaps[best]:
                        best = s
                if gaps[best] >= far or m >= len(rows):
                    break
                world_gradient(world, k, at[best, 0], at[best, 1], at[best, 2], slope)
                length = np.sqrt(slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2])
                length = max(length, 1e-300)
                rows[m] = 0.0
                normal = (slope[0] / length, slope[1] / length, slope[2] / length)
                add_point(bodies, way, way + joints, at[best], normal, 1.0, posed, rows[m])
                distances[m], of[m, 0], of[m, 1] = max(0.0, gaps[best] - buffer), link, k
                rough[m] = bodies.links[link, ROOT] >= 0
                gaps[best] = np.inf
                m += 1
    return m
