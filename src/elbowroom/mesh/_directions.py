"""Directions in which the search for the depth of two meshes begins, in A's frame.

Convex pairs with few edges: the direction of least overlap, by enumeration, and no other. Other pairs: valleys of the
overlap of the hulls, the line of centres, normals of triangles in contact, axes; and an even cover of the sphere.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .. import _core
from ._mesh import TriangleMesh

MAX_CROSSES = 2000
"""Pairs of hull edges up to which all their crosses are tried."""
HULL_FACES = 8
"""Face normals and edge crosses of hulls taken as directions for a search: those with the least overlap."""
CONTACTS = 16
"""Contacts whose normals are taken as directions at most."""
NEARLY = 0.999
"""Fraction of the overlap of convex meshes at which sliding begins: before that they cannot be apart."""
SURE = 20
"""Directions from which a descent starts whether they look promising or not."""

Directions = Float[np.ndarray, "n 3"]


class Search(NamedTuple):
    """Where the search for a depth goes; unit vectors in A's frame."""

    starts: Directions
    """Descents start from these."""
    scan: Directions
    """These are looked at, and a descent starts where one is promising."""
    spread: Directions
    """Small offsets; the best direction is looked at with each of them added."""
    begin: float
    """When positive, the one start is the best direction, and the meshes are not apart up to this translation."""


def search_directions(a: TriangleMesh, b: TriangleMesh, rel: np.ndarray, normals: Directions) -> Search:
    """Directions worth a look for the depth of two meshes.

    Args:
        a: first mesh.
        b: second mesh.
        rel: `(12,)` its packed pose in the frame of the first.
        normals: `(n, 3)` normals of contacts and of triangles in contact, any length.
    """
    R, t = rel[:9].reshape(3, 3), rel[9:]
    directions, overlap = _face_and_cross_directions(a, b, rel)
    even = _overlaps(a, b, rel, EVEN)
    valleys = np.flatnonzero(even <= even[_neighbours()].min(axis=1))
    faces = np.argsort(overlap)[:HULL_FACES]
    hull = np.concatenate([EVEN[valleys], directions[faces]])
    hull = hull[np.argsort(np.concatenate([even[valleys], overlap[faces]]))]
    line = R @ b.center + t - a.center
    found = np.concatenate([hull, line[None], normals, LATTICE, R.T, -R.T])
    length = np.linalg.norm(found, axis=1)
    found = found[length > 1e-12] / length[length > 1e-12, None]
    _, first = np.unique(np.round(found, 2), axis=0, return_index=True)
    found = found[np.sort(first)]
    return Search(found[:SURE], np.concatenate([found[SURE:], EVEN]), OFFSETS, 0.0)


def convex_pair(a: TriangleMesh, b: TriangleMesh) -> bool:
    """Can the best direction of the pair, as solids, be found by enumeration?"""
    return a.hull.convex and b.hull.convex and len(a.hull.edges) * len(b.hull.edges) <= MAX_CROSSES


def convex_direction(a: TriangleMesh, b: TriangleMesh, rel: np.ndarray) -> Search:
    """The best direction of a `convex_pair` whose meshes are solids; arguments as for `search_directions`."""
    directions, overlap = _face_and_cross_directions(a, b, rel)
    best = int(np.argmin(overlap))
    return Search(directions[best : best + 1], NONE, NONE, NEARLY * max(0.0, float(overlap[best])))


def _overlaps(a: TriangleMesh, b: TriangleMesh, rel: np.ndarray, d: np.ndarray) -> np.ndarray:
    """How far B must move along each direction until a plane across it parts the hulls."""
    return _core.hull_overlaps(a.hull.points, b.hull.points, rel, d)


def _face_and_cross_directions(
    a: TriangleMesh, b: TriangleMesh, rel: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Normals of the Minkowski difference of the hulls (no crosses where there are too many), and their overlaps."""
    R = rel[:9].reshape(3, 3)
    parts = [a.hull.normals, -b.hull.normals @ R.T]
    edges_a, edges_b = a.hull.edges, b.hull.edges @ R.T
    if len(edges_a) * len(edges_b) <= MAX_CROSSES:
        n = np.cross(edges_a[:, None], edges_b[None]).reshape(-1, 3)
        length = np.linalg.norm(n, axis=1)
        n = n[length > 1e-6] / length[length > 1e-6, None]
        parts += [n, -n]
    directions = np.concatenate(parts)
    return directions, _overlaps(a, b, rel, directions)


@cache
def _neighbours() -> np.ndarray:
    """The six nearest others of every direction of `EVEN`."""
    return np.argsort(-(EVEN @ EVEN.T), axis=1)[:, 1:7]


def _lattice() -> np.ndarray:
    steps = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)]
    return np.array(steps, dtype=np.float64)


def _offsets() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.concatenate([size * rng.normal(size=(12, 3)) for size in (0.3, 0.1, 0.03, 0.01)])


def _fibonacci(n: int) -> np.ndarray:
    k = np.arange(n) + 0.5
    z = 1.0 - 2.0 * k / n
    turn = np.pi * (1.0 + np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


NONE = np.empty((0, 3))
"""No directions."""
EVEN = _fibonacci(500)
"""Directions spread evenly over the sphere, some 9 degrees apart."""
LATTICE = _lattice()
"""The 26 directions to the neighbours in a cubic lattice."""
OFFSETS = _offsets()
"""Offsets tried around the best direction, of four sizes (radians, roughly): fixed, nothing is random."""
