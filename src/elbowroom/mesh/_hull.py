"""Convex hull of a mesh as far as depths need it: corners, face normals, edge directions, and is the mesh its hull?

Two convex bodies part soonest along a face normal of one of them or a cross of an edge of each: for these pairs the
depth is found by enumeration. For others the overlap of the hulls is a guide to good directions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.spatial import ConvexHull, QhullError

MAX_HULL = 400
"""Corners, normals and edges kept at most."""
MAX_TESTS = 20_000_000
"""Products of triangles and hull planes up to which convexity is looked at; larger meshes are treated as non-convex."""
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


def _edge_directions(points: np.ndarray, hull: ConvexHull) -> np.ndarray:
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
