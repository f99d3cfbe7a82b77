"""Dual tree traversal: does a pair of posed meshes meet, and which triangles are close.

Boxes are tested with the relative rotation fixed once per query: three axes of A and three of B (Gottschalk's test
without the nine crosses, which cost more than they prune here), and the slab of each. The larger box is opened, a
block of eight at a time (`_kernels_wide`), and the nearest entry is visited first, so that a collision is found
early. Tests run without branches: mispredictions cost more than the arithmetic they would save.

Arguments are arrays only: `na`, `ta` are the nodes (rows of 16) and triangles (rows of 9) of A, `ra` the row of its
root, whose header is the row before it; `rel` is the pose of B in A's frame, rotation by rows then translation.
"""

# pyright: basic
from __future__ import annotations

from ..._jit import njit
from ._kernels_build import NODE_WIDTH
from ._kernels_tritri import FASTMATH, triangles_meet
from ._kernels_wide import BLOCK_COLUMN, FIELDS, LANES, TRIANGLE, open_for_node, open_for_triangle, pair_codes

TOUCH = 1e-13
"""Gaps below this fraction of the scene's size are touching: some 100 roundings of a float64."""
HEADER_CLOSED, HEADER_REPS, HEADER_FIRST_REP, HEADER_SCALE = 0, 1, 2, 3
"""Columns of a header row: closed flag, number of components, row of the first one's point, largest coordinate."""
HEADER_TRIANGLES, HEADER_FIRST_TRIANGLE, HEADER_NODES = 4, 5, 6
"""More columns: number of triangles, row of the first one, number of nodes."""
NAMES = (FIELDS - 1) * LANES
"""Offset of the names of the lanes in a block."""
TRIANGLES = (TRIANGLE << 32) | TRIANGLE
"""Bits of a code whose names are both of triangles."""
SCRATCH, SCRATCH_ROWS = 16, 19
"""Where the lanes begin in the scratch of `walk`, after a posed triangle, and its rows of nine."""
ROWS = ((TRIANGLE - 1) << 32) | (TRIANGLE - 1)
"""Mask that turns the names of two triangles into their rows."""


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


@njit(cache=True, error_model="numpy", fastmath=FASTMATH)
def walk(na, ta, ra, nb, tb, rb, rel, inv, tol, stack, found, codes, scratch, w, collect):
    """Traverse both trees together, block by block; gaps below the length `tol` count as contact.

    With `collect` 0: 1 when the surfaces share a point, else 0; found[0] is then the code of a pair that does. With
    `collect` 1: the number of triangle pairs whose bounds meet; their codes (row of A's triangle << 32 | row of B's)
    go to `found` as far as it is long. A negative `tol` leaves out pairs that overlap by less than -tol.
    `stack`, `found` and `codes` (8,) are int64, `scratch` (SCRATCH_ROWS, 9) is for a posed triangle and the lanes,
    `w` (32, 3) for the triangle test.
    """
    f = (rel[0], rel[1], rel[2], rel[3], rel[4], rel[5], rel[6], rel[7], rel[8], rel[9], rel[10], rel[11])
    g = (inv[0], inv[1], inv[2], inv[3], inv[4], inv[5], inv[6], inv[7], inv[8], inv[9], inv[10], inv[11])
    flat_a, flat_b, flat = na.reshape(-1), nb.reshape(-1), scratch.reshape(-1)
    miss, wide_f, wide_g = (
        flat[SCRATCH : SCRATCH + LANES],
        flat[SCRATCH + LANES :],
        flat[SCRATCH + 10 * LANES :],
    )
    for c in range(9):
        for k in range(LANES):
            wide_f[LANES * c + k] = rel[c]
            wide_g[LANES * c + k] = inv[c]
    last = found.shape[0] - 1
    stack[0] = (ra << 32) | rb
    top = 1
    count = 0
    while top > 0:
        top -= 1
        ia = stack[top] >> 32
        ib = stack[top] & 0xFFFFFFFF
        if ib >= TRIANGLE:
            base = NODE_WIDTH * int(na[ia, BLOCK_COLUMN])
            pose_triangle(tb, ib - TRIANGLE, rel, scratch, 0)
            open_for_triangle(flat_a, base, scratch, tol, miss)
            pair_codes(flat_a, base + NAMES, ib, 32, codes)
        elif ia >= TRIANGLE:
            base = NODE_WIDTH * int(nb[ib, BLOCK_COLUMN])
            pose_triangle(ta, ia - TRIANGLE, inv, scratch, 0)
            open_for_triangle(flat_b, base, scratch, tol, miss)
            pair_codes(flat_b, base + NAMES, ia << 32, 0, codes)
        elif na[ia, 3] + na[ia, 4] + na[ia, 5] >= nb[ib, 3] + nb[ib, 4] + nb[ib, 5]:
            base = NODE_WIDTH * int(na[ia, BLOCK_COLUMN])
            open_for_node(flat_a, base, nb, ib, f, wide_f, tol, miss)
            pair_codes(flat_a, base + NAMES, ib, 32, codes)
        else:
            base = NODE_WIDTH * int(nb[ib, BLOCK_COLUMN])
            open_for_node(flat_b, base, na, ia, g, wide_g, tol, miss)
            pair_codes(flat_b, base + NAMES, ia << 32, 0, codes)
        if collect > 0:
            for k in range(LANES):
                code = codes[k]
                hit = miss[k] <= 0.0
                done = (code & TRIANGLES) == TRIANGLES
                stack[top] = code
                top += int(hit and not done)
                found[min(count, last)] = code & ROWS
                count += int(hit and done)
            continue
        nearest, place = -1e300, top
        for k in range(LANES):
            if miss[k] > 0.0:
                continue
            code = codes[k]
            if (code & TRIANGLES) == TRIANGLES:
                pose_triangle(tb, code & (TRIANGLE - 1), rel, scratch, 0)
                if triangles_meet(ta, (code & ROWS) >> 32, scratch, 0, tol, w):
                    found[0] = code & ROWS
                    return 1
                continue
            if miss[k] > nearest:
                nearest, place = miss[k], top
            stack[top] = code
            top += 1
        if top > place:
            stack[place], stack[top - 1] = stack[top - 1], stack[place]
    return count
