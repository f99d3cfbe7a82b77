"""Blocks of eight: the tree as the pair traversal reads it, and the test of a whole block at once.

The binary tree is collapsed from the top (Wald, Benthin and Boulos, "Getting rid of packets", 2008): a block holds
up to eight descendants of a node, opened in the order of their areas, with the triangles of leaves as entries of
their own. Fields are stored lane by lane, so that one loop over the lanes is a handful of vector instructions.
Entries are the boxes and slabs of the binary tree, unchanged; a test never rejects what touches within `tol`.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ._kernels_build import NO_SLAB, NODE_WIDTH
from ._kernels_tritri import FASTMATH, ROUNDING

LANES = 8
"""Entries of a block: two vectors of four float64, or one of eight."""
FIELDS = 12
"""Fields of an entry: centre, half extents, slab normal, slab offset, slab half thickness, name."""
BLOCK_ROWS = LANES * FIELDS // NODE_WIDTH
"""Rows of the node array a block takes."""
BLOCK_COLUMN = 13
"""Column of a node row with the row of its block; 0 for nodes without one."""
TRIANGLE = 1 << 30
"""Added to a triangle's row to tell its name from a node's, which is the node's row."""
L1, L2, L3, L4, L5, L6, L7, L8, L9, L10 = (np.uint64(LANES * k) for k in range(1, 11))
"""Offsets of the fields. Unsigned, and the number of lanes read from an array: else the loops are not vectorised."""
NOWHERE = -1e300
"""Half extent of an empty lane: it meets nothing."""


@njit(cache=True, error_model="numpy")
def entry_of_triangle(tris, t, entry):
    """Box and plane of a triangle as an entry."""
    for k in range(3):
        low, high = (
            min(tris[t, k], tris[t, k + 3], tris[t, k + 6]),
            max(tris[t, k], tris[t, k + 3], tris[t, k + 6]),
        )
        entry[k] = 0.5 * (low + high)
        entry[3 + k] = max(high - entry[k], entry[k] - low)
    ux, uy, uz = tris[t, 3] - tris[t, 0], tris[t, 4] - tris[t, 1], tris[t, 5] - tris[t, 2]
    vx, vy, vz = tris[t, 6] - tris[t, 0], tris[t, 7] - tris[t, 1], tris[t, 8] - tris[t, 2]
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = np.sqrt(x * x + y * y + z * z)
    for k in range(6, 10):
        entry[k] = 0.0
    entry[10] = NO_SLAB
    if length > 0.0 and 1.0 / length < 1e300:
        x, y, z = x / length, y / length, z / length
        p = x * tris[t, 0] + y * tris[t, 1] + z * tris[t, 2]
        q = x * tris[t, 3] + y * tris[t, 4] + z * tris[t, 5]
        r = x * tris[t, 6] + y * tris[t, 7] + z * tris[t, 8]
        low, high = min(p, q, r), max(p, q, r)
        entry[6], entry[7], entry[8], entry[9], entry[10] = x, y, z, 0.5 * (low + high), 0.5 * (high - low)
    entry[11] = t + TRIANGLE


@njit(cache=True, error_model="numpy")
def _collapse(nodes, node, slots):
    """Descendants of `node` that share its block, to `slots`; returns their number (a leaf takes a lane a triangle).

    Always opens the largest that fits. Filling the blocks better makes them larger, and that was measured slower.
    """
    if nodes[node, 7] > 0.0:
        slots[0] = node
        return 1
    left = int(nodes[node, 6])
    slots[0], slots[1] = left, left + 1
    n = 2
    lanes = max(1.0, nodes[left, 7]) + max(1.0, nodes[left + 1, 7])
    while True:
        best, best_area, best_lanes = -1, -1.0, 0.0
        for s in range(n):
            i = slots[s]
            if nodes[i, 7] > 0.0:
                continue
            child = int(nodes[i, 6])
            more = max(1.0, nodes[child, 7]) + max(1.0, nodes[child + 1, 7]) - 1.0
            x, y, z = nodes[i, 3], nodes[i, 4], nodes[i, 5]
            area = x * y + y * z + z * x
            if lanes + more <= LANES and area > best_area:
                best, best_area, best_lanes = s, area, more
        if best < 0:
            return n
        child = int(nodes[slots[best], 6])
        slots[best] = child
        slots[n] = child + 1
        n += 1
        lanes += best_lanes


