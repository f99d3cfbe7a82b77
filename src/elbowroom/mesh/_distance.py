"""Distance between posed meshes, with the closest points.

First the boolean; for meshes apart, the closest points of the convex hulls (GJK) seed a branch and bound over both
trees; for colliding ones the distance is the negative depth of `mesh_mesh_separation`. Exact to rounding when
apart (the search may stop within a relative 1e-9 of a proved lower bound).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .._frozen import freeze
from ._depth import mesh_mesh_separation
from ._frames import broadcast_rows, one_row, row_matrix
from ._kernels_distance import batch_distances
from ._mesh import TriangleMesh, check_meshes


@dataclass(frozen=True, eq=False)
class MeshDistance:
    """Signed distance of two meshes with witnesses, in the world frame."""

    distance: float
    """Metres: clearance when positive, minus the depth of penetration when not."""
    point_a: Float[np.ndarray, "3"]
    """Closest point on A's surface; when penetrating, the point of A that is last in touch on the way out."""
    point_b: Float[np.ndarray, "3"]
    """The same on B: `point_b - point_a` is `distance * normal`."""
    normal: Float[np.ndarray, "3"]
    """Unit vector from A to B."""
    tri_a: int
    """Row of `a.faces` that holds `point_a`."""
    tri_b: int
    """Row of `b.faces` that holds `point_b`."""


@dataclass(frozen=True, eq=False)
class DistanceBatch:
    """Signed distances of many poses, in the world frame; fields as in `MeshDistance`."""

    distances: Float[np.ndarray, "n"]
    """Clearance, or minus the depth."""
    points_a: Float[np.ndarray, "n 3"]
    """Closest points on A."""
    points_b: Float[np.ndarray, "n 3"]
    """Closest points on B."""
    normals: Float[np.ndarray, "n 3"]
    """Unit vectors from A to B."""
    tri_a: Int[np.ndarray, "n"]
    """Rows of `a.faces`."""
    tri_b: Int[np.ndarray, "n"]
    """Rows of `b.faces`."""

    def __len__(self) -> int:
        return len(self.distances)


def distance(a: TriangleMesh, T_a: Any, b: TriangleMesh, T_b: Any, *, contain: bool = True) -> MeshDistance:
    """Signed distance of two posed meshes.

    Args:
        a: first mesh.
        T_a: its pose in the world, `(7,)` or `(4, 4)`; None for the identity.
        b: second mesh.
        T_b: its pose.
        contain: closed meshes are solids: containment is penetration.
    """
    one_row(T_a, "T_a")
    one_row(T_b, "T_b")
    many = distance_batch(a, T_a, b, T_b, contain=contain)
    return MeshDistance(
        float(many.distances[0]),
        many.points_a[0],
        many.points_b[0],
        many.normals[0],
        int(many.tri_a[0]),
        int(many.tri_b[0]),
    )


def distance_batch(
    a: TriangleMesh, Ts_a: Any, b: TriangleMesh, Ts_b: Any, *, contain: bool = True, signed: bool = True
) -> DistanceBatch:
    """`distance` for a stack of poses in one call.

    Args:
        a: first mesh.
        Ts_a: its poses.
        b: second mesh.
        Ts_b: its poses.
        contain: closed meshes are solids.
        signed: False reports 0 for colliding poses (points and normals NaN, triangles -1) instead of searching the
            depth, which costs milliseconds where a distance costs microseconds.
    """
    check_meshes(a, b)
    rows_a, rows_b, n, _ = broadcast_rows(Ts_a, Ts_b)
    states, out = np.zeros(n, np.uint8), np.full((n, 9), np.nan)
    out[:, 0], out[:, 7:] = 0.0, -1
    batch_distances(a.packed, a.triangles, b.packed, b.triangles, rows_a, rows_b, states, out, bool(contain))
    apart = states == 0
    tri_a, tri_b = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    tri_a[apart], tri_b[apart] = (
        a.order[out[apart, 7].astype(np.int64)],
        b.order[out[apart, 8].astype(np.int64)],
    )
    points_a, points_b = out[:, 1:4].copy(), out[:, 4:7].copy()
    normals = np.full((n, 3), np.nan)
    span = points_b[apart] - points_a[apart]
    length = np.linalg.norm(span, axis=1, keepdims=True)
    normals[apart] = np.where(length > 0, span / np.where(length > 0, length, 1.0), (0.0, 0.0, 1.0))
    distances = out[:, 0].copy()
    if signed:
        for i in np.flatnonzero(~apart):
            row_a, row_b = rows_a[i % len(rows_a)], rows_b[i % len(rows_b)]
            contact = mesh_mesh_separation(a, row_matrix(row_a), b, row_matrix(row_b), contain=contain)
            if contact is None:  # they touch to rounding only: asked the other way round, they are just apart
                back = distance_batch(
                    b, row_matrix(row_b), a, row_matrix(row_a), contain=contain, signed=False
                )
                distances[i], normals[i] = 0.0, -back.normals[0]
                points_a[i], points_b[i] = back.points_b[0], back.points_a[0]
                tri_a[i], tri_b[i] = back.tri_b[0], back.tri_a[0]
                continue
            distances[i], normals[i] = -contact.depth, contact.normal
            points_a[i], points_b[i] = contact.point_a, contact.point_b
            tri_a[i], tri_b[i] = contact.tri_a, contact.tri_b
    freeze(distances, points_a, points_b, normals, tri_a, tri_b)
    return DistanceBatch(distances, points_a, points_b, normals, tri_a, tri_b)
