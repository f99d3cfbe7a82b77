"""Kernels behind the public calls: many poses of one pair, many pairs of a scene, contacts as rows.

The state of a pair is 0 (apart), 1 (the surfaces meet), 2 (a part of A is inside B) or 3 (a part of B is inside A);
2 and 3 are looked for only with closed pieces and only where the surfaces do not meet.

Constants handed to other kernels are wrapped (`np.int64(1)`): numba would compile a version for each literal.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from .._jit import njit
from ._kernels_contact import face_point, intersection_segment, touch_point, touches_only
from ._kernels_features import on_both
from ._kernels_inside import point_inside
from ._kernels_lanes import (
    ASK,
    BATCH,
    LOADED,
    SEPARATE,
    axis_lanes,
    load_pairs,
    overlap_lanes,
    pack_hits,
    pose_lanes,
    test_lanes,
    unpack,
    whole_lanes,
)
from ._kernels_query import (
    FASTMATH,
    HEADER_CLOSED,
    HEADER_FIRST_REP,
    HEADER_REPS,
    SCRATCH_ROWS,
    inverse_pose,
    pose_triangle,
    relative_pose,
    touch_tolerance,
    walk,
)
from ._kernels_tritri import EDGE_EDGE, nearly_parallel, prepare, triangles_meet
from ._kernels_wide import LANES

STACK = 2048
"""Entries of a traversal stack; two trees of 2**30 triangles are below 200 deep together, 7 entries a level."""
APART, SURFACES, A_IN_B, B_IN_A = 0, 1, 2, 3
"""States of a pair."""
CONTACT_WIDTH = 9
"""Numbers in a contact row: point, normal, depth, triangle of A, triangle of B (leaf order)."""


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def spheres_apart(na, ra, nb, rb, rel):
    """Are the balls around the two root boxes apart?"""
    x, y, z = nb[rb, 0], nb[rb, 1], nb[rb, 2]
    dx = rel[0] * x + rel[1] * y + rel[2] * z + rel[9] - na[ra, 0]
    dy = rel[3] * x + rel[4] * y + rel[5] * z + rel[10] - na[ra, 1]
    dz = rel[6] * x + rel[7] * y + rel[8] * z + rel[11] - na[ra, 2]
    a = na[ra, 3] ** 2 + na[ra, 4] ** 2 + na[ra, 5] ** 2
    b = nb[rb, 3] ** 2 + nb[rb, 4] ** 2 + nb[rb, 5] ** 2
    # (sqrt a + sqrt b)^2 <= 2 (a + b): try without roots first.
    d = dx * dx + dy * dy + dz * dz
    if d <= a + b:
        return False
    return d > (np.sqrt(a) + np.sqrt(b)) ** 2 * (1.0 + 1e-9)


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def boxes_apart(na, ra, nb, rb, rel):
    """Does an axis of one of the two root boxes separate them? Cheaper than setting up a walk that ends at once."""
    return box_gap(na, ra, nb, rb, rel, touch_tolerance(na, ra, nb, rb, rel)) > 0.0


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def box_gap(na, ra, nb, rb, rel, tol):
    """Largest gap between the two root boxes, grown by `tol`, along an axis of one of them.

    Where it is negative, moving along that axis by as much parts the boxes and what is in them.
    """
    x, y, z = nb[rb, 0], nb[rb, 1], nb[rb, 2]
    dx = rel[0] * x + rel[1] * y + rel[2] * z + rel[9] - na[ra, 0]
    dy = rel[3] * x + rel[4] * y + rel[5] * z + rel[10] - na[ra, 1]
    dz = rel[6] * x + rel[7] * y + rel[8] * z + rel[11] - na[ra, 2]
    gx, gy, gz = na[ra, 3] + tol, na[ra, 4] + tol, na[ra, 5] + tol
    hx, hy, hz = nb[rb, 3] + tol, nb[rb, 4] + tol, nb[rb, 5] + tol
    gap = max(
        abs(dx) - gx - abs(rel[0]) * hx - abs(rel[1]) * hy - abs(rel[2]) * hz,
        abs(dy) - gy - abs(rel[3]) * hx - abs(rel[4]) * hy - abs(rel[5]) * hz,
        abs(dz) - gz - abs(rel[6]) * hx - abs(rel[7]) * hy - abs(rel[8]) * hz,
    )
    u = abs(rel[0] * dx + rel[3] * dy + rel[6] * dz) - hx
    v = abs(rel[1] * dx + rel[4] * dy + rel[7] * dz) - hy
    w = abs(rel[2] * dx + rel[5] * dy + rel[8] * dz) - hz
    return max(
        gap,
        u - abs(rel[0]) * gx - abs(rel[3]) * gy - abs(rel[6]) * gz,
        v - abs(rel[1]) * gx - abs(rel[4]) * gy - abs(rel[7]) * gz,
        w - abs(rel[2]) * gx - abs(rel[5]) * gy - abs(rel[8]) * gz,
    )


@njit(cache=True, error_model="numpy")
def part_inside(na, ta, ra, nb, tb, rb, inv, stack):
    """Is one of A's components (by its stored point) inside the closed pieces of B? `inv` maps A's frame into B's."""
    first = int(na[ra - 1, HEADER_FIRST_REP])
    for i in range(first, first + int(na[ra - 1, HEADER_REPS])):
        x, y, z = ta[i, 0], ta[i, 1], ta[i, 2]
        px = inv[0] * x + inv[1] * y + inv[2] * z + inv[9]
        py = inv[3] * x + inv[4] * y + inv[5] * z + inv[10]
        pz = inv[6] * x + inv[7] * y + inv[8] * z + inv[11]
        if point_inside(nb, tb, rb, px, py, pz, stack):
            return True
    return False


