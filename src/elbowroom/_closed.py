"""Which triangles bound a solid: the one place that says what *closed* means, for proofs, containment and `info` alike.

Vertices at the same place are one, so a mesh stored as loose triangles can be seen to be closed. A connected piece
(shared vertices connect) is closed when every edge is met by as many edges running the other way, after its faces were
turned to agree with each other where that is needed. Each point then has a whole winding number about the closed
pieces, and inside means that it is not zero: a mesh wound inside out is closed too. Pieces wound against each other are
turned so that overlaps do not cancel and cavities do; the core's `closed.hpp` says how. Not looked for: a piece that
crosses itself.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

REMEMBERED = 64
"""Meshes whose faces were turned that are remembered."""
_WOUND: dict[bytes, Int64] = {}


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
    count = int(piece.max()) + 1
    unbalanced, odd = _core.edge_faults(faces, piece, count)
    doubtful = unbalanced & ~odd
    if doubtful.any():  # every edge is shared, but some faces are turned the wrong way
        pick = np.flatnonzero(doubtful[piece])
        turned = _wound_alike(vertices, faces[pick])
        if len(turned) == len(pick):
            candidate = faces.copy()
            candidate[pick] = turned
            better = doubtful & ~_core.edge_faults(candidate, piece, count)[0]
            faces = np.where(better[piece][:, None], candidate, faces)
            unbalanced &= ~better
    turn = _core.inverted_pieces(vertices, faces, piece, ~unbalanced)
    if turn.any():
        faces = np.where(turn[piece][:, None], faces[:, ::-1], faces)
    return Pieces(faces, ~unbalanced[piece])


def _wound_alike(vertices: Float64, faces: Int64) -> Int64:
    """The faces, turned to agree with their neighbours.

    Slow, and needed several times for the same link: answers are remembered. They depend on
    the faces alone, vertices only have to be there.
    """
    import trimesh

    key = hashlib.sha256(np.ascontiguousarray(faces).tobytes()).digest()
    found = _WOUND.get(key)
    if found is None:
        mesh = trimesh.Trimesh(vertices, faces, process=False, validate=False)
        trimesh.repair.fix_winding(mesh)
        found = np.asarray(mesh.faces, dtype=np.int64)
        found.flags.writeable = False
        if len(_WOUND) >= REMEMBERED:
            _WOUND.pop(next(iter(_WOUND)), None)
        _WOUND[key] = found
    return found


def is_closed(mesh: Any) -> bool:
    """Whether every piece of a mesh, anything with `vertices` and `faces`, is closed."""
    corners = np.asarray(mesh.vertices, dtype=np.float64)[np.asarray(mesh.faces)].reshape(-1, 3)
    if len(corners) == 0 or not np.isfinite(corners).all():
        return False
    label, first = merge_vertices(corners)
    return bool(closed_pieces(corners[first], label.reshape(-1, 3)).closed.all())


def merge_vertices(vertices: Float64) -> tuple[Int64, Int64]:
    """Number of the place of every vertex (n,), and the first vertex at every place; no tolerance, -0 is 0."""
    return _core.merge_vertices(vertices)


def connected_pieces(faces: Int64, n_vertices: int) -> Int64:
    """Piece of each face (tris,), numbered in the order of their first faces; shared vertices connect."""
    return _core.connected_pieces(faces, n_vertices)
