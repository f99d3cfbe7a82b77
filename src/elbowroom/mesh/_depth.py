"""How deep two meshes are in each other, as wholes: the translation that separates them.

For a direction the core computes the first separating translation from the exact sliding intervals of triangle pairs.
The direction of two convex meshes with few edges is found by enumeration, that of others by a search.

Guaranteed: B moved by (depth + 1e-6) * normal is apart from A, and B moved by less than depth * normal is not (gaps
narrower than 2e-6 m excepted). The depth is never below the least separating translation. Exchanging A and B gives the
same depth. Not guaranteed, unless both meshes are convex: that no other direction would do with less.

Where the search begins: directions in A's frame. Convex pairs with few edges: the
direction of least overlap, by enumeration, and no other. Other pairs: valleys of the overlap of the hulls, the line of
centres, normals of triangles in contact, axes; and an even cover of the sphere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .. import _core
from .._brief import brief
from .._frozen import freeze
from ..errors import InputError
from ._collide import STATES, collide_states
from ._contact import Contact, deepest_row, leaf_contacts
from ._frames import one_row, row_matrix
from ._mesh import TriangleMesh, check_meshes


@brief
@dataclass(frozen=True, eq=False)
class Separation(Contact):
    """Penetration of two bodies as wholes (positive, never negative): moving B by `depth * normal` separates them.

    `point` is the middle between `point_a` and `point_b`.
    """

    point_a: Float[np.ndarray, "3"]
    """Point of A's surface that is last to be in touch when B moves out; `tri_a` is its triangle."""
    point_b: Float[np.ndarray, "3"]
    """Point of B's surface that touches `point_a` then, where it is now: `point_a - depth * normal`."""
    triangle_depth: float
    """Largest overlap of two single triangles (`mesh_mesh_deepest_contact`); 0 when no triangles meet."""
    state: str
    """How they collide: one of `STATES`."""


def mesh_mesh_separation(
    a: TriangleMesh, T_a: Any, b: TriangleMesh, T_b: Any, *, contain: bool = True
) -> Separation | None:
    """How far B must move to be apart from A: a depth, positive and never negative; None when they do not collide.

    Not to be mistaken for `mesh_mesh_deepest_contact`, which is about the two triangles deepest in each other.

    Args:
        a: first mesh.
        T_a: its pose in the world, `(7,)` or `(4, 4)`; None for the identity.
        b: second mesh.
        T_b: its pose.
        contain: closed meshes are solids: they must come out of each other altogether.
    """
    check_meshes(a, b)
    return separation_at(a, one_row(T_a, "T_a"), b, one_row(T_b, "T_b"), contain)


def separation_at(
    a: TriangleMesh, rows_a: np.ndarray, b: TriangleMesh, rows_b: np.ndarray, contain: bool
) -> Separation | None:
    """`mesh_mesh_separation` at packed poses `(1, 12)`."""
    if _rank(b, rows_b) < _rank(a, rows_a):  # always ask the same question of a pair, whatever the order
        other = _separation(b, rows_b, a, rows_a, contain)
        return None if other is None else flipped(other)
    return _separation(a, rows_a, b, rows_b, contain)


def _separation(
    a: TriangleMesh, rows_a: np.ndarray, b: TriangleMesh, rows_b: np.ndarray, contain: bool
) -> Separation | None:
    """`separation_at`, the order given."""
    row_a, row_b = rows_a[0], rows_b[0]
    T_a, T_b = row_matrix(row_a), row_matrix(row_b)
    kind, touch = deepest_row(a, T_a, b, T_b)
    state = 1 if kind >= 0 else 0
    if kind < 0 and contain:
        state = int(collide_states(a, T_a, b, T_b)[0])
    if state == 0:
        return None
    rotation, shift, rel = row_a[:9].reshape(3, 3), row_a[9:], relative_row(row_a, row_b)
    if contain and convex_pair(a, b):
        search = convex_direction(a, b, rel)
    else:
        normals = _contact_normals(a, rows_a, b, rows_b) if kind >= 0 else np.empty((0, 3))
        search = search_directions(a, b, rel, normals)
    depth, direction, last = _core.least_separation(a.tree, b.tree, rel, search, bool(contain))
    normal = rotation @ direction
    normal /= np.linalg.norm(normal)
    if last is None:  # touching only: no triangle pair holds them together
        point_a = touch[:3].copy()
        tri_a, tri_b = int(a.order[int(touch[7])]), int(b.order[int(touch[8])])
    else:
        tri_a, tri_b, point_a = last[0], last[1], rotation @ last[2] + shift
    point_b = point_a - depth * normal
    point = 0.5 * (point_a + point_b)
    freeze(point, normal, point_a, point_b)
    return Separation(point, normal, depth, tri_a, tri_b, point_a, point_b, float(touch[6]), STATES[state])


