"""Many meshes in many poses, all pairs in one call: do they collide, and which triangles are deepest in each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .._frozen import freeze
from ..errors import InputError, shape_text
from ._frames import pose_rows
from ._kernels_batch import CONTACT_WIDTH, scene_states
from ._kernels_deepest import scene_deepest
from ._kernels_query import HEADER_FIRST_REP, HEADER_FIRST_TRIANGLE, HEADER_NODES
from ._kernels_wide import BLOCK_COLUMN, FIELDS, LANES, TRIANGLE
from ._mesh import TriangleMesh, check_meshes


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


class Scene:
    """Many meshes packed into one, for all pairs of many poses in one call.

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
        self._nodes, self._triangles, self._roots = pack_meshes(self.meshes)
        self._order = np.concatenate([mesh.order for mesh in self.meshes])
        self._first = np.cumsum([0] + [len(mesh.order) for mesh in self.meshes])

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
        n, k = len(rows), len(self.pairs)
        out = np.full((n * k, CONTACT_WIDTH), np.nan)
        scene_deepest(self._nodes, self._triangles, self._roots, rows, self.pairs, out)
        out = out.reshape(n, k, CONTACT_WIDTH)
        freeze(out)
        tri_a, tri_b = np.full((n, k), -1, np.int64), np.full((n, k), -1, np.int64)
        hit = ~np.isnan(out[:, :, 6])
        for mine, place, column in ((tri_a, 7, 0), (tri_b, 8, 1)):
            which = np.broadcast_to(self._first[self.pairs[:, column]], (n, k))[hit]
            mine[hit] = self._order[which + out[:, :, place][hit].astype(np.int64)]
        freeze(tri_a, tri_b)
        return DeepestContacts(out[:, :, :3], out[:, :, 3:6], out[:, :, 6], tri_a, tri_b)

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
