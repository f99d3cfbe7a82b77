"""Do posed meshes collide: one pose, many poses, many meshes.

Closed meshes are solids, so one that lies wholly inside another collides with it (surfaces alone, as in Coal and FCL,
would not meet). Open pieces are surfaces: nothing can be inside them. `contain=False` asks for surfaces only.

Touching counts as colliding, so that no contact is missed by rounding; what is said to be apart is apart. With L the
size of the scene (largest coordinates of both meshes plus the distance of their frames), gaps up to 1e-13 L count as
touching, and up to 1e-10 L for any two triangles of ordinary shape and position. Separating directions of thin
triangles and of almost parallel edges are inexact: there gaps up to 1e-6 L or, for triangles of length l and width w
below 1e-6 l, up to 1e-12 L l / w count as touching. Needles of 1 m by 1 um are told apart for sure beyond some 2 um.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import freeze
from ..errors import InputError
from ._frames import broadcast_rows, one_row, pose_rows
from ._kernels_batch import batch_states, close_pairs, scene_states
from ._kernels_query import HEADER_FIRST_REP, HEADER_FIRST_TRIANGLE, HEADER_NODES
from ._kernels_wide import BLOCK_COLUMN, FIELDS, LANES, TRIANGLE
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
    found = np.empty(4096, np.int64)
    while True:
        n = close_pairs(a.packed, a.triangles, b.packed, b.triangles, rows_a[0], rows_b[0], found)
        if n <= len(found):
            break
        found = np.empty(n, np.int64)
    return np.stack([a.order[found[:n] >> 32], b.order[found[:n] & 0xFFFFFFFF]], axis=1)


def collide(a: TriangleMesh, T_a: Any, b: TriangleMesh, T_b: Any, *, contain: bool = True) -> bool:
    """Does mesh `a` at `T_a` collide with mesh `b` at `T_b`?

    Args:
        a: first mesh.
        T_a: its pose in the world, `(7,)` wxyz_xyz or `(4, 4)`; None for the identity.
        b: second mesh.
        T_b: its pose.
        contain: closed meshes are solids, so that containment counts; False compares surfaces only.
    """
    return bool(collide_states(a, T_a, b, T_b, contain=contain)[0])


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
    rows_a, rows_b, n, _ = broadcast_rows(Ts_a, Ts_b)
    out = np.zeros(n, np.uint8)
    batch_states(a.packed, a.triangles, b.packed, b.triangles, rows_a, rows_b, out, bool(contain))
    return out


class Scene:
    """Many meshes packed into one, for all pairs of many poses in one call.

    Args:
        meshes: the meshes, by number.
        pairs: `(k, 2)` numbers of the meshes to compare; all pairs when omitted.
    """

    def __init__(self, meshes: Sequence[TriangleMesh], pairs: Any = None) -> None:
        self.meshes = tuple(meshes)
        """The meshes."""
        check_meshes(*self.meshes)
        count = len(self.meshes)
        if pairs is None:
            pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        array = np.array(pairs).reshape(-1, 2)
        if array.size and (array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= count):
            raise InputError(f"pairs: expected mesh numbers from 0 to {count - 1}, found {pairs!r:.80}")
        self.pairs = np.ascontiguousarray(array, dtype=np.int64)
        """Numbers of the meshes compared, `(k, 2)`, read-only."""
        freeze(self.pairs)
        if not self.meshes:
            raise InputError("meshes: expected at least one, found none")
        self._nodes, self._triangles, self._roots = pack_meshes(self.meshes)

    def states(
        self, poses: Any, *, contain: bool = True, first_only: bool = False
    ) -> Int[np.ndarray, "n pairs"]:
        """State of every pair in every pose: see `STATES`.

        Args:
            poses: `(n, meshes, 7)` or `(n, meshes, 4, 4)`.
            contain: see `collide`.
            first_only: stop at the first colliding pair of each pose; the other pairs may then be reported apart.
        """
        rows = scene_rows(poses, len(self.meshes))
        out = np.zeros((len(rows), len(self.pairs)), np.uint8)
        self.states_into(rows, out, contain=contain, first_only=first_only)
        return out

    def states_into(self, rows: np.ndarray, out: np.ndarray, *, contain: bool, first_only: bool) -> None:
        """`states` on packed poses `(n, meshes, 12)` into a given array; releases the interpreter lock."""
        if len(self.pairs) and len(rows):
            scene_states(
                self._nodes,
                self._triangles,
                self._roots,
                rows,
                self.pairs,
                out,
                bool(contain),
                bool(first_only),
            )


def collide_scene(
    meshes: Sequence[TriangleMesh], poses: Any, pairs: Any = None, *, contain: bool = True
) -> Bool[np.ndarray, "n pairs"]:
    """Do the pairs of many meshes collide, in each of many poses?

    Args:
        meshes: the meshes.
        poses: `(n, meshes, 7)` or `(n, meshes, 4, 4)`.
        pairs: `(k, 2)` mesh numbers; all pairs when omitted. To ask again with other poses, keep a `Scene`.
        contain: see `collide`.
    """
    return Scene(meshes, pairs).states(poses, contain=contain) > 0


def scene_rows(poses: Any, n_meshes: int) -> Float[np.ndarray, "n meshes 12"]:
    """Packs poses of all meshes of a scene, checking the shape."""
    array = np.asarray(poses, dtype=np.float64)
    tail = array.shape[2:]
    if array.ndim not in (3, 4) or tail not in ((7,), (4, 4)) or array.shape[1] != n_meshes:
        raise InputError(
            f"poses: expected shape (n, {n_meshes}, 7) or (n, {n_meshes}, 4, 4), found {array.shape}"
        )
    return pose_rows(array.reshape(-1, *tail), "poses")[0].reshape(len(array), n_meshes, 12)


def pack_meshes(meshes: Sequence[TriangleMesh]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One node array and one triangle array for all meshes, with absolute row numbers, and the rows of the roots."""
    if not meshes:
        meshes = (
            TriangleMesh.box((1.0, 1.0, 1.0)),
        )  # kernels take arrays of rows, none of which is then named
        return (*pack_meshes(meshes)[:2], np.zeros(0, np.int64))
    roots = np.zeros(len(meshes), np.int64)
    nodes: list[np.ndarray] = []
    node_row, triangle_row = 0, 0
    for k, mesh in enumerate(meshes):
        part = mesh.packed.copy()
        end = int(part[0, HEADER_NODES]) + 1
        tree, names = part[1:end], part[end:].reshape(-1, FIELDS, LANES)[:, -1]
        leaf = tree[:, 7] > 0
        tree[~leaf, 6] += node_row
        tree[leaf, 6] += triangle_row
        tree[:, BLOCK_COLUMN] += node_row
        names += np.where(names < TRIANGLE, node_row, triangle_row)
        part[0, HEADER_FIRST_REP] += triangle_row
        part[0, HEADER_FIRST_TRIANGLE] += triangle_row
        nodes.append(part)
        roots[k] = node_row + 1
        node_row += len(part)
        triangle_row += len(mesh.triangles)
    packed = np.concatenate(nodes), np.concatenate([m.triangles for m in meshes])
    freeze(*packed)  # the type the kernels are compiled for
    return (*packed, roots)
