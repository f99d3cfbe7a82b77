"""Contacts of triangles: one pair, all pairs of two meshes as arrays, and the deepest of them.

A contact of two triangles has the normal along which they part with the least motion, by separating axes. Its depth is
that of the two triangles: it says little about the meshes (two cubes of 12 triangles that overlap by 0.1 have triangle
depths near 1). For the meshes as wholes see `mesh_mesh_separation`.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from .._frozen import freeze
from ..errors import InputError
from ._frames import broadcast_rows, one_row
from ._kernels_batch import CONTACT_WIDTH, batch_contacts
from ._kernels_contact import triangle_contact
from ._kernels_deepest import UNSOUND, deepest_at, deepest_triangles
from ._kernels_query import TOUCH
from ._kernels_tritri import triangles_meet
from ._mesh import MAX_COORDINATE, TriangleMesh, check_meshes

KINDS = ("face of a", "face of b", "edge-edge")
"""Which axis a triangle contact comes from."""
MAX_KEPT = 500_000
"""Rows a thread keeps between calls at most: 36 MB."""


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


@dataclass(frozen=True, eq=False)
class TriTriContact(Contact):
    """Contact of two triangles that share at least a point.

    The point is on both of them when the depth is 0, else halfway between the features that are deepest in each other,
    or on the line of intersection. Moving B by `depth * normal` parts the triangles, not the meshes they belong to.
    """

    kind: str
    """Which axis the normal comes from: one of `KINDS`."""


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
    w, out = np.empty((32, 3)), np.empty((1, CONTACT_WIDTH))
    tol = TOUCH * max(float(np.abs(a).max()), float(np.abs(b).max()))
    if not triangles_meet(a, 0, b, 0, tol, w):
        return None
    kind = triangle_contact(a, 0, b, 0, w, out, 0)
    point, normal = out[0, :3].copy(), out[0, 3:6].copy()
    freeze(point, normal)
    return TriTriContact(point, normal, float(out[0, 6]), 0, 0, KINDS[kind])


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
    Surfaces only: a mesh wholly inside another has no contacts. For many pairs at once see `Scene.deepest_contacts`.

    Args:
        a: first mesh.
        T_a: its pose in the world, `(7,)` wxyz_xyz or `(4, 4)`; None for the identity.
        b: second mesh.
        T_b: its pose.
    """
    check_meshes(a, b)
    kind, row = UNSOUND, np.zeros((1, CONTACT_WIDTH))
    if _is_matrix(T_a) and _is_matrix(T_b):  # the usual case, in one crossing
        matrices = _workspace.matrices
        matrices[0], matrices[1] = T_a, T_b
        kind = deepest_at(a.packed, a.triangles, b.packed, b.triangles, matrices, row)
    if kind == UNSOUND:
        kind, row = deepest_row(a, one_row(T_a, "T_a")[0], b, one_row(T_b, "T_b")[0])
    if kind < 0:
        return None
    row = row.reshape(CONTACT_WIDTH)
    freeze(row)
    depth, i, j = row[6:].tolist()
    return TriTriContact(row[:3], row[3:6], depth, int(a.order[int(i)]), int(b.order[int(j)]), KINDS[kind])


def deepest_row(
    a: TriangleMesh, row_a: np.ndarray, b: TriangleMesh, row_b: np.ndarray
) -> tuple[int, np.ndarray]:
    """Kind (-1 for none) and contact row, triangles in leaf order, of the deepest pair of triangles at packed poses."""
    row = np.zeros((1, CONTACT_WIDTH))
    return deepest_triangles(a.packed, a.triangles, b.packed, b.triangles, row_a, row_b, row), row[0]


def mesh_mesh_contact_batch(a: TriangleMesh, Ts_a: Any, b: TriangleMesh, Ts_b: Any) -> ContactBatch:
    """`mesh_mesh_contact` for a stack of poses in one call."""
    rows, starts = contact_table(a, Ts_a, b, Ts_b)
    points, normals, depths = rows[:, :3].copy(), rows[:, 3:6].copy(), rows[:, 6].copy()
    tri_a, tri_b = a.order[rows[:, 7].astype(np.int64)], b.order[rows[:, 8].astype(np.int64)]
    freeze(points, normals, depths, tri_a, tri_b, starts)
    return ContactBatch(Contacts(points, normals, depths, tri_a, tri_b), starts)


def contact_table(a: TriangleMesh, Ts_a: Any, b: TriangleMesh, Ts_b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Contact rows as the kernel writes them (triangles in leaf order) and the first row of every pose.

    The rows belong to the thread's workspace: they are overwritten by the next call.
    """
    check_meshes(a, b)
    rows_a, rows_b, n, _ = broadcast_rows(Ts_a, Ts_b)
    starts = np.zeros(n + 1, np.int64)
    work = _workspace
    found, rows = work.found, work.rows
    done = 0
    while True:
        done, more_found, more_rows = batch_contacts(
            a.packed, a.triangles, b.packed, b.triangles, rows_a, rows_b, done, starts, found, rows
        )
        if done == n:
            return rows[: starts[n]], starts
        if more_found:
            found = np.empty(2 * more_found, np.int64)
        if more_rows:
            larger = np.empty((more_rows + more_rows * n // max(1, done + 1) // 2 + 256, CONTACT_WIDTH))
            larger[: starts[done]] = rows[: starts[done]]
            rows = larger
        if len(rows) <= MAX_KEPT and len(found) <= MAX_KEPT:
            work.found, work.rows = found, rows


def _is_matrix(T: Any) -> bool:
    return type(T) is np.ndarray and T.shape == (4, 4) and T.dtype == np.float64


class _Workspace(threading.local):
    """Buffers of a thread, kept between calls: fresh memory costs more than the contacts written to it."""

    def __init__(self) -> None:
        self.found = np.empty(4096, np.int64)
        self.rows = np.empty((4096, CONTACT_WIDTH))
        self.matrices = np.empty((2, 4, 4))


_workspace = _Workspace()


def _triangle(corners: Any, what: str) -> np.ndarray:
    try:
        array = np.array(corners, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected corners of shape (3, 3), found {corners!r:.80}") from error
    if array.shape != (3, 3):
        raise InputError(f"{what}: expected corners of shape (3, 3), found {array.shape}")
    if not np.all(np.isfinite(array)) or np.abs(array).max() > MAX_COORDINATE:
        raise InputError(f"{what}: expected finite coordinates within {MAX_COORDINATE:g} m")
    return array.reshape(1, 9)
