"""Do two posed meshes collide: surfaces first, then containment.

The state of a pair is 0 (apart), 1 (the surfaces meet), 2 (a part of A is inside B) or 3 (a part of B is inside A);
2 and 3 are looked for only with closed pieces and only where the surfaces do not meet.

Constants handed to other kernels are wrapped (`np.int64(1)`): numba would compile a version for each literal.
"""

# pyright: basic
from __future__ import annotations

import numpy as np

from ..._jit import njit
from ._kernels_inside import point_inside
from ._kernels_query import (
    FASTMATH,
    HEADER_CLOSED,
    HEADER_FIRST_REP,
    HEADER_REPS,
    SCRATCH_ROWS,
    inverse_pose,
    touch_tolerance,
    walk,
)
from ._kernels_wide import LANES

STACK = 2048
"""Entries of a traversal stack; two trees of 2**30 triangles are below 200 deep together, 7 entries a level."""
APART, SURFACES, A_IN_B, B_IN_A = 0, 1, 2, 3
"""States of a pair."""


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
