"""Numba kernels of the robot among obstacles: spheres accept, meshes decide what they refuse.

Sixteen configurations at a time, the balls around links, parts of links and then the spheres are looked up in the
clearance grid (`world`). A sphere that the grid cannot clear is compared with the obstacles near it; where it reaches
one, the mesh of its link is compared with the exact shape of that obstacle, once per link and obstacle.

Thin functions are inlined by numba itself (`inline="always"`): each level of calls above `mesh_gap` would compile all
of it again.

`ints`, `floats`, `doubles`, `work` belong to the spheres (`PackedModel`). `robot` is the links' side of the
meshes (scene, frames, nodes, tris, base): see `_pack.PackedScene`; `base` (1, 12) is the pose of the root body in the
world. `world` and `grid` are the obstacles. `allowed` (links, obstacles) is 1 where touching is meant.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._borrow import borrowed
from .._jit import njit
from .._numba.distance import (
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
from .._numba.distance import LINK_BODY as SPHERES_BODY
from .._numba.distance import POSE as LANE_POSE
from .._numba.mesh import relative_pose
from .._numba.world.kernels import (
    FAR,
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
from .._numba.world.packed import PackedGrid, PackedWorld
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
def look(frame, shape, bounds, planes, loose, world, x, y, z, reach):
    """FAR when the broad phase shows that no obstacle is within `reach` of a point, HIT when one surely is, or NEAR."""
    code, _ = grid_look(frame, shape, bounds, planes, x, y, z, reach)
    if code == FAR and len(loose) > 0 and loose_bound(world, loose, x, y, z, 1.01 * reach) <= reach:
        return NEAR
    return code


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def link_refused(
    lane, link, pad, by_mesh, links, groups, points, placed, q_full, robot, buffer, world, grid, allowed, strict,
    scratch,
):  # fmt: skip
    """Whether the world refuses a link in one lane; its balls are placed."""
    frame, shape, bounds, planes, loose = grid.frame, grid.shape, grid.bounds, grid.planes, grid.loose
    base, nl = robot[4], len(links)
    g0 = links[link, LINK_GROUP]
    for g in range(g0, g0 + links[link, LINK_GROUPS]):
        x, y, z = lane_point(placed, g, lane, base)
        reach = points[4 * g + 3] + pad
        if look(frame, shape, bounds, planes, loose, world, x, y, z, reach) == FAR:
            continue
        s0 = groups[g - nl, GROUP_SPHERE]
        for s in range(s0, s0 + groups[g - nl, GROUP_SPHERES]):
            x, y, z = lane_point(placed, s, lane, base)
            reach = points[4 * s + 3] + pad
            code = look(frame, shape, bounds, planes, loose, world, x, y, z, reach)
            if code == FAR:
                continue
            if code == HIT and not by_mesh and strict[link]:
                return True
            if sphere_refused(
                x, y, z, reach, lane, link, by_mesh, q_full, robot, buffer, world, allowed, scratch
            ):
                return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def world_free(
    cfgs, work, ints, floats, doubles, pad, buffer, robot, by_mesh, world, grid, allowed, strict, turns, out, scratch
):  # fmt: skip
    """out[row] stays 1 where no link touches an obstacle, or comes closer than `buffer`; returns a bad row or -1.

    Rows whose `out` is 0 already are not looked at, nor are links that `turns` does not name; they are asked in its
    order. `pad` is the buffer and the error bound of the spheres; `strict` (links,) is 1 for links that may touch
    nothing; `scratch` is that of `world_scratch`. `world` and `grid` come as plain tuples: numba takes four times as
    long to know a named one, which single configurations would feel.
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
                if look(frame, shape, bounds, planes, loose, world, x, y, z, reach) == FAR:
                    continue
                need(link, ready, links, poses, points, placed)
                flags[MARK] += 1
                if link_refused(
                    lane, link, pad, by_mesh, links, groups, points, placed, q_full, robot, buffer, world, grid,
                    allowed, strict, scratch,
                ):  # fmt: skip
                    out[start + lane] = False
                    break
    return -1
