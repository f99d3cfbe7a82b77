"""Triangle meshes ready for collision queries.

A `TriangleMesh` checks its triangles, finds out which of them bound a solid, and builds the compiled core's tree of
bounding volumes over them, which every query walks.

Guarantees: arrays are finite and indices valid. What is closed is decided by `elbowroom._closed`, piece by piece: the
closed pieces of a mesh contain things even when others are open. Not checked: self-intersection.

The convex hull is kept as far as depths need it: corners, face normals, edge directions, and whether the mesh is its
hull. Two
convex bodies part soonest along a face normal of one of them or a cross of an edge of each: for these pairs the depth
is found by enumeration. For others the overlap of the hulls is a guide to good directions.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from .. import _core
from .._closed import closed_pieces, connected_pieces, merge_vertices
from .._frozen import freeze, frozen
from ..errors import InputError, shape_text

MAX_COORDINATE = 1e9
"""Metres; beyond this products of three coordinates lose all meaning."""
DEGENERATE = 1e-14
"""Twice the area over the squared longest edge below which a triangle is dropped: thinner is rounding noise."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class TriangleMesh:
    """Triangles with their bounding volume tree, in the mesh's own frame (metres)."""

    vertices: Float[np.ndarray, "verts 3"]
    """Corners as given, read-only."""
    faces: Int[np.ndarray, "tris 3"]
    """Vertex indices as given, read-only. Triangle numbers in results are rows of this array."""
    degenerate: Bool[np.ndarray, "tris"]
    """Triangles without area; they take no part in queries."""
    closed: bool
    """Every piece is closed: the mesh bounds a solid (see `elbowroom._closed`)."""
    closed_faces: Bool[np.ndarray, "tris"]
    """Triangles of closed pieces: only these contain things; the others are surfaces."""
    components: int
    """Number of connected pieces."""
    depth: int
    """Depth of the tree."""
    tree: Any
    """The core's `TriangleTree`."""
    triangles: Float[np.ndarray, "used 9"]
    """Corners in the tree's leaf order, those of closed pieces wound alike."""
    order: Int[np.ndarray, "used"]
    """Row of `faces` of every triangle in leaf order."""

    def __init__(self, vertices: Any, faces: Any) -> None:
        """Checks the triangles and builds the tree.

        Args:
            vertices: `(verts, 3)` finite coordinates in metres.
            faces: `(tris, 3)` indices into `vertices`.

        Raises:
            InputError: wrong shapes or types, NaN, an index out of range, or no triangle with area.
        """
        v, f = _checked(vertices, faces)
        corners = v[f].reshape(-1, 9)
        degenerate = _degenerate(corners)
        if bool(degenerate.all()):
            raise InputError(
                f"mesh: expected at least one triangle with area, found {len(f)}, all of them degenerate"
            )
        self._assemble(v, f, degenerate)

    def _assemble(
        self, v: np.ndarray, f: np.ndarray, degenerate: np.ndarray, *, may_close: bool = True
    ) -> None:
        """Fills the fields; without `may_close` balanced edges bound nothing (those of a degenerate triangle)."""
        label, first = merge_vertices(v)
        merged = label[f]
        pieces = closed_pieces(v[first], merged)
        closed_faces = pieces.closed & may_close
        turned = (pieces.faces != merged).any(axis=1)
        used = np.flatnonzero(~degenerate)
        corners = v[np.where(turned[:, None], f[:, ::-1], f)[used]]
        number = connected_pieces(merged[used], len(first))
        points = v[f[used[np.unique(number, return_index=True)[1]], 0]]
        tree = _core.TriangleTree(corners, used, closed_faces[used], points)
        values: dict[str, Any] = {
            "vertices": v,
            "faces": f,
            "degenerate": degenerate,
            "closed": bool(closed_faces.all()),
            "closed_faces": closed_faces,
            "components": len(points),
            "depth": tree.depth,
            "tree": tree,
            "triangles": tree.triangles.reshape(-1, 9),
            "order": tree.order,
        }
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                freeze(value)
            object.__setattr__(self, name, value)

    @classmethod
    def from_trimesh(cls, mesh: Any) -> TriangleMesh:
        """Takes the vertices and faces of a `trimesh.Trimesh`, or of anything with these two arrays."""
        if not hasattr(mesh, "vertices") or not hasattr(mesh, "faces"):
            raise InputError(f"mesh: expected an object with vertices and faces, found {shape_text(mesh)}")
        return cls(mesh.vertices, mesh.faces)

    @classmethod
    def box(cls, size: Any) -> TriangleMesh:
        """A box centred at the origin: 12 triangles, wound outward.

        Args:
            size: `(3,)` edge lengths in metres.
        """
        edges = np.asarray(size, dtype=np.float64)
        if edges.shape != (3,) or not np.all(np.isfinite(edges)) or not np.all(edges > 0):
            raise InputError(f"size: expected three positive lengths, found {size!r:.80}")
        corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
        return cls(corners * edges, np.array(faces))

    @classmethod
    def core(cls, points: np.ndarray) -> TriangleMesh:
        """A point or a segment as one degenerate triangle: the core of a sphere or a capsule."""
        mesh = cls.__new__(cls)
        v = np.ascontiguousarray(points, dtype=np.float64)
        f = np.array([[0, len(v) - 1, len(v) - 1]])
        mesh._assemble(v, f, np.zeros(1, dtype=bool), may_close=False)
        return mesh

    @property
    def n_degenerate(self) -> int:
        """How many triangles were dropped because they have no area."""
        return int(self.degenerate.sum())

    @cached_property
    def _bounds(self) -> Float[np.ndarray, "2 3"]:
        """Centre and half extents of the bounding box."""
        return frozen(self.tree.bounds)

    @property
    def center(self) -> Float[np.ndarray, "3"]:
        """Centre of the bounding box."""
        return self._bounds[0]

    @property
    def half_extents(self) -> Float[np.ndarray, "3"]:
        """Half the size of the bounding box."""
        return self._bounds[1]

    @property
    def radius(self) -> float:
        """Half the diagonal of the bounding box."""
        return float(np.linalg.norm(self.half_extents))

    @cached_property
    def hull(self) -> Hull:
        """The convex hull, made when first asked for: for choosing directions, and is the mesh convex?"""
        return hull_of(self.vertices[np.unique(self.faces)], self.triangles, self.closed)

    @cached_property
    def surface(self) -> TriangleMesh:
        """The same triangles as a surface: nothing is inside it, closed or not."""
        if not self.closed_faces.any():
            return self
        mesh, open_faces = TriangleMesh.__new__(TriangleMesh), frozen(np.zeros(len(self.faces), dtype=bool))
        changed = {"closed": False, "closed_faces": open_faces, "tree": self.tree.as_surface()}
        for field in fields(self):
            object.__setattr__(mesh, field.name, changed.get(field.name, getattr(self, field.name)))
        return mesh

    @cached_property
    def digest(self) -> bytes:
        """Tells meshes of other triangles apart: a hash of those that take part in queries."""
        return hashlib.blake2b(self.triangles.tobytes(), digest_size=16).digest()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        freeze(
            *(value for value in state.values() if isinstance(value, np.ndarray))
        )  # pickling makes them writable

    def __len__(self) -> int:
        return len(self.faces)

    def __repr__(self) -> str:
        kind = "closed" if self.closed else ("partly closed" if self.closed_faces.any() else "open")
        dropped = f", {self.n_degenerate} degenerate" if self.n_degenerate else ""
        return f"TriangleMesh({len(self.faces)} triangles{dropped}, {kind}, {self.components} pieces)"


