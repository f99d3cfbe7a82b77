"""Numba kernels of the verdict: spheres accept, meshes decide what they refuse.

Sixteen configurations at a time, the spheres of every checked pair are compared (the kernels of `distance`, float32
with its error bound). What they call apart is apart. For each configuration that is left, the poses of the links are
computed again in float64 and the meshes of just the refused pairs are compared (the kernels of `mesh`). A pair whose
links have no meshes is decided by its spheres.

Arguments are arrays only. `ints`, `floats`, `doubles`, `pads`, `work` belong to the spheres (`PackedModel`); `scene`,
`frames`, `nodes`, `tris` to the meshes (`PackedScene`).
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from .._numba.distance import (
    LANES,
    POINT,
    POSE,
    body_poses,
    expand,
    hits,
    need,
    pair_mask,
    place,
    tables,
    views,
)
from .._numba.mesh import (
    APART,
    FAR,
    HEADER_NODES,
    STACK,
    box_gap,
    inverse_pose,
    pair_state,
    relative_pose,
    surface_distance,
    walk_scratch,
)
from ._pack import (
    AT_BODIES,
    AT_LINKS,
    AT_PAIRS,
    BODY_JOINT,
    BODY_KIND,
    BODY_PARENT,
    BODY_WIDTH,
    LINK_BODY,
    LINK_ROOT,
    LINK_WIDTH,
    N_BODIES,
    N_LINKS,
    N_PAIRS,
)
from ._pack import POSE as ROW

REVOLUTE = 1
SEARCH = 1e-9
"""Relative difference to the true distance at which the search for it may stop."""


@njit(cache=True, nogil=True, error_model="numpy")
def scene_tables(scene, frames):
    """Views of the packed scene: bodies, links, who decides each pair, body poses at rest, links on bodies."""
    nb, nl, npairs = scene[N_BODIES], scene[N_LINKS], scene[N_PAIRS]
    at_b, at_l, at_p = scene[AT_BODIES], scene[AT_LINKS], scene[AT_PAIRS]
    bodies = scene[at_b : at_b + BODY_WIDTH * nb].reshape(nb, BODY_WIDTH)
    links = scene[at_l : at_l + LINK_WIDTH * nl].reshape(nl, LINK_WIDTH)
    local = frames[: ROW * nb].reshape(nb, ROW)
    placed = frames[ROW * nb :].reshape(nl, ROW)
    return bodies, links, scene[at_p : at_p + npairs], local, placed


@njit(cache=True, nogil=True, error_model="numpy")
def compose_rows(a, i, b, j, out, k):
    """out[k] = a[i] * b[j], poses as rows of twelve."""
    for r in range(3):
        u, v, w = a[i, 3 * r], a[i, 3 * r + 1], a[i, 3 * r + 2]
        for c in range(3):
            out[k, 3 * r + c] = u * b[j, c] + v * b[j, 3 + c] + w * b[j, 6 + c]
        out[k, 9 + r] = u * b[j, 9] + v * b[j, 10] + w * b[j, 11] + a[i, 9 + r]


@njit(cache=True, nogil=True, error_model="numpy")
def pose_bodies(bodies, local, q_full, stride, lane, poses):
    """Poses (bodies, 12) relative to the root body, float64; joint values at q_full[joint * stride + lane]."""
    for c in range(ROW):
        poses[0, c] = 1.0 if c == 0 or c == 4 or c == 8 else 0.0
    for b in range(1, len(bodies)):
        compose_rows(poses, bodies[b, BODY_PARENT], local, b, poses, b)
        q = q_full[bodies[b, BODY_JOINT] * stride + lane]
        if bodies[b, BODY_KIND] == REVOLUTE:
            s, c = np.sin(q), np.cos(q)
            for r in range(0, 9, 3):
                u, v = poses[b, r], poses[b, r + 1]
                poses[b, r] = u * c + v * s
                poses[b, r + 1] = v * c - u * s
        else:
            for r in range(3):
                poses[b, 9 + r] += q * poses[b, 3 * r + 2]


@njit(cache=True, nogil=True, error_model="numpy")
def place_link(link, links, placed, poses, ready, rows):
    """Pose of a link in the frame of the root body, once per configuration."""
    if ready[link] == 0:
        ready[link] = 1
        compose_rows(poses, links[link, LINK_BODY], placed, link, rows, link)


@njit(cache=True, nogil=True, error_model="numpy")
def distance_scratch(nodes, links):
    """What `surface_distance` works with besides the scratch of a walk; sized by the largest tree of the scene."""
    most = 1
    for k in range(len(links)):
        if links[k, LINK_ROOT] > 0:
            most = max(most, int(nodes[links[k, LINK_ROOT] - 1, HEADER_NODES]))
    return np.empty(STACK), np.empty((2, 3)), np.zeros(3), np.empty((most, 2)), np.full(2, -1, np.int64)


@njit(cache=True, nogil=True, error_model="numpy")
def spheres_refuse(
    cfgs, start, count, ints, floats, doubles, pads, work, by_mesh, q_full, ready, refused, lanes
):
    """Spheres of `count` configurations from `start` on: what they accept, and what is left to meshes.

    Returns (alive, asked, n) as bits of lanes: `alive` are those that no pair decided by spheres refuses, `asked` those
    of them that meshes must decide, for the pairs refused[:n] in the lanes lanes[:n]; n is -1 for a bad row.
    """
    bodies, moving, links, clusters, pairs, local, points = tables(ints, floats)
    poses, world, _, trig = views(ints, work)
    if not expand(cfgs, start, count, moving, doubles, q_full):
        return 0, 0, -1
    body_poses(bodies, local, q_full, trig, poses)
    nl = len(links)
    for link in range(nl):
        ready[link] = 0
        place(poses, links[link, 0] * POSE, points, link, 1, world)
    alive = (1 << count) - 1
    asked, n_refused = 0, 0
    for k in range(len(pairs)):
        a, b = pairs[k, 0], pairs[k, 1]
        pad = pads[k]
        mask = hits(world, a * POINT, b * POINT, points[4 * a + 3] + points[4 * b + 3] + pad) & alive
        if mask:
            need(a, ready, links, poses, points, world)
            need(b, ready, links, poses, points, world)
            mask &= pair_mask(a, b, pad, mask, links, clusters, nl, points, world)
            if mask == 0:
                continue
            if by_mesh[k]:
                refused[n_refused], lanes[n_refused] = k, mask
                n_refused += 1
                asked |= mask
            else:
                alive &= ~mask
                if alive == 0:
                    break
    return alive, asked & alive, n_refused


@njit(cache=True, nogil=True, error_model="numpy")
def mesh_scratch(scene, frames, nodes, buffer):
    """What `meshes_refuse` works with: poses of bodies and links, flags, and the scratch of walks and distances."""
    joints, links, _, _, _ = scene_tables(scene, frames)
    poses = np.empty((len(joints), ROW)), np.empty((max(1, len(links)), ROW))
    return (
        poses,
        np.empty(len(links), np.uint8),
        walk_scratch(),
        distance_scratch(nodes, links[:0] if buffer is None else links),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def meshes_refuse(
    lane, q_full, pairs, refused, lanes, n_refused, scene, frames, nodes, tris, buffer, scratch_all
):
    """Whether the meshes of a refused pair touch, or come closer than `buffer`, in one lane.

    A `buffer` of None is a type of its own to numba, which then leaves out, and need not compile, the distances.
    """
    joints, links, _, at_rest, placed = scene_tables(scene, frames)
    (bodies, rows), ready, (stack, codes, scratch, w, rel, inv), (bounds, p, aim, spans, hint) = scratch_all
    pose_bodies(joints, at_rest, q_full, LANES, lane, bodies)
    ready[:] = 0
    for i in range(n_refused):
        if not (lanes[i] >> lane) & 1:
            continue
        a, b = pairs[refused[i], 0], pairs[refused[i], 1]
        place_link(a, links, placed, bodies, ready, rows)
        place_link(b, links, placed, bodies, ready, rows)
        relative_pose(rows[a], rows[b], rel)
        ra, rb = links[a, LINK_ROOT], links[b, LINK_ROOT]
        if pair_state(nodes, tris, ra, nodes, tris, rb, rel, inv, stack, codes, scratch, w, True) != APART:
            return True
        if buffer is not None:
            inverse_pose(rel, inv)
            hint[:] = -1
            limit = 1.01 * buffer * buffer
            gap = surface_distance(
                nodes, tris, ra, nodes, tris, rb, rel, inv, limit, stack, bounds, scratch, p, aim, spans, hint
            )
            if gap <= buffer * buffer:
                return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def lane_scratch(ints):
    """What `spheres_refuse` works with besides the workspace: joint values, flags, refused pairs and their lanes."""
    _, moving, links, _, pairs, _, _ = tables(ints, np.empty(0, np.float32))
    n = len(pairs)
    q_full = np.empty(max(1, len(moving)) * LANES)
    return q_full, np.empty(len(links), np.uint8), np.empty(n, np.int64), np.empty(n, np.int64)


@njit(cache=True, nogil=True, error_model="numpy")
def decide(cfgs, work, ints, floats, doubles, pads, scene, frames, nodes, tris, buffer, out):
    """out[row] = 1 when the configuration is free; returns the first bad row or -1.

    With a `buffer` (None, or above zero), meshes that are apart must be farther apart than it.
    """
    q_full, ready, refused, lanes = lane_scratch(ints)
    pairs, by_mesh = tables(ints, floats)[4], scene_tables(scene, frames)[2]
    scratch = mesh_scratch(scene, frames, nodes, buffer)
    for start in range(0, len(cfgs), LANES):
        count = min(LANES, len(cfgs) - start)
        alive, asked, n = spheres_refuse(
            cfgs, start, count, ints, floats, doubles, pads, work, by_mesh, q_full, ready, refused, lanes
        )
        if n < 0:
            return start
        for lane in range(count):
            if (asked >> lane) & 1 and meshes_refuse(
                lane, q_full, pairs, refused, lanes, n, scene, frames, nodes, tris, buffer, scratch
            ):
                alive &= ~(1 << lane)
            out[start + lane] = (alive >> lane) & 1
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def decide_one(cfgs, work, ints, floats, doubles, pads, scene, frames, nodes, tris, buffer):
    """1 when the one row is free, 0 when it is not, -1 when it is bad; meshes get scratch only when they are asked."""
    q_full, ready, refused, lanes = lane_scratch(ints)
    by_mesh = scene_tables(scene, frames)[2]
    alive, asked, n = spheres_refuse(
        cfgs, 0, 1, ints, floats, doubles, pads, work, by_mesh, q_full, ready, refused, lanes
    )
    if n < 0:
        return -1
    if asked:
        pairs = tables(ints, floats)[4]
        scratch = mesh_scratch(scene, frames, nodes, buffer)
        if meshes_refuse(0, q_full, pairs, refused, lanes, n, scene, frames, nodes, tris, buffer, scratch):
            return 0
    return alive


@njit(cache=True, nogil=True, error_model="numpy")
def mesh_gaps(q_full, bounds, exact, pairs, scene, frames, nodes, tris, out, closest, touching):
    """out[row]: a lower bound of the smallest clearance; with `exact`, the smallest distance of pairs that are apart.

    Args:
        q_full: (n, moving) joint values, coupled joints included.
        bounds: (n, pairs) lower bounds of the clearance, by spheres.
        exact: measure the closest pair; else meshes are asked only where the bounds are not positive.
        pairs: (pairs, 2) numbers of the links in the scene.
        closest: (n,) receives the pair that `out` is of, -1 for none.
        touching: (n, pairs) receives 1 where meshes were found to touch. Without `exact` such a pair's clearance is
            bounded by what parts the boxes around its two meshes; with `exact` it is left out of `out`.
    """
    joints, links, by_mesh, at_rest, placed = scene_tables(scene, frames)
    nl = len(links)
    ready = np.empty(nl, np.uint8)
    poses, rows = np.empty((len(joints), ROW)), np.empty((max(1, nl), ROW))
    stack, codes, scratch, w, rel, inv = walk_scratch()
    search, p, aim, spans, hint = distance_scratch(nodes, links)
    for row in range(len(q_full)):
        pose_bodies(joints, at_rest, q_full[row], 1, 0, poses)
        ready[:] = 0
        best, of = np.inf, -1
        order = np.argsort(bounds[row])
        for i in range(len(order)):
            k = order[i]
            if exact and bounds[row, k] >= max(best, 0.0):  # below zero, spheres do not bound depths
                break
            if by_mesh[k] == 0 or (bounds[row, k] > 0.0 and not exact):
                if bounds[row, k] < best:
                    best, of = bounds[row, k], k
                continue
            a, b = pairs[k, 0], pairs[k, 1]
            place_link(a, links, placed, poses, ready, rows)
            place_link(b, links, placed, poses, ready, rows)
            relative_pose(rows[a], rows[b], rel)
            ra, rb = links[a, LINK_ROOT], links[b, LINK_ROOT]
            if (
                pair_state(nodes, tris, ra, nodes, tris, rb, rel, inv, stack, codes, scratch, w, True)
                != APART
            ):
                touching[row, k] = 1
                if not exact:
                    gap = min(0.0, box_gap(nodes, ra, nodes, rb, rel, 0.0))
                    if gap < best:
                        best, of = gap, k
                continue
            inverse_pose(rel, inv)
            hint[:] = -1
            limit = max(best, 0.0) ** 2 if best < np.inf else FAR
            gap = surface_distance(
                nodes, tris, ra, nodes, tris, rb, rel, inv, limit, stack, search, scratch, p, aim, spans, hint
            )
            gap = np.sqrt(gap) * (1.0 if exact else 1.0 - SEARCH)
            if gap < best:
                best, of = gap, k
        out[row], closest[row] = best, of
