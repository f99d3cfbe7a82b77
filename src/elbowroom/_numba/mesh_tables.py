"""Meshes as the numba kernels take them: one array of nodes and blocks and one of triangles, of one mesh or of many.

The tree is built once for each mesh, apart from that of the core; its leaf order is its own.
"""

# pyright: basic
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from .._frozen import freeze
from .mesh._kernels_build import CONTAINS, LEAF_TRIANGLES, build_tree
from .mesh._kernels_query import (
    HEADER_CLOSED,
    HEADER_FIRST_REP,
    HEADER_FIRST_TRIANGLE,
    HEADER_NODES,
    HEADER_REPS,
    HEADER_SCALE,
    HEADER_TRIANGLES,
)
from .mesh._kernels_wide import BLOCK_COLUMN, FIELDS, LANES, TRIANGLE, pack_blocks

if TYPE_CHECKING:
    from ..mesh import TriangleMesh


class PackedArrays(NamedTuple):
    """A mesh as the kernels take it."""

    packed: np.ndarray
    """(rows, 16) header row, binary tree, and the same tree in blocks of eight."""
    triangles: np.ndarray
    """(rows, 9) corners in leaf order, then one point of every component."""
    order: np.ndarray
    """(used,) row of the mesh's faces of every triangle in leaf order."""


_KNOWN: WeakKeyDictionary[TriangleMesh, PackedArrays] = WeakKeyDictionary()


def packed_arrays(mesh: TriangleMesh) -> PackedArrays:
    """The arrays of a mesh, made when first asked for."""
    found = _KNOWN.get(mesh)
    if found is None:
        found = _KNOWN[mesh] = _pack(mesh)
    return found


def _pack(mesh: TriangleMesh) -> PackedArrays:
    back = np.argsort(mesh.order)
    used, corners = mesh.order[back], np.ascontiguousarray(mesh.triangles[back])
    nodes, leaf_order, _ = build_tree(corners)
    points = mesh.tree.pieces
    triangles = np.zeros((len(used) + len(points), 9))
    triangles[: len(used)] = corners[leaf_order]
    triangles[len(used) :, :3] = points
    order = used[leaf_order]
    closed = mesh.closed_faces[order]
    for k in range(LEAF_TRIANGLES):
        rows = np.flatnonzero(nodes[:, 7] > k)
        nodes[rows, CONTAINS + k] = closed[nodes[rows, 6].astype(np.int64) + k]
    nodes[0, HEADER_CLOSED] = float(closed.any())
    nodes[0, HEADER_REPS] = len(points)
    nodes[0, HEADER_FIRST_REP] = len(used)
    nodes[0, HEADER_SCALE] = np.abs(corners).max()
    nodes[0, HEADER_TRIANGLES] = len(used)
    nodes[0, HEADER_FIRST_TRIANGLE] = 0
    nodes[0, HEADER_NODES] = len(nodes) - 1
    packed = pack_blocks(nodes, triangles)
    freeze(packed, triangles, order)
    return PackedArrays(packed, triangles, order)


def pack_meshes(meshes: Sequence[TriangleMesh]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One node array and one triangle array for all meshes, with absolute row numbers, and the rows of the roots."""
    if not meshes:  # kernels take arrays of rows, none of which is then named
        from ..mesh import TriangleMesh

        return (*pack_meshes([TriangleMesh.box((1.0, 1.0, 1.0))])[:2], np.zeros(0, np.int64))
    roots = np.zeros(len(meshes), np.int64)
    nodes: list[np.ndarray] = []
    node_row, triangle_row = 0, 0
    for k, mesh in enumerate(meshes):
        packed, triangles, _ = packed_arrays(mesh)
        part = packed.copy()
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
        triangle_row += len(triangles)
    packed = np.concatenate(nodes), np.concatenate([packed_arrays(m).triangles for m in meshes])
    freeze(*packed)  # the type the kernels are compiled for
    return (*packed, roots)
