"""Contacts of triangles: one pair, all pairs of two meshes as arrays, and the deepest of them.

A contact of two triangles has the normal along which they part with the least motion, by separating axes. Its depth is
that of the two triangles: it says little about the meshes (two cubes of 12 triangles that overlap by 0.1 have triangle
depths near 1). For the meshes as wholes see `mesh_mesh_separation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from .. import _core
from .._brief import brief
from .._frozen import freeze
from ..errors import InputError
from ._frames import broadcast_rows, one_row, row_matrix
from ._mesh import MAX_COORDINATE, TriangleMesh, check_meshes

KINDS = ("face of a", "face of b", "edge-edge")
"""Which axis a triangle contact comes from."""
CONTACT_WIDTH = 9
"""Numbers in a contact row: point, normal, depth, triangle of A, triangle of B (leaf order)."""


@brief
@dataclass(frozen=True, eq=False)
class Contact:
    """Where and how two things are in each other: what all contacts have in common.

    A contact of two triangles is a `TriTriContact`, one of whole bodies a `Separation`.
    """

    point: Float[np.ndarray, "3"]
    """Contact point, world frame."""
    normal: Float[np.ndarray, "3"]
    """Unit vector from A to B."""
    depth: float
    """Metres, not negative: moving B by `depth * normal` parts the two."""
    tri_a: int
    """Row of `a.faces`; -1 for a shape that is not a mesh."""
    tri_b: int
    """Row of `b.faces`; -1 for a shape that is not a mesh."""


@brief
@dataclass(frozen=True, eq=False)
class TriTriContact(Contact):
    """Contact of two triangles that share at least a point.

    The point is on both of them when the depth is 0, else halfway between the features that are deepest in each other,
    or on the line of intersection. Moving B by `depth * normal` parts the triangles, not the meshes they belong to.
    """

    kind: str
    """Which axis the normal comes from: one of `KINDS`."""


@brief
@dataclass(frozen=True, eq=False)
class Contacts:
    """All pairs of triangles of two meshes that meet, one row each, in the world frame."""

    points: Float[np.ndarray, "n 3"]
    """Contact points: on both surfaces where the depth is 0, else as in `TriTriContact`."""
    normals: Float[np.ndarray, "n 3"]
    """Unit normals from A to B."""
    depths: Float[np.ndarray, "n"]
    """Overlap of the two triangles along the normal: a triangle depth, not one of the meshes."""
    tri_a: Int[np.ndarray, "n"]
    """Rows of `a.faces`."""
    tri_b: Int[np.ndarray, "n"]
    """Rows of `b.faces`."""

    @property
    def triangle_depths(self) -> Float[np.ndarray, "n"]:
        """The same as `depths`, under the name that says whose depth it is."""
        return self.depths

    def __len__(self) -> int:
        return len(self.depths)


@brief
@dataclass(frozen=True, eq=False)
class ContactBatch:
    """Contacts of many poses in one array; those of pose `i` are rows `starts[i]` to `starts[i + 1]`."""

    contacts: Contacts
    """All contacts, pose after pose."""
    starts: Int[np.ndarray, "poses+1"]
    """First row of every pose, and the total."""

    @property
    def counts(self) -> Int[np.ndarray, "poses"]:
        """Contacts per pose."""
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, i: int) -> Contacts:
        n = len(self)
        if not -n <= i < n:
            raise IndexError(f"pose {i} of {n}")
        rows = slice(int(self.starts[i % n]), int(self.starts[i % n + 1]))
        c = self.contacts
        return Contacts(c.points[rows], c.normals[rows], c.depths[rows], c.tri_a[rows], c.tri_b[rows])


def triangle_triangle_intersection(tri_a: Any, tri_b: Any) -> TriTriContact | None:
    """Contact of two triangles, or None when they are apart.

    Touching counts. Triangles without area are treated as the segments or points they are.

    Args:
        tri_a: `(3, 3)` corners, one per row.
        tri_b: `(3, 3)` corners.

    Raises:
        InputError: wrong shape or not finite.
    """
    a, b = _triangle(tri_a, "tri_a"), _triangle(tri_b, "tri_b")
    row = np.empty(CONTACT_WIDTH)
    kind = _core.triangle_contact(a, b, row)
    return None if kind < 0 else TriTriContact(*_parts(row), 0, 0, KINDS[kind])


def mesh_mesh_contact(a: TriangleMesh, T_a: Any, b: TriangleMesh, T_b: Any) -> Contacts:
    """Every pair of triangles that meets, as arrays in the world frame.

    Surfaces only: a mesh wholly inside another has no contacts; see `collide` and `mesh_mesh_separation`.
    """
    one_row(T_a, "T_a")
    one_row(T_b, "T_b")
    return mesh_mesh_contact_batch(a, T_a, b, T_b).contacts


def mesh_mesh_deepest_contact(a: TriangleMesh, T_a: Any, b: TriangleMesh, T_b: Any) -> TriTriContact | None:
    """The pair of triangles that are deepest in each other, in the world frame; None when no triangles meet.

    The largest of `mesh_mesh_contact(...).depths`, found without making the other contacts. Moving B by the depth parts
    these two triangles, not the meshes: how far those must move, `mesh_mesh_separation` says, which takes longer.
    Surfaces only: a mesh wholly inside another has no contacts. For many pairs see `MeshScene.deepest_contacts`.

    Args:
        a: first mesh.
        T_a: its pose in the world, `(7,)` wxyz_xyz or `(4, 4)`; None for the identity.
        b: second mesh.
        T_b: its pose.
    """
    check_meshes(a, b)
    row = np.empty(CONTACT_WIDTH)
    kind = _core.deepest_contact(a.tree, T_a, b.tree, T_b, row)  # one crossing for poses as they usually come
    if kind < -1:
        poses = (row_matrix(one_row(T, what)[0]) for T, what in ((T_a, "T_a"), (T_b, "T_b")))
        kind, row = deepest_row(a, next(poses), b, next(poses))
    if kind < 0:
        return None
    tri_a, tri_b = int(a.order[int(row[7])]), int(b.order[int(row[8])])
    return TriTriContact(*_parts(row), tri_a, tri_b, KINDS[kind])


def _parts(row: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Point, normal and depth of a contact row, read-only."""
    freeze(row)
    return row[:3], row[3:6], float(row[6])