def separation_along(
    a: TriangleMesh, T_a: Any, b: TriangleMesh, T_b: Any, directions: Any, *, contain: bool = True
) -> Float[np.ndarray, "n"]:
    """First separating translation of `b` along each direction.

    Not the last one: where the meshes would meet again further on, the first translation that leaves them apart by
    more than 2e-6 m counts.

    Args:
        a: first mesh, held.
        T_a: its pose.
        b: second mesh, moved.
        T_b: its pose.
        directions: `(n, 3)` vectors in the world frame; their length does not matter.
        contain: see `collide`.

    Returns:
        Metres, not negative; 0 where they are apart already.
    """
    check_meshes(a, b)
    rows_a, rows_b = one_row(T_a, "T_a"), one_row(T_b, "T_b")
    d = np.atleast_2d(np.asarray(directions, dtype=np.float64))
    if d.ndim != 2 or d.shape[1] != 3 or not np.all(np.isfinite(d)):
        raise InputError(f"directions: expected finite vectors of shape (n, 3), found {d.shape}")
    length = np.linalg.norm(d, axis=1, keepdims=True)
    if np.any(length == 0):
        raise InputError("directions: one of them is zero")
    local = (d / length) @ rows_a[0, :9].reshape(3, 3)
    return _core.separations(a.tree, b.tree, relative_row(rows_a[0], rows_b[0]), local, bool(contain))


def flipped(c: Separation) -> Separation:
    """The same contact with A and B exchanged."""
    state = {STATES[2]: STATES[3], STATES[3]: STATES[2]}.get(c.state, c.state)
    normal = -c.normal
    freeze(normal)
    return Separation(
        c.point, normal, c.depth, c.tri_b, c.tri_a, c.point_b, c.point_a, c.triangle_depth, state
    )


def _rank(mesh: TriangleMesh, rows: np.ndarray) -> tuple[int, bytes, list[float]]:
    """An order of posed meshes: number of triangles, then which triangles, then the pose."""
    return len(mesh.faces), mesh.digest, rows[0].tolist()


def relative_row(row_a: np.ndarray, row_b: np.ndarray) -> np.ndarray:
    """Pose of B in the frame of A, packed, from packed poses `(12,)`."""
    R = row_a[:9].reshape(3, 3).T
    return np.concatenate([(R @ row_b[:9].reshape(3, 3)).reshape(9), R @ (row_b[9:] - row_a[9:])])


def _contact_normals(
    a: TriangleMesh, rows_a: np.ndarray, b: TriangleMesh, rows_b: np.ndarray
) -> Float[np.ndarray, "n 3"]:
    """Normals of some contacts and of their triangles, and the sum of the latter over all contacts, in A's frame."""
    found = leaf_contacts(a, rows_a, b, rows_b)
    R_a, R_b = rows_a[0, :9].reshape(3, 3), rows_b[0, :9].reshape(3, 3)
    normal_a = face_normals(a.triangles[found.tri_a])
    normal_b = face_normals(b.triangles[found.tri_b]) @ (R_a.T @ R_b).T
    mean = (normal_a - normal_b).sum(axis=0)[None]
    pick = np.linspace(0, len(found.depths) - 1, min(len(found.depths), CONTACTS)).astype(np.int64)
    groups = [mean, normal_a[pick], -normal_b[pick], found.normals[pick] @ R_a]
    if not (a.closed and b.closed):  # an open surface may be left to both sides
        groups += [-mean, -normal_a[pick], normal_b[pick]]
    return np.concatenate(groups)


def face_normals(triangles: np.ndarray) -> np.ndarray:
    """Unit normals of triangles (n, 9); zero where there is none."""
    n = np.cross(triangles[:, 3:6] - triangles[:, :3], triangles[:, 6:9] - triangles[:, :3])
    length = np.linalg.norm(n, axis=1, keepdims=True)
    return n / np.where(length > 0, length, 1.0)


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


class SearchDirections(NamedTuple):
    """Where the search for a depth goes; unit vectors in A's frame."""

    starts: Directions
    """Descents start from these."""
    scan: Directions
    """These are evaluated, and a descent starts where one is promising."""
    spread: Directions
    """Small offsets; the best direction is evaluated with each of them added."""
    begin: float
    """When positive, the one start is the best direction, and the meshes are not apart up to this translation."""


def search_directions(
    a: TriangleMesh, b: TriangleMesh, rel: np.ndarray, normals: Directions
) -> SearchDirections:
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
    return SearchDirections(found[:SURE], np.concatenate([found[SURE:], DENSE]), OFFSETS, 0.0)


def convex_pair(a: TriangleMesh, b: TriangleMesh) -> bool:
    """Can the best direction of the pair, as solids, be found by enumeration?"""
    return a.hull.convex and b.hull.convex and len(a.hull.edges) * len(b.hull.edges) <= MAX_CROSSES


def convex_direction(a: TriangleMesh, b: TriangleMesh, rel: np.ndarray) -> SearchDirections:
    """The best direction of a `convex_pair` whose meshes are solids; arguments as for `search_directions`."""
    directions, overlap = _face_and_cross_directions(a, b, rel)
    best = int(np.argmin(overlap))
    return SearchDirections(directions[best : best + 1], NONE, NONE, NEARLY * max(0.0, float(overlap[best])))


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
    return np.concatenate([size * rng.normal(size=(24, 3)) for size in (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)])


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
DENSE = _fibonacci(1200)
"""Directions spread evenly over the sphere, some 6 degrees apart; a narrower way out may be missed."""
LATTICE = _lattice()
"""The 26 directions to the neighbours in a cubic lattice."""
OFFSETS = _offsets()
"""Offsets tried around the best direction, of six sizes (radians, roughly): fixed, nothing is random."""
