"""Numba kernel of the two-part obstacle cost: spheres of links near obstacles, boxes of links that meet them.

Most of a robot is far from everything: a ball around each link is looked up in the clearance grid at every step, then
balls around parts of links, then the spheres; only spheres that the grid cannot clear get exact distances, only boxes
whose ball it cannot clear are compared with obstacles. What is left out adds nothing, so the cost is exact.

`robot` are the links as `_cost_pack.PackedLinks`, as plain tuples are `world` and `grid`.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from ..collision.kernels import look
from ..robot.kernels import LANES
from ..world import PackedGrid, PackedWorld
from ..world.kernels import (
    BOX_WIDTH,
    FAR,
    STACK,
    box_gap_squared,
    box_meets_any,
    box_scratch,
    world_distance,
)
from ._cost_pack import PackedLinks
from ._kernels_paths import POSE, move_bodies, place, point_at, step_speed


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _gap(world, allowed, x, y, z, limit, waiting):
    """Signed distance of a point to the nearest obstacle that is not allowed; `limit` where none is nearer."""
    tree, members, boxes, endless = world.tree, world.members, world.boxes, world.endless
    best = limit
    waiting[0] = 0
    top = min(1, len(members))
    turn = 0  # half-spaces, which no tree holds, come last
    while top > 0 or turn < len(endless):
        if top > 0:
            top -= 1
            row = waiting[top]
            first, count = int(tree[row, 6]), int(tree[row, 7])
            if count == 0:
                for child in range(first, first + 2):
                    if box_gap_squared(tree, child, x, y, z) <= max(best, 0.0) ** 2:
                        waiting[top] = child
                        top += 1
                continue
        else:
            first, count = turn, 0
        for i in range(first, first + max(count, 1)):
            if count > 0 and box_gap_squared(boxes, i, x, y, z) > max(best, 0.0) ** 2:
                continue
            k = members[i] if count > 0 else endless[i]
            if not allowed[k]:
                best = min(best, world_distance(world, k, x, y, z, best))
        turn += count == 0
    return best


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _turn_box(poses, at, boxes, b, x, y, z, box):
    """Box b of a body in the world: axes, the given centre, half edges."""
    for i in range(3):
        r = at + 3 * i * LANES
        u, v, w = poses[r], poses[r + LANES], poses[r + 2 * LANES]
        for j in range(3):
            box[3 * i + j] = u * boxes[b, j] + v * boxes[b, 3 + j] + w * boxes[b, 6 + j]
    box[9], box[10], box[11] = x, y, z
    box[12], box[13], box[14] = boxes[b, 12], boxes[b, 13], boxes[b, 14]


@njit(cache=True, nogil=True, error_model="numpy")
def obstacle_costs(
    paths, rate, clearance, by_spheres, robot, world, grid, allowed, spared, near_cost, meets, scratch
):
    """Both parts of the cost of every step of every path.

    Args:
        paths: (k, steps, dof).
        rate: steps per second.
        clearance: metres below which a sphere costs.
        by_spheres: whether the first part is wanted.
        robot: a `PackedLinks`, `world` and `grid` a `PackedWorld` and its `PackedGrid`: as plain tuples.
        allowed: (links, obstacles) whether touching is meant; `spared`: (boxes, obstacles) the same for boxes.
        near_cost: (k, steps) receives the sum over spheres of what is missing of the clearance times speed, m * m/s.
        meets: (k, steps) receives whether a box shares a point with an obstacle.
        scratch: that of `cost_scratch`.
    """
    robot, scratch = borrowed(PackedLinks(*robot)), borrowed(scratch)
    world, grid = borrowed(PackedWorld(*world)), borrowed(PackedGrid(*grid))
    allowed, spared = borrowed(allowed), borrowed(spared)
    frame, shape, bounds, planes, loose = grid.frame, grid.shape, grid.bounds, grid.planes, grid.loose
    links, link_balls, groups, group_balls = robot.links, robot.link_balls, robot.groups, robot.group_balls
    spheres, boxes, box_of = robot.spheres, robot.boxes, robot.box_of
    poses, trig, near, box, waiting, walks = scratch
    bodies, steps = len(robot.parents), paths.shape[1]
    last = 0
    for p in range(len(paths)):
        move_bodies(
            paths[p], robot.parents, robot.kinds, robot.drivers, robot.local, robot.polys, trig, poses
        )
        for link in range(len(links)):
            body = links[link, 0]
            bx, by, bz = link_balls[link, 0], link_balls[link, 1], link_balls[link, 2]
            reach = link_balls[link, 3] + clearance
            for t in range(steps):
                x, y, z = point_at(poses, place(t, body, bodies), bx, by, bz)
                near[t, link] = look(frame, shape, bounds, planes, loose, world, x, y, z, reach) != FAR
        for t in range(steps):
            total = 0.0
            for link in range(len(links)):
                body = links[link, 0]
                if not near[t, link] or body == 0 or not by_spheres:  # what cannot move has no speed
                    continue
                at = place(t, body, bodies)
                for g in range(links[link, 1], links[link, 1] + links[link, 2]):
                    x, y, z = point_at(poses, at, group_balls[g, 0], group_balls[g, 1], group_balls[g, 2])
                    reach = group_balls[g, 3] + clearance
                    if look(frame, shape, bounds, planes, loose, world, x, y, z, reach) == FAR:
                        continue
                    for s in range(groups[g, 0], groups[g, 0] + groups[g, 1]):
                        cx, cy, cz, reach = (
                            spheres[s, 0],
                            spheres[s, 1],
                            spheres[s, 2],
                            spheres[s, 3] + clearance,
                        )
                        x, y, z = point_at(poses, at, cx, cy, cz)
                        if look(frame, shape, bounds, planes, loose, world, x, y, z, reach) == FAR:
                            continue
                        gap = _gap(world, allowed[link], x, y, z, reach, waiting)
                        if gap < reach:
                            speed = step_speed(poses, t, steps, body, bodies, cx, cy, cz, rate)
                            total += (reach - gap) * speed
            near_cost[p, t] = total
            hit = False
            for turn in range(len(boxes)):
                b = last + turn  # the box that met something at the step before comes first
                b -= len(boxes) if b >= len(boxes) else 0
                link = box_of[b]
                if not near[t, link]:
                    continue
                at = place(t, links[link, 0], bodies)
                x, y, z = point_at(poses, at, boxes[b, 9], boxes[b, 10], boxes[b, 11])
                if look(frame, shape, bounds, planes, loose, world, x, y, z, boxes[b, 15]) == FAR:
                    continue
                _turn_box(poses, at, boxes, b, x, y, z, box)
                if box_meets_any(world, box, spared[b], walks):
                    last, hit = b, True
                    break
            meets[p, t] = hit


def cost_scratch(steps, bodies, links):
    """What `obstacle_costs` works with in one thread, for paths of so many steps at most."""
    blocks = -(-steps // LANES)
    return (
        np.empty(blocks * bodies * POSE * LANES),
        np.empty(2 * LANES),
        np.empty((steps, max(1, links)), np.bool_),
        np.empty(BOX_WIDTH),
        np.empty(STACK, np.int64),
        box_scratch(),
    )