def _checked(vertices: Any, faces: Any) -> tuple[np.ndarray, np.ndarray]:
    """Arrays of the right shape, type and range, not shared with the caller."""
    try:
        v = np.array(vertices, dtype=np.float64, order="C")
        f = np.array(faces)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"mesh: expected arrays of numbers, found {shape_text(vertices)} and {shape_text(faces)}"
        ) from error
    if v.ndim != 2 or v.shape[1] != 3:
        raise InputError(f"vertices: expected shape (verts, 3), found {v.shape}")
    if f.ndim != 2 or f.shape[1] != 3:
        raise InputError(f"faces: expected shape (tris, 3), found {f.shape}")
    if len(f) == 0:
        raise InputError("faces: expected at least one triangle, found none")
    if f.dtype.kind not in "iu":
        with np.errstate(invalid="ignore"):
            whole = f.dtype.kind == "f" and bool(np.all(np.isfinite(f)) and np.all(f == np.floor(f)))
        if not whole:
            raise InputError(f"faces: expected whole numbers, found {f.dtype}")
    if not np.all(np.isfinite(v)):
        raise InputError(
            f"vertices: {int((~np.isfinite(v)).any(axis=1).sum())} of {len(v)} are NaN or infinite"
        )
    low, high = int(f.min()), int(f.max())
    if low < 0 or high >= len(v):
        raise InputError(f"faces: expected indices from 0 to {len(v) - 1}, found {low} to {high}")
    if np.abs(v).max() > MAX_COORDINATE:
        raise InputError(
            f"vertices: expected coordinates within {MAX_COORDINATE:g} m, found {np.abs(v).max():.3g}"
        )
    return v, np.ascontiguousarray(f, dtype=np.int64)


