"""Numba kernels of the robot among obstacles: spheres accept, meshes decide what they refuse.

Sixteen configurations at a time, the balls around links, parts of links and then the spheres are looked up in the
clearance grid (`world`). A sphere that the grid cannot clear is compared with the obstacles near it; where it reaches
one, the mesh of its link is compared with the exact shape of that obstacle, once per link and obstacle.

Thin functions are inlined by numba itself (`inline="always"`): each level of calls above `mesh_gap` would compile all
of it again.

`ints`, `floats`, `doubles`, `work` belong to the spheres (`distance.PackedModel`). `robot` is the links' side of the
meshes (scene, frames, nodes, tris, base): see `_pack.PackedScene`; `base` (1, 12) is the pose of the root body in the
world. `world` and `grid` are the obstacles. `allowed` (links, obstacles) is 1 where touching is meant.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from ..distance.kernels import (
    GROUP_SPHERE,
    GROUP_SPHERES,
    LANES,
    LINK_GROUP,
    LINK_GROUPS,
    POINT,
    body_poses,
    expand,
    need,
    place,
    tables,
    views,
)
from ..distance.kernels import LINK_BODY as SPHERES_BODY
from ..distance.kernels import POSE as LANE_POSE
from ..mesh.kernels import relative_pose
from ..world import PackedGrid, PackedWorld
from ..world.kernels import (
    FAR,
    HALF_SPACE,
    HIT,
    NEAR,
    STACK,
    box_gap_squared,
    grid_look,
    loose_bound,
    mesh_gap,
    mesh_gap_scratch,
    safe_world_distance,
)
from ._kernels import compose_rows, pose_bodies, scene_tables
from ._pack import LINK_BODY, LINK_ROOT
from ._pack import POSE as ROW

MARK, POSED = range(2)
"""Flags of the scratch: number of the current question (a link at a configuration), and whether bodies are posed."""


@njit(cache=True, nogil=True, error_model="numpy")
def world_scratch(robot, world):
    """What one thread works with: poses of bodies and links, marks of obstacles, flags, walks, scratch of meshes."""
    scene, frames, nodes, _, _ = robot
    joints, links, _, _, _ = scene_tables(scene, frames)
    poses = np.empty((len(joints), ROW)), np.empty((len(links) + 1, ROW))
    marks = np.zeros(max(1, len(world.kinds)), np.int64), np.zeros(2, np.int64)
    return (
        poses,
        marks,
        (np.empty(STACK, np.int64), np.empty(ROW), np.empty((2, 3))),
        mesh_gap_scratch(nodes, world),
    )


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def pose_in_world(lane, stride, link, q_full, robot, scratch):
    """Pose of a link's mesh in the world, float64, to its row; bodies are posed once per configuration."""
    scene, frames, _, _, base = robot
    joints, links, _, at_rest, placed = scene_tables(scene, frames)
    (bodies, rows), (_, flags), _, _ = scratch
    if flags[POSED] == 0:
        flags[POSED] = 1
        pose_bodies(joints, at_rest, q_full, stride, lane, bodies)
    last = len(links)
    compose_rows(bodies, links[link, LINK_BODY], placed, link, rows, last)
    compose_rows(base, 0, rows, last, rows, link)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def mesh_distance(link, k, limit, robot, world, scratch):
    """Distance of the mesh of a posed link to obstacle `k`, as `mesh_gap`; link and obstacle have shapes."""
    scene, frames, nodes, tris, _ = robot
    (_, rows), _, (_, rel, p), search = scratch
    relative_pose(world.poses[k], rows[link], rel)
    root = scene_tables(scene, frames)[1][link, LINK_ROOT]
    return mesh_gap(nodes, tris, root, rel, world, k, limit, search, p)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def mesh_refuses(link, k, lane, q_full, robot, buffer, world, scratch):
    """Whether the mesh of a link touches obstacle `k` or comes closer than `buffer`; spheres decide without a mesh."""
    scene, frames = robot[0], robot[1]
    if scene_tables(scene, frames)[1][link, LINK_ROOT] < 0:
        return True
    pose_in_world(lane, np.int64(LANES), link, q_full, robot, scratch)
    gap = mesh_distance(link, k, 1.01 * buffer, robot, world, scratch)
    return gap < 0.0 or (gap <= buffer and buffer > 0.0)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def sphere_refused(x, y, z, reach, lane, link, by_mesh, q_full, robot, buffer, world, allowed, scratch):
    """Whether any obstacle within `reach` of a point refuses the link of the point.

    With `by_mesh` the link's mesh has the last word; obstacles that it was found apart from carry the current mark.
    """
    _, (marks, flags), (waiting, _, _), _ = scratch
    tree, members, endless = world.tree, world.members, world.endless
    waiting[0] = 0
    top = min(1, len(members))
    turn = 0  # half-spaces, which no tree holds, come last
    while top > 0 or turn < len(endless):
        if top > 0:
            top -= 1
            row = waiting[top]
            if box_gap_squared(tree, row, x, y, z) > reach * reach:
                continue
            first, count = int(tree[row, 6]), int(tree[row, 7])
            if count == 0:
                waiting[top], waiting[top + 1] = first, first + 1
                top += 2
                continue
            listed = members
        else:
            first, count, listed = turn, 1, endless
            turn += 1
        for i in range(first, first + count):
            k = listed[i]
            if allowed[link, k] or marks[k] == flags[MARK]:
                continue
            if safe_world_distance(world, k, x, y, z, 1.01 * reach) > reach:
                continue
            if not by_mesh or mesh_refuses(link, k, lane, q_full, robot, buffer, world, scratch):
                return True
            marks[k] = flags[MARK]
    return False


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def lane_point(placed, point, lane, base):
    """A placed point of one lane in the world."""
    at = point * POINT + lane
    x, y, z = np.float64(placed[at]), np.float64(placed[at + LANES]), np.float64(placed[at + 2 * LANES])
    return (
        base[0, 0] * x + base[0, 1] * y + base[0, 2] * z + base[0, 9],
        base[0, 3] * x + base[0, 4] * y + base[0, 5] * z + base[0, 10],
        base[0, 6] * x + base[0, 7] * y + base[0, 8] * z + base[0, 11],
    )


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _look(frame, shape, bounds, planes, loose, world, x, y, z, reach):
    """FAR when the broad phase shows that no obstacle is within `reach` of a point, HIT when one surely is, or NEAR."""
    code, _ = grid_look(frame, shape, bounds, planes, x, y, z, reach)
    if code == FAR and len(loose) > 0 and loose_bound(world, loose, x, y, z, 1.01 * reach) <= reach:
        return NEAR
    return code