@njit(cache=True, error_model="numpy")
def _place_blocks(nodes, slots):
    """Write the row of its block into every node that has one; returns the rows of nodes and blocks together."""
    used = nodes.shape[0]
    nodes[1, BLOCK_COLUMN] = 1.0
    for node in range(1, nodes.shape[0]):  # parents come before their children
        if nodes[node, BLOCK_COLUMN] == 0.0:
            continue
        nodes[node, BLOCK_COLUMN] = used
        used += BLOCK_ROWS
        for s in range(_collapse(nodes, node, slots)):
            if nodes[slots[s], 7] == 0.0:
                nodes[slots[s], BLOCK_COLUMN] = 1.0
    return used


@njit(cache=True, error_model="numpy")
def _put(packed, row, lane, entry):
    """Write an entry into a lane of the block that begins at a row of `packed`."""
    for k in range(FIELDS):
        at = LANES * k + lane
        packed[row + at // NODE_WIDTH, at % NODE_WIDTH] = entry[k]


@njit(cache=True, error_model="numpy")
def pack_blocks(nodes, tris):
    """The tree `nodes` (row 1 is its root) over `tris` in leaf order, followed by its blocks."""
    slots = np.empty(LANES, np.int64)
    packed = np.empty((_place_blocks(nodes, slots), NODE_WIDTH))
    for i in range(nodes.shape[0]):
        for k in range(NODE_WIDTH):
            packed[i, k] = nodes[i, k]
    entry = np.empty(FIELDS)
    for node in range(1, nodes.shape[0]):
        row = int(nodes[node, BLOCK_COLUMN])
        if row == 0:
            continue
        for k in range(FIELDS):
            entry[k] = NOWHERE if 3 <= k < 6 else 0.0
        for lane in range(LANES):
            _put(packed, row, lane, entry)
        lane = 0
        for s in range(_collapse(nodes, node, slots)):
            i = slots[s]
            if nodes[i, 7] == 0.0:
                for k in range(11):
                    entry[k] = nodes[i, k if k < 6 else k + 2]
                entry[11] = i
                _put(packed, row, lane, entry)
                lane += 1
                continue
            first = int(nodes[i, 6])
            for t in range(first, first + int(nodes[i, 7])):
                entry_of_triangle(tris, t, entry)
                _put(packed, row, lane, entry)
                lane += 1
    return packed


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def open_for_node(flat, base, fixed, j, f, wide, tol, miss):
    """Test the lanes of the block at flat[base] against node `j` of `fixed`, whose frame `f` maps into the block's.

    `miss` is positive for lanes apart from the node, else minus the squared distance of the centres. `wide` is the
    rotation of `f` with every number repeated in every lane.
    """
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]
    a00, a01, a02, a10, a11, a12 = abs(r00), abs(r01), abs(r02), abs(r10), abs(r11), abs(r12)
    a20, a21, a22 = abs(r20), abs(r21), abs(r22)
    x, y, z = fixed[j, 0], fixed[j, 1], fixed[j, 2]
    bx = r00 * x + r01 * y + r02 * z + f[9]
    by = r10 * x + r11 * y + r12 * z + f[10]
    bz = r20 * x + r21 * y + r22 * z + f[11]
    hx, hy, hz = fixed[j, 3] + tol, fixed[j, 4] + tol, fixed[j, 5] + tol
    ex = a00 * hx + a01 * hy + a02 * hz
    ey = a10 * hx + a11 * hy + a12 * hz
    ez = a20 * hx + a21 * hy + a22 * hz
    u, v, q = fixed[j, 8], fixed[j, 9], fixed[j, 10]
    mx, my, mz = r00 * u + r01 * v + r02 * q, r10 * u + r11 * v + r12 * q, r20 * u + r21 * v + r22 * q
    m0 = fixed[j, 11] + mx * f[9] + my * f[10] + mz * f[11] - (mx * bx + my * by + mz * bz)
    thick = fixed[j, 12] + tol
    mu, mv, mq = abs(mx), abs(my), abs(mz)
    at = np.uint64(base)
    for k in range(np.uint64(miss.shape[0])):
        r00, r01, r02, r10, r11 = wide[k], wide[L1 + k], wide[L2 + k], wide[L3 + k], wide[L4 + k]
        r12, r20, r21, r22 = wide[L5 + k], wide[L6 + k], wide[L7 + k], wide[L8 + k]
        a00, a01, a02, a10, a11, a12 = abs(r00), abs(r01), abs(r02), abs(r10), abs(r11), abs(r12)
        a20, a21, a22 = abs(r20), abs(r21), abs(r22)
        dx, dy, dz = bx - flat[at + k], by - flat[at + L1 + k], bz - flat[at + L2 + k]
        gx, gy, gz = flat[at + L3 + k], flat[at + L4 + k], flat[at + L5 + k]
        g = max(abs(dx) - ex - gx, abs(dy) - ey - gy)
        g = max(g, abs(dz) - ez - gz)
        g = max(g, abs(r00 * dx + r10 * dy + r20 * dz) - hx - a00 * gx - a10 * gy - a20 * gz)
        g = max(g, abs(r01 * dx + r11 * dy + r21 * dz) - hy - a01 * gx - a11 * gy - a21 * gz)
        g = max(g, abs(r02 * dx + r12 * dy + r22 * dz) - hz - a02 * gx - a12 * gy - a22 * gz)
        g = max(g, abs(mx * dx + my * dy + mz * dz + m0) - thick - mu * gx - mv * gy - mq * gz)
        x, y, z = flat[at + L6 + k], flat[at + L7 + k], flat[at + L8 + k]
        off = abs(x * bx + y * by + z * bz - flat[at + L9 + k]) - flat[at + L10 + k] - tol
        off -= abs(x * r00 + y * r10 + z * r20) * hx + abs(x * r01 + y * r11 + z * r21) * hy
        g = max(g, off - abs(x * r02 + y * r12 + z * r22) * hz)
        near = dx * dx + dy * dy + dz * dz
        miss[k] = 1.0 if g > 0.0 else -near


@njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def open_for_triangle(flat, base, p, tol, miss):
    """Test the lanes of the block at flat[base] against the triangle p[0, :9] in the block's frame.

    As `open_for_node`, with the bounds and the plane of the triangle itself.
    """
    x0, y0, z0, x1, y1, z1, x2, y2, z2 = (
        p[0, 0], p[0, 1], p[0, 2], p[0, 3], p[0, 4], p[0, 5], p[0, 6], p[0, 7], p[0, 8],
    )  # fmt: skip
    bx, ex = 0.5 * (max(x0, x1, x2) + min(x0, x1, x2)), 0.5 * (max(x0, x1, x2) - min(x0, x1, x2)) + tol
    by, ey = 0.5 * (max(y0, y1, y2) + min(y0, y1, y2)), 0.5 * (max(y0, y1, y2) - min(y0, y1, y2)) + tol
    bz, ez = 0.5 * (max(z0, z1, z2) + min(z0, z1, z2)), 0.5 * (max(z0, z1, z2) - min(z0, z1, z2)) + tol
    ux, uy, uz, vx, vy, vz = x1 - x0, y1 - y0, z1 - z0, x2 - x0, y2 - y0, z2 - z0
    mx, my, mz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    mu, mv, mq = abs(mx), abs(my), abs(mz)
    size = abs(ux) + abs(uy) + abs(uz) + abs(vx) + abs(vy) + abs(vz)
    slack = tol * (mu + mv + mq) + ROUNDING * size * size * size
    at = np.uint64(base)
    for k in range(np.uint64(miss.shape[0])):
        cx, cy, cz = flat[at + k], flat[at + L1 + k], flat[at + L2 + k]
        gx, gy, gz = flat[at + L3 + k], flat[at + L4 + k], flat[at + L5 + k]
        dx, dy, dz = bx - cx, by - cy, bz - cz
        g = max(abs(dx) - ex - gx, abs(dy) - ey - gy)
        g = max(g, abs(dz) - ez - gz)
        off = abs(mx * (cx - x0) + my * (cy - y0) + mz * (cz - z0)) - slack
        g = max(g, off - mu * gx - mv * gy - mq * gz)
        x, y, z, o = flat[at + L6 + k], flat[at + L7 + k], flat[at + L8 + k], flat[at + L9 + k]
        s0, s1, s2 = x * x0 + y * y0 + z * z0 - o, x * x1 + y * y1 + z * z1 - o, x * x2 + y * y2 + z * z2 - o
        low = min(s0, s1)
        low = min(low, s2)
        high = max(s0, s1)
        high = max(high, s2)
        g = max(g, max(low, -high) - flat[at + L10 + k] - tol)
        near = dx * dx + dy * dy + dz * dz
        miss[k] = 1.0 if g > 0.0 else -near


@njit(cache=True, error_model="numpy", forceinline=True)
def pair_codes(flat, base, fixed, shift, codes):
    """Codes of the lanes whose names are at flat[base], paired with the name `fixed` (shifted to its place)."""
    at = np.uint64(base)
    for k in range(np.uint64(codes.shape[0])):
        codes[k] = (np.int64(flat[at + k]) << shift) | fixed
