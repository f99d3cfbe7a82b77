"""How deep two meshes are in each other, as wholes: the translation that separates them.

For a direction the first separating translation is computed from the exact sliding intervals of triangle pairs (see
`_kernels_sweep`); the directions themselves are searched: contact normals, face normals, area vectors, centre line,
axes, each followed down to a local minimum (see `_kernels_depth`).

Guaranteed: B moved by (depth + 1e-6) * normal is apart from A, and B moved by less than depth * normal is not (gaps
narrower than 2e-6 m excepted). The depth is never below the least separating translation. Not guaranteed: that no other
direction would do with less. Convex pairs agree with EPA in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from ..errors import InputError
from ._collide import STATES, collide_states
from ._contact import contact_table
from ._frames import one_row
from ._kernels_depth import least_separation, separations
from ._mesh import TriangleMesh, check_meshes, freeze

MAX_STARTS = 96
"""Start directions of the search at most."""
HULL_FACES = 8
"""Face normals and edge crosses of the convex hulls taken as start directions: those with the least overlap."""
MAX_CROSSES = 2000
"""Pairs of hull edges up to which all their crosses are tried."""
SPREADS = (0.3, 0.1, 0.03, 0.01)
"""Sizes (radians, roughly) of the offsets tried around the best direction at the end, eight of each."""


@dataclass(frozen=True, eq=False)
class Contact:
    """Penetration of two bodies as wholes, in the world frame."""

    point: Float[np.ndarray, "3"]
    """Middle between `point_a` and `point_b`."""
    normal: Float[np.ndarray, "3"]
    """Unit vector from A to B."""
    depth: float
    """Metres, not negative: moving B by `depth * normal` separates the bodies."""
    point_a: Float[np.ndarray, "3"]
    """Point of A's surface that is last to be in touch when B moves out."""
    point_b: Float[np.ndarray, "3"]
    """Point of B's surface that touches `point_a` then, where it is now: `point_a - depth * normal`."""
    triangle_depth: float
    """Largest overlap of two single triangles (what Coal reports); 0 when no triangles meet."""
    tri_a: int
    """Row of `a.faces` at `point_a`; -1 for a shape that is not a mesh."""
    tri_b: int
    """Row of `b.faces` at `point_b`; -1 for a shape that is not a mesh."""
    state: str
    """How they collide: one of `STATES`."""


def mesh_mesh_deepest_contact(
    a: TriangleMesh, T_a: Any, b: TriangleMesh, T_b: Any, *, solid: bool = True
) -> Contact | None:
    """The penetration of two meshes as wholes, or None when they do not collide.

    Args:
        a: first mesh.
        T_a: its pose in the world, `(7,)` or `(4, 4)`; None for the identity.
        b: second mesh.
        T_b: its pose.
        solid: closed meshes are solids: they must come out of each other altogether.
    """
    check_meshes(a, b)
    rows_a, rows_b = one_row(T_a, "T_a"), one_row(T_b, "T_b")
    if _rank(b) < _rank(a):  # always ask the same question of a pair, whatever the order
        other = mesh_mesh_deepest_contact(b, T_b, a, T_a, solid=solid)
        return None if other is None else flipped(other)
    state = int(collide_states(a, T_a, b, T_b, solid=solid)[0])
    if state == 0:
        return None
    table = contact_table(a, T_a, b, T_b)[0].copy()
    rotation, shift = rows_a[0, :9].reshape(3, 3), rows_a[0, 9:]
    starts = _start_directions(a, b, rotation, rows_b[0], shift, table)
    found = np.zeros(14)
    ceiling = _ceiling(a, b, rows_a[0], rows_b[0])
    depth = least_separation(
        a.packed,
        a.triangles,
        b.packed,
        b.triangles,
        rows_a[0],
        rows_b[0],
        starts,
        OFFSETS,
        ceiling,
        bool(solid),
        found,
    )
    normal = rotation @ found[:3]
    normal /= np.linalg.norm(normal)
    if found[3] >= 0:
        point_a = rotation @ found[8:11] + shift
        tri_a, tri_b = int(a.order[int(found[3])]), int(b.order[int(found[4])])
    else:  # touching only: no triangle pair holds them together
        point_a = table[0, :3].copy()
        tri_a, tri_b = int(a.order[int(table[0, 7])]), int(b.order[int(table[0, 8])])
    point_b = point_a - depth * normal
    point = 0.5 * (point_a + point_b)
    freeze(point, normal, point_a, point_b)
    triangle_depth = float(table[:, 6].max(initial=0.0))
    return Contact(point, normal, float(depth), point_a, point_b, triangle_depth, tri_a, tri_b, STATES[state])


