"""Do posed meshes collide: one pose, many poses, many meshes.

Closed meshes are solids, so one that lies wholly inside another collides with it (surfaces alone, as in Coal and FCL,
would not meet). Open pieces are surfaces: nothing can be inside them. `contain=False` asks for surfaces only.

Touching counts as colliding, so that no contact is missed by rounding; what is reported apart is apart. With L the
size of the scene (largest coordinates of both meshes plus the distance of their frames), gaps up to 1e-13 L count as
touching, and up to 1e-10 L for any two triangles of ordinary shape and position. Separating directions of thin
triangles and of almost parallel edges are inexact: there gaps up to 1e-6 L or, for triangles of length l and width w
below 1e-6 l, up to 1e-12 L l / w count as touching. Needles of 1 m by 1 um are told apart for sure beyond some 2 um.

`MeshScene` takes many meshes in many poses: all pairs in one call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .. import _core
from .._brief import brief
from .._frozen import freeze
from ..errors import InputError, shape_text
from ._frames import broadcast_rows, one_row, pose_rows
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


@brief
@dataclass(frozen=True, eq=False)
class DeepestContacts:
    """The deepest triangle contact of every pair of a scene in every pose, in the world frame.

    Where no triangles meet, points, normals and depths are NaN and triangles -1.
    """

    points: Float[np.ndarray, "n pairs 3"]
    """Contact points, as in `TriTriContact`."""
    normals: Float[np.ndarray, "n pairs 3"]
    """Unit vectors from the first mesh of the pair to the second."""
    depths: Float[np.ndarray, "n pairs"]
    """Depths of the pairs of triangles, metres, not negative."""
    tri_a: Int[np.ndarray, "n pairs"]
    """Rows of the first mesh's `faces`."""
    tri_b: Int[np.ndarray, "n pairs"]
    """Rows of the second mesh's `faces`."""

    @property
    def touching(self) -> Bool[np.ndarray, "n pairs"]:
        """Which pairs have a contact."""
        return self.tri_a >= 0


class MeshScene:
    """Many meshes, for all pairs of many poses in one call.

    Args:
        meshes: the meshes, by number.
        pairs: `(k, 2)` numbers of the meshes to compare; all pairs when omitted.

    Raises:
        InputError: no meshes, something else than a `TriangleMesh`, or a number that no mesh has.
    """

    def __init__(self, meshes: Sequence[TriangleMesh], pairs: Any = None) -> None:
        if not isinstance(meshes, Iterable):
            raise InputError(f"meshes: expected a list of TriangleMesh, found {shape_text(meshes)}")
        self.meshes = tuple(meshes)
        """The meshes."""
        check_meshes(*self.meshes)
        count = len(self.meshes)
        if pairs is None:
            pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        try:
            array = np.array(pairs).reshape(-1, 2)
        except ValueError as error:
            raise InputError(f"pairs: expected shape (k, 2), found {pairs!r:.80}") from error
        if array.size and (array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= count):
            raise InputError(f"pairs: expected mesh numbers from 0 to {count - 1}, found {pairs!r:.80}")
        self.pairs = np.ascontiguousarray(array, dtype=np.int64)
        """Numbers of the meshes compared, `(k, 2)`, read-only."""
        freeze(self.pairs)
        if not self.meshes:
            raise InputError("meshes: expected at least one, found none")
        self._core = _core.MeshScene([mesh.tree for mesh in self.meshes], self.pairs)

    def __reduce__(self) -> tuple[Any, ...]:
        return MeshScene, (self.meshes, self.pairs)

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

    def colliding(self, poses: Any, *, contain: bool = True) -> Bool[np.ndarray, "n pairs"]:
        """Which pairs collide in which poses; arguments as in `states`."""
        return self.states(poses, contain=contain) > 0

    def deepest_contacts(self, poses: Any) -> DeepestContacts:
        """`mesh_mesh_deepest_contact` of every pair in every pose.

        Args:
            poses: `(n, meshes, 7)` or `(n, meshes, 4, 4)`.
        """
        rows = scene_rows(poses, len(self.meshes))
        out = self._core.deepest_contacts(rows)
        freeze(out)
        hit = ~np.isnan(out[:, :, 6])
        tri_a, tri_b = (np.where(hit, out[:, :, column], -1.0).astype(np.int64) for column in (7, 8))
        freeze(tri_a, tri_b)
        return DeepestContacts(out[:, :, :3], out[:, :, 3:6], out[:, :, 6], tri_a, tri_b)

    def states_into(self, rows: np.ndarray, out: np.ndarray, *, contain: bool, first_only: bool) -> None:
        """`states` on packed poses `(n, meshes, 12)` into a given array; releases the interpreter lock."""
        self._core.states(rows, out, bool(contain), bool(first_only))


def scene_rows(poses: Any, n_meshes: int) -> Float[np.ndarray, "n meshes 12"]:
    """Packs poses of all meshes of a scene, checking the shape."""
    wanted = f"poses: expected shape (n, {n_meshes}, 7) or (n, {n_meshes}, 4, 4)"
    try:
        array = np.asarray(poses, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{wanted}, found {shape_text(poses)}") from error
    tail = array.shape[2:]
    if array.ndim not in (3, 4) or tail not in ((7,), (4, 4)) or array.shape[1] != n_meshes:
        raise InputError(f"{wanted}, found {array.shape}")
    return pose_rows(array.reshape(-1, *tail), "poses")[0].reshape(len(array), n_meshes, 12)