@njit(cache=True, nogil=True, error_model="numpy")
def world_free(
    cfgs,
    work,
    ints,
    floats,
    doubles,
    pad,
    buffer,
    robot,
    by_mesh,
    world,
    grid,
    allowed,
    strict,
    turns,
    out,
    scratch,
):
    """out[row] stays 1 where no link touches an obstacle, or comes closer than `buffer`; returns a bad row or -1.

    Rows whose `out` is 0 already are not looked at, nor are links that `turns` does not name; they are asked in its
    order. `pad` is the buffer and the error bound of the spheres; `strict`
    (links,) is 1 for links that may touch nothing; `scratch` is that of `world_scratch`. `world` and `grid` come as
    plain tuples: numba takes four times as long to know a named one, which single configurations would feel.
    """
    robot, scratch = borrowed(robot), borrowed(scratch)
    world, grid = borrowed(PackedWorld(*world)), borrowed(PackedGrid(*grid))
    frame, shape, bounds, planes, loose = grid.frame, grid.shape, grid.bounds, grid.planes, grid.loose
    bodies, moving, links, groups, _, local, points = tables(ints, floats)
    poses, placed, _, trig = views(ints, work)
    base, flags, nl = robot[4], scratch[1][1], len(links)
    q_full = np.empty(max(1, len(moving)) * LANES)
    ready = np.empty(nl, np.uint8)
    for start in range(0, len(cfgs), LANES):
        count = min(LANES, len(cfgs) - start)
        alive = 0
        for lane in range(count):
            alive += int(out[start + lane])
        if alive == 0:
            continue
        if not expand(cfgs, start, count, moving, doubles, q_full):
            return start
        body_poses(bodies, local, q_full, trig, poses)
        for link in range(nl):
            ready[link] = 0
            place(poses, links[link, SPHERES_BODY] * LANE_POSE, points, link, 1, placed)
        for lane in range(count):
            if not out[start + lane]:
                continue
            flags[POSED] = 0
            for link in turns:
                x, y, z = lane_point(placed, link, lane, base)
                reach = points[4 * link + 3] + pad
                if _look(frame, shape, bounds, planes, loose, world, x, y, z, reach) == FAR:
                    continue
                need(link, ready, links, poses, points, placed)
                flags[MARK] += 1
                g0 = links[link, LINK_GROUP]
                for g in range(g0, g0 + links[link, LINK_GROUPS]):
                    x, y, z = lane_point(placed, g, lane, base)
                    reach = points[4 * g + 3] + pad
                    if _look(frame, shape, bounds, planes, loose, world, x, y, z, reach) == FAR:
                        continue
                    s0 = groups[g - nl, GROUP_SPHERE]
                    for s in range(s0, s0 + groups[g - nl, GROUP_SPHERES]):
                        x, y, z = lane_point(placed, s, lane, base)
                        reach = points[4 * s + 3] + pad
                        code = _look(frame, shape, bounds, planes, loose, world, x, y, z, reach)
                        if code == FAR:
                            continue
                        if (code == HIT and not by_mesh and strict[link]) or sphere_refused(
                            x,
                            y,
                            z,
                            reach,
                            lane,
                            link,
                            by_mesh,
                            q_full,
                            robot,
                            buffer,
                            world,
                            allowed,
                            scratch,
                        ):
                            out[start + lane] = False
                            break
                    if not out[start + lane]:
                        break
                if not out[start + lane]:
                    break
    return -1


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
def obstacle_gap(k, ball, center, best, link, row, q_full, robot, by_mesh, world, boxes, scratch):
    """Lower bound of the clearance of a link and obstacle `k`, as one of its spheres tells, or its mesh.

    Args:
        ball: x, y, z and radius of the sphere.
        center: x, y, z and radius of the ball around the link.
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
    pose_in_world(row, np.int64(1), link, q_full, robot, scratch)
    gap = mesh_distance(link, k, max(best, 0.0), robot, world, scratch)
    if gap >= 0.0:  # 0 is what a limit of 0 answers for apart
        return gap
    return min(0.0, -_parting(center[0], center[1], center[2], center[3], k, world, boxes))


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
    (_, rows), (_, flags), (waiting, _, _), _ = scratch
    tree = world.tree
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
                    if _look(frame, shape, bounds, planes, loose, world, x, y, z, reach) == FAR:
                        break
                    continue
                waiting[0] = 0
                top = min(1, len(world.members))
                while top > 0:
                    top -= 1
                    node = waiting[top]
                    reach = max(best, 0.0) + radius
                    if box_gap_squared(tree, node, x, y, z) > reach * reach:
                        continue
                    first, count = int(tree[node, 6]), int(tree[node, 7])
                    if count == 0:
                        near, far = first, first + 1
                        if box_gap_squared(tree, near, x, y, z) > box_gap_squared(tree, far, x, y, z):
                            near, far = far, near
                        waiting[top], waiting[top + 1] = far, near
                        top += 2
                        continue
                    for i in range(first, first + count):
                        k = world.members[i]
                        if not allowed[link, k]:
                            gap = obstacle_gap(
                                k, (x, y, z, radius), center, best, link, np.int64(0), q_full[row], robot, by_mesh,
                                world, boxes, scratch,
                            )  # fmt: skip
                            if gap < best:
                                best, of_link, of_obstacle = gap, link, k
                for i in range(len(world.endless)):
                    k = world.endless[i]
                    if not allowed[link, k]:
                        gap = obstacle_gap(
                            k, (x, y, z, radius), center, best, link, np.int64(0), q_full[row], robot, by_mesh,
                            world, boxes, scratch,
                        )  # fmt: skip
                        if gap < best:
                            best, of_link, of_obstacle = gap, link, k
        out[row], closest[row, 0], closest[row, 1] = best, of_link, of_obstacle