def _degenerate(corners: np.ndarray) -> np.ndarray:
    """Triangles whose area is nothing against their longest edge."""
    u, v = corners[:, 3:6] - corners[:, :3], corners[:, 6:] - corners[:, :3]
    w = v - u
    longest = np.maximum(np.maximum((u * u).sum(1), (v * v).sum(1)), (w * w).sum(1))
    return ~(np.linalg.norm(np.cross(u, v), axis=1) > DEGENERATE * longest)


def check_meshes(*meshes: Any) -> None:
    """Refuses anything that is not a `TriangleMesh`."""
    for mesh in meshes:
        if not isinstance(mesh, TriangleMesh):
            raise InputError(f"mesh: expected a TriangleMesh, found a {type(mesh).__name__}")


MAX_HULL = 400
"""Corners, normals and edges kept at most."""
MAX_TESTS = 20_000_000
"""Products of triangles and hull planes up to which convexity is checked; larger meshes are treated as non-convex."""
ON_PLANE = 1e-12
"""Fraction of the mesh's size by which a triangle of a convex mesh may be off the planes of its hull."""


@dataclass(frozen=True, eq=False)
class Hull:
    """Convex hull in the frame of its mesh; an arbitrary part of it where it is too large."""

    points: Float[np.ndarray, "n 3"]
    """Corners."""
    normals: Float[np.ndarray, "m 3"]
    """Outward unit normals, each once; none for a flat mesh."""
    edges: Float[np.ndarray, "k 3"]
    """Unit directions of the edges, each once and with either sign; those inside flat faces are left out."""
    convex: bool
    """The mesh is closed, all its triangles are on its hull, and nothing of the hull was left out."""


def hull_of(points: np.ndarray, triangles: np.ndarray, closed: bool) -> Hull:
    """Hull of `points` (n, 3); `triangles` (m, 9) and `closed` are those of the mesh."""
    from scipy.spatial import ConvexHull, QhullError  # slow to import, and no verdict needs it

    try:
        hull = ConvexHull(points)
    except QhullError:
        return Hull(_some(points), np.empty((0, 3)), np.empty((0, 3)), False)
    planes = _distinct(hull.equations, 9)
    edges = _edge_directions(points, hull)
    corners = points[hull.vertices]
    whole = max(len(planes), len(edges), len(corners)) <= MAX_HULL
    convex = closed and whole and _on_planes(triangles, planes)
    return Hull(_some(corners), _some(planes[:, :3]), _some(edges), convex)


def _on_planes(triangles: np.ndarray, planes: np.ndarray) -> bool:
    """Does every triangle lie on one of the planes (m, 4), all of which have it on the same side?"""
    if len(triangles) * len(planes) > MAX_TESTS:
        return False
    centers = triangles.reshape(-1, 3, 3).mean(axis=1)
    height = (centers @ planes[:, :3].T + planes[:, 3]).max(axis=1)
    return bool(height.min() >= -ON_PLANE * np.ptp(triangles.reshape(-1, 3), axis=0).sum())


def _some(rows: np.ndarray) -> np.ndarray:
    """At most MAX_HULL of the rows, always the same ones."""
    if len(rows) <= MAX_HULL:
        return rows
    return rows[np.random.default_rng(0).choice(len(rows), MAX_HULL, replace=False)]


def _distinct(rows: np.ndarray, digits: int) -> np.ndarray:
    """One of each set of rows that are equal to some digits, itself not rounded."""
    return rows[np.unique(np.round(rows, digits) + 0.0, axis=0, return_index=True)[1]]


def _edge_directions(points: np.ndarray, hull: Any) -> np.ndarray:
    """Distinct directions of a hull's edges, those inside flat faces left out."""
    found: list[np.ndarray] = []
    for k in range(3):
        other = hull.equations[hull.neighbors[:, k], :3]
        bent = np.einsum("ij,ij->i", hull.equations[:, :3], other) < 1.0 - 1e-9
        pair = np.delete(hull.simplices, k, axis=1)[bent]
        found.append(points[pair[:, 1]] - points[pair[:, 0]])
    edges = np.concatenate(found)
    edges = edges / np.linalg.norm(edges, axis=1, keepdims=True)
    sign = np.sign(edges[np.arange(len(edges)), np.argmax(np.abs(edges) > 1e-6, axis=1)])
    return _distinct(edges * sign[:, None], 6)
