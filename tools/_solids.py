"""Closed solids by constructive geometry, for the scripts that model the bundled robots.

Lengths are millimetres while modelling and metres once finished. Finished vertices lie on a grid of
2**-20 m (about 1 micrometre): binary STL stores single precision numbers, which hold every multiple of
2**-20 below 16 m exactly, so a signed permutation of the axes and a move by a multiple of the grid leave the
shape the same to the last bit. Faces and vertices are written in a canonical order, so equal input gives
equal bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from manifold3d import Manifold, OpType
from numpy.typing import NDArray

GRID = 2.0**-20
"""Spacing of finished vertices, metres."""

SIMPLIFY_MM = 0.05
"""Slivers thinner than this are merged away before a solid is finished, millimetres."""

Floats = NDArray[np.float64]
Vector = Sequence[float] | Floats


def block(lo: Vector, hi: Vector, bevel: float = 3.0) -> Manifold:
    """Return the box between two corners, every edge bevelled by `bevel` (0 for a sharp box)."""
    low, high = np.asarray(lo, float), np.asarray(hi, float)
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    if bevel == 0.0:
        return Manifold.hull_points(low + corners * (high - low))
    points = [
        low + corners * (high - low) + bevel * (0.5 - corners) * 2.0 * (1.0 - axis) for axis in np.eye(3)
    ]
    return Manifold.hull_points(np.concatenate(points))


def rod(start: Vector, end: Vector, radius: float, bevel: float = 1.5, sides: int = 32) -> Manifold:
    """Return the round rod between two points, its rims bevelled by `bevel`."""
    first, last = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(last - first))
    along = (last - first) / length
    across = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    across /= np.linalg.norm(across)
    turns = 2.0 * np.pi * (np.arange(sides) + 0.5) / sides
    ring = np.outer(np.cos(turns), across) + np.outer(np.sin(turns), np.cross(along, across))
    stations = [(0.0, radius - bevel), (bevel, radius), (length - bevel, radius), (length, radius - bevel)]
    return Manifold.hull_points(np.concatenate([first + at * along + r * ring for at, r in stations]))


def bore(start: Vector, end: Vector, radius: float, sides: int = 24) -> Manifold:
    """Return a sharp rod, to be taken away."""
    return rod(start, end, radius, bevel=0.0, sides=sides)


def hull(*solids: Manifold) -> Manifold:
    """Return the convex hull of some solids."""
    return Manifold.batch_hull(list(solids))


def union(*solids: Manifold) -> Manifold:
    """Return the union of some solids."""
    return Manifold.batch_boolean(list(solids), OpType.Add)


def finish(
    solid: Manifold, rotation: Floats, offset: Vector = (0.0, 0.0, 0.0)
) -> tuple[Floats, NDArray[np.int64]]:
    """Turn a solid, move it and snap it to the grid.

    Args:
        solid: In millimetres.
        rotation: `(3, 3)`, applied to the vertices.
        offset: Added afterwards, metres.

    Returns:
        Vertices `(verts, 3)` in metres on the grid, and faces `(tris, 3)`, outward by the right-hand rule.
    """
    mesh = solid.simplify(SIMPLIFY_MM).to_mesh64()
    moved = np.asarray(mesh.vert_properties)[:, :3] * 1e-3 @ rotation.T + np.asarray(offset, float)
    cells, index = np.unique(np.round(moved / GRID).astype(np.int64), axis=0, return_inverse=True)
    faces = index.reshape(-1)[np.asarray(mesh.tri_verts, dtype=np.int64)]
    kept = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    return canonical((cells * GRID).astype(np.float64), faces[kept])


def canonical(verts: Floats, faces: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """Return the same mesh with vertices, and then faces, in ascending order."""
    order = np.lexsort(verts.T[::-1])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    faces = rank[faces]
    start = np.argmin(faces, axis=1)
    turned = np.take_along_axis(faces, (start[:, None] + np.arange(3)) % 3, axis=1)
    return verts[order], turned[np.lexsort(turned.T[::-1])]


def write_stl(path: Path, verts: Floats, faces: NDArray[np.int64]) -> None:
    """Write a binary STL file."""
    corners = verts[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    record = np.zeros(
        len(faces), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")]
    )
    record["normal"] = np.round(normals, 6) + 0.0
    record["corners"] = corners
    header = b"elbowroom".ljust(80, b" ")
    path.write_bytes(header + np.uint32(len(faces)).astype("<u4").tobytes() + record.tobytes())