@njit(cache=True, error_model="numpy")
def containment(na, ta, ra, nb, tb, rb, rel, inv, stack):
    """State of a pair whose surfaces do not meet: A_IN_B, B_IN_A or APART."""
    if nb[rb - 1, HEADER_CLOSED] > 0.0 and part_inside(na, ta, ra, nb, tb, rb, inv, stack):
        return A_IN_B
    if na[ra - 1, HEADER_CLOSED] > 0.0 and part_inside(nb, tb, rb, na, ta, ra, rel, stack):
        return B_IN_A
    return APART


@njit(cache=True, error_model="numpy")
def pair_state(na, ta, ra, nb, tb, rb, rel, inv, stack, codes, scratch, w, contain):
    """State of one posed pair; `inv` is filled here."""
    if spheres_apart(na, ra, nb, rb, rel) or boxes_apart(na, ra, nb, rb, rel):
        return APART
    inverse_pose(rel, inv)
    tol = touch_tolerance(na, ra, nb, rb, rel)
    if walk(na, ta, ra, nb, tb, rb, rel, inv, tol, stack, stack, codes, scratch, w, np.int64(0)) > 0:
        return SURFACES
    if contain:
        return containment(na, ta, ra, nb, tb, rb, rel, inv, stack)
    return APART


@njit(cache=True, error_model="numpy")
def walk_scratch():
    """What `walk` works with: stack, codes, scratch, rows `w`, and room for a relative pose and its inverse."""
    stack = np.empty(STACK, np.int64)
    codes, scratch = np.empty(LANES, np.int64), np.empty((SCRATCH_ROWS, 9))
    w, rel, inv = np.empty((32, 3)), np.empty(12), np.empty(12)
    return stack, codes, scratch, w, rel, inv


@njit(cache=True, error_model="numpy", nogil=True)
def batch_states(na, ta, nb, tb, poses_a, poses_b, out, contain):
    """State of one pair of meshes in every pose; pose arrays are (n, 12) or (1, 12)."""
    root = np.int64(1)
    step_a, step_b = int(poses_a.shape[0] > 1), int(poses_b.shape[0] > 1)
    stack, codes, scratch, w, rel, inv = walk_scratch()
    for i in range(out.shape[0]):
        relative_pose(poses_a[step_a * i], poses_b[step_b * i], rel)
        out[i] = pair_state(na, ta, root, nb, tb, root, rel, inv, stack, codes, scratch, w, contain)