def separation_along(
    a: TriangleMesh, T_a: Any, b: TriangleMesh, T_b: Any, directions: Any, *, solid: bool = True
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
        solid: see `collide`.

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
    out = np.zeros(len(d))
    local = np.ascontiguousarray((d / length) @ rows_a[0, :9].reshape(3, 3))
    ceiling = _ceiling(a, b, rows_a[0], rows_b[0])
    separations(
        a.packed, a.triangles, b.packed, b.triangles, rows_a[0], rows_b[0], local, ceiling, bool(solid), out
    )
    return out


def flipped(c: Contact) -> Contact:
    """The same contact with A and B exchanged."""
    state = {STATES[2]: STATES[3], STATES[3]: STATES[2]}.get(c.state, c.state)
    normal = -c.normal
    freeze(normal)
    return Contact(c.point, normal, c.depth, c.point_b, c.point_a, c.triangle_depth, c.tri_b, c.tri_a, state)


def _rank(mesh: TriangleMesh) -> tuple[float, ...]:
    """An order of meshes by their shape: number of triangles, then bounding box."""
    return (float(len(mesh.faces)), *mesh.nodes[1, :6].tolist())


def _ceiling(a: TriangleMesh, b: TriangleMesh, row_a: np.ndarray, row_b: np.ndarray) -> float:
    """A translation that separates the bounding balls whatever the direction."""
    center_a = row_a[:9].reshape(3, 3) @ a.center + row_a[9:]
    center_b = row_b[:9].reshape(3, 3) @ b.center + row_b[9:]
    return 1.001 * (a.radius + b.radius + float(np.linalg.norm(center_a - center_b))) + 1e-5


def _start_directions(
    a: TriangleMesh, b: TriangleMesh, R_a: np.ndarray, row_b: np.ndarray, t_a: np.ndarray, table: np.ndarray
) -> np.ndarray:
    """Unit vectors in A's frame to start from, the most promising first, without near duplicates."""
    R = R_a.T @ row_b[:9].reshape(3, 3)
    line = R @ b.center + R_a.T @ (row_b[9:] - t_a) - a.center
    groups = [_hull_directions(a, b, R, R_a.T @ (row_b[9:] - t_a)), line[None]]
    if len(table):
        pick = np.linspace(0, len(table) - 1, min(len(table), 16)).astype(np.int64)
        normal_a = face_normals(a.triangles[table[:, 7].astype(np.int64)])
        normal_b = face_normals(b.triangles[table[:, 8].astype(np.int64)]) @ R.T
        mean = (normal_a - normal_b).sum(axis=0)
        groups += [mean[None], normal_a[pick], -normal_b[pick], table[pick, 3:6] @ R_a]
        if not (a.solid and b.solid):
            groups += [-mean[None], -normal_a[pick], normal_b[pick]]
    groups += [LATTICE, R.T, -R.T]
    directions = np.concatenate(groups)
    length = np.linalg.norm(directions, axis=1)
    directions = directions[length > 1e-12] / length[length > 1e-12, None]
    _, first = np.unique(np.round(directions, 2), axis=0, return_index=True)
    chosen = directions[np.sort(first)]
    if len(chosen) > MAX_STARTS:
        tail = len(LATTICE) + 6
        chosen = np.concatenate([chosen[: MAX_STARTS - tail], chosen[-tail:]])
    return np.ascontiguousarray(chosen)


def _hull_directions(a: TriangleMesh, b: TriangleMesh, R: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Directions along which the convex hulls overlap less than along their neighbours, and the best hull faces."""
    (points_a, normals_a, edges_a), (points_b, normals_b, edges_b) = a.hull, b.hull
    directions = np.concatenate([FIBONACCI, normals_a, -normals_b @ R.T, _crosses(edges_a, edges_b @ R.T)])
    high = (directions @ points_a.T).max(axis=1)
    low = (directions @ (R @ points_b.T)).min(axis=1) + directions @ t
    overlap = high - low
    even = overlap[: len(FIBONACCI)]
    valleys = np.flatnonzero(even <= even[NEIGHBOURS].min(axis=1))
    faces = len(FIBONACCI) + np.argsort(overlap[len(FIBONACCI) :])[:HULL_FACES]
    chosen = np.concatenate([valleys, faces])
    return directions[chosen[np.argsort(overlap[chosen])]]


def _crosses(edges_a: np.ndarray, edges_b: np.ndarray) -> np.ndarray:
    """Both unit normals of every pair of edge directions, when there are few enough pairs."""
    if len(edges_a) * len(edges_b) > MAX_CROSSES:
        return np.empty((0, 3))
    n = np.cross(edges_a[:, None], edges_b[None]).reshape(-1, 3)
    length = np.linalg.norm(n, axis=1)
    n = n[length > 1e-6] / length[length > 1e-6, None]
    return np.concatenate([n, -n])


def face_normals(triangles: np.ndarray) -> np.ndarray:
    n = np.cross(triangles[:, 3:6] - triangles[:, :3], triangles[:, 6:9] - triangles[:, :3])
    length = np.linalg.norm(n, axis=1, keepdims=True)
    return n / np.where(length > 0, length, 1.0)


def _lattice() -> np.ndarray:
    steps = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)]
    return np.array(steps, dtype=np.float64)


def _offsets() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.concatenate([size * rng.normal(size=(8, 3)) for size in SPREADS])


def _fibonacci(n: int) -> np.ndarray:
    k = np.arange(n) + 0.5
    z = 1.0 - 2.0 * k / n
    turn = np.pi * (1.0 + np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


FIBONACCI = _fibonacci(500)
"""Directions spread evenly over the sphere, some 9 degrees apart."""
NEIGHBOURS = np.argsort(-(FIBONACCI @ FIBONACCI.T), axis=1)[:, 1:7]
"""The six nearest others of every direction of `FIBONACCI`."""
LATTICE = _lattice()
"""The 26 directions to the neighbours in a cubic lattice."""
OFFSETS = _offsets()
"""Offsets tried around the best direction: fixed, nothing is random."""
