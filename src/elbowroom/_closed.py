"""Which triangles bound a solid: the one place that says what *closed* means, for proofs, containment and `info` alike.

Vertices at the same place are one, so a mesh stored as loose triangles can be seen to be closed. A connected piece
(shared vertices connect) is closed when every edge is met by as many edges running the other way, after its faces were
turned to agree with each other where that is needed. Each point then has a whole winding number about the closed
pieces, and inside means that it is not zero: a mesh wound inside out is closed too. Pieces wound against each other are
turned as `_facing` says, so that overlaps do not cancel and cavities do. Not looked for: a piece that crosses itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._facing import inverted_pieces
from ._jit import njit

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

MIX_A, MIX_B, MIX_C = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
"""Odd 64-bit constants that spread keys over a hash table."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """What is closed in a triangle soup."""

    faces: Int64
    """(tris, 3) the faces given; the corners of those that had to be turned, so that a piece closes or faces as it
    should, are reversed."""
    closed: Bool
    """(tris,) whether each belongs to a closed piece."""


def closed_pieces(vertices: Float64, faces: Int64) -> Pieces:
    """Finds the closed pieces of a triangle soup.

    Args:
        vertices: (verts, 3) metres, finite, each place once; see `merge_vertices`.
        faces: (tris, 3) indices, at least one.
    """
    piece = connected_pieces(faces, len(vertices))
    unbalanced, odd = _edge_faults(faces, piece)
    doubtful = unbalanced & ~odd
    if doubtful.any():  # every edge is shared, but some faces are turned the wrong way
        import trimesh

        pick = np.flatnonzero(doubtful[piece])
        mesh = trimesh.Trimesh(vertices, faces[pick], process=False, validate=False)
        trimesh.repair.fix_winding(mesh)
        turned = np.asarray(mesh.faces, dtype=np.int64)
        if len(turned) == len(pick):
            candidate = faces.copy()
            candidate[pick] = turned
            better = doubtful & ~_edge_faults(candidate, piece)[0]
            faces = np.where(better[piece][:, None], candidate, faces)
            unbalanced &= ~better
    turn = inverted_pieces(vertices, faces, piece, ~unbalanced)
    if turn.any():
        faces = np.where(turn[piece][:, None], faces[:, ::-1], faces)
    return Pieces(faces, ~unbalanced[piece])


def is_closed(mesh: Any) -> bool:
    """Whether every piece of a mesh, anything with `vertices` and `faces`, is closed."""
    corners = np.asarray(mesh.vertices, dtype=np.float64)[np.asarray(mesh.faces)].reshape(-1, 3)
    if len(corners) == 0 or not np.isfinite(corners).all():
        return False
    label, first = merge_vertices(corners)
    return bool(closed_pieces(corners[first], label.reshape(-1, 3)).closed.all())


def merge_vertices(vertices: Float64) -> tuple[Int64, Int64]:
    """Number of the place of every vertex (n,), and the first vertex at every place; no tolerance, -0 is 0."""
    return _merge(np.ascontiguousarray(vertices + 0.0).view(np.uint64))


@njit(cache=True, error_model="numpy")
def _table_size(entries: int) -> int:
    """Slots of a hash table that is at most half full: a power of two."""
    size = 16
    while size < 2 * entries:
        size *= 2
    return size


@njit(cache=True, error_model="numpy")
def _merge(bits: Any) -> Any:
    """Numbers of the distinct rows of bit patterns (n, 3), and the first row of each."""
    n = bits.shape[0]
    size = _table_size(n)
    mask = np.uint64(size - 1)
    table = np.full(size, -1, np.int64)
    label, first = np.empty(n, np.int64), np.empty(n, np.int64)
    count = 0
    for i in range(n):
        h = bits[i, 0] * np.uint64(MIX_A) + bits[i, 1] * np.uint64(MIX_B) + bits[i, 2] * np.uint64(MIX_C)
        h ^= h >> np.uint64(29)
        h *= np.uint64(MIX_B)
        slot = (h ^ (h >> np.uint64(32))) & mask
        while True:
            j = table[slot]
            if j < 0:
                table[slot] = i
                label[i] = count
                first[count] = i
                count += 1
                break
            if bits[j, 0] == bits[i, 0] and bits[j, 1] == bits[i, 1] and bits[j, 2] == bits[i, 2]:
                label[i] = label[j]
                break
            slot = (slot + np.uint64(1)) & mask
    return label, first[:count].copy()


@njit(cache=True, error_model="numpy")
def _root_of(parent: Any, v: int) -> int:
    """Root of `v` in a forest of parents, with path halving."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@njit(cache=True, error_model="numpy")
def connected_pieces(faces: Any, n_vertices: int) -> Any:
    """Piece of each face (tris,), numbered in the order of their first faces; shared vertices connect."""
    parent = np.arange(n_vertices)
    for i in range(faces.shape[0]):
        root = _root_of(parent, faces[i, 0])
        for k in range(1, 3):
            parent[_root_of(parent, faces[i, k])] = root
    number = np.full(n_vertices, -1, np.int64)
    piece = np.empty(faces.shape[0], np.int64)
    count = 0
    for i in range(faces.shape[0]):
        root = _root_of(parent, faces[i, 0])
        if number[root] < 0:
            number[root] = count
            count += 1
        piece[i] = number[root]
    return piece


@njit(cache=True, error_model="numpy")
def _edge_faults(faces: Any, piece: Any) -> Any:
    """Pieces with an edge whose two directions do not cancel, and pieces with an edge of an odd number of faces.

    Edges of no length are passed over; a soup that has no others is open altogether.
    """
    m = faces.shape[0]
    size = _table_size(3 * m)
    mask = np.uint64(size - 1)
    keys = np.full(size, -1, np.int64)
    total, signed = np.zeros(size, np.int32), np.zeros(size, np.int32)
    owner = np.zeros(size, np.int64)
    edges = 0
    for i in range(m):
        for k in range(3):
            u, v = faces[i, k], faces[i, (k + 1) % 3]
            if u == v:
                continue
            edges += 1
            key = (min(u, v) << 32) | max(u, v)
            h = np.uint64(key) * np.uint64(MIX_A)
            slot = (h ^ (h >> np.uint64(31))) & mask
            while keys[slot] >= 0 and keys[slot] != key:
                slot = (slot + np.uint64(1)) & mask
            keys[slot] = key
            owner[slot] = piece[i]
            total[slot] += 1
            signed[slot] += 1 if u < v else -1
    unbalanced = np.full(piece.max() + 1, edges == 0)
    odd = np.full(piece.max() + 1, edges == 0)
    for s in range(size):
        unbalanced[owner[s]] |= signed[s] != 0
        odd[owner[s]] |= (total[s] & 1) != 0
    return unbalanced, odd
