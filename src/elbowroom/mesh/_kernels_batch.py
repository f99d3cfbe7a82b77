"""Kernels behind the public calls: many poses of one pair, many pairs of a scene, contacts as rows.

The state of a pair is 0 (apart), 1 (the surfaces meet), 2 (a part of A is inside B) or 3 (a part of B is inside A);
2 and 3 are looked for only between closed meshes and only where the surfaces do not meet.

Constants handed to other kernels are wrapped (`np.int64(1)`): numba would compile a version for each literal.
"""

# pyright: basic
from __future__ import annotations

import numpy as np
from numba import njit

from ._kernels_build import LEAF_TRIANGLES
from ._kernels_contact import intersection_segment, triangle_contact
from ._kernels_inside import point_inside
from ._kernels_query import (
    FASTMATH,
    HEADER_FIRST_REP,
    HEADER_REPS,
    HEADER_SOLID,
    inverse_pose,
    pose_triangle,
    relative_pose,
    touch_tolerance,
    walk,
)
from ._kernels_tritri import nearly_parallel, plane_gap, prepare, triangles_meet

STACK = 1024
"""Entries of a traversal stack; the depth of two trees of 2**30 triangles is below 200."""
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


@njit(cache=True, error_model="numpy")
def part_inside(na, ta, ra, nb, tb, rb, inv, stack):
    """Is one of A's components (by its stored point) inside the closed mesh B? `inv` maps A's frame into B's."""
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
    if nb[rb - 1, HEADER_SOLID] > 0.0 and part_inside(na, ta, ra, nb, tb, rb, inv, stack):
        return A_IN_B
    if na[ra - 1, HEADER_SOLID] > 0.0 and part_inside(nb, tb, rb, na, ta, ra, rel, stack):
        return B_IN_A
    return APART


@njit(cache=True, error_model="numpy")
def pair_state(na, ta, ra, nb, tb, rb, rel, inv, stack, scratch, w, solid):
    """State of one posed pair; `inv` is filled here."""
    if spheres_apart(na, ra, nb, rb, rel):
        return APART
    inverse_pose(rel, inv)
    if walk(na, ta, ra, nb, tb, rb, rel, inv, stack, stack, scratch, w, np.int64(0)) > 0:
        return SURFACES
    if solid:
        return containment(na, ta, ra, nb, tb, rb, rel, inv, stack)
    return APART


@njit(cache=True, error_model="numpy", nogil=True)
def batch_states(na, ta, nb, tb, poses_a, poses_b, out, solid):
    """State of one pair of meshes in every pose; pose arrays are (n, 12) or (1, 12)."""
    root = np.int64(1)
    step_a, step_b = int(poses_a.shape[0] > 1), int(poses_b.shape[0] > 1)
    stack = np.empty(STACK, np.int64)
    scratch, w, rel, inv = np.empty((1, 9)), np.empty((32, 3)), np.empty(12), np.empty(12)
    for i in range(out.shape[0]):
        relative_pose(poses_a[step_a * i], poses_b[step_b * i], rel)
        out[i] = pair_state(na, ta, root, nb, tb, root, rel, inv, stack, scratch, w, solid)