def deepest_row(a: TriangleMesh, T_a: np.ndarray, b: TriangleMesh, T_b: np.ndarray) -> tuple[int, np.ndarray]:
    """Kind (-1 for none) and contact row, triangles in leaf order, of the deepest pair of triangles at sound poses."""
    row = np.zeros(CONTACT_WIDTH)
    return _core.deepest_contact(a.tree, T_a, b.tree, T_b, row), row


def mesh_mesh_contact_batch(a: TriangleMesh, Ts_a: Any, b: TriangleMesh, Ts_b: Any) -> ContactBatch:
    """`mesh_mesh_contact` for a stack of poses in one call."""
    check_meshes(a, b)
    rows_a, rows_b, _, _ = broadcast_rows(Ts_a, Ts_b)
    found = _core.contacts(a.tree, rows_a, b.tree, rows_b)
    freeze(*found)
    return ContactBatch(Contacts(*found[:5]), found[5])


class LeafContacts(NamedTuple):
    """Contacts at one pose with triangles in leaf order, as the trees number them."""

    points: Float[np.ndarray, "n 3"]
    normals: Float[np.ndarray, "n 3"]
    depths: Float[np.ndarray, "n"]
    tri_a: Int[np.ndarray, "n"]
    tri_b: Int[np.ndarray, "n"]


def leaf_contacts(a: TriangleMesh, rows_a: np.ndarray, b: TriangleMesh, rows_b: np.ndarray) -> LeafContacts:
    """All contacts at packed poses `(1, 12)`."""
    return LeafContacts(*_core.contacts(a.tree, rows_a, b.tree, rows_b, leaf_order=True)[:5])


def _triangle(corners: Any, what: str) -> np.ndarray:
    try:
        array = np.array(corners, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected corners of shape (3, 3), found {corners!r:.80}") from error
    if array.shape != (3, 3):
        raise InputError(f"{what}: expected corners of shape (3, 3), found {array.shape}")
    if not np.all(np.isfinite(array)) or np.abs(array).max() > MAX_COORDINATE:
        raise InputError(f"{what}: expected finite coordinates within {MAX_COORDINATE:g} m")
    return array
