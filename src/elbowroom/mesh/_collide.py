"""Do posed meshes collide: one pose, many poses.

Closed meshes are solids, so one that lies wholly inside another collides with it (surfaces alone, as in Coal and FCL,
would not meet). Open pieces are surfaces: nothing can be inside them. `contain=False` asks for surfaces only.

Touching counts as colliding, so that no contact is missed by rounding; what is said to be apart is apart. With L the
size of the scene (largest coordinates of both meshes plus the distance of their frames), gaps up to 1e-13 L count as
touching, and up to 1e-10 L for any two triangles of ordinary shape and position. Separating directions of thin
triangles and of almost parallel edges are inexact: there gaps up to 1e-6 L or, for triangles of length l and width w
below 1e-6 l, up to 1e-12 L l / w count as touching. Needles of 1 m by 1 um are told apart for sure beyond some 2 um.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from .. import _core
from ._frames import broadcast_rows, one_row
from ._mesh import TriangleMesh, check_meshes

STATES = ("apart", "surfaces", "a inside b", "b inside a")
"""What the numbers of `collide_states` mean."""


def query_bvh_pair(
    a: TriangleMesh, b: TriangleMesh, T_a: Any = None, T_b: Any = None
) -> Int[np.ndarray, "n 2"]:
    """Triangle pairs that may meet: those whose bounds (box and plane) overlap.

    Every pair of triangles that meets is among them. Rows are (row of `a.faces`, row of `b.faces`), in no order.
    """
    check_meshes(a, b)
    rows_a, rows_b = one_row(T_a, "T_a"), one_row(T_b, "T_b")
    return _core.close_pairs(a.tree, rows_a, b.tree, rows_b)


def collide(a: TriangleMesh, T_a: Any, b: TriangleMesh, T_b: Any, *, contain: bool = True) -> bool:
    """Does mesh `a` at `T_a` collide with mesh `b` at `T_b`?

    Args:
        a: first mesh.
        T_a: its pose in the world, `(7,)` wxyz_xyz or `(4, 4)`; None for the identity.
        b: second mesh.
        T_b: its pose.
        contain: closed meshes are solids, so that containment counts; False compares surfaces only.
    """
    check_meshes(a, b)
    state = _core.pair_state(
        a.tree, T_a, b.tree, T_b, bool(contain)
    )  # one crossing for poses as they usually come
    return state > 0 if state >= 0 else bool(collide_states(a, T_a, b, T_b, contain=contain)[0])


def collide_batch(
    a: TriangleMesh, Ts_a: Any, b: TriangleMesh, Ts_b: Any, *, contain: bool = True
) -> Bool[np.ndarray, "n"]:
    """`collide` for a stack of poses in one call; a single pose goes with every pose of the other stack."""
    return collide_states(a, Ts_a, b, Ts_b, contain=contain) > 0


def collide_states(
    a: TriangleMesh, Ts_a: Any, b: TriangleMesh, Ts_b: Any, *, contain: bool = True
) -> Int[np.ndarray, "n"]:
    """Like `collide_batch`, but says how: 0 apart, 1 surfaces meet, 2 `a` inside `b`, 3 `b` inside `a` (`STATES`)."""
    check_meshes(a, b)
    rows_a, rows_b, _, _ = broadcast_rows(Ts_a, Ts_b)
    return _core.pair_states(a.tree, rows_a, b.tree, rows_b, bool(contain))