@njit(cache=True, error_model="numpy", nogil=True)
def scene_states(nodes, tris, roots, poses, pairs, out, solid, first_only):
    """State of every pair of a scene in every pose.

    `poses` (n, meshes, 12), `pairs` (k, 2), `out` (n, k). With `first_only`, the pairs after the first that is not
    apart are left as they were; the pair that collided last is tried first, since neighbouring poses tend to agree.
    """
    stack = np.empty(STACK, np.int64)
    scratch, w, rel, inv = np.empty((1, 9)), np.empty((32, 3)), np.empty(12), np.empty(12)
    last = 0
    n_pairs = pairs.shape[0]
    for i in range(poses.shape[0]):
        for s in range(n_pairs):
            k = (last + s) % n_pairs if first_only else s
            a, b = pairs[k, 0], pairs[k, 1]
            relative_pose(poses[i, a], poses[i, b], rel)
            out[i, k] = pair_state(
                nodes, tris, roots[a], nodes, tris, roots[b], rel, inv, stack, scratch, w, solid
            )
            if first_only and out[i, k] != APART:
                last = k
                break


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def _to_world(pose, rows, i):
    for c in range(0, 6, 3):
        x, y, z = rows[i, c], rows[i, c + 1], rows[i, c + 2]
        shift = 1.0 if c == 0 else 0.0
        rows[i, c] = pose[0] * x + pose[1] * y + pose[2] * z + shift * pose[9]
        rows[i, c + 1] = pose[3] * x + pose[4] * y + pose[5] * z + shift * pose[10]
        rows[i, c + 2] = pose[6] * x + pose[7] * y + pose[8] * z + shift * pose[11]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def crossing_planes(na, ta, nb, tb, rel, found, n_found, tol, scratch, close):
    """Triangle pairs of the leaf pairs found[:n_found] that neither triangle's plane separates, to `close`.

    Codes are triangle of A << 32 | triangle of B; returns their number. No branches: see `_kernels_query`.
    """
    count = 0
    for f in range(n_found):
        ia = found[f] >> 32
        ib = found[f] & 0xFFFFFFFF
        first_a, first_b = int(na[ia, 6]), int(nb[ib, 6])
        end_a, end_b = first_a + int(na[ia, 7]), first_b + int(nb[ib, 7])
        for j in range(first_b, end_b):
            pose_triangle(tb, j, rel, scratch, 0)
            for i in range(first_a, end_a):
                close[count] = (i << 32) | j
                count += int(plane_gap(ta, i, scratch, 0, tol) <= 0.0)
    return count


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def contact_rows(na, ta, ra, nb, tb, rb, rel, pose_a, found, n_found, scratch, w, close, rows, start):
    """Contacts of the triangles in the leaf pairs found[:n_found], to rows[start:] in the world frame.

    `close` is scratch for pairs of triangles. Returns the number of contacts, which may exceed what `rows` can hold.
    """
    tol = touch_tolerance(na, ra, nb, rb, rel)
    n_close = crossing_planes(na, ta, nb, tb, rel, found, n_found, tol, scratch, close)
    count = start
    posed = np.int64(-1)
    for k in range(n_close):
        i = close[k] >> 32
        j = close[k] & 0xFFFFFFFF
        if j != posed:
            pose_triangle(tb, j, rel, scratch, 0)
            posed = j
        if triangles_meet(ta, i, scratch, 0, tol, w):
            if count < rows.shape[0]:
                triangle_contact(ta, i, scratch, 0, w, rows, count)
                _to_world(pose_a, rows, count)
                rows[count, 7] = i
                rows[count, 8] = j
            count += 1
    return count - start


@njit(cache=True, error_model="numpy", nogil=True)
def batch_contacts(na, ta, nb, tb, poses_a, poses_b, begin, starts, found, rows):
    """Contacts of one pair of meshes in the poses from `begin` on, appended to `rows` from starts[begin].

    Fills starts[i + 1]. Returns (poses done, leaf pairs needed, rows needed): the first is short of all when a
    buffer was too small for the next pose.
    """
    root, collect = np.int64(1), np.int64(1)
    close = np.empty(LEAF_TRIANGLES * LEAF_TRIANGLES * found.shape[0] + 1, np.int64)
    step_a, step_b = int(poses_a.shape[0] > 1), int(poses_b.shape[0] > 1)
    stack = np.empty(STACK, np.int64)
    scratch, w, rel, inv = np.empty((1, 9)), np.empty((32, 3)), np.empty(12), np.empty(12)
    for i in range(begin, starts.shape[0] - 1):
        starts[i + 1] = starts[i]
        relative_pose(poses_a[step_a * i], poses_b[step_b * i], rel)
        if spheres_apart(na, root, nb, root, rel):
            continue
        inverse_pose(rel, inv)
        n = walk(na, ta, root, nb, tb, root, rel, inv, stack, found, scratch, w, collect)
        if n > found.shape[0]:
            return i, n, 0
        count = contact_rows(
            na, ta, root, nb, tb, root, rel, poses_a[step_a * i], found, n, scratch, w, close, rows, starts[i]
        )
        if starts[i] + count > rows.shape[0]:
            return i, 0, starts[i] + count
        starts[i + 1] = starts[i] + count
    return starts.shape[0] - 1, 0, 0


@njit(cache=True, error_model="numpy", nogil=True)
def leaf_pairs(na, ta, nb, tb, pose_a, pose_b, found):
    """Leaf pairs whose volumes meet, as `walk` collects them; returns their number."""
    stack = np.empty(STACK, np.int64)
    scratch, w, rel, inv = np.empty((1, 9)), np.empty((32, 3)), np.empty(12), np.empty(12)
    relative_pose(pose_a, pose_b, rel)
    inverse_pose(rel, inv)
    root, collect = np.int64(1), np.int64(1)
    return walk(na, ta, root, nb, tb, root, rel, inv, stack, found, scratch, w, collect)


@njit(cache=True, error_model="numpy", nogil=True)
def contact_segments(ta, tb, pose_a, pose_b, tri_a, tri_b, out):
    """Segments shared by crossing triangles, world frame, along normal A x normal B; NaN for parallel planes."""
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
            for r in range(3):
                out[k, c + r] = (
                    pose_a[3 * r] * x + pose_a[3 * r + 1] * y + pose_a[3 * r + 2] * z + pose_a[9 + r]
                )