@njit(cache=True, error_model="numpy", nogil=True)
def scene_states(nodes, tris, roots, poses, pairs, out, contain, first_only):
    """State of every pair of a scene in every pose.

    `poses` (n, meshes, 12), `pairs` (k, 2), `out` (n, k). With `first_only`, the pairs after the first that is not
    apart are left as they were; the pair that collided last is tried first, since neighbouring poses tend to agree.
    """
    stack, codes, scratch, w, rel, inv = walk_scratch()
    last = 0
    n_pairs = pairs.shape[0]
    for i in range(poses.shape[0]):
        for s in range(n_pairs):
            k = (last + s) % n_pairs if first_only else s
            a, b = pairs[k, 0], pairs[k, 1]
            relative_pose(poses[i, a], poses[i, b], rel)
            out[i, k] = pair_state(
                nodes, tris, roots[a], nodes, tris, roots[b], rel, inv, stack, codes, scratch, w, contain
            )
            if first_only and out[i, k] != APART:
                last = k
                break


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def to_world(pose, rows, i):
    """Move the point and the normal of contact row `i` into the world."""
    for c in range(0, 6, 3):
        x, y, z = rows[i, c], rows[i, c + 1], rows[i, c + 2]
        shift = 1.0 if c == 0 else 0.0
        rows[i, c] = pose[0] * x + pose[1] * y + pose[2] * z + shift * pose[9]
        rows[i, c + 1] = pose[3] * x + pose[4] * y + pose[5] * z + shift * pose[10]
        rows[i, c + 2] = pose[6] * x + pose[7] * y + pose[8] * z + shift * pose[11]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def write_contacts(ta, hits, names, n, answers, pose_a, w, rows, start):
    """Contacts of the `n` pairs in the lanes of `hits`, to rows[start:] in the world frame as far as there is room."""
    whole = whole_lanes(n)
    overlap_lanes(hits, answers, answers[:whole])
    axis_lanes(hits, answers, answers[:whole])
    for h in range(min(n, rows.shape[0] - start)):
        i = names[h] >> 32
        row = start + h
        kind = int(answers[h]) & 3
        x, y, z, depth = (
            answers[3 * BATCH + h],
            answers[4 * BATCH + h],
            answers[5 * BATCH + h],
            answers[6 * BATCH + h],
        )
        touches = touches_only(ta, i, depth)
        if kind != EDGE_EDGE or touches:
            unpack(hits, h, w)
        if kind == EDGE_EDGE:
            px, py, pz = answers[7 * BATCH + h], answers[8 * BATCH + h], answers[9 * BATCH + h]
        else:
            px, py, pz = face_point(w, kind, x, y, z, depth)
        if touches:
            px, py, pz = touch_point(w, px, py, pz)
        rows[row, 0], rows[row, 1], rows[row, 2] = px + ta[i, 0], py + ta[i, 1], pz + ta[i, 2]
        rows[row, 3], rows[row, 4], rows[row, 5], rows[row, 6] = x, y, z, depth
        to_world(pose_a, rows, row)
        rows[row, 7] = i
        rows[row, 8] = names[h] & 0xFFFFFFFF


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def contact_rows(na, ta, nb, tb, rel, pose_a, found, n_found, scratch, w, lanes, names, rows, start):
    """Contacts of the triangle pairs found[:n_found], to rows[start:] in the world frame.

    `lanes` (4, ...) and `names` are scratch. Returns the number of contacts, which may exceed what `rows` can hold.
    """
    root = np.int64(1)
    tol = touch_tolerance(na, root, nb, root, rel)
    pairs, hits, answers, verdict = lanes[0], lanes[1], lanes[2], lanes[3]
    count, n_hits = start, 0
    for begin in range(0, n_found, BATCH):
        n = min(BATCH, n_found - begin)
        load_pairs(ta, tb, found, begin, n, pairs)
        whole = whole_lanes(n)
        pose_lanes(pairs, rel, verdict[:whole])
        test_lanes(pairs, tol, verdict[:whole])
        for k in range(n):
            if verdict[k] == SEPARATE:
                continue
            code = found[begin + k]
            if verdict[k] == ASK:
                pose_triangle(tb, code & 0xFFFFFFFF, rel, scratch, 0)
                if not triangles_meet(ta, code >> 32, scratch, 0, tol, w):
                    continue
            pack_hits(pairs, k, hits, n_hits)
            names[n_hits] = code
            n_hits += 1
            if n_hits == BATCH:
                write_contacts(ta, hits, names, n_hits, answers, pose_a, w, rows, count)
                count += n_hits
                n_hits = 0
    write_contacts(ta, hits, names, n_hits, answers, pose_a, w, rows, count)
    return count + n_hits - start


