"""Dual tree traversal: does a pair of posed meshes meet, and which triangles are close.

Boxes are tested in A's frame with the relative rotation fixed once per query: three axes of A and three of B
(Gottschalk's test without the nine crosses, which cost more than they prune here). The larger box is opened first
and the nearer child is visited first, so that a collision is found early. Tests run without branches: mispredictions
cost more than the arithmetic they would save.

Arguments are arrays only: `na`, `ta` are the nodes (rows of 8) and triangles (rows of 9) of A, `ra` the row of its
root, whose header is the row before it; `rel` is the pose of B in A's frame, rotation by rows then translation.
"""

# pyright: basic
from __future__ import annotations

from numba import njit

from ._kernels_tritri import FASTMATH, triangles_meet

TOUCH = 1e-13
"""Gaps below this fraction of the scene's size are touching: some 100 roundings of a float64."""
HEADER_SOLID, HEADER_REPS, HEADER_FIRST_REP, HEADER_SCALE = 0, 1, 2, 3
"""Columns of a header row: solid flag, number of components, row of the first one's point, largest coordinate."""
HEADER_TRIANGLES, HEADER_FIRST_TRIANGLE, HEADER_NODES = 4, 5, 6
"""More columns: number of triangles, row of the first one, number of nodes."""


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def relative_pose(pose_a, pose_b, rel):
    """Pose of B in A's frame; all three are rows of 12 (rotation by rows, translation)."""
    dx, dy, dz = pose_b[9] - pose_a[9], pose_b[10] - pose_a[10], pose_b[11] - pose_a[11]
    for i in range(3):
        u, v, w = pose_a[i], pose_a[3 + i], pose_a[6 + i]
        for j in range(3):
            rel[3 * i + j] = u * pose_b[j] + v * pose_b[3 + j] + w * pose_b[6 + j]
        rel[9 + i] = u * dx + v * dy + w * dz


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def pose_triangle(tris, i, rel, out, row):
    """Triangle `i` moved by `rel` into out[row]."""
    for k in range(0, 9, 3):
        x, y, z = tris[i, k], tris[i, k + 1], tris[i, k + 2]
        out[row, k] = rel[0] * x + rel[1] * y + rel[2] * z + rel[9]
        out[row, k + 1] = rel[3] * x + rel[4] * y + rel[5] * z + rel[10]
        out[row, k + 2] = rel[6] * x + rel[7] * y + rel[8] * z + rel[11]


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def touch_tolerance(na, ra, nb, rb, rel):
    """Length below which a gap is touching, for this pair and pose."""
    far = max(abs(rel[9]), abs(rel[10]), abs(rel[11]))
    return TOUCH * (na[ra - 1, HEADER_SCALE] + nb[rb - 1, HEADER_SCALE] + far)


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def inverse_pose(rel, inv):
    """Pose of A in B's frame from the pose of B in A's frame."""
    for i in range(3):
        for j in range(3):
            inv[3 * i + j] = rel[3 * j + i]
        inv[9 + i] = -(rel[i] * rel[9] + rel[3 + i] * rel[10] + rel[6 + i] * rel[11])


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, inline="always")
def open_node(opened, child, fixed, j, f, tol):
    """Test the two children at rows `child`, `child + 1` of `opened` against node `j` of `fixed`.

    `f` maps coordinates of `fixed` into the frame of `opened`. Returns for each child whether it may touch the node,
    and the squared distances between the centres.
    """
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]
    x, y, z = fixed[j, 0], fixed[j, 1], fixed[j, 2]
    bx = r00 * x + r01 * y + r02 * z + f[9]
    by = r10 * x + r11 * y + r12 * z + f[10]
    bz = r20 * x + r21 * y + r22 * z + f[11]
    hx, hy, hz = fixed[j, 3] + tol, fixed[j, 4] + tol, fixed[j, 5] + tol
    ex = abs(r00) * hx + abs(r01) * hy + abs(r02) * hz
    ey = abs(r10) * hx + abs(r11) * hy + abs(r12) * hz
    ez = abs(r20) * hx + abs(r21) * hy + abs(r22) * hz
    u, v, q = fixed[j, 8], fixed[j, 9], fixed[j, 10]
    mx, my, mz = r00 * u + r01 * v + r02 * q, r10 * u + r11 * v + r12 * q, r20 * u + r21 * v + r22 * q
    m0 = mx * f[9] + my * f[10] + mz * f[11] + fixed[j, 11]
    thick = fixed[j, 12] + tol
    hit0 = False
    near0 = 0.0
    hit = False
    near = 0.0
    for k in range(2):
        c = child + k
        dx, dy, dz = bx - opened[c, 0], by - opened[c, 1], bz - opened[c, 2]
        gx, gy, gz = opened[c, 3], opened[c, 4], opened[c, 5]
        gap = max(abs(dx) - ex - gx, abs(dy) - ey - gy, abs(dz) - ez - gz)
        gap = max(
            gap, abs(r00 * dx + r10 * dy + r20 * dz) - hx - abs(r00) * gx - abs(r10) * gy - abs(r20) * gz
        )
        gap = max(
            gap, abs(r01 * dx + r11 * dy + r21 * dz) - hy - abs(r01) * gx - abs(r11) * gy - abs(r21) * gz
        )
        gap = max(
            gap, abs(r02 * dx + r12 * dy + r22 * dz) - hz - abs(r02) * gx - abs(r12) * gy - abs(r22) * gz
        )
        off = mx * opened[c, 0] + my * opened[c, 1] + mz * opened[c, 2] - m0
        gap = max(gap, abs(off) - thick - abs(mx) * gx - abs(my) * gy - abs(mz) * gz)
        x, y, z = opened[c, 8], opened[c, 9], opened[c, 10]
        off = x * bx + y * by + z * bz - opened[c, 11]
        reach = abs(x * r00 + y * r10 + z * r20) * hx + abs(x * r01 + y * r11 + z * r21) * hy
        gap = max(gap, abs(off) - opened[c, 12] - tol - reach - abs(x * r02 + y * r12 + z * r22) * hz)
        hit = gap <= 0.0
        near = dx * dx + dy * dy + dz * dz
        if k == 0:
            hit0, near0 = hit, near
    return hit0, hit, near0, near


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def walk(na, ta, ra, nb, tb, rb, rel, inv, stack, found, scratch, w, collect):
    """Traverse both trees together.

    With `collect` 0: 1 when the surfaces share a point, else 0. With `collect` 1: the number of leaf pairs
    whose volumes meet; their codes (row of A's leaf << 32 | row of B's) go to `found` as far as it is long.
    `stack` and `found` are int64, `scratch` (1, 9) is for a posed triangle, `w` (32, 3) for the triangle test.
    """
    tol = touch_tolerance(na, ra, nb, rb, rel)
    f = (rel[0], rel[1], rel[2], rel[3], rel[4], rel[5], rel[6], rel[7], rel[8], rel[9], rel[10], rel[11])
    g = (inv[0], inv[1], inv[2], inv[3], inv[4], inv[5], inv[6], inv[7], inv[8], inv[9], inv[10], inv[11])
    stack[0] = (ra << 32) | rb
    top = 1
    count = 0
    while top > 0:
        top -= 1
        code = stack[top]
        ia = code >> 32
        ib = code & 0xFFFFFFFF
        count_a = na[ia, 7]
        count_b = nb[ib, 7]
        if count_a > 0.0 and count_b > 0.0:
            if collect > 0:
                if count < found.shape[0]:
                    found[count] = code
                count += 1
                continue
            first_a = int(na[ia, 6])
            first_b = int(nb[ib, 6])
            for j in range(first_b, first_b + int(count_b)):
                pose_triangle(tb, j, rel, scratch, 0)
                for i in range(first_a, first_a + int(count_a)):
                    if triangles_meet(ta, i, scratch, 0, tol, w):
                        return 1
            continue
        size_a = na[ia, 3] + na[ia, 4] + na[ia, 5]
        size_b = nb[ib, 3] + nb[ib, 4] + nb[ib, 5]
        if count_b > 0.0 or (count_a == 0.0 and size_a >= size_b):
            child = int(na[ia, 6])
            hit0, hit1, near0, near1 = open_node(na, child, nb, ib, f, tol)
            code0 = (child << 32) | ib
            code1 = ((child + 1) << 32) | ib
        else:
            child = int(nb[ib, 6])
            hit0, hit1, near0, near1 = open_node(nb, child, na, ia, g, tol)
            code0 = (ia << 32) | child
            code1 = (ia << 32) | (child + 1)
        nearer = near0 <= near1
        stack[top] = code1 if nearer else code0
        top += int(hit1 if nearer else hit0)
        stack[top] = code0 if nearer else code1
        top += int(hit0 if nearer else hit1)
    return count
