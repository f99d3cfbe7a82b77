"""Numba kernel of the two-part obstacle cost: spheres of links near obstacles, boxes of links that meet them.

Most of a robot is far from everything: a ball around each link is looked up in the clearance grid, sixteen steps at a
time, then balls around parts of links, then the spheres; only spheres that the grid cannot clear get exact distances,
only boxes whose ball it cannot clear are compared with obstacles. The looks are made in float32 and allow for it; what
they leave out adds nothing, so the cost is exact.

`robot` are the links as `_cost_pack.PackedLinks`, as plain tuples are `world` and `grid`.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from .._numba.collision.kernels import look_table, near_mask
from .._numba.distance import LOOK
from .._numba.robot import LANES
from .._numba.world.kernels import (
    BOX_WIDTH,
    STACK,
    box_gap_squared,
    box_meets_any,
    box_scratch,
    world_distance,
)
from .._numba.world.packed import PackedGrid, PackedWorld
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


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _near(poses, at, balls, i, first, clearance, look, world, grid):
    """Steps of a block, as bits, at which an obstacle may be within `clearance` of ball `i` on a body.

    Args:
        poses: of the bodies; the body's in this block begin at `at`.
        balls: rows with the centre from column `first` on and the radius last.
        look: (placed, base, table, blur) as `near_mask` takes them.
    """
    placed, base, table, blur = look
    ball = balls[i]
    x, y, z = ball[first], ball[first + 1], ball[first + 2]
    reach = ball[-1] + clearance + blur
    for j in range(3):
        r = at + 3 * j * LANES
        for lane in range(LANES):
            u, v, w = poses[r + lane], poses[r + LANES + lane], poses[r + 2 * LANES + lane]
            placed[j * LANES + lane] = u * x + v * y + w * z + poses[at + (9 + j) * LANES + lane]
    return near_mask(placed, 0, reach, 0.0, base, table, blur, world, grid)


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
    links, link_balls, groups, group_balls = robot.links, robot.link_balls, robot.groups, robot.group_balls
    spheres, boxes, box_of = robot.spheres, robot.boxes, robot.box_of
    poses, trig, near, box, waiting, walks, placed, base, table = scratch
    bodies, steps = len(robot.parents), paths.shape[1]
    look = placed, base, table, look_table(base, grid.frame, grid.shape, table)
    last = 0
    for p in range(len(paths)):
        move_bodies(
            paths[p], robot.parents, robot.kinds, robot.drivers, robot.local, robot.polys, trig, poses
        )
        near_cost[p], meets[p] = 0.0, False
        for t0 in range(0, steps, LANES):
            everyone = (1 << min(LANES, steps - t0)) - 1
            for link in range(len(links)):
                body = links[link, 0]
                at = place(t0, body, bodies)
                near[link] = _near(poses, at, link_balls, link, 0, clearance, look, world, grid) & everyone
                if near[link] == 0 or body == 0 or not by_spheres:  # what cannot move has no speed
                    continue
                for g in range(links[link, 1], links[link, 1] + links[link, 2]):
                    close = _near(poses, at, group_balls, g, 0, clearance, look, world, grid) & near[link]
                    if close == 0:
                        continue
                    for s in range(groups[g, 0], groups[g, 0] + groups[g, 1]):
                        some = _near(poses, at, spheres, s, 0, clearance, look, world, grid) & close
                        cx, cy, cz, reach = (
                            spheres[s, 0],
                            spheres[s, 1],
                            spheres[s, 2],
                            spheres[s, 3] + clearance,
                        )
                        lane = 0
                        while some >> lane:
                            if (some >> lane) & 1:
                                x, y, z = point_at(poses, at + lane, cx, cy, cz)
                                gap = _gap(world, allowed[link], x, y, z, reach, waiting)
                                if gap < reach:
                                    t = t0 + lane
                                    speed = step_speed(poses, t, steps, body, bodies, cx, cy, cz, rate)
                                    near_cost[p, t] += (reach - gap) * speed
                            lane += 1
            first = last  # the box that met something last comes first
            for turn in range(len(boxes)):
                b = (first + turn) % len(boxes)
                link = box_of[b]
                if near[link] & everyone == 0:
                    continue
                at = place(t0, links[link, 0], bodies)
                some = _near(poses, at, boxes, b, 9, 0.0, look, world, grid) & near[link] & everyone
                lane = 0
                while some >> lane:
                    if (some >> lane) & 1:
                        x, y, z = point_at(poses, at + lane, boxes[b, 9], boxes[b, 10], boxes[b, 11])
                        _turn_box(poses, at + lane, boxes, b, x, y, z, box)
                        if box_meets_any(world, box, spared[b], walks):
                            meets[p, t0 + lane] = True
                            everyone &= ~(1 << lane)  # its other boxes need no look
                            last = b
                    lane += 1


def cost_scratch(steps, bodies, links):
    """What `obstacle_costs` works with in one thread, for paths of so many steps at most."""
    blocks = -(-steps // LANES)
    return (
        np.empty(blocks * bodies * POSE * LANES),
        np.empty(2 * LANES),
        np.empty(max(1, links), np.int64),
        np.empty(BOX_WIDTH),
        np.empty(STACK, np.int64),
        box_scratch(),
        np.empty(3 * LANES, np.float32),
        np.append(np.eye(3), np.zeros(3))[None],
        np.empty(LOOK, np.float32),
    )