@njit(cache=True, error_model="numpy", nogil=True)
def batch_contacts(na, ta, nb, tb, poses_a, poses_b, begin, starts, found, rows):
    """Contacts of one pair of meshes in the poses from `begin` on, appended to `rows` from starts[begin].

    Fills starts[i + 1]. Returns (poses done, triangle pairs needed, rows needed): the first is short of all when a
    buffer was too small for the next pose.
    """
    root, collect = np.int64(1), np.int64(1)
    lanes, names = np.zeros((4, LOADED * BATCH)), np.empty(BATCH, np.int64)
    step_a, step_b = int(poses_a.shape[0] > 1), int(poses_b.shape[0] > 1)
    stack, codes, scratch, w, rel, inv = walk_scratch()
    for i in range(begin, starts.shape[0] - 1):
        starts[i + 1] = starts[i]
        relative_pose(poses_a[step_a * i], poses_b[step_b * i], rel)
        if spheres_apart(na, root, nb, root, rel):
            continue
        inverse_pose(rel, inv)
        tol = touch_tolerance(na, root, nb, root, rel)
        n = walk(na, ta, root, nb, tb, root, rel, inv, tol, stack, found, codes, scratch, w, collect)
        if n > found.shape[0]:
            return i, n, 0
        pose_a, start = poses_a[step_a * i], starts[i]
        count = contact_rows(na, ta, nb, tb, rel, pose_a, found, n, scratch, w, lanes, names, rows, start)
        if starts[i] + count > rows.shape[0]:
            return i, 0, starts[i] + count
        starts[i + 1] = starts[i] + count
    return starts.shape[0] - 1, 0, 0


@njit(cache=True, error_model="numpy", nogil=True)
def close_pairs(na, ta, nb, tb, pose_a, pose_b, found):
    """Triangle pairs whose bounds meet, as `walk` collects them; returns their number."""
    stack, codes, scratch, w, rel, inv = walk_scratch()
    relative_pose(pose_a, pose_b, rel)
    inverse_pose(rel, inv)
    root, collect = np.int64(1), np.int64(1)
    tol = touch_tolerance(na, root, nb, root, rel)
    return walk(na, ta, root, nb, tb, root, rel, inv, tol, stack, found, codes, scratch, w, collect)


@njit(cache=True, error_model="numpy", nogil=True)
def contact_segments(ta, tb, pose_a, pose_b, tri_a, tri_b, out):
    """Segments shared by triangles that meet, world frame, along normal A x normal B; NaN for parallel planes.

    Where triangles only touch, both ends are points that they share.
    """
    rel, w, scratch = np.empty(12), np.empty((32, 3)), np.empty((1, 9))
    relative_pose(pose_a, pose_b, rel)
    for k in range(tri_a.shape[0]):
        pose_triangle(tb, tri_b[k], rel, scratch, 0)
        prepare(ta, tri_a[k], scratch, 0, w)
        if nearly_parallel(w):
            for c in range(6):
                out[k, c] = np.nan
            continue
        intersection_segment(w)
        for c in range(3):
            out[k, c] = w[12, c] + ta[tri_a[k], c]
            out[k, 3 + c] = w[13, c] + ta[tri_a[k], c]
        for c in range(0, 6, 3):
            x, y, z = out[k, c], out[k, c + 1], out[k, c + 2]
            x, y, z = on_both(ta, tri_a[k], scratch, 0, x, y, z, w[12:14])
            for r in range(3):
                out[k, c + r] = (
                    pose_a[3 * r] * x + pose_a[3 * r + 1] * y + pose_a[3 * r + 2] * z + pose_a[9 + r]
                )
