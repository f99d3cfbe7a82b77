"""Numba kernels of the clearance to obstacles: by spheres where they are apart, by meshes where not.

Arguments as in `_kernels_world`; in float64, one configuration after the other.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from .._numba.world.kernels import FAR, HALF_SPACE, box_gap_squared, safe_world_distance
from ._kernels import scene_tables
from ._kernels_world import MARK, POSED, look, mesh_distance, pose_in_world
from ._pack import LINK_ROOT


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _parting(x, y, z, radius, k, world, boxes):
    """Metres that surely part a ball from obstacle `k`: straight out of the box around it, or of the half-space."""
    if world.kinds[k] == HALF_SPACE:
        return radius - safe_world_distance(world, k, x, y, z, np.inf)
    best = np.inf
    for c in range(3):
        at = x if c == 0 else (y if c == 1 else z)
        best = min(best, at + radius - boxes[k, c], boxes[k, 3 + c] - at + radius)
    return best


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def obstacle_gap(k, ball, center, best, link, robot, by_mesh, world, boxes, scratch):
    """Lower bound of the clearance of a link and obstacle `k`, as one of its spheres tells, or its mesh.

    Args:
        ball: x, y, z and radius of the sphere.
        center: x, y, z and radius of the ball around the link, which is posed.
        best: bounds above it do not matter.
    """
    x, y, z, radius = ball
    _, (marks, flags), _, _ = scratch
    if marks[k] == flags[MARK]:
        return best
    gap = safe_world_distance(world, k, x, y, z, max(best, 0.0) + radius + 1e-9) - radius
    if gap > 0.0 or not by_mesh or scene_tables(robot[0], robot[1])[1][link, LINK_ROOT] < 0:
        return gap
    marks[k] = flags[MARK]
    gap = mesh_distance(link, k, max(best, 0.0), robot, world, scratch)
    if gap >= 0.0:  # 0 is what a limit of 0 answers for apart
        return gap
    return min(0.0, -_parting(center[0], center[1], center[2], center[3], k, world, boxes))


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def sphere_gap(ball, center, best, link, robot, by_mesh, world, boxes, allowed, scratch):
    """(bound, obstacle): the smallest `obstacle_gap` of a sphere's link below `best`, else (best, -1)."""
    x, y, z, radius = ball
    waiting, tree, members, endless = scratch[2][0], world.tree, world.members, world.endless
    nearest = -1
    waiting[0] = 0
    top = min(1, len(members))
    turn = 0  # half-spaces, which no tree holds, come last
    while top > 0 or turn < len(endless):
        if top > 0:
            top -= 1
            row = waiting[top]
            reach = max(best, 0.0) + radius
            if box_gap_squared(tree, row, x, y, z) > reach * reach:
                continue
            first, count = int(tree[row, 6]), int(tree[row, 7])
            if count == 0:
                near, far = first, first + 1
                if box_gap_squared(tree, near, x, y, z) > box_gap_squared(tree, far, x, y, z):
                    near, far = far, near
                waiting[top], waiting[top + 1] = far, near
                top += 2
                continue
            listed = members
        else:
            first, count, listed = turn, 1, endless
            turn += 1
        for i in range(first, first + count):
            k = listed[i]
            if allowed[link, k]:
                continue
            gap = obstacle_gap(k, ball, center, best, link, robot, by_mesh, world, boxes, scratch)
            if gap < best:
                best, nearest = gap, k
    return best, nearest


@njit(cache=True, nogil=True, error_model="numpy")
def world_gaps(q_full, links, balls, by_mesh, robot, world, boxes, grid, allowed, out, closest, scratch):
    """out[row]: a lower bound of the clearance of all links to all obstacles; closest[row]: link and obstacle, or -1.

    Args:
        q_full: (n, moving) joint values, coupled joints included.
        links: (links, 2) first row and number of each link's spheres in `balls`, the ball around them just before.
        balls: (balls, 4) centres in link frames and radii.
        boxes: (obstacles, 6) corners of the box around each.
    """
    robot, world, grid, scratch = borrowed(robot), borrowed(world), borrowed(grid), borrowed(scratch)
    frame, shape, bounds, planes, loose = grid.frame, grid.shape, grid.bounds, grid.planes, grid.loose
    (_, rows), (_, flags), _, _ = scratch
    for row in range(len(q_full)):
        best, of_link, of_obstacle = np.inf, -1, -1
        flags[POSED] = 0
        for link in range(len(links)):
            pose_in_world(np.int64(0), np.int64(1), link, q_full[row], robot, scratch)
            T = rows[link]
            center = (0.0, 0.0, 0.0, 0.0)
            flags[MARK] += 1
            for s in range(links[link, 0] - 1, links[link, 0] + links[link, 1]):
                u, v, w, radius = balls[s, 0], balls[s, 1], balls[s, 2], balls[s, 3]
                x = T[0] * u + T[1] * v + T[2] * w + T[9]
                y = T[3] * u + T[4] * v + T[5] * w + T[10]
                z = T[6] * u + T[7] * v + T[8] * w + T[11]
                reach = max(best, 0.0) + radius
                if s < links[link, 0]:  # the ball around the link
                    center = (x, y, z, radius)
                    if look(frame, shape, bounds, planes, loose, world, x, y, z, reach) == FAR:
                        break
                    continue
                ball = (x, y, z, radius)
                best, k = sphere_gap(ball, center, best, link, robot, by_mesh, world, boxes, allowed, scratch)
                if k >= 0:
                    of_link, of_obstacle = link, k
        out[row], closest[row, 0], closest[row, 1] = best, of_link, of_obstacle
