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

from .. import _core
from .._brief import brief
from .._frozen import freeze
from ._depth import separation_at
from ._frames import broadcast_rows, one_row
from ._mesh import TriangleMesh, check_meshes


@brief
@dataclass(frozen=True, eq=False)
class MeshDistance:
    """Signed distance of two meshes (positive apart, negative overlapping) with witnesses, in the world frame."""

    distance: float
    """Metres: clearance when positive, minus the depth of penetration when not."""
    point_a: Float[np.ndarray, "3"]
    """Closest point on A's surface; when penetrating, the point of A that touches last while moving out."""
    point_b: Float[np.ndarray, "3"]
    """The same on B: `point_b - point_a` is `distance * normal`."""
    normal: Float[np.ndarray, "3"]
    """Unit vector from A to B."""
    tri_a: int
    """Row of `a.faces` that holds `point_a`."""
    tri_b: int
    """Row of `b.faces` that holds `point_b`."""


@brief
@dataclass(frozen=True, eq=False)
class DistanceBatch:
    """Signed distances of many poses (positive apart, negative overlapping), world frame; fields of `MeshDistance`."""

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
    """Signed distance of two posed meshes in metres: positive apart, negative overlapping.

    Args:
        a: first mesh.
        T_a: its pose in the world, `(7,)` or `(4, 4)`; None for the identity.
        b: second mesh.
        T_b: its pose.
        contain: closed meshes are solids: containment is penetration.
    """
    check_meshes(a, b)
    many = _distances(a, one_row(T_a, "T_a"), b, one_row(T_b, "T_b"), contain, True)
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
    """`distance` for a stack of poses in one call, metres: positive apart, negative overlapping.

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
    rows_a, rows_b, _, _ = broadcast_rows(Ts_a, Ts_b)
    return _distances(a, rows_a, b, rows_b, contain, signed)


def _distances(
    a: TriangleMesh, rows_a: np.ndarray, b: TriangleMesh, rows_b: np.ndarray, contain: bool, signed: bool
) -> DistanceBatch:
    """`distance_batch` at packed poses."""
    states, *found = _core.distances(a.tree, rows_a, b.tree, rows_b, bool(contain))
    many = DistanceBatch(*found)
    if signed:
        for i in np.flatnonzero(states).tolist():
            _write_depth(a, rows_a[i % len(rows_a)][None], b, rows_b[i % len(rows_b)][None], contain, many, i)
    freeze(*found)
    return many


def _write_depth(
    a: TriangleMesh,
    rows_a: np.ndarray,
    b: TriangleMesh,
    rows_b: np.ndarray,
    contain: bool,
    many: DistanceBatch,
    i: int,
) -> None:
    """Row `i` of a batch for meshes that collide."""
    contact = separation_at(a, rows_a, b, rows_b, contain)
    if contact is None:  # they touch to rounding only: asked the other way round, they are just apart
        back = _distances(b, rows_b, a, rows_a, contain, False)
        many.distances[i], many.normals[i] = 0.0, -back.normals[0]
        many.points_a[i], many.points_b[i] = back.points_b[0], back.points_a[0]
        many.tri_a[i], many.tri_b[i] = back.tri_b[0], back.tri_a[0]
        return
    many.distances[i], many.normals[i] = -contact.depth, contact.normal
    many.points_a[i], many.points_b[i] = contact.point_a, contact.point_b
    many.tri_a[i], many.tri_b[i] = contact.tri_a, contact.tri_b
